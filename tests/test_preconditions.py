"""Where operands lie before a call: in words, as operations, and what they cost on machines that have caches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blascast.sampler.call import Call, View, bind
from blascast.sampler.errors import UsageError
from blascast.sampler.host.backend import WorkerBackend
from blascast.sampler.job import buffers_of, job_of
from blascast.sampler.kernels import find_kernel
from blascast.sampler.precondition import Cold, Foreign, Mixed, Part, Touched, Warm, precondition_of, prepare
from blascast.sampler.program import Flush, Restore, Run, Time, Touch
from blascast.sampler.sampler import Sampler
from blascast.sampler.simulated import MEMORY_BYTES_PER_SECOND, SimulatedBackend

ALL = [
    *(Warm(), Cold(), Cold("fresh memory"), Mixed(("A", "C")), Touched(("A", Foreign(3 << 20), "B", Foreign(100)))),
    *(Mixed(("A", Part("B", 25))), Touched((Part("A", 50), Foreign(100), "C"))),
]


def gemm(n: int = 64) -> Call:
    return bind(
        find_kernel("gemm"), "N", "N", 1, *(View(x, 0, 0, n, n, n + 8) for x in "AB"), 1, View("C", 0, 0, n, n, n + 8)
    )


@pytest.mark.parametrize("precondition", ALL, ids=str)
def test_words_name_preconditions(precondition) -> None:
    assert precondition_of(str(precondition)) == precondition


@given(st.text(max_size=30))
def test_other_words_name_none(text: str) -> None:
    try:
        precondition_of(text)
    except UsageError as error:
        rules = ("a precondition is warm, cold by flush", "at least 1 byte", "1% to 100%", "is named once")
        assert any(rule in str(error) for rule in rules)


def test_parts_of_operands() -> None:
    call = gemm()
    *_, flushed = prepare(call, Mixed((Part("B", 30),)))
    part = flushed.view  # type: ignore[union-attr]
    assert (part.buffer, part.row, part.column, part.rows, part.columns) == ("B", 0, 0, 64, 20)
    vector = View("x", 3, 2, 10, 1, 20)
    assert str(Part("x", 25).view(vector)) == str(View("x", 3, 2, 3, 1, 20))
    for twice in ("A, 25% of A cold", "B, B cold"):
        with pytest.raises(UsageError, match="each operand is named once where some are cold"):
            precondition_of(twice)
    with pytest.raises(UsageError, match="a part of an operand must be 1% to 100%, got 0% of A"):
        precondition_of("0% of A cold")


def test_what_is_done_before_a_call() -> None:
    call = gemm()
    c = Restore, Run, Restore
    assert [type(operation) for operation in prepare(call, Warm())] == [*c]
    assert [type(operation) for operation in prepare(call, Cold())] == [*c, Flush, Flush, Flush]
    mixed = prepare(call, Mixed(("B",)))
    assert [type(operation) for operation in mixed] == [*c, Flush]
    assert mixed[-1].view is call.views["B"]  # type: ignore[union-attr]
    part = View("A", 0, 0, 8, 8, 72)
    touched = prepare(call, Touched(("B", Foreign(10_000), part)))
    assert [type(operation) for operation in touched] == [*c, *[Flush] * 3, *[Touch] * 3]
    foreign = touched[-2].view  # type: ignore[union-attr]
    assert foreign.rows * foreign.columns * 8 >= 10_000
    assert touched[-1].view is part  # type: ignore[union-attr]


def test_operands_that_a_call_has_not() -> None:
    for precondition in (Mixed(("D",)), Touched(("D",))):
        with pytest.raises(UsageError, match="gemm has the operands A, B, C, not 'D'"):
            job_of(gemm(), precondition)


def test_fresh_memory_moves_and_is_cleared_behind() -> None:
    job = job_of(gemm(), Cold("fresh memory"))
    first, second = job.operations(0), job.operations(1)
    timed = [next(o.call for o in operations if isinstance(o, Time)) for operations in (first, second)]
    assert timed[0].views["A"].column != timed[1].views["A"].column
    assert job.operations(0) is first
    copies = next(n for n in range(1, 1000) if job.operations(n) is first)
    assert 100 < copies * 3 * 64 * 72 * 16 / 2**20 <= 64 or copies == 256
    assert [type(operation) for operation in first[-4:]] == [Restore, Flush, Flush, Flush]
    assert {buffer.name for buffer in buffers_of([job], 0)} == {
        x + s for x in "ABC" for s in ("", ", 64 columns again")
    }


def test_copies_hold_what_the_operand_holds(real: WorkerBackend) -> None:
    call = bind(find_kernel("potf2"), "L", View("A", 0, 0, 30, 30, 32))
    job = job_of(call, Cold("fresh memory"))
    real.allocate(buffers_of([job], 5))
    contents = real.read("A, 30 columns again")
    np.testing.assert_array_equal(contents[:, :30], contents[:, 60:90])
    assert np.linalg.eigvalsh(contents[:, 30:60]).min() > 1
    real.run([operation for repetition in range(600) for operation in job.operations(repetition)])
    np.testing.assert_array_equal(real.read("A, 30 columns again"), contents)  # restored behind every call


@pytest.mark.parametrize("precondition", ALL, ids=str)
def test_every_precondition_can_be_measured(precondition, real: WorkerBackend) -> None:
    batch = Sampler(real).measure([job_of(gemm(), precondition)], 3)
    assert batch.measurements[0].job.precondition == str(precondition)
    assert np.all(batch.measurements[0].seconds > 0)


def test_cold_operands_cost_their_traffic(quiet: SimulatedBackend) -> None:
    call = gemm()
    jobs = [job_of(call, precondition) for precondition in ALL]
    warm, flushed, fresh, mixed, touched, part_flushed, part_touched = (
        measurement.seconds.mean() for measurement in Sampler(quiet).measure(jobs, 5).measurements
    )
    operand = 64 * 64 * 8 / MEMORY_BYTES_PER_SECOND
    assert warm == pytest.approx(quiet.warm_seconds(call))
    assert flushed - warm == pytest.approx(3 * operand)
    assert fresh - warm == pytest.approx(3 * operand)
    assert mixed - warm == pytest.approx(2 * operand)
    assert touched - warm == pytest.approx(operand)
    assert part_flushed - warm == pytest.approx(1.25 * operand)
    assert part_touched - warm == pytest.approx(1.5 * operand)
