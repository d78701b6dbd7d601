"""Lattices: the sizes at which may be sampled."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .domain import STEP, Domain

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """The coordinates along each size at which may be sampled.

    Parameters
    ----------
    axes : tuple of ascending integer arrays, optional
        By default the multiples of 8, every integer where a domain is narrow, and a domain's bounds.
        With axes, there is nothing between their coordinates.
    valid : callable, optional
        Which points, of shape (n, d), may be sampled at all; by default all.

    Examples
    --------
    >>> Lattice().between(0, 20, 50).tolist()
    [20, 24, 32, 40, 48, 50]
    """

    axes: tuple[IntArray, ...] | None = None
    valid: Callable[[IntArray], npt.NDArray[np.bool_]] | None = None

    def between(self, size: int, low: int, high: int) -> IntArray:
        """Coordinates along a size from low to high."""
        if self.axes is not None:
            axis = self.axes[size]
            return axis[(axis >= low) & (axis <= high)]
        step = STEP if high - low >= 2 * STEP else 1
        inner = np.arange(-(-low // step) * step, high + 1, step)
        return np.unique(np.concatenate([[low], inner, [high]]))

    def contains(self, domain: Domain, points: IntArray) -> npt.NDArray[np.bool_]:
        """Which rows of an array of shape (n, d) are its points in a domain: array of shape (n,)."""
        bounds = zip(domain.lower, domain.upper, points.T, strict=True)
        inside = [np.isin(column, self.between(i, low, high)) for i, (low, high, column) in enumerate(bounds)]
        return np.asarray(np.all(inside, axis=0))

    def nearest(self, size: int, low: int, high: int, values: npt.NDArray[np.float64]) -> IntArray:
        """Those coordinates that are nearest to values; the higher one in a tie."""
        axis = self.between(size, low, high)
        above = np.minimum(np.searchsorted(axis, values), len(axis) - 1)
        below = np.maximum(above - 1, 0)
        lower = values - axis[below] < axis[above] - values
        return np.asarray(axis[np.where(lower, below, above)])

    def across(self, domain: Domain) -> list[IntArray]:
        """The coordinates along each size in a domain."""
        return [self.between(i, *bounds) for i, bounds in enumerate(zip(domain.lower, domain.upper, strict=True))]

    def points(self, part: Domain, domain: Domain, most: int, random: np.random.Generator) -> IntArray:
        """Its points for a domain that are in a part of it, a random choice if there are more than `most`.

        Parameters
        ----------
        part, domain : Domain
            A part may be narrow where the domain is not: its lattice is still the domain's.
        most : int
        random : Generator

        Returns
        -------
        integer array of shape (n, d)
        """
        bounds = zip(self.across(domain), part.lower, part.upper, strict=True)
        axes = [axis[(axis >= low) & (axis <= high)] for axis, low, high in bounds]
        if math.prod(map(len, axes)) <= most:
            return self.product(axes)
        return self.admitted(np.stack([random.choice(axis, most) for axis in axes], axis=1))

    def product(self, axes: Sequence[IntArray]) -> IntArray:
        """All combinations of coordinates that are valid: array of shape (n, d)."""
        return self.admitted(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes)))

    def admitted(self, points: IntArray) -> IntArray:
        """Those points of an array of shape (n, d) that are valid."""
        return points if self.valid is None else points[self.valid(points)]


EVEN = Lattice()
