"""Corrections: how much longer calls take in an algorithm than models say, learnt from a few of them.

The logarithm of the ratio is taken to vary slowly with the logarithms of a call's sizes and of the
problem's: a Gaussian process with fixed scales (Rasmussen and Williams, Gaussian Processes for Machine
Learning, algorithm 2.1): part of it is alike for all sizes of a kernel and case, so that about half of what
was observed is believed of sizes that are far away.
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
from .observing import Timed

REACH = 2.0  # in logarithms of sizes: so far apart, ratios are still alike
SPREAD = 0.1  # of ratios, in logarithms: of all together, and once more of how they vary with sizes
SCATTER = 0.04  # of one observation: noise, and what sizes do not tell
UNOBSERVED = 0.05  # what the caches may do to a call that was not observed, relative
CHUNK = 10_000  # calls at a time


@dataclass(frozen=True, slots=True)
class Observation:
    """A call in an algorithm.

    Parameters
    ----------
    label : str
        Kernel and case.
    sizes : tuple of int
        Of the call, and the largest of the problem.
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

    def ratios(self, sizes: npt.NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        """Of calls with such sizes, of shape (n_calls, d): what they take to what models say, and relative errors."""
        found = [self._ratios(part) for part in np.array_split(sizes, -(-len(sizes) // CHUNK))]
        return np.concatenate([ratios for ratios, _ in found]), np.concatenate([errors for _, errors in found])

    def _ratios(self, sizes: npt.NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        covariance = _covariance(_places(sizes), self.places)
        across = np.linalg.solve(self.factor, covariance.T)
        variances = np.maximum(2 * SPREAD**2 - (across**2).sum(axis=0), 0.0)
        return np.exp(covariance @ self.weights), np.sqrt(variances)


def observations(timed: Iterable[Timed], models: Mapping[ModelKey, Model]) -> list[Observation]:
    """What windows tell: calls of one size in a problem are one observation, those that no model covers are none.

    Parameters
    ----------
    timed : iterable of Timed
    models : mapping
        Of the calls alone.
    """
    by_label = {str(key): model for key, model in models.items()}
    seconds: dict[str, dict[tuple[int, ...], list[float]]] = {}
    for own in timed:
        largest = max(own.window.configuration.sizes.values())
        for call, time in zip(own.window.calls, own.seconds, strict=True):
            seconds.setdefault(call.label, {}).setdefault((*call.sizes.values(), largest), []).append(time)
    found = []
    for label in seconds.keys() & by_label.keys():
        places, model = list(seconds[label]), by_label[label]
        sizes = np.array(places)[:, :-1]
        alone = model.evaluate(sizes, "clamp").statistics[:, MEDIAN]
        for place, told, covered in zip(places, alone, model.covers(sizes), strict=True):
            took = float(np.median(seconds[label][place]))
            if covered and took > 0 and told > 0:
                found.append(Observation(label, place, took / float(told)))
    return found


def corrections(found: Iterable[Observation]) -> Mapping[str, Correction]:
    """By label."""
    groups: dict[str, list[Observation]] = {}
    for own in found:
        groups.setdefault(own.label, []).append(own)
    return {label: Correction.of(group) for label, group in groups.items()}


def corrected(sequence: Sequence, estimate: Estimate, found: Mapping[str, Correction]) -> Estimate:
    """Estimates of a sequence's calls as they are in it; where nothing was observed, as they were.

    Errors are what observations leave unknown of the ratios, or what they were and `UNOBSERVED`, if that is less.
    """
    largest = np.max([np.asarray(sizes) for sizes in sequence.sizes.values()], axis=0)

    def estimated(calls: CallArray) -> Estimated:
        times, errors, causes = estimate(calls)
        own = found.get(calls.label)
        if own is None or not len(calls.sizes):
            return times, errors, causes
        sizes = np.column_stack([calls.sizes, largest[calls.owner]])
        ratios, unknown = own.ratios(sizes)
        return times * ratios[:, np.newaxis], np.minimum(unknown, np.hypot(errors, UNOBSERVED)), causes

    return estimated


def _places(sizes: npt.ArrayLike) -> FloatArray:
    return np.log(np.maximum(np.asarray(sizes, dtype=np.float64), 1.0))


def _covariance(first: FloatArray, second: FloatArray) -> FloatArray:
    squares = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2 * first @ second.T
    return np.asarray(SPREAD**2 * (1 + np.exp(-np.maximum(squares, 0.0) / (2 * REACH**2))))
