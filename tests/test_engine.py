"""The C engine through a real worker: bookkeeping, operands, calls of every width."""

import errno
import os
import re
import threading

import numpy as np
import pytest

from blascast.sampler._engine import ffi, lib
from blascast.sampler.call import View, bind
from blascast.sampler.counters import SOFTWARE, Counters, refusal
from blascast.sampler.errors import LibraryError, UsageError
from blascast.sampler.failure import KernelFailed
from blascast.sampler.host.backend import WorkerBackend
from blascast.sampler.kernel import Data, Flag, Inc, Info, Kernel, Ld, Scalar, Size
from blascast.sampler.kernels import find_kernel
from blascast.sampler.program import (
    Buffer,
    Flush,
    Parallel,
    Probe,
    Repeat,
    Restore,
    Run,
    Time,
    Touch,
    buffers_for,
    unrolled,
)
from blascast.sampler.setup import SetupRequest
from blascast.sampler.simulated import QUIET, SimulatedBackend

SQUARE = View("A", 0, 0, 40, 40, 48)


def cholesky(n: int = 40) -> tuple:
    call = bind(find_kernel("potf2"), "L", View("A", 0, 0, n, n, n + 8))
    return call, buffers_for([call])


def test_the_clock_is_sane(real: WorkerBackend) -> None:
    overhead = real.overhead
    assert 0 < overhead.subtracted < 5e-6
    assert overhead.low <= overhead.median <= overhead.high
    assert -overhead.subtracted <= overhead.low
    assert 1e6 < real.ticks_per_second < 1e11


def test_the_interpreter_lock_is_released() -> None:
    """While a program runs in one thread, another goes on."""
    operations = ffi.new("bc_operation[]", [{"kind": lib.BC_PROBE}] * 20_000)
    records = ffi.new("bc_record[]", len(operations))
    arguments = (operations, len(operations), records, ffi.NULL, ffi.new("int64_t *"))
    thread = threading.Thread(target=lib.bc_run, args=arguments)
    thread.start()
    turns = 0
    while thread.is_alive():
        turns += 1
    assert turns > 100
    assert records[len(operations) - 1].ticks > 0


def test_unknown_operations_are_refused() -> None:
    operations = ffi.new("bc_operation[]", [{"kind": 99}])
    assert (
        lib.bc_run(operations, 1, ffi.new("bc_record[]", 1), ffi.NULL, ffi.new("int64_t *")) == lib.BC_UNKNOWN_OPERATION
    )


def test_each_operation_reports_what_it_should(real: WorkerBackend) -> None:
    call, buffers = cholesky()
    real.allocate(buffers)
    program = [Restore(SQUARE), Run(call), Restore(SQUARE), Probe(), Time(call), Touch(SQUARE), Flush(SQUARE), Probe()]
    records = real.run(program)
    assert (records.seconds >= 0).tolist() == [False] * 4 + [True] + [False] * 3
    assert (records.branch >= 0).tolist() == [False] * 3 + [True] + [False] * 3 + [True]
    assert (records.switches >= 0).tolist() == (records.clock >= 0).tolist() == (records.branch >= 0).tolist()
    assert np.all(np.diff(records.start) > 0)


def test_times_are_of_the_right_order(real: WorkerBackend) -> None:
    n = 400
    views = [View(name, 0, 0, n, n, n) for name in "ABC"]
    call = bind(find_kernel("gemm"), "N", "N", 1, views[0], views[1], 1, views[2])
    real.allocate(buffers_for([call]))
    seconds = real.run([Run(call), *[Time(call)] * 5]).seconds[1:]
    assert np.all(seconds > 2 * n**3 / 5e12)  # no core does 5 TFLOP/s
    assert np.all(seconds < 2 * n**3 / 1e7)


def test_a_probe_is_skipped_when_the_last_one_is_recent(real: WorkerBackend) -> None:
    real.allocate([Buffer("A", 8, 8, 8)])
    assert (real.run([Probe(), Probe(10.0), Probe()]).branch >= 0).tolist() == [True, False, True]


def test_what_is_overwritten_is_restored(real: WorkerBackend) -> None:
    """A Cholesky of its own result fails; of restored operands it never does."""
    call, buffers = cholesky()
    real.allocate(buffers)
    before = real.read("A")
    real.run([operation for _ in range(20) for operation in (Restore(SQUARE), Time(call))])
    assert not np.array_equal(real.read("A"), before)
    real.run([Restore(SQUARE)])
    np.testing.assert_array_equal(real.read("A"), before)


def test_restoring_touches_the_view_alone(real: WorkerBackend) -> None:
    real.allocate([Buffer("A", 6, 6, 8, "general", seed=3)])
    original = real.read("A")
    real.write("A", np.zeros((6, 6)))
    real.run([Restore(View("A", 1, 2, 3, 2, 8))])
    restored = np.zeros((6, 6))
    restored[1:4, 2:4] = original[1:4, 2:4]
    np.testing.assert_array_equal(real.read("A"), restored)


def test_operands_are_seeded_and_of_their_structure(real: WorkerBackend) -> None:
    def filled(structure: str, seed: int) -> np.ndarray:
        real.allocate([Buffer("A", 50, 50, 56, structure, seed)])  # type: ignore[arg-type]
        return real.read("A")

    np.testing.assert_array_equal(filled("general", 1), filled("general", 1))
    assert not np.array_equal(filled("general", 1), filled("general", 2))
    assert np.abs(filled("general", 1)).max() <= 1
    spd = filled("positive definite", 1)
    np.testing.assert_array_equal(spd, spd.T)
    assert np.linalg.eigvalsh(spd).min() > 1
    assert np.linalg.eigvalsh(spd[:7, :7]).min() > 1  # parts of it too
    triangle = filled("triangular", 1)
    for part in (np.tril(triangle), np.triu(triangle), np.tril(triangle)[:9, :9]):
        assert np.linalg.cond(part) < 10


def test_contents_are_written_and_read_with_gaps_between_columns(real: WorkerBackend) -> None:
    real.allocate([Buffer("A", 3, 4, 8), Buffer("B", 2, 2, 2)])
    values = np.arange(12.0).reshape(3, 4)
    real.write("A", values)
    np.testing.assert_array_equal(real.read("A"), values)
    with pytest.raises(UsageError, match="no operand 'C'"):
        real.read("C")


def test_a_view_outside_its_operand_is_refused(real: WorkerBackend) -> None:
    real.allocate([Buffer("A", 8, 8, 8)])
    negative = View("A", 4, 4, -4, 4, 8)
    for outside in (View("A", 4, 0, 5, 2, 8), View("A", 0, 7, 2, 2, 8), View("A", 0, 0, 2, 5, 16), negative):
        with pytest.raises(UsageError, match="not inside the operand"):
            real.run([Touch(outside)])


def test_programs_that_are_none(real: WorkerBackend) -> None:
    real.allocate([Buffer("A", 8, 8, 8)])
    assert len(real.run([]).start) == 0
    with pytest.raises(UsageError, match="a program holds operations, got 'x'"):
        real.run(["x"])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="got values of shape"):
        real.write("A", np.zeros((1, 8)))
    with pytest.raises(UsageError, match="the gap between probes"):
        Probe(float("nan"))
    with pytest.raises(UsageError, match="an operand needs"):
        real.allocate([Buffer("A", 8, 8, 4)])


def test_operands_that_do_not_fit_are_foreseen(real: WorkerBackend) -> None:
    with pytest.raises(UsageError, match=r"the operands need .* GB, .* GB of memory are available"):
        real.allocate([Buffer("A", 10**6, 10**6, 10**6)])


def many() -> Kernel:
    sizes = [Size(f"{letter}{i}") for letter in "ab" for i in range(1, 10)]
    flags = [Flag(f"f{i}", "ABC") for i in (1, 2, 3)]
    data = Data("X", "out", "a1", "a2")
    return Kernel("many", "d", (*flags, *sizes, data, Ld("ldx", "X"), Info()), "a1", "a1")


@pytest.mark.parametrize(("suffix", "integer", "bits"), [("_", "int32_t", 32), ("_64_", "int64_t", 64)])
def test_24_arguments_and_hidden_lengths(toy, suffix: str, integer: str, bits: int) -> None:
    from blascast.sampler.call import Call

    backend = WorkerBackend(SetupRequest(toy(suffix, integer)))
    try:
        assert backend.setup.library.integer_bits == bits
        assert (backend.setup.library.prefix, backend.setup.library.suffix) == ("", suffix)
        kernel = many()
        sizes = {name: i + 1 for i, name in enumerate(kernel.sizes)}
        call = Call(kernel, ("A", "B", "C", View("X", 0, 0, 1, 2, 5)), sizes)
        backend.allocate(buffers_for([call]))
        backend.run([Run(call)])
        weights = {"a1": 1, "a2": 2, "a3": 3, "a9": 4, "b1": 5, "b9": 6}
        value = sum(weight * sizes[name] for name, weight in weights.items()) + 5 + 300 + 1 + 10
        assert backend.read("X")[0, 0] == value
    finally:
        backend.close()


def test_more_arguments_than_the_engine_takes(real: WorkerBackend) -> None:
    flags = tuple(Flag(f"f{i}", "A") for i in range(30))
    kernel = Kernel("potf2", "d", (*flags, Size("n"), Data("A", "inout", "n", "n"), Ld("lda", "A")), "n", "n")
    call = bind(kernel, *["A"] * 30, SQUARE)
    real.allocate(buffers_for([call]))
    with pytest.raises(LibraryError, match="a call may have 40 arguments"):
        real.run([Run(call)])


def test_a_routine_that_the_library_lacks(real: WorkerBackend) -> None:
    kernel = Kernel("nothing", "d", (Size("n"), Data("A", "inout", "n", "n"), Ld("lda", "A")), "n", "n")
    call = bind(kernel, SQUARE)
    real.allocate(buffers_for([call]))
    with pytest.raises(LibraryError, match=r"has no routine dnothing \(symbol scipy_dnothing_\)"):
        real.run([Run(call)])


def test_numpys_64_bit_library() -> None:
    backend = WorkerBackend(SetupRequest("numpy"))
    try:
        assert backend.setup.library.integer_bits == 64
        call, buffers = cholesky()
        backend.allocate(buffers)
        before = backend.read("A")
        backend.run([Run(call)])
        np.testing.assert_allclose(np.tril(backend.read("A")), np.linalg.cholesky(before), atol=1e-13)
    finally:
        backend.close()


def test_fingerprints_differ_with_the_setup(real: WorkerBackend) -> None:
    single = WorkerBackend(SetupRequest(dtype="s"))
    single.close()
    again = WorkerBackend(SetupRequest())
    again.close()
    assert single.setup.fingerprint != real.setup.fingerprint == again.setup.fingerprint


def test_an_array_valued_call_is_one_for_each_entry(real: WorkerBackend) -> None:
    moving = View("A", 0, 3 * np.arange(4), 3, 3, 3)
    call = bind(find_kernel("potf2"), "L", moving)
    real.allocate(buffers_for([call]))
    blocks = [np.full((3, 3), float(i)) + 9 * np.eye(3) for i in range(4)]
    real.write("A", np.hstack(blocks))
    records = real.run([Time(call)])
    assert len(records) == 4
    assert np.all(records.seconds > 0)
    expected = [np.linalg.cholesky(block) + np.triu(block, 1) for block in blocks]
    np.testing.assert_allclose(real.read("A"), np.hstack(expected), atol=1e-13)


def test_repetitions_move_the_views(real: WorkerBackend) -> None:
    moving, fixed = View("A", 0, 4 * np.arange(5), 4, 4, 4), View("B", 0, 0, 4, 4, 4)
    copy = bind(find_kernel("gemm"), "N", "N", 1, View("I", 0, 0, 4, 4, 4), fixed, 0, moving)
    real.allocate(buffers_for([copy]))
    real.write("I", np.eye(4))
    records = real.run([Repeat((Probe(), Repeat((Flush(fixed),), 2), Time(copy)), 5)])
    assert len(records) == 5 * 4
    assert np.flatnonzero(records.seconds >= 0).tolist() == [3, 7, 11, 15, 19]
    assert np.flatnonzero(records.branch >= 0).tolist() == [0, 4, 8, 12, 16]
    np.testing.assert_array_equal(real.read("A"), np.tile(real.read("B"), 5))
    with pytest.raises(UsageError, match="views with 5 entries cannot be repeated 3 times"):
        real.run([Repeat((Time(copy),), 3)])


def test_repetitions_are_spelt_out_alike() -> None:
    moving = View("A", 0, 4 * np.arange(3), 4, 4, 4)
    call = bind(find_kernel("potf2"), "L", moving)
    program = [Probe(), Repeat((Restore(moving), Time(call)), 3), Time(call)]
    kinds = [type(operation).__name__ for operation in unrolled(program)]
    assert kinds == ["Probe", *["Restore", "Time"] * 3, *["Time"] * 3]
    assert len(SimulatedBackend(disturbances=QUIET).run(program)) == 10


def test_a_failing_entry_is_named(real: WorkerBackend) -> None:
    call = bind(find_kernel("potf2"), "L", View("A", 0, 3 * np.arange(4), 3, np.array([3, 3, 3, 3]), 3))
    real.allocate(buffers_for([call]))
    values = np.tile(np.eye(3), 4)
    values[1, 7] = -1.0
    real.write("A", values)
    with pytest.raises(KernelFailed, match=r"dpotf2\(L; n=3; ld 3\) returned info = 2"):
        real.run([Time(call)])


def test_calls_in_parallel_are_timed_as_one(real: WorkerBackend) -> None:
    views = [View(name, 0, 0, 200, 200, 200) for name in "ABCDEF"]
    first, second = (bind(find_kernel("gemm"), "N", "N", 1, *views[i : i + 2], 0, views[i + 2]) for i in (0, 3))
    third = bind(find_kernel("gemm"), "N", "N", 1, views[5], views[4], 0, views[3])
    real.allocate(buffers_for([first, second, third]))
    a, b, e = (real.read(name) for name in "ABE")
    records = real.run([Parallel(((first,), (second, third)))])
    assert len(records) == 4
    assert records.seconds[0] > 0
    assert np.all(records.seconds[1:] == -1)
    np.testing.assert_allclose(real.read("C"), a @ b, atol=1e-12)
    np.testing.assert_allclose(real.read("D"), real.read("F") @ e, atol=1e-10)  # the second lane's calls in order
    with pytest.raises(UsageError, match=r"500 lanes need as many CPUs, this process may use \d+; use fewer"):
        real.run([Parallel(((first,),) * 500)])


def test_lanes_share_no_workspace(real: WorkerBackend) -> None:
    n = 120
    calls = [bind(find_kernel("geqrf"), View(f"A{i}", 0, 0, n, n, n), View(f"t{i}", 0, 0, n, 1, n)) for i in range(4)]
    real.allocate(buffers_for(calls))
    before = [real.read(f"A{i}") for i in range(4)]
    for _ in range(20):
        real.run([*(Restore(call.views["A"]) for call in calls), Parallel((tuple(calls[:2]), tuple(calls[2:])))])
        for i, original in enumerate(before):
            r = np.triu(real.read(f"A{i}"))
            np.testing.assert_allclose(r.T @ r, original.T @ original, atol=1e-10)


def test_lanes_run_at_once(toy) -> None:
    """Two lanes that each wait for the other end only if both run."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one CPU")
    backend = WorkerBackend(SetupRequest(toy()), hang_seconds=5)
    meet = Kernel("meet", "d", (Size("n"), Data("A", "inout", "n", "n"), Ld("lda", "A")), "n", "n")
    calls = [bind(meet, View(name, 0, 0, 2, 2, 2)) for name in "AB"]
    try:
        backend.allocate(buffers_for(calls))
        assert backend.run([Parallel(((calls[0],), (calls[1],)))]).seconds[0] > 0
        with pytest.raises(KernelFailed, match=r"dmeet.* did not return within 5 s"):
            backend.run([Time(calls[0])])
    finally:
        backend.close()


def test_software_counters_are_everywhere(real: WorkerBackend) -> None:
    call, buffers = cholesky(200)
    real.allocate(buffers)
    real.count(Counters(SOFTWARE))
    try:
        records = real.run([Probe(), Time(call)])
        assert records.counters.shape == (2, len(SOFTWARE))
        assert np.all(records.counters[0] == -1)
        counted = dict(zip(SOFTWARE, records.counters[1], strict=True))
        assert counted["migrations"] == 0
        assert 0.5 * records.seconds[1] < 1e-9 * counted["task-clock"] < records.seconds[1] + 1e-3
        assert set(real.counter_shares.values()) == {1.0}
    finally:
        real.count(Counters())


def test_page_faults_are_counted(toy) -> None:
    backend = WorkerBackend(SetupRequest(toy()))
    fault = Kernel("fault", "d", (Size("n"), Data("A", "inout", "n", "n"), Ld("lda", "A")), "n", "n")
    call = bind(fault, SQUARE)
    try:
        backend.allocate(buffers_for([call]))
        backend.count(Counters(("page-faults",)))
        assert 64 <= backend.run([Time(call)]).counters[0, 0] < 80
    finally:
        backend.close()


def test_counters_of_the_processor_or_why_not(real: WorkerBackend) -> None:
    call, buffers = cholesky(200)
    real.allocate(buffers)
    try:
        real.count(Counters(("instructions", "cycles")))
    except UsageError as error:
        assert re.search("cannot count instructions|does not permit to count instructions", str(error))
        assert "page-faults" in str(error)
        assert real.run([Time(call)]).counters.shape == (1, 0)
    else:
        instructions = real.run([Time(call)]).counters[0, 0]
        assert instructions > 200**3 / 3 / 32
        real.count(Counters())


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (errno.EACCES, "does not permit to count cycles"),
        (errno.ENOSPC, "cannot count page-faults, cycles at once, cycles is too many"),
        (errno.ENOENT, "cannot count cycles"),
    ],
)
def test_why_a_counter_is_refused(status: int, message: str) -> None:
    assert message in str(refusal(Counters(("page-faults", "cycles")), 1, status))


def test_counters_that_are_none() -> None:
    with pytest.raises(UsageError, match="unknown counter 'cylces'; known: page-faults"):
        Counters(("cylces",))
    with pytest.raises(UsageError, match="counters must be up to 16 different events"):
        Counters(("cycles", "cycles"))
    with pytest.raises(UsageError, match="cannot count cycles"):
        SimulatedBackend().count(Counters(("page-faults", "cycles")))


def test_functions_return_into_their_operand(real: WorkerBackend) -> None:
    arguments = (Size("n"), Data("x", "in", "n", "1"), Inc("incx", "x"), Data("y", "in", "n", "1"), Inc("incy", "y"))
    dot = Kernel("dot", "sd", arguments, "2 * n", "2 * n", returns=Data("r", "out", "1", "1"))
    amax = Kernel("amax", "d", arguments[:3], "n", "n", Data("i", "out", "1", "1", kind="integer"), {"d": "idamax"})
    row = View("X", 2, 0, 1, 9, 8)
    calls = [
        bind(dot, row, View("y", 0, 0, 9, 1, 16), View("r", 1, 1, 1, 1, 4)),
        bind(amax, row, View("i", 0, 0, 1, 1, 1)),
    ]
    assert calls[0].case == "inc other,1"
    real.allocate(buffers_for(calls))
    real.run([Time(call) for call in calls])
    x = real.read("X")[2]
    assert real.read("r")[1, 1] == pytest.approx(x @ real.read("y")[:, 0])
    assert real.read("i")[0, 0] == 1 + np.argmax(np.abs(x))


def test_a_flush_evicts(toy) -> None:
    """A pointer chase through flushed memory takes far longer than through memory just touched."""
    backend = WorkerBackend(SetupRequest(toy()))
    arguments = (Size("n"), Data("A", "inout", "n", "n"), Ld("lda", "A"))
    ring, chase = (Kernel(name, "d", arguments, "n", "n") for name in ("ring", "chase"))
    operand = View("A", 0, 0, 128, 128, 128)  # 128 KiB
    try:
        call = bind(chase, operand)
        backend.allocate(buffers_for([call]))
        warm, flushed = (Touch(operand), Time(call)), (Flush(operand), Time(call))
        records = backend.run([Run(bind(ring, operand)), *(warm + flushed) * 50])
        seconds = records.seconds[records.seconds >= 0]
        assert np.median(seconds[1::2]) > 3 * np.median(seconds[::2])
    finally:
        backend.close()


def test_a_program_of_many_calls() -> None:
    """The bookkeeping of 10^5 calls on moving operands: each is made, on its own operand."""
    backend = WorkerBackend(SetupRequest())
    count = 100_000
    axpy = Kernel(
        "scal", "d", (Size("n"), Scalar("alpha"), Data("x", "inout", "n", "1"), Inc("incx", "x")), "n", "2 * n"
    )
    call = bind(axpy, 3.0, View("X", 0, np.arange(count), 8, 1, 8))
    try:
        backend.allocate(buffers_for([call]))
        before = backend.read("X")
        assert np.all(backend.run([Time(call)]).seconds >= 0)
        np.testing.assert_array_equal(backend.read("X"), 3.0 * before)
    finally:
        backend.close()
