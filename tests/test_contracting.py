"""Predictions of contractions: access distances, micro-benchmarks, rankings, and running the winner."""

import ctypes
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
import scipy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import blascast
from blascast.algorithms.contractions import Problem, candidates, parse_contraction, source_of
from blascast.cli import run
from blascast.predictors.contractions.benchmarks import occurrences
from blascast.predictors.contractions.distances import Walk, operands_of
from blascast.predictors.contractions.memory import LARGEST_STRIDE, in_own_memory, shortened
from blascast.predictors.contractions.prefetching import failing_share, prefetch_of
from blascast.predictors.contractions.singles import MOST_WORK, representative
from blascast.predictors.contractions.stages import Stage
from blascast.predictors.contractions.states import Benchmark, Machine, prepared, regions_of
from blascast.sampler.call import View, bind
from blascast.sampler.errors import UsageError
from blascast.sampler.kernels import find_kernel
from blascast.sampler.nest import Loop, Nest, Step
from blascast.sampler.precondition import FOREIGN
from blascast.sampler.program import Flush, Repeat, Run, Touch, views_of
from blascast.sampler.setup import Cache

CACHES = (Cache(1, 32 << 10), Cache(2, 1 << 20), Cache(3, 32 << 20))
EXAMPLE = {"a": 64, "b": 48, "c": 40, "i": 8}  # of abc=ai,ibc
DOUBLE = 8
TYPES = {"d": np.float64, "z": np.complex128}
MACHINE = Machine(CACHES, DOUBLE)


def nest_named(name: str, text: str = "abc=ai,ibc", sizes: dict[str, int] = EXAMPLE) -> Nest:
    contraction = parse_contraction(text)
    problem = Problem.contiguous(contraction, {index: sizes[index] for index in contraction.indices})
    (found,) = [c for c in candidates(problem, "d") if c.family == "loops" and c.name == name]
    return found.nest.nest


def kernel_step(nest: Nest) -> Step:
    return max(nest.steps(), key=lambda pair: len(pair[0]))[1]


# --- set-ups: what is accessed before a call is timed


def accesses_of(benchmark: Benchmark) -> list[tuple[str, str]]:
    """What a preamble does, and to which memory; operations that follow each other on one are one."""
    found: list[tuple[str, str]] = []
    for operation in benchmark.preamble:
        inner = operation.body[0] if isinstance(operation, Repeat) else operation
        if isinstance(inner, Touch | Flush):
            own = (type(inner).__name__, inner.view.buffer)
            found += [own] if own not in found[-1:] else []
    return found


def foreign_bytes(benchmark: Benchmark) -> list[int]:
    views = [o.view for o in benchmark.preamble if isinstance(o, Touch) and o.view.buffer == FOREIGN]
    return [8 * int(view.rows) * int(view.columns) for view in views]


def test_operands_are_accessed_from_the_farthest_to_the_nearest_with_other_memory_between() -> None:
    own = in_own_memory((kernel_step(nest_named("c-gemm")),))
    first, second, result = (own.names[name] for name in ("A", "B", "C"))
    sizes = {name: region.bytes for name, region in regions_of(own.rows, DOUBLE).items()}
    found = prepared(own, {first: 1 << 17, second: 1 << 20, result: 1 << 30}, MACHINE)
    assert isinstance(found.preamble[0], Run)
    assert accesses_of(found) == [
        *(("Flush", name) for name in (first, second, result)),
        *(("Touch", second), ("Touch", FOREIGN), ("Touch", first), ("Touch", FOREIGN)),
    ]
    between, after = foreign_bytes(found)
    assert between == pytest.approx((1 << 20) - (1 << 17) - sizes[first], abs=4096)
    assert after == pytest.approx(1 << 17, abs=4096)
    assert found.fetching > 0


def test_what_is_near_is_neither_flushed_nor_accessed() -> None:
    own = in_own_memory((kernel_step(nest_named("c-gemm")),))
    found = prepared(own, dict.fromkeys(own.names.values(), 0), MACHINE)
    assert [name for kind, name in accesses_of(found) if kind == "Flush" or name == FOREIGN] == []
    assert found.fetching == 0


def test_distances_that_differ_little_share_a_benchmark() -> None:
    typical = MACHINE.typical
    assert typical(4000) == 0
    assert typical(1 << 20) == typical((1 << 20) + 50_000) == 1 << 20
    assert typical(1 << 20) != typical(3 << 19)
    assert typical(25 << 20) is None  # beyond three quarters of 32 MiB
    assert typical(23 << 20) is not None


@pytest.mark.parametrize("name", ["c-gemm", "cb-gemv", "ca-gemv", "ci-ger"])
def test_set_ups_of_named_algorithms(name: str) -> None:
    """Each timed call is made once, what is far is flushed, and accesses follow the distances of its operands."""
    for occurrence in occurrences(nest_named(name), MACHINE, Stage.DISTANCES):
        found = accesses_of(occurrence.benchmark)
        touched = [own for kind, own in found if kind == "Touch" and own != FOREIGN]
        flushed = [own for kind, own in found if kind == "Flush"]
        assert len(touched) == len(set(touched))
        assert [kind for kind, _ in found] == sorted((kind for kind, _ in found), key=["Flush", "Touch"].index)
        assert set(flushed) | set(touched)
        assert sum(isinstance(operation, Run) for operation in occurrence.benchmark.preamble) == 1


# --- access distances: as in the examples of section 23.3


def distances(name: str, first: frozenset[str] = frozenset()) -> dict[str, int]:
    nest = nest_named(name)
    step = kernel_step(nest)
    walk = Walk(nest, step, DOUBLE)
    return {operand.name: walk.distance(operand, first) for operand in operands_of(step)}


def test_an_operand_that_stays_was_accessed_last() -> None:
    """Case (a), in c-gemm: A does not depend on c."""
    assert distances("c-gemm")["A"] == 0


def test_an_operand_that_moves_was_accessed_a_loop_ago() -> None:
    """Case (b), in ca-gemv: A[a,:] moves with a, and not with c: all a loop over a touches lies between."""
    a, b, i = (EXAMPLE[index] for index in "abi")
    found = distances("ca-gemv")
    assert found["x"] == DOUBLE * (i * b + a * i + a * b)  # B[:,:,c], all of A, C[:,:,c]
    assert found["A"] == 0


def test_an_operand_of_all_loops_was_accessed_a_run_ago() -> None:
    """Case (c), in c-gemm and ca-gemv: C moves with all loops, so a whole run lies between."""
    a, b, c, i = (EXAMPLE[index] for index in "abci")
    for name, operand in (("c-gemm", "C"), ("ca-gemv", "y")):
        assert distances(name)[operand] == DOUBLE * (a * i + i * b * c + a * b * c)


def test_in_a_first_iteration_what_stays_has_moved() -> None:
    """In ca-gemv with a at its first, B[:,:,c] is another one than the iteration before had."""
    a, b, c, i = (EXAMPLE[index] for index in "abci")
    whole = DOUBLE * (a * i + i * b * c + a * b * c)
    assert distances("ca-gemv", frozenset("a")) == {"A": whole, "x": DOUBLE * (i * b + a * i + a * b), "y": whole}


def test_a_copy_is_what_was_accessed_last() -> None:
    nest = nest_named("i'-gemv", "a=iaj,ji", {"a": 64, "i": 8, "j": 48})
    step = kernel_step(nest)
    (copied,) = [s for loops, s in nest.steps() if s.call.kernel.name == "gemv"]
    walk = Walk(nest, copied, DOUBLE)
    assert {operand.name: walk.distance(operand) for operand in operands_of(copied)}["A"] == 0
    assert step.call.kernel.name == "copy"


# --- prefetching: sections 23.4 and 23.5


def test_what_is_prefetched() -> None:
    step = kernel_step(nest_named("ca-gemv"))
    kinds = {operand.name: prefetch_of(operand, "a", DOUBLE) for operand in operands_of(step)}
    assert kinds == {"A": "none", "x": "shared lines", "y": "shared lines"}  # a is the first index of A and of C
    assert failing_share(operands_of(step), "a", DOUBLE) == 1 / 8
    step = kernel_step(nest_named("c-gemm"))
    kinds = {operand.name: prefetch_of(operand, "c", DOUBLE) for operand in operands_of(step)}
    assert kinds == {"A": "none", "B": "next", "C": "next"}  # slices that follow each other in memory


# --- micro-benchmarks


@pytest.mark.parametrize("stage", Stage)
@pytest.mark.parametrize("name", ["c-gemm", "ca-gemv", "ci-ger", "bca-dot", "aci-axpy"])
def test_occurrences_add_up_to_all_calls(name: str, stage: Stage) -> None:
    nest = nest_named(name)
    found = occurrences(nest, MACHINE, stage)
    calls = sum(occurrence.count * occurrence.benchmark.nest.call_count for occurrence in found)
    assert calls == pytest.approx(nest.call_count)
    if stage == Stage.REPEATED:
        assert all(isinstance(o, Run) for occurrence in found for o in occurrence.benchmark.preamble)


def test_failures_are_an_eighth_and_first_iterations_their_share() -> None:
    nest = nest_named("ca-gemv")
    calls = EXAMPLE["a"] * EXAMPLE["c"]
    counts = sorted(occurrence.count for occurrence in occurrences(nest, MACHINE, Stage.FAILURES))
    assert counts == pytest.approx([calls / 8, calls * 7 / 8])
    counts = sorted(occurrence.count for occurrence in occurrences(nest, MACHINE, Stage.FIRST))
    rest = calls * (1 - 1 / EXAMPLE["a"])
    assert counts == pytest.approx(sorted([calls / EXAMPLE["a"], rest / 8, rest * 7 / 8]))


def test_later_calls_add_to_the_result() -> None:
    """In i-gemm, C is new where i is at its first, and added to in the other seven calls."""
    nest = nest_named("i-gemm", "ab=aji,jbi", {"a": 200, "b": 200, "i": 8, "j": 200})
    by_beta = {
        step.call.scalars["beta"]: occurrence.count
        for occurrence in occurrences(nest, MACHINE, Stage.FIRST)
        for _, step in occurrence.benchmark.nest.steps()
        if step.call.kernel.name == "gemm"
    }
    assert by_beta == pytest.approx({0: 1, 1: 7})


def test_short_iterations_are_timed_as_they_follow_each_other() -> None:
    """A quarter of the iterations over c of ca-gemv, with all over a inside; no more than half of a loop."""
    found = occurrences(nest_named("ca-gemv"), MACHINE)
    lengths = {row.count for o in found for row in o.benchmark.nest.body if isinstance(row, Loop)}
    assert len(lengths) == 1
    assert 2 <= lengths.pop() <= EXAMPLE["c"] / 2
    small = occurrences(nest_named("ca-gemv", sizes={"a": 3, "b": 2, "c": 5, "i": 2}), MACHINE)
    assert {row.count for o in small for row in o.benchmark.nest.body if isinstance(row, Loop)} == {3}


@given(
    st.dictionaries(st.integers(1, 10**7), st.integers(2, 1000), max_size=4).map(
        lambda counts: {stride: counts[stride] for stride in sorted(counts)}
    )
)
def test_shortened_strides_keep_their_places_and_do_not_overlap(counts: dict[int, int]) -> None:
    span, original = 1, 1
    for stride, own in shortened(counts).items():
        assert own <= stride
        assert (stride - own) % 2048 == 0
        assert own == stride or own >= span
        assert own <= max(LARGEST_STRIDE, span + 2048)
        if stride >= original:
            assert own >= span
        span, original = span + (counts[stride] - 1) * own, original + (counts[stride] - 1) * stride


def test_what_is_set_to_zero_is_read_by_no_other_benchmark() -> None:
    """All share memory; an axpy by zero would return at once."""
    found = [o.benchmark for name in ("aci-axpy", "ci-ger") for o in occurrences(nest_named(name), MACHINE)]
    steps = [step for benchmark in found for _, step in benchmark.nest.steps()]
    zeroed = {view.buffer for step in steps for view in step.call.overwritten}
    read = {view.buffer for step in steps for view in (*step.factors.values(), step.call.views.get("x")) if view}
    assert zeroed
    assert read
    assert not zeroed & read


@pytest.mark.parametrize("name", ["c-gemm", "ca-gemv", "ci-ger", "bca-dot", "aci-axpy"])
def test_micro_benchmarks_stay_in_their_memory(name: str) -> None:
    for occurrence in occurrences(nest_named(name), MACHINE):
        spans = {buffer.name: buffer.elements for buffer in occurrence.benchmark.buffers}
        for region in regions_of(occurrence.benchmark.nest.body, DOUBLE).values():
            run, further = region.runs
            assert run + sum((count - 1) * stride for count, stride in further) <= spans[region.buffer]


@pytest.mark.parametrize("stage", Stage)
def test_what_is_accessed_before_large_calls_is_in_their_memory(stage: Stage) -> None:
    """Calls of fused indices are timed in parts, of which prefetching brings in no more than there is."""
    contraction = parse_contraction("abc=ai,ibc")
    problem = Problem.contiguous(contraction, {"a": 192, "b": 192, "c": 192, "i": 8})
    for candidate in candidates(problem, "d"):
        for occurrence in occurrences(candidate.nest.nest, MACHINE, stage):
            spans = {buffer.name: buffer.elements for buffer in occurrence.benchmark.buffers}
            operations = [o for own in occurrence.benchmark.preamble for o in getattr(own, "body", (own,))]
            for view in (view for operation in operations for view in views_of(operation) if view.buffer in spans):
                end = np.max(view.row) + int(view.rows) + (int(view.columns) - 1) * view.ld
                assert end <= spans[view.buffer], candidate.name


def test_large_calls_are_timed_in_parts() -> None:
    views = [View(name, 0, 0, 4000, 4000, 4000) for name in "ABC"]
    call = bind(find_kernel("gemm"), "N", "N", 1, *views[:2], 0, views[2])
    smaller, factor = representative(call, DOUBLE)
    assert MOST_WORK / 2 < smaller.flops <= MOST_WORK
    assert factor * smaller.flops == call.flops
    assert representative(smaller, DOUBLE) == (smaller, 1.0)


# --- rankings


SIZES = {"a": 64, "b": 64, "c": 64, "i": 8}


def test_a_ranking_on_the_simulated_machine(tmp_path: Path) -> None:
    report = blascast.rank_contraction("ai,ibc->abc", SIZES, library="simulated", home=tmp_path, verify=True)
    times = [row.estimate.seconds for row in report.rows]
    assert times == sorted(times)
    assert [row.tie_class for row in report.rows] == sorted(row.tie_class for row in report.rows)
    assert len(report.rows) + len(report.others) == 41
    assert min(other.seconds for other in report.others) > report.rows[0].estimate.seconds
    assert sum(row.measured is not None for row in report.rows) == 8
    assert "41 algorithms: 6 dot, 20 axpy, 7 gemv, 5 ger, 3 gemm." in str(report)
    again = blascast.rank_contraction("abc=ai,ibc", SIZES, library="simulated", home=tmp_path)
    assert [row.estimate.seconds for row in again.rows] == times, "what was timed is kept"
    assert again.evidence.tally.accepted == 0


def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["contract", "abc=ai,ibc", *(word for i, n in SIZES.items() for word in ("--size", f"{i}={n}"))]
    assert run([*ask, "--library", "simulated", "--kernels", "gemm,ttgt", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {row["algorithm"] for row in answer["rows"]} == {"b-gemm", "c-gemm", "-gemm"}
    assert answer["sizes"] == SIZES
    assert run([*ask, "--library", "simulated", "--kernels", "gemm"]) == 0
    assert "c-gemm" in capsys.readouterr().out


def test_verifying_measures_opponents_too(tmp_path: Path) -> None:
    report = blascast.rank_contraction("ab=ai,ib", {"a": 30, "b": 20, "i": 10}, home=tmp_path, verify=True)
    assert [opponent.name for opponent in report.opponents][:2] == ["numpy.einsum", "numpy.tensordot"]
    assert all(row.measured for row in report.rows[:3])
    assert "numpy.tensordot" in str(report)
    batch = blascast.rank_contraction("abz=aiz,ibz", {"a": 3, "b": 2, "i": 2, "z": 2}, home=tmp_path, verify=True)
    assert "numpy.tensordot" not in [opponent.name for opponent in batch.opponents]


def test_a_budget_limits_what_is_verified(tmp_path: Path) -> None:
    question = {"library": "simulated", "home": tmp_path, "verify": True}
    known = blascast.rank_contraction("ai,ibc->abc", SIZES, library="simulated", home=tmp_path)
    budget = 1.01 * known.rows[2].seconds  # enough for one run of each of three, not for several
    few = blascast.rank_contraction("ai,ibc->abc", SIZES, budget=budget, **question)  # type: ignore[arg-type]
    assert sum(row.measured is not None for row in few.rows) == 3
    assert len([row for row in blascast.rank_contraction("ai,ibc->abc", SIZES, **question).rows if row.measured]) > 3  # type: ignore[arg-type]


def test_what_takes_longer_than_the_budget_is_not_verified(tmp_path: Path) -> None:
    sizes = {"a": 512, "b": 512, "i": 512}
    report = blascast.rank_contraction(
        "ab=ai,ib", sizes, kernels=["dot"], verify=True, budget=1e-4, library="simulated", home=tmp_path
    )
    assert report.rows
    assert all(row.measured is None for row in report.rows)


def test_the_most_promising_are_run_where_that_is_asked(tmp_path: Path) -> None:
    report = blascast.rank_contraction("ai,ibc->abc", SIZES, library="simulated", home=tmp_path, measure=True)
    assert {row.estimate.basis for row in report.rows} == {"runs"}
    assert "Running them took" in str(report)
    assert len(report.rows) + len(report.others) == 41
    A, B = np.ones((3, 2)), np.ones((2, 4))
    np.testing.assert_equal(blascast.contract("ai,ib->ab", A, B, measure=True, home=tmp_path), A @ B)


def test_groups_that_cannot_hold_the_best_are_not_looked_into(tmp_path: Path) -> None:
    report = blascast.rank_contraction("abc=ija,jbic", dict.fromkeys("abcij", 16), library="simulated", home=tmp_path)
    assert {other.candidate.kernel for other in report.others} >= {"dot", "axpy"}
    assert min(other.seconds for other in report.others) > report.best.seconds
    assert len(report.rows) < 40


def test_a_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = [word for index, size in SIZES.items() for word in ("--size", f"{index}={size}")]
    figure = tmp_path / "algorithms.svg"
    ask = ["contract", "abc=ai,ibc", *sizes, "--library", "simulated", "--output", str(figure)]
    assert run(ask) == 0
    capsys.readouterr()
    assert "GFLOP/s" in figure.read_text()


# --- algorithms as text


def test_an_algorithm_as_loops(capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["contract", "abc=ija,jbic", *(word for i in "abcij" for word in ("--size", f"{i}=4"))]
    assert run([*ask, "--show", "cj'-gemm"]) == 0
    source = capsys.readouterr().out
    assert "for c in 0..3:" in source
    assert "B' = B[j,:,:,c]    (copy)" in source
    assert "C[:,:,c] += A[:,j,:] B'    (gemm)" in source
    assert "int contraction(const T *A, const T *B, T *C)" in source


@pytest.mark.parametrize("dtype", "dz")
@pytest.mark.parametrize("text", ["abc=ija,jbic", "abcz=aiz,ibcz", "a=iaj,ji", "cab=ai,ibc"])
def test_sources_compile_and_compute(text: str, dtype: str, tmp_path: Path) -> None:
    """One algorithm of each kind, linked with the BLAS of SciPy's wheel."""
    (blas,) = (Path(scipy.__file__).parents[1] / "scipy.libs").glob("libscipy_openblas-*.so")
    contraction = parse_contraction(text)
    sizes = dict(zip("abcijz", (5, 4, 3, 6, 2, 2), strict=True))
    problem = Problem.contiguous(contraction, {index: sizes[index] for index in contraction.indices})
    kinds = {(own.family, own.kernel, own.nest.copied): own for own in candidates(problem, dtype)}
    random = np.random.default_rng(0)
    A, B = (np.asfortranarray(random.random(problem.shape(name)).astype(TYPES[dtype])) for name in ("A", "B"))
    wanted = np.einsum("{},{}->{}".format(*map("".join, (contraction.A, contraction.B, contraction.C))), A, B)
    names = ("gemm", "gemv", "ger", "geru", "axpy", "dot", "copy")
    renamed = [f"-D{dtype}{name}_=scipy_{dtype}{name}_" for name in names]
    for number, own in enumerate(kinds.values()):
        source, library = tmp_path / f"{number}.c", tmp_path / f"{number}.so"
        source.write_text(source_of(own))
        command = ["cc", "-O1", "-Wall", "-Werror", *renamed, "-shared", "-fPIC", str(source), str(blas)]
        subprocess.run([*command, f"-Wl,-rpath,{blas.parent}", "-o", str(library)], check=True)
        C = np.full(problem.shape("C"), np.nan, dtype=TYPES[dtype], order="F")
        assert ctypes.CDLL(str(library)).contraction(*(ctypes.c_void_p(array.ctypes.data) for array in (A, B, C))) == 0
        np.testing.assert_allclose(C, wanted, rtol=1e-12, err_msg=own.name)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("abc=ai --size a=3", "'abc=ai' is no contraction of two tensors"),
        ("ab=ai,ib --size a=3", "the size of the index 'b' is missing"),
        ("ab=ai,ib --size a", "--size must be INDEX=N, such as a=512, got 'a'"),
        ("ab=ai,ib --size a=0 --size b=1 --size i=1", "the size of the index 'a' must be a positive"),
        ("ab=ai,ib --size a=2 --size b=2 --size i=2 --kernels trsm", "unknown kernel of contractions 'trsm'"),
        ("a=a,a --size a=2", "a=a,a has no algorithm with the kernels"),
        ("ab=ai,ib --size a=2 --size b=2 --size i=2 --show i-gem", "unknown algorithm of ab=ai,ib 'i-gem'"),
        (
            "ab=ai,ib --size a=2 --size b=2 --size i=2 --budget 0",
            "a budget must be a positive number of seconds, got 0",
        ),
        ("ab=ai,ib --size a=2 --size b=2 --size i=2 --output x.txt", "a figure must end in .pdf, .png, .svg"),
        ("ab=ai,ib --size a=9999999 --size b=9999999 --size i=2", "GB of memory are available"),
    ],
)
def test_what_is_refused(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["contract", *arguments.split(), "--library", "simulated"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


# --- the winner is run


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_the_winner_equals_einsum(dtype: type, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    A = random.standard_normal((6, 5)).astype(dtype)
    B = random.standard_normal((5, 4, 3)).astype(dtype)
    wanted = np.einsum("ai,ibc->cab", A, B)
    chosen = blascast.plan("ai,ibc->cab", A, B, home=tmp_path)
    assert chosen.algorithm.split("-")[1] in ("dot", "axpy", "gemv", "ger", "gemm", "ttgt")
    for left, right in ((A, B), (np.asfortranarray(A), np.asfortranarray(B)), (A[::-1], B[:, ::-1])):
        found = blascast.contract("ai,ibc->cab", left, right, home=tmp_path)
        np.testing.assert_allclose(found, np.einsum("ai,ibc->cab", left, right), rtol=1e-4)
    out = np.zeros((3, 12, 8), dtype=dtype)[:, ::2, ::2]
    assert blascast.contract("ai,ibc->cab", A, B, out, home=tmp_path) is out
    np.testing.assert_allclose(out, wanted, rtol=1e-4)


def test_arrays_that_are_refused(tmp_path: Path) -> None:
    A, B = np.ones((2, 3)), np.ones((3, 4))
    for arguments, message in [
        ((np.ones((2, 3), dtype=int), np.ones((3, 4), dtype=int)), "arrays must be of float32, float64, complex64 or"),
        ((np.array([["x"] * 3] * 2), B), "arrays must be of float32"),
        ((A, np.ones((2, 4))), "the index 'i' has the size 3 in A and 2 in B"),
        ((A, np.ones(3)), "B = ib has 2 dimensions, the array 1"),
        ((np.ones((2, 0)), np.ones((0, 4))), "the index 'i' has the size 0: nothing is contracted"),
        ((A, B, np.ones((2, 5))), r"out must have the shape \(2, 4\), got \(2, 5\)"),
        ((A, B, np.ones((2, 4), dtype=np.float32)), "out must be an array of float64, got float32"),
        ((A, B, [[0.0] * 4] * 2), "out must be an array of float64, got list"),
        ((A, B, np.broadcast_to(np.ones(4), (2, 4))), "out cannot be written"),
        ((A, B, np.ones((2, 4))[::-1]), "out must be aligned, with positive strides of whole"),
        ((A, B, np.lib.stride_tricks.as_strided(np.ones(5), (2, 4), (8, 8))), "entries of out share memory with each"),
        ((np.ones((4, 4)), np.ones((4, 4)), None), None),
    ]:
        if message is None:
            square = arguments[0]
            with pytest.raises(UsageError, match="out shares memory with an operand"):
                blascast.contract("ai,ib->ab", square, arguments[1], square, home=tmp_path)
        else:
            with pytest.raises(UsageError, match=message):
                blascast.contract("ai,ib->ab", *arguments, home=tmp_path)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("operands", "message"),
    [
        (
            ([[1.0, 2.0], [3.0]], np.ones((2, 2))),
            "operands must be arrays, or nested lists of one length at each depth",
        ),
        ((np.zeros((2, 2), dtype="datetime64[s]"), np.ones((2, 2))), "arrays must be of float32"),
        ((np.zeros((2, 2), dtype=[("x", "f8")]), np.ones((2, 2))), "arrays must be of float32"),
        ((None, np.ones((2, 2))), "arrays must be of float32"),
    ],
)
def test_operands_that_are_no_arrays(operands: tuple[object, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        blascast.contract("ai,ib->ab", *operands, home=tmp_path)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"kernels": ["gemm"]},
            "a contraction of arrays takes measure, library, threads, home, on_progress, got 'kernels'",
        ),
        ({"dtype": "s"}, "got 'dtype'; leave it out"),
        ({"library": "simulated"}, "the simulated machine computes no results; choose another library"),
        ({"library": "nowhere"}, "unknown library 'nowhere'"),
    ],
)
def test_options_that_contract_has_not(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        blascast.contract("ai,ib->ab", np.ones((2, 2)), np.ones((2, 2)), **options)  # type: ignore[arg-type]


def test_a_contraction_must_be_text() -> None:
    with pytest.raises(UsageError, match="a contraction is a text, got"):
        blascast.contract(["ai", "ib"], np.ones((2, 2)), np.ones((2, 2)))  # type: ignore[arg-type]


def test_a_plan_runs_on_arrays_like_its_own_only(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    A, B = random.random((3, 4)), random.random((4, 5))
    plan = blascast.plan("ai,ib->ab", A, B, home=tmp_path)
    np.testing.assert_allclose(plan.run(A, B), A @ B)
    out = np.zeros((3, 5))
    assert plan.run(A, B, out) is out
    for left, right, into in (
        (A.T.copy().T, B, None),
        (A[:2], B, None),
        (A.astype(np.float32), B.astype(np.float32), None),
        (A, B, np.zeros((5, 3)).T),
        (A, B, np.zeros((3, 10))[:, ::2]),
    ):
        with pytest.raises(UsageError, match=r"this plan is for [ABC] of float64, shape .*, got .*; make another"):
            plan.run(left, right, into)
    np.testing.assert_allclose(plan.run(A[::-1], B), A[::-1] @ B)  # which is copied to a layout like its own


def test_arrays_side_by_side_are_no_overlap(tmp_path: Path) -> None:
    whole = np.ones((4, 8))
    found = blascast.contract("ai,ib->ab", whole[:, :4], np.ones((4, 4)), whole[:, 4:], home=tmp_path)
    np.testing.assert_allclose(found, 4.0)
    np.testing.assert_allclose(whole[:, :4], 1.0)


def test_of_too_many_algorithms_those_on_fused_indices_are_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    text, sizes = "abcdefgh=abcdij,efghij", [option for index in "abcdefghij" for option in ("--size", f"{index}=2")]
    assert run(["contract", text, *sizes, "--library", "simulated", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {row["algorithm"] for row in answer["rows"]} & {"-gemm"}
    mixed = "abcdefgh=aicjdkbl,eigjfkhl"
    sizes = [option for index in "abcdefghijkl" for option in ("--size", f"{index}=2")]
    assert run(["contract", mixed, *sizes, "--library", "simulated", "--kernels", "dot"]) == 2
    assert "algorithms with the kernels dot, up to 20000 are looked at; name fewer" in capsys.readouterr().err


@given(
    st.lists(st.integers(0, 3), min_size=2, max_size=2),
    st.lists(st.integers(0, 3), min_size=2, max_size=2),
    st.sampled_from(["f4", "f8", "c8", "c16", "i4", "?", ">f8", "O", "S3", "M8[s]"]),
    st.sampled_from(["ai,ib->ab", "ai,ia->", "aa,ab->b", "ab,ab->ab", "ai,bi->ab", "ai,ib", "x", "a,b->ab"]),
    st.sampled_from([None, "f8", "f4", "view"]),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_arrays_are_contracted_rightly_or_refused(
    tmp_path: Path, left: list[int], right: list[int], dtype: str, text: str, into: str | None
) -> None:
    A, B = np.ones(left).astype(dtype, casting="unsafe"), np.ones(right).astype(dtype, casting="unsafe")
    out = A if into == "view" else None if into is None else np.zeros((left[0], right[1]), dtype=into)
    try:
        found = blascast.contract(text, A, B, out, home=tmp_path)
    except UsageError as error:
        assert "\n" not in str(error)
        return
    np.testing.assert_allclose(found, np.einsum(text, A, B))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_unaligned_operands_are_copied_and_an_unaligned_out_refused(dtype: str, tmp_path: Path) -> None:
    """BLAS takes alignment for granted, also where an array is contiguous."""

    def unaligned(values: np.ndarray) -> np.ndarray:
        return np.frombuffer(b"x" + values.tobytes(), values.dtype, offset=1).reshape(values.shape)

    A, B = np.arange(20).reshape(4, 5).astype(dtype), np.arange(15).reshape(5, 3).astype(dtype)
    found = blascast.contract("ai,ib->ab", unaligned(A), unaligned(B), home=tmp_path)
    np.testing.assert_allclose(found, A @ B)
    memory = np.zeros(4 * 3 * A.itemsize + 1, dtype=np.uint8)
    out = np.frombuffer(memory, dtype, offset=1).reshape(4, 3)
    with pytest.raises(UsageError, match="out must be aligned"):
        blascast.contract("ai,ib->ab", A, B, out, home=tmp_path)
    scalar = unaligned(np.array([2.0], dtype=dtype)).reshape(())
    np.testing.assert_allclose(blascast.contract(",i->i", scalar, A[0], home=tmp_path), 2 * A[0])


def test_contractions_of_very_many_algorithms_are_run_all_the_same(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    A, B = random.random((2,) * 6), random.random((2,) * 4)
    found = blascast.contract("abcdij,jeif->fbdace", A, B, home=tmp_path)
    np.testing.assert_allclose(found, np.einsum("abcdij,jeif->fbdace", A, B))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "X"}, "the order must be 'F'"),
        ({"kernels": "gemm"}, "kernels must be a sequence of names"),
        ({"kernels": ["gemm", 3]}, "kernels must be a sequence of names"),
        ({"budget": "3"}, "a budget must be a positive number of seconds"),
    ],
)
def test_options_of_a_ranking_that_are_none(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        blascast.rank_contraction("ab=ai,ib", {"a": 2, "b": 2, "i": 2}, library="simulated", **options)  # type: ignore[arg-type]
