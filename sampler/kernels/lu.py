"""LAPACK: the LU factorisation and what uses it."""

from ..kernel import Integer, Kernel, Option, Size
from .arguments import INFO, NRHS, TRANS, M, N, column, matrix

_STEPS = "min(m, n)"
_FACTORED = (M, N, *matrix("A", "inout", "m", "n"), column("ipiv", "out", _STEPS, "pivots", "integer"), INFO)
# at each step p divisions and 2 p q for the update, with p rows below the pivot and q columns right of it
_FACTORISATION_FLOPS = (
    f"{_STEPS} * (m - 1) * (2 * n - 1) - {_STEPS} * ({_STEPS} - 1) * (2 * m + 2 * n - 3) / 2"
    f" + {_STEPS} * ({_STEPS} - 1) * (2 * {_STEPS} - 1) / 3"
)

# A := L and U with P L U = A, ipiv := P: unblocked, recursive, blocked
GETF2 = Kernel("getf2", types="sdcz", arguments=_FACTORED, flops=_FACTORISATION_FLOPS, words="2 * m * n")
GETRF2 = Kernel("getrf2", types="sdcz", arguments=_FACTORED, flops=_FACTORISATION_FLOPS, words="2 * m * n")
GETRF = Kernel("getrf", types="sdcz", arguments=_FACTORED, flops=_FACTORISATION_FLOPS, words="2 * m * n")

# rows of A := P A (incx 1) or P^T A (incx -1): k2 swaps among the m rows of A
LASWP = Kernel(
    "laswp",
    types="sdcz",
    arguments=(
        *(N, *matrix("A", "inout", "m", "n"), Integer("k1", "1"), Size("k2")),
        *(column("ipiv", "in", "k2", "pivots", "integer"), Option("incx", (1, -1))),
    ),
    flops="0",
    words="2 * min(m, 2 * k2) * n",
    requires=("k2 <= m",),
    implied=("m",),
)

_RIGHT_HAND_SIDES = matrix("B", "inout", "n", "nrhs")
_SOLUTION_FLOPS = "n * (2 * n - 1) * nrhs"

# B := op(A)^-1 B, A given as its LU factors
GETRS = Kernel(
    "getrs",
    types="sdcz",
    arguments=(
        *(TRANS, N, NRHS, *matrix("A", "in", "n", "n", "triangular")),
        *(column("ipiv", "in", "n", "pivots", "integer"), *_RIGHT_HAND_SIDES, INFO),
    ),
    flops=_SOLUTION_FLOPS,
    words="n ** 2 + 2 * n * nrhs",
)

# A := L and U with P L U = A, B := A^-1 B
GESV = Kernel(
    "gesv",
    types="sdcz",
    arguments=(
        *(N, NRHS, *matrix("A", "inout", "n", "n"), column("ipiv", "out", "n", "pivots", "integer")),
        *(*_RIGHT_HAND_SIDES, INFO),
    ),
    flops=f"n * (n - 1) * (4 * n + 1) / 6 + {_SOLUTION_FLOPS}",
    words="2 * n ** 2 + 2 * n * nrhs",
)
