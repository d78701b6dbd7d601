"""BLAS level 1: vectors."""

from ..kernel import Kernel, Scalar
from .arguments import ALPHA, N, column, number, vector

_X, _Y = vector("x", "in", "n"), vector("y", "in", "n")
_X_CHANGED, _Y_CHANGED = vector("x", "inout", "n"), vector("y", "inout", "n")
_VALUE = number("value", "out")
_REAL_VALUE = number("value", "out", "real")

# r, c, s such that [c s; -s^H c] [a; b] = [r; 0]; a := r, real types: b := what rebuilds c and s
ROTG = Kernel(
    "rotg",
    types="sdcz",
    arguments=(number("a", "inout"), number("b", "inout"), number("c", "out", "real"), number("s", "out")),
    flops="6",
    words="6",
)

# the same without square root: H such that H [sqrt(d1) x1; sqrt(d2) y1] = [r; 0]; param := H
ROTMG = Kernel(
    "rotmg",
    types="sd",
    arguments=(
        *(column("d1", "inout", "1", "positive definite"), column("d2", "inout", "1", "positive definite")),
        *(number("x1", "inout"), number("y1", "in"), column("param", "out", "5")),
    ),
    flops="11",
    words="12",
)

# [x y] := [c x + s y, c y - s x]
ROT = Kernel(
    "rot",
    types="sdcz",
    arguments=(N, *_X_CHANGED, *_Y_CHANGED, Scalar("c", "real"), Scalar("s", "real")),
    flops="6 * n",
    words="4 * n",
    names={"c": "csrot", "z": "zdrot"},
)

# [x y] := [x y] H^T, with the H of rotmg, two entries of which are units
ROTM = Kernel(
    "rotm",
    types="sd",
    arguments=(N, *_X_CHANGED, *_Y_CHANGED, column("param", "in", "5", "modified rotation")),
    flops="4 * n",
    words="4 * n",
)

# x <-> y
SWAP = Kernel("swap", types="sdcz", arguments=(N, *_X_CHANGED, *_Y_CHANGED), flops="0", words="4 * n")

# y := x
COPY = Kernel("copy", types="sdcz", arguments=(N, *_X, *vector("y", "out", "n")), flops="0", words="2 * n")

# x := alpha x
SCAL = Kernel("scal", types="sdcz", arguments=(N, ALPHA, *_X_CHANGED), flops="n", words="2 * n")

# x := alpha x, alpha real and x complex
REAL_SCAL = Kernel(
    "rscal",
    types="cz",
    arguments=(N, Scalar("alpha", "real"), *_X_CHANGED),
    flops="n / 2",
    words="2 * n",
    names={"c": "csscal", "z": "zdscal"},
)

# y := alpha x + y
AXPY = Kernel("axpy", types="sdcz", arguments=(N, ALPHA, *_X, *_Y_CHANGED), flops="2 * n", words="3 * n")

# x^T y
DOT = Kernel("dot", types="sd", arguments=(N, *_X, *_Y), flops="2 * n", words="2 * n", returns=_VALUE)
DOTU = Kernel("dotu", types="cz", arguments=(N, *_X, *_Y), flops="2 * n", words="2 * n", returns=_VALUE)

# x^H y
DOTC = Kernel("dotc", types="cz", arguments=(N, *_X, *_Y), flops="2 * n", words="2 * n", returns=_VALUE)

# x^T y of single precision vectors, summed and returned in double precision
DSDOT = Kernel(
    "dsdot",
    types="s",
    arguments=(N, *_X, *_Y),
    flops="2 * n",
    words="2 * n",
    returns=number("value", "out", "double"),
    names={"s": "dsdot"},
)

# b + x^T y of single precision vectors, summed in double precision
SDSDOT = Kernel(
    "sdsdot",
    types="s",
    arguments=(N, Scalar("b"), *_X, *_Y),
    flops="2 * n",
    words="2 * n",
    returns=_VALUE,
    names={"s": "sdsdot"},
)

# sqrt(x^H x)
NRM2 = Kernel(
    "nrm2",
    types="sdcz",
    arguments=(N, *_X),
    flops="2 * n + 1",
    words="n",
    returns=_REAL_VALUE,
    names={"c": "scnrm2", "z": "dznrm2"},
)

# sum of |re x_i| + |im x_i|
ASUM = Kernel(
    "asum",
    types="sdcz",
    arguments=(N, *_X),
    flops="n",
    words="n",
    returns=_REAL_VALUE,
    names={"c": "scasum", "z": "dzasum"},
)

# the first i with the largest |re x_i| + |im x_i|, counted from 1
IAMAX = Kernel(
    "iamax",
    types="sdcz",
    arguments=(N, *_X),
    flops="0",
    words="n",
    returns=number("value", "out", "integer"),
    names={"s": "isamax", "d": "idamax", "c": "icamax", "z": "izamax"},
)

# |re a| + |im a|
CABS1 = Kernel(
    "cabs1",
    types="cz",
    arguments=(number("a", "in"),),
    flops="1 / 4",
    words="1",
    returns=_REAL_VALUE,
    names={"c": "scabs1", "z": "dcabs1"},
)
