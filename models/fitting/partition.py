"""Cuts a domain into pieces where its samples fit best: a tree of polynomials.

All samples in a domain are fitted together. Where their held-out errors exceed what their own
scatter explains, the domain is cut between two neighbouring coordinates of samples, along whichever
size and wherever the held-out errors of the two parts are least; and so on for the parts. A kink of
the run time, as at a library's internal block sizes, is so found where it is, not where halving
happens to end. On every part the monomials are chosen by the same held-out errors. Single sizes may be
as no others are (256, where a library's buffers collide): parts may be as narrow as one coordinate of the
lattice, and have monomials of lower degrees along sizes of which every coordinate was sampled.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..sizes.domain import Domain
from ..sizes.lattice import EVEN, IntArray, Lattice
from .basis import Exponents, degrees
from .part import LEAST_NOISE, Observed, Part, fitted_part

CUT_PENALTY = 3.0  # a cut must lower the logarithm of the squared held-out errors by so much times p / n
BASIS_PENALTY = 2.0  # further monomials the same, where p is their number
MOST_GAPS = 24  # that are tried along a size before those about the best of them are
MEETING = 0.5  # of the largest difference between two polynomials: closer they are taken to meet
SPARE_POINTS = 1.25  # points a part must have for each monomial

Gap = tuple[int, int]  # neighbouring coordinates of samples
Axes = Sequence[IntArray]  # coordinates along each size


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
    axes = lattice.across(domain)
    return _divided(_fitted(domain, observed, bases, axes), bases, minimum_width, axes)


def _divided(part: Part, bases: Sequence[Exponents], minimum_width: int, axes: Axes) -> tuple[list[Part], list[Cut]]:
    found = None if part.scattered else best_cut(part, bases, minimum_width, axes)
    if found is None:
        return [part], []
    cut, low, high = found
    low_axes, high_axes = _divided_axes(axes, cut.size, cut.at, cut.at)
    low_parts, low_cuts = _divided(low, bases, minimum_width, low_axes)
    high_parts, high_cuts = _divided(high, bases, minimum_width, high_axes)
    return low_parts + high_parts, [cut, *low_cuts, *high_cuts]


def _divided_axes(axes: Axes, size: int, below: int, above: int) -> tuple[Axes, Axes]:
    """The coordinates up to one, and those beyond another."""
    low, high = list(axes), list(axes)
    low[size], high[size] = axes[size][axes[size] <= below], axes[size][axes[size] > above]
    return low, high


def _narrowed(exponents: Exponents, observed: Observed, axes: Axes) -> Exponents:
    """Those monomials whose degree along each size the coordinates support; where others may be sampled, all."""
    highest = list(degrees(exponents))
    narrow = [i for i, axis in enumerate(axes) if len(axis) <= highest[i] + 1]
    for i in narrow:
        count = len(np.unique(observed.sizes[:, i]))
        if count >= len(axes[i]):
            highest[i] = max(count - 2, 0)
    if not narrow:
        return exponents
    return tuple(own for own in exponents if all(power <= most for power, most in zip(own, highest, strict=True)))


def _fitted(domain: Domain, observed: Observed, bases: Sequence[Exponents], axes: Axes) -> Part:
    """The part with the monomials that predict held-out points best; more of them must earn it, and be trusted.

    Where fewer are not trusted either (a single point may carry the constant), it is enough that they earn it.

    Parameters
    ----------
    domain, observed, bases
        As for `partition`.
    axes : sequence of integer arrays
        The coordinates of the lattice along each size that the part stands for.
    """
    complete = len(observed.seconds) >= math.prod(map(len, axes))
    best = fitted_part(domain, observed, _narrowed(bases[0], observed, axes), complete)
    for exponents in (_narrowed(basis, observed, axes) for basis in bases[1:]):
        if not _supports(observed, exponents):
            break
        part = fitted_part(domain, observed, exponents, complete)
        earned = _loss(part) < _allowed(best, BASIS_PENALTY, len(exponents) - len(best.exponents))
        if earned and (part.trusted or not best.trusted):
            best = part
    return best


def _supports(observed: Observed, exponents: Exponents) -> bool:
    """Whether there are points enough for so many monomials, along every size as well."""
    if len(observed.seconds) < SPARE_POINTS * len(exponents):
        return False
    counts = [len(np.unique(column)) for column in observed.sizes.T]
    return all(count > degree + 1 or not degree for count, degree in zip(counts, degrees(exponents), strict=True))


def _loss(part: Part) -> float:
    """Squared held-out errors, by weight; less than a clock can tell makes no difference."""
    squares = (part.observed.weights * part.errors) ** 2
    return float(squares.sum()) + len(squares) * LEAST_NOISE**2


def _allowed(part: Part, penalty: float, monomials: int) -> float:
    """The loss that is left at most by what brings so many monomials; the fewer the points, the less."""
    return _loss(part) * math.exp(-penalty * monomials / len(part.observed.seconds))


def best_cut(part: Part, bases: Sequence[Exponents], minimum_width: int, axes: Axes) -> tuple[Cut, Part, Part] | None:
    """The cut that leaves the least squared held-out errors, if it lowers them by more than chance would."""
    sizes = range(len(part.domain.lower))
    best = _best([halves for size in sizes for halves in _tried(part, size, bases, minimum_width, axes).values()])
    if best is None or best.loss >= _allowed(part, CUT_PENALTY, len(part.exponents)):
        return None
    size, halves = best.size, best.parts
    assert halves is not None
    places = _places(part.domain, size, best.gap, minimum_width, axes[size])
    cut = _cut(part.domain, size, *best.gap, places, halves)
    both = zip(part.domain.cut(size, cut.at), halves, _divided_axes(axes, size, cut.at, cut.at), strict=True)
    low, high = (_fitted(domain, half.observed, bases, own) for domain, half, own in both)
    return cut, low, high


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """What a cut leaves.

    Parameters
    ----------
    size : int
        Along which.
    gap : Gap
    parts : pair of Part
        None where their points do not support them.
    """

    size: int
    gap: Gap
    parts: tuple[Part, Part] | None

    @property
    def loss(self) -> float:
        """Of both parts."""
        return math.inf if self.parts is None else sum(map(_loss, self.parts))

    @property
    def trusted(self) -> bool:
        """Whether both parts are."""
        return self.parts is not None and all(part.trusted for part in self.parts)


def _best(tried: Sequence[Halves]) -> Halves | None:
    """The least loss of those that are trusted: few are looked at, as that takes long."""
    return next((halves for halves in sorted(tried, key=lambda one: one.loss) if halves.trusted), None)


def _tried(part: Part, size: int, bases: Sequence[Exponents], minimum_width: int, axes: Axes) -> dict[Gap, Halves]:
    """What cuts along a size leave: at some gaps, and then at all about the best of them."""
    gaps = _gaps(part, size, minimum_width, axes[size])
    stride = max(1, round(len(gaps) / MOST_GAPS))
    tried = {gap: _parted(part, size, gap, bases, axes) for gap in gaps[stride // 2 :: stride]}
    if stride > 1 and (best := _best(list(tried.values()))):
        index = gaps.index(best.gap)
        near = gaps[max(0, index - stride + 1) : index + stride]
        tried |= {gap: _parted(part, size, gap, bases, axes) for gap in near if gap not in tried}
    return tried


def _parted(part: Part, size: int, gap: Gap, bases: Sequence[Exponents], axes: Axes) -> Halves:
    """The parts that a cut leaves."""
    below, above = gap
    is_low = part.observed.sizes[:, size] <= below
    observed = part.observed.chosen(is_low), part.observed.chosen(~is_low)
    own_axes = _divided_axes(axes, size, above - 1, below)  # both with all that is between
    pairs = list(zip(observed, own_axes, strict=True))
    if not all(_supports(half, _narrowed(bases[0], half, own)) for half, own in pairs):
        return Halves(size, gap, None)
    domains = part.domain.cut(size, above)[0], part.domain.cut(size, below)[1]
    low, high = (_fitted(domain, half, bases, own) for domain, (half, own) in zip(domains, pairs, strict=True))
    return Halves(size, gap, (low, high))


def _gaps(part: Part, size: int, minimum_width: int, axis: IntArray) -> list[Gap]:
    """Lower and upper coordinate of neighbouring samples between which may be cut."""
    coordinates = np.unique(part.observed.sizes[:, size]).tolist()
    return [gap for gap in pairwise(coordinates) if len(_places(part.domain, size, gap, minimum_width, axis))]


def _places(domain: Domain, size: int, gap: Gap, minimum_width: int, axis: IntArray) -> IntArray:
    """Where in a gap may be cut: at its ends and at the lattice between, if neither part is too narrow."""
    below, above = gap
    places = np.unique([below, *axis[(axis > below) & (axis < above)], above])
    wide = (places - domain.lower[size] >= minimum_width) & (domain.upper[size] - places >= minimum_width)
    return np.asarray(places[wide])


def _cut(domain: Domain, size: int, below: int, above: int, places: IntArray, parts: Sequence[Part]) -> Cut:
    """A cut where the polynomials of two parts meet, at a place of the lattice; halfway, where they jump.

    What is at the cut belongs to the lower part: at a jump between neighbours of the lattice, it is at the lower one.
    """
    low, high = parts
    samples = np.concatenate([low.observed.sizes, high.observed.sizes])
    others = np.unique(np.delete(samples, size, axis=1), axis=0)
    points = np.insert(np.tile(others, (len(places), 1)), size, np.repeat(places, len(others)), axis=1)
    ratios = low.seconds(points) / high.seconds(points)
    differences = np.median(ratios.reshape(len(places), len(others)), axis=1) - 1
    apart, jump = np.abs(differences), float(np.abs(differences[[0, -1]]).max())
    index = int(np.argmin(apart)) if apart.min() < MEETING * apart.max() else (len(places) - 1) // 2
    return Cut(domain, size, below, above, int(places[index]), jump, others)
