"""LU factorization, without pivoting (A = L U) and with partial pivoting (P A = L U).

A panel's pivots are relative to its first row, until a shift makes them those of the matrix (a loop of
LAPACK's own, no call). The recursive one is ReLAPACK's.
"""

from collections.abc import Callable, Iterator

from blascast.sampler.call import Call, Extent, View
from blascast.sampler.kernels import find_kernel

from .ilaenv import fixed
from .kernels import gemm, getf2, getf2np, getrf, getrf2, laswp, shift, trsm
from .partition import least, partition, partition_along, stacked
from .recursion import Again, again, halves, recursion
from .registry import Operand, Operation, define_operation, variant

define_operation(
    Operation(
        "lu-nopiv",
        formula="A := L and U with L U = A",
        flops="n * (n - 1) * (4 * n + 1) / 6",
        operands=(Operand("A", "n", "n", "positive definite"),),
    )
)
define_operation(
    Operation(
        "lu",
        formula="A := L and U with L U = P A",
        flops=find_kernel("getrf").flops,
        operands=(Operand("A", "m", "n"), Operand("ipiv", "min(m, n)", "1", "pivots", "integer")),
    )
)


@variant("lu-nopiv", 1, "bordered")
def bordered(A: View, b: Extent) -> Iterator[Call]:
    """Computes a row and a column of blocks from all above left of them."""
    for A00, A01, _, A10, A11, *_ in partition(A, b):
        yield trsm("L", "L", "N", "U", 1, A00, A01)  # A01 := L00^-1 A01
        yield trsm("R", "U", "N", "N", 1, A00, A10)  # A10 := A10 U00^-1
        yield gemm("N", "N", -1, A10, A01, 1, A11)  # A11 := A11 - A10 A01
        yield getf2np(A11)  # A11 := LU(A11)


@variant("lu-nopiv", 2, "rows, lazy")
def lazy_rows(A: View, b: Extent) -> Iterator[Call]:
    """Computes a row of blocks from all above it."""
    for A00, A01, A02, A10, A11, A12, *_ in partition(A, b):
        yield trsm("R", "U", "N", "N", 1, A00, A10)  # A10 := A10 U00^-1
        yield gemm("N", "N", -1, A10, A01, 1, A11)  # A11 := A11 - A10 A01
        yield getf2np(A11)  # A11 := LU(A11)
        yield gemm("N", "N", -1, A10, A02, 1, A12)  # A12 := A12 - A10 A02
        yield trsm("L", "L", "N", "U", 1, A11, A12)  # A12 := L11^-1 A12


@variant("lu-nopiv", 3, "left-looking")
def left_looking(A: View, b: Extent) -> Iterator[Call]:
    """Computes a column of blocks from all left of it."""
    for A00, A01, _, A10, A11, _, A20, A21, _ in partition(A, b):
        yield trsm("L", "L", "N", "U", 1, A00, A01)  # A01 := L00^-1 A01
        yield gemm("N", "N", -1, A10, A01, 1, A11)  # A11 := A11 - A10 A01
        yield getf2np(A11)  # A11 := LU(A11)
        yield gemm("N", "N", -1, A20, A01, 1, A21)  # A21 := A21 - A20 A01
        yield trsm("R", "U", "N", "N", 1, A11, A21)  # A21 := A21 U11^-1


@variant("lu-nopiv", 4, "Crout")
def crout(A: View, b: Extent) -> Iterator[Call]:
    """Computes a row and a column of blocks from all before them."""
    for _, A01, A02, A10, A11, A12, A20, A21, _ in partition(A, b):
        yield gemm("N", "N", -1, A10, A01, 1, A11)  # A11 := A11 - A10 A01
        yield getf2np(A11)  # A11 := LU(A11)
        yield gemm("N", "N", -1, A10, A02, 1, A12)  # A12 := A12 - A10 A02
        yield trsm("L", "L", "N", "U", 1, A11, A12)  # A12 := L11^-1 A12
        yield gemm("N", "N", -1, A20, A01, 1, A21)  # A21 := A21 - A20 A01
        yield trsm("R", "U", "N", "N", 1, A11, A21)  # A21 := A21 U11^-1


@variant("lu-nopiv", 5, "right-looking")
def right_looking(A: View, b: Extent) -> Iterator[Call]:
    """Computes a row and a column of blocks and updates all after them."""
    for _, _, _, _, A11, A12, _, A21, A22 in partition(A, b):
        yield getf2np(A11)  # A11 := LU(A11)
        yield trsm("L", "L", "N", "U", 1, A11, A12)  # A12 := L11^-1 A12
        yield trsm("R", "U", "N", "N", 1, A11, A21)  # A21 := A21 U11^-1
        yield gemm("N", "N", -1, A21, A12, 1, A22)  # A22 := A22 - A21 A12


@variant("lu", 3, "left-looking")
def left_looking_pivoted(A: View, ipiv: View, b: Extent) -> Iterator[Call]:
    """Computes a column of blocks from all left of it; columns beyond the last row at the end."""
    for (A00, A01, _, A10, A11, _, A20, A21, _), (p0, p1, _) in partition_along(A, ipiv, b):
        yield laswp(stacked(A01, stacked(A11, A21)), p0, 1)  # [A01; A11; A21] := P0 [A01; A11; A21]
        yield trsm("L", "L", "N", "U", 1, A00, A01)  # A01 := L00^-1 A01
        yield gemm("N", "N", -1, A10, A01, 1, A11)  # A11 := A11 - A10 A01
        yield gemm("N", "N", -1, A20, A01, 1, A21)  # A21 := A21 - A20 A01
        yield getf2(stacked(A11, A21), p1)  # [A11; A21] := LU([A11; A21])
        yield laswp(stacked(A10, A20), p1, 1)  # [A10; A20] := P1 [A10; A20]
        yield shift(p0.rows, p1)
    order = least(A.rows, A.columns)
    L, right = A.part(0, 0, order, order), A.part(0, order, order, A.columns - order)
    yield laswp(right, ipiv, 1)
    yield trsm("L", "L", "N", "U", 1, L, right)


@variant("lu", 4, "Crout")
def crout_pivoted(A: View, ipiv: View, b: Extent) -> Iterator[Call]:
    """Computes a row and a column of blocks from all before them."""
    for (_, A01, A02, A10, A11, A12, A20, A21, A22), (p0, p1, _) in partition_along(A, ipiv, b):
        yield gemm("N", "N", -1, A10, A01, 1, A11)  # A11 := A11 - A10 A01
        yield gemm("N", "N", -1, A20, A01, 1, A21)  # A21 := A21 - A20 A01
        yield getf2(stacked(A11, A21), p1)  # [A11; A21] := LU([A11; A21])
        yield laswp(stacked(A10, A20), p1, 1)  # [A10; A20] := P1 [A10; A20]
        yield laswp(stacked(A12, A22), p1, 1)  # [A12; A22] := P1 [A12; A22]
        yield shift(p0.rows, p1)
        yield gemm("N", "N", -1, A10, A02, 1, A12)  # A12 := A12 - A10 A02
        yield trsm("L", "L", "N", "U", 1, A11, A12)  # A12 := L11^-1 A12


@variant("lu", 5, "right-looking")
def right_looking_pivoted(A: View, ipiv: View, b: Extent) -> Iterator[Call]:
    """Computes a row and a column of blocks and updates all after them."""
    return _right_looking(A, ipiv, b, getf2)


@variant("lu", "lapack", "LAPACK's dgetrf", usual=fixed(64))
def lapack(A: View, ipiv: View, b: Extent) -> Iterator[Call]:
    """5, with the recursive dgetrf2 on the panels (since LAPACK 3.6)."""
    return _right_looking(A, ipiv, b, getrf2)


@variant("lu", "recursive", "recursive, getf2 up to b")
def recursive(A: View, ipiv: View, b: Extent) -> Iterator[Call]:
    """Halves the columns until at most b are left."""

    def step(A: View, ipiv: View) -> Iterator[Call | Again]:
        first, second = halves(least(A.rows, A.columns))
        left, rest = A.part(0, 0, A.rows, first), A.columns - first
        A11, A12 = A.part(0, 0, first, first), A.part(0, first, first, rest)
        A21, A22 = A.part(first, 0, A.rows - first, first), A.part(first, first, A.rows - first, rest)
        p1, p2 = ipiv.part(0, 0, first, 1), ipiv.part(first, 0, second, 1)
        yield again(left, p1)
        yield laswp(stacked(A12, A22), p1, 1)  # [A12; A22] := P1 [A12; A22]
        yield trsm("L", "L", "N", "U", 1, A11, A12)  # A12 := L11^-1 A12
        yield gemm("N", "N", -1, A21, A12, 1, A22)  # A22 := A22 - A21 A12
        yield again(A22, p2)
        yield laswp(A21, p2, 1)  # A21 := P2 A21
        yield shift(first, p2)

    return recursion((A, ipiv), b, getf2, step)


@variant("lu", "library", "the library's getrf", block_sizes=0)
def library(A: View, ipiv: View) -> Iterator[Call]:
    """One call."""
    yield getrf(A, ipiv)


def _right_looking(A: View, ipiv: View, b: Extent, factorize: Callable[[View, View], Call]) -> Iterator[Call]:
    """Factorizes panels by one call each."""
    for (_, _, _, A10, A11, A12, A20, A21, A22), (p0, p1, _) in partition_along(A, ipiv, b):
        yield factorize(stacked(A11, A21), p1)  # [A11; A21] := LU([A11; A21])
        yield laswp(stacked(A10, A20), p1, 1)  # [A10; A20] := P1 [A10; A20]
        yield laswp(stacked(A12, A22), p1, 1)  # [A12; A22] := P1 [A12; A22]
        yield shift(p0.rows, p1)
        yield trsm("L", "L", "N", "U", 1, A11, A12)  # A12 := L11^-1 A12
        yield gemm("N", "N", -1, A21, A12, 1, A22)  # A22 := A22 - A21 A12
