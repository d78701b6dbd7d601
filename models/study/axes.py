"""Coordinates of a set that is as dense as the time allows.

The coarsest set has LEAST coordinates along each size. It becomes denser one coordinate at a time:
where along a size the gap between the square roots of two coordinates is widest, relative to the
whole size, the coordinate in its middle is added. So small sizes, which are cheap and where run times
vary most, are covered more densely, and a denser set contains every coarser one.
"""

import heapq
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
Axes = tuple[IntArray, ...]

LEAST = 5


def coarsest(axes: Axes) -> Axes:
    """LEAST coordinates of each axis."""
    return tuple(np.sort([*axis[[0, -1]], *(at for _, at in list(_additions(axis))[: LEAST - 2])]) for axis in axes)


def densest(axes: Axes, allowed: Callable[[Axes], bool]) -> Axes | None:
    """The densest set that is allowed, or None if the coarsest is not.

    Parameters
    ----------
    axes : tuple of ascending integer arrays
        All coordinates.
    allowed : callable
        Whether a set may be; of those that are not, no denser one is.
    """
    base = coarsest(axes)
    additions = sorted(
        (-gap, size, at) for size, axis in enumerate(axes) for gap, at in _additions(axis) if at not in base[size]
    )

    def with_first(count: int) -> Axes:
        return tuple(
            np.sort([*coordinates, *(at for _, own, at in additions[:count] if own == size)])
            for size, coordinates in enumerate(base)
        )

    count = bisect_right(range(len(additions) + 1), False, key=lambda count: not allowed(with_first(count)))
    return with_first(count - 1) if count else None


def _additions(axis: Sequence[int] | IntArray) -> Iterator[tuple[float, int]]:
    """The coordinates between the first and the last, each with the gap that it divides, widest gap first."""
    roots = np.sqrt(axis)
    places = (roots - roots[0]) / (roots[-1] - roots[0])
    gaps = [(-1.0, 0, len(axis) - 1)]
    while gaps:
        gap, low, high = heapq.heappop(gaps)
        if high - low < 2:
            continue
        middle = low + 1 + int(np.argmin(np.abs(places[low + 1 : high] - (places[low] + places[high]) / 2)))
        yield -gap, int(axis[middle])
        for first, last in ((low, middle), (middle, high)):
            heapq.heappush(gaps, (-float(places[last] - places[first]), first, last))
