"""Reduction of generalized symmetric eigenproblems: the two-sided solve A := L^-1 A L^-T and product A := L^T A L.

A is symmetric, its lower triangle is stored; L is that of a Cholesky factorization. The numbers are
libflame's (the product has no 3 there); Y is a workspace. LAPACK's dsygst multiplies by symm twice, at
half the weight, instead of once into a workspace that is then added twice.
"""

from collections.abc import Iterator

from blascast.sampler.call import Call, Extent, View

from .ilaenv import fixed
from .kernels import axpy, gemm, sygs2, sygst, symm, syr2k, trmm, trsm
from .partition import columns_of, partitions
from .registry import Operand, Operation, define_operation, variant
from .upper import define_upper

_OPERANDS = (Operand("A", "n", "n", "positive definite"), Operand("B", "n", "n", "triangular"))
_FLOPS = "n ** 3 + 2 * n ** 2"
define_operation(
    Operation(
        "sygst",
        formula="A := L^-1 A L^-T",
        flops=_FLOPS,
        operands=(*_OPERANDS, Operand("Y", "n", "n", workspace=True)),
    )
)
define_operation(
    Operation(
        "sygst-product",
        formula="A := L^T A L",
        flops=_FLOPS,
        operands=(*_OPERANDS, Operand("Y", "n", "n", workspace=True)),
    )
)


def add(alpha: float, X: View, Y: View) -> Iterator[Call]:
    """Y := Y + alpha X, column by column."""
    for x, y in zip(columns_of(X), columns_of(Y), strict=True):
        yield axpy(alpha, x, y)


@variant("sygst", 1, "by symm and trsm above left")
def solve_above(A: View, B: View, Y: View, b: Extent) -> Iterator[Call]:
    """Computes a row of blocks from the product with all above it."""
    for (A00, _, _, A10, A11, *_), (B00, _, _, B10, B11, *_), (_, _, _, Y10, *_) in partitions(b, A, B, Y):
        yield symm("R", "L", 1, A00, B10, 0, Y10)  # Y10 := L10 A00
        yield trsm("R", "L", "T", "N", 1, B00, A10)  # A10 := A10 L00^-T
        yield from add(-0.5, Y10, A10)  # A10 := A10 - 1/2 Y10
        yield syr2k("L", "N", -1, A10, B10, 1, A11)  # A11 := A11 - (A10 L10^T + L10 A10^T)
        yield sygs2(1, "L", A11, B11)  # A11 := L11^-1 A11 L11^-T
        yield from add(-0.5, Y10, A10)  # A10 := A10 - 1/2 Y10
        yield trsm("L", "L", "N", "N", 1, B11, A10)  # A10 := L11^-1 A10


@variant("sygst", 2, "by symm above left, gemm below left")
def solve_by_rows(A: View, B: View, Y: View, b: Extent) -> Iterator[Call]:
    """Computes a row of blocks from all above it, and updates the column below."""
    for (A00, _, _, A10, A11, _, A20, A21, _), (_, _, _, B10, B11, *_), (_, _, _, Y10, *_) in partitions(b, A, B, Y):
        yield symm("R", "L", 0.5, A00, B10, 0, Y10)  # Y10 := 1/2 L10 A00
        yield from add(-1, Y10, A10)  # A10 := A10 - Y10
        yield syr2k("L", "N", -1, A10, B10, 1, A11)  # A11 := A11 - (A10 L10^T + L10 A10^T)
        yield sygs2(1, "L", A11, B11)  # A11 := L11^-1 A11 L11^-T
        yield gemm("N", "T", -1, A20, B10, 1, A21)  # A21 := A21 - A20 L10^T
        yield trsm("R", "L", "T", "N", 1, B11, A21)  # A21 := A21 L11^-T
        yield from add(-1, Y10, A10)  # A10 := A10 - Y10
        yield trsm("L", "L", "N", "N", 1, B11, A10)  # A10 := L11^-1 A10


@variant("sygst", 3, "by gemm into a workspace")
def solve_by_gemm(A: View, B: View, Y: View, b: Extent) -> Iterator[Call]:
    """Accumulates the products that later steps need in the workspace."""
    for (
        (_, _, _, A10, A11, _, A20, A21, _),
        (_, _, _, B10, B11, _, B20, B21, _),
        (_, _, _, Y10, _, _, Y20, Y21, _),
    ) in partitions(b, A, B, Y):
        yield from add(-0.5, Y10, A10)  # A10 := A10 - 1/2 Y10
        yield syr2k("L", "N", -1, A10, B10, 1, A11)  # A11 := A11 - (A10 L10^T + L10 A10^T)
        yield sygs2(1, "L", A11, B11)  # A11 := L11^-1 A11 L11^-T
        yield gemm("N", "T", -1, A20, B10, 1, A21)  # A21 := A21 - A20 L10^T
        yield trsm("R", "L", "T", "N", 1, B11, A21)  # A21 := A21 L11^-T
        yield from add(-0.5, Y10, A10)  # A10 := A10 - 1/2 Y10
        yield trsm("L", "L", "N", "N", 1, B11, A10)  # A10 := L11^-1 A10
        yield gemm("N", "N", 1, B21, A10, 1, Y20)  # Y20 := Y20 + L21 A10
        yield symm("R", "L", 1, A11, B21, 0, Y21)  # Y21 := L21 A11
        yield gemm("N", "T", 1, B20, A10, 1, Y21)  # Y21 := Y21 + L20 A10^T


@variant("sygst", 4, "by syr2k below right, gemm below left")
def solve_ahead(A: View, B: View, Y: View, b: Extent) -> Iterator[Call]:
    """Computes a column of blocks and updates all after it."""
    for (
        (_, _, _, A10, A11, _, A20, A21, A22),
        (_, _, _, _, B11, _, _, B21, _),
        (_, _, _, _, _, _, _, Y21, _),
    ) in partitions(b, A, B, Y):
        yield trsm("L", "L", "N", "N", 1, B11, A10)  # A10 := L11^-1 A10
        yield gemm("N", "N", -1, B21, A10, 1, A20)  # A20 := A20 - L21 A10
        yield sygs2(1, "L", A11, B11)  # A11 := L11^-1 A11 L11^-T
        yield symm("R", "L", 1, A11, B21, 0, Y21)  # Y21 := L21 A11
        yield trsm("R", "L", "T", "N", 1, B11, A21)  # A21 := A21 L11^-T
        yield from add(-0.5, Y21, A21)  # A21 := A21 - 1/2 Y21
        yield syr2k("L", "N", -1, A21, B21, 1, A22)  # A22 := A22 - (A21 L21^T + L21 A21^T)
        yield from add(-0.5, Y21, A21)  # A21 := A21 - 1/2 Y21


@variant("sygst", 5, "by syr2k and trsm below right")
def solve_below(A: View, B: View, Y: View, b: Extent) -> Iterator[Call]:
    """Computes a column of blocks from all below it."""
    for (
        (_, _, _, _, A11, _, _, A21, A22),
        (_, _, _, _, B11, _, _, B21, B22),
        (_, _, _, _, _, _, _, Y21, _),
    ) in partitions(b, A, B, Y):
        yield sygs2(1, "L", A11, B11)  # A11 := L11^-1 A11 L11^-T
        yield symm("R", "L", 1, A11, B21, 0, Y21)  # Y21 := L21 A11
        yield trsm("R", "L", "T", "N", 1, B11, A21)  # A21 := A21 L11^-T
        yield from add(-0.5, Y21, A21)  # A21 := A21 - 1/2 Y21
        yield syr2k("L", "N", -1, A21, B21, 1, A22)  # A22 := A22 - (A21 L21^T + L21 A21^T)
        yield from add(-0.5, Y21, A21)  # A21 := A21 - 1/2 Y21
        yield trsm("L", "L", "N", "N", 1, B22, A21)  # A21 := L22^-1 A21


@variant("sygst", "lapack", "LAPACK's dsygst", usual=fixed(64))
def solve_lapack(A: View, B: View, Y: View, b: Extent) -> Iterator[Call]:
    """5, with symm twice at half weight instead of the workspace."""
    for (_, _, _, _, A11, _, _, A21, A22), (_, _, _, _, B11, _, _, B21, B22) in partitions(b, A, B):
        yield sygs2(1, "L", A11, B11)  # A11 := L11^-1 A11 L11^-T
        yield trsm("R", "L", "T", "N", 1, B11, A21)  # A21 := A21 L11^-T
        yield symm("R", "L", -0.5, A11, B21, 1, A21)  # A21 := A21 - 1/2 L21 A11
        yield syr2k("L", "N", -1, A21, B21, 1, A22)  # A22 := A22 - (A21 L21^T + L21 A21^T)
        yield symm("R", "L", -0.5, A11, B21, 1, A21)  # A21 := A21 - 1/2 L21 A11
        yield trsm("L", "L", "N", "N", 1, B22, A21)  # A21 := L22^-1 A21


@variant("sygst-product", 1, "by symm and trmm below right")
def multiply_below(A: View, B: View, Y: View, b: Extent) -> Iterator[Call]:
    """Computes a column of blocks from the product with all below it."""
    for (
        (_, _, _, _, A11, _, _, A21, A22),
        (_, _, _, _, B11, _, _, B21, B22),
        (_, _, _, _, _, _, _, Y21, _),
    ) in partitions(b, A, B, Y):
        yield symm("L", "L", 1, A22, B21, 0, Y21)  # Y21 := A22 L21
        yield trmm("R", "L", "N", "N", 1, B11, A21)  # A21 := A21 L11
        yield from add(0.5, Y21, A21)  # A21 := A21 + 1/2 Y21
        yield sygs2(2, "L", A11, B11)  # A11 := L11^T A11 L11
        yield syr2k("L", "T", 1, A21, B21, 1, A11)  # A11 := A11 + (A21^T L21 + L21^T A21)
        yield from add(0.5, Y21, A21)  # A21 := A21 + 1/2 Y21
        yield trmm("L", "L", "T", "N", 1, B22, A21)  # A21 := L22^T A21


@variant("sygst-product", 2, "by symm below right, gemm below left")
def multiply_by_rows(A: View, B: View, Y: View, b: Extent) -> Iterator[Call]:
    """Computes a row of blocks from all below it, and its column."""
    for (
        (_, _, _, A10, A11, _, A20, A21, A22),
        (_, _, _, _, B11, _, _, B21, _),
        (_, _, _, _, _, _, _, Y21, _),
    ) in partitions(b, A, B, Y):
        yield trmm("L", "L", "T", "N", 1, B11, A10)  # A10 := L11^T A10
        yield gemm("T", "N", 1, B21, A20, 1, A10)  # A10 := A10 + L21^T A20
        yield symm("L", "L", 1, A22, B21, 0, Y21)  # Y21 := A22 L21
        yield trmm("R", "L", "N", "N", 1, B11, A21)  # A21 := A21 L11
        yield from add(0.5, Y21, A21)  # A21 := A21 + 1/2 Y21
        yield sygs2(2, "L", A11, B11)  # A11 := L11^T A11 L11
        yield syr2k("L", "T", 1, A21, B21, 1, A11)  # A11 := A11 + (A21^T L21 + L21^T A21)
        yield from add(0.5, Y21, A21)  # A21 := A21 + 1/2 Y21


@variant("sygst-product", 4, "by syr2k above left, gemm below left")
def multiply_behind(A: View, B: View, Y: View, b: Extent) -> Iterator[Call]:
    """Computes a row of blocks and updates all before it."""
    for (A00, _, _, A10, A11, _, A20, A21, _), (_, _, _, B10, B11, *_), (_, _, _, Y10, *_) in partitions(b, A, B, Y):
        yield symm("L", "L", 1, A11, B10, 0, Y10)  # Y10 := A11 L10
        yield from add(0.5, Y10, A10)  # A10 := A10 + 1/2 Y10
        yield syr2k("L", "T", 1, A10, B10, 1, A00)  # A00 := A00 + (A10^T L10 + L10^T A10)
        yield from add(0.5, Y10, A10)  # A10 := A10 + 1/2 Y10
        yield trmm("L", "L", "T", "N", 1, B11, A10)  # A10 := L11^T A10
        yield sygs2(2, "L", A11, B11)  # A11 := L11^T A11 L11
        yield gemm("N", "N", 1, A21, B10, 1, A20)  # A20 := A20 + A21 L10
        yield trmm("R", "L", "N", "N", 1, B11, A21)  # A21 := A21 L11


@variant("sygst-product", 5, "by syr2k and trmm above left")
def multiply_above(A: View, B: View, Y: View, b: Extent) -> Iterator[Call]:
    """Computes a row of blocks from all above it."""
    for (A00, _, _, A10, A11, *_), (B00, _, _, B10, B11, *_), (_, _, _, Y10, *_) in partitions(b, A, B, Y):
        yield symm("L", "L", 1, A11, B10, 0, Y10)  # Y10 := A11 L10
        yield trmm("R", "L", "N", "N", 1, B00, A10)  # A10 := A10 L00
        yield from add(0.5, Y10, A10)  # A10 := A10 + 1/2 Y10
        yield syr2k("L", "T", 1, A10, B10, 1, A00)  # A00 := A00 + (A10^T L10 + L10^T A10)
        yield from add(0.5, Y10, A10)  # A10 := A10 + 1/2 Y10
        yield trmm("L", "L", "T", "N", 1, B11, A10)  # A10 := L11^T A10
        yield sygs2(2, "L", A11, B11)  # A11 := L11^T A11 L11


@variant("sygst-product", "lapack", "LAPACK's dsygst", usual=fixed(64))
def multiply_lapack(A: View, B: View, Y: View, b: Extent) -> Iterator[Call]:
    """5, with symm twice at half weight instead of the workspace."""
    for (A00, _, _, A10, A11, *_), (B00, _, _, B10, B11, *_) in partitions(b, A, B):
        yield trmm("R", "L", "N", "N", 1, B00, A10)  # A10 := A10 L00
        yield symm("L", "L", 0.5, A11, B10, 1, A10)  # A10 := A10 + 1/2 A11 L10
        yield syr2k("L", "T", 1, A10, B10, 1, A00)  # A00 := A00 + (A10^T L10 + L10^T A10)
        yield symm("L", "L", 0.5, A11, B10, 1, A10)  # A10 := A10 + 1/2 A11 L10
        yield trmm("L", "L", "T", "N", 1, B11, A10)  # A10 := L11^T A10
        yield sygs2(2, "L", A11, B11)  # A11 := L11^T A11 L11


@variant("sygst", "library", "the library's sygst", block_sizes=0)
def solve_by_library(A: View, B: View, Y: View) -> Iterator[Call]:
    """One call."""
    yield sygst(1, "L", A, B)


@variant("sygst-product", "library", "the library's sygst", block_sizes=0)
def multiply_by_library(A: View, B: View, Y: View) -> Iterator[Call]:
    """One call."""
    yield sygst(2, "L", A, B)


define_upper("sygst", "A := U^-T A U^-1")
define_upper("sygst-product", "A := U A U^T")
