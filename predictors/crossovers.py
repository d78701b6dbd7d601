"""Crossovers: the sizes at which another variant becomes the fastest."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .prediction import FloatArray


@dataclass(frozen=True, slots=True)
class Crossover:
    """Where one contender takes over from another.

    Parameters
    ----------
    before, after : int
        Their indices.
    at : float
        The size at which their times are equal, interpolated.
    low, high : float
        The last size below at which the earlier one is faster for certain (the first of the sweep if there
        is none), and the first above at which the later one is.
    """

    before: int
    after: int
    at: float
    low: float
    high: float


def crossovers(sizes: Sequence[float], seconds: FloatArray, errors: FloatArray, confidence: float) -> list[Crossover]:
    """Where the fastest of several contenders changes for certain; while it is tied with others, it stays.

    Parameters
    ----------
    sizes : sequence of float, ascending
    seconds, errors : arrays of shape (n_sizes, n_contenders)
        Run times and their standard errors, noise included.
    confidence : float
        How many standard errors of a difference make it certain.

    Examples
    --------
    >>> import numpy as np
    >>> times = np.array([[1.0, 2.0], [2.0, 2.5], [4.0, 3.5], [8.0, 5.0]])
    >>> [(c.before, c.after, c.at, c.low, c.high) for c in crossovers([1, 2, 3, 4], times, 0.05 * times, 1.96)]
    [(0, 1, 2.626, 2, 4)]
    """
    found: list[Crossover] = []
    leader, since = int(np.argmin(seconds[0])), 0
    for i in range(1, len(sizes)):
        best = int(np.argmin(seconds[i]))
        if _certain(seconds[i], errors[i], best, leader, confidence):
            found.append(_between(sizes, seconds, errors, leader, best, since, i, confidence))
            leader, since = best, i
    return found


def _certain(seconds: FloatArray, errors: FloatArray, fast: int, slow: int, confidence: float) -> bool:
    """Whether one is faster than another by more than chance."""
    difference = seconds[slow] - seconds[fast]
    return bool(difference > confidence * np.hypot(errors[slow], errors[fast]))


def _between(
    sizes: Sequence[float],
    seconds: FloatArray,
    errors: FloatArray,
    before: int,
    after: int,
    first: int,
    last: int,
    confidence: float,
) -> Crossover:
    """The crossover of two contenders somewhere between two indices of the sweep."""
    certain = [i for i in range(first, last) if _certain(seconds[i], errors[i], before, after, confidence)]
    ahead = np.log(seconds[first : last + 1, after] / seconds[first : last + 1, before])
    turns = np.flatnonzero((ahead[:-1] > 0) & (ahead[1:] <= 0))
    k = int(turns[-1]) if len(turns) else 0
    share = float(np.clip(ahead[k] / (ahead[k] - ahead[k + 1]), 0, 1)) if ahead[k] != ahead[k + 1] else 0.0
    at = sizes[first + k] + share * (sizes[first + k + 1] - sizes[first + k])
    return Crossover(before, after, round(at, 3), sizes[certain[-1]] if certain else sizes[first], sizes[last])
