"""Inversion of a triangular matrix, A := A^-1, lower or upper.

1 to 4 go from the top left to the bottom right, 5 to 8 are their mirrors. 4 and 8 take three times the flops.
Those with an s invert the diagonal block before it is needed, and multiply where the others solve (the
dissertation's footnote 17). LAPACK's dtrtri is 5 but for the order of blocks: the short one comes first.
The recursive one is ReLAPACK's.
"""

from collections.abc import Iterator

from blascast.sampler.call import Call, Extent, View

from .ilaenv import fixed
from .kernels import gemm, trmm, trsm, trti2, trtri
from .partition import partition
from .recursion import Again, again, quarters, recursion
from .registry import Operand, Operation, define_operation, variant
from .transposition import transposed
from .upper import define_upper

define_operation(
    Operation(
        "trinv",
        formula="A := A^-1, A lower triangular",
        flops="n * (n + 1) * (2 * n + 1) / 6",
        operands=(Operand("A", "n", "n", "triangular"),),
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


@variant("trinv", 5, "columns, by the inverse below")
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


@variant("trinv", "1s", "rows, by the inverse above; swapped")
def rows_by_inverse_swapped(A: View, b: Extent) -> Iterator[Call]:
    """1, with the diagonal block inverted first."""
    for A00, _, _, A10, A11, *_ in partition(A, b):
        yield trmm("R", "L", "N", "N", 1, A00, A10)  # A10 := A10 A00
        yield trti2("L", "N", A11)  # A11 := A11^-1
        yield trmm("L", "L", "N", "N", -1, A11, A10)  # A10 := -A11 A10


@variant("trinv", "2s", "columns, by the input below; swapped")
def columns_by_input_swapped(A: View, b: Extent) -> Iterator[Call]:
    """2, with the diagonal block inverted first."""
    for _, _, _, _, A11, _, _, A21, A22 in partition(A, b):
        yield trsm("L", "L", "N", "N", 1, A22, A21)  # A21 := A22^-1 A21
        yield trti2("L", "N", A11)  # A11 := A11^-1
        yield trmm("R", "L", "N", "N", -1, A11, A21)  # A21 := -A21 A11


@variant("trinv", "3s", "updates below left, by gemm; swapped")
def updates_below_left_swapped(A: View, b: Extent) -> Iterator[Call]:
    """3, with the diagonal block inverted first."""
    for _, _, _, A10, A11, _, A20, A21, _ in partition(A, b):
        yield trsm("R", "L", "N", "N", -1, A11, A21)  # A21 := -A21 A11^-1
        yield gemm("N", "N", 1, A21, A10, 1, A20)  # A20 := A20 + A21 A10
        yield trti2("L", "N", A11)  # A11 := A11^-1
        yield trmm("L", "L", "N", "N", 1, A11, A10)  # A10 := A11 A10


@variant("trinv", "5s", "columns, by the inverse below; swapped")
def columns_by_inverse_swapped(A: View, b: Extent) -> Iterator[Call]:
    """5, with the diagonal block inverted first."""
    for _, _, _, _, A11, _, _, A21, A22 in partition(A, b, "BR-TL"):
        yield trmm("L", "L", "N", "N", 1, A22, A21)  # A21 := A22 A21
        yield trti2("L", "N", A11)  # A11 := A11^-1
        yield trmm("R", "L", "N", "N", -1, A11, A21)  # A21 := -A21 A11


@variant("trinv", "6s", "rows, by the input above; swapped")
def rows_by_input_swapped(A: View, b: Extent) -> Iterator[Call]:
    """6, with the diagonal block inverted first."""
    for A00, _, _, A10, A11, *_ in partition(A, b, "BR-TL"):
        yield trsm("R", "L", "N", "N", 1, A00, A10)  # A10 := A10 A00^-1
        yield trti2("L", "N", A11)  # A11 := A11^-1
        yield trmm("L", "L", "N", "N", -1, A11, A10)  # A10 := -A11 A10


@variant("trinv", "7s", "updates below left, by gemm, upwards; swapped")
def updates_below_left_upwards_swapped(A: View, b: Extent) -> Iterator[Call]:
    """7, with the diagonal block inverted first."""
    for _, _, _, A10, A11, _, A20, A21, _ in partition(A, b, "BR-TL"):
        yield trsm("L", "L", "N", "N", -1, A11, A10)  # A10 := -A11^-1 A10
        yield gemm("N", "N", 1, A21, A10, 1, A20)  # A20 := A20 + A21 A10
        yield trti2("L", "N", A11)  # A11 := A11^-1
        yield trmm("R", "L", "N", "N", 1, A11, A21)  # A21 := A21 A11


@variant("trinv", "lapack", "LAPACK's dtrtri", usual=fixed(64))
def lapack(A: View, b: Extent) -> Iterator[Call]:
    """5, on blocks that begin at the top left."""
    for _, _, _, _, A11, _, _, A21, A22 in partition(A, b, "BR-TL, aligned"):
        yield trmm("L", "L", "N", "N", 1, A22, A21)  # A21 := A22 A21
        yield trsm("R", "L", "N", "N", -1, A11, A21)  # A21 := -A21 A11^-1
        yield trti2("L", "N", A11)  # A11 := A11^-1


@variant("trinv", "recursive", "recursive, trti2 up to b")
def recursive(A: View, b: Extent) -> Iterator[Call]:
    """Halves the matrix until at most b columns are left."""

    def step(A: View) -> Iterator[Call | Again]:
        A11, _, A21, A22 = quarters(A)
        yield again(A11)
        yield trmm("R", "L", "N", "N", -1, A11, A21)  # A21 := -A21 A11
        yield trsm("L", "L", "N", "N", 1, A22, A21)  # A21 := A22^-1 A21
        yield again(A22)

    return recursion((A,), b, lambda A: trti2("L", "N", A), step)


@variant("trinv", "library", "the library's trtri", block_sizes=0)
def library(A: View) -> Iterator[Call]:
    """One call."""
    yield trtri("L", "N", A)


define_upper("trinv", "A := A^-1, A upper triangular", but=("lapack",))
variant("trinv-upper", "lapack", "LAPACK's dtrtri", usual=fixed(64))(transposed(rows_by_inverse))
