"""What models say of calls, and the sizes that they are asked about."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from blascast.sampler.errors import UsageError

from ..summary import FloatArray

_LARGEST = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """What a model says of calls.

    Parameters
    ----------
    statistics : array of shape (..., 5), seconds
        Ordered: 0 < min <= median <= max, and the mean between min and max.
    errors : array of shape (...)
        Standard error of the median, relative.
    pieces : integer array of shape (...)
        Index of the piece that each was computed by.
    """

    statistics: FloatArray
    errors: FloatArray
    pieces: npt.NDArray[np.int64]


def as_sizes(sizes: npt.ArrayLike, width: int) -> npt.NDArray[np.int64]:
    """Sizes as an array of shape (..., width). Whether they are positive shows when they are looked up.

    Raises
    ------
    UsageError
        If they are no integers, or the last axis is another.

    Examples
    --------
    >>> as_sizes([[8, 16.0]], 2)
    array([[ 8, 16]])
    """
    try:
        array = np.asarray(sizes)
    except ValueError as error:
        raise UsageError(f"sizes must be an array of shape (..., {width}), got lists of several lengths") from error
    if array.shape[-1:] != (width,):
        raise UsageError(f"sizes must be an array of shape (..., {width}), got one of shape {array.shape}")
    return np.ascontiguousarray(array if array.dtype.kind == "i" else _whole(array), dtype=np.int64)


def _whole(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Numbers that are integers, whatever their type."""
    if array.dtype.kind not in "uf":
        raise UsageError(f"sizes must be positive integers, got values of type {array.dtype}")
    good = (array >= 1) & (array <= _LARGEST) & (array == np.floor(array))
    if not good.all():
        raise not_positive(array[~good][0])
    return array


def not_positive(size: object) -> UsageError:
    """The error for a size that is no positive integer."""
    return UsageError(f"sizes must be positive integers, got {size}")
