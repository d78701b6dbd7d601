"""BLAS level 3. Flops are minimal counts, as in the ELAPS signatures."""

from ..kernel import Data, Flag, Kernel, Ld, Scalar, Size

# C := alpha op(A) op(B) + beta C
GEMM = Kernel(
    "gemm",
    types="sd",
    arguments=(
        *(Flag("transA", "NTC"), Flag("transB", "NTC"), Size("m"), Size("n"), Size("k"), Scalar("alpha")),
        *(Data("A", "in", "m if transA == 'N' else k", "k if transA == 'N' else m"), Ld("lda", "A")),
        *(Data("B", "in", "k if transB == 'N' else n", "n if transB == 'N' else k"), Ld("ldb", "B")),
        *(Scalar("beta"), Data("C", "inout", "m", "n"), Ld("ldc", "C")),
    ),
    flops="2 * m * n * k",
    words="m * k + k * n + 2 * m * n",
)

# C := alpha A A^T + beta C (trans N) or alpha A^T A + beta C, one triangle of C
SYRK = Kernel(
    "syrk",
    types="sd",
    arguments=(
        *(Flag("uplo", "LU"), Flag("trans", "NTC"), Size("n"), Size("k"), Scalar("alpha")),
        *(Data("A", "in", "n if trans == 'N' else k", "k if trans == 'N' else n"), Ld("lda", "A")),
        *(Scalar("beta"), Data("C", "inout", "n", "n"), Ld("ldc", "C")),
    ),
    flops="n * (n + 1) * k",
    words="n * k + n * (n + 1)",
)

_TRIANGLE_TIMES_MATRIX = (
    *(Flag("side", "LR"), Flag("uplo", "LU"), Flag("transA", "NTC"), Flag("diag", "NU")),
    *(Size("m"), Size("n"), Scalar("alpha")),
    *(Data("A", "in", "m if side == 'L' else n", "m if side == 'L' else n", "triangular"), Ld("lda", "A")),
    *(Data("B", "inout", "m", "n"), Ld("ldb", "B")),
)
_TRIANGLE_TIMES_MATRIX_WORDS = "(m * (m + 1) if side == 'L' else n * (n + 1)) / 2 + 2 * m * n"

# B := alpha op(A) B (side L) or alpha B op(A), A triangular
TRMM = Kernel(
    "trmm",
    types="sd",
    arguments=_TRIANGLE_TIMES_MATRIX,
    flops="m * n * (m if side == 'L' else n)",
    words=_TRIANGLE_TIMES_MATRIX_WORDS,
)

# B := alpha op(A)^-1 B (side L) or alpha B op(A)^-1, A triangular
TRSM = Kernel(
    "trsm",
    types="sd",
    arguments=_TRIANGLE_TIMES_MATRIX,
    flops="m * n * (m if side == 'L' else n)",
    words=_TRIANGLE_TIMES_MATRIX_WORDS,
)
