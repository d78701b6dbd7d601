"""Cuts a domain into pieces where its samples fit best: a tree of polynomials.

All samples in a domain are fitted together. Where their held-out errors exceed what their own
scatter explains, the domain is cut between two neighbouring coordinates of samples, along whichever
size and wherever the held-out errors of the two parts are least; and so on for the parts. A kink of
the run time, as at a library's internal block sizes, is so found where it is, not where halving
happens to end. On every part the monomials are chosen by the same held-out errors.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from .basis import Exponents, degrees, design_matrix
from .domain import Domain
from .fit import Fit, fit
from .lattice import EVEN, IntArray, Lattice
from .summary import FloatArray, rms

NOISE_FACTOR = 1.3
CUT_GAIN = 0.6  # of the squared held-out errors: what a cut must leave at most
BASIS_GAIN = 0.8  # the same for more monomials
LEAST_NOISE = 3e-4  # a clock cannot tell relative differences much smaller
FARTHEST_REACH = 3.0  # standard errors of a point: how uncertain an estimate may be anywhere in a part
REACHED = 5  # places along each size at which that is looked at
MOST_SCATTER = 3.0
TELLING_POINTS = 3  # for each monomial, before scatter is said to explain a part's errors
SPARE_POINTS = 1.25  # points a part must have for each monomial


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
        """With points that count the less the more they scatter beyond the usual, at least 1 / MOST_SCATTER."""
        usual = max(float(np.median(noise)), LEAST_NOISE)
        return cls(sizes, seconds, noise, usual / np.clip(noise, usual, MOST_SCATTER * usual))

    def inside(self, domain: Domain) -> "Observed":
        """What of it is inside a domain."""
        return self.chosen(domain.contains(self.sizes))

    def chosen(self, which: npt.NDArray[np.bool_]) -> "Observed":
        """What of it a mask selects."""
        return Observed(self.sizes[which], self.seconds[which], self.noise[which], self.weights[which])


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part of a domain and the polynomial that is fitted to the points in it.

    Parameters
    ----------
    domain : Domain
    observed : Observed
    exponents : the monomials that the points support
    fit : Fit
    """

    domain: Domain
    observed: Observed
    exponents: Exponents
    fit: Fit

    @property
    def noise(self) -> float:
        """Standard error of its points, relative, root mean square by weight."""
        return max(rms(self.observed.noise, self.observed.weights), LEAST_NOISE)

    @property
    def explained(self) -> bool:
        """Whether its errors are no larger than the scatter of its samples explains, if they can tell."""
        enough = len(self.observed.seconds) >= TELLING_POINTS * len(self.exponents)
        return enough and self.held_out <= NOISE_FACTOR * self.noise

    @property
    def held_out(self) -> float:
        """Error at points left out of the fit, relative, root mean square by weight."""
        return rms(self.fit.held_out, self.observed.weights)

    @property
    def error(self) -> float:
        """Standard error of an estimate, relative.

        A held-out error consists of the polynomial's misfit, the noise of the held-out point, and
        the noise that the fit passes on, p / n of the points' own; an estimate has the first and the last.
        """
        passed_on = min(1.0, len(self.exponents) / len(self.observed.seconds)) * self.noise**2
        misfit = max(0.0, self.held_out**2 - self.noise**2 - passed_on)
        return float(np.sqrt(misfit + passed_on))

    @property
    def reach(self) -> float:
        """Largest standard error of estimates in it, in units of a point's: large where points are lacking."""
        return float(np.sqrt(self.fit.leverages(self.matrix(self.domain.spread(REACHED))).max()))

    @property
    def trusted(self) -> bool:
        """Whether its points tell how good it is, everywhere in it."""
        return self.fit.tested and self.reach < FARTHEST_REACH

    def seconds(self, sizes: IntArray) -> FloatArray:
        """The reference statistic at sizes of shape (n, d)."""
        return np.asarray(self.matrix(sizes) @ self.fit.coefficients)

    def matrix(self, sizes: IntArray) -> FloatArray:
        """Its monomials at sizes of shape (n, d)."""
        return design_matrix(sizes, self.exponents, np.array(self.domain.upper, dtype=float))


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Where a part was cut.

    Parameters
    ----------
    domain : Domain
        The part's.
    size : int
        Along which.
    below, above : int
        The coordinates of the samples on either side.
    at : int
        The bound of the two parts, between them.
    jump : float
        How much the polynomials of the two parts differ from each other there, relative.
    others : array of shape (n, d - 1)
        The other sizes of samples.
    """

    domain: Domain
    size: int
    below: int
    above: int
    at: int
    jump: float
    others: IntArray

    def points(self, at: int) -> list[tuple[int, ...]]:
        """Points at or near the cut: the other sizes smallest, largest, and in between."""
        order = np.argsort(np.log(self.others).sum(axis=1)) if self.others.shape[1] else np.array([0])
        chosen = self.others[order[[0, len(order) // 2, -1]]]
        return [tuple(point) for point in np.insert(chosen, self.size, at, axis=1).tolist()]


def partition(
    domain: Domain, observed: Observed, bases: Sequence[Exponents], minimum_width: int, lattice: Lattice = EVEN
) -> tuple[list[Part], list[Cut]]:
    """Parts that cover a domain, and the cuts between them.

    Parameters
    ----------
    domain : Domain
    observed : Observed
        Inside the domain, at least one point.
    bases : sequence of monomials
        Those that are tried, from the fewest to the most.
    minimum_width : int
        Parts are not cut narrower.
    lattice : Lattice, optional
        Cuts are at its coordinates in the domain.
    """
    return _divided(_fitted(domain, observed, bases), bases, minimum_width, lattice.across(domain))


def _divided(
    part: Part, bases: Sequence[Exponents], minimum_width: int, axes: Sequence[IntArray]
) -> tuple[list[Part], list[Cut]]:
    found = None if part.explained else best_cut(part, bases, minimum_width, axes)
    if found is None:
        return [part], []
    cut, low, high = found
    low_parts, low_cuts = _divided(low, bases, minimum_width, axes)
    high_parts, high_cuts = _divided(high, bases, minimum_width, axes)
    return low_parts + high_parts, [cut, *low_cuts, *high_cuts]


def _fitted(domain: Domain, observed: Observed, bases: Sequence[Exponents]) -> Part:
    """The part with the monomials that predict held-out points best; more of them must earn it."""
    best = fitted_part(domain, observed, bases[0])
    for exponents in bases[1:]:
        if not _supports(observed, exponents):
            break
        part = fitted_part(domain, observed, exponents)
        if _loss(part) < BASIS_GAIN * _loss(best) and part.trusted:
            best = part
    return best


def fitted_part(domain: Domain, observed: Observed, exponents: Exponents) -> Part:
    """The part with given monomials."""
    matrix = design_matrix(observed.sizes, exponents, np.array(domain.upper, dtype=float))
    return Part(domain, observed, exponents, fit(matrix, observed.seconds, observed.weights))


def _supports(observed: Observed, exponents: Exponents) -> bool:
    """Whether there are points enough for so many monomials, along every size as well."""
    if len(observed.seconds) < SPARE_POINTS * len(exponents):
        return False
    return all(len(np.unique(observed.sizes[:, i])) > degree + 1 for i, degree in enumerate(degrees(exponents)))


def _loss(part: Part) -> float:
    return float(((part.observed.weights * part.fit.held_out) ** 2).sum())


def best_cut(
    part: Part, bases: Sequence[Exponents], minimum_width: int, axes: Sequence[IntArray]
) -> tuple[Cut, Part, Part] | None:
    """The cut that leaves the least squared held-out errors, if it leaves CUT_GAIN of them at most."""
    best, least = None, CUT_GAIN * _loss(part)
    for size, below, above in _gaps(part, minimum_width):
        is_low = part.observed.sizes[:, size] <= below
        low, high = part.observed.chosen(is_low), part.observed.chosen(~is_low)
        if not (_supports(low, bases[0]) and _supports(high, bases[0])):
            continue
        domains = part.domain.cut(size, above)[0], part.domain.cut(size, below)[1]  # both with all that is between
        parts = [_fitted(domain, observed, bases) for domain, observed in zip(domains, (low, high), strict=True)]
        loss = sum(map(_loss, parts))
        if loss < least and all(part.trusted for part in parts):
            best, least = (size, below, above, parts), loss
    if best is None:
        return None
    size, below, above, parts = best
    cut = _cut(part.domain, size, below, above, axes[size], parts)
    domains = part.domain.cut(size, cut.at)
    low_part, high_part = (_fitted(d, p.observed, bases) for d, p in zip(domains, parts, strict=True))
    return cut, low_part, high_part


def _gaps(part: Part, minimum_width: int) -> Iterator[tuple[int, int, int]]:
    """Size, lower and upper coordinate of neighbouring samples between which may be cut."""
    for size, (low, high) in enumerate(zip(part.domain.lower, part.domain.upper, strict=True)):
        coordinates = np.unique(part.observed.sizes[:, size]).tolist()
        for below, above in pairwise(coordinates):
            if below - low >= minimum_width and high - above >= minimum_width:
                yield size, below, above


def _cut(domain: Domain, size: int, below: int, above: int, axis: IntArray, parts: Sequence[Part]) -> Cut:
    """A cut where the polynomials of two parts meet, at a place of the lattice; else halfway."""
    low, high = parts
    places = np.unique([below, *axis[(axis > below) & (axis < above)], above])
    samples = np.concatenate([low.observed.sizes, high.observed.sizes])
    others = np.unique(np.delete(samples, size, axis=1), axis=0)
    points = np.insert(np.tile(others, (len(places), 1)), size, np.repeat(places, len(others)), axis=1)
    ratios = low.seconds(points) / high.seconds(points)
    differences = np.median(ratios.reshape(len(places), len(others)), axis=1) - 1
    meet = differences[0] * differences[-1] < 0
    index = int(np.argmin(np.abs(differences))) if meet else len(places) // 2
    jump = float(np.abs(differences[[0, -1]]).max())
    return Cut(domain, size, below, above, int(places[index]), jump, others)
