"""Measures points of the study's case and keeps the samples."""

import numpy as np
import numpy.typing as npt

from blascast.sampler.batch.sample import Batch, State
from blascast.sampler.job import warm_job
from blascast.sampler.sampler import OnProgress, Sampler

from ..generation.generator import Point
from ..generation.keeping import facts_of, measure_and_keep
from ..kept.store import Store
from ..piecewise import ModelKey
from ..summary import FloatArray
from .axes import Axes
from .exhaustive import ExhaustiveSet, points_of
from .setting import CASE, KEY, LD, REPETITIONS, VALIDATION_KEY, VALIDATIONS

IntArray = npt.NDArray[np.int64]


class Collection:
    """The samples of a setup, in its store.

    Parameters
    ----------
    sampler : Sampler
    store : Store
    on_progress : callable

    Attributes
    ----------
    batches : list of Batch
        What was measured.
    disturbed : set of points
        Those of which no sample counts: disturbed ones are taken.
    """

    def __init__(self, sampler: Sampler, store: Store, on_progress: OnProgress) -> None:
        self._sampler, self._store, self._on_progress = sampler, store, on_progress
        self.batches: list[Batch] = []
        self.disturbed: set[Point] = set()

    @property
    def state(self) -> State | None:
        """The state of the core that most samples of the setup are of."""
        return self._store.prevailing_state(self._sampler.setup)

    def complete(self, points: IntArray, repetitions: int, key: ModelKey, label: str) -> None:
        """Measures what is missing of so many repetitions at each point; disturbed ones are made up for once.

        Parameters
        ----------
        points : array of shape (n, d)
        repetitions : int
        key : ModelKey
            What the samples are kept as.
        label : str
            For the progress.

        Raises
        ------
        KernelFailed
            If the routine fails; what was measured before is in the store.
        """
        taken = self._store.count_samples(self._sampler.setup, key)
        missing = {point: repetitions - taken.get(point, 0) for point in map(tuple, points.tolist())}
        missing = {point: count for point, count in missing.items() if count > 0}
        if not missing:
            return
        batch = measure_and_keep(
            self._sampler,
            self._store,
            [warm_job(CASE.call(point, LD)) for point in missing],
            list(missing.values()),
            [(key, point) for point in missing],
            state=self.state,
            label=label,
            on_progress=self._on_progress,
        )
        self._store.note_facts(self._sampler.setup, **facts_of(batch))
        self.batches.append(batch)

    def seconds(self, points: IntArray, repetitions: int, key: ModelKey) -> FloatArray:
        """The first repetitions at each point that count.

        Where there are none, disturbed ones are taken.

        Returns
        -------
        array of shape (n, repetitions)
            NaN at the end of rows where there are fewer.
        """
        rows = [tuple(point) for point in points.tolist()]
        found = self._load(self.state, key)
        disturbed = {point for point in rows if point not in found}
        if disturbed:
            found = {**self._load(None, key), **found}
        self.disturbed |= disturbed
        seconds = np.full((len(rows), repetitions), np.nan)
        for row, point in zip(seconds, rows, strict=True):
            own = found[point][:repetitions]
            row[: len(own)] = own
        return seconds

    def exhaustive_set(self, axes: Axes) -> ExhaustiveSet:
        """The set with these coordinates, what is missing of it measured."""
        points = points_of(axes)
        self.complete(points, REPETITIONS, KEY, "sampling")
        self.complete(points, VALIDATIONS, VALIDATION_KEY, "sampling once more, for validation")
        return ExhaustiveSet(
            axes, self.seconds(points, REPETITIONS, KEY), self.seconds(points, VALIDATIONS, VALIDATION_KEY)
        )

    def _load(self, state: State | None, key: ModelKey) -> dict[Point, list[float]]:
        stored = self._store.load_samples(self._sampler.setup, key, state)
        return {point: [sample.seconds for sample in samples] for point, samples in stored.items()}
