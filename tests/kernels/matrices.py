"""Matrices as BLAS and LAPACK store them, as full matrices."""

import numpy as np

Array = np.ndarray


def op(flag: str, a: Array) -> Array:
    """A, its transpose, or its conjugate transpose."""
    return {"N": a, "T": a.T, "C": a.conj().T}[flag]


def triangle(uplo: str, a: Array, diag: str = "N") -> Array:
    """The lower or upper triangle, its diagonal a unit if `diag` is U."""
    part = np.tril(a) if uplo == "L" else np.triu(a)
    if diag == "U":
        np.fill_diagonal(part, 1)
    return part


def symmetric(uplo: str, a: Array) -> Array:
    """The symmetric matrix of which one triangle is stored."""
    part = triangle(uplo, a)
    return part + part.T - np.diag(np.diag(a))


def hermitian(uplo: str, a: Array) -> Array:
    """The Hermitian matrix of which one triangle is stored; its diagonal is real."""
    part = triangle(uplo, a)
    np.fill_diagonal(part, 0)
    return part + part.conj().T + np.diag(np.diag(a).real)


def updated(uplo: str, new: Array, old: Array) -> Array:
    """A triangle of `new`, the other one of `old`."""
    return np.where(triangle(uplo, np.ones(old.shape)) == 1, new, old)


def unpacked(uplo: str, packed: Array, n: int) -> Array:
    """The triangle that is stored column by column."""
    full = np.zeros((n, n), dtype=packed.dtype)
    columns, rows = np.nonzero(triangle(uplo, np.ones((n, n))).T)  # in the order of columns
    full[rows, columns] = packed
    return full


def from_band(band: Array, rows: int, below: int, above: int) -> Array:
    """The matrix whose diagonals are stored as rows."""
    full = np.zeros((rows, band.shape[1]), dtype=band.dtype)
    for i in range(rows):
        for j in range(max(0, i - below), min(band.shape[1], i + above + 1)):
            full[i, j] = band[above + i - j, j]
    return full


def product_of_reflectors(vectors: Array, tau: Array) -> Array:
    """H_1 H_2 ... with H_i = I - tau_i v_i v_i^H, v_i the columns of `vectors`."""
    product = np.eye(len(vectors), dtype=vectors.dtype)
    for v, factor in zip(vectors.T, tau, strict=True):
        product = product - factor * np.outer(product @ v, v.conj())
    return product


def unit_columns(a: Array, count: int, below: int = 0) -> Array:
    """Vectors of reflectors stored under the diagonal, or `below` it: zeros, a unit, what is stored."""
    return np.tril(a[:, :count], -1 - below) + np.eye(len(a), count, -below, dtype=a.dtype)


def swapped(rows: Array, pivots: Array, backwards: bool = False) -> Array:
    """Row i and row pivots[i] (counted from 1) exchanged, one i after the other."""
    result = rows.copy()
    order = list(enumerate(pivots - 1))
    for i, j in reversed(order) if backwards else order:
        result[[i, j]] = result[[j, i]]
    return result
