"""Sampling grids on a domain, by name; all include the boundary."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from .domain import Domain
from .lattice import EVEN, Lattice

FloatArray = npt.NDArray[np.float64]


def cartesian(low: int, high: int, count: int) -> FloatArray:
    """`count` evenly spaced places."""
    return np.linspace(low, high, count)


def chebyshev(low: int, high: int, count: int) -> FloatArray:
    """The places cos(i pi / (count - 1)), i = 0, ..., count - 1, mapped to low..high (dissertation, section 3.2.3)."""
    return np.asarray(low + (high - low) * (1 - np.cos(np.pi * np.arange(count) / (count - 1))) / 2)


def geometric(low: int, high: int, count: int) -> FloatArray:
    """`count` places of even ratio: as many small sizes, which are cheap, as large ones."""
    return np.geomspace(low, high, count)


GRIDS: dict[str, Callable[[int, int, int], FloatArray]] = {
    "cartesian": cartesian,
    "chebyshev": chebyshev,
    "geometric": geometric,
}


def grid_points(domain: Domain, counts: Sequence[int], grid: str, lattice: Lattice = EVEN) -> list[tuple[int, ...]]:
    """The distinct points of a grid on a domain that are valid, inner ones rounded to the lattice.

    Parameters
    ----------
    counts : sequence of int
        Points along each size, at least 2.
    grid : str
        A name in GRIDS.
    lattice : Lattice, optional
        By default multiples of 8, where the domain is wide enough.

    Examples
    --------
    >>> grid_points(Domain((8,), (100,)), [4], "cartesian")
    [(8,), (40,), (72,), (100,)]
    """
    axes = [
        np.unique(lattice.nearest(i, low, high, GRIDS[grid](low, high, count)))
        for i, (low, high, count) in enumerate(zip(domain.lower, domain.upper, counts, strict=True))
    ]
    return [tuple(point) for point in lattice.product(axes).tolist()]
