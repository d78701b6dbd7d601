"""The noise guard: tells from the probes which samples were disturbed.

1. The branch loop slows down when a neighbour shares the core, the arithmetic loop does not; both
   follow the clock frequency. So their ratio, relative to its floor, tells how much the core is shared.
2. The floor is the lowest 10th percentile of that ratio ever seen in some hundred readings on the setup.
3. A sample is of a state (free or busy) when nearly all its probes are; see `Sample.state`.
4. A batch is of the state that prevails; see `prevailing_state`.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .program import Records
from .sample import Sample, State

FLOOR_PERCENTILE = 10.0  # lower ones hold a few readings that are too low
CALIBRATION_PROBES = 500
ENOUGH_FREE = 0.25
ENOUGH_BUSY = 0.5


def ratios(records: Records) -> npt.NDArray[np.float64]:
    """Branch loop over arithmetic loop for every probe that was read."""
    read = records.branch >= 0
    return np.asarray(records.branch[read] / records.clock[read])


def lowered(floor: float, records: Records) -> float:
    """The floor, or that of the records if it is lower and rests on enough probes."""
    seen = ratios(records)
    if len(seen) < CALIBRATION_PROBES:
        return floor
    return min(floor, float(np.percentile(seen, FLOOR_PERCENTILE)))


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
