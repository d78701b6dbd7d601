"""Finds the piece that a point lies in: a binary space partition over the pieces' boxes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..sizes.domain import Domain

IntArray = npt.NDArray[np.int64]

NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Node:
    """A cut of space: points whose size `dimension` is less than `cut` go on below it, others above.

    Parameters
    ----------
    dimension, cut : int
    below, above : int
        A node if it is not negative, piece i if it is -2 - i, no piece if it is -1.
    """

    dimension: int
    cut: int
    below: int
    above: int


@dataclass(frozen=True, slots=True)
class Locator:
    """A search for the first of some boxes that contains a point.

    Parameters
    ----------
    lower, upper : tuple of int
        All boxes are within these bounds, both included.
    root : int
        Where it begins: as `Node.below`.
    nodes : tuple of Node
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    root: int
    nodes: tuple[Node, ...]

    @classmethod
    def of(cls, boxes: Sequence[Domain]) -> "Locator":
        """The search among boxes, with few questions on the way.

        Examples
        --------
        >>> Locator.of([Domain((8,), (64,)), Domain((64,), (128,))]).nodes
        (Node(dimension=0, cut=65, below=-2, above=-3),)
        """
        lower = np.array([box.lower for box in boxes])
        upper = np.array([box.upper for box in boxes])
        first, last = lower.min(axis=0), upper.max(axis=0)
        nodes: list[Node] = []
        root = _grow(nodes, _Parts.visible(boxes, lower, upper + 1), first, last + 1)
        return cls(tuple(first.tolist()), tuple(last.tolist()), root, tuple(nodes))


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """Disjoint boxes, lower <= point < end, and the piece that each is a part of."""

    lower: IntArray
    end: IntArray
    piece: IntArray

    @classmethod
    def visible(cls, boxes: Sequence[Domain], lower: IntArray, end: IntArray) -> "_Parts":
        """What of each box no earlier one contains."""
        whole = [Domain(box.lower, tuple(high + 1 for high in box.upper)) for box in boxes]
        parts, pieces = [], []
        for i, box in enumerate(whole):
            (near,) = np.nonzero(((lower[:i] < end[i]) & (end[:i] > lower[i])).all(axis=1))
            rest = [box]
            for j in near:
                rest = [part for box in rest for part in box.minus(whole[j]) if _extends(part)]
            parts += rest
            pieces += [i] * len(rest)
        return cls(np.array([p.lower for p in parts]), np.array([p.upper for p in parts]), np.array(pieces))

    def within(self, lower: IntArray, end: IntArray) -> "_Parts":
        """What of them lies in a region."""
        lower, end = np.maximum(self.lower, lower), np.minimum(self.end, end)
        some = (lower < end).all(axis=1)
        return _Parts(lower[some], end[some], self.piece[some])


def _extends(part: Domain) -> bool:
    """Whether any point lies in it, its upper bounds left out."""
    return all(low < high for low, high in zip(part.lower, part.upper, strict=True))


def _grow(nodes: list[Node], parts: _Parts, lower: IntArray, end: IntArray) -> int:
    """Appends the nodes that search a region; where they begin."""
    parts = parts.within(lower, end)
    if not len(parts.piece):
        return NOWHERE
    if len(parts.piece) == 1 and np.array_equal(parts.lower[0], lower) and np.array_equal(parts.end[0], end):
        return -2 - int(parts.piece[0])
    dimension, cut = _best_cut(parts, lower, end)
    middle_end, middle = end.copy(), lower.copy()
    middle_end[dimension] = middle[dimension] = cut
    here = len(nodes)
    nodes.append(Node(dimension, cut, NOWHERE, NOWHERE))  # before those that it leads to, which it is to know
    below = _grow(nodes, parts, lower, middle_end)
    above = _grow(nodes, parts, middle, end)
    if below == above:  # two parts of one piece
        del nodes[here]
        return below
    nodes[here] = Node(dimension, cut, below, above)
    return here


def _best_cut(parts: _Parts, lower: IntArray, end: IntArray) -> tuple[int, int]:
    """The dimension and place that leave the least to search: few parts on both sides, about as many on each."""
    best = (np.inf, 0, 0)
    for i in range(len(lower)):
        lowers, ends = np.sort(parts.lower[:, i]), np.sort(parts.end[:, i])
        cuts = np.unique(np.concatenate([lowers[lowers > lower[i]], ends[ends < end[i]]]))
        if len(cuts):
            below = np.searchsorted(lowers, cuts)
            above = len(ends) - np.searchsorted(ends, cuts, side="right")
            effort = below * np.log2(1 + below) + above * np.log2(1 + above)
            least = int(np.argmin(effort))
            best = min(best, (float(effort[least]), i, int(cuts[least])))
    return best[1:]
