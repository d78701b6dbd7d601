"""What LAPACK, libflame and contractions do in loops of their own, compiled with the engine: no library has them."""

from ..kernel import Kernel, Size
from .arguments import M, N, column, matrix


def _names(name: str) -> dict[str, str]:
    return {dtype: f"blascast_{dtype}{name}" for dtype in "sdcz"}


# A := A - W^H, as at the end of dlarfb
SUBT = Kernel(
    "subt",
    types="sdcz",
    arguments=(M, N, *matrix("A", "inout", "m", "n"), *matrix("W", "in", "n", "m")),
    flops="m * n",
    words="3 * m * n",
    names=_names("subt"),
    own=True,
)

# ipiv := ipiv + k, as in dgetrf; any integers, as those that laswp is sampled with must stay pivots
SHIFT = Kernel(
    "shift",
    types="sdcz",
    arguments=(N, Size("k", given=True), column("ipiv", "inout", "n", kind="integer")),
    flops="0",
    words="n",  # an integer read and written is about one
    names=_names("shift"),
    own=True,
)

# A := L and U with L U = A, without pivoting, unblocked and right-looking, as in libflame
GETF2NP = Kernel(
    "getf2np",
    types="sdcz",
    arguments=(N, *matrix("A", "inout", "n", "n", "positive definite")),
    flops="n * (n - 1) * (4 * n + 1) / 6",
    words="2 * n ** 2",
    names=_names("getf2np"),
    own=True,
)

# A := 0
ZERO = Kernel(
    "zero",
    types="sdcz",
    arguments=(M, N, *matrix("A", "out", "m", "n")),
    flops="0",
    words="m * n",
    names=_names("zero"),
    own=True,
)

# B := A^T
TRANSPOSE = Kernel(
    "transpose",
    types="sdcz",
    arguments=(M, N, *matrix("A", "in", "m", "n"), *matrix("B", "out", "n", "m")),
    flops="0",
    words="2 * m * n",
    names=_names("transpose"),
    own=True,
)
