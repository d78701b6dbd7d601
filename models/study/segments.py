"""Cubic polynomials in one size: what one, two and three pieces achieve (section 7.5.2 of the dissertation)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..fitting.part import Observed, Part, fitted_part
from ..fitting.partition import best_cut
from ..generation.halving import halves
from ..sizes.domain import STEP, Domain
from ..sizes.lattice import EVEN, IntArray
from ..summary import MEDIAN, FloatArray, rms, standard_error

CUBIC = ((0,), (1,), (2,), (3,))
MOST_PIECES = 3


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Cubic pieces that cover a range of sizes.

    Parameters
    ----------
    cuts : str
        ``"halves"`` or ``"fitted"``.
    parts : tuple of Part, by ascending size
    """

    cuts: str
    parts: tuple[Part, ...]

    @property
    def bounds(self) -> list[int]:
        """Where one piece ends and the next begins."""
        return [part.domain.upper[0] for part in self.parts[:-1]]

    def seconds(self, sizes: IntArray) -> FloatArray:
        """Run times at sizes of shape (n,)."""
        which = np.searchsorted(self.bounds, sizes)
        found = np.array([part.seconds(sizes[:, None]) for part in self.parts])
        return np.asarray(found[which, np.arange(len(sizes))])

    def errors(self, sizes: IntArray, measured: FloatArray) -> FloatArray:
        """Relative errors against what was measured at sizes of shape (n,)."""
        return np.asarray(np.abs(self.seconds(sizes) / measured - 1))


def segments(sizes: IntArray, samples: FloatArray) -> list[Segments]:
    """One to MOST_PIECES pieces by halving, and as many as gain something by fitted cuts.

    Whichever piece has the largest error is halved, as in the dissertation; that piece is cut whose cut
    lowers the errors most.

    Parameters
    ----------
    sizes : integer array of shape (n,)
        Ascending.
    samples : array of shape (n, repetitions), seconds
        NaN at the end of rows with fewer.
    """
    noise = [standard_error(row[np.isfinite(row)], MEDIAN) for row in samples]
    medians = np.nanmedian(samples, axis=1)
    observed = Observed.alike(sizes[:, None], medians, np.array(noise) / medians)
    whole = fitted_part(Domain((int(sizes[0]),), (int(sizes[-1]),)), observed, CUBIC)
    ways: tuple[tuple[str, Callable[[list[Part]], list[Part] | None]], ...] = (
        ("halves", lambda parts: _halved(parts, observed)),
        ("fitted", _cut),
    )
    found = []
    for cuts, divided in ways:
        parts: list[Part] | None = [whole]
        while parts is not None and len(parts) <= MOST_PIECES:
            found.append(Segments(cuts, tuple(parts)))
            parts = divided(parts)
    return found


def _halved(parts: Sequence[Part], observed: Observed) -> list[Part] | None:
    """With the part halved that has the largest error; None if it cannot be."""
    worst = max(range(len(parts)), key=lambda i: rms(parts[i].fit.residuals))
    pair = halves(parts[worst].domain, STEP)
    if pair is None:
        return None
    halved = [fitted_part(domain, observed.inside(domain), CUBIC) for domain in pair]
    return [*parts[:worst], *halved, *parts[worst + 1 :]]


def _cut(parts: Sequence[Part]) -> list[Part] | None:
    """With the part cut that gains most by it; None if none gains enough."""
    found = {
        i: cut
        for i, part in enumerate(parts)
        if (cut := best_cut(part, [CUBIC], STEP, EVEN.across(part.domain))) is not None
    }
    if not found:
        return None

    def gain(i: int) -> float:
        return _loss(parts[i]) - sum(_loss(part) for part in found[i][1:])

    best = max(found, key=gain)
    return [*parts[:best], *found[best][1:], *parts[best + 1 :]]


def _loss(part: Part) -> float:
    return float((part.fit.held_out**2).sum())
