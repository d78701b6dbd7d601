"""The queue of a batch: repetitions that wait, and the samples so far."""

from collections.abc import Sequence

import numpy as np

from ..job import Job
from ..program import Operation
from .guard import longest_halts, prevailing_clocks
from .repetitions import Interval, Repetitions
from .sample import Measurement, Sample, State

CHUNK_SECONDS = 0.3
FIRST_GUESS_FLOPS_PER_SECOND = 5e9
FIRST_GUESS_SECONDS = 2e-5


class Queue:
    """Repetitions of jobs in random order; at first the least that are wanted of each.

    Parameters
    ----------
    jobs : sequence of Job
    wanted : sequence of Repetitions, one for each job
    random : Generator

    Attributes
    ----------
    waiting : list of int
        Indices of the jobs whose repetitions wait.
    samples : list of lists of Sample
        Those of each job.
    seconds_waiting : float
        Estimated time of what waits.
    requeued : int
        Repetitions measured again.
    state, floor
        What samples must be like to count; see `settle`.
    """

    def __init__(self, jobs: Sequence[Job], wanted: Sequence[Repetitions], random: np.random.Generator) -> None:
        self.jobs = jobs
        self._wanted = wanted
        self._random = random
        self.samples: list[list[Sample]] = [[] for _ in jobs]
        self._costs = [0.0] * len(jobs)
        self._begun = [0] * len(jobs)
        self.seconds_spent = 0.0
        self._guess = [FIRST_GUESS_SECONDS + 2 * job.flops / FIRST_GUESS_FLOPS_PER_SECOND for job in jobs]
        self._targets = [repetitions.least for repetitions in wanted]
        self._fresh = list(self._targets)  # repetitions that are still to be taken for the first time
        self._open = set(range(len(jobs)))
        self.requeued = 0
        self.state: State = "mixed"
        self.floor = float("inf")
        self._clocks: list[float | None] = [None] * len(jobs)
        self._longest_halts: list[float | None] = [None] * len(jobs)
        self._wait([i for i, target in enumerate(self._targets) for _ in range(target)])

    def _wait(self, indices: list[int]) -> None:
        """Lets repetitions wait in random order."""
        self.waiting = [indices[i] for i in self._random.permutation(len(indices))]
        self._waits = [0] * len(self.jobs)
        for index in indices:
            self._waits[index] += 1
        self.seconds_waiting = sum(self._guess[index] for index in indices)

    def next_chunk(self) -> list[int]:
        """Takes repetitions worth about CHUNK_SECONDS off the queue, at least one."""
        chunk, seconds = [self.waiting.pop()], 0.0
        while self.waiting and (seconds := seconds + self._guess[chunk[-1]]) < CHUNK_SECONDS:
            chunk.append(self.waiting.pop())
        for index in chunk:
            self._waits[index] -= 1
            self.seconds_waiting -= self._guess[index]
        return chunk

    def begin(self, index: int) -> tuple[Operation, ...]:
        """What the next repetition of a job does."""
        self._begun[index] += 1
        return self.jobs[index].operations(self._begun[index] - 1)

    def abandon(self, failed: Sequence[int], rest: Sequence[int]) -> None:
        """Gives jobs up; the other repetitions of the chunk that was cut short wait again."""
        self._open -= set(failed)
        for index in failed:
            self._targets[index] = len(self.samples[index])
        self._wait([index for index in (*self.waiting, *rest) if index not in failed])

    def add(self, index: int, sample: Sample, seconds: float) -> None:
        """Keeps a sample, and what its repetition took as the next estimate."""
        self.samples[index].append(sample)
        self.seconds_waiting += self._waits[index] * (seconds - self._guess[index])
        self._guess[index] = seconds
        self._costs[index] += seconds
        self.seconds_spent += seconds
        if self._fresh[index] > 0:
            self._fresh[index] -= 1
        else:
            self.requeued += 1

    @property
    def all_samples(self) -> list[Sample]:
        """The samples of all jobs."""
        return [sample for samples in self.samples for sample in samples]

    def settle(self, state: State, floor: float, usual_halt: float) -> None:
        """Decides what samples must be like to count: the state, the clock that prevails, and the halts."""
        self.state, self.floor = state, floor
        self._clocks = prevailing_clocks(self.samples)
        self._longest_halts = longest_halts(self.samples, usual_halt)

    def _accepted(self, index: int) -> tuple[Sample, ...]:
        terms = (self.state, self.floor, self._clocks[index], self._longest_halts[index])
        return tuple(sample for sample in self.samples[index] if sample.verdict(*terms) == "ok")

    def _interval(self, index: int, counted: Sequence[Sample]) -> Interval:
        return self._wanted[index].interval(np.array([sample.seconds for sample in counted]))

    def refill(self) -> bool:
        """Queues what is missing of the repetitions wanted, and more where the time is not known well enough.

        Only jobs that may have new samples are looked at: those that are done stay so.

        Returns
        -------
        bool
            Whether anything waits.
        """
        waiting: list[int] = []
        for index in sorted(self._open):
            missing = self._missing(index)
            if missing == 0:
                self._open.remove(index)
            waiting += [index] * missing
        self._wait(waiting)
        return bool(waiting)

    def _missing(self, index: int) -> int:
        """How many repetitions a job lacks; raises its target when that is reached, but not the end."""
        wanted, counted = self._wanted[index], self._accepted(index)
        count = len(counted)
        if count >= self._targets[index]:
            interval = self._interval(index, counted)
            if wanted.reached(count, interval) is not None:
                return 0
            target = wanted.more(count, interval)
            self._fresh[index] += target - count
            self._targets[index] = target
        return self._targets[index] - count

    @property
    def asked(self) -> int:
        """How many repetitions have been asked for so far."""
        return sum(self._targets)

    @property
    def missing(self) -> int:
        """How many of these are not there."""
        counts = [len(self._accepted(index)) for index in range(len(self.jobs))]
        return sum(max(0, target - count) for target, count in zip(self._targets, counts, strict=True))

    def measurements(self) -> tuple[Measurement, ...]:
        """What the queue has yielded."""
        return tuple(self._measurement(index) for index in range(len(self.jobs)))

    def _measurement(self, index: int) -> Measurement:
        counted = self._accepted(index)
        interval = self._interval(index, counted) if counted else None
        reached = self._wanted[index].reached(len(counted), interval) if interval else None
        return Measurement(
            self.jobs[index],
            tuple(self.samples[index]),
            self.state,
            self.floor,
            self._clocks[index],
            self._longest_halts[index],
            self._costs[index],
            interval,
            reached or "budget",
        )
