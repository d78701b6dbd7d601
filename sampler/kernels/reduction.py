"""LAPACK: reduction to tridiagonal, bidiagonal and Hessenberg form.

Flops are those of LAWN 41 without its constants, which make small sizes negative; those of panels
(latrd, labrd) are leading terms.
"""

from ..kernel import Integer, Kernel, Work
from .arguments import INFO, NB, UPLO, M, N, column, matrix, workspace

_BESIDE = "max(n - 1, 0)"
_SQUARE = matrix("A", "inout", "n", "n")
_OFF_DIAGONAL, _TAU = column("e", "out", _BESIDE, kind="real"), column("tau", "out", _BESIDE)
_TRIDIAGONAL = (UPLO, N, *_SQUARE, column("d", "out", "n", kind="real"), _OFF_DIAGONAL, _TAU)
_TRIDIAGONAL_FLOPS = "4 * n ** 3 / 3 + 7 * n ** 2 / 2 - 17 * n / 6"

# A := the reflectors of Q with Q^H A Q = T, the tridiagonal matrix of diagonals d and e: unblocked, blocked
SYTD2 = Kernel(
    "sytd2",
    types="sdcz",
    arguments=(*_TRIDIAGONAL, INFO),
    flops=_TRIDIAGONAL_FLOPS,
    words="n * (n + 1)",
    names={"c": "chetd2", "z": "zhetd2"},
)
SYTRD = Kernel(
    "sytrd",
    types="sdcz",
    arguments=(*_TRIDIAGONAL, *workspace("64 * n"), INFO),
    flops=_TRIDIAGONAL_FLOPS,
    words="n * (n + 1)",
    names={"c": "chetrd", "z": "zhetrd"},
)

# the first (uplo L) or last nb steps of it, W := such that the rest is to become A - V W^H - W V^H
LATRD = Kernel(
    "latrd",
    types="sdcz",
    arguments=(UPLO, N, NB, *_SQUARE, _OFF_DIAGONAL, _TAU, *matrix("W", "out", "n", "nb")),
    flops="2 * n ** 2 * nb + 4 * n * nb ** 2 - 10 * nb ** 3 / 3",
    words="n * (n + 1) / 2 + 2 * n * nb",
    requires=("nb <= n",),
)

_STEPS = "min(m, n)"
_RECTANGLE = matrix("A", "inout", "m", "n")
_BIDIAGONAL = (
    *(M, N, *_RECTANGLE, column("d", "out", _STEPS, kind="real")),
    *(column("e", "out", f"max({_STEPS} - 1, 0)", kind="real"), column("tauq", "out", _STEPS)),
    column("taup", "out", _STEPS),
)
_BIDIAGONAL_FLOPS = (
    f"8 * m * n * {_STEPS} - 4 * (m + n) * {_STEPS} ** 2 + 8 * {_STEPS} ** 3 / 3"
    f" + 3 * {_STEPS} ** 2 - m * n + 25 * {_STEPS} / 3"
)

# A := the reflectors of Q and P with Q^H A P = B, the bidiagonal matrix of diagonals d and e: unblocked, blocked
GEBD2 = Kernel(
    "gebd2",
    types="sdcz",
    arguments=(*_BIDIAGONAL, Work("work", "max(m, n)"), INFO),
    flops=_BIDIAGONAL_FLOPS,
    words="2 * m * n",
)
GEBRD = Kernel(
    "gebrd",
    types="sdcz",
    arguments=(*_BIDIAGONAL, *workspace("64 * (m + n)"), INFO),
    flops=_BIDIAGONAL_FLOPS,
    words="2 * m * n",
)

# the first nb steps of it, X, Y := such that the rest is to become A - V Y^H - X U^H
LABRD = Kernel(
    "labrd",
    types="sdcz",
    arguments=(
        *(M, N, NB, *_RECTANGLE, column("d", "out", "nb", kind="real"), column("e", "out", "nb", kind="real")),
        *(column("tauq", "out", "nb"), column("taup", "out", "nb")),
        *(*matrix("X", "out", "m", "nb"), *matrix("Y", "out", "n", "nb")),
    ),
    flops="4 * m * n * nb + 4 * (m + n) * nb ** 2 - 20 * nb ** 3 / 3",
    words="m * n + 2 * (m + n) * nb",
    requires=("nb <= m", "nb <= n"),
)

_HESSENBERG = (N, Integer("ilo", "1"), Integer("ihi", "n"), *_SQUARE, _TAU)
_HESSENBERG_FLOPS = "10 * n ** 3 / 3 - n ** 2 / 2 - 11 * n / 6"

# A := H and the reflectors of Q with Q^H A Q = H, an upper Hessenberg matrix: unblocked, blocked
GEHD2 = Kernel(
    "gehd2",
    types="sdcz",
    arguments=(*_HESSENBERG, Work("work", "n"), INFO),
    flops=_HESSENBERG_FLOPS,
    words="2 * n ** 2",
)
GEHRD = Kernel(
    "gehrd",
    types="sdcz",
    arguments=(*_HESSENBERG, *workspace("64 * n + 4160"), INFO),
    flops=_HESSENBERG_FLOPS,
    words="2 * n ** 2",
)
