"""Inversion of a lower triangular matrix, A := A^-1.

1 to 4 go from the top left to the bottom right, 5 to 8 are their mirrors. 5 is LAPACK's dtrtri but
for the order of blocks (the short block comes last here, first there). 4 and 8 take three times the flops.
"""

from collections.abc import Iterator

from blascast.sampler.call import Call, Extent, View

from .kernels import gemm, trmm, trsm, trti2
from .partition import partition
from .registry import Operation, define_operation, variant

define_operation(
    Operation(
        "trinv",
        formula="A := A^-1, A lower triangular",
        flops="n * (n + 1) * (2 * n + 1) / 6",
        structure="triangular",
    )
)


@variant("trinv", 1, "rows, by the inverse above")
def rows_by_inverse(A: View, b: Extent) -> Iterator[Call]:
    """Computes a row of blocks from the inverse above it."""
    for A00, _, _, A10, A11, *_ in partition(A, b):
        yield trmm("R", "L", "N", "N", 1, A00, A10)  # A10 := A10 A00
        yield trsm("L", "L", "N", "N", -1, A11, A10)  # A10 := -A11^-1 A10
        yield trti2("L", "N", A11)  # A11 := A11^-1


@variant("trinv", 2, "columns, by the input below")
def columns_by_input(A: View, b: Extent) -> Iterator[Call]:
    """Computes a column of blocks from the input below it."""
    for _, _, _, _, A11, _, _, A21, A22 in partition(A, b):
        yield trsm("L", "L", "N", "N", 1, A22, A21)  # A21 := A22^-1 A21
        yield trsm("R", "L", "N", "N", -1, A11, A21)  # A21 := -A21 A11^-1
        yield trti2("L", "N", A11)  # A11 := A11^-1


@variant("trinv", 3, "updates below left, by gemm")
def updates_below_left(A: View, b: Extent) -> Iterator[Call]:
    """Updates the block below left with every step."""
    for _, _, _, A10, A11, _, A20, A21, _ in partition(A, b):
        yield trsm("R", "L", "N", "N", -1, A11, A21)  # A21 := -A21 A11^-1
        yield gemm("N", "N", 1, A21, A10, 1, A20)  # A20 := A20 + A21 A10
        yield trsm("L", "L", "N", "N", 1, A11, A10)  # A10 := A11^-1 A10
        yield trti2("L", "N", A11)  # A11 := A11^-1


@variant("trinv", 4, "three times the flops")
def threefold(A: View, b: Extent) -> Iterator[Call]:
    """Solves with the input below and multiplies with the inverse above."""
    for A00, _, _, A10, A11, _, A20, A21, A22 in partition(A, b):
        yield trsm("L", "L", "N", "N", -1, A22, A21)  # A21 := -A22^-1 A21
        yield gemm("N", "N", -1, A21, A10, 1, A20)  # A20 := A20 - A21 A10
        yield trmm("R", "L", "N", "N", 1, A00, A10)  # A10 := A10 A00
        yield trti2("L", "N", A11)  # A11 := A11^-1


@variant("trinv", 5, "columns, by the inverse below (LAPACK)")
def columns_by_inverse(A: View, b: Extent) -> Iterator[Call]:
    """The mirror of 1."""
    for _, _, _, _, A11, _, _, A21, A22 in partition(A, b, "BR-TL"):
        yield trmm("L", "L", "N", "N", 1, A22, A21)  # A21 := A22 A21
        yield trsm("R", "L", "N", "N", -1, A11, A21)  # A21 := -A21 A11^-1
        yield trti2("L", "N", A11)  # A11 := A11^-1


@variant("trinv", 6, "rows, by the input above")
def rows_by_input(A: View, b: Extent) -> Iterator[Call]:
    """The mirror of 2."""
    for A00, _, _, A10, A11, *_ in partition(A, b, "BR-TL"):
        yield trsm("R", "L", "N", "N", 1, A00, A10)  # A10 := A10 A00^-1
        yield trsm("L", "L", "N", "N", -1, A11, A10)  # A10 := -A11^-1 A10
        yield trti2("L", "N", A11)  # A11 := A11^-1


@variant("trinv", 7, "updates below left, by gemm, upwards")
def updates_below_left_upwards(A: View, b: Extent) -> Iterator[Call]:
    """The mirror of 3."""
    for _, _, _, A10, A11, _, A20, A21, _ in partition(A, b, "BR-TL"):
        yield trsm("L", "L", "N", "N", -1, A11, A10)  # A10 := -A11^-1 A10
        yield gemm("N", "N", 1, A21, A10, 1, A20)  # A20 := A20 + A21 A10
        yield trsm("R", "L", "N", "N", 1, A11, A21)  # A21 := A21 A11^-1
        yield trti2("L", "N", A11)  # A11 := A11^-1


@variant("trinv", 8, "three times the flops, upwards")
def threefold_upwards(A: View, b: Extent) -> Iterator[Call]:
    """The mirror of 4."""
    for A00, _, _, A10, A11, _, A20, A21, A22 in partition(A, b, "BR-TL"):
        yield trsm("R", "L", "N", "N", -1, A00, A10)  # A10 := -A10 A00^-1
        yield gemm("N", "N", -1, A21, A10, 1, A20)  # A20 := A20 - A21 A10
        yield trmm("L", "L", "N", "N", 1, A22, A21)  # A21 := A22 A21
        yield trti2("L", "N", A11)  # A11 := A11^-1
