"""The noise guard: tells from the probes which samples were disturbed.

1. The branch loop slows down when a neighbour shares the core, the arithmetic loop does not; both
   follow the clock frequency. So their ratio, relative to its floor, tells how much the core is shared.
2. On a core of one's own that ratio is nearly constant: the floor is the lowest value about which
   a good part of a batch's probes lie close together, or a lower one that earlier batches knew.
   (The lowest readings of all will not do: a neighbour's burst can slow the arithmetic loop alone.)
3. A sample is of a state (free or busy) when nearly all its probes are; see `Sample.state`.
4. A batch is of the state that prevails; see `prevailing_state`.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .program import Records
from .sample import Sample, State

CALIBRATION_PROBES = 500
CLOSE = 1.02
GOOD_PART = 0.25
ENOUGH_FREE = 0.25
ENOUGH_BUSY = 0.5


def ratios(records: Records) -> npt.NDArray[np.float64]:
    """Branch loop over arithmetic loop for every probe that was read."""
    read = records.branch >= 0
    return np.asarray(records.branch[read] / records.clock[read])


def floor_of(ratio: npt.NDArray[np.float64]) -> float:
    """The lowest value about which a good part of the ratios lie close together; infinite if there is none.

    Examples
    --------
    >>> floor_of(np.array([1.19, 1.36, 1.365, 1.37, 1.37, 2.1, 2.3, 1.9]))
    1.36
    >>> floor_of(np.array([1.5, 1.7, 1.9, 2.1, 2.3]))
    inf
    """
    ascending = np.sort(ratio)
    close = np.searchsorted(ascending, CLOSE * ascending, side="right") - np.arange(len(ascending))
    dense = np.flatnonzero(close >= max(2.0, GOOD_PART * len(ascending)))
    return float(ascending[dense[0]]) if len(dense) else float("inf")


def sample_of(records: Records) -> Sample:
    """The sample that the records of one repetition amount to."""
    ratio = ratios(records)
    read, timed = records.branch >= 0, records.seconds >= 0
    switches = records.switches[read]
    return Sample(
        seconds=float(records.seconds[timed].sum()),
        quietest=float(np.percentile(ratio, 10, method="lower")),
        busiest=float(np.percentile(ratio, 90, method="higher")),
        clock=float(np.median(records.clock[read])),
        switches=int(switches[-1] - switches[0]),
        started=float(records.start[timed][0]),
    )


def prevailing_state(samples: Sequence[Sample], floor: float) -> State:
    """Free when there is enough of it, else busy when that prevails, else no one state."""
    states = [sample.state(floor) for sample in samples if sample.switches == 0]
    if states.count("free") >= ENOUGH_FREE * len(samples):
        return "free"
    return "busy" if states.count("busy") >= ENOUGH_BUSY * len(samples) else "mixed"
