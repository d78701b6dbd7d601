"""Predictions of tensor contractions by cache-aware micro-benchmarks (dissertation, section 23).

footprints   how much of the caches a part of a tensor takes
distances    how much memory was accessed since an operand was
prefetching  which operands the loop's previous iteration brought in
benchmarks   single calls in the state that an algorithm leaves them in, and how often each occurs
measuring    their times, from the store or the machine
"""
