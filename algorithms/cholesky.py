"""Cholesky factorization of the lower triangle, A := L with A = L L^T.

1 is netlib's VARIANTS/cholesky/TOP, 2 is LAPACK's dpotrf, 3 is netlib's VARIANTS/cholesky/RL.
"""

from collections.abc import Iterator

from blascast.sampler.call import Call, Extent, View

from .kernels import gemm, potf2, syrk, trsm
from .partition import partition
from .registry import Operation, define_operation, variant

define_operation(
    Operation(
        "cholesky",
        formula="A := L with L L^T = A",
        flops="n * (n + 1) * (2 * n + 1) / 6",
        structure="positive definite",
    )
)


@variant("cholesky", 1, "top-looking")
def top_looking(A: View, b: Extent) -> Iterator[Call]:
    """Computes a row of blocks from all above it."""
    for A00, _, _, A10, A11, *_ in partition(A, b):
        yield trsm("R", "L", "T", "N", 1, A00, A10)  # A10 := A10 A00^-T
        yield syrk("L", "N", -1, A10, 1, A11)  # A11 := A11 - A10 A10^T
        yield potf2("L", A11)  # A11 := chol(A11)


@variant("cholesky", 2, "left-looking (LAPACK)")
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
