"""Predictors: exact on constant kernels, and on the dissertation's example."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blascast.algorithms import CallArray, find_operation, find_variant, scalar_calls, trace
from blascast.models.piecewise import ModelKey
from blascast.predictors.blocksize import curves, plateau
from blascast.predictors.configurations import (
    Configuration,
    block_sizes,
    candidate_block_sizes,
    check_block_size,
    check_memory,
    check_size,
    problems_of,
    traced,
)
from blascast.predictors.crossovers import crossovers
from blascast.predictors.prediction import Times
from blascast.predictors.ranking import best_candidate, candidates_of, tie_classes
from blascast.predictors.replay import needs_of, replay
from blascast.predictors.verification import verify
from blascast.sampler.errors import UsageError
from blascast.sampler.sampler import Sampler
from blascast.sampler.simulated import QUIET, SimulatedBackend

# Medians of the dissertation's table 4.1 in milliseconds, by kernel and sizes.
TABLE_4_1 = {
    ("trti2", 300): 2.64,
    ("trmm", 300, 300): 1.71,
    ("trsm", 300, 300): 2.07,
    ("trmm", 200, 600): 4.15,
    ("trsm", 200, 600): 2.17,
    ("trti2", 200): 0.85,
}


def from_table(calls: CallArray) -> tuple:
    medians = 1e-3 * np.array([TABLE_4_1[calls.kernel.name, *sizes] for sizes in calls.sizes.tolist()])
    statistics = np.repeat(medians[:, None], 5, axis=1)
    return statistics, np.zeros(len(medians)), np.zeros(len(medians), dtype=np.int64)


def test_example_4_1_of_the_dissertation() -> None:
    """Seven calls that are not empty; the rounded medians add up to 16.23 ms (16.22 unrounded)."""
    result = replay(trace(find_variant("trinv", 1), {"n": 800}, 300), from_table)
    assert result.statistics[0, 1] == pytest.approx(16.23e-3, abs=1e-12)
    assert sum(int(share.calls[0]) for share in result.shares) == 7


def test_example_4_4_of_the_dissertation() -> None:
    """Performance of the predicted 16.18, 16.22, 16.25, 16.46 ms, deviation 95.88 us."""
    cost = find_operation("trinv").flop_count({"n": 800})
    assert cost == 170_986_800
    rate = Times(16.18e-3, 16.22e-3, 16.25e-3, 16.46e-3, 95.88e-6).performance(cost)
    assert rate.min / 1e9 == pytest.approx(10.39, abs=0.005)
    assert rate.median / 1e9 == pytest.approx(10.54, abs=0.005)
    assert rate.mean / 1e9 == pytest.approx(10.52, abs=0.005)
    assert rate.max / 1e9 == pytest.approx(10.57, abs=0.005)
    assert rate.std / 1e6 == pytest.approx(62.09, abs=0.05)
    assert rate.median / 20.8e9 == pytest.approx(0.5068, abs=0.0005)


def constant(calls: CallArray) -> tuple:
    """Every call takes 1, 2, 3, 4 s (median 2) with a deviation of 0.5 s and an error of 10 %."""
    count = len(calls.sizes)
    statistics = np.tile([1.0, 2.0, 3.0, 4.0, 0.5], (count, 1))
    return statistics, np.full(count, 0.1), np.zeros(count, dtype=np.int64)


@given(st.integers(1, 200), st.integers(1, 64), st.sampled_from([1, 2, 3]))
def test_exact_on_constant_kernels(n: int, b: int, number: int) -> None:
    sequence = trace(find_variant("cholesky", number), {"n": n}, b)
    calls = [len(statement.sizes) for statement in sequence.calls]
    result = replay(sequence, constant)
    np.testing.assert_allclose(result.statistics[0, :4], np.array([1, 2, 3, 4]) * sum(calls), rtol=1e-12)
    assert result.statistics[0, 4] == pytest.approx(0.5 * np.sqrt(sum(calls)))
    # errors of one piece add, those of different statements as independent
    assert result.error[0] == pytest.approx(0.2 * np.sqrt(sum(count**2 for count in calls)))


def test_configurations_do_not_mix() -> None:
    both = replay(trace(find_variant("trinv", 3), {"n": [100, 90]}, [30, 20]), constant)
    for i, (n, b) in enumerate([(100, 30), (90, 20)]):
        one = replay(trace(find_variant("trinv", 3), {"n": n}, b), constant)
        np.testing.assert_allclose(both.statistics[i], one.statistics[0])
        assert both.error[i] == pytest.approx(one.error[0])


def test_needs_are_one_a_case_and_hold_all_calls() -> None:
    sequences = [trace(find_variant("cholesky", number), {"n": 100}, [16, 24]) for number in (1, 3)]
    needs = {str(need.key): need for need in needs_of(sequences)}
    assert set(needs) == {"trsm RLTN 1", "syrk LN -1 1", "potf2 L"}
    trsm = needs["trsm RLTN 1"]
    assert isinstance(trsm.key, ModelKey)
    assert trsm.workload is not None
    assert trsm.workload.configurations == 4
    assert set(trsm.workload.owner.tolist()) == {0, 1, 2, 3}
    covered = np.any([domain.contains(trsm.workload.sizes) for domain in trsm.domains], axis=0)
    assert covered.all()


def test_entries_stand_for_several_calls() -> None:
    """dsygst's axpys: one entry a step stands for a call on every column."""
    chosen = find_variant("sygst", 5)
    sequence = trace(chosen, {"n": 50}, 16)
    result = replay(sequence, constant)
    calls = len(scalar_calls(chosen, {"n": 50}, 16))
    np.testing.assert_allclose(result.statistics[0, :4], np.array([1, 2, 3, 4]) * calls, rtol=1e-12)
    assert result.statistics[0, 4] == pytest.approx(0.5 * np.sqrt(calls))
    assert sum(int(share.calls[0]) for share in result.shares) == calls
    needs = needs_of([sequence])
    assert (
        sum(int(np.sum(np.broadcast_to(n.workload.times, len(n.workload.sizes)))) for n in needs if n.workload) == calls
    )


def configurations(number: int, n: int, block_sizes: list[int]) -> list[Configuration]:
    return [Configuration(find_variant("cholesky", number), {"n": n}, b) for b in block_sizes]


def test_the_best_candidate_has_the_least_time() -> None:
    def favour(calls: CallArray) -> tuple:
        statistics, errors, causes = constant(calls)
        return statistics * (1 + np.abs(calls.sizes[:, :1] - 24)), errors, causes

    asked = configurations(1, 96, [16, 24, 32]) + configurations(1, 48, [16, 24])
    result = replay(traced(asked, "d"), favour)
    best = best_candidate(asked, result, [0, 1, 2])
    assert best.configuration in asked[:3]
    assert best.times.median == pytest.approx(result.statistics[:3, 1].min())
    assert best_candidate(asked, result, [3, 4]).configuration.sizes == {"n": 48}
    assert [c.times.median for c in candidates_of(asked, result)] == result.statistics[:, 1].tolist()


def test_ties() -> None:
    assert tie_classes([1.0], [0.0], 0.0) == [1]
    assert tie_classes([1.0, 1.0, 1.1, 1.11, 2.0], [0.0] * 5, 0.02) == [1, 1, 2, 2, 3]
    assert tie_classes([1.0, 1.1, 1.2], [0.1, 0.1, 0.1], 0.0) == [1, 1, 1]
    assert tie_classes([], [], 0.0) == []


def test_best_block_size_and_plateau() -> None:
    asked = configurations(3, 128, [64, 16, 32, 128]) + configurations(3, 64, [16, 64])
    first, second = curves(asked, replay(traced(asked, "d"), constant))
    assert first.b.tolist() == [16, 32, 64, 128]
    assert first.b[first.best] == 128  # one call
    assert first.loss(64) == pytest.approx(first.seconds[2] / first.seconds[3] - 1)
    assert first.loss(1000) == 0
    assert first.plateau == (128, 128)
    assert second.problem == {"n": 64}
    assert plateau(np.array([1.0]), 0) == (0, 0)


def test_candidates() -> None:
    assert candidate_block_sizes(1000)[[0, 1, -1]].tolist() == [16, 24, 256]
    assert candidate_block_sizes(256)[-2:].tolist() == [248, 256]
    assert candidate_block_sizes(15).tolist() == [15]
    assert candidate_block_sizes(1).tolist() == [1]


def test_block_sizes_of_variants() -> None:
    problem = {"n": 1000}
    assert block_sizes(find_variant("cholesky", 1), problem, "d", 48) == [48]
    assert len(block_sizes(find_variant("cholesky", 1), problem, "d")) == 31
    assert block_sizes(find_variant("cholesky", "lapack"), problem, "d", 48) == [64]
    assert block_sizes(find_variant("cholesky", "library"), problem, "d", 48) == [None]
    both = {"m": 100, "n": 2000}
    assert block_sizes(find_variant("qr", "lapack"), both, "d") == [(32, 128)]
    assert block_sizes(find_variant("sylvester", "lapack"), {"m": 1000, "n": 2000}, "d") == [160]
    assert block_sizes(find_variant("sylvester", "m1n1"), both, "d", (64, 1500)) == [(64, 1500)]
    with pytest.raises(UsageError, match="takes 1 block size"):
        block_sizes(find_variant("cholesky", 1), problem, "d", (64, 32))
    with pytest.raises(UsageError, match="at most m = 100, got 101"):
        block_sizes(find_variant("lu", 5), both, "d", 101)


def test_problems() -> None:
    assert problems_of(find_operation("cholesky"), [10, 20]) == [{"n": 10}, {"n": 20}]
    assert problems_of(find_operation("lu"), [10, 20]) == [{"m": 10, "n": 10}, {"m": 20, "n": 20}]
    assert problems_of(find_operation("lu"), [10, 20], 7) == [{"m": 7, "n": 10}, {"m": 7, "n": 20}]
    with pytest.raises(UsageError, match="cholesky is about square matrices, m = 7 cannot be chosen"):
        problems_of(find_operation("cholesky"), [10], 7)
    with pytest.raises(UsageError, match="n must hold at least one size"):
        problems_of(find_operation("lu"), [])


def test_no_crossover_without_certainty() -> None:
    """One is faster below 300 and the other above, by 1 %: with errors of 2 % that is a tie everywhere."""
    sizes = [100, 200, 300, 400]
    times = np.array([[1.0, 1.01], [2.0, 2.01], [3.01, 3.0], [4.05, 4.0]])
    assert crossovers(sizes, times, 0.02 * times, 1.96) == []
    (found,) = crossovers(sizes, times, 0.001 * times, 1.96)
    assert (found.before, found.after, found.low, found.high) == (0, 1, 200, 300)
    assert 200 < found.at < 300


@given(st.integers(2, 8), st.integers(1, 4), st.integers(0, 2**32 - 1), st.floats(0, 0.3))
def test_crossovers_are_ordered(count: int, contenders: int, seed: int, error: float) -> None:
    times = np.random.default_rng(seed).uniform(1, 2, (count, contenders))
    sizes = list(range(100, 100 * count + 1, 100))
    found = crossovers(sizes, times, error * times, 1.96)
    leader = int(np.argmin(times[0]))
    for crossover in found:
        assert crossover.before == leader
        assert crossover.low <= crossover.at <= crossover.high
        leader = crossover.after


@pytest.mark.parametrize("value", [0, -1, 1.5, "8", None, True, float("nan")])
def test_sizes_that_are_none(value: object) -> None:
    with pytest.raises(UsageError, match="n must be a positive integer, got"):
        check_size("n", value)


def test_block_sizes_that_are_none() -> None:
    assert check_block_size(8, 8) == 8
    with pytest.raises(UsageError, match="at most n = 8, got 9"):
        check_block_size(9, 8)


def test_memory_is_foreseen() -> None:
    check_memory(find_operation("cholesky"), {"n": 1000}, 8, 1e9)
    with pytest.raises(UsageError, match=r"n = 1000000000 needs 1\.6e\+10 GB .* 24 GB of memory are available"):
        check_memory(find_operation("cholesky"), {"n": 10**9}, 8, 24e9)
    with pytest.raises(UsageError, match=r"m = 1000, n = 1000 needs 0.0\d+ GB"):
        check_memory(find_operation("sylvester"), {"m": 1000, "n": 1000}, 8, 1e7)


def test_verification_measures_whole_algorithms() -> None:
    backend = SimulatedBackend(disturbances=QUIET)
    chosen = find_variant("cholesky", 3)
    verified = verify(Sampler(backend), [Configuration(chosen, {"n": n}, 64) for n in (200, 300)], repetitions=4)
    for times, n in zip(verified.times, (200, 300), strict=True):
        truth = sum(backend.warm_seconds(call) for call in scalar_calls(chosen, {"n": n}, 64))
        assert times.median == pytest.approx(truth)
    assert verified.batch.noise_floor == pytest.approx(0, abs=1e-12)
