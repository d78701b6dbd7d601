"""What LAPACK routines should compute, by name: pairs of what came (from y) and what is right (from x).

Factorisations are checked by their defining equation, from the factors that were returned.
"""

import numpy as np
import scipy.linalg

from .blas_results import beside, result
from .matrices import hermitian, op, product_of_reflectors, swapped, triangle, unit_columns, updated

# --- Cholesky


@result("potf2", "potrf2", "potrf")
def potrf(c, x, y):
    yield y.A, updated(c.uplo, scipy.linalg.cholesky(hermitian(c.uplo, x.A), lower=c.uplo == "L"), x.A)


def squared(uplo, a):
    """L L^H or U^H U."""
    factor = triangle(uplo, a)
    return factor @ factor.conj().T if uplo == "L" else factor.conj().T @ factor


@result("lauu2", "lauum")
def lauum(c, x, y):
    factor = triangle(c.uplo, x.A)
    factor = factor if c.uplo == "L" else factor.conj().T
    yield y.A, updated(c.uplo, factor.conj().T @ factor, x.A)


@result("potrs")
def potrs(c, x, y):
    yield y.B, np.linalg.solve(squared(c.uplo, x.A), x.B)


@result("posv")
def posv(c, x, y):
    yield from potrf(c, x, y)
    yield y.B, np.linalg.solve(hermitian(c.uplo, x.A), x.B)


@result("sygs2", "sygst")
def sygst(c, x, y):
    factor, a = triangle(c.uplo, x.B), hermitian(c.uplo, x.A)
    factor = factor if c.uplo == "L" else factor.conj().T
    if c.itype == 1:
        inverse = np.linalg.inv(factor)
        wanted = inverse @ a @ inverse.conj().T
    else:
        wanted = factor.conj().T @ a @ factor
    yield y.A, updated(c.uplo, wanted, x.A)


# --- triangular matrices


@result("trti2", "trtri")
def trtri(c, x, y):
    inverse = np.linalg.inv(triangle(c.uplo, x.A, c.diag))
    if c.diag == "U":
        np.fill_diagonal(inverse, np.diag(x.A))
    yield y.A, updated(c.uplo, inverse, x.A)


@result("trtrs")
def trtrs(c, x, y):
    yield y.B, np.linalg.solve(op(c.trans, triangle(c.uplo, x.A, c.diag)), x.B)


@result("trcon")
def trcon(c, x, y):
    a = triangle(c.uplo, x.A, c.diag)
    order = 1 if c.norm == "1" else np.inf
    condition = np.linalg.norm(a, order) * np.linalg.norm(np.linalg.inv(a), order)
    assert 0.999 < y.rcond * condition < 3, "the inverse's norm is estimated from below"
    yield y.rcond, y.rcond


@result("trsyl", "trsyl3")
def trsyl(c, x, y):
    a, b = op(c.transA, np.triu(x.A)), op(c.transB, np.triu(x.B))
    yield y.C, y.scale * scipy.linalg.solve_sylvester(a, c.isgn * b, x.C)
    yield y.scale, 1


# --- LU


@result("getf2", "getrf2", "getrf")
def getrf(c, x, y):
    steps = min(x.A.shape)
    lower, upper = unit_columns(y.A, steps), np.triu(y.A[:steps])
    yield lower @ upper, swapped(x.A, y.ipiv)
    assert np.max(abs(lower)) <= 1.5, "pivots are the largest of their columns (in the measure of iamax)"


@result("laswp")
def laswp(c, x, y):
    yield y.A, swapped(x.A, x.ipiv, backwards=c.incx == -1)


@result("getrs")
def getrs(c, x, y):
    a = swapped(unit_columns(x.A, c.n) @ np.triu(x.A), x.ipiv, backwards=True)
    yield y.B, np.linalg.solve(op(c.trans, a), x.B)


@result("gesv")
def gesv(c, x, y):
    yield from getrf(c, x, y)
    yield y.B, np.linalg.solve(x.A, x.B)


# --- QR


def unitary(q):
    return q.conj().T @ q, np.eye(q.shape[1])


@result("geqr2", "geqrf")
def geqrf(c, x, y):
    steps = min(c.m, c.n)
    q = product_of_reflectors(unit_columns(y.A, steps), y.tau)
    yield unitary(q)
    yield q @ np.triu(y.A), x.A


@result("geqrt2", "geqrt")
def geqrt(c, x, y):
    steps = min(c.m, c.n)
    q = np.eye(c.m)
    vectors = unit_columns(y.A, steps)
    for first in range(0, steps, len(y.T)):
        v = vectors[:, first : first + len(y.T)]
        q = q - q @ v @ np.triu(y.T[: v.shape[1], first : first + len(y.T)]) @ v.conj().T
    yield unitary(q)
    yield q @ np.triu(y.A), x.A


def block_vectors(c, stored, order):
    """Vectors of a block reflector as columns, its units and zeros filled in."""
    v = stored if c.storev == "C" else stored.conj().T
    if c.direct == "F":
        return unit_columns(v, c.k)
    return np.triu(v, c.k - order + 1) + np.eye(order, c.k, c.k - order)


@result("larft")
def larft(c, x, y):
    v = block_vectors(c, x.V, c.n)
    t = np.triu(y.T) if c.direct == "F" else np.tril(y.T)
    forward = slice(None, None, 1 if c.direct == "F" else -1)
    yield np.eye(c.n) - v @ t @ v.conj().T, product_of_reflectors(v[:, forward], x.tau[forward])


@result("larfb")
def larfb(c, x, y):
    order = c.m if c.side == "L" else c.n
    v = block_vectors(c, x.V, order)
    t = np.triu(x.T) if c.direct == "F" else np.tril(x.T)
    yield y.C, beside(c, op(c.trans, np.eye(order) - v @ t @ v.conj().T), x.C)


@result("orgqr")
def orgqr(c, x, y):
    yield y.A, product_of_reflectors(unit_columns(x.A, c.k), x.tau)[:, : c.n]


@result("ormqr")
def ormqr(c, x, y):
    yield y.C, beside(c, op(c.trans, product_of_reflectors(unit_columns(x.A, c.k), x.tau)), x.C)


# --- reductions


def tridiagonal_reflectors(c, a, tau, first, end):
    """Q of sytrd, from the reflectors first..end-1; for uplo U the last one comes first."""
    if c.uplo == "L":
        return product_of_reflectors(unit_columns(a, c.n - 1, 1)[:, first:end], tau[first:end])
    vectors = np.triu(a, 2)[:, 1:] + np.eye(c.n, c.n - 1)
    return product_of_reflectors(vectors[:, first:end][:, ::-1], tau[first:end][::-1])


@result("sytd2", "sytrd")
def sytrd(c, x, y):
    q = tridiagonal_reflectors(c, y.A, y.tau, 0, c.n - 1)
    yield unitary(q)
    yield q @ (np.diag(y.d) + np.diag(y.e, 1) + np.diag(y.e, -1)) @ q.conj().T, hermitian(c.uplo, x.A)


@result("latrd")
def latrd(c, x, y):
    first, end = (0, c.nb) if c.uplo == "L" else (c.n - 1 - c.nb, c.n - 1)
    q = tridiagonal_reflectors(c, y.A, y.tau, first, end)
    yield unitary(q)
    reduced = q.conj().T @ hermitian(c.uplo, x.A) @ q
    if c.uplo == "L":
        rest, done = slice(c.nb, None), slice(0, c.nb)
        v = unit_columns(y.A, c.nb, 1)[rest]
        offset = np.diag(reduced, -1)[first:end]
    else:
        rest, done = slice(0, c.n - c.nb), slice(c.n - c.nb, None)
        v = (np.triu(y.A, 2)[:, 1:] + np.eye(c.n, c.n - 1))[rest, first:end]
        offset = np.diag(reduced, 1)[first:end]
    yield y.e[first:end], offset
    yield np.diag(y.A).real[done], np.diag(reduced)[done]
    update = v @ y.W[rest].conj().T
    yield reduced[rest, rest], hermitian(c.uplo, x.A)[rest, rest] - update - update.conj().T


def bidiagonal_reflectors(c, y):
    """Vectors of Q and P of gebrd, as columns."""
    below, right = (0, 1) if c.m >= c.n else (1, 0)
    steps = len(y.tauq)
    return unit_columns(y.A, steps, below), unit_columns(y.A.conj().T, steps, right)


@result("gebd2", "gebrd")
def gebrd(c, x, y):
    v, u = bidiagonal_reflectors(c, y)
    q, p = product_of_reflectors(v, y.tauq), product_of_reflectors(u, y.taup)
    yield unitary(q)
    yield unitary(p)
    b = np.zeros((c.m, c.n))
    steps = min(c.m, c.n)
    b[range(steps), range(steps)] = y.d
    beside_diagonal = (range(steps - 1), range(1, steps))
    b[beside_diagonal if c.m >= c.n else beside_diagonal[::-1]] = y.e
    yield q @ b @ p.conj().T, x.A


@result("labrd")
def labrd(c, x, y):
    v, u = bidiagonal_reflectors(c, y)
    q, p = product_of_reflectors(v, y.tauq), product_of_reflectors(u, y.taup)
    yield unitary(q)
    yield unitary(p)
    reduced = q.conj().T @ x.A @ p
    yield np.diag(reduced)[: c.nb], y.d
    yield np.diag(reduced, 1 if c.m >= c.n else -1)[: c.nb], y.e
    rest = (slice(c.nb, None), slice(c.nb, None))
    yield reduced[rest], (x.A - v @ y.Y.conj().T - y.X @ u.conj().T)[rest]


@result("gehd2", "gehrd")
def gehrd(c, x, y):
    q = product_of_reflectors(unit_columns(y.A, c.n - 1, 1), y.tau)
    yield unitary(q)
    yield q @ np.triu(y.A, -1) @ q.conj().T, x.A


# --- loops of the engine


@result("subt")
def subt(c, x, y):
    yield y.A, x.A - x.W.conj().T


@result("shift")
def shift(c, x, y):
    yield y.ipiv, x.ipiv + c.k


@result("getf2np")
def getf2np(c, x, y):
    yield (np.tril(y.A, -1) + np.eye(c.n)) @ np.triu(y.A), x.A


# --- copies, constants, norms


def part(uplo, new, old):
    return new if uplo == "A" else updated(uplo, new, old)


@result("lacpy")
def lacpy(c, x, y):
    yield y.B, part(c.uplo, x.A, x.B)


@result("laset")
def laset(c, x, y):
    constant = np.full_like(x.A, c.alpha)
    np.fill_diagonal(constant, c.beta)
    yield y.A, part(c.uplo, constant, x.A)


@result("lacgv")
def lacgv(c, x, y):
    yield y.x, x.x.conj()


@result("lange")
def lange(c, x, y):
    norms = {"M": np.max, "1": lambda a: np.linalg.norm(a, 1), "I": lambda a: np.linalg.norm(a, np.inf)}
    yield y.value, norms.get(c.norm, np.linalg.norm)(abs(x.A))


@result("zero")
def zero(c, x, y):
    yield y.A, np.zeros_like(x.A)


@result("transpose")
def transpose(c, x, y):
    yield y.B, x.A.T
