"""What is asked about: sizes and block sizes."""

import numpy as np
import numpy.typing as npt

from blascast.sampler.errors import UsageError

SMALLEST_B = 16
LARGEST_B = 256
B_STEP = 8
USUAL_B = 64  # what ILAENV of reference LAPACK says for most routines

IntArray = npt.NDArray[np.int64]


def candidate_block_sizes(n: int) -> IntArray:
    """The block sizes among which the best is sought: multiples of 8 from 16 to 256, at most n.

    Examples
    --------
    >>> candidate_block_sizes(40).tolist(), candidate_block_sizes(5).tolist()
    ([16, 24, 32, 40], [5])
    """
    candidates = np.arange(SMALLEST_B, min(n, LARGEST_B) + 1, B_STEP)
    return candidates if len(candidates) else np.array([n])


def check_size(name: str, value: object) -> int:
    """A size as a positive integer.

    Raises
    ------
    UsageError
        If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise UsageError(f"{name} must be a positive integer, got {value!r}")
    if value < 1:
        raise UsageError(f"{name} must be a positive integer, got {value}")
    return int(value)


def check_block_size(b: object, n: int) -> int:
    """A block size as a positive integer, at most n.

    Raises
    ------
    UsageError
        If it is none.
    """
    size = check_size("the block size", b)
    if size > n:
        raise UsageError(f"the block size must be at most n = {n}, got {size}")
    return size


def check_memory(n: int, item_bytes: int, available_bytes: float) -> None:
    """Refuses sizes whose matrix, and the copy to restore it from, would not fit.

    Raises
    ------
    UsageError
        If they would not.
    """
    needed = 2 * item_bytes * int(n) ** 2
    if needed > available_bytes:
        raise UsageError(
            f"n = {n} needs {needed / 1e9:.3g} GB for its operands, {available_bytes / 1e9:.3g} GB of memory are "
            "available; choose a smaller n"
        )
