"""The block sizes that reference LAPACK's ILAENV gives its routines."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .registry import UsualBlockSize


def fixed(b: int) -> UsualBlockSize:
    """One block size for all sizes."""
    return lambda sizes, dtype: b


def of_geqrf(sizes: Mapping[str, Any], dtype: str) -> tuple[int, int]:
    """Block size and crossover (ISPEC 3): so many last columns are left unblocked."""
    return 32, 128


def of_trsyl(sizes: Mapping[str, Any], dtype: str) -> Any:
    """That of trsyl3, which grows with the smaller size, within bounds.

    Examples
    --------
    >>> [int(of_trsyl({"m": n, "n": n}, "d")) for n in (100, 1000, 4000)]
    [48, 160, 240]
    """
    share, low, high = (16, 48, 240) if dtype in "sd" else (8, 24, 80)
    return np.clip(np.minimum(sizes["m"], sizes["n"]) * share // 100, low, high)
