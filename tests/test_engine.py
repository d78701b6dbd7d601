"""The C engine through a real worker: bookkeeping, operands, calls of every width."""

import threading

import numpy as np
import pytest

from blascast.sampler._engine import ffi, lib
from blascast.sampler.call import View, bind
from blascast.sampler.errors import LibraryError, UsageError
from blascast.sampler.host import WorkerBackend
from blascast.sampler.kernel import Data, Flag, Info, Kernel, Ld, Size
from blascast.sampler.kernels import find_kernel
from blascast.sampler.program import Buffer, Flush, Probe, Restore, Run, Time, Touch, buffers_for
from blascast.sampler.setup import SetupRequest

SQUARE = View("A", 0, 0, 40, 40, 48)


def cholesky() -> tuple:
    call = bind(find_kernel("potf2"), "L", SQUARE)
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
    arguments = (operations, len(operations), records, ffi.new("int64_t *"))
    thread = threading.Thread(target=lib.bc_run, args=arguments)
    thread.start()
    turns = 0
    while thread.is_alive():
        turns += 1
    assert turns > 100
    assert records[len(operations) - 1].ticks > 0


def test_unknown_operations_are_refused() -> None:
    operations = ffi.new("bc_operation[]", [{"kind": 99}])
    assert lib.bc_run(operations, 1, ffi.new("bc_record[]", 1), ffi.new("int64_t *")) == lib.BC_UNKNOWN_OPERATION


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
    for outside in (View("A", 4, 0, 5, 2, 8), View("A", 0, 7, 2, 2, 8), View("A", 0, 0, 2, 2, 16), negative):
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
    sizes = np.array([8, 8])
    views = [View(name, 0, 0, sizes, sizes, 8, owner=np.arange(2)) for name in "AB"]
    array_valued = bind(find_kernel("trsm"), "R", "L", "T", "N", 1, *views)
    with pytest.raises(UsageError, match="array-valued call"):
        real.run([Run(array_valued)])


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
