"""A session: back end, store and builder, opened for one question."""

import time
from collections.abc import Sequence as Many
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypedDict

from blascast.algorithms import Sequence, find_operation
from blascast.models.builder import ModelBuilder
from blascast.models.parameters import Parameters
from blascast.models.sampling import model_ld
from blascast.models.store import Store
from blascast.models.workload import Judge
from blascast.predictors.configurations import check_memory
from blascast.predictors.judging import within
from blascast.predictors.replay import Replay, by_models, needs_of, replay
from blascast.sampler.backends import open_backend
from blascast.sampler.batch.sample import Batch, State
from blascast.sampler.call import View, bind
from blascast.sampler.job import warm_job
from blascast.sampler.kernel import flop_factor
from blascast.sampler.kernels import find_kernel
from blascast.sampler.resources import available_memory
from blascast.sampler.sampler import OnProgress, Sampler, no_progress
from blascast.sampler.setup import SetupRequest

PEAK_SIZE = 960
PEAK_REPETITIONS = 10


@dataclass(frozen=True, slots=True)
class Spent:
    """Where the time of an answer went, seconds."""

    sampling: float = 0.0
    modelling: float = 0.0
    prediction: float = 0.0
    verification: float = 0.0

    def to_json(self) -> dict[str, float]:
        """By name."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of the repetitions that an answer asked for.

    Parameters
    ----------
    accepted, requeued, given_up : int
        Samples that counted, repetitions measured again because they were disturbed, and those that
        could not be had undisturbed.
    stopped : str or None
        Why sampling for models ended; see `ModelBuilder`.
    """

    accepted: int = 0
    requeued: int = 0
    given_up: int = 0
    stopped: str | None = None

    def plus(self, batch: Batch) -> "Tally":
        """This tally and a batch's counts."""
        return replace(
            self,
            accepted=self.accepted + batch.accepted,
            requeued=self.requeued + batch.requeued,
            given_up=self.given_up + batch.given_up,
        )

    def to_json(self) -> dict[str, Any]:
        """By name."""
        return asdict(self)


class SessionOptions(TypedDict, total=False):
    """What every question may add: the parameters of `Session`, all optional."""

    library: str
    dtype: str
    threads: int
    home: Path | None
    parameters: Parameters | None
    on_progress: OnProgress | None


class Session:
    """What a question is answered with; a context manager.

    Parameters
    ----------
    library : str
        ``"scipy"`` or ``"numpy"`` (the OpenBLAS in that wheel), ``"simulated"``, a system library
        such as ``"openblas"``, or a path.
    dtype : str
        ``"s"``, ``"d"``, ``"c"`` or ``"z"``.
    threads : int
    home : Path, optional
        The store's folder; by default BLASCAST_HOME, else the platform's folder for user data.
    parameters : Parameters, optional
        Of the model generator.
    on_progress : callable, optional
        Called with a `Progress` while something is measured.

    Raises
    ------
    UsageError, LibraryError, StoreError
        If the setup or the store cannot be had.
    """

    def __init__(
        self,
        library: str = "scipy",
        dtype: str = "d",
        threads: int = 1,
        home: Path | None = None,
        parameters: Parameters | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        request = SetupRequest(library, dtype, threads)
        self.parameters = parameters or Parameters()
        self.on_progress = on_progress or no_progress
        self.spent = Spent()
        self.tally = Tally()
        self.store = Store(home)
        try:
            self.store.recover()
            backend = open_backend(request)
            floor = self.store.facts(backend.setup).get("probe_floor", float("inf"))
        except BaseException:
            self.store.close()
            raise
        self.sampler = Sampler(backend, floor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.sampler.backend.close()
        self.store.close()

    def check_sizes(self, n: Many[int]) -> None:
        """Refuses sizes whose operands would not fit into memory."""
        check_memory(max(n), self.sampler.setup.item_bytes, available_memory())

    @property
    def peak(self) -> float:
        """Flops per second of a large dgemm (or sgemm): the best that was ever seen on the setup."""
        known = self.store.facts(self.sampler.setup).get("peak_flops_per_second")
        return float(known) if known is not None else self.measure_peak()

    def measure_peak(self) -> float:
        """Measures the peak anew; what was seen before stands if it was better."""
        operands = [View(name, 0, 0, PEAK_SIZE, PEAK_SIZE, model_ld(PEAK_SIZE)) for name in ("A", "B", "C")]
        job = warm_job(bind(find_kernel("gemm"), "N", "N", 1, operands[0], operands[1], 1, operands[2]))
        batch = self.sampler.measure(
            [job], PEAK_REPETITIONS, state="free", label="measuring the peak", on_progress=self.on_progress
        )
        self.spent = replace(self.spent, sampling=self.spent.sampling + batch.seconds)
        known = self.store.facts(self.sampler.setup).get("peak_flops_per_second", 0.0)
        flops = flop_factor(self.sampler.setup.dtype) * job.flops
        peak = max(float(known), float(flops / batch.measurements[0].seconds.min()))
        self.store.note_facts(self.sampler.setup, peak_flops_per_second=peak)
        return peak

    @property
    def noise_floor(self) -> float | None:
        """Relative difference between measurements of the same thing, as last seen on the setup."""
        return self.store.facts(self.sampler.setup).get("noise_floor")

    def replay(self, sequences: list[Sequence], judge: Judge | None = None) -> tuple[list[Replay], State]:
        """Predicted run times of sequences, and the state of the core that they are for.

        The judge tells which of their configurations' errors still matter; by default all must be within
        the parameters' bound for answers.
        """
        for sequence in sequences:
            find_operation(sequence.variant.operation).check_type(self.sampler.setup.dtype)
        began = time.perf_counter()
        builder = ModelBuilder(self.sampler, self.store, self.parameters, self.on_progress)
        models = builder.provide(needs_of(sequences), judge or within(self.parameters.answer_bound))
        sampling = sum(batch.seconds for batch in builder.batches)
        for batch in builder.batches:
            self.tally = self.tally.plus(batch)
        provided = time.perf_counter()
        self.tally = replace(self.tally, stopped=builder.stopped)
        replays = [replay(sequence, by_models(models)) for sequence in sequences]
        self.spent = replace(
            self.spent,
            sampling=self.spent.sampling + sampling,
            modelling=self.spent.modelling + provided - began - sampling,
            prediction=self.spent.prediction + time.perf_counter() - provided,
        )
        states = [model.state for model in models.values()]
        return replays, states[0] if len(set(states)) == 1 else "mixed"
