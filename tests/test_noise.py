"""The noise guard on the simulated machine, where the truth is known."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import bootstrap

from blascast.models.sampling import Case
from blascast.sampler.batch.control import noise_floor
from blascast.sampler.batch.guard import (
    drift,
    floor_of,
    longest_halts,
    prevailing_clocks,
    prevailing_state,
    samples_of,
    speeds,
)
from blascast.sampler.batch.levels import levels_of
from blascast.sampler.batch.repetitions import Repetitions
from blascast.sampler.batch.sample import Batch, Sample
from blascast.sampler.call import Call, View, bind
from blascast.sampler.environment import conditions
from blascast.sampler.environment.conditions import Conditions
from blascast.sampler.errors import UsageError
from blascast.sampler.host.backend import WorkerBackend
from blascast.sampler.job import sequence_job, warm_job
from blascast.sampler.kernels import find_kernel
from blascast.sampler.program import Probe, Records, Run, Time
from blascast.sampler.resources import allowed_cpus
from blascast.sampler.sampler import SPEED_TOLERANCE, Budget, Progress, Sampler
from blascast.sampler.simulated import BRANCH_SECONDS, CLOCK_SECONDS, QUIET, Disturbances, SimulatedBackend

FLOOR = BRANCH_SECONDS / CLOCK_SECONDS
SWITCHING = Disturbances(jitter=0.005, outliers=0.01, free_seconds=0.01, busy_seconds=0.005)


def gemm(n: int) -> Call:
    views = [View(name, 0, 0, n, n, 1000) for name in "ABC"]
    return bind(find_kernel("gemm"), "N", "N", 1, views[0], views[1], 1, views[2])


def sample(ratio: float, switches: int = 0, clock: float = 1.0, migrations: int = 0, halt: float = 0.0) -> Sample:
    return Sample(1.0, ratio * FLOOR, ratio * FLOOR, clock, switches, 0.0, 0, migrations, halt)


def test_states_and_verdicts() -> None:
    assert [sample(ratio).state(FLOOR) for ratio in (1.0, 1.2, 1.9)] == ["free", "mixed", "busy"]
    assert sample(1.0).state(float("inf")) == "mixed"  # no floor is known
    assert sample(1.0).verdict("free", FLOOR) == "ok"
    assert sample(1.9).verdict("free", FLOOR) == "other state"
    assert sample(1.9).verdict("mixed", FLOOR) == "ok"
    assert sample(1.0, switches=1).verdict("free", FLOOR) == "preempted"
    assert sample(1.0, migrations=1).verdict("free", FLOOR) == "migrated"
    assert sample(1.0, halt=2e-6).verdict("free", FLOOR, longest_halt=1e-6) == "halted"
    assert sample(1.0, halt=2e-6).verdict("free", FLOOR) == "ok"  # any halt will do
    assert sample(1.0, clock=1.2).verdict("free", FLOOR, clock=1.0) == "other clock"
    assert sample(1.0, clock=0.85).verdict("mixed", FLOOR, clock=1.0) == "other clock"
    assert sample(1.0, clock=1.05).verdict("free", FLOOR, clock=1.0) == "ok"  # one step of turbo
    assert sample(1.0, clock=1.2).verdict("free", FLOOR) == "ok"  # no clock is asked for


def test_the_prevailing_state() -> None:
    free, busy, between = sample(1.0), sample(1.9), sample(1.2)
    assert prevailing_state([free] * 3 + [busy] * 7, FLOOR) == "free"
    assert prevailing_state([free] * 1 + [busy] * 9, FLOOR) == "busy"
    assert prevailing_state([between] * 6 + [busy] * 4, FLOOR) == "mixed"
    assert prevailing_state([], FLOOR) == "free"


def records(branch: list[float], switches: list[int], seconds: list[float], cpus: list[int]) -> Records:
    clock = [CLOCK_SECONDS if b >= 0 else -1.0 for b in branch]
    faults = 10 * np.array(switches)
    return Records(
        np.arange(float(len(branch))),
        np.array(seconds),
        np.array(branch),
        np.array(clock),
        0.1 * np.array(clock),
        np.array(switches),
        faults,
        np.array(cpus),
        np.zeros((len(branch), 0), dtype=np.int64),
    )


def test_a_sample_sums_its_timed_calls_and_keeps_the_probes_extremes() -> None:
    b = BRANCH_SECONDS
    taken = records([b, -1, 2 * b, -1, b], [4, -1, 4, -1, 6], [-1, 0.25, -1, 0.5, -1], [1, -1, 0, -1, 0])
    (found,) = samples_of(taken, [5, 3])
    assert found.clock == CLOCK_SECONDS
    assert found.seconds == 0.75
    assert found.started == 1.0
    assert (found.switches, found.faults, found.migrations) == (2, 20, 1)
    assert found.halt == 0.1 * CLOCK_SECONDS
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


def disturbed(seed: int, **budget: float) -> tuple[SimulatedBackend, Batch]:
    """Three gemms on a machine of two levels, 2x apart; more than half of the samples are disturbed."""
    levels = Disturbances(jitter=0.005, outliers=0.01, free_seconds=4e-4, busy_seconds=1.3e-3, slow_down=2.0)
    backend = SimulatedBackend(disturbances=levels, seed=seed)
    jobs = [warm_job(gemm(n)) for n in (32, 48, 64)]
    return backend, Sampler(backend, FLOOR, seed=seed, budget=Budget(**budget)).measure(jobs, 400)


@pytest.mark.parametrize("seed", range(15))
def test_the_guard_finds_the_truth_among_disturbed_samples(seed: int) -> None:
    backend, batch = disturbed(seed, least_seconds=30.0)
    for measurement in batch.measurements:
        truth = backend.warm_seconds(measurement.job.calls[0])
        assert np.median(measurement.seconds) == pytest.approx(truth, rel=0.01)
        unguarded = np.median([sample.seconds for sample in measurement.samples])
        assert unguarded > 1.2 * truth
        assert np.mean([sample.seconds > 1.5 * truth for sample in measurement.samples]) >= 0.5


@pytest.mark.parametrize("seed", range(5))
def test_what_is_measured_again_is_counted(seed: int) -> None:
    _, batch = disturbed(seed, least_seconds=30.0)
    rejected = sum(count for verdict, count in batch.verdicts.items() if verdict != "ok")
    assert batch.verdicts["ok"] == batch.accepted >= 1200
    assert batch.given_up == 0
    assert batch.requeued == sum(len(m.samples) for m in batch.measurements) - 1200
    assert (
        batch.requeued - rejected == batch.accepted - 1200
    )  # one in place of each, and those that were good all the same
    assert f"{batch.requeued} measured again ({batch.verdicts['other state']} other state, " in str(batch)
    _, hasty = disturbed(seed, factor=0.0, least_seconds=0.0)
    assert hasty.requeued == 0
    assert hasty.given_up == 1200 - hasty.accepted > 0


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
    for jobs, repetitions in (([], 3), ([warm_job(gemm(8))], 0), ([warm_job(gemm(8))], [1, 2])):
        with pytest.raises(UsageError, match="a batch needs at least one job"):
            Sampler(quiet).measure(jobs, repetitions)


def test_counts_add_up_without_disturbances(quiet: SimulatedBackend) -> None:
    seen: list[Progress] = []
    batch = Sampler(quiet).measure([warm_job(gemm(n)) for n in (8, 100)], 6, on_progress=seen.append)
    assert (batch.accepted, batch.requeued, batch.given_up) == (12, 0, 0)
    assert batch.noise_floor == pytest.approx(0, abs=1e-12)
    assert seen[-1].done == seen[-1].total == 12
    assert seen[-1].seconds_left == pytest.approx(0, abs=1e-9)


def test_repetitions_are_shuffled_over_the_batch(quiet: SimulatedBackend) -> None:
    batch = Sampler(quiet, seed=4).measure([warm_job(gemm(n)) for n in (8, 16, 24, 32)], 25)
    taken = sorted((s.started, i) for i, m in enumerate(batch.measurements) for s in m.samples)
    order = [i for _, i in taken]
    assert sum(a != b for a, b in zip(order[1:], order, strict=False)) > 50  # in blocks there would be 3 changes


def test_the_first_call_is_never_a_sample(quiet: SimulatedBackend) -> None:
    programs: list[list] = []
    run = quiet.run

    def spy(operations, *rest):  # type: ignore[no-untyped-def]
        programs.append(list(operations))
        return run(operations)

    quiet.run = spy  # type: ignore[method-assign]
    Sampler(quiet).measure([warm_job(gemm(8))], 2)
    calls = [operation for program in programs for operation in program if isinstance(operation, Run | Time)]
    assert isinstance(calls[0], Run)


def test_a_warm_job_restores_calls_restores_and_times() -> None:
    names = [type(operation).__name__ for operation in warm_job(gemm(400)).operations(0)]
    assert names == ["Restore", "Run", "Restore", "Probe", "Time", "Probe"]


def test_a_short_call_is_made_several_times_before_it_is_timed() -> None:
    def calls_before(n: int) -> int:
        return sum(isinstance(operation, Run) for operation in warm_job(gemm(n)).operations(0))

    assert [calls_before(n) for n in (1, 8, 32, 64)] == [16, 16, 3, 1]
    potf2 = Case(find_kernel("potf2"), {"uplo": "L"}, {})
    operations = warm_job(potf2.call((32,), 520)).operations(0)
    made = [type(operation).__name__ for operation in operations]
    assert made == ["Restore", "Run"] * made.count("Run") + ["Restore", "Probe", "Time", "Probe"]


def test_a_sequence_is_probed_inside_and_restores_whole_operands() -> None:
    calls = [gemm(64), gemm(200), gemm(100)]
    operations = sequence_job(calls).operations(0)
    names = [type(operation).__name__ for operation in operations]
    assert names == ["Restore", "Probe", "Time", "Probe", "Time", "Probe", "Time", "Probe"]
    assert (operations[0].view.rows, operations[0].view.columns) == (200, 200)
    assert isinstance(operations[3], Probe)
    assert operations[3].minimum_gap_seconds > 0
    assert operations[-1].minimum_gap_seconds == 0


def test_cold_operands_cost_their_traffic(quiet: SimulatedBackend) -> None:
    call = gemm(100)
    from blascast.sampler.program import Flush

    quiet.allocate([])
    flushes = [Flush(view) for view in call.views.values()]
    cold, warm = quiet.run([*flushes, Time(call), Time(call)]).seconds[-2:]
    assert warm == pytest.approx(quiet.warm_seconds(call))
    assert cold > warm


# --- adaptive repetitions

NOISY = Disturbances(jitter=0.02)


@pytest.mark.parametrize(
    ("quantile", "count"),
    [(0.5, 5), (0.5, 11), (0.5, 41), (0.25, 5), (0.25, 21), (0.0, 5), (0.0, 20), (0.9, 11), (0.9, 41)],
)
def test_the_interval_is_that_of_the_bootstrap(quantile: float, count: int) -> None:
    """Counts at which the quantile is one of the samples: there the limit of many resamples is exact."""
    seconds = np.random.default_rng(count).lognormal(0, 0.05, count)
    found = Repetitions(quantile=quantile).interval(seconds)

    def statistic(values, axis):  # type: ignore[no-untyped-def]
        return np.quantile(values, quantile, axis=axis)

    drawn = bootstrap((seconds,), statistic, method="percentile", n_resamples=40_000, rng=1).confidence_interval
    assert (found.low, found.high) == pytest.approx((drawn.low, drawn.high), rel=1e-12)
    assert found.value == pytest.approx(np.quantile(seconds, quantile))


def test_the_ends_of_a_median_between_two_samples_are_no_narrower() -> None:
    seconds = np.random.default_rng(3).lognormal(0, 0.05, 20)
    drawn = bootstrap((seconds,), np.median, method="percentile", n_resamples=20_000, rng=1).confidence_interval
    found = Repetitions().interval(seconds)
    assert found.low <= drawn.low <= found.value <= drawn.high <= found.high
    assert found.high - found.low < 2 * (drawn.high - drawn.low)


def adaptive(seed: int, repetitions: Repetitions, disturbances: Disturbances = NOISY, **budget: float) -> Batch:
    backend = SimulatedBackend(disturbances=disturbances, seed=seed)
    jobs = [warm_job(gemm(n)) for n in (64, 100, 200)]
    return Sampler(backend, seed=seed, budget=Budget(**budget)).measure(jobs, repetitions)


@pytest.mark.parametrize("seed", range(3))
def test_repetitions_end_when_the_interval_is_narrow_enough(seed: int) -> None:
    batch = adaptive(seed, Repetitions(10, 500, width=0.02), least_seconds=30.0)
    for measurement in batch.measurements:
        assert measurement.stopped == "width"
        assert measurement.interval is not None
        assert measurement.interval.width <= 0.02
        assert measurement.interval.value == np.median(measurement.seconds)
        assert 10 < len(measurement.accepted) < 200
    assert (batch.requeued, batch.given_up) == (0, 0)  # further repetitions are none that were measured again


def test_a_narrow_interval_ends_at_the_least_repetitions() -> None:
    batch = adaptive(0, Repetitions(7, 100), QUIET)
    assert [(len(m.samples), m.stopped) for m in batch.measurements] == [(7, "width")] * 3


def test_repetitions_end_at_the_most() -> None:
    batch = adaptive(0, Repetitions(10, 25, width=0.001), least_seconds=30.0)
    assert [(len(m.samples), m.stopped) for m in batch.measurements] == [(25, "count")] * 3
    assert all(m.interval is not None and m.interval.width > 0.001 for m in batch.measurements)


def test_repetitions_end_with_the_budget() -> None:
    batch = adaptive(0, Repetitions(10, 10_000, width=0.001), factor=0.0, least_seconds=0.0)
    assert [(len(m.samples), m.stopped) for m in batch.measurements] == [(10, "budget")] * 3


def test_a_fixed_number_ends_with_the_count_however_narrow() -> None:
    batch = Sampler(SimulatedBackend(disturbances=QUIET)).measure([warm_job(gemm(8)), warm_job(gemm(16))], [5, 9])
    assert [(len(m.samples), m.stopped) for m in batch.measurements] == [(5, "count"), (9, "count")]
    mixed = Sampler(SimulatedBackend(disturbances=NOISY)).measure(
        [warm_job(gemm(8)), warm_job(gemm(16))], [5, Repetitions(10, 40, width=0.001)]
    )
    assert [(len(m.samples), m.stopped) for m in mixed.measurements] == [(5, "count"), (40, "count")]


def test_a_job_without_accepted_samples_has_no_interval() -> None:
    always = Disturbances(outliers=1.0)
    batch = adaptive(0, Repetitions(5, 50), always, factor=0.0, least_seconds=0.0)
    assert [(m.interval, m.stopped) for m in batch.measurements] == [(None, "budget")] * 3
    assert len(batch.measurements[0].seconds) == 5


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Stopped when narrow, in spite of that; disturbed samples measured again meanwhile."""
    disturbances = Disturbances(jitter=0.015, outliers=0.02, free_seconds=2e-3, busy_seconds=1e-3, slow_down=1.5)
    held = []
    for seed in range(60):
        backend = SimulatedBackend(disturbances=disturbances, seed=seed)
        jobs = [warm_job(gemm(n)) for n in (64, 72, 80, 88, 96, 104)]
        sampler = Sampler(backend, FLOOR, seed=seed, budget=Budget(least_seconds=30.0))
        batch = sampler.measure(jobs, Repetitions(10, 500))
        for job, measurement in zip(jobs, batch.measurements, strict=True):
            assert measurement.stopped == "width"
            assert measurement.interval is not None
            held.append(measurement.interval.low <= backend.warm_seconds(job.calls[0]) <= measurement.interval.high)
    assert 0.91 <= np.mean(held) <= 0.98


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"least": 0}, "repetitions must be 1 <= least <= most, got least 0, most 50"),
        ({"least": 60}, "repetitions must be 1 <= least <= most, got least 60, most 50"),
        ({"width": 0.0}, "the width of a confidence interval must be positive, got 0.0"),
        ({"width": float("nan")}, "must be positive, got nan"),
        ({"confidence": 1.0}, "a confidence must be between 0 and 1, got 1.0"),
        ({"quantile": 1.5}, r"a quantile must be from 0 \(minimum\) to 1 \(maximum\), got 1.5"),
    ],
)
def test_repetitions_that_are_none(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Repetitions(**arguments)  # type: ignore[arg-type]


# --- the A/A control


def expected_floor(jitter: float, repetitions: int) -> float:
    """Median difference of two medians: a normal one's error is 1.25 s / sqrt(r), the median of |N| is 0.67."""
    return 0.6745 * np.sqrt(2) * 1.2533 * jitter / np.sqrt(repetitions)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("jitter", [0.005, 0.03])
def test_the_control_tells_how_far_apart_two_measurements_are(seed: int, jitter: float) -> None:
    backend = SimulatedBackend(disturbances=Disturbances(jitter=jitter), seed=seed)
    jobs = [warm_job(gemm(n)) for n in range(200, 264)]
    first, second = (Sampler(backend, seed=seed).measure(jobs, 20) for _ in "AB")
    medians = np.array([[np.median(m.seconds) for m in batch.measurements] for batch in (first, second)])
    apart = float(np.median(np.abs(medians[0] / medians[1] - 1)))
    assert first.noise_floor == pytest.approx(expected_floor(jitter, 20), rel=0.25)
    assert first.noise_floor == pytest.approx(apart, rel=0.5)


def test_the_control_of_a_single_job_is_of_the_right_size() -> None:
    """One pair of entries would be off by more than a factor of three one time out of four."""
    ratios = []
    for seed in range(40):
        backend = SimulatedBackend(disturbances=Disturbances(jitter=0.02), seed=seed)
        batch = Sampler(backend, seed=seed).measure([warm_job(gemm(100))], 20)
        assert batch.noise_floor is not None
        ratios.append(batch.noise_floor / expected_floor(0.02, 20))
    assert 0.8 < np.median(ratios) < 1.25
    assert np.mean([1 / 3 < ratio < 3 for ratio in ratios]) > 0.9


def test_the_control_is_weighted_with_time() -> None:
    random = np.random.default_rng(0)
    long, short = 1.0 + 0.01 * random.random(20), 1e-3 * (1.0 + random.random(20))
    assert noise_floor([long, short]) == pytest.approx(noise_floor([long]), rel=0.1)


def test_the_control_of_nothing() -> None:
    assert noise_floor([]) is noise_floor([np.array([1.0, 2.0, 3.0])]) is noise_floor([np.zeros(5)]) is None
    batch = Sampler(SimulatedBackend(disturbances=QUIET)).measure([warm_job(gemm(8))], 3)
    assert batch.noise_floor is None
    assert "noise floor unknown" in str(batch)


# --- clock, levels, conditions


@pytest.mark.parametrize("seed", range(5))
def test_a_clock_that_drifts_is_recognised_and_left_out(seed: int) -> None:
    throttled = Disturbances(jitter=0.002, throttled_after=0.05, throttling=1.12)
    backend = SimulatedBackend(disturbances=throttled, seed=seed)
    jobs = [warm_job(gemm(n)) for n in (64, 200, 300)]
    batch = Sampler(backend, seed=seed, budget=Budget(least_seconds=30.0)).measure(jobs, 60)
    assert batch.verdicts["other clock"] > 20
    assert batch.requeued > 0
    for measurement in batch.measurements:
        truth = backend.warm_seconds(measurement.job.calls[0]) * 1.12  # most of the batch is throttled
        assert np.median(measurement.seconds) == pytest.approx(truth, rel=0.01)
        assert np.percentile(measurement.seconds, 5) > 0.97 * truth  # one may have begun before
    assert [level.value for level in batch.clock_levels] == pytest.approx([1 / 1.12, 1.0], rel=0.01)
    assert sum(level.share for level in batch.clock_levels) == pytest.approx(1.0, abs=0.02)
    assert batch.clock == pytest.approx(1 / 1.12, rel=0.01)
    assert "clock 89 % of the fastest, levels of the clock 0.89 (" in str(batch)


def clocked(*clocks: float) -> list[Sample]:
    return [sample(1.0, clock=clock) for clock in clocks]


def test_levels_of_the_clock_are_common_and_clocks_are_not() -> None:
    own = [clocked(*[1.0] * 6, *[1.125] * 4), clocked(*[1.13] * 5, *[1.27] * 5), []]
    assert prevailing_clocks(own) == pytest.approx([1.0, 1.13, None])
    slow = [clocked(*[1.0] * 2, *[1.125] * 8), clocked(*[1.13] * 2, *[1.27] * 8)]
    assert prevailing_clocks(slow) == pytest.approx([1.125, 1.27], rel=0.01)
    assert prevailing_clocks([[], []]) == [None, None]


def test_a_step_of_turbo_is_no_level() -> None:
    samples = clocked(*[1.0] * 4, *[1.055] * 6)
    (clock,) = prevailing_clocks([samples])
    assert all(s.verdict("free", FLOOR, clock) == "ok" for s in samples)


def levelled(apart: float, late: bool = False) -> list[list[Sample]]:
    """Ten jobs of 50 samples at two levels that no probe sees, in turns of a hundred or half and half."""
    random = np.random.default_rng(5)
    samples: list[list[Sample]] = [[] for _ in range(10)]
    for i in range(500):
        slow = i >= 250 if late else (i // 100) % 2
        seconds = (1 + i % 10) * (1 + apart * slow) * (1 + 0.004 * random.standard_normal())
        samples[i % 10].append(Sample(seconds, FLOOR, FLOOR, 1.0, 0, float(i), 0, 0, 0.0))
    return samples


@pytest.mark.parametrize("apart", [0.014, 0.039])
def test_levels_that_no_probe_sees_are_told(apart: float) -> None:
    levels = levels_of(speeds(levelled(apart)), SPEED_TOLERANCE)
    assert len(levels) == 2
    slow, fast = sorted((level.value for level in levels), reverse=True)
    assert slow / fast - 1 == pytest.approx(apart, abs=0.003)
    assert len(levels_of(speeds(levelled(0.0)), SPEED_TOLERANCE)) == 1


def test_slowing_down_shows_as_drift() -> None:
    assert drift(speeds(levelled(0.03, late=True))) == pytest.approx(0.03, abs=0.003)
    assert drift(speeds(levelled(0.0))) == pytest.approx(0.0, abs=0.002)
    assert drift(np.ones(3)) is None
    assert len(speeds([])) == len(speeds([[sample(1.0)]])) == 0


@pytest.mark.parametrize("seed", range(3))
def test_a_migrated_sample_does_not_count(seed: int) -> None:
    backend = SimulatedBackend(disturbances=Disturbances(migrations=0.1), seed=seed)
    batch = Sampler(backend).measure([warm_job(gemm(n)) for n in (64, 100)], 30)
    assert batch.verdicts["migrated"] > 0
    assert batch.accepted >= 60
    assert all(s.migrations == 0 for m in batch.measurements for s in m.accepted)


@pytest.mark.parametrize("seed", range(5))
def test_changes_of_the_frequency_are_kept_out_of_short_calls(seed: int) -> None:
    backend = SimulatedBackend(disturbances=Disturbances(jitter=0.005, halts=0.2), seed=seed)
    short, long = warm_job(gemm(32)), warm_job(gemm(400))
    batch = Sampler(backend, seed=seed, budget=Budget(least_seconds=30.0)).measure([short, long], 60)
    truth = backend.warm_seconds(short.calls[0])
    assert np.median(batch.measurements[0].seconds) == pytest.approx(truth, rel=0.01)
    assert np.max(batch.measurements[0].seconds) < 1.1 * truth
    assert np.mean([s.seconds > 1.5 * truth for s in batch.measurements[0].samples]) > 0.1
    assert batch.verdicts["halted"] > 5
    assert len(batch.measurements[1].samples) == 60  # a few microseconds are nothing to it


def test_halts_that_always_come_are_part_of_the_call() -> None:
    short, never = [sample(1.0, halt=1.3e-6)] * 10, [sample(1.0, halt=1.3e-6)] * 10
    short = [replace(s, seconds=1e-5) for s in short]
    some = [*short[:4], *(replace(s, halt=0.1e-6) for s in short[:6])]
    assert longest_halts([short, some, never, []], 0.1e-6) == [None, pytest.approx(0.9e-6), None, None]


def test_page_faults_are_recorded_and_not_judged(quiet: SimulatedBackend) -> None:
    quiet.allocate([])
    first, second = samples_of(quiet.run([Probe(), Time(gemm(64)), Probe()] * 2), [3, 3])
    assert (first.faults, second.faults) == (3 * 8, 0)  # 64 x 64 doubles are eight pages
    assert first.verdict("free", FLOOR) == "ok"


def test_conditions_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stat = tmp_path / "proc" / "stat"
    monkeypatch.setattr(conditions, "ROOT", tmp_path)
    stat.parent.mkdir()
    (tmp_path / "proc" / "loadavg").write_text("1.25 0.10 0.05 1/100 1234")
    stat.write_text("cpu  1 2 3 4 5 6 7 700 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n")
    before = Conditions.now()
    stat.write_text("cpu  1 2 3 4 5 6 7 850 0 0\n")
    assert Conditions.now().since(before) == Conditions(pytest.approx(150 / os.sysconf("SC_CLK_TCK")), 1.25)
    batch = Sampler(SimulatedBackend(disturbances=QUIET)).measure([warm_job(gemm(8))], 5)
    assert batch.conditions == Conditions(0.0, 1.25)
    assert "clock 100 % of the fastest, 0.00 s stolen, load 1.25, " in str(batch)


@pytest.mark.parametrize("text", [None, "", "cpu  1 2 3", "cpu a b c d e f g h"])
def test_conditions_that_are_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None) -> None:
    monkeypatch.setattr(conditions, "ROOT", tmp_path)
    (tmp_path / "proc").mkdir()
    if text is not None:
        (tmp_path / "proc" / "stat").write_text(text)
        (tmp_path / "proc" / "loadavg").write_text(text)
    assert Conditions.now() == Conditions(None, None)
    batch = Sampler(SimulatedBackend(disturbances=QUIET)).measure([warm_job(gemm(8))], 5)
    assert batch.conditions == Conditions(None, None)
    assert "stolen" not in str(batch)
    assert "load" not in str(batch)


def test_the_real_engine_tells_faults_and_the_cpu(real: WorkerBackend) -> None:
    batch = Sampler(real).measure([warm_job(gemm(16))], 5)
    assert all(s.faults >= 0 and s.migrations == 0 for s in batch.measurements[0].samples)
    records = real.run([Probe(), Run(gemm(16)), Probe()])
    assert records.cpu[0] == records.cpu[2] in allowed_cpus()
    assert records.cpu[1] == records.faults[1] == -1
    assert records.faults[2] >= records.faults[0] > 0
