"""How often to repeat: until the reference statistic is known well enough."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import bdtrc

from ..errors import UsageError

Stopped = Literal["width", "count", "budget"]

LARGEST_STEP = 2.0


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of a run time, seconds, and the statistic that it is of."""

    low: float
    value: float
    high: float

    @property
    def width(self) -> float:
        """Relative to the statistic."""
        return (self.high - self.low) / self.value if self.value > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Repetitions:
    """How many accepted samples a job needs.

    After `least` samples more are taken until the confidence interval of the reference statistic is
    narrow enough, or there are `most`. The number of samples at most doubles from one look at the
    interval to the next: few looks keep its confidence close to what it says.

    Parameters
    ----------
    least, most : int
        Bounds of the number of accepted samples; the same number twice is a fixed count.
    width : float
        Width of the confidence interval that is asked for, relative to the statistic.
    confidence : float
        Share of such intervals that hold the true value.
    quantile : float
        The reference statistic: 0.5 is the median, 0 the minimum, 1 the maximum.

    Raises
    ------
    UsageError
        If one of these is outside its range.
    """

    least: int = 10
    most: int = 50
    width: float = 0.02
    confidence: float = 0.95
    quantile: float = 0.5

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most:
            raise UsageError(f"repetitions must be 1 <= least <= most, got least {self.least}, most {self.most}")
        if not 0 < self.width < math.inf:
            raise UsageError(f"the width of a confidence interval must be positive, got {self.width}")
        if not 0 < self.confidence < 1:
            raise UsageError(f"a confidence must be between 0 and 1, got {self.confidence}")
        if not 0 <= self.quantile <= 1:
            raise UsageError(f"a quantile must be from 0 (minimum) to 1 (maximum), got {self.quantile}")

    @classmethod
    def fixed(cls, count: int) -> "Repetitions":
        """So many, whatever their scatter."""
        return cls(count, count)

    def interval(self, seconds: npt.NDArray[np.float64]) -> Interval:
        """The bootstrap's percentile interval of the reference statistic; not of an empty array.

        Examples
        --------
        >>> Repetitions().interval(np.arange(1.0, 12.0))
        Interval(low=3.0, value=6.0, high=9.0)
        """
        low, high = _ranks(len(seconds), self.quantile, self.confidence)
        ascending = np.sort(seconds)
        return Interval(float(ascending[low]), float(np.quantile(ascending, self.quantile)), float(ascending[high]))

    def reached(self, count: int, interval: Interval) -> Stopped | None:
        """What of the end is reached with so many samples and their interval; None: nothing yet."""
        if self.least < self.most and count >= self.least and interval.width <= self.width:
            return "width"
        return "count" if count >= self.most else None

    def more(self, count: int, interval: Interval) -> int:
        """The number of samples to look at next: an interval narrows with its square root."""
        step = min(LARGEST_STEP, (interval.width / self.width) ** 2)
        return min(self.most, max(count + 1, math.ceil(step * count)))


@lru_cache(maxsize=4096)
def _ranks(count: int, quantile: float, confidence: float) -> tuple[int, int]:
    """Indices, of ascending samples, of the ends of the interval.

    The value at index r of a resample is at most the k-th smallest sample with the probability that
    r + 1 or more of its draws are among the k smallest. So the limit of infinitely many resamples
    depends on ranks alone, and none need be drawn. (Efron, Biometrika 68, 1981, section 5.)
    """
    outside = (1 - confidence) / 2
    index = quantile * (count - 1)
    shares = np.arange(1, count + 1) / count
    below = bdtrc(math.floor(index), count, shares)
    above = bdtrc(math.ceil(index), count, shares)
    return int(np.argmax(below >= outside)), int(np.argmax(above >= 1 - outside))
