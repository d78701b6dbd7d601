"""Runs a variant for real, on a matrix, through the engine."""

import numpy as np
import numpy.typing as npt

from blascast.sampler.backend import Backend
from blascast.sampler.call import Call, View
from blascast.sampler.errors import UsageError
from blascast.sampler.program import Run, buffers_for

from .registry import Variant, find_operation


def scalar_calls(variant: Variant, n: int, b: int, ld: int, operand: str = "A") -> list[Call]:
    """The calls for an n x n operand of that name, those with a zero size dropped."""
    structure = find_operation(variant.operation).structure
    calls = variant.calls(View(operand, 0, 0, n, n, ld, structure), b)
    return [call for call in calls if min(call.sizes.values()) > 0]


def execute(backend: Backend, variant: Variant, matrix: npt.NDArray[np.floating], b: int) -> npt.NDArray[np.floating]:
    """The result of a variant on a matrix.

    Parameters
    ----------
    backend : Backend
        A real one.
    variant : Variant
    matrix : array of shape (n, n)
        The operand; left as it is.
    b : int
        Block size.

    Returns
    -------
    array of shape (n, n)
        The overwritten operand, of the back end's data type.

    Raises
    ------
    UsageError
        If the matrix is not square or empty, or the back end computes nothing.
    KernelFailed
        If a routine fails.
    """
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise UsageError(f"{variant.operation} needs a square matrix, got one of shape {matrix.shape}")
    calls = scalar_calls(variant, matrix.shape[0], b, matrix.shape[0])
    backend.allocate(buffers_for(calls))
    backend.write("A", matrix)
    backend.run([Run(call) for call in calls])
    return backend.read("A")
