"""Levels: values about which many of a batch's readings lie close together."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

LEAST_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Level:
    """A level.

    Parameters
    ----------
    value : float
        The median of the readings at this level.
    share : float
        Of all readings.
    """

    value: float
    share: float


def prevailing(values: npt.NDArray[np.float64], tolerance: float) -> float:
    """The centre of the window, of a relative half-width, that holds most values; not of an empty array.

    Examples
    --------
    >>> prevailing(np.array([1.0, 1.01, 1.02, 1.1, 1.11]), 0.03)
    1.01
    """
    ascending = np.sort(values)
    return float(np.median(ascending[_densest(ascending, tolerance)]))


def levels_of(values: npt.NDArray[np.float64], tolerance: float) -> tuple[Level, ...]:
    """The levels that hold a tenth of the values or more, the most frequent first.

    Parameters
    ----------
    values : array of shape (n_values,)
    tolerance : float
        Half-width of a level, relative to its value.

    Examples
    --------
    >>> levels_of(np.array([1.0, 1.0, 2.0, 1.01]), 0.05)
    (Level(value=1.0, share=0.75), Level(value=2.0, share=0.25))
    """
    found: list[Level] = []
    left = np.sort(values)
    while len(left):
        densest = _densest(left, tolerance)
        share = (densest.stop - densest.start) / len(values)
        if share < LEAST_SHARE:
            break
        centre = float(np.median(left[densest]))
        found.append(Level(centre, share))
        left = left[np.abs(left - centre) > 2 * tolerance * centre]  # its tails are no levels of their own
    return tuple(found)


def _densest(ascending: npt.NDArray[np.float64], tolerance: float) -> slice:
    ends = np.searchsorted(ascending, ascending * (1 + tolerance) / (1 - tolerance), side="right")
    first = int(np.argmax(ends - np.arange(len(ascending))))
    return slice(first, int(ends[first]))
