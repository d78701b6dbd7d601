"""Algorithms: right results, counted flops, and array-valued sequences that equal the scalar ones."""

from collections import Counter

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from blascast.algorithms import OPERATIONS, execute, find_operation, find_variant, scalar_calls, trace
from blascast.algorithms.registry import Operation, define_operation, variant
from blascast.sampler.errors import UsageError
from blascast.sampler.host.backend import WorkerBackend
from blascast.sampler.setup import SetupRequest
from blascast.sampler.simulated import SimulatedBackend

VARIANTS = [(name, number) for name, operation in OPERATIONS.items() for number in operation.variants]
SHAPES = [(1, 1), (1, 7), (12, 4), (14, 4), (17, 5), (9, 9), (9, 20), (200, 64), (203, 32)]


def test_all_variants_are_there() -> None:
    assert {name: sorted(operation.variants) for name, operation in OPERATIONS.items()} == {
        "cholesky": [1, 2, 3],
        "trinv": [1, 2, 3, 4, 5, 6, 7, 8],
    }


def operand(operation: str, n: int) -> np.ndarray:
    """Not a number wherever the algorithm must not read."""
    random = np.random.default_rng(n)
    matrix = random.uniform(-1, 1, (n, n)) / n
    matrix = matrix @ matrix.T + np.eye(n) if operation == "cholesky" else np.tril(matrix) + np.eye(n)
    matrix[np.triu_indices(n, 1)] = np.nan
    return matrix


def solution(operation: str, matrix: np.ndarray) -> np.ndarray:
    lower = np.tril(np.nan_to_num(matrix))
    if operation == "cholesky":
        return scipy.linalg.cholesky(lower + np.tril(lower, -1).T, lower=True)
    return scipy.linalg.solve_triangular(lower, np.eye(len(lower)), lower=True)


@pytest.mark.parametrize(("n", "b"), SHAPES)
@pytest.mark.parametrize(("operation", "number"), VARIANTS)
def test_results_agree_with_scipy(operation: str, number: int, n: int, b: int, real: WorkerBackend) -> None:
    matrix = operand(operation, n)
    result = np.tril(execute(real, find_variant(operation, number), matrix, b))
    reference = solution(operation, matrix)
    bound = 10 * n * np.finfo(float).eps * np.linalg.cond(np.tril(np.nan_to_num(matrix)))
    assert np.linalg.norm(result - reference) <= bound * np.linalg.norm(reference)


def test_single_precision() -> None:
    backend = WorkerBackend(SetupRequest(dtype="s"))
    try:
        matrix = operand("cholesky", 100)
        result = np.tril(execute(backend, find_variant("cholesky", 3), matrix, 32))
        assert result.dtype == np.float32
        np.testing.assert_allclose(result, solution("cholesky", matrix), rtol=1e-4, atol=1e-5)
    finally:
        backend.close()


def counted(operation: str, number: int, n: int, b: int) -> float:
    return sum(call.flops for call in scalar_calls(find_variant(operation, number), n, b, n))


@given(st.integers(1, 300), st.integers(1, 300), st.sampled_from([1, 2, 3]))
def test_flops_of_cholesky_equal_the_closed_form(n: int, b: int, number: int) -> None:
    assert counted("cholesky", number, n, b) == pytest.approx(n * (n + 1) * (2 * n + 1) / 6, rel=1e-12)


@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from([1, 2, 3, 5, 6, 7]))
def test_flops_of_trinv_equal_the_closed_form(steps: int, b: int, number: int) -> None:
    """n^3/3 + 2n/3 for b that divides n, as without blocks: the sum over steps of all calls' counts, worked out."""
    n = steps * b
    blocks = steps * b * (b**2 + 2) / 3  # trti2
    panels = b**3 * steps * (steps - 1) / 2  # trsm with A11
    updates = b**3 * (steps - 1) * steps * (2 * steps - 1) / 6  # trmm or trsm with the triangle
    if number in (3, 7):  # gemm 2 r2 r0 b, and one more trsm with A11
        updates = b**3 * sum(2 * k * (steps - 1 - k) for k in range(steps)) + panels
    assert counted("trinv", number, n, b) == pytest.approx(blocks + panels + updates, rel=1e-12)
    assert counted("trinv", number, n, b) == pytest.approx(n**3 / 3 + 2 * n / 3, rel=1e-12)


def test_three_times_the_flops() -> None:
    for number in (4, 8):
        assert counted("trinv", number, 2048, 8) / (2048**3 / 3) == pytest.approx(3, rel=0.02)


def test_example_of_the_dissertation() -> None:
    """Its table 4.1: the nine calls of trinv 1 at n = 800, b = 300, two of them empty."""
    sizes = [(call.kernel.name, *call.sizes.values()) for call in scalar_calls(find_variant("trinv", 1), 800, 300, 800)]
    assert sizes == [
        *(("trti2", 300), ("trmm", 300, 300), ("trsm", 300, 300), ("trti2", 300)),
        *(("trmm", 200, 600), ("trsm", 200, 600), ("trti2", 200)),
    ]
    assert find_operation("trinv").flop_count(800) == 170_986_800


@pytest.mark.parametrize(("operation", "number"), VARIANTS)
@given(configurations=st.lists(st.tuples(st.integers(1, 120), st.integers(1, 130)), min_size=1, max_size=6))
def test_array_valued_sequences_equal_scalar_ones(operation: str, number: int, configurations: list) -> None:
    chosen = find_variant(operation, number)
    sequence = trace(chosen, *np.transpose(configurations))
    for index, (n, b) in enumerate(configurations):
        arrays = Counter(
            (calls.kernel.name, calls.case, *sizes)
            for calls in sequence.calls
            for sizes in calls.sizes[calls.owner == index].tolist()
        )
        scalars = Counter((c.kernel.name, c.case, *c.sizes.values()) for c in scalar_calls(chosen, n, b, n))
        assert arrays == scalars
        flops = sum(float(calls.flops[calls.owner == index].sum()) for calls in sequence.calls)
        assert flops == pytest.approx(counted(operation, number, n, b))


def test_a_sweep_broadcasts() -> None:
    sequence = trace(find_variant("cholesky", 1), 100, [10, 20])
    assert sequence.n.tolist() == [100, 100]
    assert sequence.b.tolist() == [10, 20]


def test_sweeps_too_large_to_predict_at_once() -> None:
    with pytest.raises(UsageError, match="these sizes make 3000000 steps; ask for fewer sizes"):
        trace(find_variant("cholesky", 1), 3_000_000, 1)


def test_names_that_are_unknown() -> None:
    with pytest.raises(UsageError, match="unknown operation 'choleski'; known: cholesky, trinv"):
        find_operation("choleski")
    for number in (4, True, 3.0, [], "3"):
        with pytest.raises(UsageError, match=r"unknown variant of cholesky '.*'; known: 1, 2, 3"):
            find_variant("cholesky", number)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="unknown operation"):
        find_operation([])  # type: ignore[arg-type]


def test_names_that_are_taken() -> None:
    with pytest.raises(UsageError, match="operation 'cholesky' exists already"):
        define_operation(Operation("cholesky", "", "n", "general"))
    with pytest.raises(UsageError, match="variant 1 of cholesky exists already"):
        variant("cholesky", 1, "again")(lambda A, b: iter(()))


def test_matrices_that_cannot_be_operands(real: WorkerBackend) -> None:
    for shape in ((3, 4), (0, 0), (4,)):
        with pytest.raises(UsageError, match="needs a square matrix"):
            execute(real, find_variant("cholesky", 1), np.ones(shape), 2)
    with pytest.raises(UsageError, match="the simulated machine computes no results"):
        execute(SimulatedBackend(), find_variant("cholesky", 1), np.eye(4), 2)


def test_the_operand_is_left_as_it_is(real: WorkerBackend) -> None:
    matrix = operand("cholesky", 20)
    before = matrix.copy()
    execute(real, find_variant("cholesky", 1), matrix, 8)
    np.testing.assert_array_equal(matrix, before)
