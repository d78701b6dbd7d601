"""What BLAS routines should compute, by name: pairs of what came (from y) and what is right (from x)."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import numpy as np

from .matrices import from_band, hermitian, op, symmetric, triangle, unpacked, updated

Pairs = Iterator[tuple[np.ndarray, np.ndarray]]
Result = Callable[[SimpleNamespace, SimpleNamespace, SimpleNamespace], Pairs]
RESULTS: dict[str, Result] = {}


def result(*names: str) -> Callable[[Result], Result]:
    """Enters a function as the result of kernels."""

    def enter(function: Result) -> Result:
        RESULTS.update(dict.fromkeys(names, function))
        return function

    return enter


# --- level 1


@result("rotg")
def rotg(c, x, y):
    rotation = np.block([[y.c, y.s], [-y.s.conj(), y.c]])
    yield rotation @ np.concatenate([x.a, x.b]), np.concatenate([y.a, [0]])
    yield rotation @ rotation.conj().T, np.eye(2)
    if c.dtype in "sd":
        yield y.b, y.s if abs(x.a) > abs(x.b) else 1 / y.c


def modified_rotation(param):
    flag, h11, h21, h12, h22 = param
    if flag == -2:
        return np.eye(2)
    if flag < 0:
        return np.array([[h11, h12], [h21, h22]])
    return np.array([[1, h12], [h21, 1]]) if flag == 0 else np.array([[h11, 1], [-1, h22]])


@result("rotmg")
def rotmg(c, x, y):
    h = modified_rotation(y.param)
    yield h @ np.concatenate([x.x1, x.y1]), np.concatenate([y.x1, [0]])
    yield h.T @ np.diag(np.concatenate([y.d1, y.d2])) @ h, np.diag(np.concatenate([x.d1, x.d2]))


@result("rot")
def rot(c, x, y):
    yield y.x, c.c * x.x + c.s * x.y
    yield y.y, c.c * x.y - c.s * x.x


@result("rotm")
def rotm(c, x, y):
    yield np.stack([y.x, y.y]), modified_rotation(x.param) @ np.stack([x.x, x.y])


@result("swap")
def swap(c, x, y):
    yield y.x, x.y
    yield y.y, x.x


@result("copy")
def copy(c, x, y):
    yield y.y, x.x


@result("scal", "rscal")
def scal(c, x, y):
    yield y.x, c.alpha * x.x


@result("axpy")
def axpy(c, x, y):
    yield y.y, c.alpha * x.x + x.y


@result("dot", "dotu")
def dot(c, x, y):
    yield y.value, np.sum(x.x * x.y)


@result("dotc")
def dotc(c, x, y):
    yield y.value, np.sum(x.x.conj() * x.y)


@result("dsdot")
def dsdot(c, x, y):
    exact = np.sum(x.x.astype(float) * x.y)
    assert y.value.dtype == np.float64
    np.testing.assert_allclose(y.value, exact, rtol=0, atol=1e-13)  # beyond the tolerance of the operands' type
    yield y.value, exact


@result("sdsdot")
def sdsdot(c, x, y):
    yield y.value, c.b + np.sum(x.x.astype(float) * x.y)


@result("nrm2")
def nrm2(c, x, y):
    yield y.value, np.sqrt(np.sum(abs(x.x) ** 2))


@result("asum")
def asum(c, x, y):
    yield y.value, np.sum(abs(x.x.real) + abs(x.x.imag))


@result("iamax")
def iamax(c, x, y):
    yield y.value, np.argmax(abs(x.x.real) + abs(x.x.imag)) + 1


@result("cabs1")
def cabs1(c, x, y):
    yield y.value, abs(x.a.real) + abs(x.a.imag)


# --- level 2


def product(c, x, y, matrix):
    yield y.y, c.alpha * matrix @ x.x + c.beta * x.y


@result("gemv")
def gemv(c, x, y):
    return product(c, x, y, op(c.trans, x.A))


@result("gbmv")
def gbmv(c, x, y):
    return product(c, x, y, op(c.trans, from_band(x.A, c.m, c.kl, c.ku)))


def triangular_band(c, band):
    return from_band(band, c.n, c.k, 0) if c.uplo == "L" else from_band(band, c.n, 0, c.k)


@result("symv")
def symv(c, x, y):
    return product(c, x, y, symmetric(c.uplo, x.A))


@result("hemv")
def hemv(c, x, y):
    return product(c, x, y, hermitian(c.uplo, x.A))


@result("sbmv")
def sbmv(c, x, y):
    return product(c, x, y, symmetric(c.uplo, triangular_band(c, x.A)))


@result("hbmv")
def hbmv(c, x, y):
    return product(c, x, y, hermitian(c.uplo, triangular_band(c, x.A)))


@result("spmv")
def spmv(c, x, y):
    return product(c, x, y, symmetric(c.uplo, unpacked(c.uplo, x.A, c.n)))


@result("hpmv")
def hpmv(c, x, y):
    return product(c, x, y, hermitian(c.uplo, unpacked(c.uplo, x.A, c.n)))


def stored_triangle(c, x):
    """op(A) of the triangular kernels of level 2, from full, band or packed storage."""
    storage = {"r": lambda: x.A, "b": lambda: triangular_band(c, x.A), "p": lambda: unpacked(c.uplo, x.A, c.n)}
    return op(c.trans, triangle(c.uplo, storage[c.call.kernel.name[1]](), c.diag))


@result("trmv", "tbmv", "tpmv")
def trmv(c, x, y):
    yield y.x, stored_triangle(c, x) @ x.x


@result("trsv", "tbsv", "tpsv")
def trsv(c, x, y):
    yield y.x, np.linalg.solve(stored_triangle(c, x), x.x)


@result("ger", "geru")
def ger(c, x, y):
    yield y.A, c.alpha * np.outer(x.x, x.y) + x.A


@result("gerc")
def gerc(c, x, y):
    yield y.A, c.alpha * np.outer(x.x, x.y.conj()) + x.A


@result("syr")
def syr(c, x, y):
    yield y.A, updated(c.uplo, c.alpha * np.outer(x.x, x.x) + x.A, x.A)


@result("syr2")
def syr2(c, x, y):
    outer = c.alpha * np.outer(x.x, x.y)
    yield y.A, updated(c.uplo, outer + outer.T + x.A, x.A)


def hermitian_triangle(uplo, got, wanted, old):
    """Compares triangles with real diagonals (what becomes of imaginary parts there is not defined for alpha = 0)."""
    yield hermitian(uplo, got), hermitian(uplo, wanted)
    yield updated(uplo, old, got), old


@result("her")
def her(c, x, y):
    return hermitian_triangle(c.uplo, y.A, c.alpha * np.outer(x.x, x.x.conj()) + x.A, x.A)


@result("her2")
def her2(c, x, y):
    outer = c.alpha * np.outer(x.x, x.y.conj())
    return hermitian_triangle(c.uplo, y.A, outer + outer.conj().T + x.A, x.A)


@result("spr", "spr2", "hpr", "hpr2")
def packed_update(c, x, y):
    full = {"spr": syr, "spr2": syr2, "hpr": her, "hpr2": her2}[c.call.kernel.name]
    old, new = ({**vars(z), "A": unpacked(c.uplo, z.A, c.n)} for z in (x, y))
    return full(c, SimpleNamespace(**old), SimpleNamespace(**new))


# --- level 3


@result("gemm")
def gemm(c, x, y):
    yield y.C, c.alpha * op(c.transA, x.A) @ op(c.transB, x.B) + c.beta * x.C


@result("gemmtr")
def gemmtr(c, x, y):
    yield y.C, updated(c.uplo, c.alpha * op(c.transA, x.A) @ op(c.transB, x.B) + c.beta * x.C, x.C)


def beside(c, a, b):
    """A B or B A."""
    return a @ b if c.side == "L" else b @ a


@result("symm")
def symm(c, x, y):
    yield y.C, c.alpha * beside(c, symmetric(c.uplo, x.A), x.B) + c.beta * x.C


@result("hemm")
def hemm(c, x, y):
    yield y.C, c.alpha * beside(c, hermitian(c.uplo, x.A), x.B) + c.beta * x.C


@result("syrk")
def syrk(c, x, y):
    a = x.A if c.trans == "N" else x.A.T
    yield y.C, updated(c.uplo, c.alpha * a @ a.T + c.beta * x.C, x.C)


@result("syr2k")
def syr2k(c, x, y):
    a, b = (x.A, x.B) if c.trans == "N" else (x.A.T, x.B.T)
    yield y.C, updated(c.uplo, c.alpha * (a @ b.T + b @ a.T) + c.beta * x.C, x.C)


@result("herk")
def herk(c, x, y):
    a = op(c.trans, x.A)
    return hermitian_triangle(c.uplo, y.C, c.alpha * a @ a.conj().T + c.beta * x.C, x.C)


@result("her2k")
def her2k(c, x, y):
    outer = c.alpha * op(c.trans, x.A) @ op(c.trans, x.B).conj().T
    return hermitian_triangle(c.uplo, y.C, outer + outer.conj().T + c.beta * x.C, x.C)


@result("trmm")
def trmm(c, x, y):
    yield y.B, c.alpha * beside(c, op(c.transA, triangle(c.uplo, x.A, c.diag)), x.B)


@result("trsm")
def trsm(c, x, y):
    inverse = np.linalg.inv(op(c.transA, triangle(c.uplo, x.A, c.diag)))
    yield y.B, c.alpha * beside(c, inverse, x.B)
