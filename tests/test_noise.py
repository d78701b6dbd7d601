"""The noise guard on the simulated machine, where the truth is known."""

import numpy as np
import pytest

from blascast.sampler.call import Call, View, bind
from blascast.sampler.errors import UsageError
from blascast.sampler.job import sequence_job, warm_job
from blascast.sampler.kernels import find_kernel
from blascast.sampler.noise import floor_of, prevailing_state, sample_of
from blascast.sampler.program import Probe, Records, Run, Time
from blascast.sampler.sample import Sample, noise_floor
from blascast.sampler.sampler import Budget, Progress, Sampler
from blascast.sampler.simulated import BRANCH_SECONDS, CLOCK_SECONDS, Disturbances, SimulatedBackend

FLOOR = BRANCH_SECONDS / CLOCK_SECONDS
SWITCHING = Disturbances(jitter=0.005, outliers=0.01, free_seconds=0.01, busy_seconds=0.005)


def gemm(n: int) -> Call:
    views = [View(name, 0, 0, n, n, 1000) for name in "ABC"]
    return bind(find_kernel("gemm"), "N", "N", 1, views[0], views[1], 1, views[2])


def sample(ratio: float, switches: int = 0) -> Sample:
    return Sample(1.0, ratio * FLOOR, ratio * FLOOR, 1.0, switches, 0.0)


def test_states_and_verdicts() -> None:
    assert [sample(ratio).state(FLOOR) for ratio in (1.0, 1.2, 1.9)] == ["free", "mixed", "busy"]
    assert sample(1.0).state(float("inf")) == "mixed"  # no floor is known
    assert sample(1.0).verdict("free", FLOOR) == "ok"
    assert sample(1.9).verdict("free", FLOOR) == "other state"
    assert sample(1.9).verdict("mixed", FLOOR) == "ok"
    assert sample(1.0, switches=1).verdict("free", FLOOR) == "preempted"


def test_the_prevailing_state() -> None:
    free, busy, between = sample(1.0), sample(1.9), sample(1.2)
    assert prevailing_state([free] * 3 + [busy] * 7, FLOOR) == "free"
    assert prevailing_state([free] * 1 + [busy] * 9, FLOOR) == "busy"
    assert prevailing_state([between] * 6 + [busy] * 4, FLOOR) == "mixed"
    assert prevailing_state([], FLOOR) == "free"


def records(branch: list[float], switches: list[int], seconds: list[float]) -> Records:
    clock = [CLOCK_SECONDS if b >= 0 else -1.0 for b in branch]
    nothing = np.full(len(branch), -1)
    starts, counters = np.arange(float(len(branch))), np.zeros((len(branch), 0), dtype=np.int64)
    times = np.array(seconds), np.array(branch), np.array(clock)
    return Records(starts, *times, np.array(switches), nothing, nothing, counters)


def test_a_sample_sums_its_timed_calls_and_keeps_the_probes_extremes() -> None:
    b = BRANCH_SECONDS
    found = sample_of(records([b, -1, 2 * b, -1, b], [4, -1, 4, -1, 6], [-1, 0.25, -1, 0.5, -1]))
    assert found.seconds == 0.75
    assert found.started == 1.0
    assert found.switches == 2
    assert (found.quietest, found.busiest) == pytest.approx((FLOOR, 2 * FLOOR))


def test_the_floor_is_the_lowest_dense_ratio() -> None:
    random = np.random.default_rng(0)
    own = FLOOR * (1 + 0.004 * random.random(400))
    shared = FLOOR * random.uniform(1.3, 2.2, 500)
    burst = FLOOR * random.uniform(0.8, 0.95, 90)  # slows the arithmetic loop alone
    assert floor_of(np.concatenate([own, shared, burst])) == pytest.approx(FLOOR, rel=0.025)
    assert floor_of(shared) == float("inf")
    assert floor_of(np.zeros(0)) == float("inf")


def test_a_floor_that_was_known_is_kept_when_the_core_is_shared(quiet: SimulatedBackend) -> None:
    always = Disturbances(free_seconds=1e-9, busy_seconds=1e9)
    sampler = Sampler(SimulatedBackend(disturbances=always), floor=FLOOR)
    sampler.measure([warm_job(gemm(8))], 5)
    assert sampler.floor == FLOOR
    fresh = Sampler(quiet)
    fresh.measure([warm_job(gemm(8))], 5)
    assert fresh.floor == pytest.approx(FLOOR)


@pytest.mark.parametrize("seed", range(5))
def test_a_level_switch_does_not_reach_a_measurement(seed: int) -> None:
    """Unguarded, some medians would be 30 % off."""
    backend = SimulatedBackend(disturbances=SWITCHING, seed=seed)
    jobs = [warm_job(gemm(n)) for n in (64, 200, 400)]
    batch = Sampler(backend, budget=Budget(factor=10)).measure(jobs, 20)
    assert batch.state == "free"
    assert batch.requeued > 0
    for job, measurement in zip(jobs, batch.measurements, strict=True):
        truth = backend.warm_seconds(job.calls[0])
        assert len(measurement.accepted) >= 20
        np.testing.assert_allclose(measurement.seconds, truth, rtol=0.03)
        assert max(s.seconds for s in measurement.samples) > 1.2 * truth


def test_a_core_that_is_always_shared_is_measured_as_such() -> None:
    always = Disturbances(jitter=0.001, free_seconds=1e-9, busy_seconds=1e9)
    backend = SimulatedBackend(disturbances=always)
    batch = Sampler(backend, floor=FLOOR).measure([warm_job(gemm(100))], 10)
    assert batch.state == "busy"
    assert np.median(batch.measurements[0].seconds) == pytest.approx(1.3 * backend.warm_seconds(gemm(100)), rel=0.01)


def test_a_state_that_cannot_be_had_gives_way_to_the_one_that_prevails() -> None:
    always = Disturbances(free_seconds=1e-9, busy_seconds=1e9)
    budget = Budget(factor=0.0, least_seconds=0.1)
    sampler = Sampler(SimulatedBackend(disturbances=always), floor=FLOOR, budget=budget)
    batch = sampler.measure([warm_job(gemm(100))], 10, state="free")
    assert batch.state == "busy"
    assert batch.requeued > 0
    assert batch.accepted == len(batch.measurements[0].samples) > 10
    assert "samples accepted (busy core)" in str(batch)


def test_what_cannot_be_had_undisturbed_is_given_up_and_said() -> None:
    """Preempted two times out of three, and no time to measure again."""
    preempted = Disturbances(outliers=0.6)
    budget = Budget(factor=0.0, least_seconds=0.0)
    batch = Sampler(SimulatedBackend(disturbances=preempted), budget=budget).measure([warm_job(gemm(100))], 40)
    assert batch.given_up > 0
    assert batch.accepted + batch.given_up >= 40
    assert f"{batch.given_up} given up" in str(batch)
    assert max(batch.measurements[0].seconds) < 2e-3  # those that were preempted do not count


def test_batches_that_are_none(quiet: SimulatedBackend) -> None:
    for jobs, repetitions in (([], 3), ([warm_job(gemm(8))], -1), ([warm_job(gemm(8))], [1, 2])):
        with pytest.raises(UsageError, match="a batch needs at least one job"):
            Sampler(quiet).measure(jobs, repetitions)


def test_counts_add_up_without_disturbances(quiet: SimulatedBackend) -> None:
    seen: list[Progress] = []
    batch = Sampler(quiet).measure([warm_job(gemm(n)) for n in (8, 100)], 6, on_progress=seen.append)
    assert (batch.accepted, batch.requeued, batch.given_up) == (12, 0, 0)
    assert batch.noise_floor == pytest.approx(0, abs=1e-12)
    assert seen[-1].done == seen[-1].total == 12
    assert seen[-1].seconds_left == 0


def test_repetitions_are_shuffled_over_the_batch(quiet: SimulatedBackend) -> None:
    batch = Sampler(quiet, seed=4).measure([warm_job(gemm(n)) for n in (8, 16, 24, 32)], 25)
    taken = sorted((s.started, i) for i, m in enumerate(batch.measurements) for s in m.samples)
    order = [i for _, i in taken]
    assert sum(a != b for a, b in zip(order[1:], order, strict=False)) > 50  # in blocks there would be 3 changes


def test_the_first_call_is_never_a_sample(quiet: SimulatedBackend) -> None:
    programs: list[list] = []
    run = quiet.run

    def spy(operations):  # type: ignore[no-untyped-def]
        programs.append(list(operations))
        return run(operations)

    quiet.run = spy  # type: ignore[method-assign]
    Sampler(quiet).measure([warm_job(gemm(8))], 2)
    calls = [operation for program in programs for operation in program if isinstance(operation, Run | Time)]
    assert isinstance(calls[0], Run)


def test_a_warm_job_restores_calls_restores_and_times() -> None:
    names = [type(operation).__name__ for operation in warm_job(gemm(8)).operations(0)]
    assert names == ["Restore", "Run", "Restore", "Probe", "Time", "Probe"]


def test_a_sequence_is_probed_inside_and_restores_whole_operands() -> None:
    calls = [gemm(64), gemm(200), gemm(100)]
    operations = sequence_job(calls).operations(0)
    names = [type(operation).__name__ for operation in operations]
    assert names == ["Restore", "Probe", "Time", "Probe", "Time", "Probe", "Time", "Probe"]
    assert (operations[0].view.rows, operations[0].view.columns) == (200, 200)
    assert isinstance(operations[3], Probe)
    assert operations[3].minimum_gap_seconds > 0
    assert operations[-1].minimum_gap_seconds == 0


def test_noise_floor_of_nothing() -> None:
    assert noise_floor([]) is noise_floor([np.array([1.0, 2.0, 3.0])]) is None


def test_cold_operands_cost_their_traffic(quiet: SimulatedBackend) -> None:
    call = gemm(100)
    from blascast.sampler.program import Flush

    quiet.allocate([])
    flushes = [Flush(view) for view in call.views.values()]
    cold, warm = quiet.run([*flushes, Time(call), Time(call)]).seconds[-2:]
    assert warm == pytest.approx(quiet.warm_seconds(call))
    assert cold > warm
