"""BLAS level 2: a matrix and vectors."""

from ..kernel import Kernel, Size
from .arguments import ALPHA, BETA, DIAG, REAL_ALPHA, TRANS, UPLO, M, N, column, matrix, vector

_KL, _KU = Size("kl", given=True), Size("ku", given=True)
_BANDWIDTH = Size("k", given=True)
_PACKED = "n * (n + 1) // 2"
_HALF = "n * (n + 1) / 2"
_BAND = "n * (k + 1)"  # words of a band: its corners are stored
_WITHIN = ("k <= n",)  # further diagonals would lie outside the matrix; flops are not counted for them

_OPERAND = vector("x", "in", "n if trans == 'N' else m")
_RESULT = vector("y", "inout", "m if trans == 'N' else n")
_VECTOR_WORDS = "(2 * m + n if trans == 'N' else m + 2 * n)"

# y := alpha op(A) x + beta y
GEMV = Kernel(
    "gemv",
    types="sdcz",
    arguments=(TRANS, M, N, ALPHA, *matrix("A", "in", "m", "n"), *_OPERAND, BETA, *_RESULT),
    flops="2 * m * n",
    words=f"m * n + {_VECTOR_WORDS}",
)

# y := alpha op(A) x + beta y, A with kl sub- and ku superdiagonals
GBMV = Kernel(
    "gbmv",
    types="sdcz",
    arguments=(
        *(TRANS, M, N, _KL, _KU, ALPHA, *matrix("A", "in", "kl + ku + 1", "n")),
        *(*_OPERAND, BETA, *_RESULT),
    ),
    # twice the entries of A: all but the two corners, each a triangle that may lack its tip
    flops="2 * m * n"
    " - max(m - kl - 1, 0) * max(m - kl, 0) + max(m - n - kl - 1, 0) * max(m - n - kl, 0)"
    " - max(n - ku - 1, 0) * max(n - ku, 0) + max(n - m - ku - 1, 0) * max(n - m - ku, 0)",
    words=f"n * (kl + ku + 1) + {_VECTOR_WORDS}",
    requires=("kl <= m", "ku <= n"),
)

_MATRIX, _MATRIX_CHANGED = matrix("A", "in", "n", "n"), matrix("A", "inout", "n", "n")
_BAND_MATRIX = matrix("A", "in", "k + 1", "n")
_PACKED_MATRIX, _PACKED_MATRIX_CHANGED = column("A", "in", _PACKED), column("A", "inout", _PACKED)
_X, _Y, _Y_CHANGED = vector("x", "in", "n"), vector("y", "in", "n"), vector("y", "inout", "n")
_UPDATED = (*_X, BETA, *_Y_CHANGED)
_BAND_FLOPS = "2 * n * (2 * k + 1) - 2 * k * (k + 1)"

_SYMV_ARGUMENTS = (UPLO, N, ALPHA, *_MATRIX, *_UPDATED)
_SBMV_ARGUMENTS = (UPLO, N, _BANDWIDTH, ALPHA, *_BAND_MATRIX, *_UPDATED)
_SPMV_ARGUMENTS = (UPLO, N, ALPHA, _PACKED_MATRIX, *_UPDATED)

# y := alpha A x + beta y, A symmetric (s) or Hermitian (h), in full, band (b) or packed (p) storage
SYMV = Kernel("symv", types="sd", arguments=_SYMV_ARGUMENTS, flops="2 * n ** 2", words=f"{_HALF} + 3 * n")
HEMV = Kernel("hemv", types="cz", arguments=_SYMV_ARGUMENTS, flops="2 * n ** 2", words=f"{_HALF} + 3 * n")
SBMV = Kernel("sbmv", "sd", _SBMV_ARGUMENTS, flops=_BAND_FLOPS, words=f"{_BAND} + 3 * n", requires=_WITHIN)
HBMV = Kernel("hbmv", "cz", _SBMV_ARGUMENTS, flops=_BAND_FLOPS, words=f"{_BAND} + 3 * n", requires=_WITHIN)
SPMV = Kernel("spmv", types="sd", arguments=_SPMV_ARGUMENTS, flops="2 * n ** 2", words=f"{_HALF} + 3 * n")
HPMV = Kernel("hpmv", types="cz", arguments=_SPMV_ARGUMENTS, flops="2 * n ** 2", words=f"{_HALF} + 3 * n")

_X_CHANGED = vector("x", "inout", "n")
_TRMV_ARGUMENTS = (UPLO, TRANS, DIAG, N, *matrix("A", "in", "n", "n", "triangular"), *_X_CHANGED)
_TBMV_ARGUMENTS = (
    *(UPLO, TRANS, DIAG, N, _BANDWIDTH, *matrix("A", "in", "k + 1", "n", "packed triangular")),
    *_X_CHANGED,
)
_TPMV_ARGUMENTS = (UPLO, TRANS, DIAG, N, column("A", "in", _PACKED, "packed triangular"), *_X_CHANGED)
_TBMV_FLOPS = "n * (2 * k + 1) - k * (k + 1)"

# x := op(A) x, A triangular, in full, band or packed storage
TRMV = Kernel("trmv", types="sdcz", arguments=_TRMV_ARGUMENTS, flops="n ** 2", words=f"{_HALF} + 2 * n")
TBMV = Kernel("tbmv", "sdcz", _TBMV_ARGUMENTS, flops=_TBMV_FLOPS, words=f"{_BAND} + 2 * n", requires=_WITHIN)
TPMV = Kernel("tpmv", types="sdcz", arguments=_TPMV_ARGUMENTS, flops="n ** 2", words=f"{_HALF} + 2 * n")

# x := op(A)^-1 x, A triangular, in full, band or packed storage
TRSV = Kernel("trsv", types="sdcz", arguments=_TRMV_ARGUMENTS, flops="n ** 2", words=f"{_HALF} + 2 * n")
TBSV = Kernel("tbsv", "sdcz", _TBMV_ARGUMENTS, flops=_TBMV_FLOPS, words=f"{_BAND} + 2 * n", requires=_WITHIN)
TPSV = Kernel("tpsv", types="sdcz", arguments=_TPMV_ARGUMENTS, flops="n ** 2", words=f"{_HALF} + 2 * n")

_GER_ARGUMENTS = (M, N, ALPHA, *vector("x", "in", "m"), *_Y, *matrix("A", "inout", "m", "n"))
_GER_WORDS = "2 * m * n + m + n"

# A := alpha x y^T + A
GER = Kernel("ger", types="sd", arguments=_GER_ARGUMENTS, flops="2 * m * n", words=_GER_WORDS)
GERU = Kernel("geru", types="cz", arguments=_GER_ARGUMENTS, flops="2 * m * n", words=_GER_WORDS)

# A := alpha x y^H + A
GERC = Kernel("gerc", types="cz", arguments=_GER_ARGUMENTS, flops="2 * m * n", words=_GER_WORDS)

_ONE_FLOPS, _ONE_WORDS = "n * (n + 1)", "n * (n + 1) + n"

# A := alpha x x^T + A (x x^H if Hermitian), one triangle of A, in full or packed storage
SYR = Kernel("syr", "sd", (UPLO, N, ALPHA, *_X, *_MATRIX_CHANGED), _ONE_FLOPS, _ONE_WORDS)
HER = Kernel("her", "cz", (UPLO, N, REAL_ALPHA, *_X, *_MATRIX_CHANGED), _ONE_FLOPS, _ONE_WORDS)
SPR = Kernel("spr", "sd", (UPLO, N, ALPHA, *_X, _PACKED_MATRIX_CHANGED), _ONE_FLOPS, _ONE_WORDS)
HPR = Kernel("hpr", "cz", (UPLO, N, REAL_ALPHA, *_X, _PACKED_MATRIX_CHANGED), _ONE_FLOPS, _ONE_WORDS)

_SYR2_ARGUMENTS = (UPLO, N, ALPHA, *_X, *_Y, *_MATRIX_CHANGED)
_SPR2_ARGUMENTS = (UPLO, N, ALPHA, *_X, *_Y, _PACKED_MATRIX_CHANGED)
_TWO_FLOPS, _TWO_WORDS = "2 * n * (n + 1)", "n * (n + 1) + 2 * n"

# A := alpha x y^T + alpha y x^T + A (alpha x y^H + conj(alpha) y x^H if Hermitian), one triangle of A
SYR2 = Kernel("syr2", "sd", _SYR2_ARGUMENTS, _TWO_FLOPS, _TWO_WORDS)
HER2 = Kernel("her2", "cz", _SYR2_ARGUMENTS, _TWO_FLOPS, _TWO_WORDS)
SPR2 = Kernel("spr2", "sd", _SPR2_ARGUMENTS, _TWO_FLOPS, _TWO_WORDS)
HPR2 = Kernel("hpr2", "cz", _SPR2_ARGUMENTS, _TWO_FLOPS, _TWO_WORDS)
