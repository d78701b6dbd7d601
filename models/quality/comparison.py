"""Comparisons: how the run times of two models of one kernel case differ."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from ..piecewise import Model, ModelKey
from ..sizes.domain import Domain
from ..sizes.grid import grid_points
from ..summary import MEDIAN, FloatArray

MOST_POINTS = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """What a second model says in relation to a first one, on the sizes that both cover.

    Parameters
    ----------
    key : ModelKey
    domain : Domain
        The smallest box around these sizes.
    points : integer array of shape (n, d)
        Sizes at which they were compared, of even ratio.
    ratios : array of shape (n,)
        Median run time by the second over that by the first.
    error : float
        Standard error of a ratio, relative: the models' own, both together; median over the points.
    """

    key: ModelKey
    domain: Domain
    points: npt.NDArray[np.int64]
    ratios: FloatArray
    error: float

    @property
    def most_different(self) -> int:
        """Index of the point at which they differ most."""
        return int(np.argmax(np.abs(np.log(self.ratios))))


def compare(first: Model, second: Model) -> Comparison | None:
    """The comparison of two models of one case, or None if they cover no sizes in common."""
    overlaps = [both for one, other in product(first.domains, second.domains) if (both := one.common(other))]
    if not overlaps:
        return None
    lower, upper = (np.array([getattr(box, name) for box in overlaps]) for name in ("lower", "upper"))
    around = Domain(tuple(lower.min(axis=0).tolist()), tuple(upper.max(axis=0).tolist()))
    points = _points(around, overlaps)
    points = points[(first.piece_of(points) >= 0) & (second.piece_of(points) >= 0)]
    one, other = first.evaluate(points), second.evaluate(points)
    ratios = other.statistics[:, MEDIAN] / one.statistics[:, MEDIAN]
    return Comparison(first.key, around, points, ratios, float(np.median(np.hypot(one.errors, other.errors))))


def _points(around: Domain, overlaps: list[Domain]) -> npt.NDArray[np.int64]:
    """A grid on a box, and the corners of those it was put around, one of which it may miss."""
    count = int(MOST_POINTS ** (1 / len(around.lower)))
    grid = np.array(grid_points(around, [count] * len(around.lower), "geometric"))
    return np.unique(np.concatenate([grid, *(box.spread(2) for box in overlaps)]), axis=0)
