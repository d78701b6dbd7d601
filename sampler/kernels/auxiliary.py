"""LAPACK: copies, constants and norms of matrices; conjugates of vectors."""

from ..kernel import Flag, Kernel, Work
from .arguments import ALPHA, BETA, M, N, matrix, number, vector

_PART = Flag("uplo", "ALU")
_STEPS = "min(m, n)"
_ENTRIES = f"m * n if uplo == 'A' else (m if uplo == 'L' else n) * {_STEPS} - {_STEPS} * ({_STEPS} - 1) / 2"

# B := A, or one triangle of it
LACPY = Kernel(
    "lacpy",
    types="sdcz",
    arguments=(_PART, M, N, *matrix("A", "in", "m", "n"), *matrix("B", "out", "m", "n")),
    flops="0",
    words=f"2 * ({_ENTRIES})",
)

# A := alpha off the diagonal, beta on it; or one triangle of A
LASET = Kernel(
    "laset",
    types="sdcz",
    arguments=(_PART, M, N, ALPHA, BETA, *matrix("A", "out", "m", "n")),
    flops="0",
    words=_ENTRIES,
)

# x := conjugate of x
LACGV = Kernel("lacgv", types="cz", arguments=(N, *vector("x", "inout", "n")), flops="0", words="2 * n")

# the largest entry (M), sum of a column (1) or of a row (I), in magnitude, or the Frobenius norm (F) of A
LANGE = Kernel(
    "lange",
    types="sdcz",
    arguments=(Flag("norm", "M1IF"), M, N, *matrix("A", "in", "m", "n"), Work("work", "m")),
    flops="2 * m * n + 1 if norm == 'F' else m * n if norm in '1I' else 0",
    words="m * n",
    returns=number("value", "out", "real"),
)
