"""What was sampled of a model, beside what it says."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from blascast.models.kept.store import Store
from blascast.models.piecewise import Model
from blascast.models.summary import MEDIAN
from blascast.predictors.prediction import FloatArray
from blascast.sampler.errors import UsageError
from blascast.sampler.setup import Setup

from .slices import Slice


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """Points that were sampled, inside a model's domains.

    Parameters
    ----------
    points : integer array of shape (n, d)
    seconds, predicted : arrays of shape (n,)
        Median of the samples, and what the model says of it.
    """

    points: npt.NDArray[np.int64]
    seconds: FloatArray
    predicted: FloatArray

    @property
    def errors(self) -> FloatArray:
        """(predicted - measured) / measured."""
        return self.predicted / self.seconds - 1

    def needed(self, model: Model) -> "Observed":
        """These, where without any nothing can be drawn.

        Raises
        ------
        UsageError
            If there are none.
        """
        if not len(self.points):
            where = " (models are imported without them)" if model.origin else ""
            raise UsageError(f"the store holds no samples of {model.key}{where}: only its map can be drawn")
        return self

    def _only(self, chosen: npt.NDArray[Any]) -> "Observed":
        return Observed(self.points[chosen], self.seconds[chosen], self.predicted[chosen])

    def dealt(self, slices: Sequence[Slice]) -> "list[Observed]":
        """The points of each slice: those whose third size is nearer to its own than to the others'."""
        if len(slices) == 1:
            return [self]
        values = np.array([slice_.held[0] for slice_ in slices])
        nearest = np.abs(np.log(self.points[:, 2, None] / values)).argmin(axis=1)
        return [self._only(nearest == i) for i in range(len(slices))]

    def common_others(self, model: Model) -> tuple[int, ...]:
        """All sizes but the first, where most points are; without any, at the upper end of the first piece."""
        if not len(self.points):
            return model.domains[0].upper[1:]
        return Counter(tuple(point) for point in self.points[:, 1:].tolist()).most_common(1)[0][0]

    def with_others(self, others: tuple[int, ...]) -> "Observed":
        """The points whose sizes but the first are these, by the first."""
        chosen = self._only((self.points[:, 1:] == np.array(others, dtype=int)).all(axis=1))
        return chosen._only(np.argsort(chosen.points[:, 0]))


def observed_points(setup: Setup, model: Model, home: Path | None) -> Observed:
    """What the store has of a model's samples, in the state of the core that it is of."""
    store = Store(home)
    try:
        samples = store.load_samples(setup, model.key, model.state)
    finally:
        store.close()
    points = np.array(sorted(samples), dtype=np.int64).reshape(-1, len(model.exponents[0]))
    points = points[model.piece_of(points) >= 0]
    seconds = [float(np.median([sample.seconds for sample in samples[tuple(point)]])) for point in points.tolist()]
    predicted = model.evaluate(points).statistics[:, MEDIAN] if len(points) else np.empty(0)
    return Observed(points, np.array(seconds), predicted)
