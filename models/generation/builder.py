"""Builds models on demand: samples what a question needs and the store lacks."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from blascast.sampler.batch.sample import Batch, Measurement, Sample, State
from blascast.sampler.job import job_of
from blascast.sampler.sampler import OnProgress, Sampler, no_progress

from ..kept.store import Store
from ..parameters import Parameters
from ..piecewise import Model, ModelKey
from ..summary import LEAST_SECONDS, FloatArray
from .generator import CALLS_PER_SAMPLE, Observation, Point, observe
from .keeping import facts_of, measure_and_keep
from .need import Need
from .ripple import learn_ripple, ripple_points, with_unknown_ripple
from .task import Task
from .workload import Judge, importance

MOST_CHANGES = 3
REASKED = 0.98  # of an error that models from the store bring: what was good enough once remains so


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
    stopped : str or None
        Why sampling ended, if there was any: ``"bound"``, ``"decision"``, ``"budget"``, or what ended
        the refinement of most models: ``"noise"``, ``"no gain"`` or ``"minimum width"``.
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
        self.stopped: str | None = None
        self._samples: dict[tuple[ModelKey, State | None], dict[Point, list[Sample]]] = {}

    def provide(self, needs: Sequence[Need], judge: Judge | None = None) -> dict[ModelKey, Model]:
        """Models that cover all needs, all of one state of the core if that can be had.

        When the state changes for good while sampling, everything begins anew in the new state: no
        model rests on samples of two. Only where it keeps changing are states mixed, and named so.

        Parameters
        ----------
        needs : sequence of Need, one for each case
            With a judge, all have a workload.
        judge : callable, optional
            Tells which configurations' errors still matter; without, every model is refined until
            its own error is within the parameters' bound, also one that was left as it is when it was
            good enough for a question or time was up.

        Raises
        ------
        KernelFailed
            If a routine fails; what was sampled before is in the store.
        StoreError
            If the store fails.
        """
        state, began = self._known_state(needs), time.monotonic()
        for changes in count(1):
            tasks = [self._task(need, state) for need in needs]
            try:
                self._examine_ripple(tasks, self._refine(tasks, state, judge, began))
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

    def _task(self, need: Need, state: State | None) -> Task:
        """What is there for a need; if that does not cover it, the generator of what is missing."""
        task = Task(need, self._parameters, self._sampler.setup.threads)
        model = self._store.load_model(self._sampler.setup, need.key)
        if model is not None and task.made_alike(model) and model.state == (state or model.state):
            task.model = model
        if need.workload is None and task.unfinished:
            task.model = None
        if missing := task.missing():
            task.begin(missing, self._known(need, state))
        return task

    def _known(self, need: Need, state: State | None) -> dict[Point, Observation]:
        """Observations of points that the store has enough samples of."""
        stored, enough = self._load(need.key, state), self._parameters.least_repetitions
        return {point: self._observation(samples, None) for point, samples in stored.items() if len(samples) >= enough}

    def _refine(self, tasks: list[Task], state: State | None, judge: Judge | None, began: float) -> State | None:
        """Runs all generators side by side, one batch a round, until all stop, enough is known or time is up.

        The state that all samples are of; None if it is unknown as nothing was sampled.

        Raises
        ------
        _StateChanged
            If a batch was of another state than asked for.
        """
        stopped = None
        targeted = judge if self._parameters.cuts == "fitted" else None
        for number in count(1):
            running = [task for task in tasks if task.running]
            wanted = [(task.need, task.generator_.wanted) for task in running]
            observed = self._observe(wanted, state, f"sampling, round {number}")
            for task in running:
                task.generator_.observe(observed[task.need.key])
            state = state or (self.batches[-1].state if self.batches else None)
            if running and time.monotonic() - began > self._parameters.seconds:
                stopped = "budget"
            elif targeted is not None:
                stopped = self._focus(tasks, state, targeted)
            else:
                for task in running:
                    task.generator_.advance()
            if stopped is not None or not any(task.running for task in tasks):
                break
        self._finish(tasks, state or "mixed", stopped)
        return state

    def _examine_ripple(self, tasks: list[Task], state: State | None) -> None:
        """Completes models by how run times differ at sizes that are no multiples of 8, where that matters.

        Raises
        ------
        _StateChanged
            If what was sampled is of another state than the models.
        """
        there = [(task.need, task.model) for task in tasks if task.model is not None]
        random = np.random.default_rng(0)
        wanted = [(need, ripple_points(need, model, random)) for need, model in with_unknown_ripple(there)]
        observed = self._observe(wanted, state, "sampling between multiples of 8")
        for task in tasks:
            if task.model is not None and (found := observed.get(task.need.key)):
                learnt = replace(
                    task.model,
                    ripple=learn_ripple(task.model, found),
                    samples=task.model.samples + sum(observation.samples for observation in found.values()),
                    seconds=task.model.seconds + sum(observation.seconds for observation in found.values()),
                )
                task.model = self._store.save_model(self._sampler.setup, learnt)

    def _focus(self, tasks: list[Task], state: State | None, judge: Judge) -> str | None:
        """Points the generators to what matters to the question; why there is nothing left to do, or None."""
        contributions = [task.contributions() for task in tasks]
        seconds = sum(c.seconds.sum(axis=1) for c in contributions)
        errors = np.concatenate([c.errors for c in contributions], axis=1)
        slack = 1.0 if any(task.running for task in tasks) else REASKED
        judgement = judge(np.asarray(seconds), slack * np.sqrt((errors**2).sum(axis=1)))
        if not judgement.open.any():
            return judgement.settled
        weights = importance(errors, judgement.open)
        gains = weights * np.concatenate([task.can_gain() for task in tasks])
        if not gains.any():
            return self._obstacle(tasks, weights)
        bounds = np.cumsum([c.errors.shape[1] for c in contributions])[:-1]
        for task, own in zip(tasks, np.split(gains / gains.max(), bounds), strict=True):
            if task.advance(own):
                task.begin(list(task.need.domains), self._known(task.need, state))
        return None if any(task.wants for task in tasks) else self._obstacle(tasks, weights)

    def _obstacle(self, tasks: list[Task], weights: FloatArray) -> str:
        """What keeps the task whose error matters most from getting better."""
        owners = [task for task in tasks for _ in range(task.width)]
        return owners[int(np.argmax(weights))].obstacle

    def _finish(self, tasks: list[Task], state: State, stopped: str | None) -> None:
        """Makes models of what was generated, and saves them."""
        made = [task for task in tasks if task.generator is not None]
        for task in made:
            taken = self._store.last_taken(self._sampler.setup, task.need.key)
            task.model = self._store.save_model(self._sampler.setup, task.completed(state, stopped, taken))
        if made:
            reasons = [task.model.stopped for task in made if task.model is not None]
            self.stopped = stopped or max(reasons, key=reasons.count)

    def _observe(
        self, wanted: Sequence[tuple[Need, list[Point]]], state: State | None, label: str
    ) -> dict[ModelKey, dict[Point, Observation]]:
        """Observations of the points wanted of each need: what the store has of them, completed by sampling."""
        stored = {need.key: self._load(need.key, state) for need, _ in wanted}
        jobs, repetitions, names = [], [], []
        for need, points in wanted:
            for point in points:
                have = len(stored[need.key].get(point, ()))
                if have < self._parameters.least_repetitions:
                    jobs.append(job_of(need.case.call(point, need.key.ld), need.precondition))
                    repetitions.append(self._parameters.repetitions(have))
                    names.append((need.key, point))
        measured: dict[tuple[ModelKey, Point], Measurement] = {}
        if jobs:
            batch = measure_and_keep(
                self._sampler,
                self._store,
                jobs,
                repetitions,
                names,
                state=state,
                label=label,
                on_progress=self._on_progress,
            )
            self.batches.append(batch)
            if batch.state != (state or batch.state):
                raise _StateChanged(batch.state)
            measured = dict(zip(names, batch.measurements, strict=True))
        observed = {
            need.key: {
                point: self._observation(stored[need.key].get(point, []), measured.get((need.key, point)))
                for point in points
            }
            for need, points in wanted
        }
        for (key, point), measurement in measured.items():
            if (key, state) in self._samples:  # else they will be read from the store, as all others
                self._samples[key, state].setdefault(point, []).extend(measurement.accepted)
        return observed

    def _load(self, key: ModelKey, state: State | None) -> dict[Point, list[Sample]]:
        """The samples of one state that the store has, read once."""
        if state is None:
            return {}
        if (key, state) not in self._samples:
            self._samples[key, state] = self._store.load_samples(self._sampler.setup, key, state)
        return self._samples[key, state]

    def _observation(self, stored: list[Sample], measured: Measurement | None) -> Observation:
        """From accepted samples; where there are none, from disturbed ones, as uncertain as large."""
        fresh = measured.accepted if measured else ()
        counted = [*stored, *fresh] or (measured.samples if measured else ())
        seconds = np.maximum([sample.seconds for sample in counted], LEAST_SECONDS)
        spent = CALLS_PER_SAMPLE * sum(sample.seconds for sample in stored) + (measured.cost if measured else 0.0)
        observation = observe(seconds, self._parameters.reference, spent)
        return observation if stored or fresh else replace(observation, standard_error=1.0)

    def _note_facts(self) -> None:
        """Keeps what was learnt about the setup; the noise floor is that of the longest batch."""
        if self.batches:
            longest = max(self.batches, key=lambda batch: batch.seconds)
            self._store.note_facts(self._sampler.setup, **facts_of(longest))


class _StateChanged(Exception):
    """A batch was of another state of the core than the samples before it."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.state: State = state
