"""Builds models on demand: samples what a question needs and the store lacks."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from blascast.sampler.failure import KernelFailed
from blascast.sampler.sample import Batch, State, warm_job
from blascast.sampler.sampler import OnProgress, Sampler, no_progress

from .domain import Domain, uncovered
from .fit import Exponents, monomials
from .parameters import Parameters
from .piecewise import Model, ModelKey
from .refinement import Observation, Point, Refinement, Workload
from .sampling import Case, model_ld
from .store import Store
from .summary import MEDIAN, STATISTICS, FloatArray, standard_error, summarize


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

    def provide(self, needs: Iterable[Need]) -> dict[ModelKey, Model]:
        """Models that cover all needs.

        Parameters
        ----------
        needs : iterable of Need, one for each case

        Raises
        ------
        KernelFailed
            If a routine fails; what was sampled before is in the store.
        StoreError
            If the store fails.
        """
        tasks = [self._task(need) for need in needs]
        missing = [task for task in tasks if task.refinement is not None]
        if missing:
            self._refine(tasks, missing)
        return {task.need.key: task.model for task in tasks if task.model is not None}

    def _task(self, need: Need) -> "_Task":
        """What is there for a need, and the refinement of what is not."""
        parameters, kernel = self._parameters, need.case.kernel
        overfitting = parameters.overfitting_3d if len(kernel.sizes) > 2 else parameters.overfitting
        exponents = monomials(kernel, dict(need.case.flags), overfitting)
        model = self._store.load_model(self._sampler.setup, need.key)
        if model is not None and model.parameters != parameters:
            model = None
        missing: list[Domain] = []
        for domain in need.domains:
            missing += uncovered(domain, [*(model.domains if model else ()), *missing])
        workload = need.workload if parameters.targeted else None
        refinement = Refinement(missing, exponents, parameters, workload) if missing else None
        return _Task(need, exponents, model, refinement)

    def _refine(self, tasks: "list[_Task]", missing: "list[_Task]") -> None:
        """Runs all refinements side by side, one batch a round, until all stop or time is up."""
        began, round_number = time.monotonic(), 0
        states = {task.model.state for task in tasks if task.model is not None}
        state = next(iter(states), None)
        running = missing
        while running:
            round_number += 1
            wanted = [(task, point) for task in running for point in task.steps.wanted]
            observed, state = self._observe(wanted, state, f"sampling, round {round_number}")
            states.add(state)
            for task in running:
                task.steps.observe([observed[task.need.key, point] for point in task.steps.wanted])
            if time.monotonic() - began > self._parameters.seconds:
                break
            totals = _run_times(tasks) if self._parameters.targeted else None
            for task in running:
                task.steps.advance(totals if task.steps.targeted else None)
            running = [task for task in running if task.steps.stopped is None]
        for task in missing:
            model = task.completed(state if len(states) == 1 else "mixed", self._parameters)
            task.model = self._store.save_model(self._sampler.setup, model)

    def _observe(
        self, wanted: "list[_Place]", state: State | None, label: str
    ) -> tuple[dict[tuple[ModelKey, Point], Observation], State]:
        """Observations of points, from the store where it has them, and the state they are of."""
        state = state or self._store.prevailing_state(self._sampler.setup)
        observed = self._load(wanted, state) if state else {}
        fresh = [(task, point) for task, point in wanted if (task.need.key, point) not in observed]
        if not fresh:
            return observed, state or "mixed"
        batch = self._measure(fresh, state, label)
        for (task, point), measurement in zip(fresh, batch.measurements, strict=True):
            observed[task.need.key, point] = self._observation(measurement.seconds)
        return observed, batch.state

    def _measure(self, fresh: "list[_Place]", state: State | None, label: str) -> Batch:
        """Measures and saves a batch; what was measured before a failure is saved as well."""
        jobs = [warm_job(task.need.case.call(point, task.need.key.ld)) for task, point in fresh]
        names = [(task.need.key, point) for task, point in fresh]
        try:
            batch = self._sampler.measure(
                jobs,
                [self._parameters.repetitions_for(job.flops) for job in jobs],
                state=state,
                label=label,
                on_progress=self._on_progress,
            )
        except KernelFailed as failure:
            if failure.batch is not None:
                self._store.save_samples(failure.batch, names)
            raise
        self._store.save_samples(batch, names)
        self._store.note_facts(batch.setup, probe_floor=batch.floor, noise_floor=batch.noise_floor)
        self.batches.append(batch)
        return batch

    def _load(self, wanted: "list[_Place]", state: State) -> dict[tuple[ModelKey, Point], Observation]:
        """What the store has in full, of one state."""
        observed = {}
        for key in {task.need.key for task, _ in wanted}:
            stored = self._store.load_samples(self._sampler.setup, key, state)
            for task, point in wanted:
                if task.need.key != key:
                    continue
                flops = task.need.case.call(point, key.ld).flops
                if len(stored.get(point, ())) >= self._parameters.repetitions_for(flops):
                    seconds = np.array([sample.seconds for sample in stored[point]])
                    observed[key, point] = self._observation(seconds)
        return observed

    def _observation(self, seconds: FloatArray) -> Observation:
        statistic = STATISTICS.index(self._parameters.reference)
        statistics = summarize(seconds)
        error = standard_error(seconds, statistic) / statistics[statistic]
        return Observation(statistics, error, float(2 * seconds.sum()))


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

    def completed(self, state: State | None, parameters: Parameters) -> Model:
        """The model with the refined pieces added."""
        refined = self.steps.result()
        earlier = (self.model.pieces, self.model.seconds) if self.model else ((), 0.0)
        return Model(
            self.need.key,
            self.exponents,
            earlier[0] + refined.pieces,
            state or "mixed",
            refined.stopped,
            earlier[1] + refined.seconds,
            parameters,
        )


_Place: TypeAlias = tuple[_Task, Point]


def _run_times(tasks: list[_Task]) -> FloatArray:
    """Run time of each configuration of the question."""
    seconds = sum((task.seconds_by_configuration() for task in tasks), start=np.zeros(1))
    return np.maximum(seconds, np.finfo(float).tiny)
