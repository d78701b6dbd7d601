"""Chooses block sizes from predicted run times."""

from dataclasses import dataclass

import numpy as np

from blascast.models.summary import MEDIAN

from .configurations import USUAL_B
from .prediction import FloatArray
from .replay import Replay

PLATEAU = 0.01


@dataclass(frozen=True, slots=True)
class BestBlockSize:
    """The best block size for one n.

    Parameters
    ----------
    n, b : int
    low, high : int
        The range around b within 1 % of its run time.
    gain : float
        By how much block size 64 takes longer, relative.
    seconds : float
        Predicted median at b.
    """

    n: int
    b: int
    low: int
    high: int
    gain: float
    seconds: float


def curve(replay: Replay, n: int) -> tuple[FloatArray, FloatArray]:
    """Block sizes and predicted medians (seconds) of the configurations of size n, by block size."""
    (of_size,) = np.nonzero(replay.sequence.n == n)
    order = of_size[np.argsort(replay.sequence.b[of_size])]
    return replay.sequence.b[order].astype(float), replay.statistics[order, MEDIAN]


def best_block_size(replay: Replay, n: int) -> BestBlockSize:
    """The best of the configurations of size n; block size 64 (or n) must be among them."""
    b, seconds = curve(replay, n)
    best = int(np.argmin(seconds))
    low, high = plateau(seconds, best)
    usual = seconds[np.flatnonzero(b == min(USUAL_B, n))[0]]
    gain = float(usual / seconds[best] - 1)
    return BestBlockSize(n, int(b[best]), int(b[low]), int(b[high]), gain, float(seconds[best]))


def plateau(seconds: FloatArray, best: int) -> tuple[int, int]:
    """First and last index of the run around `best` that is within 1 % of it.

    Examples
    --------
    >>> import numpy as np
    >>> plateau(np.array([2.0, 1.005, 1.0, 1.009, 1.3, 1.0]), 2)
    (1, 3)
    """
    within = seconds <= (1 + PLATEAU) * seconds[best]
    low = high = best
    while low > 0 and within[low - 1]:
        low -= 1
    while high + 1 < len(within) and within[high + 1]:
        high += 1
    return low, high
