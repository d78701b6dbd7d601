"""LAPACK routines that blocked algorithms call for their diagonal blocks."""

from ..kernel import Data, Flag, Info, Kernel, Ld, Size

_CHOLESKY = (Flag("uplo", "LU"), Size("n"), Data("A", "inout", "n", "n", "positive definite"), Ld("lda", "A"), Info())
_CUBIC_FLOPS = "n * (n + 1) * (2 * n + 1) / 6"

# A := chol(A), unblocked
POTF2 = Kernel("potf2", types="sd", arguments=_CHOLESKY, flops=_CUBIC_FLOPS, words="n * (n + 1)")

# A := chol(A), recursive: what LAPACK's potrf calls since 3.6
POTRF2 = Kernel("potrf2", types="sd", arguments=_CHOLESKY, flops=_CUBIC_FLOPS, words="n * (n + 1)")

# A := A^-1, A triangular, unblocked
TRTI2 = Kernel(
    "trti2",
    types="sd",
    arguments=(
        *(Flag("uplo", "LU"), Flag("diag", "NU"), Size("n")),
        *(Data("A", "inout", "n", "n", "triangular"), Ld("lda", "A"), Info()),
    ),
    flops=_CUBIC_FLOPS,
    words="n * (n + 1)",
)
