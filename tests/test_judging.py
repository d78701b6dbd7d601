"""Judges: when an answer is good enough, by hand."""

import numpy as np
import pytest

from blascast.models.generation.workload import Judgement
from blascast.predictors.judging import TRUSTED_ERROR, block_sizes, ranking, within

BOUND = 0.01


def judged(judgement: Judgement) -> tuple[list[bool], str]:
    return judgement.open.tolist(), judgement.settled


def test_errors_within_the_bound() -> None:
    seconds = np.array([1.0, 2.0, 4.0])
    assert judged(within(BOUND)(seconds, np.array([0.011, 0.019, 0.041]))) == ([True, False, True], "bound")
    assert judged(within(BOUND)(seconds, 0.005 * seconds)) == ([False] * 3, "bound")


def rank(seconds: list[float], errors: list[float], noise_floor: float = 0.0, variant: list[int] | None = None):  # type: ignore[no-untyped-def]
    numbers = np.array(variant or range(len(seconds)))
    judge = ranking(np.zeros(len(seconds), dtype=int), numbers, BOUND, noise_floor)
    return judged(judge(np.array(seconds), np.array(errors)))


def test_a_ranking_within_the_bound() -> None:
    """Nothing is to be decided where errors are small, even of variants that take the same time."""
    assert rank([1.0, 1.001, 1.002], [0.005] * 3) == ([False] * 3, "bound")


def test_a_ranking_whose_variants_are_apart() -> None:
    """20 % apart with 2 % of error: more samples would not change the order."""
    assert rank([1.0, 1.2, 1.44], [0.02] * 3) == ([False] * 3, "decision")


def test_neighbours_that_are_not_apart_are_open() -> None:
    """1.96 standard errors of the difference are 0.055: the first two are closer, the last two are not."""
    assert rank([1.0, 1.05, 1.25], [0.02] * 3) == ([True, True, False], "decision")
    assert rank([1.25, 1.05, 1.0], [0.02] * 3) == ([False, True, True], "decision")


def test_one_in_between_is_open_for_either_neighbour() -> None:
    assert rank([1.0, 1.2, 1.23], [0.02] * 3) == ([False, True, True], "decision")


def test_those_within_the_bound_are_not_open_themselves() -> None:
    """Of two that cannot be told apart, the one whose error is small has no need of samples."""
    assert rank([1.0, 1.02], [0.005, 0.03]) == ([False, True], "decision")


def test_a_tie_within_noise_is_settled() -> None:
    """They differ by less than the same thing measured twice: no model can tell them apart."""
    assert rank([1.0, 1.01], [0.02] * 2, noise_floor=0.02) == ([False, False], "decision")
    assert rank([1.0, 1.03], [0.02] * 2, noise_floor=0.02) == ([True, True], "decision")


def test_noise_makes_neighbours_harder_to_tell() -> None:
    assert rank([1.0, 1.06], [0.02] * 2)[0] == [False, False]
    assert rank([1.0, 1.06], [0.02] * 2, noise_floor=0.03)[0] == [True, True]


def test_large_errors_are_not_trusted() -> None:
    """However far apart: an error that large may itself be wrong."""
    large = 1.2 * TRUSTED_ERROR
    assert rank([1.0, 10.0], [large, 0.02]) == ([True, False], "decision")
    assert rank([1.0, 10.0], [0.8 * TRUSTED_ERROR, 0.02]) == ([False, False], "decision")
    assert rank([1.0], [large]) == ([True], "decision")
    assert rank([1.0], [0.8 * TRUSTED_ERROR]) == ([False], "decision")


def test_variants_are_ranked_at_their_best_block_sizes() -> None:
    """Other block sizes may have any error."""
    seconds, errors = [1.3, 1.0, 1.5, 1.2], [0.5, 0.02, 0.02, 0.5]
    assert rank(seconds, errors, variant=[1, 1, 2, 2])[0] == [False, True, False, True]
    assert rank(seconds, errors, variant=[1, 2, 2, 1])[0] == [False, True, False, True]
    assert rank(seconds, [0.5, 0.02, 0.02, 0.02], variant=[1, 1, 2, 2]) == ([False] * 4, "decision")


def blocks(seconds: list[float], errors: list[float], n: list[int]) -> tuple[list[bool], str]:
    return judged(block_sizes(np.array(n), BOUND)(np.array(seconds), np.array(errors)))


def test_block_sizes_that_may_be_the_best_are_open() -> None:
    """1.96 standard errors of the difference to the best are 0.055."""
    assert blocks([1.0, 1.05, 1.06, 2.0], [0.02] * 4, [100] * 4) == ([True, True, False, False], "decision")


def test_block_sizes_whose_errors_are_small_are_not() -> None:
    assert blocks([1.0, 1.001, 1.0015], [0.005, 0.02, 0.005], [100] * 3) == ([False, True, False], "decision")


def test_an_uncertain_block_size_may_be_the_best() -> None:
    assert blocks([1.0, 1.5], [0.005, 0.4], [100, 100]) == ([False, True], "decision")


def test_every_size_has_a_best_block_size() -> None:
    seconds = [1.0, 1.2, 8.0, 9.6, 8.1]
    errors = [0.02, 0.02, 0.16, 0.16, 0.16]
    assert blocks(seconds, errors, [100, 100, 200, 200, 200])[0] == [True, False, True, False, True]


@pytest.mark.parametrize("unit", [1e-6, 1e3])
def test_the_unit_of_time_does_not_matter(unit: float) -> None:
    seconds, errors = np.array([1.0, 1.05, 1.25]), np.full(3, 0.02)
    for judge in (
        within(0.018),
        ranking(np.zeros(3, dtype=int), np.arange(3), BOUND, 0.01),
        block_sizes(np.array([1, 1, 1]), BOUND),
    ):
        assert judge(unit * seconds, unit * errors).open.tolist() == judge(seconds, errors).open.tolist()
