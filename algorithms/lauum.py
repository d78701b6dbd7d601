"""Product of a triangular matrix with its transpose, A := L^T L (one triangle), or U U^T.

2 is LAPACK's dlauum up to the order of independent calls.
"""

from collections.abc import Iterator

from blascast.sampler.call import Call, Extent, View

from .ilaenv import fixed
from .kernels import gemm, lauu2, lauum, syrk, trmm
from .partition import partition
from .registry import Operand, Operation, define_operation, variant
from .upper import define_upper

define_operation(
    Operation(
        "lauum",
        formula="A := L^T L, L the lower triangle of A",
        flops="n * (n + 1) * (2 * n + 1) / 6",
        operands=(Operand("A", "n", "n", "triangular"),),
    )
)


@variant("lauum", 1, "updates above, by syrk")
def updates_above(A: View, b: Extent) -> Iterator[Call]:
    """Adds a row of blocks to the product above it."""
    for A00, _, _, A10, A11, *_ in partition(A, b):
        yield syrk("L", "T", 1, A10, 1, A00)  # A00 := A00 + A10^T A10
        yield trmm("L", "L", "T", "N", 1, A11, A10)  # A10 := A11^T A10
        yield lauu2("L", A11)  # A11 := A11^T A11


@variant("lauum", 2, "rows, by gemm")
def rows(A: View, b: Extent) -> Iterator[Call]:
    """Computes a row of blocks from all below it."""
    for _, _, _, A10, A11, _, A20, A21, _ in partition(A, b):
        yield trmm("L", "L", "T", "N", 1, A11, A10)  # A10 := A11^T A10
        yield gemm("T", "N", 1, A21, A20, 1, A10)  # A10 := A10 + A21^T A20
        yield lauu2("L", A11)  # A11 := A11^T A11
        yield syrk("L", "T", 1, A21, 1, A11)  # A11 := A11 + A21^T A21


@variant("lauum", 3, "columns, by trmm")
def columns(A: View, b: Extent) -> Iterator[Call]:
    """Computes a column of blocks from the input below right of it."""
    for _, _, _, _, A11, _, _, A21, A22 in partition(A, b):
        yield lauu2("L", A11)  # A11 := A11^T A11
        yield syrk("L", "T", 1, A21, 1, A11)  # A11 := A11 + A21^T A21
        yield trmm("L", "L", "T", "N", 1, A22, A21)  # A21 := A22^T A21


@variant("lauum", "lapack", "LAPACK's dlauum", usual=fixed(64))
def lapack(A: View, b: Extent) -> Iterator[Call]:
    """2, in another order."""
    for _, _, _, A10, A11, _, A20, A21, _ in partition(A, b):
        yield trmm("L", "L", "T", "N", 1, A11, A10)  # A10 := A11^T A10
        yield lauu2("L", A11)  # A11 := A11^T A11
        yield gemm("T", "N", 1, A21, A20, 1, A10)  # A10 := A10 + A21^T A20
        yield syrk("L", "T", 1, A21, 1, A11)  # A11 := A11 + A21^T A21


@variant("lauum", "library", "the library's lauum", block_sizes=0)
def library(A: View) -> Iterator[Call]:
    """One call."""
    yield lauum("L", A)


define_upper("lauum", "A := U U^T, U the upper triangle of A")
