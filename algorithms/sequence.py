"""Call sequences as arrays: all calls of a variant for all sizes and block sizes of a sweep."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from blascast.sampler.call import Call, View
from blascast.sampler.kernel import Kernel

from .registry import Variant

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CallArray:
    """The calls that one statement of an algorithm makes.

    Parameters
    ----------
    call : Call
        The statement, array-valued.
    sizes : integer array of shape (n_calls, n_sizes)
        Without zeros, in the order of `kernel.sizes`.
    owner : integer array of shape (n_calls,)
        The configuration that each call belongs to.
    flops : array of shape (n_calls,)
    """

    call: Call
    sizes: IntArray
    owner: IntArray
    flops: npt.NDArray[np.float64]

    @property
    def kernel(self) -> Kernel:
        """The kernel that is called."""
        return self.call.kernel

    @property
    def case(self) -> str:
        """Its flags and scalar classes."""
        return self.call.case


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """All calls of a variant, for every configuration (n, b)."""

    variant: Variant
    n: IntArray
    b: IntArray
    calls: tuple[CallArray, ...]


def trace(variant: Variant, n: npt.ArrayLike, b: npt.ArrayLike) -> Sequence:
    """The call sequence of a variant; calls with a zero size are dropped.

    Parameters
    ----------
    n, b : integers or integer arrays that broadcast
        Matrix sizes and block sizes, positive.

    Examples
    --------
    >>> from blascast.algorithms import find_variant
    >>> sequence = trace(find_variant("cholesky", 3), 300, [100, 200])
    >>> [(c.kernel.name, c.sizes.tolist(), c.owner.tolist()) for c in sequence.calls]  # doctest: +NORMALIZE_WHITESPACE
    [('potf2', [[100], [100], [100], [200], [100]], [0, 0, 0, 1, 1]),
     ('trsm', [[200, 100], [100, 100], [100, 200]], [0, 0, 1]),
     ('syrk', [[200, 100], [100, 100], [100, 200]], [0, 0, 1])]
    """
    n, b = (
        np.ascontiguousarray(a).ravel()
        for a in np.broadcast_arrays(np.asarray(n, dtype=np.int64), np.asarray(b, dtype=np.int64))
    )
    everything = View("A", 0, 0, n, n, 0, owner=np.arange(n.size))
    arrays = []
    for call in variant.calls(everything, b):
        assert call.owner is not None
        sizes = np.stack([call.sizes[name] for name in call.kernel.sizes], axis=1)
        some = np.all(sizes > 0, axis=1)
        flops = np.asarray(call.flops, dtype=np.float64)[some]
        arrays.append(CallArray(call, sizes[some], call.owner[some], flops))
    return Sequence(variant, n, b, tuple(arrays))
