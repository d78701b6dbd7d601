"""Domains: boxes of sizes, both bounds included."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from blascast.sampler.errors import UsageError

_SLACK = 1.3  # by how much more than two boxes their hull may cover if they are merged
STEP = 8  # sizes are modelled at its multiples: all libraries have minima of their run times there


@dataclass(frozen=True, slots=True, order=True)
class Domain:
    """A box of sizes, lower[i] <= size i <= upper[i].

    Raises
    ------
    UsageError
        If a bound is not positive or the lower one exceeds the upper one.
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.lower) != len(self.upper) or not self.lower:
            raise UsageError(f"a domain needs as many lower as upper bounds, got {self.lower} and {self.upper}")
        if any(low < 1 or low > high for low, high in zip(self.lower, self.upper, strict=True)):
            raise UsageError(f"a domain needs 1 <= lower <= upper, got {self.lower} and {self.upper}")

    def contains(self, sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Which rows of an array of shape (n, d) lie inside: array of shape (n,)."""
        inside = (sizes >= np.array(self.lower)) & (sizes <= np.array(self.upper))
        return np.asarray(inside.all(axis=1))

    def cut(self, index: int, at: int) -> "tuple[Domain, Domain]":
        """The parts below and above `at` along a size; both have it."""
        return self._bounded(index, self.lower[index], at), self._bounded(index, at, self.upper[index])

    def spread(self, count: int) -> npt.NDArray[np.int64]:
        """Points of even ratio in it, its corners among them: array of shape (count^d, d), for count of at least 2."""
        axes = [np.geomspace(low, high, count).round() for low, high in zip(self.lower, self.upper, strict=True)]
        return np.array(list(product(*axes)), dtype=np.int64)

    @property
    def log_volume(self) -> float:
        """Product of the logarithms of the sizes' ratios."""
        return float(np.prod(np.log(np.array(self.upper) / np.array(self.lower))))

    def places(self, sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Where sizes of shape (n, d) are in the domain, each from 0 to 1 by its logarithm."""
        low, high = np.log(self.lower), np.log(self.upper)
        return np.asarray((np.log(sizes) - low) / np.maximum(high - low, 1e-9))

    def minus(self, other: "Domain") -> "list[Domain]":
        """Boxes that cover what of this one is outside the other; they share its boundary.

        Examples
        --------
        >>> Domain((8, 8), (100, 40)).minus(Domain((8, 8), (64, 64)))
        [Domain(lower=(64, 8), upper=(100, 40))]
        """
        if any(o_low > high or o_high < low for low, high, o_low, o_high in self._against(other)):
            return [self]
        rest, remaining = [], self
        for i, (low, high, o_low, o_high) in enumerate(self._against(other)):
            if low < o_low:
                rest.append(remaining._bounded(i, low, o_low))
            if o_high < high:
                rest.append(remaining._bounded(i, o_high, high))
            remaining = remaining._bounded(i, max(low, o_low), min(high, o_high))
        return rest

    def common(self, other: "Domain") -> "Domain | None":
        """What of this box is inside the other too, or None.

        Examples
        --------
        >>> str(Domain((8, 8), (100, 40)).common(Domain((64, 8), (128, 64))))
        '64..100 x 8..40'
        """
        bounds = [(max(low, o_low), min(high, o_high)) for low, high, o_low, o_high in self._against(other)]
        if any(low > high for low, high in bounds):
            return None
        return Domain(tuple(low for low, _ in bounds), tuple(high for _, high in bounds))

    def hull(self, other: "Domain") -> "Domain":
        """The smallest box that contains both."""
        bounds = [(min(low, o_low), max(high, o_high)) for low, high, o_low, o_high in self._against(other)]
        return Domain(tuple(low for low, _ in bounds), tuple(high for _, high in bounds))

    @property
    def volume(self) -> float:
        """Product of the sizes' ranges."""
        return float(np.prod(np.array(self.upper) - np.array(self.lower) + 1.0))

    def _against(self, other: "Domain") -> "zip[tuple[int, int, int, int]]":
        return zip(self.lower, self.upper, other.lower, other.upper, strict=True)

    def _bounded(self, index: int, low: int, high: int) -> "Domain":
        lower, upper = list(self.lower), list(self.upper)
        lower[index], upper[index] = low, high
        return Domain(tuple(lower), tuple(upper))

    def __str__(self) -> str:
        return " x ".join(f"{low}..{high}" for low, high in zip(self.lower, self.upper, strict=True))


def merged(domains: "Iterable[Domain]") -> "list[Domain]":
    """Fewer boxes that cover the same, and little else: two are joined where their hull is hardly larger than both.

    Examples
    --------
    >>> [str(box) for box in merged([Domain((8, 8), (100, 40)), Domain((8, 8), (96, 48)), Domain((8, 8), (40, 400))])]
    ['8..40 x 8..400', '8..100 x 8..48']
    """
    found: list[Domain] = []
    for domain in sorted(set(domains), key=lambda domain: -domain.volume):
        for i, other in enumerate(found):
            hull = other.hull(domain)
            common = other.common(domain)
            both = other.volume + domain.volume - (common.volume if common else 0.0)
            if hull.volume <= _SLACK * both:
                found[i] = hull
                break
        else:
            found.append(domain)
    return found


def uncovered(wanted: Domain, covered: "list[Domain]") -> "list[Domain]":
    """Boxes that cover what of `wanted` none of `covered` contains."""
    rest = [wanted]
    for domain in covered:
        rest = [part for box in rest for part in box.minus(domain)]
    return rest
