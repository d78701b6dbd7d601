"""BLAS level 3: matrices."""

from ..kernel import Flag, Kernel
from .arguments import ALPHA, BETA, DIAG, MATRIX_SIDE, REAL_ALPHA, REAL_BETA, SIDE, UPLO, K, M, N, matrix

_TRANS_A, _TRANS_B = Flag("transA", "NTC"), Flag("transB", "NTC")
_B_FACTOR = matrix("B", "in", "k if transB == 'N' else n", "n if transB == 'N' else k")
_C = matrix("C", "inout", "m", "n")
_C_SQUARE = matrix("C", "inout", "n", "n")

# C := alpha op(A) op(B) + beta C
GEMM = Kernel(
    "gemm",
    types="sdcz",
    arguments=(
        *(_TRANS_A, _TRANS_B, M, N, K, ALPHA),
        *matrix("A", "in", "m if transA == 'N' else k", "k if transA == 'N' else m"),
        *(*_B_FACTOR, BETA, *_C),
    ),
    flops="2 * m * n * k",
    words="m * k + k * n + 2 * m * n",
)

# C := alpha op(A) op(B) + beta C, one triangle of C
GEMMTR = Kernel(
    "gemmtr",
    types="sdcz",
    arguments=(
        *(UPLO, _TRANS_A, _TRANS_B, N, K, ALPHA),
        *matrix("A", "in", "n if transA == 'N' else k", "k if transA == 'N' else n"),
        *(*_B_FACTOR, BETA, *_C_SQUARE),
    ),
    flops="n * (n + 1) * k",
    words="2 * n * k + n * (n + 1)",
)

_SYMM_ARGUMENTS = (
    *(SIDE, UPLO, M, N, ALPHA, *matrix("A", "in", MATRIX_SIDE, MATRIX_SIDE)),
    *(*matrix("B", "in", "m", "n"), BETA, *_C),
)
_SYMM_FLOPS = f"2 * m * n * ({MATRIX_SIDE})"
_HALF = "(m * (m + 1) if side == 'L' else n * (n + 1)) / 2"

# C := alpha A B + beta C (side L) or alpha B A + beta C, A symmetric or Hermitian
SYMM = Kernel("symm", types="sdcz", arguments=_SYMM_ARGUMENTS, flops=_SYMM_FLOPS, words=f"{_HALF} + 3 * m * n")
HEMM = Kernel("hemm", types="cz", arguments=_SYMM_ARGUMENTS, flops=_SYMM_FLOPS, words=f"{_HALF} + 3 * m * n")

_SYMMETRIC, _HERMITIAN = Flag("trans", "NTC", "NT"), Flag("trans", "NC")
_TALL = ("n if trans == 'N' else k", "k if trans == 'N' else n")
_A, _B = matrix("A", "in", *_TALL), matrix("B", "in", *_TALL)

# C := alpha A A^T + beta C (trans N) or alpha A^T A + beta C, one triangle of C
SYRK = Kernel(
    "syrk",
    types="sdcz",
    arguments=(UPLO, _SYMMETRIC, N, K, ALPHA, *_A, BETA, *_C_SQUARE),
    flops="n * (n + 1) * k",
    words="n * k + n * (n + 1)",
)

# C := alpha A A^H + beta C (trans N) or alpha A^H A + beta C, one triangle of C
HERK = Kernel(
    "herk",
    types="cz",
    arguments=(UPLO, _HERMITIAN, N, K, REAL_ALPHA, *_A, REAL_BETA, *_C_SQUARE),
    flops="n * (n + 1) * k",
    words="n * k + n * (n + 1)",
)

# C := alpha A B^T + alpha B A^T + beta C (trans N) or alpha A^T B + alpha B^T A + beta C, one triangle of C
SYR2K = Kernel(
    "syr2k",
    types="sdcz",
    arguments=(UPLO, _SYMMETRIC, N, K, ALPHA, *_A, *_B, BETA, *_C_SQUARE),
    flops="2 * n * (n + 1) * k",
    words="2 * n * k + n * (n + 1)",
)

# C := alpha A B^H + conj(alpha) B A^H + beta C (trans N) or alpha A^H B + conj(alpha) B^H A + beta C, one triangle of C
HER2K = Kernel(
    "her2k",
    types="cz",
    arguments=(UPLO, _HERMITIAN, N, K, ALPHA, *_A, *_B, REAL_BETA, *_C_SQUARE),
    flops="2 * n * (n + 1) * k",
    words="2 * n * k + n * (n + 1)",
)

_TRIANGLE_TIMES_MATRIX = (
    *(SIDE, UPLO, _TRANS_A, DIAG, M, N, ALPHA),
    *matrix("A", "in", MATRIX_SIDE, MATRIX_SIDE, "triangular"),
    *matrix("B", "inout", "m", "n"),
)

# B := alpha op(A) B (side L) or alpha B op(A), A triangular
TRMM = Kernel(
    "trmm",
    types="sdcz",
    arguments=_TRIANGLE_TIMES_MATRIX,
    flops=f"m * n * ({MATRIX_SIDE})",
    words=f"{_HALF} + 2 * m * n",
)

# B := alpha op(A)^-1 B (side L) or alpha B op(A)^-1, A triangular
TRSM = Kernel(
    "trsm",
    types="sdcz",
    arguments=_TRIANGLE_TIMES_MATRIX,
    flops=f"m * n * ({MATRIX_SIDE})",
    words=f"{_HALF} + 2 * m * n",
)
