"""Corrections: how much longer calls take in an algorithm than models say, learnt from a few of them.

The logarithm of the ratio is taken to vary slowly with the logarithms of a call's sizes and of the
problem's: a Gaussian process with fixed scales (Rasmussen and Williams, Gaussian Processes for Machine
Learning, algorithm 2.1). Far from what was observed the mean of the observations is left.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from blascast.algorithms import CallArray, Sequence
from blascast.models.piecewise import Model, ModelKey
from blascast.models.summary import MEDIAN

from ..prediction import FloatArray
from ..replay import Estimate, Estimated
from .windows import Window

REACH = 2.0  # in logarithms of sizes: so far apart, ratios are still alike
SPREAD = 0.1  # of ratios, in logarithms: of all together, and once more of how they vary with sizes
SCATTER = 0.04  # of one observation: noise, and what sizes do not tell


@dataclass(frozen=True, slots=True)
class Observation:
    """A call in an algorithm.

    Parameters
    ----------
    label : str
        Kernel and case.
    sizes : tuple of int
        Of the call, and of the problem.
    ratio : float
        What it took there, to what models say.
    """

    label: str
    sizes: tuple[int, ...]
    ratio: float


@dataclass(frozen=True, slots=True, eq=False)
class Correction:
    """Ratios for one kernel and case.

    Parameters
    ----------
    places : array of shape (n, d)
        Logarithms of sizes that were observed.
    factor : array of shape (n, n)
        Cholesky factor of their covariance.
    weights : array of shape (n,)
        The covariance's inverse times the logarithms of their ratios.
    """

    places: FloatArray
    factor: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, observations: Many[Observation]) -> "Correction":
        """Learnt from observations of one label."""
        places = _places([own.sizes for own in observations])
        covariance = _covariance(places, places) + SCATTER**2 * np.eye(len(places))
        factor = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
        logarithms = np.log([own.ratio for own in observations])
        weights = np.linalg.solve(factor.T, np.linalg.solve(factor, logarithms))
        return cls(places, factor, weights)

    def ratios(self, sizes: npt.NDArray[np.int64]) -> FloatArray:
        """Of calls with such sizes, of shape (n_calls, d): what they take to what models say."""
        return np.asarray(np.exp(_covariance(_places(sizes), self.places) @ self.weights))

    def unknown(self, sizes: npt.NDArray[np.int64]) -> FloatArray:
        """What is left of the uncertainty about calls of such sizes: 1 where nothing was observed, 0 at its best."""
        across = np.linalg.solve(self.factor, _covariance(_places(sizes), self.places).T)
        return np.asarray(np.sqrt(np.maximum(1.0 - (across**2).sum(axis=0) / (2 * SPREAD**2), 0.0)))


def observations(timed: Iterable[tuple[Window, Many[float]]], models: Mapping[ModelKey, Model]) -> list[Observation]:
    """What windows tell: calls of one size in one window are one observation, those that no model covers are none.

    Parameters
    ----------
    timed : iterable of (Window, times of its calls in seconds)
    models : mapping
        Of the calls alone.
    """
    by_label = {str(key): model for key, model in models.items()}
    seconds: dict[tuple[str, tuple[int, ...], tuple[int, ...]], list[float]] = {}
    for window, times in timed:
        problem = tuple(window.configuration.sizes.values())
        for call, time in zip(window.calls, times, strict=True):
            seconds.setdefault((call.label, tuple(call.sizes.values()), problem), []).append(time)
    found = []
    for label in dict.fromkeys(label for label, _, _ in seconds):
        own = [key for key in seconds if key[0] == label]
        sizes = np.array([key[1] for key in own])
        told = by_label[label].evaluate(sizes, "clamp").statistics[:, MEDIAN]
        for key, alone, covered in zip(own, told, by_label[label].covers(sizes), strict=True):
            took = float(np.median(seconds[key]))
            if covered and took > 0 and alone > 0:
                found.append(Observation(label, (*key[1], *key[2]), took / float(alone)))
    return found


def corrections(found: Iterable[Observation]) -> Mapping[str, Correction]:
    """By label."""
    groups: dict[str, list[Observation]] = {}
    for own in found:
        groups.setdefault(own.label, []).append(own)
    return {label: Correction.of(group) for label, group in groups.items()}


def corrected(sequence: Sequence, estimate: Estimate, found: Mapping[str, Correction]) -> Estimate:
    """Estimates of a sequence's calls as they are in it; where nothing was observed, as they were.

    Errors shrink by as much as observations tell.
    """

    def estimated(calls: CallArray) -> Estimated:
        times, errors, causes = estimate(calls)
        own = found.get(calls.label)
        if own is None or not len(calls.sizes):
            return times, errors, causes
        problem = [sizes[calls.owner] for sizes in sequence.sizes.values()]
        sizes = np.column_stack([calls.sizes, *problem])
        return times * own.ratios(sizes)[:, np.newaxis], errors * own.unknown(sizes), causes

    return estimated


def _places(sizes: npt.ArrayLike) -> FloatArray:
    return np.log(np.maximum(np.asarray(sizes, dtype=np.float64), 1.0))


def _covariance(first: FloatArray, second: FloatArray) -> FloatArray:
    squares = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2 * first @ second.T
    return np.asarray(SPREAD**2 * (1 + np.exp(-np.maximum(squares, 0.0) / (2 * REACH**2))))
