"""Models: what they are of, what they say, and how they are joined."""

from dataclasses import replace

import numpy as np
import pytest
from modelling import GEMM, SYRK, TRSM

from blascast.models.fitting.basis import design_matrix, monomials
from blascast.models.generation.need import Need
from blascast.models.parameters import PRESETS, Parameters
from blascast.models.piecewise import Model, ModelKey, Piece
from blascast.models.sampling import case_of_call, model_ld
from blascast.models.sizes.domain import Domain
from blascast.models.summary import MEDIAN, STATISTICS, standard_error, summarize
from blascast.sampler.kernels import find_kernel

# --- monomials


def test_monomials_follow_the_flops() -> None:
    trsm = monomials(find_kernel("trsm"), dict(TRSM.flags), 0)  # m^2 n
    assert set(trsm) == {(i, j) for i in range(3) for j in range(2)}
    assert set(monomials(find_kernel("trsm"), {**TRSM.flags, "side": "R"}, 0)) == {
        (i, j) for i in range(2) for j in range(3)
    }
    assert len(monomials(find_kernel("trsm"), dict(TRSM.flags), 2)) == 5 * 4
    assert len(monomials(find_kernel("gemm"), dict(GEMM.flags), 0)) == 8


def test_monomials_at_sizes() -> None:
    matrix = design_matrix(np.array([[2, 3], [4, 6]]), ((0, 0), (1, 0), (2, 1)), np.array([4.0, 6.0]))
    assert matrix.tolist() == [[1.0, 0.5, 0.5**2 * 0.5], [1.0, 1.0, 1.0]]


# --- models


def piece(low: int, high: int, value: float = 1.0, error: float = 0.01) -> Piece:
    return Piece(Domain((low,), (high,)), np.full((1, 5), value), error, 0.02, 7)


def model(*pieces: Piece, **changes: object) -> Model:
    made = Model(ModelKey("potf2", "L", 520), ((0,),), pieces, "free", "bound", 1.5, Parameters(), samples=20)
    return replace(made, **changes)


def test_statistics_of_a_model_are_ordered() -> None:
    crossed = Piece(Domain((8,), (80,)), np.array([[3.0, 2.0, 9.0, 1.0, -1.0]]), 0.0, 0.0, 1)
    ((low, median, mean, high, deviation),) = model(crossed).evaluate(np.array([[16]])).statistics
    assert 0 < low <= median <= high
    assert low <= mean <= high
    assert deviation == 0


def test_each_call_is_estimated_by_the_first_piece_that_contains_it() -> None:
    both = model(piece(8, 64, 1.0, 0.01), piece(64, 128, 2.0, 0.02))
    found = both.evaluate(np.array([[8], [64], [65], [128]]))
    assert found.statistics[:, MEDIAN].tolist() == [1.0, 1.0, 2.0, 2.0]
    assert found.errors.tolist() == [0.01, 0.01, 0.02, 0.02]
    assert found.pieces.tolist() == [0, 0, 1, 1]
    assert both.covers(np.array([[7], [8], [128], [129]])).tolist() == [False, True, True, False]


def test_errors_of_a_model() -> None:
    several = model(*(piece(8 * i, 8 * i + 8, error=error) for i, error in enumerate((0.03, 0.01, 0.2), start=1)))
    assert (several.error, several.worst_error) == (0.03, 0.2)


def test_joined_models_have_the_pieces_of_both() -> None:
    one, other = model(piece(8, 64)), model(piece(64, 128), seconds=0.5, samples=10)
    joined = one.joined(other)
    assert joined.domains == [Domain((8,), (64,)), Domain((64,), (128,))]
    assert (joined.seconds, joined.samples) == (2.0, 30)


def test_where_both_have_pieces_the_own_ones_remain() -> None:
    fine, coarse = model(piece(8, 64, 1.0), piece(64, 128, 1.0)), model(piece(8, 128, 2.0), seconds=9.0)
    joined = fine.joined(coarse)
    assert joined.domains == fine.domains
    assert (joined.seconds, joined.samples) == (1.5, 20)
    larger = fine.joined(model(piece(8, 256, 2.0)))
    assert larger.evaluate(np.array([[64], [200]])).statistics[:, MEDIAN].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "changes", [{"state": "busy"}, {"parameters": PRESETS["fast"]}, {"exponents": ((1,),)}], ids=lambda c: next(iter(c))
)
def test_models_that_are_not_alike_do_not_join(changes: dict) -> None:
    one = model(piece(8, 64))
    assert one.joined(model(piece(64, 128), **changes)) is one


# --- statistics


def test_summary_and_standard_error() -> None:
    seconds = np.array([4.0, 1.0, 2.0, 3.0])
    assert dict(zip(STATISTICS, summarize(seconds), strict=True)) == pytest.approx(
        {"min": 1, "median": 2.5, "mean": 2.5, "max": 4, "std": np.sqrt(1.25)}
    )
    assert standard_error(np.array([3.0]), MEDIAN) == 3.0  # nothing is known: as uncertain as large
    random = np.random.default_rng(0)
    medians = np.median(random.standard_normal((4000, 25)), axis=1)
    estimates = [standard_error(random.standard_normal(25), MEDIAN) for _ in range(500)]
    assert np.mean(estimates) == pytest.approx(medians.std(), rel=0.1)


def test_standard_errors_of_few_samples() -> None:
    """Which have no quartiles to speak of."""
    random = np.random.default_rng(0)
    for count in (3, 5, 7):
        medians = np.median(random.standard_normal((4000, count)), axis=1)
        squares = [standard_error(random.standard_normal(count), MEDIAN) ** 2 for _ in range(2000)]
        assert np.sqrt(np.mean(squares)) == pytest.approx(medians.std(), rel=0.2)


def test_one_outlier_in_many_does_not_widen_a_standard_error() -> None:
    random = np.random.default_rng(0)
    seconds = 1 + 0.01 * random.standard_normal(25)
    disturbed = np.concatenate([seconds[1:], [100.0]])
    assert standard_error(disturbed, MEDIAN) < 1.5 * standard_error(seconds, MEDIAN)


# --- cases


def test_a_case_makes_calls_on_buffers_that_all_cases_share() -> None:
    call = TRSM.call((64, 32), 5000)
    assert call.sizes == {"m": 64, "n": 32}
    assert {name: view.buffer for name, view in call.views.items()} == {
        "A": "triangular 0, ld 5000",
        "B": "general 0, ld 5000",
    }
    buffers = [view.buffer for view in GEMM.call((8, 8, 8), 520).views.values()]
    assert buffers == [f"general {i}, ld 520" for i in range(3)]
    assert case_of_call(call).name == TRSM.name == "LLNN 1"


def test_leading_dimensions() -> None:
    for size in (10, 5000, 5120, 7680, 8191):
        assert model_ld(size) >= size
        assert model_ld(size) % 8 == 0
        assert model_ld(size) % 256 != 0


def test_a_need_has_the_key_of_the_model_that_answers_it() -> None:
    need = Need(SYRK, (Domain((8, 8), (64, 64)), Domain((8, 8), (600, 64))))
    assert need.key == ModelKey("syrk", "LN -1 1", model_ld(600))
    assert str(need.key) == "syrk LN -1 1"
