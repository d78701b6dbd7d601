"""Operands and defining equations of operations, for tests."""

from collections.abc import Mapping

import numpy as np
import scipy.linalg

from blascast.algorithms import find_operation

Arrays = Mapping[str, np.ndarray]
NUMBERS = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}


def operands(operation: str, sizes: Mapping[str, int], dtype: str = "d") -> dict[str, np.ndarray]:
    """Well-conditioned operands; not a number wherever an algorithm must not read."""
    random = np.random.default_rng(sum(sizes.values()))
    n, m = sizes["n"], sizes.get("m", sizes["n"])

    def uniform(*shape: int) -> np.ndarray:
        values = random.uniform(-1, 1, shape)
        return values + 1j * random.uniform(-1, 1, shape) if dtype in "cz" else values

    def definite() -> np.ndarray:
        half = uniform(n, n) / n
        return half @ half.conj().T + np.eye(n)

    lower = "upper" not in operation
    kind = operation.removesuffix("-upper")
    if kind == "cholesky":
        found = {"A": _triangle(definite(), lower)}
    elif kind in ("trinv", "lauum"):
        matrix = uniform(n, n) / n + np.eye(n)
        np.fill_diagonal(matrix, matrix.diagonal().real)  # as that of a Cholesky factor, which lauum expects
        found = {"A": _triangle(matrix, lower)}
    elif kind in ("sygst", "sygst-product"):
        factor = np.linalg.cholesky(definite())
        found = {"A": _triangle(definite(), lower), "B": _triangle(factor if lower else factor.conj().T, lower)}
    elif kind == "lu-nopiv":
        found = {"A": uniform(n, n) + 2 * n * np.eye(n)}
    elif kind == "sylvester":
        left, right = np.triu(uniform(m, m) / m) + 2 * np.eye(m), np.triu(uniform(n, n) / n) + 7 * np.eye(n)
        found = {"A": left, "B": right, "C": uniform(m, n)}
    else:
        found = {"A": uniform(m, n)}
    return {name: array.astype(NUMBERS[dtype]) for name, array in found.items()}


def _triangle(matrix: np.ndarray, lower: bool) -> np.ndarray:
    matrix = matrix.copy()
    matrix[np.triu_indices(len(matrix), 1) if lower else np.tril_indices(len(matrix), -1)] = np.nan
    return matrix


def residual(operation: str, before: Arrays, after: Arrays) -> float:
    """How far the defining equation is from being satisfied, relative to its sides."""
    left, right = _equation(operation, before, after)
    return float(np.linalg.norm(left - right) / np.linalg.norm(right))


def _equation(operation: str, before: Arrays, after: Arrays) -> tuple[np.ndarray, np.ndarray]:
    lower, kind = "upper" not in operation, operation.removesuffix("-upper")
    A, X = before["A"], after["A"]
    half = (np.tril if lower else np.triu)(np.nan_to_num(A))
    if kind == "cholesky":
        factor = np.tril(X) if lower else np.triu(X).conj().T
        return factor @ factor.conj().T, _full(A, lower)
    if kind == "trinv":
        return half @ (np.tril if lower else np.triu)(X), np.eye(len(A))
    if kind == "lauum":
        product = half.conj().T @ half if lower else half @ half.conj().T
        return _full(X, lower), product
    if kind in ("sygst", "sygst-product"):
        factor = (np.tril if lower else np.triu)(np.nan_to_num(before["B"]))
        middle = _full(A, lower)
        outer = factor if lower else factor.conj().T  # L, with A = L^-1 A L^-H or L^H A L
        if kind == "sygst":
            half_way = scipy.linalg.solve_triangular(outer, middle, lower=True)
            return _full(X, lower), scipy.linalg.solve_triangular(outer, half_way.conj().T, lower=True).conj().T
        return _full(X, lower), outer.conj().T @ middle @ outer
    if kind == "sylvester":
        solution = after["C"]
        return before["A"] @ solution + solution @ before["B"], before["C"]
    if kind == "qr":
        count = min(A.shape)
        is_complex = np.iscomplexobj(X)
        generate = scipy.linalg.lapack.zungqr if is_complex else scipy.linalg.lapack.dorgqr
        vectors = np.asfortranarray(X[:, :count], dtype=complex if is_complex else float)
        Q = generate(vectors, after["tau"].ravel())[0]
        return Q @ np.triu(X)[:count], A
    count = min(A.shape)
    L, U = np.tril(X[:, :count], -1) + np.eye(len(A), count), np.triu(X)[:count]
    if kind == "lu-nopiv":
        return L @ U, A
    swapped = A.copy()
    for i, j in enumerate(after["ipiv"].ravel().astype(int) - 1):
        swapped[[i, j]] = swapped[[j, i]]
    return L @ U, swapped


def _full(matrix: np.ndarray, lower: bool) -> np.ndarray:
    half = np.tril(matrix) if lower else np.triu(matrix).conj().T
    return half + np.tril(half, -1).conj().T


def squares(n: int, operation: str) -> dict[str, int]:
    """The sizes of a square problem."""
    return dict.fromkeys(find_operation(operation).sizes, n)
