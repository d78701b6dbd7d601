"""Tables of block sizes: as few steps as the plateaus around the best allow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from .blocksize import PLATEAU, Curve

OWN = 0  # instead of a block size: LAPACK's own is kept


@dataclass(frozen=True, slots=True)
class Step:
    """A block size for a range of sizes.

    Parameters
    ----------
    first, last : int
        Sizes n of the sweep that it was chosen for.
    b : int
        `OWN` where LAPACK's own is kept.
    gain : float
        By how much LAPACK's own block size takes longer, mean over these, relative.
    measured : float or None
        The same, measured.
    """

    first: int
    last: int
    b: int
    gain: float
    measured: float | None = None


def chosen_block_sizes(curves: Sequence[Curve], own: Sequence[float]) -> list[int]:
    """For each size a block size within 1 % of the best, LAPACK's own where that is; as few different ones as it takes.

    Parameters
    ----------
    curves : sequence of Curve, ascending in n
    own : sequence of float
        Seconds with LAPACK's own block size (and crossover) for each.

    Examples
    --------
    >>> import numpy as np
    >>> b, flat = np.array([32, 64, 96]), np.zeros(3)
    >>> times = [[1.0, 1.1, 1.2], [1.005, 1.0, 1.2], [1.2, 1.1, 1.0]]
    >>> curves = [Curve({"n": 100 * (i + 1)}, b, np.array(t), flat) for i, t in enumerate(times)]
    >>> chosen_block_sizes(curves, [1.1, 1.1, 1.1])
    [32, 32, 96]
    """
    chosen: list[int] = []
    begin, common = 0, _good(curves[0], own[0])
    for end in range(1, len(curves) + 1):
        good = _good(curves[end], own[end]) if end < len(curves) else set()
        if not (shared := common & good):
            chosen += [_least_lossy(curves[begin:end], common)] * (end - begin)
            begin, shared = end, good
        common = shared
    return chosen


def steps_of(
    curves: Sequence[Curve], own: Sequence[float], chosen: Sequence[int], measured: Mapping[int, float] | None = None
) -> list[Step]:
    """Neighbouring sizes with one block size together.

    Parameters
    ----------
    curves, own
        As for `chosen_block_sizes`.
    chosen : sequence of int
        A block size for each, or `OWN`.
    measured : mapping, optional
        Gains that were measured, by the index of the size.
    """
    steps = []
    for b, group in groupby(range(len(chosen)), key=lambda index: chosen[index]):
        sizes = list(group)
        gains = [0.0 if b == OWN else own[i] / curves[i].at(b) - 1 for i in sizes]
        seen = [measured[i] for i in sizes if measured and i in measured and b != OWN]
        first, last = (curves[i].problem["n"] for i in (sizes[0], sizes[-1]))
        steps.append(Step(first, last, b, float(np.mean(gains)), float(np.mean(seen)) if seen else None))
    return steps


def _good(curve: Curve, own: float) -> set[int]:
    """The block sizes within 1 % of the best, LAPACK's own too if it is."""
    bound = (1 + PLATEAU) * min(float(curve.seconds[curve.best]), own)
    return set(curve.b[curve.seconds <= bound].tolist()) | ({OWN} if own <= bound else set())


def _least_lossy(curves: Sequence[Curve], common: set[int]) -> int:
    """LAPACK's own block size if it is among those in common, else that of the least sum of relative times."""
    if OWN in common:
        return OWN
    return min(sorted(common), key=lambda size: sum(curve.loss(size) for curve in curves))
