"""A session: back end, store and builder, opened for one question."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TypedDict

import numpy as np

from blascast.algorithms import Operation, Variant, find_operation, kernels_of
from blascast.algorithms import Sequence as CallSequence
from blascast.models.generation.builder import ModelBuilder
from blascast.models.generation.keeping import facts_of
from blascast.models.generation.need import Need
from blascast.models.generation.workload import Judge
from blascast.models.kept.store import Store
from blascast.models.parameters import Parameters
from blascast.models.piecewise import Model, ModelKey
from blascast.models.sampling import model_ld
from blascast.predictors.configurations import Configuration, Problem, check_memory, memory_needed
from blascast.predictors.contexts import DEFAULT, Context, check_context
from blascast.predictors.contexts.correction import corrected, corrections, observations
from blascast.predictors.contexts.observing import (
    LEAST_WINDOWS,
    MOST_IN_ALL,
    MOST_WINDOWS,
    Observer,
    windows_for,
)
from blascast.predictors.contexts.windows import Window
from blascast.predictors.replay import Estimate, by_models
from blascast.predictors.verification import REPETITIONS, Verified, verify
from blascast.sampler.backends import open_backend
from blascast.sampler.batch.sample import Batch, State
from blascast.sampler.call import View, bind
from blascast.sampler.job import warm_job
from blascast.sampler.kernel import flop_factor
from blascast.sampler.kernels import find_kernel
from blascast.sampler.resources import available_memory
from blascast.sampler.sampler import OnProgress, Sampler, no_progress
from blascast.sampler.setup import SetupRequest

from .origin import Origin
from .source import Source

PEAK_SIZE = 960
PEAK_REPETITIONS = 10


class CommonOptions(TypedDict, total=False):
    """What every question may add: parameters of `Session`, all optional."""

    dtype: str
    home: Path | None
    parameters: Parameters | None
    on_progress: OnProgress | None


class SessionOptions(CommonOptions, total=False):
    """What a question about one setup may add."""

    library: str
    threads: int


class Session(Source):
    """Models of this machine and a library: from the store, and by sampling what is missing.

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
    context : str
        What state of the caches calls of algorithms are estimated in: one of `CONTEXTS`.

    Attributes
    ----------
    observed : float
        Seconds of calls that were timed in algorithms, for the last answer.

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
        context: Context = DEFAULT,
    ) -> None:
        check_context(context)
        request = SetupRequest(library, dtype, threads)
        self.on_progress = on_progress or no_progress
        store = Store(home)
        try:
            store.recover()
            backend = open_backend(request)
            floor = store.facts(backend.setup).get("probe_floor", float("inf"))
        except BaseException:
            store.close()
            raise
        self.sampler = Sampler(backend, floor)
        super().__init__(store, backend.setup, parameters or Parameters(), Origin(backend.setup), context)
        self.observed = 0.0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.sampler.backend.close()
        super().__exit__(kind, error, trace)

    def lacking(self, variant: Variant) -> str:
        """The routines that the library has not, in words."""
        missing = self.sampler.backend.lacks(kernels_of(variant, self.setup.dtype))
        return f"{self.setup.library.name} has no {', '.join(missing)}" if missing else ""

    @property
    def remedy(self) -> str:
        """What to do where a library lacks a routine."""
        return "Name another library, or a LAPACK with it (LAPACK+BLAS), or another variant."

    def check_sizes(self, operation: Operation, problems: Sequence[Problem]) -> None:
        """Refuses sizes whose operands would not fit into memory."""
        largest = max(problems, key=lambda problem: sum(problem.values()))
        check_memory(operation, largest, self.setup.item_bytes, available_memory())

    @property
    def peak(self) -> float:
        """Flops per second of a large dgemm (or sgemm): the best that was ever seen on the setup."""
        known = self.store.facts(self.setup).get("peak_flops_per_second")
        return float(known) if known is not None else self.measure_peak()

    def measure_peak(self) -> float:
        """Measures the peak anew; what was seen before stands if it was better."""
        operands = [View(name, 0, 0, PEAK_SIZE, PEAK_SIZE, model_ld(PEAK_SIZE)) for name in ("A", "B", "C")]
        job = warm_job(bind(find_kernel("gemm"), "N", "N", 1, operands[0], operands[1], 1, operands[2]))
        batch = self.sampler.measure(
            [job], PEAK_REPETITIONS, state="free", label="measuring the peak", on_progress=self.on_progress
        )
        self.spent = replace(self.spent, sampling=self.spent.sampling + batch.seconds)
        known = self.store.facts(self.setup).get("peak_flops_per_second", 0.0)
        flops = flop_factor(self.setup.dtype) * job.flops
        peak = max(float(known), float(flops / batch.measurements[0].seconds.min()))
        self.store.note_facts(self.setup, peak_flops_per_second=peak)
        return peak

    def _models(self, needs: Sequence[Need], judge: Judge | None) -> Mapping[ModelKey, Model]:
        builder = ModelBuilder(self.sampler, self.store, self.parameters, self.on_progress)
        models = builder.provide(needs, judge)
        self.account(builder.batches)
        self.tally = replace(self.tally, stopped=builder.stopped)
        self.origin = self.origin.of(models.values())
        return models

    def corrected(
        self,
        asked: Sequence[Sequence[Configuration]],
        sequences: Sequence[CallSequence],
        models: Mapping[ModelKey, Model],
        state: State,
    ) -> list[Estimate | None]:
        """What estimates the calls of each sequence, corrected by steps of it that are timed if need be."""
        warm = by_models(models)
        observer = Observer(self.sampler, self.store, self.on_progress)
        most = int(np.clip(MOST_IN_ALL // len(asked), LEAST_WINDOWS, MOST_WINDOWS))
        windows = [self._that_fit(windows_for(own, self.setup.dtype, most)) for own in asked]
        timed = observer.times([window for own in windows for window in own], state)
        self.account(observer.batches)
        self.observed = sum(own.cost for own in timed)
        told: list[Estimate | None] = []
        for sequence, own in zip(sequences, windows, strict=True):
            found = corrections(observations((one for one in timed if one.window in own), models))
            told.append(corrected(sequence, warm, found) if found else None)
        return told

    def _that_fit(self, windows: Sequence[Window]) -> list[Window]:
        """Those whose problems fit into memory."""
        available = available_memory()
        return [
            window
            for window in windows
            if memory_needed(
                find_operation(window.configuration.variant.operation),
                window.configuration.sizes,
                self.setup.item_bytes,
            )
            <= available
        ]

    def account(self, batches: Sequence[Batch]) -> None:
        """Notes what was sampled."""
        for batch in batches:
            self.tally = self.tally.plus(batch)
        self.spent = replace(self.spent, sampling=self.spent.sampling + sum(batch.seconds for batch in batches))

    def account_verification(self, batch: Batch) -> None:
        """Notes what was measured to verify."""
        self.spent = replace(self.spent, verification=self.spent.verification + batch.seconds)
        self.tally = self.tally.plus(batch)
        if self.noise_floor is None:
            self.store.note_facts(self.setup, **facts_of(batch))

    def verify(self, configurations: Sequence[Configuration], state: State, repetitions: int = REPETITIONS) -> Verified:
        """Measures configurations, interleaved."""
        verified = verify(
            self.sampler, configurations, state=state, repetitions=repetitions, on_progress=self.on_progress
        )
        self.account_verification(verified.batch)
        return verified
