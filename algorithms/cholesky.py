"""Cholesky factorization, A := L with A = L L^T, of the lower triangle; and of the upper one, A = U^T U.

1 is netlib's VARIANTS/cholesky/TOP, 2 is LAPACK's dpotrf up to release 3.5, 3 is netlib's VARIANTS/cholesky/RL.
The recursive one is ReLAPACK's.
"""

from collections.abc import Iterator

from blascast.sampler.call import Call, Extent, View

from .ilaenv import fixed
from .kernels import gemm, potf2, potrf, potrf2, syrk, trsm
from .partition import partition
from .recursion import Again, again, quarters, recursion
from .registry import Operand, Operation, define_operation, variant
from .upper import define_upper

define_operation(
    Operation(
        "cholesky",
        formula="A := L with L L^T = A",
        flops="n * (n + 1) * (2 * n + 1) / 6",
        operands=(Operand("A", "n", "n", "positive definite"),),
    )
)


@variant("cholesky", 1, "top-looking")
def top_looking(A: View, b: Extent) -> Iterator[Call]:
    """Computes a row of blocks from all above it."""
    for A00, _, _, A10, A11, *_ in partition(A, b):
        yield trsm("R", "L", "T", "N", 1, A00, A10)  # A10 := A10 A00^-T
        yield syrk("L", "N", -1, A10, 1, A11)  # A11 := A11 - A10 A10^T
        yield potf2("L", A11)  # A11 := chol(A11)


@variant("cholesky", 2, "left-looking")
def left_looking(A: View, b: Extent) -> Iterator[Call]:
    """Computes a column of blocks from all left of it."""
    for _, _, _, A10, A11, _, A20, A21, _ in partition(A, b):
        yield syrk("L", "N", -1, A10, 1, A11)  # A11 := A11 - A10 A10^T
        yield potf2("L", A11)  # A11 := chol(A11)
        yield gemm("N", "T", -1, A20, A10, 1, A21)  # A21 := A21 - A20 A10^T
        yield trsm("R", "L", "T", "N", 1, A11, A21)  # A21 := A21 A11^-T


@variant("cholesky", 3, "right-looking")
def right_looking(A: View, b: Extent) -> Iterator[Call]:
    """Computes a column of blocks and updates all right of it."""
    for _, _, _, _, A11, _, _, A21, A22 in partition(A, b):
        yield potf2("L", A11)  # A11 := chol(A11)
        yield trsm("R", "L", "T", "N", 1, A11, A21)  # A21 := A21 A11^-T
        yield syrk("L", "N", -1, A21, 1, A22)  # A22 := A22 - A21 A21^T


@variant("cholesky", "lapack", "LAPACK's dpotrf", usual=fixed(64))
def lapack(A: View, b: Extent) -> Iterator[Call]:
    """Left-looking, with the recursive dpotrf2 on the diagonal blocks (since LAPACK 3.6)."""
    for _, _, _, A10, A11, _, A20, A21, _ in partition(A, b):
        yield syrk("L", "N", -1, A10, 1, A11)  # A11 := A11 - A10 A10^T
        yield potrf2("L", A11)  # A11 := chol(A11)
        yield gemm("N", "T", -1, A20, A10, 1, A21)  # A21 := A21 - A20 A10^T
        yield trsm("R", "L", "T", "N", 1, A11, A21)  # A21 := A21 A11^-T


@variant("cholesky", "recursive", "recursive, potf2 up to b")
def recursive(A: View, b: Extent) -> Iterator[Call]:
    """Halves the matrix until at most b columns are left."""

    def step(A: View) -> Iterator[Call | Again]:
        A11, _, A21, A22 = quarters(A)
        yield again(A11)
        yield trsm("R", "L", "T", "N", 1, A11, A21)  # A21 := A21 A11^-T
        yield syrk("L", "N", -1, A21, 1, A22)  # A22 := A22 - A21 A21^T
        yield again(A22)

    return recursion((A,), b, lambda A: potf2("L", A), step)


@variant("cholesky", "library", "the library's potrf", block_sizes=0)
def library(A: View) -> Iterator[Call]:
    """One call."""
    yield potrf("L", A)


define_upper("cholesky", "A := U with U^T U = A")
