"""Call sequences as arrays: all calls of a variant for all sizes and block sizes of a sweep."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from blascast.sampler.call import Call, View
from blascast.sampler.kernel import Kernel, flop_factor

from .registry import Variant, find_operation

IntArray: TypeAlias = npt.NDArray[np.int64]
BlockSizes: TypeAlias = npt.ArrayLike | tuple[npt.ArrayLike, npt.ArrayLike]

_LARGE_ENOUGH, _SMALL_ENOUGH = 400, 48  # a size and a block size at which every variant makes all its calls


@dataclass(frozen=True, slots=True, eq=False)
class CallArray:
    """The calls that one statement of an algorithm makes.

    Parameters
    ----------
    call : Call
        The statement, array-valued.
    sizes : integer array of shape (n_entries, n_sizes)
        Without zeros, in the order of `kernel.sizes`.
    owner : integer array of shape (n_entries,)
        The configuration that each entry belongs to.
    times : integer array of shape (n_entries,)
        How many calls each entry stands for.
    flops : array of shape (n_entries,)
        Of one call.
    entries : integer array of shape (n_entries,)
        Which entries of the array-valued call they are: those without a zero size.
    """

    call: Call
    sizes: IntArray
    owner: IntArray
    times: IntArray
    flops: npt.NDArray[np.float64]
    entries: IntArray

    @property
    def kernel(self) -> Kernel:
        """The kernel that is called."""
        return self.call.kernel

    @property
    def case(self) -> str:
        """Its flags and scalar classes."""
        return self.call.case

    @property
    def label(self) -> str:
        """Kernel and case."""
        return self.call.label


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """All calls of a variant, for every configuration.

    Parameters
    ----------
    variant : Variant
    sizes : mapping
        By name, an integer array of shape (n_configurations,).
    b : integer array of shape (n_configurations,)
        Block size: the first one, where there are two.
    calls : tuple of CallArray
    """

    variant: Variant
    sizes: Mapping[str, IntArray]
    b: IntArray
    calls: tuple[CallArray, ...]

    @property
    def n(self) -> IntArray:
        """The size n of each configuration."""
        return self.sizes["n"]


def trace(variant: Variant, sizes: Mapping[str, npt.ArrayLike], b: BlockSizes, dtype: str = "d") -> Sequence:
    """The call sequence of a variant; calls with a zero size are dropped.

    Parameters
    ----------
    sizes : mapping
        By name, integers or integer arrays that broadcast with each other and the block sizes; positive.
    b : integer or integer array, or a pair of them where the variant takes two block sizes
    dtype : str
        Letter of the data type; complex ones have other kernels.

    Examples
    --------
    >>> from blascast.algorithms import find_variant
    >>> sequence = trace(find_variant("cholesky", 3), {"n": 300}, [100, 200])
    >>> [(c.kernel.name, c.sizes.tolist(), c.owner.tolist()) for c in sequence.calls]  # doctest: +NORMALIZE_WHITESPACE
    [('potf2', [[100], [100], [100], [200], [100]], [0, 0, 0, 1, 1]),
     ('trsm', [[200, 100], [100, 100], [100, 200]], [0, 0, 1]),
     ('syrk', [[200, 100], [100, 100], [100, 200]], [0, 0, 1])]
    """
    operation = find_operation(variant.operation)
    pair = b if isinstance(b, tuple) else (b, b)
    asked = [np.asarray(values, dtype=np.int64) for values in (*(sizes[name] for name in operation.sizes), *pair)]
    *named, first, second = (np.ascontiguousarray(values).ravel() for values in np.broadcast_arrays(*asked))
    configurations = dict(zip(operation.sizes, named, strict=True))
    extents: dict[str, Any] = {**configurations, "b": first}
    owner = np.arange(first.size)
    operands = tuple(
        View(operand.name, 0, 0, *operand.shape(extents), 0, owner=owner) for operand in operation.operands
    )
    arrays = [_array(call, dtype) for call in variant.calls(operands, (first, second), dtype)]
    return Sequence(variant, configurations, first, tuple(arrays))


def kernels_of(variant: Variant, dtype: str = "d") -> tuple[Kernel, ...]:
    """The kernels that a variant calls."""
    sizes = dict.fromkeys(find_operation(variant.operation).sizes, _LARGE_ENOUGH)
    sequence = trace(variant, sizes, _SMALL_ENOUGH, dtype)
    return tuple(dict.fromkeys(calls.kernel for calls in sequence.calls if len(calls.sizes)))


def _array(call: Call, dtype: str) -> CallArray:
    owner = call.owner
    assert owner is not None
    sizes = np.stack([np.broadcast_to(call.sizes[name], owner.shape) for name in call.kernel.sizes], axis=1)
    times = np.broadcast_to(call.times, owner.shape)
    some = np.all(sizes > 0, axis=1) & (times > 0)
    flops = np.broadcast_to(np.asarray(flop_factor(dtype) * call.flops, dtype=np.float64), owner.shape)
    return CallArray(call, sizes[some], owner[some], times[some], flops[some], np.flatnonzero(some))
