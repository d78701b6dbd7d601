"""Builds models on demand: samples what a question needs and the store lacks."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

import numpy as np

from blascast.sampler.batch.sample import Batch, Measurement, Sample, State
from blascast.sampler.job import Job, warm_job
from blascast.sampler.sampler import OnProgress, Sampler, no_progress

from .domain import Domain, uncovered
from .basis import Exponents, monomials
from .parameters import Parameters
from .piecewise import Model, ModelKey
from .generator import Observation, Point, Workload
from .halving import Halving
from .refinement import Refinement
from .sampling import Case, model_ld
from .store import Store
from .summary import MEDIAN, STATISTICS, FloatArray, standard_error, summarize

MOST_CHANGES = 3


@dataclass(frozen=True, slots=True, eq=False)
class Need:
    """A case, the domains it is needed on, and the calls that will be asked for.

    Parameters
    ----------
    case : Case
    domains : tuple of Domain
    workload : Workload, optional
        Its configurations are those of the whole question.
    """

    case: Case
    domains: tuple[Domain, ...]
    workload: Workload | None = None

    @property
    def key(self) -> ModelKey:
        """The key of the model that answers it."""
        tallest = max(max(domain.upper) for domain in self.domains)
        return ModelKey(self.case.kernel.name, self.case.name, model_ld(tallest))


class ModelBuilder:
    """Provides models: from the store, and by sampling what is missing.

    Parameters
    ----------
    sampler : Sampler
    store : Store
    parameters : Parameters
        Models made with others are not used.
    on_progress : callable

    Attributes
    ----------
    batches : list of Batch
        What was sampled.
    """

    def __init__(
        self,
        sampler: Sampler,
        store: Store,
        parameters: Parameters | None = None,
        on_progress: OnProgress = no_progress,
    ) -> None:
        self._sampler = sampler
        self._store = store
        self._parameters = parameters or Parameters()
        self._on_progress = on_progress
        self.batches: list[Batch] = []

    def provide(self, needs: Sequence[Need]) -> dict[ModelKey, Model]:
        """Models that cover all needs, all of one state of the core if that can be had.

        When the state changes for good while sampling, everything begins anew in the new state: no
        model rests on samples of two. Only where it keeps changing are states mixed, and named so.

        Parameters
        ----------
        needs : sequence of Need, one for each case

        Raises
        ------
        KernelFailed
            If a routine fails; what was sampled before is in the store.
        StoreError
            If the store fails.
        """
        state = self._known_state(needs)
        for changes in count(1):
            tasks = [self._task(need, state) for need in needs]
            try:
                self._refine(tasks, state)
                break
            except _StateChanged as change:
                state = change.state if changes <= MOST_CHANGES else "mixed"
        self._note_facts()
        return {task.need.key: task.model for task in tasks if task.model is not None}

    def _known_state(self, needs: Sequence[Need]) -> State | None:
        """The state that most models for the needs are of; without any, that of most samples."""
        found = [self._store.load_model(self._sampler.setup, need.key) for need in needs]
        states = [model.state for model in found if model is not None]
        if not states:
            return self._store.prevailing_state(self._sampler.setup)
        return Counter(states).most_common(1)[0][0]

    def _task(self, need: Need, state: State | None) -> "_Task":
        """What is there for a need, and the refinement of what is not."""
        parameters, kernel = self._parameters, need.case.kernel
        exponents = monomials(kernel, dict(need.case.flags), parameters.overfitting_for(kernel.sizes))
        model = self._store.load_model(self._sampler.setup, need.key)
        made_alike = model is not None and (model.parameters, model.exponents) == (parameters, exponents)
        if model is not None and not (made_alike and model.state == (state or model.state)):
            model = None
        missing: list[Domain] = []
        for domain in need.domains:
            missing += uncovered(domain, [*(model.domains if model else ()), *missing])
        workload = need.workload if parameters.targeted else None
        refinement = Refinement(missing, exponents, parameters, workload) if missing else None
        return _Task(need, exponents, model, refinement)

    def _refine(self, tasks: "list[_Task]", state: State | None) -> None:
        """Runs all refinements side by side, one batch a round, until all stop or time is up.

        Raises
        ------
        _StateChanged
            If a batch was of another state than asked for.
        """
        began, round_number = time.monotonic(), 0
        missing = running = [task for task in tasks if task.refinement is not None]
        while running:
            round_number += 1
            wanted = [(task, point) for task in running for point in task.steps.wanted]
            observed = self._observe(wanted, state, f"sampling, round {round_number}")
            state = state or (self.batches[-1].state if self.batches else None)
            for task in running:
                task.steps.observe([observed[task.need.key, point] for point in task.steps.wanted])
            if time.monotonic() - began > self._parameters.seconds:
                break
            totals = _run_times(tasks) if self._parameters.targeted else None
            for task in running:
                task.steps.advance(totals if task.steps.targeted else None)
            running = [task for task in running if task.steps.stopped is None]
        for task in missing:
            model = task.completed(state or "mixed", self._parameters)
            task.model = self._store.save_model(self._sampler.setup, model)

    def _observe(
        self, wanted: "list[_Place]", state: State | None, label: str
    ) -> dict[tuple[ModelKey, Point], Observation]:
        """Observations of points: what the store has of them, completed by sampling."""
        stored = self._load({task.need.key for task, _ in wanted}, state)
        jobs, counts, fresh = [], [], []
        for task, point in wanted:
            call = task.need.case.call(point, task.need.key.ld)
            lacking = self._parameters.repetitions_for(call.flops) - len(stored.get((task.need.key, point), ()))
            if lacking > 0:
                jobs.append(warm_job(call))
                counts.append(lacking)
                fresh.append((task.need.key, point))
        measured: dict[tuple[ModelKey, Point], Measurement] = {}
        if jobs:
            batch = self._measure(jobs, counts, fresh, state, label)
            if batch.state != (state or batch.state):
                raise _StateChanged(batch.state)
            measured = dict(zip(fresh, batch.measurements, strict=True))
        keys = [(task.need.key, point) for task, point in wanted]
        return {key: self._observation(stored.get(key, []), measured.get(key)) for key in keys}

    def _load(self, keys: set[ModelKey], state: State | None) -> dict[tuple[ModelKey, Point], list[Sample]]:
        """The samples of one state that the store has."""
        if state is None:
            return {}
        return {
            (key, point): samples
            for key in keys
            for point, samples in self._store.load_samples(self._sampler.setup, key, state).items()
        }

    def _measure(
        self,
        jobs: list[Job],
        counts: list[int],
        names: list[tuple[ModelKey, Point]],
        state: State | None,
        label: str,
    ) -> Batch:
        """Measures and saves a batch; after a failure or an interrupt, what was measured before."""
        with self._store.journal(self._sampler.setup, names) as journal:
            try:
                batch = self._sampler.measure(
                    jobs, counts, state=state, label=label, on_progress=self._on_progress, journal=journal
                )
            except BaseException:
                if self._sampler.unfinished is not None:
                    self._store.save_samples(self._sampler.unfinished, names)
                raise
            self._store.save_samples(batch, names)
        self.batches.append(batch)
        return batch

    def _observation(self, stored: list[Sample], measured: Measurement | None) -> Observation:
        """From accepted samples; where there are none, from disturbed ones, as uncertain as large."""
        fresh = measured.accepted if measured else ()
        counted = [*stored, *fresh] or (measured.samples if measured else ())
        seconds = np.array([sample.seconds for sample in counted])
        statistic = STATISTICS.index(self._parameters.reference)
        statistics = summarize(seconds)
        error = standard_error(seconds, statistic) / statistics[statistic] if stored or fresh else 1.0
        return Observation(statistics, error, measured.cost if measured else 0.0)

    def _note_facts(self) -> None:
        """Keeps what was learnt about the setup; the noise floor is that of the longest batch."""
        if self.batches:
            longest = max(self.batches, key=lambda batch: batch.seconds)
            self._store.note_facts(self._sampler.setup, **facts_of(longest))


def facts_of(batch: Batch) -> dict[str, float]:
    """What a batch teaches about its setup, as far as it does."""
    facts = {"probe_floor": batch.floor, "noise_floor": batch.noise_floor}
    return {name: value for name, value in facts.items() if value is not None and np.isfinite(value)}


class _StateChanged(Exception):
    """A batch was of another state of the core than the samples before it."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.state: State = state


class _Task:
    """A need, the model so far, and the refinement of what it misses."""

    def __init__(self, need: Need, exponents: Exponents, model: Model | None, refinement: Refinement | None) -> None:
        self.need, self.exponents, self.model, self.refinement = need, exponents, model, refinement

    @property
    def steps(self) -> Refinement:
        """The refinement, where something is missing."""
        assert self.refinement is not None
        return self.refinement

    def seconds_by_configuration(self) -> FloatArray | float:
        """Estimated time that each configuration of the workload spends in this case."""
        workload = self.need.workload
        if workload is None:
            return 0.0
        seconds = np.zeros(workload.configurations)
        if self.model is not None:
            covered = self.model.piece_of(workload.sizes) >= 0
            medians = self.model.evaluate(workload.sizes[covered])[0][:, MEDIAN]
            owner = workload.owner[covered]
            seconds += np.bincount(owner, weights=medians, minlength=workload.configurations)
        return seconds if self.refinement is None else seconds + self.refinement.seconds_by_configuration()

    def completed(self, state: State, parameters: Parameters) -> Model:
        """The model with the refined pieces added."""
        refined = self.steps.result()
        earlier = (self.model.pieces, self.model.seconds) if self.model else ((), 0.0)
        return Model(
            self.need.key,
            self.exponents,
            earlier[0] + refined.pieces,
            state,
            refined.stopped,
            earlier[1] + refined.seconds,
            parameters,
        )


_Place: TypeAlias = tuple[_Task, Point]


def _run_times(tasks: list[_Task]) -> FloatArray:
    """Run time of each configuration of the question."""
    seconds = sum((task.seconds_by_configuration() for task in tasks), start=np.zeros(1))
    return np.maximum(seconds, np.finfo(float).tiny)
