"""Predictions: statistics of run times and what follows from them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from blascast.models.summary import MAX, MEAN, MEDIAN, MIN, STATISTICS, STD

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Times:
    """Statistics of a run time, seconds.

    Examples
    --------
    >>> Times(1.0, 2.0, 2.0, 4.0, 0.5).performance(8.0)
    Performance(min=2.0, median=4.0, mean=4.25, max=8.0, std=1.0)
    """

    min: float
    median: float
    mean: float
    max: float
    std: float

    @classmethod
    def of(cls, statistics: FloatArray) -> "Times":
        """From an array of the five statistics."""
        return cls(*(float(value) for value in statistics))

    def to_json(self) -> dict[str, float]:
        """By name, seconds."""
        return {name: getattr(self, name) for name in STATISTICS}

    def performance(self, flops: float) -> "Performance":
        """Flops per second: the minimum follows from the longest time, and so on.

        The mean and deviation are those of flops / t to second order (dissertation, section 4.1).
        """
        return Performance(
            min=flops / self.max,
            median=flops / self.median,
            mean=flops / self.mean * (1 + self.std**2 / self.mean**2),
            max=flops / self.min,
            std=flops * self.std / self.mean**2,
        )


@dataclass(frozen=True, slots=True)
class Performance:
    """Statistics of a performance, flops per second."""

    min: float
    median: float
    mean: float
    max: float
    std: float


def add_calls(
    statistics: FloatArray, times: npt.NDArray[np.int64], owner: npt.NDArray[np.int64], configurations: int
) -> FloatArray:
    """Sums statistics over the calls of each configuration; the last is the sum of variances.

    Parameters
    ----------
    statistics : array of shape (n_entries, 5), seconds
        Of single calls.
    times : integer array of shape (n_entries,)
        How many calls each entry stands for; their scatter is independent.
    owner : integer array of shape (n_entries,)
        The configuration that each entry belongs to.
    configurations : int

    Returns
    -------
    array of shape (configurations, 5)

    Examples
    --------
    >>> import numpy as np
    >>> calls = np.array([[1, 1, 1, 1, 3.0], [2, 2, 2, 2, 4.0]])
    >>> add_calls(calls, np.array([1, 2]), np.array([0, 0]), 1).tolist()
    [[5.0, 5.0, 5.0, 5.0, 41.0]]
    """
    sums = np.empty((configurations, 5))
    for s in (MIN, MEDIAN, MEAN, MAX):
        sums[:, s] = total(owner, times * statistics[:, s], configurations)
    sums[:, STD] = total(owner, times * statistics[:, STD] ** 2, configurations)
    return sums


def total(owner: npt.NDArray[np.int64], values: npt.NDArray[np.number], configurations: int) -> FloatArray:
    """Sums values by configuration."""
    return np.bincount(owner, weights=values, minlength=configurations).astype(float)
