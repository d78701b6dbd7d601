"""LAPACK: the Cholesky factorisation and what uses it."""

from ..kernel import Kernel, Option
from .arguments import INFO, NRHS, UPLO, N, matrix

_FACTORED = (UPLO, N, *matrix("A", "inout", "n", "n", "positive definite"), INFO)
_SUM_OF_SQUARES = "n * (n + 1) * (2 * n + 1) / 6"

# A := L with L L^H = A (uplo L) or U with U^H U = A: unblocked, recursive, blocked
POTF2 = Kernel("potf2", types="sdcz", arguments=_FACTORED, flops=_SUM_OF_SQUARES, words="n * (n + 1)")
POTRF2 = Kernel("potrf2", types="sdcz", arguments=_FACTORED, flops=_SUM_OF_SQUARES, words="n * (n + 1)")
POTRF = Kernel("potrf", types="sdcz", arguments=_FACTORED, flops=_SUM_OF_SQUARES, words="n * (n + 1)")

_MULTIPLIED = (UPLO, N, *matrix("A", "inout", "n", "n", "triangular"), INFO)

# A := L^H L (uplo L) or U U^H, one triangle: unblocked, blocked
LAUU2 = Kernel("lauu2", types="sdcz", arguments=_MULTIPLIED, flops=_SUM_OF_SQUARES, words="n * (n + 1)")
LAUUM = Kernel("lauum", types="sdcz", arguments=_MULTIPLIED, flops=_SUM_OF_SQUARES, words="n * (n + 1)")

_RIGHT_HAND_SIDES = matrix("B", "inout", "n", "nrhs")

# B := A^-1 B, A given as its Cholesky factor
POTRS = Kernel(
    "potrs",
    types="sdcz",
    arguments=(UPLO, N, NRHS, *matrix("A", "in", "n", "n", "triangular"), *_RIGHT_HAND_SIDES, INFO),
    flops="2 * n ** 2 * nrhs",
    words="n * (n + 1) / 2 + 2 * n * nrhs",
)

# A := chol(A), B := A^-1 B
POSV = Kernel(
    "posv",
    types="sdcz",
    arguments=(UPLO, N, NRHS, *matrix("A", "inout", "n", "n", "positive definite"), *_RIGHT_HAND_SIDES, INFO),
    flops=f"{_SUM_OF_SQUARES} + 2 * n ** 2 * nrhs",
    words="n * (n + 1) + 2 * n * nrhs",
)

_REDUCED = (
    *(Option("itype", (1, 2, 3)), UPLO, N, *matrix("A", "inout", "n", "n")),
    *(*matrix("B", "in", "n", "n", "triangular"), INFO),
)
_REDUCTION_FLOPS, _REDUCTION_WORDS = "n ** 3 + 2 * n ** 2", "3 * n * (n + 1) / 2"

# itype 1: A := L^-1 A L^-H (uplo L) or U^-H A U^-1; 2, 3: A := L^H A L or U A U^H. Unblocked, blocked
SYGS2 = Kernel(
    "sygs2",
    types="sdcz",
    arguments=_REDUCED,
    flops=_REDUCTION_FLOPS,
    words=_REDUCTION_WORDS,
    names={"c": "chegs2", "z": "zhegs2"},
)
SYGST = Kernel(
    "sygst",
    types="sdcz",
    arguments=_REDUCED,
    flops=_REDUCTION_FLOPS,
    words=_REDUCTION_WORDS,
    names={"c": "chegst", "z": "zhegst"},
)
