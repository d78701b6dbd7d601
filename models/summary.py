"""Summaries: five statistics of a run time, as an array whose last axis has five entries."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

STATISTICS = ("min", "median", "mean", "max", "std")
LEAST_SECONDS = 1e-9  # of calls that take no longer than it takes to time them
MIN, MEDIAN, MEAN, MAX, STD = range(5)
FEWEST_FOR_QUARTILES = 8
MEDIAN_ERROR = 1.2533  # of a median's standard error to that of a mean, for normal scatter


def summarize(seconds: FloatArray) -> FloatArray:
    """Minimum, median, mean, maximum and standard deviation of samples.

    Parameters
    ----------
    seconds : array of shape (n_samples,)

    Returns
    -------
    array of shape (5,)

    Examples
    --------
    >>> summarize(np.array([1.0, 2.0, 6.0])).tolist()[:4]
    [1.0, 2.0, 3.0, 6.0]
    """
    return np.array([seconds.min(), np.median(seconds), seconds.mean(), seconds.max(), seconds.std()])


def standard_error(seconds: FloatArray, statistic: int) -> float:
    """Standard error of a statistic of samples, seconds, estimated from their interquartile range.

    Few samples have no quartiles to speak of: theirs is estimated from their standard deviation. The
    median of r normal samples has a standard error of 1.25 s / sqrt(r); the minimum of timings, whose
    scatter is one-sided, is no less certain, so the same is used for it.
    """
    count = len(seconds)
    if count < 2:  # nothing is known about the scatter: as uncertain as large
        return float(seconds.max())
    if statistic == MEAN or count < FEWEST_FOR_QUARTILES:
        deviation = float(seconds.std(ddof=1))
    else:
        low, high = np.percentile(seconds, [25, 75])
        deviation = float(high - low) / 1.349
    factor = 1.0 if statistic == MEAN else MEDIAN_ERROR
    return factor * deviation / float(np.sqrt(count))


def rms(values: FloatArray, weights: FloatArray | None = None) -> float:
    """Root mean square, in which values may have weights."""
    squares = None if weights is None else weights**2
    return float(np.sqrt(np.average(values**2, weights=squares)))
