"""Predictors: exact on constant kernels, and on the dissertation's example."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blascast.algorithms import CallArray, find_operation, find_variant, trace
from blascast.models.piecewise import ModelKey
from blascast.predictors.accuracy import relative_errors, symmetric_factors, yield_of_choice
from blascast.predictors.blocksize import best_block_size, plateau
from blascast.predictors.configurations import candidate_block_sizes, check_block_size, check_memory, check_size
from blascast.predictors.prediction import Times
from blascast.predictors.ranking import best_candidate, rank_candidates, tie_classes
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
    result = replay(trace(find_variant("trinv", 1), 800, 300), from_table)
    assert result.statistics[0, 1] == pytest.approx(16.23e-3, abs=1e-12)
    assert sum(int(share.calls[0]) for share in result.shares) == 7


def test_example_4_4_of_the_dissertation() -> None:
    """Performance of the predicted 16.18, 16.22, 16.25, 16.46 ms, deviation 95.88 us."""
    cost = find_operation("trinv").flop_count(800)
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
    sequence = trace(find_variant("cholesky", number), n, b)
    calls = [len(statement.sizes) for statement in sequence.calls]
    result = replay(sequence, constant)
    np.testing.assert_allclose(result.statistics[0, :4], np.array([1, 2, 3, 4]) * sum(calls), rtol=1e-12)
    assert result.statistics[0, 4] == pytest.approx(0.5 * np.sqrt(sum(calls)))
    # errors of one piece add, those of different statements as independent
    assert result.error[0] == pytest.approx(0.2 * np.sqrt(sum(count**2 for count in calls)))


def test_configurations_do_not_mix() -> None:
    both = replay(trace(find_variant("trinv", 3), [100, 90], [30, 20]), constant)
    for i, (n, b) in enumerate([(100, 30), (90, 20)]):
        one = replay(trace(find_variant("trinv", 3), n, b), constant)
        np.testing.assert_allclose(both.statistics[i], one.statistics[0])
        assert both.error[i] == pytest.approx(one.error[0])


def test_needs_are_one_a_case_and_hold_all_calls() -> None:
    sequences = [trace(find_variant("cholesky", number), 100, [16, 24]) for number in (1, 3)]
    needs = {str(need.key): need for need in needs_of(sequences)}
    assert set(needs) == {"trsm RLTN 1", "syrk LN -1 1", "potf2 L"}
    trsm = needs["trsm RLTN 1"]
    assert isinstance(trsm.key, ModelKey)
    assert trsm.workload is not None
    assert trsm.workload.configurations == 4
    assert set(trsm.workload.owner.tolist()) == {0, 1, 2, 3}
    covered = np.any([domain.contains(trsm.workload.sizes) for domain in trsm.domains], axis=0)
    assert covered.all()


def test_best_candidates_are_ranked() -> None:
    def favour(calls: CallArray) -> tuple:
        statistics, errors, causes = constant(calls)
        return statistics * (1 + np.abs(calls.sizes[:, :1] - 24)), errors, causes

    replays = [replay(trace(find_variant("cholesky", i), 96, [16, 24, 32]), favour) for i in (1, 2, 3)]
    ranked = rank_candidates([best_candidate(r, 96) for r in replays])
    medians = [c.times.median for c in ranked]
    assert medians == sorted(medians)
    for candidate, result in zip(sorted(ranked, key=lambda c: c.variant.number), replays, strict=True):
        assert candidate.times.median == pytest.approx(result.statistics[:, 1].min())


def test_ties() -> None:
    assert tie_classes([1.0], [0.0], 0.0) == [1]
    assert tie_classes([1.0, 1.0, 1.1, 1.11, 2.0], [0.0] * 5, 0.02) == [1, 1, 2, 2, 3]
    assert tie_classes([1.0, 1.1, 1.2], [0.1, 0.1, 0.1], 0.0) == [1, 1, 1]
    assert tie_classes([], [], 0.0) == []


def test_best_block_size_and_plateau() -> None:
    sequence = trace(find_variant("cholesky", 3), 128, [16, 32, 64, 128])
    result = replay(sequence, constant)
    best = best_block_size(result, 128)
    assert best.b == 128  # one call
    assert best.gain == pytest.approx(result.statistics[2, 1] / result.statistics[3, 1] - 1)
    assert (best.low, best.high) == (128, 128)
    assert plateau(np.array([1.0]), 0) == (0, 0)
    assert plateau(np.array([1.009, 1.0, 1.02, 1.0]), 1) == (0, 1)


def test_candidates() -> None:
    assert candidate_block_sizes(1000)[[0, 1, -1]].tolist() == [16, 24, 256]
    assert candidate_block_sizes(15).tolist() == [15]
    assert candidate_block_sizes(1).tolist() == [1]


@pytest.mark.parametrize("value", [0, -1, 1.5, "8", None, True, float("nan")])
def test_sizes_that_are_none(value: object) -> None:
    with pytest.raises(UsageError, match="n must be a positive integer, got"):
        check_size("n", value)


def test_block_sizes_that_are_none() -> None:
    assert check_block_size(8, 8) == 8
    with pytest.raises(UsageError, match="at most n = 8, got 9"):
        check_block_size(9, 8)


def test_memory_is_foreseen() -> None:
    check_memory(1000, 8, 1e9)
    with pytest.raises(UsageError, match=r"n = 1000000000 needs 1\.6e\+10 GB .* 24 GB of memory are available"):
        check_memory(10**9, 8, 24e9)


def test_accuracy_figures_by_hand() -> None:
    predicted, measured = np.array([1.0, 2.0]), np.array([2.0, 1.0])
    assert relative_errors(predicted, measured).tolist() == [-0.5, 1.0]
    assert symmetric_factors(predicted, measured).tolist() == [2.0, 2.0]
    assert yield_of_choice(predicted, measured) == 0.5


def test_verification_measures_whole_algorithms() -> None:
    backend = SimulatedBackend(disturbances=QUIET)
    chosen = find_variant("cholesky", 3)
    verified = verify(Sampler(backend), [(chosen, 200, 64), (chosen, 300, 64)], repetitions=4)
    from blascast.algorithms import scalar_calls

    for times, n in zip(verified.times, (200, 300), strict=True):
        truth = sum(backend.warm_seconds(call) for call in scalar_calls(chosen, n, 64, n))
        assert times.median == pytest.approx(truth)
    assert verified.batch.noise_floor == pytest.approx(0, abs=1e-12)
