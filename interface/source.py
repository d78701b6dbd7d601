"""Sources: what a question gets its models from."""

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from collections.abc import Sequence as Many
from dataclasses import replace
from types import TracebackType
from typing import Self

from blascast.algorithms import Operation, Sequence, Variant
from blascast.models.generation.need import Need
from blascast.models.generation.workload import Judge
from blascast.models.kept.store import Store
from blascast.models.parameters import Parameters
from blascast.models.piecewise import Model, ModelKey
from blascast.predictors.caching.mixing import levels_of
from blascast.predictors.configurations import Configuration, Problem, traced
from blascast.predictors.contexts import DEFAULT, Context
from blascast.predictors.contexts.cached import between
from blascast.predictors.judging import within
from blascast.predictors.replay import Estimate, Replay, by_models, needs_of, replay
from blascast.predictors.verification import Verified
from blascast.sampler.batch.sample import State
from blascast.sampler.precondition import Cold
from blascast.sampler.setup import Setup

from .effort import Spent, Tally
from .origin import Origin


class Source(ABC):
    """What a question gets its models from; a context manager.

    Parameters
    ----------
    store : Store
        Closed at the end.
    setup : Setup
        What the models are of.
    parameters : Parameters
    origin : Origin
    context : str
        What calls are estimated to be in: one of `CONTEXTS`.

    Attributes
    ----------
    origin : Origin
        Of the models that were provided last.
    spent : Spent
    tally : Tally
    left_warm : tuple of str
        Variants of the last answer whose calls were taken to be warm, as their context is not known.
    used_context : str
        What the last answer estimated calls in: warm, where nothing could be told of another context.
    """

    def __init__(
        self, store: Store, setup: Setup, parameters: Parameters, origin: Origin, context: Context = DEFAULT
    ) -> None:
        self.store, self.setup, self.parameters, self.origin = store, setup, parameters, origin
        self.context = context
        self.left_warm: tuple[str, ...] = ()
        self.used_context = context
        self.spent, self.tally = Spent(), Tally()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()

    @abstractmethod
    def lacking(self, variant: Variant) -> str:
        """What is missing to tell the time of a variant, such as ``"OpenBLAS has no dpotf2"``; "" if nothing."""

    @property
    @abstractmethod
    def remedy(self) -> str:
        """A sentence: what to do where something is lacking."""

    @abstractmethod
    def check_sizes(self, operation: Operation, problems: Many[Problem]) -> None:
        """Refuses sizes that are too large.

        Raises
        ------
        UsageError
            If one is.
        """

    @property
    @abstractmethod
    def peak(self) -> float | None:
        """Flops per second of a large gemm, if that is known: the best that was ever seen on the setup."""

    @abstractmethod
    def verify(self, configurations: Many[Configuration], state: State) -> Verified:
        """Measures configurations, interleaved.

        Raises
        ------
        UsageError
            If nothing can be measured.
        """

    @property
    def noise_floor(self) -> float | None:
        """Relative difference between measurements of the same thing, as last seen on the setup."""
        return self.store.facts(self.setup).get("noise_floor")

    @abstractmethod
    def _models(self, needs: Many[Need], judge: Judge | None) -> Mapping[ModelKey, Model]:
        """What `provide` returns; sets `origin`, and counts what is sampled."""

    def provide(self, needs: Many[Need], judge: Judge | None = None) -> Mapping[ModelKey, Model]:
        """A model for each need.

        Parameters
        ----------
        needs : sequence of Need, one for each case
        judge : callable, optional
            Tells which configurations' errors still matter; see `ModelBuilder.provide`.
        """
        began, sampled = time.perf_counter(), self.spent.sampling
        models = self._models(needs, judge)
        modelling = time.perf_counter() - began - (self.spent.sampling - sampled)
        self.spent = replace(self.spent, modelling=self.spent.modelling + modelling)
        return models

    def replay(self, asked: Many[Many[Configuration]], judge: Judge | None = None) -> tuple[list[Replay], State]:
        """Predicted run times of the configurations of each variant, and the state of the core that they are for.

        The judge tells which of their configurations' errors still matter; by default all must be within
        the parameters' bound for answers.
        """
        sequences = [traced(own, self.setup.dtype) for own in asked]
        needs, judge = needs_of(sequences), judge or within(self.parameters.answer_bound)
        levels = levels_of(self.setup.machine) if self.context == "cache" else ()
        cold_needs = [replace(need, precondition=Cold()) for need in needs]
        models = self.provide(cold_needs if self.context == "cold" else needs, judge)
        state, origin = common_state(model.state for model in models.values()), self.origin
        warm = by_models(models, origin.how)
        told: list[Estimate | None] = [warm] * len(sequences)
        if self.context == "algorithm":
            told = self.corrected(asked, sequences, models, state)
        elif self.context == "cache":
            further = self.provide(cold_needs, within(self.parameters.answer_bound))
            state = common_state(model.state for own in (models, further) for model in own.values())
            self.origin = origin
            cold = by_models(further, origin.how)
            told = [between(own, warm, cold, self.setup.item_bytes, levels) for own in sequences]
        self.used_context = self.context if any(told) else "warm"
        left = tuple(str(own[0].variant) for own, estimate in zip(asked, told, strict=True) if not estimate)
        self.left_warm = left if any(told) else ()
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is extrapolated, the origin says
            replays = [replay(sequence, estimate or warm) for sequence, estimate in zip(sequences, told, strict=True)]
        self.spent = replace(self.spent, prediction=self.spent.prediction + time.perf_counter() - began)
        return replays, state

    @abstractmethod
    def corrected(
        self,
        asked: Many[Many[Configuration]],
        sequences: Many[Sequence],
        models: Mapping[ModelKey, Model],
        state: State,
    ) -> list[Estimate | None]:
        """What estimates the calls of each sequence, corrected by what was timed in it; None where nothing can be.

        Raises
        ------
        UsageError
            If nothing can be timed.
        """


def common_state(states: Iterable[State]) -> State:
    """The state of the core that all have in common, or that there are several."""
    found = set(states)
    return found.pop() if len(found) == 1 else "mixed"
