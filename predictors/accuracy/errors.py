"""Errors of predictions."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..prediction import FloatArray

RESAMPLES = 1000
COVERAGE = 0.95


def relative_errors(predicted: FloatArray, measured: FloatArray) -> FloatArray:
    """(predicted - measured) / measured, elementwise."""
    return np.asarray((predicted - measured) / measured)


def symmetric_factors(predicted: FloatArray, measured: FloatArray) -> FloatArray:
    """max(predicted / measured, measured / predicted), elementwise."""
    return np.asarray(np.maximum(predicted / measured, measured / predicted))


def bootstrap_interval(
    values: FloatArray,
    groups: npt.NDArray[np.int64],
    statistic: Callable[[FloatArray], float],
    random: np.random.Generator,
) -> tuple[float, float]:
    """A 95 % interval of a statistic by resampling whole groups: what was measured together errs together.

    Parameters
    ----------
    values : array of shape (n_points,)
    groups : integer array of the same shape
    statistic : callable
        Of an array of any length.
    random : Generator
    """
    return interval(resampled(values, groups, statistic, random))


def interval(found: FloatArray) -> tuple[float, float]:
    """The interval that 95 % of values are in."""
    low, high = np.quantile(found, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return float(low), float(high)


def resampled(
    values: FloatArray,
    groups: npt.NDArray[np.int64],
    statistic: Callable[[FloatArray], float],
    random: np.random.Generator,
) -> FloatArray:
    """A statistic of resampled groups, `RESAMPLES` times; parameters as of `bootstrap_interval`."""
    members = [values[groups == group] for group in np.unique(groups)]
    draws = random.integers(len(members), size=(RESAMPLES, len(members)))
    return np.array([statistic(np.concatenate([members[i] for i in draw])) for draw in draws])
