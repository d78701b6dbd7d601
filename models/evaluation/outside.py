"""Estimates beyond what was sampled."""

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from blascast.sampler.call import flags_of_case
from blascast.sampler.errors import UsageError
from blascast.sampler.kernel import Kernel

from ..summary import FloatArray

# What becomes of calls that no piece contains: refused, estimated at the nearest point of the nearest
# piece, or from there on by the ratio of flops.
Outside = Literal["error", "clamp", "extrapolate"]
_KNOWN = get_args(Outside)

# Relative standard error for every factor of e that sizes lie outside: 14 % for a factor of two. Not
# measured; efficiency changes less than that over most doublings.
OUTSIDE_ERROR = 0.2


class ExtrapolationWarning(UserWarning):
    """Calls were estimated that lie outside their models' domains."""


def check_outside(outside: object) -> None:
    """Refuses what is no `Outside`.

    Raises
    ------
    UsageError
        If it is none.
    """
    if outside not in _KNOWN:
        raise UsageError(f"outside must be one of {', '.join(_KNOWN)}, got {outside!r}")


def distances(sizes: npt.NDArray[np.int64], nearest: npt.NDArray[np.int64]) -> FloatArray:
    """Sums of the absolute log(size / nearest size) of points of shape (n, d): array of shape (n,)."""
    return np.asarray(np.abs(np.log(sizes / nearest)).sum(axis=1))


def work_ratios(kernel: Kernel, case: str, sizes: npt.NDArray[np.int64], nearest: npt.NDArray[np.int64]) -> FloatArray:
    """How many times as many flops a kernel has at some sizes as at others; words, where it has no flops.

    Parameters
    ----------
    kernel : Kernel
    case : str
        As in `Call.case`.
    sizes, nearest : integer arrays of shape (n, d)

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> from blascast.sampler.kernels import find_kernel
    >>> large, small = np.array([[200, 20]]), np.array([[100, 10]])
    >>> work_ratios(find_kernel("trsm"), "LLNN 1", large, small)  # m^2 n flops
    array([8.])
    >>> work_ratios(find_kernel("copy"), "inc 1,1", large[:, :1], small[:, :1])  # 2 n words
    array([2.])
    """
    flags = flags_of_case(kernel, case)

    def counts(points: npt.NDArray[np.int64]) -> FloatArray:
        values = {**flags, **dict(zip(kernel.sizes, points.T.astype(float), strict=True))}
        words = kernel.byte_count(values, kernel.types[0])
        return np.stack([np.broadcast_to(count, len(points)) for count in (kernel.flop_count(values), words)])

    there, here = counts(sizes), counts(nearest)
    counted = (there > 0) & (here > 0)
    flops, words = np.divide(there, here, out=np.ones_like(here), where=counted)
    return np.asarray(np.where(counted[0], flops, words))
