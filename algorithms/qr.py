"""QR factorization by blocks of Householder reflectors, A := R and the reflectors of Q.

The blocks are applied as LAPACK's dlarfb does it, its transposed copy (row by row, conjugated for complex
types) and subtraction (a loop of its own) included: W is its workspace, T the triangular factor of a
block reflector.
"""

from collections.abc import Iterator

from blascast.sampler.call import Call, Extent, View
from blascast.sampler.kernels import find_kernel

from .ilaenv import of_geqrf
from .kernels import copy, gemm, geqr2, geqrf, lacgv, larfb, larft, subt, trmm
from .partition import beside, columns_of, least, most, partition_along, rows_of, stacked
from .registry import Operand, Operation, define_operation, variant

define_operation(
    Operation(
        "qr",
        formula="A := R and the reflectors of Q with Q R = A",
        flops=find_kernel("geqrf").flops,
        operands=(
            *(Operand("A", "m", "n"), Operand("tau", "min(m, n)", "1")),
            *(Operand("T", "b", "b", workspace=True), Operand("W", "n", "b", workspace=True)),
        ),
    )
)


@variant("qr", 1, "blocked to the end")
def blocked(A: View, tau: View, T: View, W: View, b: Extent) -> Iterator[Call]:
    """All columns in blocks."""
    return _blocks(A, tau, T, W, b)


@variant("qr", 2, "with dlarfb as one kernel")
def by_larfb(A: View, tau: View, T: View, W: View, b: Extent) -> Iterator[Call]:
    """1, the application of a block taken as one call."""
    for (_, _, _, _, A11, A12, _, A21, A22), (_, t1, _) in partition_along(A, tau, b):
        panel, rest, size = stacked(A11, A21), stacked(A12, A22), A11.columns
        factor = beside(T, A11).part(0, 0, size, size)
        yield geqr2(panel, t1)
        yield larft("F", "C", panel, t1, factor)
        yield larfb("L", "T", "F", "C", panel, factor, rest)


@variant("qr", "lapack", "LAPACK's dgeqrf", block_sizes=2, usual=of_geqrf)
def lapack(A: View, tau: View, T: View, W: View, b: Extent, crossover: Extent) -> Iterator[Call]:
    """1, but for so many last columns, which are not blocked; nor is any if there are no more, or at most b."""
    extent = least(A.rows, A.columns)
    steps = -(-most(extent - crossover, 0) // b) * (extent > b)
    yield from _blocks(A, tau, T, W, b, steps)
    done = least(steps * b, extent)
    yield geqr2(
        A.part(done, done, A.rows - done, A.columns - done),
        tau.part(done, 0, extent - done, 1),
    )


@variant("qr", "library", "the library's geqrf", block_sizes=0)
def library(A: View, tau: View, T: View, W: View) -> Iterator[Call]:
    """One call."""
    yield geqrf(A, tau)


def _blocks(A: View, tau: View, T: View, W: View, b: Extent, steps: Extent | None = None) -> Iterator[Call]:
    """Factorizes blocks of columns, and applies each to the columns after it."""
    for (_, _, _, _, A11, A12, _, A21, A22), (_, t1, _) in partition_along(A, tau, b, steps):
        panel, size = stacked(A11, A21), A11.columns
        factor = beside(T, A11).part(0, 0, size, size)
        w = beside(W, A11).part(0, 0, A12.columns, size)
        yield geqr2(panel, t1)  # [A11; A21] := QR([A11; A21])
        yield larft("F", "C", panel, t1, factor)
        for row, column in zip(rows_of(A12), columns_of(w), strict=True):
            yield copy(row, column)  # W := A12^T
            yield lacgv(column)
        yield trmm("R", "L", "N", "U", 1, A11, w)  # W := W V1
        yield gemm("T", "N", 1, A22, A21, 1, w)  # W := W + A22^T V2
        yield trmm("R", "U", "N", "N", 1, factor, w)  # W := W T
        yield gemm("N", "T", -1, A21, w, 1, A22)  # A22 := A22 - V2 W^T
        yield trmm("R", "L", "T", "U", 1, A11, w)  # W := W V1^T
        yield subt(A12, w)  # A12 := A12 - W^T
