"""Tables of block sizes: as few steps as the plateaus around the best allow."""

from collections.abc import Sequence
from dataclasses import dataclass

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
    """

    first: int
    last: int
    b: int
    gain: float


def steps_of(curves: Sequence[Curve], own: Sequence[float]) -> list[Step]:
    """Block sizes that are within 1 % of the best at every size, LAPACK's own where that is.

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
    >>> [(step.first, step.last, step.b) for step in steps_of(curves, [1.1, 1.0, 1.1])]
    [(100, 200, 32), (300, 300, 96)]
    """
    steps: list[Step] = []
    begin = 0
    common = _good(curves[0], own[0])
    for end in range(1, len(curves) + 1):
        shared = common & _good(curves[end], own[end]) if end < len(curves) else set()
        if not shared:
            steps.append(_step(curves[begin:end], own[begin:end], common))
            begin, shared = end, _good(curves[end], own[end]) if end < len(curves) else set()
        common = shared
    return steps


def _good(curve: Curve, own: float) -> set[int]:
    """The block sizes within 1 % of the best, LAPACK's own too if it is."""
    bound = (1 + PLATEAU) * min(float(curve.seconds[curve.best]), own)
    return set(curve.b[curve.seconds <= bound].tolist()) | ({OWN} if own <= bound else set())


def _step(curves: Sequence[Curve], own: Sequence[float], common: set[int]) -> Step:
    """LAPACK's own block size if it is among those in common, else that of the least sum of relative times."""
    first, last = curves[0].problem["n"], curves[-1].problem["n"]
    if OWN in common:
        return Step(first, last, OWN, 0.0)
    b = min(sorted(common), key=lambda size: sum(curve.loss(size) for curve in curves))
    gains = [seconds / curve.at(b) - 1 for curve, seconds in zip(curves, own, strict=True)]
    return Step(first, last, b, float(np.mean(gains)))
