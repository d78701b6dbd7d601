"""The dissertation's generator: halves domains until polynomials fit (section 3.2.5).

Every piece gets a grid of its own. A piece whose error at its grid's points exceeds the bound is
halved, unless its halves would be narrower than the minimum width.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ..fitting.basis import Exponents, degrees
from ..fitting.part import Observed, Part, fitted_part
from ..parameters import Parameters
from ..sizes.domain import Domain
from ..sizes.grid import grid_points
from ..sizes.lattice import EVEN, Lattice
from ..summary import FloatArray
from .generator import Observation, Point

ERROR_MEASURES: dict[str, Callable[[FloatArray], np.floating]] = {
    "mean": np.mean,
    "p90": lambda errors: np.percentile(errors, 90),
    "max": np.max,
}


class Halving:
    """Generates the pieces of one kernel case by halving.

    Parameters
    ----------
    domains : sequence of Domain
        To be covered.
    exponents : monomials of the polynomials
    parameters : Parameters
    minimum_width : int
    lattice : Lattice, optional
        Where may be sampled.

    Attributes
    ----------
    wanted : list of points
        To be sampled next.
    parts : list of Part
    observed : mapping of points to observations
        All that is known.
    stopped : str or None
        ``"bound"``, or ``"minimum width"`` if some piece's error still exceeds it.
    """

    def __init__(
        self,
        domains: Sequence[Domain],
        exponents: Exponents,
        parameters: Parameters,
        minimum_width: int,
        lattice: Lattice = EVEN,
    ) -> None:
        self._lattice = lattice
        self._exponents, self._parameters, self._minimum_width = exponents, parameters, minimum_width
        self.observed: dict[Point, Observation] = {}
        self.parts: list[Part] = []
        self._pending = list(domains)
        self.stopped: str | None = None
        self.wanted = self._missing_points()

    def observe(self, observations: dict[Point, Observation]) -> None:
        """Takes observations, of the wanted points at least, and fits the new pieces."""
        self.observed.update(observations)
        self.parts += [self._fitted(domain) for domain in self._pending if self._points(domain)]
        self._pending, self.wanted = [], []

    def advance(self, importance: FloatArray | None = None) -> None:
        """Halves what exceeds the bound, whatever its importance: the dissertation's models are for any question."""
        bad = [part for part in self.parts if self._error(part) > self._parameters.bound]
        halved = {part: halves(part.domain, self._minimum_width, self._lattice) for part in bad}
        self.parts = [part for part in self.parts if halved.get(part) is None]
        self._pending = [half for pair in halved.values() if pair for half in pair]
        self.wanted = self._missing_points()
        if not self._pending:
            self.stopped = "minimum width" if bad else "bound"

    def can_gain(self) -> list[bool]:
        """No part: it stops by itself."""
        return [False] * len(self.parts)

    @property
    def obstacle(self) -> str:
        """That halves would be too narrow."""
        return "minimum width"

    def _error(self, part: Part) -> float:
        return float(ERROR_MEASURES[self._parameters.error_measure](np.abs(part.fit.residuals)))

    def _points(self, domain: Domain) -> list[Point]:
        counts = [degree + 1 + self._parameters.oversampling for degree in degrees(self._exponents)]
        return grid_points(domain, counts, self._parameters.grid, self._lattice)

    def _missing_points(self) -> list[Point]:
        points = {point for domain in self._pending for point in self._points(domain)}
        return sorted(points - set(self.observed))

    def _fitted(self, domain: Domain) -> Part:
        points = self._points(domain)
        reference = np.array([self.observed[point].reference for point in points])
        noise = np.array([self.observed[point].standard_error for point in points])
        return fitted_part(domain, Observed.alike(np.array(points), reference, noise), self._exponents)


def halves(domain: Domain, minimum_width: int, lattice: Lattice = EVEN) -> tuple[Domain, Domain] | None:
    """Two parts along the size with the largest upper/lower ratio (section 3.2.5).

    They meet at 8 floor((l + u + 8) / 16), or the nearest place of the lattice. None if no size is at
    least twice the minimum width.
    """
    ratios = np.array(domain.upper) / np.array(domain.lower)
    for i in np.argsort(-ratios, kind="stable").tolist():
        low, high = domain.lower[i], domain.upper[i]
        at = int(lattice.nearest(i, low, high, np.array([(low + high) / 2]))[0])
        if low < at < high and high - low >= 2 * minimum_width:
            return domain.cut(i, at)
    return None
