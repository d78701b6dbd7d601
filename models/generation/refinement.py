"""Our generator: takes few samples, and further ones where they buy most.

A first grid covers each domain; all samples in it are fitted together and cut into parts where they
fit best (`partition`). Further points are wanted

- in parts whose errors still matter and are more than the samples' own scatter: far from the points
  that are there, and rather where calls are quick;
- at cuts, as long as it matters where between two samples they are.

What matters is told from outside, by the calls that a question will replay; without a question every
part matters whose own error exceeds the bound.
"""

import math
from collections.abc import Sequence

import numpy as np

from ..fitting.basis import Exponents, degrees
from ..fitting.part import LEAST_NOISE, Observed, Part
from ..fitting.partition import SPARE_POINTS, Cut, partition
from ..parameters import Parameters
from ..sizes.domain import Domain
from ..sizes.grid import grid_points
from ..sizes.lattice import EVEN, IntArray, Lattice
from ..summary import FloatArray
from .generator import Observation, Point
from .halving import ERROR_MEASURES

DOMINANT = 0.1  # of the largest importance: parts below it wait
GROWTH = 0.4  # how many points a part gains, relative to those it has
FEWEST_POINTS = 3
COST_POWER = 0.25  # of a call's time by which its distance from the others is divided
GAIN = 0.85
PATIENCE = 3
HASTY = 0.1  # share of the budget below which a lack of gain is not believed, where nobody waits for an answer
LARGE_ERROR = 0.05  # beyond which it is not believed either where a question does wait
MOST_CANDIDATES = 3000


class Refinement:
    """Generates the pieces of one kernel case.

    Parameters
    ----------
    domains : sequence of Domain
        To be covered.
    bases : sequence of monomials
        Those that are tried, from the fewest to the most; the last has them all.
    parameters : Parameters
    minimum_width : int
    known : mapping of points to observations
        What was sampled before.
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
        ``"bound"``, ``"noise"``, ``"no gain"`` or ``"minimum width"``.
    """

    def __init__(
        self,
        domains: Sequence[Domain],
        bases: Sequence[Exponents],
        parameters: Parameters,
        minimum_width: int,
        known: dict[Point, Observation] | None = None,
        lattice: Lattice = EVEN,
    ) -> None:
        self._lattice = lattice
        self._domains, self._bases, self._parameters = tuple(domains), tuple(bases), parameters
        self._minimum_width = minimum_width
        self.observed = dict(known or {})
        self.parts: list[Part] = []
        self._cuts: list[Cut] = []
        self._random = np.random.default_rng(0)
        self._errors: list[float] = []
        self.stopped: str | None = None
        grid = {point for domain in domains for point in self._grid(domain)}
        self.wanted = sorted(grid - set(self.observed))

    def observe(self, observations: dict[Point, Observation]) -> None:
        """Takes observations, of the wanted points at least, and cuts and fits anew if there are any."""
        if self.parts and not observations:
            return  # others were sampled meanwhile: that is no round without gain
        self.observed.update(observations)
        self.wanted, self.parts, self._cuts = [], [], []
        for domain in self._domains:
            parts, cuts = partition(domain, self._inside(domain), self._bases, self._minimum_width, self._lattice)
            self.parts += parts
            self._cuts += cuts
        self._errors.append(self._overall_error())

    def advance(self, importance: FloatArray | None = None) -> None:
        """Decides what is wanted next, or that it ends.

        Parameters
        ----------
        importance : array of shape (n_parts,), optional
            How much the error of each part matters to a question, 1 for the most important of all; by
            default those matter alike whose own errors exceed the bound.
        """
        values = self._own_importance() if importance is None else importance
        important = [part for part, value in zip(self.parts, values, strict=True) if value > DOMINANT]
        wanted = {point for part in important if not part.explained for point in self._further(part)}
        if important or importance is None:
            wanted |= {point for cut in self._cuts for point in self._at(cut)}
        self.wanted = sorted(wanted - set(self.observed))
        settled = importance is not None and self._errors[-1] < LARGE_ERROR
        patience = HASTY * min(self._parameters.seconds, Parameters().seconds)
        if important and self._idle() and (settled or self._spent > patience):
            self.wanted, self.stopped = [], "no gain"
        elif not self.wanted and importance is None:
            self.stopped = self.obstacle if important else "bound"

    @property
    def obstacle(self) -> str:
        """What further samples would run into."""
        return "noise" if all(part.explained for part in self.parts) else "minimum width"

    def can_gain(self) -> list[bool]:
        """Which parts further samples may improve: those whose errors their scatter does not explain."""
        return [not part.explained for part in self.parts]

    # --- what matters

    def _own_importance(self) -> FloatArray:
        measure = ERROR_MEASURES[self._parameters.error_measure]
        errors = np.array(
            [measure(np.abs(part.errors)) * part.error / max(part.held_out, LEAST_NOISE) for part in self.parts]
        )
        return np.where(errors > self._parameters.bound, errors / max(errors.max(), LEAST_NOISE), 0.0)

    def _overall_error(self) -> float:
        """Mean over the domains, in which every size's ratio counts alike."""
        weights = np.array([max(part.domain.log_volume, 1e-6) for part in self.parts])
        return float(np.average([part.error for part in self.parts], weights=weights))

    def _idle(self) -> bool:
        """Whether the latest rounds brought nothing."""
        before, latest = self._errors[:-PATIENCE], self._errors[-PATIENCE:]
        return bool(before) and min(latest) > GAIN * min(before)

    @property
    def _spent(self) -> float:
        """Seconds of calls so far."""
        return sum(observation.seconds for observation in self.observed.values())

    # --- points

    def _grid(self, domain: Domain) -> list[Point]:
        """The first grid; where few of its points are valid, with others far from them."""
        counts = [degree + 1 + self._parameters.oversampling for degree in degrees(self._bases[-1])]
        grid = grid_points(domain, counts, self._parameters.grid, self._lattice)
        lacking = math.ceil(SPARE_POINTS * len(self._bases[0])) - len(grid)
        candidates = self._lattice.points(domain, domain, MOST_CANDIDATES, self._random)
        return grid + farthest(domain, candidates, np.array(grid), np.ones(len(candidates)), lacking)

    def _further(self, part: Part) -> list[Point]:
        """Points of a part that are far from those it has, where calls are quick rather than slow."""
        whole = next(domain for domain in self._domains if not part.domain.minus(domain))
        candidates = self._lattice.points(part.domain, whole, MOST_CANDIDATES, self._random)
        reluctance = np.maximum(part.seconds(candidates), part.observed.seconds.min()) ** COST_POWER
        count = max(FEWEST_POINTS, round(GROWTH * len(part.observed.seconds)))
        return farthest(part.domain, candidates, part.observed.sizes, reluctance, count)

    def _at(self, cut: Cut) -> list[Point]:
        """Points at a cut, if it matters where between its neighbours it is."""
        width = cut.domain.upper[cut.size] - cut.domain.lower[cut.size]
        at = int(self._lattice.nearest(cut.size, cut.below, cut.above, np.array([float(cut.at)]))[0])
        if cut.jump * (cut.above - cut.below) / width <= self._parameters.bound or at in (cut.below, cut.above):
            return []
        return [tuple(point) for point in self._lattice.admitted(np.array(cut.points(at))).tolist()]

    # --- fits

    def _inside(self, domain: Domain) -> Observed:
        points = np.array(list(self.observed))
        points = points[domain.contains(points)]
        observations = [self.observed[tuple(point)] for point in points.tolist()]
        return Observed.by_noise(
            points,
            np.array([observation.reference for observation in observations]),
            np.array([observation.standard_error for observation in observations]),
        )


def farthest(domain: Domain, candidates: IntArray, taken: IntArray, reluctance: FloatArray, count: int) -> list[Point]:
    """Chooses points one by one, each the farthest from those taken and chosen, in units of its reluctance.

    Parameters
    ----------
    domain : Domain
        In which distances are measured, by ratios of sizes.
    candidates : array of shape (n_candidates, d)
    taken : array of shape (n_taken, d), at least one
    reluctance : array of shape (n_candidates,)
        By which squared distances are divided.
    count : int
        How many are wanted; fewer come if there are no more.
    """
    chosen: list[Point] = []
    if count <= 0 or not len(candidates):
        return chosen
    places = domain.places(candidates)
    distance = np.min(((places[:, None] - domain.places(taken)[None]) ** 2).sum(axis=2), axis=1)
    while len(chosen) < count and distance.max() > 0:
        best = int(np.argmax(distance / reluctance))
        chosen.append(tuple(candidates[best].tolist()))
        distance = np.minimum(distance, ((places - places[best]) ** 2).sum(axis=1))
    return chosen
