"""Adaptive refinement: subdivides domains until polynomials fit (dissertation, section 3.2.5).

A refinement says which points it wants sampled, is given their observations, and decides which
regions to halve; whoever drives it (the builder) takes the samples of many refinements together.

Without a workload, every region is halved until its own error is within the bound. With one, only
the regions that dominate the error of the workload's run time are, until that is within the bound:

1. The error of a region is the root mean square of its points' held-out errors, or of their
   standard errors if that is larger.
2. Its contribution to a configuration is that error times the time that the configuration's calls
   spend in it, over the run time of the configuration (all kernels).
3. A configuration is good when its contributions add up to at most KERNEL_SHARE of the bound (the
   errors of the several kernels add as independent ones do).
4. Regions with at least a DOMINANT fraction of the largest contribution to a configuration that is
   not good are halved, unless that has ceased to help: their error is explained by the samples' own
   noise, they are at the minimum width, or halving was useless more often in a row than there are
   sizes to halve: the new polynomial errs at its points by more than GAIN times what the old one did.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .basis import Exponents, degrees, design_matrix
from .domain import Domain
from .fit import fit, fit_statistics
from .generator import Observation, Point, Refined, Workload
from .grid import grid_points
from .halving import ERROR_MEASURES
from .parameters import Parameters
from .piecewise import Piece
from .summary import MEDIAN, FloatArray, rms

KERNEL_SHARE = 0.5
DOMINANT = 0.25
GAIN = 0.8
_LEAST_ERROR = 1e-4  # a clock cannot tell relative differences much smaller
NOISE_FACTOR = 1.5


@dataclass(frozen=True, slots=True, eq=False)
class _Region:
    """A domain, the polynomials on it, and their errors.

    `error` is by the parameters' measure, at the fitted points; `over_noise` the held-out error in
    units of the samples' noise; `useless` how many halvings in a row led to it without any gain.
    """

    piece: Piece
    error: float
    over_noise: float
    useless: int

    @property
    def domain(self) -> Domain:
        return self.piece.domain


class Refinement:
    """The refinement of one kernel case.

    Parameters
    ----------
    domains : sequence of Domain
        To be covered.
    exponents : monomials of the polynomials
    parameters : Parameters
    minimum_width : int
    workload : Workload, optional
        What the model is for.

    Attributes
    ----------
    wanted : list of points
        To be sampled next.
    stopped : str or None
        Why it ended.
    """

    def __init__(
        self,
        domains: Sequence[Domain],
        exponents: Exponents,
        parameters: Parameters,
        minimum_width: int,
        workload: Workload | None = None,
    ) -> None:
        self._exponents, self._parameters, self._workload = exponents, parameters, workload
        self._minimum_width = minimum_width
        self._observed: dict[Point, Observation] = {}
        self._regions: list[_Region] = []
        self._pending: list[tuple[Domain, _Region | None]] = [(domain, None) for domain in domains]
        self.stopped: str | None = None
        self.wanted = self._missing_points()

    @property
    def targeted(self) -> bool:
        """Whether it has a workload."""
        return self._workload is not None

    def observe(self, observations: dict[Point, Observation]) -> None:
        """Takes observations, of the wanted points at least, and fits the new regions."""
        self._observed.update(observations)
        self._regions += [self._fitted(domain, parent) for domain, parent in self._pending]
        self._pending, self.wanted = [], []

    def seconds_by_configuration(self) -> FloatArray:
        """Estimated time that each configuration of the workload spends in this kernel case."""
        assert self._workload is not None
        return np.asarray(self._seconds_by_region().sum(axis=1))

    def advance(self, totals: FloatArray | None = None) -> None:
        """Decides which regions to halve, given each configuration's run time over all kernels."""
        assert (totals is None) == (self._workload is None)
        unsatisfied = self._unsatisfied() if totals is None else self._dominant(totals)
        if not unsatisfied:
            self.stopped = "bound"
            return
        obstacles = {index: self._obstacle(self._regions[index]) for index in unsatisfied}
        halved = {index for index, obstacle in obstacles.items() if obstacle is None}
        if not halved:
            self.stopped = max(filter(None, obstacles.values()), key=list(obstacles.values()).count)
            return
        self._halve(halved)

    def result(self) -> Refined:
        """The pieces so far."""
        return Refined(tuple(region.piece for region in self._regions), self.stopped or "budget")

    # --- which regions

    def _unsatisfied(self) -> list[int]:
        """Regions whose own error exceeds the bound."""
        return [i for i, region in enumerate(self._regions) if region.error > self._parameters.bound]

    def _dominant(self, totals: FloatArray) -> list[int]:
        """Regions that can still be halved and dominate a configuration that is not good."""
        errors = np.array([region.piece.error for region in self._regions])
        contributions = self._seconds_by_region() / totals[:, None] * errors
        bad = contributions[contributions.sum(axis=1) > KERNEL_SHARE * self._parameters.bound]
        if not len(bad):
            return []
        possible = np.array([self._obstacle(region) is None for region in self._regions])
        if not possible.any():
            return list(range(len(self._regions)))
        bad = bad * possible
        largest = np.maximum(bad.max(axis=1, keepdims=True), np.finfo(float).tiny)
        return np.flatnonzero((bad >= DOMINANT * largest).any(axis=0)).tolist()

    def _obstacle(self, region: _Region) -> str | None:
        """Why halving a region would not help, or None."""
        if region.over_noise <= NOISE_FACTOR:
            return "noise"
        if self._workload and region.useless > len(region.domain.lower):
            return "no gain"
        return None if region.domain.halves(self._minimum_width, "geometric") else "minimum width"

    def _halve(self, indices: set[int]) -> None:
        for index in indices:
            region = self._regions[index]
            halves = region.domain.halves(self._minimum_width, "geometric")
            assert halves is not None
            self._pending += [(half, region) for half in halves]
        self._regions = [region for index, region in enumerate(self._regions) if index not in indices]
        self.wanted = self._missing_points()

    # --- points and fits

    def _points(self, domain: Domain) -> list[Point]:
        counts = [degree + 1 + self._parameters.oversampling for degree in degrees(self._exponents)]
        return grid_points(domain, counts, self._parameters.grid)

    def _missing_points(self) -> list[Point]:
        points = {point for domain, _ in self._pending for point in self._points(domain)}
        return sorted(points - set(self._observed))

    def _fitted(self, domain: Domain, parent: _Region | None) -> _Region:
        sizes = np.array(list(self._observed))
        sizes = sizes[domain.contains(sizes)]
        observations = [self._observed[tuple(point)] for point in sizes.tolist()]
        statistics = np.array([observation.statistics for observation in observations])
        matrix = design_matrix(sizes, self._exponents, np.array(domain.upper, dtype=float))
        result = fit(matrix, np.array([observation.reference for observation in observations]))
        noise = np.array([observation.standard_error for observation in observations])
        pooled = np.maximum(np.maximum(noise, np.median(noise)), _LEAST_ERROR)
        error = max(rms(result.held_out), rms(noise))  # no more certain than the samples themselves
        piece = Piece(domain, fit_statistics(matrix, statistics), error, rms(noise), len(sizes))
        fitted = float(ERROR_MEASURES[self._parameters.error_measure](np.abs(result.residuals)))
        useless = 0
        if parent is not None:
            before = parent.piece.evaluate(sizes, self._exponents)[:, MEDIAN] / statistics[:, MEDIAN] - 1
            useless = parent.useless + 1 if piece.error > GAIN * rms(before) else 0
        return _Region(piece, fitted, rms(result.held_out / pooled), useless)

    def _seconds_by_region(self) -> FloatArray:
        """Time that each configuration's calls spend in each region: (n_configurations, n_regions)."""
        assert self._workload is not None
        sizes, owner, count = self._workload.sizes, self._workload.owner, self._workload.configurations
        seconds = np.zeros((count, len(self._regions)))
        left = np.ones(len(sizes), dtype=bool)
        for index, region in enumerate(self._regions):
            here = left & region.domain.contains(sizes)
            left &= ~here
            medians = region.piece.evaluate(sizes[here], self._exponents)[:, MEDIAN]
            seconds[:, index] = np.bincount(owner[here], weights=np.abs(medians), minlength=count)
        return seconds

