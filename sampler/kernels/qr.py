"""LAPACK: the QR factorisation and block reflectors. Flops of the factorisations are those of LAWN 41."""

from ..kernel import Integer, Kernel, Work
from .arguments import (
    DIRECT,
    INFO,
    MATRIX_SIDE,
    NB,
    SIDE,
    STOREV,
    TRANSPOSED,
    K,
    M,
    N,
    column,
    matrix,
    workspace,
)

_STEPS = "min(m, n)"
_A, _TAU = matrix("A", "inout", "m", "n"), column("tau", "out", _STEPS)
_FLOPS = (
    f"4 * m * n * {_STEPS} - 2 * (m + n) * {_STEPS} ** 2 + 4 * {_STEPS} ** 3 / 3"
    f" + m * {_STEPS} + 3 * n * {_STEPS} - 2 * {_STEPS} ** 2 + 14 * {_STEPS} / 3"
)

# A := R and the reflectors of Q with Q R = A: unblocked, blocked
GEQR2 = Kernel(
    "geqr2", types="sdcz", arguments=(M, N, *_A, _TAU, Work("work", "n"), INFO), flops=_FLOPS, words="2 * m * n"
)
GEQRF = Kernel(
    "geqrf", types="sdcz", arguments=(M, N, *_A, _TAU, *workspace("64 * n"), INFO), flops=_FLOPS, words="2 * m * n"
)

# the same, T := the triangular factors of the block reflectors: one block (m >= n), blocks of nb columns
GEQRT2 = Kernel(
    "geqrt2",
    types="sdcz",
    arguments=(M, N, *_A, *matrix("T", "out", "n", "n"), INFO),
    flops=f"{_FLOPS} + n * (n - 1) * (3 * m - n - 1) / 3",
    words="2 * m * n + n * (n + 1) / 2",
    requires=("n <= m",),
)
GEQRT = Kernel(
    "geqrt",
    types="sdcz",
    arguments=(M, N, NB, *_A, *matrix("T", "out", "nb", _STEPS), Work("work", "nb * n"), INFO),
    flops=f"{_FLOPS} + nb * {_STEPS} * (m - {_STEPS} / 2 + nb / 6)",
    words=f"2 * m * n + nb * {_STEPS}",
    requires=("nb <= m", "nb <= n"),
)

# T := such that I - V T V^H is the product of k reflectors of order n (storev C: V is n x k, R: V^H is k x n)
LARFT = Kernel(
    "larft",
    types="sdcz",
    arguments=(
        *(DIRECT, STOREV, N, K),
        *matrix("V", "in", "n if storev == 'C' else k", "k if storev == 'C' else n", "reflectors"),
        *(column("tau", "in", "k"), *matrix("T", "out", "k", "k")),
    ),
    flops="k * (k - 1) * (3 * n - k - 1) / 3",
    words="n * k + k * (k + 1) / 2",
    requires=("k <= n",),
)

# C := op(H) C (side L) or C op(H), H = I - V T V^H
LARFB = Kernel(
    "larfb",
    types="sdcz",
    arguments=(
        *(SIDE, TRANSPOSED, DIRECT, STOREV, M, N, K),
        *matrix(
            *("V", "in"),
            f"({MATRIX_SIDE}) if storev == 'C' else k",
            f"k if storev == 'C' else ({MATRIX_SIDE})",
            "reflectors",
        ),
        *(*matrix("T", "in", "k", "k", "triangular"), *matrix("C", "inout", "m", "n")),
        *(Work("work", "max(m, n) * k"), Integer("ldwork", "max(1, m, n)")),
    ),
    flops="n * k * (4 * m - k - 1) if side == 'L' else m * k * (4 * n - k - 1)",
    words=f"({MATRIX_SIDE}) * k + k * (k + 1) / 2 + 2 * m * n",
    requires=(f"k <= ({MATRIX_SIDE})",),
)

# A := the first n columns of Q, given as k reflectors
ORGQR = Kernel(
    "orgqr",
    types="sdcz",
    arguments=(
        *(M, N, K, *matrix("A", "inout", "m", "n", "reflectors"), column("tau", "in", "k")),
        *(*workspace("64 * n"), INFO),
    ),
    flops="4 * m * n * k - 2 * (m + n) * k ** 2 + 4 * k ** 3 / 3 + 3 * n * k - m * k - k ** 2 - 4 * k / 3",
    words="m * k + m * n",
    names={"c": "cungqr", "z": "zungqr"},
    requires=("n <= m", "k <= n"),
)

# C := op(Q) C (side L) or C op(Q), Q given as k reflectors
ORMQR = Kernel(
    "ormqr",
    types="sdcz",
    arguments=(
        *(SIDE, TRANSPOSED, M, N, K, *matrix("A", "in", MATRIX_SIDE, "k", "reflectors"), column("tau", "in", "k")),
        *(*matrix("C", "inout", "m", "n"), *workspace("64 * max(m, n) + 4160"), INFO),
    ),
    flops="4 * m * n * k - 2 * n * k ** 2 + 3 * n * k if side == 'L'"
    " else 4 * m * n * k - 2 * m * k ** 2 + 2 * m * k + n * k - k ** 2 / 2 + k / 2",
    words=f"({MATRIX_SIDE}) * k + 2 * m * n",
    names={"c": "cunmqr", "z": "zunmqr"},
    requires=(f"k <= ({MATRIX_SIDE})",),
)
