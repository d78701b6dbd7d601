"""The sampler: measures batches of jobs on a back end, guarded against noise."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .backend import Backend
from .errors import UsageError
from .failure import KernelFailed
from .job import Job, buffers_of
from .noise import CALIBRATION_PROBES, floor_of, prevailing_state, ratios, sample_of
from .program import Operation, Probe, Records, Run
from .sample import Batch, Measurement, Sample, State, accepted
from .setup import Setup

CHUNK_SECONDS = 0.3
FIRST_GUESS_FLOPS_PER_SECOND = 5e9
FIRST_GUESS_SECONDS = 2e-5


@dataclass(frozen=True, slots=True)
class Budget:
    """How much measuring again may cost.

    Parameters
    ----------
    factor : float
        Time for repetitions measured again, relative to the time of all repetitions.
    least_seconds : float
        What is allowed in any case.
    """

    factor: float = 1.0
    least_seconds: float = 3.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a batch is: repetitions done and in all, and the seconds that remain."""

    label: str
    done: int
    total: int
    seconds_left: float


OnProgress = Callable[[Progress], None]


def no_progress(progress: Progress) -> None:
    """Ignores progress."""


class Sampler:
    """Measures jobs on a back end.

    Parameters
    ----------
    backend : Backend
    floor : float
        The undisturbed ratio of the probes as known from earlier; lowered as batches are measured.
    budget : Budget
    seed : int
        Of operands and of the order of repetitions.
    """

    def __init__(
        self, backend: Backend, floor: float = float("inf"), *, budget: Budget | None = None, seed: int = 1
    ) -> None:
        self.backend = backend
        self.floor = floor
        self._budget = budget or Budget()
        self._seed = seed
        self._random = np.random.default_rng(seed)
        self.unfinished: Batch | None = None
        self._calibration = np.zeros(0)

    @property
    def setup(self) -> Setup:
        """What the measurements are valid for."""
        return self.backend.setup

    def measure(
        self,
        jobs: Sequence[Job],
        repetitions: int | Sequence[int],
        *,
        state: State | None = None,
        label: str = "sampling",
        on_progress: OnProgress = no_progress,
    ) -> Batch:
        """Measures every job the given number of times, all repetitions shuffled.

        Parameters
        ----------
        jobs : sequence of Job
        repetitions : int or sequence of int
            Accepted samples wanted of each job.
        state : str, optional
            The state that samples should be of; by default, and if it cannot be had for half of
            the repetitions, the one that prevails.

        Returns
        -------
        Batch
            With at least the disturbed samples of jobs that could not be measured undisturbed.

        Raises
        ------
        UsageError
            If there are not as many counts as jobs, or one is negative.
        KernelFailed
            If a routine fails; as after an interrupt, `unfinished` holds what was measured before.
        """
        began = time.monotonic()
        counts = [repetitions] * len(jobs) if isinstance(repetitions, int) else list(repetitions)
        if not jobs or len(counts) != len(jobs) or min(counts) < 0:
            raise UsageError(
                "a batch needs at least one job, and for each a number of repetitions that is not negative"
            )
        queue = _Queue(jobs, counts, self._random)
        progress = _Reporter(label, len(queue.waiting), on_progress)
        self.unfinished = None
        try:
            self._prepare(jobs)
            while queue.waiting:
                self._run_chunk(queue, progress)
            self._learn_floor(queue.all_samples)
            chosen = state or prevailing_state(queue.all_samples, self.floor)
            self._repeat_disturbed(queue, chosen, progress)
            if chosen != "mixed" and queue.missing(chosen, self.floor) > sum(counts) / 2:
                chosen = prevailing_state(queue.all_samples, self.floor)
        except BaseException:  # a failure or an interrupt: what was measured is not lost
            self._learn_floor(queue.all_samples)
            chosen = state or prevailing_state(queue.all_samples, self.floor)
            self.unfinished = queue.batch(self.setup, chosen, self.floor, time.monotonic() - began)
            raise
        return queue.batch(self.setup, chosen, self.floor, time.monotonic() - began)

    def _prepare(self, jobs: Sequence[Job]) -> None:
        """Allocates operands, makes the first call into the library, and reads the probes undisturbed by it."""
        self.backend.allocate(buffers_of(jobs, self._seed))
        smallest = min(jobs, key=lambda job: job.flops)
        warm_up: list[Operation] = [*smallest.preamble, Run(smallest.calls[0].entry(0))]
        probes: list[Operation] = [Probe()] * CALIBRATION_PROBES
        self._calibration = ratios(self.backend.run([*warm_up, *probes]))

    def _learn_floor(self, samples: Sequence[Sample]) -> None:
        """Lowers the floor to what a batch shows; one of few samples is judged with the calibration's probes."""
        read = np.array([ratio for sample in samples for ratio in (sample.quietest, sample.busiest)])
        few = len(read) < CALIBRATION_PROBES
        self.floor = min(self.floor, floor_of(np.concatenate([read, self._calibration]) if few else read))

    def _run_chunk(self, queue: "_Queue", progress: "_Reporter") -> None:
        chunk = queue.next_chunk()
        operations = [operation for index in chunk for operation in queue.begin(index)]
        try:
            records = self.backend.run(operations)
        except KernelFailed as failure:
            if failure.records is not None:
                self._keep(queue, chunk, failure.records)
            raise
        self._keep(queue, chunk, records)
        progress.report(len(chunk), queue.seconds_waiting)

    def _keep(self, queue: "_Queue", chunk: list[int], records: Records) -> None:
        """Cuts the records into repetitions; one that was not completed is left out."""
        first = 0
        for index in chunk:
            end = first + len(queue.jobs[index].operations(0))
            if end > len(records.start):
                return
            part = records.part(first, end)
            queue.add(index, sample_of(part), float(part.start[-1] - part.start[0]))
            first = end

    def _repeat_disturbed(self, queue: "_Queue", state: State, progress: "_Reporter") -> None:
        allowed = max(self._budget.least_seconds, self._budget.factor * queue.seconds_spent)
        deadline = time.monotonic() + allowed
        while queue.requeue(state, self.floor) and time.monotonic() < deadline:
            progress.total += len(queue.waiting)
            while queue.waiting and time.monotonic() < deadline:
                self._run_chunk(queue, progress)
        queue.waiting.clear()


class _Queue:
    """Repetitions that wait, and the samples so far."""

    def __init__(self, jobs: Sequence[Job], repetitions: list[int], random: np.random.Generator) -> None:
        self.jobs = jobs
        self.repetitions = repetitions
        self.seconds_spent = 0.0
        self.samples: list[list[Sample]] = [[] for _ in jobs]
        self.costs = [0.0] * len(jobs)
        self.begun = [0] * len(jobs)
        self._guess = [FIRST_GUESS_SECONDS + 2 * job.flops / FIRST_GUESS_FLOPS_PER_SECOND for job in jobs]
        self._random = random
        self.waiting: list[int] = self._shuffled([i for i, count in enumerate(repetitions) for _ in range(count)])

    def _shuffled(self, indices: list[int]) -> list[int]:
        return [indices[i] for i in self._random.permutation(len(indices))]

    @property
    def seconds_waiting(self) -> float:
        """Estimated time of what waits."""
        return sum(self._guess[index] for index in self.waiting)

    def next_chunk(self) -> list[int]:
        """Takes repetitions worth about CHUNK_SECONDS off the queue, at least one."""
        chunk, seconds = [self.waiting.pop()], 0.0
        while self.waiting and (seconds := seconds + self._guess[chunk[-1]]) < CHUNK_SECONDS:
            chunk.append(self.waiting.pop())
        return chunk

    def begin(self, index: int) -> tuple[Operation, ...]:
        """What the next repetition of a job does."""
        self.begun[index] += 1
        return self.jobs[index].operations(self.begun[index] - 1)

    def add(self, index: int, sample: Sample, seconds: float) -> None:
        """Keeps a sample, and what its repetition took as the next estimate."""
        self.samples[index].append(sample)
        self._guess[index] = seconds
        self.costs[index] += seconds
        self.seconds_spent += seconds

    @property
    def all_samples(self) -> list[Sample]:
        """The samples of all jobs."""
        return [sample for samples in self.samples for sample in samples]

    def _missing(self, state: State, floor: float) -> list[int]:
        counts = [len(accepted(samples, state, floor)) for samples in self.samples]
        missing = [wanted - count for wanted, count in zip(self.repetitions, counts, strict=True)]
        return [i for i, count in enumerate(missing) for _ in range(count)]

    def missing(self, state: State, floor: float) -> int:
        """How many of the wanted repetitions are missing."""
        return len(self._missing(state, floor))

    def requeue(self, state: State, floor: float) -> bool:
        """Queues again what is missing of the wanted repetitions; whether there is any."""
        self.waiting = self._shuffled(self._missing(state, floor))
        return bool(self.waiting)

    def batch(self, setup: Setup, state: State, floor: float, seconds: float) -> Batch:
        """What the queue has yielded."""
        measurements = tuple(
            Measurement(job, tuple(samples), state, floor, cost)
            for job, samples, cost in zip(self.jobs, self.samples, self.costs, strict=True)
        )
        count = sum(len(measurement.accepted) for measurement in measurements)
        given_up = self.missing(state, floor)
        repeated = max(0, len(self.all_samples) - sum(self.repetitions))
        return Batch(setup, state, floor, measurements, count, repeated, given_up, seconds)


class _Reporter:
    """Counts repetitions and passes progress on."""

    def __init__(self, label: str, total: int, on_progress: OnProgress) -> None:
        self.label, self.total, self._on_progress = label, total, on_progress
        self.done = 0

    def report(self, count: int, seconds_left: float) -> None:
        self.done += count
        self._on_progress(Progress(self.label, self.done, self.total, seconds_left))
