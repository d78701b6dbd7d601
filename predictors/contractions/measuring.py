"""Measures micro-benchmarks, each once: what the store has is not measured again."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from blascast.models.generation.keeping import measure_and_keep
from blascast.models.kept.store import Name, Store
from blascast.models.piecewise import ModelKey
from blascast.models.summary import LEAST_SECONDS, MEDIAN, standard_error, summarize
from blascast.sampler.batch.repetitions import Repetitions
from blascast.sampler.batch.sample import Batch, State
from blascast.sampler.job import Job
from blascast.sampler.sampler import OnProgress, Sampler, no_progress

from ..prediction import Times
from .states import Benchmark

KEPT_AS = "micro-benchmark"
REPETITIONS = Repetitions(5, 11, 0.03)
LEAST_SAMPLES = 3


@dataclass(frozen=True, slots=True)
class Timing:
    """What a micro-benchmark takes.

    Parameters
    ----------
    times : Times
    error : float
        Standard error of the median, seconds.
    """

    times: Times
    error: float


class Measurer:
    """Times micro-benchmarks of one setup.

    Parameters
    ----------
    sampler : Sampler
    store : Store
    on_progress : callable

    Attributes
    ----------
    batches : list of Batch
        What was measured.
    """

    def __init__(self, sampler: Sampler, store: Store, on_progress: OnProgress = no_progress) -> None:
        self._sampler, self._store, self._on_progress = sampler, store, on_progress
        self._known: dict[str, Timing] = {}
        self._state: State | None = None
        self.batches: list[Batch] = []

    @property
    def state(self) -> State:
        """The state of the core that the times are of."""
        return self._state or "free"

    def timings(self, benchmarks: Iterable[Benchmark], label: str = "timing calls") -> Mapping[str, Timing]:
        """The timings of benchmarks, and all that are known, by key; those that are new are measured, interleaved.

        Raises
        ------
        KernelFailed
            If a routine fails.
        StoreError
            If the store fails.
        """
        new = {benchmark.key: benchmark for benchmark in benchmarks if benchmark.key not in self._known}
        for key in list(new):
            if stored := self._stored(new[key]):
                self._known[key] = stored
                del new[key]
        if new:
            batch = measure_and_keep(
                self._sampler,
                self._store,
                [_job(benchmark) for benchmark in new.values()],
                [REPETITIONS] * len(new),
                [_name(benchmark) for benchmark in new.values()],
                state=self._state,
                label=label,
                on_progress=self._on_progress,
            )
            self._state = self._state or batch.state
            self.batches.append(batch)
            for key, measurement in zip(new, batch.measurements, strict=True):
                self._known[key] = timing_of(measurement.seconds)
        return self._known

    def _stored(self, benchmark: Benchmark) -> Timing | None:
        samples = self._store.load_samples(self._sampler.setup, _name(benchmark)[0], self._state or "free")
        seconds = np.array([sample.seconds for own in samples.values() for sample in own])
        return timing_of(seconds) if len(seconds) >= LEAST_SAMPLES else None


def timing_of(seconds: "np.typing.NDArray[np.float64]") -> Timing:
    """From samples."""
    seconds = np.maximum(seconds, LEAST_SECONDS)
    return Timing(Times.of(summarize(seconds)), standard_error(seconds, MEDIAN))


def _job(benchmark: Benchmark) -> Job:
    """What it changes need not be restored."""
    return Job(benchmark.preamble, (benchmark.nest,), precondition=KEPT_AS, buffers=benchmark.buffers)


def _name(benchmark: Benchmark) -> Name:
    """How its samples are named in the store: by a kernel in it and its sizes, and the key."""
    (_, step), *_ = benchmark.nest.steps()
    return ModelKey(step.call.kernel.name, benchmark.key, 0, KEPT_AS), tuple(step.call.sizes.values())
