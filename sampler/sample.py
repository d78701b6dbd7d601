"""Samples, measurements and batches: what sampling yields, raw."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from .job import Job
from .setup import Setup

State = Literal["free", "busy", "mixed"]
Verdict = Literal["ok", "preempted", "other state"]

# Probes below FREE times their floor are of a core of one's own, above BUSY of a shared one: the
# limits found in a study of what disturbs timings on shared machines.
FREE = 1.1
BUSY = 1.3


@dataclass(frozen=True, slots=True)
class Sample:
    """One timed repetition, with what the probes said.

    Parameters
    ----------
    seconds : float
        Time of the timed calls.
    quietest, busiest : float
        10th and 90th percentile of the probes' ratio (branch loop over arithmetic loop); of few
        probes the lowest and highest.
    clock : float
        Median time of the arithmetic loop, seconds: the clock frequency.
    switches : int
        Involuntary context switches meanwhile.
    started : float
        When it began, on the engine's clock, seconds.
    """

    seconds: float
    quietest: float
    busiest: float
    clock: float
    switches: int
    started: float

    def state(self, floor: float) -> State:
        """Whether the core was its own, given the undisturbed ratio of the probes (infinite: unknown)."""
        if floor == float("inf"):
            return "mixed"
        if self.busiest < FREE * floor:
            return "free"
        return "busy" if self.quietest > BUSY * floor else "mixed"

    def verdict(self, state: State, floor: float) -> Verdict:
        """Whether it counts in a batch of the given state, or the reason why not."""
        if self.switches > 0:
            return "preempted"
        return "ok" if state in ("mixed", self.state(floor)) else "other state"


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """All samples of one job in a batch of one state.

    Parameters
    ----------
    job : Job
    samples : tuple of Sample, in the order they were taken
    state : str
        The state that samples must be of to count.
    floor : float
        The undisturbed ratio of the probes.
    cost : float
        What taking the samples took in all, seconds.
    """

    job: Job
    samples: tuple[Sample, ...]
    state: State
    floor: float
    cost: float

    @property
    def accepted(self) -> tuple[Sample, ...]:
        """The samples that count."""
        return accepted(self.samples, self.state, self.floor)

    @property
    def seconds(self) -> npt.NDArray[np.float64]:
        """Times of the accepted samples; of all samples where none was accepted."""
        return np.array([sample.seconds for sample in self.accepted or self.samples])


def accepted(samples: Sequence[Sample], state: State, floor: float) -> tuple[Sample, ...]:
    """The samples that count in a batch of the given state."""
    return tuple(sample for sample in samples if sample.verdict(state, floor) == "ok")


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Measurements taken together, their repetitions shuffled.

    Parameters
    ----------
    setup : Setup
    state : str
        The state whose samples count.
    floor : float
        The undisturbed ratio of the probes.
    measurements : tuple of Measurement, one for each job
    accepted, requeued, given_up : int
        Counts of repetitions: those that counted, those measured again, those never obtained.
    seconds : float
        What the batch took.
    """

    setup: Setup
    state: State
    floor: float
    measurements: tuple[Measurement, ...]
    accepted: int
    requeued: int
    given_up: int
    seconds: float

    @property
    def noise_floor(self) -> float | None:
        """The same work measured twice; see `noise_floor`."""
        return noise_floor([measurement.seconds for measurement in self.measurements])

    def __str__(self) -> str:
        floor = "unknown" if self.noise_floor is None else f"{100 * self.noise_floor:.1f} %"
        return (
            f"{self.accepted} samples accepted ({self.state} core), {self.requeued} measured again, "
            f"{self.given_up} given up, noise floor {floor}, {self.seconds:.1f} s"
        )


def noise_floor(times: Sequence[npt.NDArray[np.float64]]) -> float | None:
    """The same work measured twice: the relative difference between the first and the second half.

    Parameters
    ----------
    times : sequence of arrays of seconds, in the order they were taken

    Returns
    -------
    float or None
        Median over the arrays, each weighted with its time: half of the time is spent in calls whose
        two halves differ by less. None when no array has four samples.

    Examples
    --------
    >>> import numpy as np
    >>> round(noise_floor([np.array([1.0, 1.0, 1.1, 1.1]), np.array([0.1, 0.1, 0.3, 0.3])]), 3)
    0.1
    """
    enough = [seconds for seconds in times if len(seconds) >= 4]
    if not enough:
        return None
    halves = [(np.median(seconds[: len(seconds) // 2]), np.median(seconds[len(seconds) // 2 :])) for seconds in enough]
    first, second = np.array(halves).T
    differences = np.abs(second / first - 1)
    order = np.argsort(differences)
    spent = np.cumsum(first[order])
    return float(differences[order][np.searchsorted(spent, spent[-1] / 2)])
