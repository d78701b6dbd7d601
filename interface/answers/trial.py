"""Trials: predictions and measurements of one operation, on the same configurations."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from blascast.algorithms import Sequence as CallSequence
from blascast.algorithms import find_operation
from blascast.models.generation.builder import ModelBuilder
from blascast.models.kept.store import Store
from blascast.models.summary import MEDIAN
from blascast.predictors.accuracy.ladder import RUNGS, SINGLE, SmallRuns, small_configurations
from blascast.predictors.configurations import Configuration, traced
from blascast.predictors.judging import within
from blascast.predictors.prediction import FloatArray
from blascast.predictors.replay import Replay, by_models, needs_of, replay
from blascast.sampler.batch.sample import State

from ..session import Session
from ..source import common_state

if TYPE_CHECKING:
    import pandas as pd

FIRST, SECOND = "pass 1", "pass 2"


class Trial:
    """Predictions and measurements of one operation."""

    def __init__(self, session: Session, configurations: list[Configuration]) -> None:
        self._session, self._configurations = session, configurations
        self._operation = find_operation(configurations[0].variant.operation)

    def frame(self, repetitions: int) -> "pd.DataFrame":
        """One row a configuration; in its attributes what each rung cost, and the state of the core."""
        import pandas as pd

        dtype = self._session.setup.dtype
        models, corrected, state, (models_cost, corrected_cost) = self._by_models()
        single, single_cost = self._by_single_polynomials()
        small = self._small_runs(state, repetitions)
        frame = pd.DataFrame(
            [
                {
                    "operation": self._operation.name,
                    "variant": c.variant.name,
                    "m": c.sizes.get("m", c.sizes["n"]),
                    "n": c.sizes["n"],
                    "b": c.b[0] if isinstance(c.b, tuple) else c.b,
                    "flops": float(self._operation.flop_count(c.sizes, dtype)),
                }
                for c in self._configurations
            ]
        )
        began = time.perf_counter()
        peak = self._session.measure_peak()
        peak_cost = time.perf_counter() - began
        for name in (FIRST, SECOND):
            frame[name] = self._measured(state, repetitions)
        flops = frame["flops"].to_numpy()
        laws = small.power_laws(self._configurations)
        for name, predicted in zip(
            RUNGS, (flops / peak, flops / small.rate(), laws, single, models, corrected), strict=True
        ):
            frame[name] = predicted
        costs = (peak_cost, small.cost, small.cost, single_cost, models_cost, corrected_cost)
        frame.attrs.update(costs=dict(zip(RUNGS, costs, strict=True)), state=state)
        return frame

    def _groups(self) -> list[list[int]]:
        """Indices of the configurations of each variant."""
        groups: dict[str, list[int]] = {}
        for i, configuration in enumerate(self._configurations):
            groups.setdefault(configuration.variant.name, []).append(i)
        return list(groups.values())

    def _sequences(self) -> list[CallSequence]:
        dtype = self._session.setup.dtype
        return [traced([self._configurations[i] for i in group], dtype) for group in self._groups()]

    def _in_order(self, replays: Sequence[Replay]) -> FloatArray:
        medians = np.empty(len(self._configurations))
        for group, found in zip(self._groups(), replays, strict=True):
            medians[group] = found.statistics[:, MEDIAN]
        return medians

    def _by_models(self) -> tuple[FloatArray, FloatArray, State, tuple[float, float]]:
        """Medians by kernel models, and corrected ones; the state that they are of, and seconds of calls for both."""
        sequences, session = self._sequences(), self._session
        models = session.provide(needs_of(sequences), within(session.parameters.answer_bound))
        state = common_state(model.state for model in models.values())
        asked = [[self._configurations[i] for i in group] for group in self._groups()]
        told = session.corrected(asked, sequences, models, state)
        alone = by_models(models)
        warm = [replay(sequence, alone) for sequence in sequences]
        corrected = [replay(sequence, estimate or alone) for sequence, estimate in zip(sequences, told, strict=True)]
        cost = sum(model.seconds for model in models.values())
        return self._in_order(warm), self._in_order(corrected), state, (cost, cost + session.observed)

    def _by_single_polynomials(self) -> tuple[FloatArray, float]:
        """Medians by one polynomial per kernel, and what sampling for them took; in a store of their own."""
        sequences = self._sequences()
        with tempfile.TemporaryDirectory() as home:
            store = Store(Path(home))
            builder = ModelBuilder(self._session.sampler, store, SINGLE, self._session.on_progress)
            models = builder.provide(needs_of(sequences))
            store.close()
        replays = [replay(sequence, by_models(models)) for sequence in sequences]
        return self._in_order(replays), sum(model.seconds for model in models.values())

    def _small_runs(self, state: State, repetitions: int) -> SmallRuns:
        dtype = self._session.setup.dtype
        runs = small_configurations(self._configurations, dtype)
        verified = self._session.verify(runs, state, repetitions)
        cost = sum(sample.seconds for m in verified.batch.measurements for sample in m.samples)
        flops = np.array([float(self._operation.flop_count(run.sizes, dtype)) for run in runs])
        return SmallRuns(runs, np.array([times.median for times in verified.times]), flops, cost)

    def _measured(self, state: State, repetitions: int) -> FloatArray:
        """Medians of one pass, the runs of one size interleaved."""
        medians = np.empty(len(self._configurations))
        problems = list({tuple(c.sizes.items()): c.sizes for c in self._configurations}.values())
        for problem in problems:
            own = [i for i, c in enumerate(self._configurations) if c.sizes == problem]
            verified = self._session.verify([self._configurations[i] for i in own], state, repetitions)
            medians[own] = [times.median for times in verified.times]
        return medians
