"""Runs a variant for real, on matrices, through the engine."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from blascast.sampler.backend import Backend
from blascast.sampler.call import Call, View, fitting_ld
from blascast.sampler.errors import BlascastError, UsageError
from blascast.sampler.program import Run, buffers_for

from .registry import Operation, Variant, find_operation

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]


def scalar_calls(variant: Variant, sizes: Mapping[str, int], b: Any, dtype: str = "d", label: str = "") -> list[Call]:
    """The calls for operands of given sizes, those with a zero size dropped.

    Parameters
    ----------
    sizes : mapping
        Integers by name.
    b : int, or a pair
        Block size.
    dtype : str
    label : str
        What the operands' names end in, so that those of several calls can be told apart.
    """
    operands = operands_of(find_operation(variant.operation), sizes, b, label)
    return [call for call in variant.calls(operands, b, dtype) if min(call.sizes.values()) > 0]


def operands_of(operation: Operation, sizes: Mapping[str, int], b: Any, label: str = "") -> tuple[View, ...]:
    """Views of the operation's operands."""
    extents = {**sizes, "b": b[0] if isinstance(b, tuple) else b}
    views = []
    for operand in operation.operands:
        rows, columns = map(int, operand.shape(extents))
        shape = f" {rows}x{columns}" if operand.workspace else ""  # which may depend on b, and so on the call
        name = f"{operand.name}{shape}{label}"
        views.append(View(name, 0, 0, rows, columns, fitting_ld(rows), operand.structure, kind=operand.kind))
    return tuple(views)


def execute(backend: Backend, variant: Variant, matrices: Arrays, b: Any) -> dict[str, npt.NDArray[Any]]:
    """The results of a variant on matrices.

    Parameters
    ----------
    backend : Backend
        A real one.
    variant : Variant
    matrices : mapping
        By the names of operands, arrays of shape (rows, columns); they are left as they are. What is left
        out has other contents: workspaces, and vectors of results.
    b : int, or a pair
        Block size.

    Returns
    -------
    dict
        The operands by name, workspaces left out, of the back end's data type.

    Raises
    ------
    UsageError
        If shapes do not fit the operation, or the back end computes nothing.
    KernelFailed
        If a routine fails.
    BlascastError
        If a result is not finite, though the operands are.
    """
    operation = find_operation(variant.operation)
    sizes = _sizes(operation, matrices)
    calls = scalar_calls(variant, sizes, b, backend.setup.dtype)
    views = operands_of(operation, sizes, b)
    backend.allocate(buffers_for(calls, others=views))
    for name, matrix in matrices.items():
        backend.write(name, matrix)
    backend.run([Run(call) for call in calls])
    results = {operand.name: backend.read(operand.name) for operand in operation.operands if not operand.workspace}
    _check_finite(variant, matrices, results)
    return results


def _check_finite(variant: Variant, before: Arrays, after: Arrays) -> None:
    """Refuses infinite results of finite operands: unblocked kernels divide by zeros without a word."""
    if not all(np.isfinite(matrix).all() for matrix in before.values()):
        return
    for name, matrix in after.items():
        if not np.isfinite(matrix).all():
            raise BlascastError(
                f"{variant} has made {name} infinite or not a number: a pivot or diagonal entry is zero, or too large; "
                "check that the operands are not singular"
            )


def _sizes(operation: Operation, matrices: Arrays) -> dict[str, int]:
    """The sizes that shapes tell."""
    given = [operand for operand in operation.operands if operand.name in matrices]
    sizes: dict[str, int] = {}
    for operand in given:
        for text, extent in zip((operand.rows, operand.columns), matrices[operand.name].shape, strict=False):
            if text in operation.sizes:
                sizes.setdefault(text, extent)
    if set(sizes) != set(operation.sizes):
        wanted = ", ".join(operand.name for operand in operation.operands if not operand.workspace)
        raise UsageError(f"{operation.name} needs the operands {wanted}, got {', '.join(matrices) or 'none'}")
    for operand in given:
        shape = matrices[operand.name].shape
        if operand.shape(sizes) != shape or 0 in shape:
            raise UsageError(
                f"{operation.name}: {operand.name} must be {operand.rows} x {operand.columns} and not empty, "
                f"got an array of shape {shape}"
            )
    return sizes
