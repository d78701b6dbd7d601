"""The noise guard: tells from the probes which samples were disturbed.

1. The branch loop slows down when a neighbour shares the core, the arithmetic loop does not; both
   follow the clock frequency. So their ratio, relative to its floor, tells how much the core is shared.
2. On a core of one's own that ratio is nearly constant: the floor is the lowest value about which
   a good part of a batch's probes lie close together, or a lower one that earlier batches knew.
   (The lowest readings of all will not do: a neighbour's burst can slow the arithmetic loop alone.)
3. A sample is of a state (free or busy) when nearly all its probes are; see `Sample.state`.
4. A batch is of the state that prevails; see `prevailing_state`.
5. The arithmetic loop alone tells the clock frequency. Wide vector code lowers it for about a
   millisecond, so that a single probe tells of the code before it; the quickest probes of a chunk of
   repetitions tell what the processor allows. Samples count when that is what prevails in the batch;
   see `prevailing_clocks`.
6. A processor that changes its frequency about wide vector code halts for a microsecond or two, and
   runs that code slowly for some more. Where the change is seen by a probe, a short call (5 to 100 us)
   takes 1.3 to 2 times what it takes without; see `longest_halts`.
7. Levels that no probe sees show in the times themselves, those of each job relative to their
   median. They are reported; no single sample can be told to be of one. See `speeds`, `drift`.
"""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from ..program import Records
from .levels import prevailing
from .sample import CLOCK_TOLERANCE, Sample, State

CALIBRATION_PROBES = 500
CLOSE = 1.02
GOOD_PART = 0.25
ENOUGH_FREE = 0.25
ENOUGH_BUSY = 0.5
QUICK_PART = 0.1
FREQUENCY_TOLERANCE = 0.02  # half-width of levels that are told apart: a step of turbo is about 5 %
ENOUGH_UNHALTED = 0.5
HALT_SECONDS = 0.8e-6
HALTS_MATTER_SECONDS = 0.5e-3
WINDOW_SAMPLES = 25


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


def samples_of(records: Records, lengths: Sequence[int]) -> list[Sample]:
    """The samples that the records of a chunk amount to.

    Parameters
    ----------
    records : Records
    lengths : sequence of int
        Operations of each repetition; one that was not completed is left out.
    """
    clock = quick_clock(records)
    ends = [end for end in accumulate(lengths) if end <= len(records)]
    return [sample_of(records.part(end - length, end), clock) for end, length in zip(ends, lengths, strict=False)]


def quick_clock(records: Records) -> float:
    """The arithmetic loop's time of the quickest probes, seconds."""
    read = records.clock[records.clock >= 0]
    return float(np.quantile(read, QUICK_PART, method="lower")) if len(read) else 0.0


def sample_of(records: Records, clock: float) -> Sample:
    """The sample that the records of one repetition amount to, taken at a clock."""
    ratio = np.sort(ratios(records))
    read, timed = records.branch >= 0, records.seconds >= 0
    switches, faults, cpus = records.switches[read], records.faults[read], records.cpu[read]
    tenth = (len(ratio) - 1) // 10
    return Sample(
        seconds=float(records.seconds[timed].sum()),
        quietest=float(ratio[tenth]),
        busiest=float(ratio[-1 - tenth]),
        clock=clock,
        switches=int(switches[-1] - switches[0]),
        started=float(records.start[timed][0]),
        faults=int(faults[-1] - faults[0]),
        migrations=int(np.count_nonzero(np.diff(cpus))),
        halt=float(np.sort(records.halt[read])[-1 - tenth]),
        parts=tuple(records.seconds[timed].tolist()) if np.count_nonzero(timed) > 1 else (),
    )


def prevailing_state(samples: Sequence[Sample], floor: float) -> State:
    """Free when there is enough of it, else busy when that prevails, else no one state."""
    states = [sample.state(floor) for sample in samples if sample.switches == 0]
    if states.count("free") >= ENOUGH_FREE * len(samples):
        return "free"
    return "busy" if states.count("busy") >= ENOUGH_BUSY * len(samples) else "mixed"


def prevailing_clocks(samples: Sequence[Sequence[Sample]]) -> list[float | None]:
    """The clock (time of the arithmetic loop, seconds) that samples of each job should be close to.

    A job that fills whole chunks with wide vector code has clocks of its own, but levels are common:
    the one, relative to each job's shortest clocks, that most samples of the batch are close to.
    """
    clocks = [np.array([sample.clock for sample in of_job]) for of_job in samples]
    shortest = [float(np.quantile(own, 0.1)) if len(own) else None for own in clocks]
    relative = [own / short for own, short in zip(clocks, shortest, strict=True) if short is not None]
    if not relative:
        return [None] * len(clocks)
    level = prevailing(np.concatenate(relative), CLOCK_TOLERANCE)
    return [None if short is None else level * short for short in shortest]


def longest_halts(samples: Sequence[Sequence[Sample]], usual: float) -> list[float | None]:
    """The longest halt with which samples of each job should count, seconds; None: any.

    Any of a job that takes so long that halts do not matter, or that mostly comes with one.

    Parameters
    ----------
    samples : sequence of sequences of Sample
        Those of each job.
    usual : float
        What a probe takes besides its loops when the frequency does not change, seconds.
    """
    limit = usual + HALT_SECONDS
    return [limit if _halts_count(of_job, limit) else None for of_job in samples]


def _halts_count(samples: Sequence[Sample], limit: float) -> bool:
    if not samples or np.median([sample.seconds for sample in samples]) > HALTS_MATTER_SECONDS:
        return False
    return float(np.mean([sample.halt <= limit for sample in samples])) >= ENOUGH_UNHALTED


def speeds(samples: Sequence[Sequence[Sample]]) -> npt.NDArray[np.float64]:
    """How slow a batch was from window to window: medians of times relative to those of their job.

    Parameters
    ----------
    samples : sequence of sequences of Sample
        The accepted ones of each job.

    Returns
    -------
    array of shape (n_windows,)
        In order of time. A window holds so many samples that one job's scatter hardly moves it.
    """
    timed = [of_job for of_job in samples if len(of_job) > 1 and np.median([s.seconds for s in of_job]) > 0]
    relative = [
        (sample.started, sample.seconds / median)
        for of_job in timed
        for median in [np.median([sample.seconds for sample in of_job])]
        for sample in of_job
    ]
    ordered = np.array([value for _, value in sorted(relative)])
    whole = len(ordered) // WINDOW_SAMPLES * WINDOW_SAMPLES
    return np.asarray(np.median(ordered[:whole].reshape(-1, WINDOW_SAMPLES), axis=1))


def drift(speed: npt.NDArray[np.float64]) -> float | None:
    """How much slower the second half of the windows was than the first, relative; None of fewer than four.

    Examples
    --------
    >>> round(drift(np.array([1.0, 1.0, 1.02, 1.02])), 3)
    0.02
    """
    if len(speed) < 4:
        return None
    half = len(speed) // 2
    return float(np.median(speed[-half:]) / np.median(speed[:half]) - 1)
