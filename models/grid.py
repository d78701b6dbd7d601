"""Sampling grids on a domain, by name; both include the boundary."""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from .domain import STEP, Domain


def cartesian(count: int) -> npt.NDArray[np.float64]:
    """`count` evenly spaced points of [0, 1]."""
    return np.linspace(0.0, 1.0, count)


def chebyshev(count: int) -> npt.NDArray[np.float64]:
    """The points cos(i pi / (count - 1)), i = 0, ..., count - 1, mapped to [0, 1]."""
    return np.asarray((1 - np.cos(np.pi * np.arange(count) / (count - 1))) / 2)


GRIDS: dict[str, Callable[[int], npt.NDArray[np.float64]]] = {"cartesian": cartesian, "chebyshev": chebyshev}


def grid_points(domain: Domain, counts: Sequence[int], grid: str) -> list[tuple[int, ...]]:
    """The distinct points of a grid on a domain, inner ones rounded to multiples of 8 where it allows.

    Parameters
    ----------
    counts : sequence of int
        Points along each size, at least 2.
    grid : str
        A name in GRIDS.

    Examples
    --------
    >>> grid_points(Domain((8,), (100,)), [4], "cartesian")
    [(8,), (40,), (72,), (100,)]
    """
    axes = [
        _axis(low, high, GRIDS[grid](count))
        for low, high, count in zip(domain.lower, domain.upper, counts, strict=True)
    ]
    return list(product(*axes))


def _axis(low: int, high: int, places: npt.NDArray[np.float64]) -> list[int]:
    step = STEP if high - low >= 2 * STEP else 1
    inner = step * np.rint((low + places[1:-1] * (high - low)) / step)
    return sorted({low, high, *np.clip(inner.astype(int), low, high).tolist()})
