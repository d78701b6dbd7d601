"""Parts: what was observed in a domain, and the polynomial that is fitted to it."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..sizes.domain import Domain
from ..sizes.lattice import IntArray
from ..summary import FloatArray, rms
from .basis import Exponents, design_matrix
from .fit import Fit, fit

NOISE_FACTOR = 1.1
LEAST_NOISE = 3e-4  # a clock cannot tell relative differences much smaller
FARTHEST_REACH = 3.0  # standard errors of a point: how uncertain an estimate may be anywhere in a part
REACHED = 5  # places along each size at which that is looked at
FEWEST_FOR_A_LINE = 8
MOST_SCATTER = 3.0
TELLING_POINTS = 10  # for each monomial, before scatter is said to explain a part's errors


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """What is known of a domain.

    Parameters
    ----------
    sizes : array of shape (n_points, d)
    seconds : array of shape (n_points,)
        The reference statistic.
    noise : array of shape (n_points,)
        Its standard error, relative.
    weights : array of shape (n_points,)
        How much errors at the points count in a fit.
    """

    sizes: IntArray
    seconds: FloatArray
    noise: FloatArray
    weights: FloatArray

    @classmethod
    def alike(cls, sizes: IntArray, seconds: FloatArray, noise: FloatArray) -> "Observed":
        """With points that all count alike."""
        return cls(sizes, seconds, noise, np.ones(len(seconds)))

    @classmethod
    def by_noise(cls, sizes: IntArray, seconds: FloatArray, noise: FloatArray) -> "Observed":
        """With points that count the less the more they scatter beyond what is usual for their run time."""
        usual = np.maximum(_usual_noise(seconds, noise), LEAST_NOISE)
        return cls(sizes, seconds, noise, usual / np.clip(noise, usual, MOST_SCATTER * usual))

    def inside(self, domain: Domain) -> "Observed":
        """What of it is inside a domain."""
        return self.chosen(domain.contains(self.sizes))

    def chosen(self, which: npt.NDArray[np.bool_]) -> "Observed":
        """What of it a mask selects."""
        return Observed(self.sizes[which], self.seconds[which], self.noise[which], self.weights[which])


def _usual_noise(seconds: FloatArray, noise: FloatArray) -> FloatArray:
    """The noise that points of such run times have: short calls scatter more. A line through logarithms."""
    if len(seconds) < FEWEST_FOR_A_LINE or np.ptp(seconds) == 0:
        return np.full(len(seconds), np.median(noise))
    times, scatter = np.log(seconds), np.log(np.maximum(noise, LEAST_NOISE))
    return np.asarray(np.exp(np.polyval(np.polyfit(times, scatter, 1), times)))


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part of a domain and the polynomial that is fitted to the points in it.

    Parameters
    ----------
    domain : Domain
    observed : Observed
    exponents : the monomials that the points support
    fit : Fit
    complete : bool
        Whether the points are all that could be sampled in it.
    """

    domain: Domain
    observed: Observed
    exponents: Exponents
    fit: Fit
    complete: bool = False

    @property
    def errors(self) -> FloatArray:
        """What errors at points would be, had they been left out.

        Where all that could be sampled is there, no estimate hangs on a single point: the fit's own errors are
        then larger by the mean leverage (generalized cross-validation, Golub, Heath and Wahba 1979).
        """
        if not self.complete or self.passed_on == 1:
            return self.fit.held_out
        return self.fit.residuals / (1 - self.passed_on)

    @property
    def noise(self) -> float:
        """Standard error of its points, relative, root mean square by weight."""
        return max(rms(self.observed.noise, self.observed.weights), LEAST_NOISE)

    @property
    def explained(self) -> bool:
        """Whether its errors are no larger than the scatter of its samples explains, and points many enough to tell."""
        return self.scattered and len(self.observed.seconds) >= TELLING_POINTS * len(self.exponents)

    @property
    def scattered(self) -> bool:
        """Whether its errors are no larger than scatter would make them if the polynomial were the truth."""
        return self.held_out <= NOISE_FACTOR * self.noise * math.sqrt(1 + self.passed_on)

    @property
    def passed_on(self) -> float:
        """How much of its points' variance the polynomial passes on."""
        return min(1.0, len(self.exponents) / len(self.observed.seconds))

    @property
    def held_out(self) -> float:
        """Root mean square of the errors by weight."""
        return rms(self.errors, self.observed.weights)

    @property
    def error(self) -> float:
        """Standard error of an estimate, relative.

        A held-out error consists of the polynomial's misfit, the noise of the held-out point, and
        the noise that the fit passes on, p / n of the points' own; an estimate has the first and the last.
        """
        passed_on = self.passed_on * self.noise**2
        misfit = max(0.0, self.held_out**2 - self.noise**2 - passed_on)
        return float(np.sqrt(misfit + passed_on))

    @property
    def reach(self) -> float:
        """Largest standard error of estimates in it, in units of a point's: large where points are lacking."""
        return float(np.sqrt(self.fit.leverages(self.matrix(self.domain.spread(REACHED))).max()))

    @property
    def trusted(self) -> bool:
        """Whether its points tell how good it is, everywhere in it."""
        return self.complete or (self.fit.tested and self.reach < FARTHEST_REACH)

    def seconds(self, sizes: IntArray) -> FloatArray:
        """The reference statistic at sizes of shape (n, d)."""
        return np.asarray(self.matrix(sizes) @ self.fit.coefficients)

    def matrix(self, sizes: IntArray) -> FloatArray:
        """Its monomials at sizes of shape (n, d)."""
        return design_matrix(sizes, self.exponents, np.array(self.domain.upper, dtype=float))


def fitted_part(domain: Domain, observed: Observed, exponents: Exponents, complete: bool = False) -> Part:
    """The part with given monomials."""
    matrix = design_matrix(observed.sizes, exponents, np.array(domain.upper, dtype=float))
    return Part(domain, observed, exponents, fit(matrix, observed.seconds, observed.weights), complete)
