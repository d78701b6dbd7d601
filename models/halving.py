"""The dissertation's generator: halves domains until polynomials fit (section 3.2.5).

Every piece gets a grid of its own. A piece whose error at its grid's points exceeds the bound is
halved, unless its halves would be narrower than the minimum width.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .basis import Exponents, degrees, design_matrix
from .domain import Domain
from .fit import fit, fit_statistics
from .generator import Observation, Point, Refined
from .grid import grid_points
from .parameters import Parameters
from .piecewise import Piece
from .summary import FloatArray, rms

ERROR_MEASURES: dict[str, Callable[[FloatArray], np.floating]] = {
    "mean": np.mean,
    "p90": lambda errors: np.percentile(errors, 90),
    "max": np.max,
}


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A domain with the points of its grid, and the error of the polynomial fitted to them."""

    domain: Domain
    points: list[Point]
    error: float
    held_out: float


class Halving:
    """Generates the pieces of one kernel case by halving.

    Parameters
    ----------
    domains : sequence of Domain
        To be covered.
    exponents : monomials of the polynomials
    parameters : Parameters
    minimum_width : int

    Attributes
    ----------
    wanted : list of points
        To be sampled next.
    stopped : str or None
        ``"bound"``, or ``"minimum width"`` if some piece's error still exceeds it.
    """

    def __init__(
        self, domains: Sequence[Domain], exponents: Exponents, parameters: Parameters, minimum_width: int
    ) -> None:
        self._exponents, self._parameters, self._minimum_width = exponents, parameters, minimum_width
        self._observed: dict[Point, Observation] = {}
        self._parts: list[_Part] = []
        self._pending = list(domains)
        self.stopped: str | None = None
        self.wanted = self._missing_points()

    def observe(self, observations: dict[Point, Observation]) -> None:
        """Takes observations, of the wanted points at least, and fits the new pieces."""
        self._observed.update(observations)
        self._parts += [self._fitted(domain) for domain in self._pending]
        self._pending, self.wanted = [], []

    def advance(self) -> None:
        """Halves what exceeds the bound."""
        bad = [part for part in self._parts if part.error > self._parameters.bound]
        halved = {part: part.domain.halves(self._minimum_width) for part in bad}
        self._parts = [part for part in self._parts if halved.get(part) is None]
        self._pending = [half for halves in halved.values() if halves for half in halves]
        self.wanted = self._missing_points()
        if not self._pending:
            self.stopped = "minimum width" if bad else "bound"

    def result(self) -> Refined:
        """The pieces so far."""
        return Refined(tuple(self._piece(part) for part in self._parts), self.stopped or "budget")

    def _points(self, domain: Domain) -> list[Point]:
        counts = [degree + 1 + self._parameters.oversampling for degree in degrees(self._exponents)]
        return grid_points(domain, counts, self._parameters.grid)

    def _missing_points(self) -> list[Point]:
        points = {point for domain in self._pending for point in self._points(domain)}
        return sorted(points - set(self._observed))

    def _matrix(self, domain: Domain, points: list[Point]) -> FloatArray:
        return design_matrix(np.array(points), self._exponents, np.array(domain.upper, dtype=float))

    def _fitted(self, domain: Domain) -> _Part:
        points = self._points(domain)
        reference = np.array([self._observed[point].reference for point in points])
        result = fit(self._matrix(domain, points), reference)
        error = float(ERROR_MEASURES[self._parameters.error_measure](np.abs(result.residuals)))
        return _Part(domain, points, error, rms(result.held_out))

    def _piece(self, part: _Part) -> Piece:
        observations = [self._observed[point] for point in part.points]
        statistics = np.array([observation.statistics for observation in observations])
        coefficients = fit_statistics(self._matrix(part.domain, part.points), statistics)
        noise = rms(np.array([observation.standard_error for observation in observations]))
        return Piece(part.domain, coefficients, max(part.held_out, noise), noise, len(part.points))
