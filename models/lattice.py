"""Lattices: the sizes at which may be sampled."""

import math
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

    Examples
    --------
    >>> Lattice().between(0, 20, 50).tolist()
    [20, 24, 32, 40, 48, 50]
    """

    axes: tuple[IntArray, ...] | None = None

    def between(self, size: int, low: int, high: int) -> IntArray:
        """Coordinates along a size from low to high, which belong to them."""
        if self.axes is None:
            step = STEP if high - low >= 2 * STEP else 1
            inner = np.arange(-(-low // step) * step, high + 1, step)
        else:
            axis = self.axes[size]
            inner = axis[(axis >= low) & (axis <= high)]
        return np.unique(np.concatenate([[low], inner, [high]]))

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
            return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
        return np.stack([random.choice(axis, most) for axis in axes], axis=1)


EVEN = Lattice()
