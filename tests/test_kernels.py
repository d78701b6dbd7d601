"""Kernels as data: sizes, counts, and results of every case against SciPy."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.linalg

from blascast.sampler.call import Call, View, bind
from blascast.sampler.errors import UsageError
from blascast.sampler.host import WorkerBackend
from blascast.sampler.kernel import Data, Flag, Info, Kernel, Ld, Size
from blascast.sampler.kernels import KERNELS, find_kernel, register
from blascast.sampler.program import Run, buffers_for
from blascast.sampler.setup import SetupRequest

M, N, K = 13, 11, 7


def view(name: str, rows: int, columns: int) -> View:
    return View(name, 0, 0, rows, columns, 24)


def test_flops_counted_by_hand() -> None:
    counted = {
        "gemm": 2 * M * N * K,
        "syrk": N * (N + 1) * K,
        "trsm": M * M * N,
        "trmm": M * M * N,
        "potf2": 1 + 4 + 9,  # n = 3: sum of squares
        "potrf2": 1 + 4 + 9,
        "trti2": 1 + 4 + 9,
    }
    flags = {"side": "L", "transA": "N", "transB": "N", "trans": "N", "uplo": "L", "diag": "N"}
    for name, flops in counted.items():
        n = 3 if len(KERNELS[name].sizes) == 1 else N
        assert KERNELS[name].flop_count({**flags, "m": M, "n": n, "k": K}) == flops


def test_bytes_counted_by_hand() -> None:
    call = bind(find_kernel("gemm"), "N", "N", 1, view("A", M, K), view("B", K, N), 1, view("C", M, N))
    assert call.byte_count("d") == 8 * (M * K + K * N + 2 * M * N)
    assert call.byte_count("s") == call.byte_count("d") / 2


def calls_of(kernel: Kernel) -> list[Call]:
    """One call for every combination of flags, with alpha -1 and beta 2."""
    calls = []
    flags = [a for a in kernel.bound if isinstance(a, Flag)]
    for letters in product(*(flag.letters for flag in flags)):
        named: dict[str, Any] = dict(zip((flag.name for flag in flags), letters, strict=True))
        sizes = {"m": M, "n": N, "k": K}
        from blascast.sampler.expression import parse

        values: list[Any] = []
        for argument in kernel.bound:
            if isinstance(argument, Flag):
                values.append(named[argument.name])
            elif isinstance(argument, Data):
                extents = [parse(t).evaluate({**named, **sizes}) for t in (argument.rows, argument.columns)]
                values.append(view(argument.name, *extents))
            else:
                values.append({"alpha": -1, "beta": 2}[argument.name])
        calls.append(bind(kernel, *values))
    return calls


def op(flag: str, matrix: np.ndarray) -> np.ndarray:
    return matrix if flag == "N" else matrix.T


def triangle(uplo: str, matrix: np.ndarray, diag: str = "N") -> np.ndarray:
    part = np.tril(matrix) if uplo == "L" else np.triu(matrix)
    if diag == "U":
        np.fill_diagonal(part, 1)
    return part


def expected(call: Call, x: dict[str, np.ndarray]) -> np.ndarray:
    f = call.flags
    match call.kernel.name:
        case "gemm":
            return -op(f["transA"], x["A"]) @ op(f["transB"], x["B"]) + 2 * x["C"]
        case "syrk":
            a = op(f["trans"], x["A"])
            other = np.triu(x["C"], 1) if f["uplo"] == "L" else np.tril(x["C"], -1)
            return triangle(f["uplo"], -a @ a.T + 2 * x["C"]) + other
        case "trmm" | "trsm":
            a = op(f["transA"], triangle(f["uplo"], x["A"], f["diag"]))
            a = a if call.kernel.name == "trmm" else np.linalg.inv(a)
            return -a @ x["B"] if f["side"] == "L" else -x["B"] @ a
        case "potf2" | "potrf2":
            result = scipy.linalg.cholesky(x["A"], lower=f["uplo"] == "L")
        case "trti2":
            result = np.linalg.inv(triangle(f["uplo"], x["A"], f["diag"]))
            if f["diag"] == "U":
                np.fill_diagonal(result, np.diag(x["A"]))
    other = np.triu(x["A"], 1) if f["uplo"] == "L" else np.tril(x["A"], -1)
    return result + other


@pytest.mark.parametrize("dtype", ["d", "s"])
@pytest.mark.parametrize("name", sorted(KERNELS))
def test_every_case_computes_what_it_should(name: str, dtype: str, real: WorkerBackend) -> None:
    backend = real if dtype == "d" else WorkerBackend(SetupRequest(dtype=dtype))
    tolerance = 1e-12 if dtype == "d" else 1e-4
    try:
        for call in calls_of(KERNELS[name]):
            backend.allocate(buffers_for([call]))
            before = {data.name: backend.read(data.name).astype(float) for data in call.kernel.data}
            backend.run([Run(call)])
            (output,) = call.overwritten
            np.testing.assert_allclose(backend.read(output.buffer), expected(call, before), rtol=0, atol=tolerance)
    finally:
        if backend is not real:
            backend.close()


def test_a_new_kernel_is_a_declaration(real: WorkerBackend) -> None:
    lauu2 = Kernel(
        "lauu2",
        types="sd",
        arguments=(Flag("uplo", "LU"), Size("n"), Data("A", "inout", "n", "n"), Ld("lda", "A"), Info()),
        flops="n * (n + 1) * (2 * n + 1) / 6",
        words="n * (n + 1)",
    )
    call = bind(lauu2, "L", view("A", N, N))
    real.allocate(buffers_for([call]))
    lower = np.tril(real.read("A"))
    real.run([Run(call)])
    np.testing.assert_allclose(np.tril(real.read("A")), np.tril(lower.T @ lower), atol=1e-13)


@pytest.mark.parametrize("library", ["scipy", "numpy"])
def test_pivots_are_integers_of_the_library(library: str) -> None:
    getrs = Kernel(
        "getrs",
        types="d",
        arguments=(
            *(Flag("trans", "NTC"), Size("n"), Size("nrhs"), Data("A", "in", "n", "n", "triangular"), Ld("lda", "A")),
            *(
                Data("ipiv", "in", "n", "1", "pivots", "integer"),
                Data("B", "inout", "n", "nrhs"),
                Ld("ldb", "B"),
                Info(),
            ),
        ),
        flops="2 * n * n * nrhs",
        words="n * n + 2 * n * nrhs",
    )
    call = bind(getrs, "N", view("A", N, N), view("ipiv", N, 1), view("B", N, K))
    backend = WorkerBackend(SetupRequest(library))
    try:
        backend.allocate(buffers_for([call]))
        a, b = backend.read("A"), backend.read("B")
        pivots = backend.read("ipiv").ravel()
        assert np.all((pivots >= 1) & (pivots <= np.arange(1, N + 1)))  # valid for any number of rows
        backend.run([Run(call)])
        lower, upper = np.tril(a, -1) + np.eye(N), np.triu(a)
        for i, pivot in enumerate(pivots):
            b[[i, pivot - 1]] = b[[pivot - 1, i]]
        np.testing.assert_allclose(backend.read("B"), np.linalg.solve(lower @ upper, b), atol=1e-12)
    finally:
        backend.close()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (("N", "N", 1, view("A", 2, 3), view("B", 3, 4), 1), "takes .* 7 values, got 6"),
        (("X", "N", 1, view("A", 2, 3), view("B", 3, 4), 1, view("C", 2, 4)), "transA must be one of N, T, C"),
        (("N", "N", "1", view("A", 2, 3), view("B", 3, 4), 1, view("C", 2, 4)), "alpha must be a number"),
        (("N", "N", 1, 5, view("B", 3, 4), 1, view("C", 2, 4)), "A must be a view"),
        (("N", "N", 1, view("A", 2, 3), view("B", 4, 4), 1, view("C", 2, 4)), "operand B must have"),
    ],
)
def test_a_call_that_does_not_conform_is_refused(values: tuple[Any, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        bind(find_kernel("gemm"), *values)


def test_cases() -> None:
    gemm = find_kernel("gemm")
    a, b, c = view("A", 2, 3), view("B", 3, 4), view("C", 2, 4)
    assert bind(gemm, "N", "N", 1, a, b, 0, c).case == "NN 1 0"
    assert bind(gemm, "N", "N", -1.0, a, b, 0.5, c).case == "NN -1 other"
    assert str(bind(gemm, "N", "N", 1, a, b, 1, c)) == "gemm(NN 1 1; m=2, n=4, k=3; ld 24)"


def test_names_are_unique_and_known() -> None:
    with pytest.raises(UsageError, match="exists already"):
        register(find_kernel("gemm"))
    with pytest.raises(UsageError, match="unknown kernel 'gemmm'; known: gemm"):
        find_kernel("gemmm")


@pytest.mark.parametrize(
    ("flops", "arguments", "message"),
    [
        ("n * q", (Size("n"), Data("A", "in", "n", "n")), "uses 'q'"),
        ("n", (Size("n"), Size("n"), Data("A", "in", "n", "n")), "occurs twice"),
        ("n", (Size("n"), Data("A", "in", "n", "n"), Ld("ldb", "B")), "ldb belongs to 'B', no operand"),
        ("n", (Size("n"), Data("A", "maybe", "n", "n")), "unknown"),
        ("n", (Size("n"), Flag("uplo", ""), Data("A", "in", "n", "n")), "needs letters"),
    ],
)
def test_a_wrong_declaration_is_refused(flops: str, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Kernel("wrong", "d", arguments, flops, "n")


def test_a_size_that_no_operand_tells() -> None:
    kernel = Kernel("odd", "d", (Size("m"), Size("n"), Data("A", "in", "n", "n")), "n", "n")
    with pytest.raises(UsageError, match="no operand tells the size 'm'"):
        bind(kernel, view("A", 2, 2))


def test_a_type_that_a_kernel_lacks() -> None:
    with pytest.raises(UsageError, match="exists for the data types s, d, not 'z'"):
        find_kernel("gemm").routine("z")
