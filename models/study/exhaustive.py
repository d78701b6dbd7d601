"""Exhaustive sets: samples at every point of a grid, in two passes."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..generation.generator import CALLS_PER_SAMPLE, Point
from ..sizes.domain import Domain
from ..sizes.lattice import Lattice
from ..summary import FloatArray
from .axes import Axes

MEDIAN_QUANTILE = 0.5


class ExhaustiveSet:
    """Samples of a case at every point of a grid.

    Models are generated from the first pass, and judged on the medians of the second.

    Parameters
    ----------
    axes : tuple of ascending integer arrays
        The coordinates along each size.
    seconds : array of shape (n_points, repetitions)
        The first pass, points in C order of the axes; NaN at the end of rows with fewer samples.
    validation : array of shape (n_points, validations)
        The second pass.
    """

    def __init__(self, axes: Axes, seconds: FloatArray, validation: FloatArray) -> None:
        self.axes, self.seconds = axes, seconds
        self.measured = _quantile(validation, MEDIAN_QUANTILE)
        self._references: dict[tuple[int, float], FloatArray] = {}
        self._costs: dict[int, FloatArray] = {}
        self._counts: dict[int, npt.NDArray[np.int64]] = {}

    @property
    def domain(self) -> Domain:
        """The box that it covers."""
        return Domain(tuple(int(axis[0]) for axis in self.axes), tuple(int(axis[-1]) for axis in self.axes))

    @property
    def lattice(self) -> Lattice:
        """Its coordinates."""
        return Lattice(self.axes)

    @cached_property
    def points(self) -> npt.NDArray[np.int64]:
        """All points: array of shape (n_points, d)."""
        return points_of(self.axes)

    def rows(self, points: Sequence[Point]) -> npt.NDArray[np.int64]:
        """Which of its points these are."""
        places = [np.searchsorted(axis, sizes) for axis, sizes in zip(self.axes, np.transpose(points), strict=True)]
        return np.asarray(np.ravel_multi_index(places, [len(axis) for axis in self.axes]))

    def reference(self, repetitions: int, quantile: float) -> FloatArray:
        """A statistic of the first repetitions at all points: array of shape (n_points,), seconds."""
        key = repetitions, quantile
        if key not in self._references:
            self._references[key] = _quantile(self.seconds[:, :repetitions], quantile)
        return self._references[key]

    def costs(self, repetitions: int) -> FloatArray:
        """What the first repetitions cost at all points: array of shape (n_points,), seconds."""
        if repetitions not in self._costs:
            self._costs[repetitions] = CALLS_PER_SAMPLE * np.nansum(self.seconds[:, :repetitions], axis=1)
        return self._costs[repetitions]

    def counts(self, repetitions: int) -> npt.NDArray[np.int64]:
        """How many of the first repetitions there are at all points: array of shape (n_points,)."""
        if repetitions not in self._counts:
            self._counts[repetitions] = np.isfinite(self.seconds[:, :repetitions]).sum(axis=1)
        return self._counts[repetitions]

    @property
    def noise_floor(self) -> float:
        """Mean relative difference between the medians of the two passes."""
        first = self.reference(self.seconds.shape[1], MEDIAN_QUANTILE)
        return float(np.mean(np.abs(first / self.measured - 1)))


def points_of(axes: Axes) -> npt.NDArray[np.int64]:
    """All points of a grid in C order: array of shape (n_points, d)."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def _quantile(seconds: FloatArray, quantile: float) -> FloatArray:
    """Of each row's samples, without its NaN."""
    ascending = np.sort(seconds, axis=1)  # NaN last
    place = quantile * (np.isfinite(seconds).sum(axis=1) - 1)
    below = np.floor(place).astype(np.int64)
    rows = np.arange(len(seconds))
    low, high = ascending[rows, below], ascending[rows, np.ceil(place).astype(np.int64)]
    return np.asarray(low + (high - low) * (place - below))
