"""Replays the dissertation's generator for many configurations, sharing what they have in common.

Halving a domain always yields the same two, so all configurations walk down one tree of boxes. On a
box, those with the same monomials and grid share the matrix, those with the same samples and statistic
as well share the fit, whatever their error measure, bound and minimum width. The models are those of
`Halving`.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby

import numpy as np
import numpy.typing as npt

from ..fitting.basis import Exponents, degrees, design_matrix, monomials
from ..fitting.fit import least_squares
from ..generation.halving import halves
from ..parameters import Parameters
from ..sizes.domain import Domain
from ..sizes.grid import grid_points
from ..summary import FloatArray
from .exhaustive import MEDIAN_QUANTILE, ExhaustiveSet
from .outcome import Outcome, outcome
from .setting import CASE

IntArray = npt.NDArray[np.int64]
P90 = 0.9


class HalvingTree:
    """All boxes that halving makes of a set's domain.

    Parameters
    ----------
    exhaustive : ExhaustiveSet
    """

    def __init__(self, exhaustive: ExhaustiveSet) -> None:
        self.exhaustive = exhaustive
        self._boxes: dict[Domain, Box] = {}

    def outcomes(self, configurations: Sequence[Parameters]) -> Iterator[Outcome]:
        """What configurations achieve, one after the other; quick if those with the same grids are neighbours."""
        for _, group in groupby(configurations, lambda p: (p.overfitting, p.oversampling, p.grid)):
            alike = list(group)
            shared = _Group(self, alike[0])
            yield from map(shared.outcome, alike)

    def box(self, domain: Domain) -> "Box":
        """The box of a domain."""
        if domain not in self._boxes:
            self._boxes[domain] = Box(domain, self)
        return self._boxes[domain]


class Box:
    """A domain with what all configurations share on it.

    Parameters
    ----------
    domain : Domain
    tree : HalvingTree
    """

    def __init__(self, domain: Domain, tree: HalvingTree) -> None:
        self.domain = domain
        self._tree = tree
        self._halves: dict[int, tuple[Box, ...]] = {}
        self._matrices: dict[Exponents, FloatArray] = {}

    @cached_property
    def rows(self) -> IntArray:
        """Indices of the set's points in it."""
        return np.flatnonzero(self.domain.contains(self._tree.exhaustive.points))

    def halves(self, minimum_width: int) -> "tuple[Box, ...]":
        """Its two halves; none if they would be too narrow."""
        if minimum_width not in self._halves:
            pair = halves(self.domain, minimum_width, self._tree.exhaustive.lattice)
            self._halves[minimum_width] = tuple(map(self._tree.box, pair or ()))
        return self._halves[minimum_width]

    def matrix(self, exponents: Exponents) -> FloatArray:
        """Monomials at the set's points in it."""
        if exponents not in self._matrices:
            self._matrices[exponents] = self.matrix_at(self.rows, exponents)
        return self._matrices[exponents]

    def matrix_at(self, rows: IntArray, exponents: Exponents) -> FloatArray:
        """Monomials at points of the set."""
        return design_matrix(self._tree.exhaustive.points[rows], exponents, np.array(self.domain.upper, dtype=float))


class _Node:
    """A box with the grid and the fits of a group of configurations."""

    def __init__(self, box: Box, exhaustive: ExhaustiveSet, exponents: Exponents, like: Parameters) -> None:
        self.box = box
        self._exhaustive, self._exponents = exhaustive, exponents
        counts = [degree + 1 + like.oversampling for degree in degrees(exponents)]
        grid = grid_points(box.domain, counts, like.grid, exhaustive.lattice)
        self.rows = exhaustive.rows(grid)
        self._matrix = box.matrix_at(self.rows, exponents)
        self._fits: dict[tuple[int, float], tuple[FloatArray, FloatArray]] = {}
        self._predicted: dict[int, FloatArray] = {}

    def error(self, parameters: Parameters) -> float:
        """The error measure of the reference statistic."""
        _, errors = self._fit(parameters.least_repetitions, parameters.reference)
        if parameters.error_measure == "max":
            return float(errors[-1])
        place = P90 * (len(errors) - 1)
        below = int(place)
        return float(errors[below] + (errors[min(below + 1, len(errors) - 1)] - errors[below]) * (place - below))

    def predicted(self, repetitions: int) -> FloatArray:
        """Medians at the set's points in the box."""
        if repetitions not in self._predicted:
            coefficients, _ = self._fit(repetitions, MEDIAN_QUANTILE)
            self._predicted[repetitions] = self.box.matrix(self._exponents) @ coefficients
        return self._predicted[repetitions]

    def _fit(self, repetitions: int, quantile: float) -> tuple[FloatArray, FloatArray]:
        """Coefficients and relative errors, ascending."""
        key = repetitions, quantile
        if key not in self._fits:
            seconds = self._exhaustive.reference(repetitions, quantile)[self.rows]
            coefficients, residuals = least_squares(self._matrix, seconds)
            self._fits[key] = coefficients, np.sort(np.abs(residuals))
        return self._fits[key]


class _Group:
    """Configurations with the same monomials and grid."""

    def __init__(self, tree: HalvingTree, like: Parameters) -> None:
        self._tree, self._like = tree, like
        self._exponents = monomials(CASE.kernel, dict(CASE.flags), like.overfitting)
        self._nodes: dict[Domain, _Node] = {}

    def outcome(self, parameters: Parameters) -> Outcome:
        """What a configuration achieves."""
        leaves, everywhere = self._walk(parameters)
        exhaustive, repetitions = self._tree.exhaustive, parameters.least_repetitions
        predicted = np.empty(len(exhaustive.points))
        for leaf in reversed(leaves):  # the first piece that contains a point predicts it
            predicted[leaf.box.rows] = leaf.predicted(repetitions)
        sampled = np.unique(np.concatenate([node.rows for node in everywhere]))
        return outcome(
            "",
            parameters,
            predicted / exhaustive.measured,
            float(exhaustive.costs(repetitions)[sampled].sum()),
            int(exhaustive.counts(repetitions)[sampled].sum()),
            len(leaves),
        )

    def _walk(self, parameters: Parameters) -> tuple[list[_Node], list[_Node]]:
        """The nodes where halving ends, and all nodes, in the order that `Halving` comes to them."""
        leaves: list[_Node] = []
        everywhere: list[_Node] = []
        level = [self._node(self._tree.box(self._tree.exhaustive.domain))]
        while level:
            everywhere += level
            below: list[_Node] = []
            for node in level:
                good = node.error(parameters) <= parameters.bound
                halved = () if good else node.box.halves(parameters.minimum_width)
                below += map(self._node, halved)
                leaves += [] if halved else [node]
            level = below
        return leaves, everywhere

    def _node(self, box: Box) -> _Node:
        if box.domain not in self._nodes:
            self._nodes[box.domain] = _Node(box, self._tree.exhaustive, self._exponents, self._like)
        return self._nodes[box.domain]
