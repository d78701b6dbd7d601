"""The sampler: measures batches of jobs on a back end, guarded against noise."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from .backend import Backend
from .batch.control import noise_floor
from .batch.guard import (
    CALIBRATION_PROBES,
    FREQUENCY_TOLERANCE,
    drift,
    floor_of,
    prevailing_state,
    ratios,
    samples_of,
    speeds,
)
from .batch.journal import Journal
from .batch.levels import levels_of
from .batch.queue import Queue
from .batch.repetitions import Repetitions
from .batch.sample import Batch, Sample, State
from .environment.conditions import Conditions
from .errors import UsageError
from .failure import KernelFailed
from .job import Job, buffers_of
from .nest import Nest
from .program import Operation, Probe, Records, Run, records_of
from .setup import Setup

# Half-width of levels that are told apart; on bare metal they were seen 1.4 to 3.9 % apart.
SPEED_TOLERANCE = 0.006


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be measured beyond the least repetitions of every job: disturbed ones again, and further ones.

    Parameters
    ----------
    factor : float
        Time for it, relative to the time of the least repetitions.
    least_seconds : float
        What is allowed in any case.
    """

    factor: float = 1.0
    least_seconds: float = 3.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far something is: samples (or what `unit` names) done and in all, and the seconds that remain."""

    label: str
    done: int
    total: int
    seconds_left: float
    unit: str = "samples"


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
        self._journal: Journal | None = None
        self._failures: list[KernelFailed] = []
        self._calibration = np.zeros(0)
        self.usual_halt = float("inf")  # what a probe takes besides its loops, seconds
        self._fastest = float("inf")

    @property
    def setup(self) -> Setup:
        """What the measurements are valid for."""
        return self.backend.setup

    def measure(
        self,
        jobs: Sequence[Job],
        repetitions: int | Repetitions | Sequence[int | Repetitions],
        *,
        state: State | None = None,
        label: str = "sampling",
        on_progress: OnProgress = no_progress,
        journal: Journal | None = None,
    ) -> Batch:
        """Measures every job as often as asked for, all repetitions shuffled.

        A job whose routine fails costs its own further samples, not those of other jobs.

        Parameters
        ----------
        jobs : sequence of Job
        repetitions : int, Repetitions, or a sequence of them
            Accepted samples wanted of each job: so many, or until its time is known well enough.
        state : str, optional
            The state that samples should be of, by default free: waiting for it is cheap. If it
            cannot be had for half of the repetitions within the budget, it is the one that prevails.
        journal : Journal, optional
            Where samples are noted as they are taken, in case this process is killed.

        Returns
        -------
        Batch
            With at least the disturbed samples of jobs that could not be measured undisturbed.

        Raises
        ------
        UsageError
            If there are not as many counts as jobs, or one is not positive.
        KernelFailed
            If a routine fails, when all else is measured; as after an interrupt, `unfinished` holds
            what was measured.
        """
        began, before = time.monotonic(), Conditions.now()
        queue = Queue(jobs, _wanted(jobs, repetitions), self._random)
        progress = _Reporter(label, len(queue.waiting), on_progress)
        self.unfinished = None
        self._journal = journal
        self._failures = []
        try:
            self._prepare(jobs)
            while queue.waiting:
                self._run_chunk(queue, progress)
            self._learn_floor(queue.all_samples)
            self._settle(queue, state or ("free" if self.floor < float("inf") else None))
            self._repeat(queue, progress)
            if queue.state != "mixed" and 2 * queue.missing > queue.asked:
                self._settle(queue, None)
            if self._failures:
                raise self._failures[0]
        except BaseException:  # a failure or an interrupt: what was measured is not lost
            self._settle(queue, state)
            self.unfinished = self._batch(queue, before, began)
            raise
        return self._batch(queue, before, began)

    def _settle(self, queue: Queue, state: State | None) -> None:
        """Learns from the samples so far, and decides which of them count."""
        samples = queue.all_samples
        self._learn_floor(samples)
        self._fastest = min([self._fastest, *(sample.clock for sample in samples)])
        queue.settle(state or prevailing_state(samples, self.floor), self.floor, self.usual_halt)

    def _batch(self, queue: Queue, before: Conditions, began: float) -> Batch:
        """What a queue has yielded."""
        measurements = queue.measurements()
        counted = [measurement.accepted for measurement in measurements]
        frequencies = self._fastest / np.array([sample.clock for sample in queue.all_samples])
        speed = speeds(counted)
        return Batch(
            self.setup,
            queue.state,
            queue.floor,
            measurements,
            accepted=sum(map(len, counted)),
            requeued=queue.requeued,
            given_up=queue.missing,
            seconds=time.monotonic() - began,
            noise_floor=noise_floor([measurement.seconds for measurement in measurements]),
            conditions=Conditions.now().since(before),
            clock=float(np.median(frequencies)) if len(frequencies) else None,
            clock_levels=levels_of(frequencies, FREQUENCY_TOLERANCE),
            speed_levels=levels_of(speed, SPEED_TOLERANCE),
            drift=drift(speed),
        )

    def _prepare(self, jobs: Sequence[Job]) -> None:
        """Allocates operands, makes the first call into the library, and reads the probes undisturbed by it."""
        self.backend.allocate(buffers_of(jobs, self._seed))
        smallest = min(jobs, key=lambda job: job.flops)
        first = smallest.calls[0]
        warm_up: list[Operation] = [*smallest.preamble, first if isinstance(first, Nest) else Run(first.entry(0))]
        probes: list[Operation] = [Probe()] * CALIBRATION_PROBES
        try:
            records = self.backend.run([*warm_up, *probes])
        except KernelFailed:  # it will fail again, as the job's own
            records = self.backend.run(probes)
        self._calibration = ratios(records)
        self.usual_halt = float(np.median(records.halt[records.halt >= 0]))

    def _learn_floor(self, samples: Sequence[Sample]) -> None:
        """Lowers the floor to what a batch shows; one of few samples is judged with the calibration's probes."""
        read = np.array([ratio for sample in samples for ratio in (sample.quietest, sample.busiest)])
        few = len(read) < CALIBRATION_PROBES
        self.floor = min(self.floor, floor_of(np.concatenate([read, self._calibration]) if few else read))

    def _run_chunk(self, queue: Queue, progress: "_Reporter") -> None:
        chunk = queue.next_chunk()
        repetitions = [queue.begin(index) for index in chunk]
        operations = [operation for repetition in repetitions for operation in repetition]
        lengths = [sum(map(records_of, repetition)) for repetition in repetitions]
        if self._journal:
            self._journal.begin(chunk, lengths, self.backend.raw_shape(sum(lengths)))
        try:
            records = self.backend.run(operations, self._journal.left_in if self._journal else None)
        except KernelFailed as failure:
            kept = self._keep(queue, chunk, lengths, failure.records) if failure.records else 0
            self._abandon(queue, chunk[kept:], failure)
        else:
            self._keep(queue, chunk, lengths, records)
        progress.report(len(chunk), queue.seconds_waiting)

    def _keep(self, queue: Queue, chunk: list[int], lengths: list[int], records: Records) -> int:
        """Cuts the records into repetitions and keeps those that were completed; how many."""
        taken = list(zip(chunk, samples_of(records, lengths), strict=False))
        costs = np.diff(
            [0.0, *(records.start[end - 1] - records.start[0] for end in accumulate(lengths[: len(taken)]))]
        )
        for (index, sample), cost in zip(taken, costs, strict=True):
            queue.add(index, sample, float(cost))
        if self._journal:
            self._journal.keep(taken)
        return len(taken)

    def _abandon(self, queue: Queue, rest: list[int], failure: KernelFailed) -> None:
        """Gives up the job that failed; the other repetitions of its chunk wait again."""
        failed = [i for i, job in enumerate(queue.jobs) if failure.call is not None and job.makes(failure.call)]
        if not failed:
            raise failure
        self._failures.append(failure)
        queue.abandon(failed, rest)

    def _repeat(self, queue: Queue, progress: "_Reporter") -> None:
        """Measures again what was disturbed and further what is not known well enough, within the budget."""
        allowed = max(self._budget.least_seconds, self._budget.factor * queue.seconds_spent)
        deadline = time.monotonic() + allowed
        while time.monotonic() < deadline and queue.refill():
            progress.total += len(queue.waiting)
            while queue.waiting and time.monotonic() < deadline:
                self._run_chunk(queue, progress)
        queue.waiting.clear()


class _Reporter:
    """Counts repetitions and passes progress on."""

    def __init__(self, label: str, total: int, on_progress: OnProgress) -> None:
        self.label, self.total, self._on_progress = label, total, on_progress
        self.done = 0

    def report(self, count: int, seconds_left: float) -> None:
        self.done += count
        self._on_progress(Progress(self.label, self.done, self.total, seconds_left))


def _wanted(jobs: Sequence[Job], repetitions: int | Repetitions | Sequence[int | Repetitions]) -> list[Repetitions]:
    """The repetitions of each job."""
    wanted = [repetitions] * len(jobs) if isinstance(repetitions, int | Repetitions) else list(repetitions)
    counts = [count for count in wanted if isinstance(count, int)]
    if not jobs or len(wanted) != len(jobs) or min(counts, default=1) < 1:
        raise UsageError("a batch needs at least one job, and for each a positive number of repetitions")
    return [Repetitions.fixed(count) if isinstance(count, int) else count for count in wanted]
