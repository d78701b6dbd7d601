"""The A/A control: the same call as two entries of one batch, and how far apart they come out.

Every job is its own control. The order of a batch is random, so the repetitions of a job may be
dealt to two entries A and B after the fact as well as before: any random deal is two entries of the
same call, treated alike, at no extra cost. Many deals in place of one make the figure robust where
a batch holds few jobs. An entry has half of the job's samples, so that two whole measurements
would differ by the square root of two less: that is what is reported.

What changes slowly hits both entries alike, as it hits all jobs of a batch: see `Batch.drift`.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

DEALS = 50
LEAST_SAMPLES = 4


def noise_floor(times: Sequence[npt.NDArray[np.float64]]) -> float | None:
    """The relative difference between two measurements of the same call.

    Parameters
    ----------
    times : sequence of arrays of seconds
        Samples of each job.

    Returns
    -------
    float or None
        Median over jobs and deals, each weighted with the job's time: half of the time is spent in
        calls whose two entries differ by less. None when no job has four samples.

    Examples
    --------
    >>> noise_floor([np.array([1.0, 1.0, 1.0, 1.0])])
    0.0
    >>> noise_floor([np.array([1.0, 1.0, 1.1])]) is None
    True
    """
    by_count = defaultdict(list)
    for seconds in times:
        if len(seconds) >= LEAST_SAMPLES and np.median(seconds) > 0:
            by_count[len(seconds)].append(seconds)
    if not by_count:
        return None
    differences = np.concatenate([_differences(np.array(alike)) for alike in by_count.values()])
    weights = np.concatenate([np.median(np.array(alike), axis=1) for alike in by_count.values()])
    return _weighted_median(differences.ravel(), np.repeat(weights, DEALS))


def _differences(samples: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Of the two entries' medians, for every job (row) and deal (column)."""
    half = samples.shape[1] // 2
    random = np.random.default_rng(0)  # the same samples always yield the same figure
    deals = [random.permuted(samples, axis=1) for _ in range(DEALS)]
    first = np.array([np.median(deal[:, :half], axis=1) for deal in deals])
    second = np.array([np.median(deal[:, half : 2 * half], axis=1) for deal in deals])
    return np.asarray(np.abs(first - second).T / np.median(samples, axis=1)[:, None] / np.sqrt(2))


def _weighted_median(values: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> float:
    order = np.argsort(values)
    passed = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(passed, passed[-1] / 2)])
