"""Cases of kernels: every kernel, type and case has a name, valid calls, a basis and a cost."""

import re
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blascast.models.fitting.basis import MOST_MONOMIALS, degrees, monomials
from blascast.models.sampling import Case, case_named, case_of_call, cases, usual_case
from blascast.sampler.call import Call, View, bind
from blascast.sampler.errors import UsageError
from blascast.sampler.failure import KernelFailed
from blascast.sampler.host.backend import WorkerBackend
from blascast.sampler.job import warm_job
from blascast.sampler.kernel import Data, Kernel, Ld, Size
from blascast.sampler.kernels import KERNELS, find_kernel
from blascast.sampler.program import Restore, Run, buffers_for
from blascast.sampler.sampler import Sampler
from blascast.sampler.simulated import CACHE_LINE_BYTES, CALL_SECONDS, MEMORY_BYTES_PER_SECOND, QUIET, SimulatedBackend

WITHOUT_SIZES = ("rotg", "rotmg", "cabs1")
MODELLED = [kernel for name, kernel in KERNELS.items() if name not in WITHOUT_SIZES]
EACH_KERNEL = pytest.mark.parametrize("kernel", MODELLED, ids=lambda kernel: kernel.name)
LD = 520
SMALL = {"m": 24, "n": 16, "k": 8, "nb": 8, "kl": 3, "ku": 2, "nrhs": 8, "k2": 16}  # as every kernel requires
LARGER = {name: 2 * size for name, size in SMALL.items()}


def point_of(kernel: Kernel, sizes: dict[str, int] = SMALL) -> tuple[int, ...]:
    return tuple(sizes[name] for name in kernel.sizes)


def named(kernel: str, case: str, dtype: str = "d") -> Case:
    return case_named(find_kernel(kernel), case, dtype)


def run(backend: WorkerBackend, calls: list[Call]) -> None:
    """Runs calls, each on fresh operands."""
    backend.allocate(buffers_for(calls))
    backend.run([operation for call in calls for operation in (*map(Restore, call.overwritten), Run(call))])


# --- names


def test_there_are_as_many_cases_as_combinations() -> None:
    assert len(cases(find_kernel("gemm"), "d")) == 3 * 3 * 4 * 4
    assert len(cases(find_kernel("gemv"), "z")) == 3 * 4 * 4 * 2 * 2
    assert len(cases(find_kernel("trsyl"), "d")) == 3 * 3 * 2
    assert len(cases(find_kernel("trsyl"), "z")) == 2 * 2 * 2
    assert [case.name for case in cases(find_kernel("getrf"), "d")] == [""]


@EACH_KERNEL
def test_every_case_is_told_by_its_name_and_by_its_calls(kernel: Kernel) -> None:
    for dtype in kernel.types:
        every = cases(kernel, dtype)
        names = {case.name for case in every}
        assert len(names) == len(every)
        assert usual_case(kernel, dtype).name in names
        for case in every:
            read = case_named(kernel, case.name, dtype)
            assert (read.name, read.flags, read.scalars) == (case.name, case.flags, case.scalars)
            call = read.call(point_of(kernel), LD)
            assert call.case == case.name
            assert tuple(call.sizes.values()) == point_of(kernel)
            assert case_of_call(call).name == case.name


def test_usual_cases() -> None:
    usual = {name: usual_case(find_kernel(name), "c").name for name in ("gemm", "rot", "gemv", "lacpy", "sygst")}
    assert usual == {
        "gemm": "NN 1 1",
        "rot": "other other inc 1,1",  # a rotation by c = s = 1 is none
        "gemv": "N 1 1 inc 1,1",
        "lacpy": "A",
        "sygst": "1L",
    }


def test_increments_may_be_left_out_of_a_name() -> None:
    assert named("axpy", "-1").name == "-1 inc 1,1"
    assert named("axpy", "  -1   inc other , 1 ").name == "-1 inc other,1"


def test_other_scalars_are_complex_where_the_type_is_and_the_factor_may_be() -> None:
    her2k = named("her2k", "LN other other", "z")
    assert her2k.scalars["alpha"].imag != 0
    assert her2k.scalars["beta"].imag == 0  # its beta is real for all types
    assert named("gemm", "NN other 0").scalars == {"alpha": 0.5, "beta": 0}


def test_a_call_keeps_its_scalars() -> None:
    view = View("x", 0, 0, 1, 10, 40)
    assert case_of_call(bind(find_kernel("scal"), 3.25, view)).scalars == {"alpha": 3.25}


@pytest.mark.parametrize(
    ("kernel", "text", "message"),
    [
        ("gemm", "NX 1 1", "'NX 1 1' is no case of dgemm: transB must be one of N, T, C, got 'X'; "
         "write transA transB alpha beta, such as 'NN 1 1'"),
        ("gemm", "N 1 1", "transB is missing (one of N, T, C); write transA transB alpha beta, such as 'NN 1 1'"),
        ("gemm", "", "'' is no case of dgemm: transA is missing (one of N, T, C)"),
        ("gemm", "NNN 1 1", "'N' is left over after transB"),
        ("gemm", "NN 1", "it takes 2 scalars (alpha, beta), got 1; write"),
        ("gemm", "NN 1 2", "beta must be one of -1, 0, 1, other, got '2'"),
        ("gemm", "NN 1 1 inc 1", "it takes no increments, got 1"),
        ("trsm", "LLNN1", "'1' is left over after diag; write side uplo transA diag alpha, such as 'LLNN 1'"),
        ("axpy", "1 inc 1", "it takes 2 increments (incx, incy), got 1; write alpha inc x,y, such as 'other inc 1,1'"),
        ("axpy", "1 inc", "it takes 2 increments (incx, incy), got none"),
        ("axpy", "1 inc 1,,1", "it takes 2 increments (incx, incy), got 1  1"),
        ("axpy", "1 inc 1,520", "incy must be one of 1, other, got '520'"),
        ("axpy", "inc 1,1", "it takes 1 scalar (alpha), got none"),
        ("trsyl", "NN2", "isgn must be one of 1, -1, got '2'; write transA transB isgn, such as 'NN1'"),
        ("getrf", "L", "'L' is no case of dgetrf: it takes no scalars, got L; it has a single case, named ''"),
        ("swap", "1", "it takes no scalars, got 1; write inc x,y, such as 'inc 1,1'"),
        ("dotu", "", "kernel dotu exists for the data types c, z, not 'd'"),
    ],
)  # fmt: skip
def test_a_name_that_is_none_is_refused(kernel: str, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        named(kernel, text)


def test_a_letter_that_another_type_has_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'LT 1 1' is no case of zherk: trans must be one of N, C, got 'T'"):
        named("herk", "LT 1 1", "z")


@pytest.mark.parametrize("name", WITHOUT_SIZES)
def test_a_kernel_without_sizes_has_no_case(name: str) -> None:
    kernel = find_kernel(name)
    message = f"kernel {name} has no sizes: its time is a single number; measure it with 'blascast sample'"
    for make in (usual_case, cases, lambda kernel, dtype: case_named(kernel, "", dtype)):
        with pytest.raises(UsageError, match=message):
            make(kernel, kernel.types[-1])


WORDS = st.lists(
    st.sampled_from(["NN", "LLNN", "N", "1", "-1", "0", "other", "inc", "1,1", "1,other", ",", ",,", "X", "2"])
    | st.text(max_size=6),
    max_size=6,
)


@given(st.sampled_from(MODELLED), st.data(), WORDS)
@example(find_kernel("axpy"), None, ["inc", "inc", "1,1"])
def test_any_text_is_a_case_or_refused_in_one_line(
    kernel: Kernel, choice: st.DataObject | None, words: list[str]
) -> None:
    dtype = choice.draw(st.sampled_from(kernel.types)) if choice else kernel.types[0]
    try:
        case = case_named(kernel, " ".join(words), dtype)
    except UsageError as error:
        assert "\n" not in str(error)
        assert kernel.routine(dtype) in str(error)
    else:
        assert case_named(kernel, case.name, dtype).name == case.name
        assert case.name in {one.name for one in cases(kernel, dtype)}


@given(st.sampled_from(MODELLED), st.data())
def test_a_name_with_one_word_less_is_refused_unless_it_is_that_of_increments(
    kernel: Kernel, data: st.DataObject
) -> None:
    dtype = data.draw(st.sampled_from(kernel.types))
    name = data.draw(st.sampled_from(cases(kernel, dtype))).name
    words = name.split(" inc ")[0].removeprefix("inc").split()
    if len(words) >= 2:
        with pytest.raises(UsageError, match="is no case of"):
            case_named(kernel, " ".join(words[:-1]), dtype)


# --- valid sizes


def test_what_kernels_require_of_their_sizes() -> None:
    required = {name: kernel.requires for name, kernel in KERNELS.items() if kernel.requires}
    beside = ("k <= (m if side == 'L' else n)",)
    assert required == {
        **dict.fromkeys(("sbmv", "hbmv", "tbmv", "tbsv", "larft"), ("k <= n",)),
        "gbmv": ("kl <= m", "ku <= n"),
        "laswp": ("k2 <= m",),
        "geqrt2": ("n <= m",),
        "geqrt": ("nb <= m", "nb <= n"),
        "orgqr": ("n <= m", "k <= n"),
        "larfb": beside,
        "ormqr": beside,
        "latrd": ("nb <= n",),
        "labrd": ("nb <= m", "nb <= n"),
    }


def test_valid_points() -> None:
    points = np.array([[8, 8, 8], [9, 8, 8], [8, 9, 8], [8, 8, 9], [8, 9, 9]])  # m, n, k
    assert named("orgqr", "").valid(points).tolist() == [True, True, False, False, False]
    assert named("ormqr", "LN").valid(points).tolist() == [True, True, True, False, False]
    assert named("ormqr", "RN").valid(points).tolist() == [True, True, True, False, True]
    assert named("gemm", "NN 1 1").valid(points).tolist() == [True] * 5
    assert named("gemm", "NN 1 1").valid(points[:0]).shape == (0,)


def test_a_call_with_sizes_that_are_not_valid_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^orgqr needs n <= m and k <= n, got m = 8, n = 9, k = 1$"):
        named("orgqr", "").call((8, 9, 1), LD)


@EACH_KERNEL
def test_calls_are_valid_where_the_kernel_says_so(kernel: Kernel, backend_of: Callable[[str], WorkerBackend]) -> None:
    """At all corners of a box of sizes: no routine refuses an argument, none crashes; flops are counted."""
    dtype = "d" if "d" in kernel.types else kernel.types[-1]
    case = usual_case(kernel, dtype)
    points = np.array(list(product(*[(1, 8, 9)] * len(kernel.sizes))))
    calls = [case.call(tuple(point), LD) for point in points[case.valid(points)].tolist()]
    assert 3 <= len(calls) <= len(points)
    assert min(call.flops for call in calls) >= 0
    run(backend_of(dtype), calls)


@pytest.mark.parametrize(
    ("name", "case", "point", "refused"),
    [
        ("orgqr", "", (8, 9, 1), "argument number 2"),
        ("orgqr", "", (9, 8, 9), "argument number 3"),
        ("ormqr", "LN", (8, 9, 9), "argument number 5"),
        ("geqrt", "", (8, 8, 9), "argument number 3"),
        ("geqrt2", "", (8, 9), "argument number 1"),
    ],
)
def test_the_library_refuses_what_the_kernel_says_it_does(
    name: str, case: str, point: tuple[int, ...], refused: str, real: WorkerBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    valid = named(name, case)
    assert not valid.valid(np.array([point])).any()
    monkeypatch.setattr(Kernel, "admits", lambda self, values: True)
    with pytest.raises(KernelFailed, match=refused):
        run(real, [valid.call(point, LD)])


# --- operands


def test_rows_lie_in_matrices_and_columns_apart() -> None:
    views = named("gemv", "N 1 1 inc other,1").call((7, 5), LD).views
    x, y, a = views["x"], views["y"], views["A"]
    assert (x.rows, x.columns, x.ld, x.increment) == (1, 5, LD, LD)
    assert (y.rows, y.columns, y.increment) == (7, 1, 1)
    assert len({x.buffer, y.buffer, a.buffer}) == 3
    assert "column" in y.buffer


def test_the_operands_of_all_cases_can_be_had_at_once() -> None:
    """No buffer holds two kinds of numbers or leading dimensions, or is larger than an operand needs."""
    sizes = dict.fromkeys(SMALL, 500)
    for dtype in "dz":
        every = [case.call(point_of(k, sizes), 1032) for k in MODELLED if dtype in k.types for case in cases(k, dtype)]
        buffers = buffers_for(every)
        assert max(buffer.elements for buffer in buffers) <= 1032 * 501
        assert sum(buffer.rows * buffer.columns for buffer in buffers) < 40 * 500 * 500


def test_leading_dimensions_fit() -> None:
    assert named("gemm", "NN 1 1").ld((2000, 100, 100)) == 2056
    assert named("gemm", "NN 1 1").ld((100, 2000, 100)) == 520  # no matrix has n rows
    assert named("gbmv", "N 1 1").ld((500, 500, 300, 300)) == 1032
    assert named("dot", "").ld((1000000,)) == 520
    with pytest.raises(UsageError, match=r"gbmv: A has 601 rows, which needs a leading dimension of 608, got 520"):
        named("gbmv", "N 1 1").call((500, 500, 300, 300), LD)


# --- the basis


@EACH_KERNEL
def test_a_basis_has_the_constant_and_every_size_and_all_divisors(kernel: Kernel) -> None:
    every = {tuple(case.flags.items()) for case in cases(kernel, kernel.types[-1])}
    for flags, overfitting in product(every, (0, 1, 2)):
        basis = monomials(kernel, dict(flags), overfitting)
        assert len(set(basis)) == len(basis) <= MOST_MONOMIALS
        assert (0,) * len(kernel.sizes) in basis
        assert min(degrees(basis)) >= 1
        for monomial in basis:
            assert set(product(*(range(power + 1) for power in monomial))) <= set(basis)


@EACH_KERNEL
def test_the_basis_spans_flops_and_words_where_they_are_polynomials(kernel: Kernel) -> None:
    """Where m >= n + 8 or n >= m + 8 all along, a maximum or minimum is one of its arguments."""
    case = usual_case(kernel, kernel.types[-1])
    exponents = np.array(monomials(kernel, case.flags, 0))
    shapes = [{"m": 70, "n": 50}, {"m": 50, "n": 70}]
    for shape in shapes:
        points = random_points(kernel, shape)
        values = {**case.flags, **{name: points[:, i] for i, name in enumerate(kernel.sizes)}}
        matrix = np.prod((points / 50.0)[:, None, :] ** exponents, axis=2)
        for count in (kernel.flop_count(values), kernel.byte_count(values, "d")):
            wanted = np.broadcast_to(count, len(points)).astype(float)
            fitted = matrix @ np.linalg.lstsq(matrix, wanted, rcond=None)[0]
            np.testing.assert_allclose(fitted, wanted, rtol=0, atol=1e-9 * np.max(np.abs(wanted), initial=1.0))


def random_points(kernel: Kernel, shape: dict[str, int]) -> np.ndarray:
    """Sizes within 5 of m and n, other sizes below 8."""
    random = np.random.default_rng(1)
    return np.stack(
        [random.integers(-5, 6, 200) + shape[name] if name in shape else random.integers(1, 8, 200)
         for name in kernel.sizes], axis=1,
    )  # fmt: skip


def test_overfitting_is_lowered_until_the_basis_is_small() -> None:
    sizes = {"gemm": 64, "larfb": 33, "geqrt": 59, "gbmv": 14}
    for name, count in sizes.items():
        assert len(monomials(find_kernel(name), usual_case(find_kernel(name), "d").flags, 2)) == count


def test_the_basis_of_a_kernel_whose_counts_miss_a_size() -> None:
    operands = (Size("m"), Size("n"), Data("A", "inout", "m", "n"), Ld("lda", "A"))
    assert monomials(Kernel("still", "d", operands, "0", "0"), {}, 0) == ((0, 0), (0, 1), (1, 0))
    raised = set(product(range(3), range(3))) - {(2, 2)}  # m^2 n and m n^2, and what divides them
    assert set(monomials(Kernel("tall", "d", operands, "m // 2", "m"), {}, 1)) == raised


# --- the simulated machine


@EACH_KERNEL
def test_the_usual_case_is_measured_on_the_simulated_machine(kernel: Kernel) -> None:
    for dtype in kernel.types:
        backend = SimulatedBackend(dtype=dtype, disturbances=QUIET)
        case = usual_case(kernel, dtype)
        calls = [case.call(point_of(kernel, sizes), LD) for sizes in (SMALL, LARGER)]
        batch = Sampler(backend).measure([warm_job(call) for call in calls], 3)
        small, larger = (float(np.median(measurement.seconds)) for measurement in batch.measurements)
        assert small == pytest.approx(backend.warm_seconds(calls[0]))
        assert small < larger


def simulated_seconds(kernel: str, case: str, dtype: str = "d", size: int = 100) -> float:
    one = named(kernel, case, dtype)
    call = one.call((size,) * len(one.kernel.sizes), LD)
    return SimulatedBackend(dtype=dtype, disturbances=QUIET).warm_seconds(call) - CALL_SECONDS


def test_what_computes_nothing_costs_its_words() -> None:
    assert simulated_seconds("copy", "inc 1,1") == pytest.approx(2 * 100 * 8 / MEMORY_BYTES_PER_SECOND)
    assert simulated_seconds("lange", "M", "z") == pytest.approx(100 * 100 * 16 / MEMORY_BYTES_PER_SECOND)
    assert simulated_seconds("laset", "A 0 0") == simulated_seconds("laset", "A 1 1")


def test_rows_cost_more_than_columns() -> None:
    line = 100 * CACHE_LINE_BYTES / MEMORY_BYTES_PER_SECOND
    column = simulated_seconds("axpy", "other inc 1,1")
    assert simulated_seconds("axpy", "other inc other,1") == pytest.approx(column + line)
    assert simulated_seconds("axpy", "other inc other,other") == pytest.approx(column + 2 * line)


def test_complex_numbers_cost_four_times_the_flops() -> None:
    assert simulated_seconds("gemm", "NN 1 1", "z") == pytest.approx(4 * simulated_seconds("gemm", "NN 1 1"))
    assert simulated_seconds("gemm", "NN 1 1", "c") == pytest.approx(4 * simulated_seconds("gemm", "NN 1 1", "s"))


def test_a_factor_of_zero_spares_the_work() -> None:
    assert simulated_seconds("gemm", "NN 0 1") == pytest.approx(100 * 100 * 8 / MEMORY_BYTES_PER_SECOND)
    assert simulated_seconds("gemm", "NN 1 0") == simulated_seconds("gemm", "NN 1 1")


# --- a real library


@EACH_KERNEL
def test_the_usual_case_runs_on_a_real_library(kernel: Kernel, backend_of: Callable[[str], WorkerBackend]) -> None:
    """Its operands have what the routine needs: what it computes is finite."""
    for dtype in kernel.types:
        backend = backend_of(dtype)
        call = usual_case(kernel, dtype).call(point_of(kernel), LD)
        run(backend, [call])
        for data in kernel.data:
            assert np.all(np.isfinite(backend.read(call.views[data.name].buffer)))


def test_vectors_that_are_rows_run_on_a_real_library(real: WorkerBackend) -> None:
    calls = [
        case.call(point_of(kernel), LD)
        for kernel in MODELLED
        if kernel.vectors and "d" in kernel.types
        for case in cases(kernel, "d")
        if set(case.increments.values()) == {LD}
    ]
    assert len(calls) > 100
    run(real, calls)


@pytest.mark.parametrize("name", ["axpy", "shift", "laswp", "dot"])
def test_vectors_may_be_longer_than_the_leading_dimension(name: str, real: WorkerBackend) -> None:
    kernel = find_kernel(name)
    case = usual_case(kernel, "d")
    point = tuple(3000 if size in ("m", "n", "k2") else 7 for size in kernel.sizes)
    batch = Sampler(real).measure([warm_job(case.call(point, case.ld(point)))], 3)
    assert np.median(batch.measurements[0].seconds) > 1e-7


def test_sampled_row_swaps_reach_all_rows() -> None:
    """Pivot i is that of a row up to i: the last 5 of 300 lie among the rows that are there, nearly anywhere."""
    call = usual_case(find_kernel("laswp"), "d").call((200, 5, 300), 520)
    assert call.sizes == {"n": 200, "k2": 5, "m": 300}
    assert (call.views["ipiv"].row, call.views["ipiv"].rows) == (295, 5)
    assert usual_case(find_kernel("getrs"), "d").call((300, 4), 520).views["ipiv"].row == 0
    with pytest.raises(UsageError, match="laswp needs k2 <= m, got n = 200, k2 = 5, m = 4"):
        usual_case(find_kernel("laswp"), "d").call((200, 5, 4), 520)


def test_no_case_writes_what_another_one_reads_as_pivots() -> None:
    """Cases share operands; a row swap with the pivots of a larger matrix would leave its own."""
    point = {"m": 300, "n": 200, "k2": 64, "k": 5, "nrhs": 3}
    written, read = set(), set()
    for kernel in KERNELS.values():
        if any(data.kind == "integer" for data in kernel.data):
            call = usual_case(kernel, "d").call(tuple(point[size] for size in kernel.sizes), 520)
            for data in kernel.data:
                (read if data.access == "in" else written).add((call.views[data.name].buffer, data.kind))
    assert {name for name, kind in written & read if kind == "integer"} == set()
    assert any(kind == "integer" for _, kind in read)
