"""Textbook algorithms on numbers that count their own arithmetic."""

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

Array = np.ndarray


def _operation(function: Callable[[float, float], float]) -> Callable[["Counted", "Counted"], "Counted"]:
    def count(self: "Counted", other: "Counted") -> "Counted":
        if not isinstance(other, Counted):
            return NotImplemented  # an array does it for each of its entries
        return Counted.of(function(self.value, other.value))

    return count


@dataclass(frozen=True, slots=True)
class Counted:
    """A number; every sum, difference, product, quotient and square root of numbers counts."""

    value: float
    operations: ClassVar[list[int]] = [0]

    @classmethod
    def of(cls, value: float) -> "Counted":
        """The result of an operation."""
        cls.operations[0] += 1
        return cls(value)

    __add__, __sub__ = _operation(operator.add), _operation(operator.sub)
    __mul__, __truediv__ = _operation(operator.mul), _operation(operator.truediv)

    def sqrt(self) -> "Counted":
        """The square root."""
        return Counted.of(math.sqrt(self.value))

    def __neg__(self) -> "Counted":
        return Counted(-self.value)  # signs are no flops

    def __abs__(self) -> "Counted":
        return Counted(abs(self.value))


def numbers(*shape: int) -> Array:
    """An array of numbers to count with."""
    return np.vectorize(Counted, otypes=[object])(np.random.default_rng(1).uniform(1, 2, shape))


def positive_definite(n: int) -> Array:
    """A symmetric matrix with a dominant diagonal."""
    return np.vectorize(Counted, otypes=[object])(np.ones((n, n)) + n * np.eye(n))


def zeros(*shape: int) -> Array:
    """An array to accumulate in."""
    return np.vectorize(Counted, otypes=[object])(np.zeros(shape))


Algorithm = Callable[..., object]
ALGORITHMS: dict[str, Algorithm] = {}


def algorithm(*names: str) -> Callable[[Algorithm], Algorithm]:
    """Enters a function of a kernel's sizes as the textbook algorithm of kernels."""

    def enter(function: Algorithm) -> Algorithm:
        ALGORITHMS.update(dict.fromkeys(names, function))
        return function

    return enter


def count(name: str, sizes: dict[str, int]) -> int:
    """The operations that a kernel's textbook algorithm takes."""
    Counted.operations[0] = 0
    ALGORITHMS[name](**sizes)
    return Counted.operations[0]


def accumulate(total: Counted, a: Array, b: Array) -> Counted:
    """The total plus a^T b."""
    for left, right in zip(a, b, strict=True):
        total = total + left * right
    return total


def solve(lower: Array, b: Array, unit: bool = False) -> None:
    """b := L^-1 b for a vector."""
    for i in range(len(b)):
        for j in range(i):
            b[i] = b[i] - lower[i, j] * b[j]
        if not unit:
            b[i] = b[i] / lower[i, i]


def multiply(lower: Array, b: Array) -> None:
    """b := L b for a vector."""
    for i in reversed(range(len(b))):
        b[i] = accumulate(lower[i, i] * b[i], lower[i, :i], b[:i])


def update(a: Array, x: Array, y: Array) -> None:
    """A := A - x y^T, in place."""
    a -= np.multiply.outer(x, y)


# --- level 1 and 2


@algorithm("rotg")
def rotg():
    a, b = numbers(2)
    r = (a * a + b * b).sqrt()
    return a / r, b / r


@algorithm("rotmg")
def rotmg():
    d1, d2, x1, y1 = numbers(4)
    p1, p2 = d1 * x1, d2 * y1
    assert (p2 * y1).value < 9 * (p1 * x1).value  # which of the two entries is the larger
    h21, h12 = -(y1 / x1), p2 / p1
    u = Counted(1) - h12 * h21
    return d1 / u, d2 / u, x1 * u


@algorithm("rot")
def rot(n):
    x, y = numbers(2, n)
    c, s = numbers(2)
    return c * x + s * y, c * y - s * x


@algorithm("rotm")
def rotm(n):
    x, y = numbers(2, n)
    h21, h12 = numbers(2)
    return x + h12 * y, y + h21 * x


@algorithm("scal")
def scal(n):
    return numbers(1)[0] * numbers(n)


@algorithm("axpy")
def axpy(n):
    return numbers(1)[0] * numbers(n) + numbers(n)


@algorithm("dot", "dotu", "dotc", "dsdot", "sdsdot")
def dot(n):
    return accumulate(Counted(0), numbers(n), numbers(n))


@algorithm("nrm2")
def nrm2(n):
    return accumulate(Counted(0), *[numbers(n)] * 2).sqrt()


@algorithm("asum")
def asum(n):
    total = Counted(0)
    for x in numbers(n):
        total = total + abs(x)


@algorithm("gemv")
def gemv(m, n):
    return numbers(m) + numbers(m, n) @ numbers(n)


@algorithm("gbmv")
def gbmv(m, n, kl, ku):
    a, x, y = numbers(m, n), numbers(n), numbers(m)
    for i in range(m):
        for j in range(max(0, i - kl), min(n, i + ku + 1)):
            y[i] = y[i] + a[i, j] * x[j]


@algorithm("symv", "hemv", "spmv", "hpmv")
def symv(n):
    return gemv(n, n)


@algorithm("sbmv", "hbmv")
def sbmv(n, k):
    return gbmv(n, n, k, k)


@algorithm("trmv", "tpmv")
def trmv(n):
    multiply(numbers(n, n), numbers(n))


@algorithm("trsv", "tpsv")
def trsv(n):
    solve(numbers(n, n), numbers(n))


@algorithm("tbmv", "tbsv")
def tbmv(n, k):
    a, x = numbers(n, n), numbers(n)
    for i in reversed(range(n)):
        x[i] = accumulate(a[i, i] * x[i], a[i, max(0, i - k) : i], x[max(0, i - k) : i])


@algorithm("ger", "geru", "gerc")
def ger(m, n):
    update(numbers(m, n), numbers(m), numbers(n))


@algorithm("syr", "her", "spr", "hpr")
def syr(n):
    syrk(n, 1)


@algorithm("syr2", "her2", "spr2", "hpr2")
def syr2(n):
    syr2k(n, 1)


# --- level 3


@algorithm("gemm")
def gemm(m, n, k):
    return numbers(m, n) + numbers(m, k) @ numbers(k, n)


@algorithm("gemmtr")
def gemmtr(n, k):
    syrk(n, k)


@algorithm("symm", "hemm")
def symm(m, n, side):
    return gemm(m, n, m if side == "L" else n)


@algorithm("syrk", "herk")
def syrk(n, k):
    a, c = numbers(n, k), numbers(n, n)
    for i in range(n):
        for j in range(i + 1):
            c[i, j] = accumulate(c[i, j], a[i], a[j])


@algorithm("syr2k", "her2k")
def syr2k(n, k):
    a, b, c = numbers(n, k), numbers(n, k), numbers(n, n)
    for i in range(n):
        for j in range(i + 1):
            c[i, j] = accumulate(accumulate(c[i, j], a[i], b[j]), b[i], a[j])


@algorithm("trmm")
def trmm(m, n, side):
    b = numbers(m, n) if side == "L" else numbers(n, m)
    for right_hand_side in b.T:
        multiply(numbers(len(b), len(b)), right_hand_side)


@algorithm("trsm")
def trsm(m, n, side):
    b = numbers(m, n) if side == "L" else numbers(n, m)
    for right_hand_side in b.T:
        solve(numbers(len(b), len(b)), right_hand_side)


# --- LAPACK, exact


@algorithm("potf2", "potrf2", "potrf")
def potrf(n):
    a = positive_definite(n)
    for k in range(n):
        a[k, k] = a[k, k].sqrt()
        a[k + 1 :, k] = a[k + 1 :, k] / a[k, k]
        for j in range(k + 1, n):
            a[j:, j] = a[j:, j] - a[j:, k] * a[j, k]


@algorithm("lauu2", "lauum")
def lauum(n):
    a = numbers(n, n)
    for i in range(n):  # row i of L^T L
        for j in range(i + 1):
            a[i, j] = accumulate(a[i, i] * a[i, j], a[i + 1 :, i], a[i + 1 :, j])


@algorithm("trti2", "trtri")
def trtri(n):
    a = numbers(n, n)
    for j in reversed(range(n)):
        a[j, j] = Counted(1) / a[j, j]
        multiply(a[j + 1 :, j + 1 :], a[j + 1 :, j])
        a[j + 1 :, j] = -a[j + 1 :, j] * a[j, j]


@algorithm("potrs")
def potrs(n, nrhs):
    trsm(n, nrhs, "L")
    trsm(n, nrhs, "L")


@algorithm("posv")
def posv(n, nrhs):
    potrf(n)
    potrs(n, nrhs)


@algorithm("trtrs")
def trtrs(n, nrhs):
    trsm(n, nrhs, "L")


@algorithm("sygs2", "sygst")
def sygst(n, itype):
    a, b, half = numbers(n, n), numbers(n, n), Counted(0.5)
    for k in range(n) if itype == 1 else reversed(range(n)):
        rest = slice(k + 1, n) if itype == 1 else slice(0, k)
        column, factor = a[rest, k].copy(), b[rest, k]
        if itype == 1:
            a[k, k] = a[k, k] / (b[k, k] * b[k, k])
            column = column / b[k, k]
        shift = half * a[k, k]
        column = column - shift * factor
        for i in range(len(column)):
            for j in range(i + 1):
                entry = a[rest, rest][i, j] - column[i] * factor[j]
                a[rest, rest][i, j] = entry - factor[i] * column[j]
        column = column - shift * factor
        if itype == 1:
            solve(b[rest, rest], column)
        else:
            multiply(b[rest, rest], column)
            column = column * b[k, k]
            a[k, k] = a[k, k] * (b[k, k] * b[k, k])


@algorithm("trsyl", "trsyl3")
def trsyl(m, n):
    a, b, c = numbers(m, m), numbers(n, n), numbers(m, n)
    for j in range(n):
        for i in reversed(range(m)):
            for k in range(i + 1, m):
                c[i, j] = c[i, j] - a[i, k] * c[k, j]
            for k in range(j):
                c[i, j] = c[i, j] - c[i, k] * b[k, j]
            c[i, j] = c[i, j] / (a[i, i] + b[j, j])


@algorithm("getf2", "getrf2", "getrf")
def getrf(m, n):
    a = numbers(m, n)
    for k in range(min(m, n)):
        a[k + 1 :, k] = a[k + 1 :, k] / a[k, k]
        update(a[k + 1 :, k + 1 :], a[k + 1 :, k], a[k, k + 1 :])


@algorithm("getf2np")
def getf2np(n):
    getrf(n, n)


@algorithm("subt")
def subt(m, n):
    a, w = numbers(m, n), numbers(n, m)
    for i in range(m):
        for j in range(n):
            a[i, j] = a[i, j] - w[j, i]


@algorithm("getrs")
def getrs(n, nrhs):
    for right_hand_side in numbers(n, nrhs).T:
        solve(numbers(n, n), right_hand_side, unit=True)
        solve(numbers(n, n), right_hand_side)


@algorithm("gesv")
def gesv(n, nrhs):
    getrf(n, n)
    getrs(n, nrhs)


@algorithm("larft")
def larft(n, k):
    v, tau, t = numbers(n, k), numbers(k), zeros(k, k)
    for i in range(k):
        for j in range(i):  # the unit of v_i spares a product
            t[i, j] = -tau[i] * accumulate(v[i, j], v[i + 1 :, j], v[i + 1 :, i])
        multiply(t[:i, :i], t[i, :i])
        t[i, i] = tau[i]


@algorithm("larfb")
def larfb(m, n, k, side):
    order, others = (m, n) if side == "L" else (n, m)
    v = numbers(order, k)
    for c in numbers(others, order):
        w = np.array([accumulate(c[i], v[i + 1 :, i], c[i + 1 :]) for i in range(k)])
        multiply(numbers(k, k), w)
        for i in range(k):
            c[i] = c[i] - w[i]
            c[i + 1 :] = c[i + 1 :] - v[i + 1 :, i] * w[i]


@algorithm("lange")
def lange(m, n, norm):
    a, total = numbers(m, n), Counted(0)
    for entry in a.ravel() if norm != "M" else []:
        total = total + (entry * entry if norm == "F" else abs(entry))
    return total.sqrt() if norm == "F" else total


# --- LAPACK, in the highest terms


def reflect(x: Array) -> tuple[Array, Counted]:
    """v (with a unit in front) and tau that map x to a multiple of the first unit vector."""
    norm = accumulate(Counted(0), x, x).sqrt()
    head = x[0] + norm
    return np.concatenate([[Counted(1)], x[1:] / head]), head / norm


def apply(v: Array, tau: Counted, a: Array) -> None:
    """A := (I - tau v v^T) A, in place."""
    update(a, v, tau * (v @ a))


@algorithm("geqr2", "geqrf")
def geqrf(m, n):
    a = numbers(m, n)
    for k in range(min(m, n)):
        v, tau = reflect(a[k:, k])
        if k + 1 < n:
            apply(v, tau, a[k:, k + 1 :])


@algorithm("geqrt2")
def geqrt2(m, n):
    geqrf(m, n)
    larft(m, n)


@algorithm("geqrt")
def geqrt(m, n, nb):
    geqrf(m, n)
    for k in range(0, min(m, n), nb):
        larft(m - k, min(nb, min(m, n) - k))


@algorithm("orgqr")
def orgqr(m, n, k):
    a = numbers(m, n)
    for i in reversed(range(k)):
        apply(numbers(m - i), Counted(1), a[i:, i:])


@algorithm("ormqr")
def ormqr(m, n, k, side):
    c = numbers(m, n) if side == "L" else numbers(n, m)
    for i in range(k):
        apply(numbers(len(c) - i), Counted(1), c[i:])


@algorithm("sytd2", "sytrd")
def sytrd(n):
    a = numbers(n, n)
    for k in range(n - 1):
        v, tau = reflect(a[k + 1 :, k])
        rest = a[k + 1 :, k + 1 :]
        w = tau * (rest @ v)
        w = w - v * (tau * (w @ v))
        for i in range(len(v)):
            for j in range(i + 1):
                rest[i, j] = rest[i, j] - v[i] * w[j] - w[i] * v[j]


@algorithm("latrd")
def latrd(n, nb):
    a, w = numbers(n, n), zeros(n, nb)
    for k in range(nb):
        done, below = slice(0, k), slice(k + 1, n)
        if k:
            a[k:, k] = a[k:, k] - a[k:, done] @ w[k, done] - w[k:, done] @ a[k, done]
        v, tau = reflect(a[below, k])
        column = a[below, below] @ v
        if k:
            column = column - a[below, done] @ (w[below, done].T @ v) - w[below, done] @ (a[below, done].T @ v)
        column = tau * column
        w[below, k] = column - v * (tau * (column @ v))


@algorithm("gebd2", "gebrd")
def gebrd(m, n):
    a = numbers(m, n) if m >= n else numbers(n, m)
    n = min(m, n)
    for k in range(n):
        v, tau = reflect(a[k:, k])
        if k + 1 < n:
            apply(v, tau, a[k:, k + 1 :])
            u, tau = reflect(a[k, k + 1 :])
            apply(u, tau, a[k + 1 :, k + 1 :].T)


@algorithm("labrd")
def labrd(m, n, nb):
    a = numbers(m, n) if m >= n else numbers(n, m)
    m, n = a.shape
    x, y = zeros(m, nb), zeros(n, nb)
    for k in range(nb):
        done, here, below, right = slice(0, k), slice(k, m), slice(k + 1, m), slice(k + 1, n)
        if k:
            a[here, k] = a[here, k] - a[here, done] @ y[k, done] - x[here, done] @ a[done, k]
        v, tau = reflect(a[here, k])
        row = a[here, right].T @ v
        if k:
            row = row - y[right, done] @ (a[here, done].T @ v) - a[done, right].T @ (x[here, done].T @ v)
        y[right, k] = tau * row
        a[k, right] = a[k, right] - y[right, : k + 1] @ a[k, : k + 1]
        if k:
            a[k, right] = a[k, right] - a[done, right].T @ x[k, done]
        u, tau = reflect(a[k, right])
        column = a[below, right] @ u - a[below, : k + 1] @ (y[right, : k + 1].T @ u)
        if k:
            column = column - x[below, done] @ (a[done, right] @ u)
        x[below, k] = tau * column


@algorithm("gehd2", "gehrd")
def gehrd(n):
    a = numbers(n, n)
    for k in range(n - 1):
        v, tau = reflect(a[k + 1 :, k])
        apply(v, tau, a[k + 1 :, k + 1 :])
        apply(v, tau, a[:, k + 1 :].T)
