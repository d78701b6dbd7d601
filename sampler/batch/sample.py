"""Samples, measurements and batches: what sampling yields, raw."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..environment.conditions import Conditions
from ..job import Job
from ..setup import Setup
from .levels import Level
from .repetitions import Interval, Stopped

State = Literal["free", "busy", "mixed"]
Verdict = Literal["ok", "preempted", "migrated", "halted", "other clock", "other state"]

# Probes below FREE times their floor are of a core of one's own, above BUSY of a shared one: the
# limits found in a study of what disturbs timings on shared machines.
FREE = 1.1
BUSY = 1.3
# Half-width of a level of the clock. Turbo moves it by steps of about 5 % for seconds, with half as much
# of a trace in the times, and measuring again meets the next step; what is further off is throttling.
CLOCK_TOLERANCE = 0.1


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
        Time of the arithmetic loop, seconds, in the quickest probes about it: the clock frequency.
    switches : int
        Involuntary context switches meanwhile.
    started : float
        When it began, on the engine's clock, seconds.
    faults : int
        Page faults meanwhile.
    migrations : int
        How often the CPU was another one than at the probe before.
    halt : float
        What the probes took besides their loops, seconds, 90th percentile (of few probes the longest):
        the processor halts when it changes its frequency.
    parts : tuple of float
        Times of the timed calls, where there are several.
    """

    seconds: float
    quietest: float
    busiest: float
    clock: float
    switches: int
    started: float
    faults: int
    migrations: int
    halt: float
    parts: tuple[float, ...] = ()

    @property
    def times(self) -> tuple[float, ...]:
        """Of its timed calls, one or several."""
        return self.parts or (self.seconds,)

    @property
    def row(self) -> tuple[float | str | None, ...]:
        """What is kept of it: its fields in order, the parts as text."""
        numbers = (getattr(self, own.name) for own in fields(self) if own.name != "parts")
        return (*numbers, json.dumps(self.parts) if self.parts else None)

    @classmethod
    def of_row(cls, *values: Any) -> "Sample":
        """From what was kept.

        Raises
        ------
        TypeError, ValueError
            If that is no row.
        """
        *numbers, parts = values
        return replace(cls(*numbers), parts=tuple(map(float, json.loads(parts))) if parts is not None else ())

    def state(self, floor: float) -> State:
        """Whether the core was its own, given the undisturbed ratio of the probes (infinite: unknown)."""
        if floor == float("inf"):
            return "mixed"
        if self.busiest < FREE * floor:
            return "free"
        return "busy" if self.quietest > BUSY * floor else "mixed"

    def verdict(
        self, state: State, floor: float, clock: float | None = None, longest_halt: float | None = None
    ) -> Verdict:
        """Whether it counts in a batch of the given state, clock and halts (None: any), or the reason why not."""
        if self.switches > 0:
            return "preempted"
        if self.migrations > 0:
            return "migrated"
        if longest_halt is not None and self.halt > longest_halt:
            return "halted"
        if clock is not None and abs(self.clock / clock - 1) > CLOCK_TOLERANCE:
            return "other clock"
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
    clock : float, optional
        The time of the arithmetic loop that those of samples must be close to, seconds; None: any.
    longest_halt : float, optional
        The longest halt with which samples count, seconds; None: any.
    cost : float
        What taking the samples took in all, seconds.
    interval : Interval, optional
        Confidence interval of the reference statistic; None where no sample counts.
    stopped : str
        Why no more samples were taken: the interval was narrow enough ("width"), there were as many
        as asked for ("count"), or measuring more was beyond the budget ("budget").
    """

    job: Job
    samples: tuple[Sample, ...]
    state: State
    floor: float
    clock: float | None
    longest_halt: float | None
    cost: float
    interval: Interval | None
    stopped: Stopped

    @property
    def accepted(self) -> tuple[Sample, ...]:
        """The samples that count."""
        return tuple(sample for sample in self.samples if self.verdict(sample) == "ok")

    def verdict(self, sample: Sample) -> Verdict:
        """Whether one of its samples counts, or the reason why not."""
        return sample.verdict(self.state, self.floor, self.clock, self.longest_halt)

    @property
    def seconds(self) -> npt.NDArray[np.float64]:
        """Times of the accepted samples; of all samples where none was accepted."""
        return np.array([sample.seconds for sample in self.accepted or self.samples])


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
    noise_floor : float, optional
        The relative difference between two entries of the same call; see `control.noise_floor`.
    conditions : Conditions
        Steal time meanwhile, and load.
    clock : float, optional
        Median frequency relative to the fastest that the sampler has seen.
    clock_levels : tuple of Level
        Levels of the frequency, relative to that fastest.
    speed_levels : tuple of Level
        Levels of the accepted times, relative to their job's median, that the probes do not explain.
    drift : float, optional
        How much slower the second half of the batch was than the first, relative; see `guard.drift`.
    """

    setup: Setup
    state: State
    floor: float
    measurements: tuple[Measurement, ...]
    accepted: int
    requeued: int
    given_up: int
    seconds: float
    noise_floor: float | None
    conditions: Conditions
    clock: float | None
    clock_levels: tuple[Level, ...]
    speed_levels: tuple[Level, ...]
    drift: float | None

    @property
    def verdicts(self) -> Counter[Verdict]:
        """How many samples are of each verdict."""
        return Counter(m.verdict(sample) for m in self.measurements for sample in m.samples)

    def __str__(self) -> str:
        floor = "unknown" if self.noise_floor is None else f"{100 * self.noise_floor:.1f} %"
        parts = [
            f"{self.accepted} samples accepted ({self.state} core)",
            f"{self.requeued} measured again{self._reasons()}",
            f"{self.given_up} given up",
            f"noise floor {floor}",
            *self._surroundings(),
            f"{self.seconds:.1f} s",
        ]
        return ", ".join(parts)

    def _reasons(self) -> str:
        """For example `` (3 preempted, 1 migrated)``."""
        reasons = [f"{count} {verdict}" for verdict, count in self.verdicts.most_common() if verdict != "ok"]
        return f" ({', '.join(reasons)})" if reasons else ""

    def _surroundings(self) -> list[str]:
        parts = []
        if self.clock is not None:
            parts.append(f"clock {100 * self.clock:.0f} % of the fastest")
        parts += [
            f"levels of the {name} {_listed(levels)}"
            for name, levels in (("clock", self.clock_levels), ("speed", self.speed_levels))
            if len(levels) > 1
        ]
        if self.conditions.steal_seconds is not None:
            parts.append(f"{self.conditions.steal_seconds:.2f} s stolen")
        if self.conditions.load is not None:
            parts.append(f"load {self.conditions.load:.2f}")
        return parts


def _listed(levels: Sequence[Level]) -> str:
    """For example ``1.00 (80 %) 0.90 (20 %)``."""
    return " ".join(f"{level.value:.2f} ({100 * level.share:.0f} %)" for level in levels)
