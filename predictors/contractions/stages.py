"""Stages of micro-benchmarks: each has what those before it have."""

from enum import IntEnum


class Stage(IntEnum):
    """Up to which stage predictions are refined: the first five are those of the dissertation's section 23."""

    REPEATED = 0  # a call again and again: everything is cached
    DISTANCES = 1  # operands were accessed as long ago as in the algorithm
    PREFETCHING = 2  # what the loop around a call brought in is there
    FAILURES = 3  # where lines that iterations share end, it is not
    FIRST = 4  # the first iterations of loops are apart
    TRAINS = 5  # short calls are timed as they follow each other


LAST = Stage.TRAINS
