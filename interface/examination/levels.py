"""Levels: the speeds between which a machine changes, as they show in a series of times."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter1d
from scipy.signal import find_peaks

WIDTH = 0.01  # of the smoothing, in natural logarithms: levels differ by more than that
STEP = WIDTH / 4
LEAST_SHARE = 0.05
LEAST_DIP = 0.3  # depth of the dips about a peak, relative to its height


@dataclass(frozen=True, slots=True)
class Level:
    """Times that lie close together.

    Parameters
    ----------
    factor : float
        Their typical value, relative to that of the fastest level.
    share : float
        The part of the times that are of this level.
    """

    factor: float
    share: float


def levels_of(seconds: npt.NDArray[np.float64]) -> tuple[Level, ...]:
    """The levels in a series of times of the same work, fastest first.

    They are the peaks of the smoothed distribution of the logarithms, separated by its dips; peaks of few
    times, and dips that are shallow, do not count.

    Examples
    --------
    >>> levels_of(np.array([1.0, 1.001, 0.999] * 20 + [1.3] * 20))
    (Level(factor=1.0, share=0.75), Level(factor=1.3, share=0.25))
    """
    logs = np.sort(np.log(seconds))
    groups = np.split(logs, np.searchsorted(logs, _dips(logs)))
    large = [group for group in groups if len(group) >= LEAST_SHARE * len(logs)] or [logs]
    total, fastest = sum(map(len, large)), float(np.median(large[0]))
    return tuple(
        Level(round(float(np.exp(np.median(group) - fastest)), 3), round(len(group) / total, 3)) for group in large
    )


def _dips(logs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Where the smoothed distribution is lowest between its peaks."""
    grid = np.arange(logs[0] - 4 * WIDTH, logs[-1] + 4 * WIDTH, STEP)
    counts, edges = np.histogram(logs, np.append(grid, grid[-1] + STEP))
    density = gaussian_filter1d(counts.astype(float), WIDTH / STEP)
    peaks, properties = find_peaks(density, prominence=0.0)
    peaks = peaks[properties["prominences"] >= LEAST_DIP * density[peaks]]
    dips = [first + int(np.argmin(density[first:second])) for first, second in pairwise(peaks)]
    return np.asarray(edges[dips])
