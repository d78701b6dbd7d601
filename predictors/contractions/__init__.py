"""Predictions of tensor contractions by cache-aware micro-benchmarks (dissertation, section 23).

stages       up to where predictions are refined
footprints   how much of the caches a part of a tensor takes
distances    how much memory was accessed since an operand was
prefetching  which operands the loop's previous iteration brought in
situations   which loops are in their first iteration, or stay within cache lines
memory       parts of nests on operands of their own
states       what is accessed before a micro-benchmark
singles      single calls, as in the dissertation
trains       short calls, timed as they follow each other (ours)
benchmarks   what is timed to predict an algorithm, and how often it occurs
measuring    run times of micro-benchmarks, from the store or the machine
choice       which algorithms are predicted, in which order
"""
