"""LAPACK: triangular matrices: inverse, systems, condition, Sylvester equations."""

from ..kernel import Flag, Integer, Kernel, Option, Work
from .arguments import DIAG, INFO, NRHS, TRANS, UPLO, M, N, matrix, number

_INVERTED = (UPLO, DIAG, N, *matrix("A", "inout", "n", "n", "triangular"), INFO)
_INVERSION_FLOPS = "n * (n ** 2 + 2) / 3"

# A := A^-1, A triangular: unblocked, blocked
TRTI2 = Kernel("trti2", types="sdcz", arguments=_INVERTED, flops=_INVERSION_FLOPS, words="n * (n + 1)")
TRTRI = Kernel("trtri", types="sdcz", arguments=_INVERTED, flops=_INVERSION_FLOPS, words="n * (n + 1)")

_TRIANGLE = matrix("A", "in", "n", "n", "triangular")

# B := op(A)^-1 B, A triangular, unless A is singular
TRTRS = Kernel(
    "trtrs",
    types="sdcz",
    arguments=(UPLO, TRANS, DIAG, N, NRHS, *_TRIANGLE, *matrix("B", "inout", "n", "nrhs"), INFO),
    flops="n ** 2 * nrhs",
    words="n * (n + 1) / 2 + 2 * n * nrhs",
)

# rcond := 1 / (|A| |A^-1|) in the norm 1 or I, A triangular, |A^-1| estimated by at least four systems
TRCON = Kernel(
    "trcon",
    types="sdcz",
    arguments=(
        *(Flag("norm", "1I"), UPLO, DIAG, N, *_TRIANGLE, number("rcond", "out", "real")),
        *(Work("work", "3 * n"), Work("rwork", "n"), INFO),
    ),
    flops="n * (n + 1) / 2 + 4 * n ** 2",
    words="n * (n + 1) / 2",
)

_EQUATION = (
    *(Flag("transA", "NTC", "NC"), Flag("transB", "NTC", "NC"), Option("isgn", (1, -1)), M, N),
    *matrix("A", "in", "m", "m", "Schur form"),
    *matrix("B", "in", "n", "n", "shifted Schur form"),
    *(*matrix("C", "inout", "m", "n"), number("scale", "out", "real")),
)
_EQUATION_WORDS = "m * (m + 1) / 2 + n * (n + 1) / 2 + 2 * m * n"

# C := X with op(A) X + isgn X op(B) = scale C: unblocked, blocked
TRSYL = Kernel("trsyl", types="sdcz", arguments=(*_EQUATION, INFO), flops="m * n * (m + n)", words=_EQUATION_WORDS)
_BLOCKS = "max(m, n) // 8 + 2"  # at least as many as of the library's size, which is 8 or more
TRSYL3 = Kernel(
    "trsyl3",
    types="sdcz",
    arguments=(
        *_EQUATION,
        *(Work("iwork", f"2 * ({_BLOCKS}) + 2", "sd"), Integer("liwork", f"2 * ({_BLOCKS}) + 2", "sd")),
        *(Work("swork", f"3 * ({_BLOCKS}) ** 2"), Integer("ldswork", _BLOCKS), INFO),
    ),
    flops="m * n * (m + n)",
    words=_EQUATION_WORDS,
)
