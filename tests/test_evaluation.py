"""Evaluation: what the C evaluator says is what NumPy says, in Python and in an exported header."""

import copy
import itertools
import pickle
import re
import shutil
import subprocess
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blascast.models.evaluation.c_header import c_header
from blascast.models.evaluation.collection import ModelSet
from blascast.models.evaluation.locator import Locator
from blascast.models.evaluation.outside import OUTSIDE_ERROR, ExtrapolationWarning
from blascast.models.fitting.basis import Exponents, design_matrix
from blascast.models.generation.halving import halves
from blascast.models.parameters import PEISE2017
from blascast.models.piecewise import Estimates, Model, ModelKey, Piece, Ripple
from blascast.models.sizes.domain import Domain
from blascast.models.summary import MAX, MEAN, MEDIAN, MIN, STD
from blascast.sampler.errors import UsageError
from blascast.sampler.simulated import SimulatedBackend

SETUP = SimulatedBackend().setup
KEYS = {  # by number of sizes
    1: ModelKey("potf2", "L", 520),
    2: ModelKey("trsm", "LLNN 1", 520),
    3: ModelKey("gemm", "NT -1 other", 520),
    4: ModelKey("gbmv", "N 1 1 inc 1,1", 520),
}
HIGHEST = 60  # of the sizes in random boxes
SEEDS = st.integers(0, 2**32 - 1)


def model_of(
    domains: Sequence[Domain], exponents: Exponents, seed: int = 0, *, least: float = 0.5, ripple: Ripple | None = None
) -> Model:
    """A model with random coefficients from `least` to 2, and errors."""
    random = np.random.default_rng(seed)
    pieces = tuple(
        Piece(domain, random.uniform(least, 2.0, (len(exponents), 5)), random.uniform(0.001, 0.1), 0.001, 9)
        for domain in domains
    )
    return Model(KEYS[len(exponents[0])], exponents, pieces, "free", "bound", 1.0, PEISE2017, ripple=ripple)


def grid_of_boxes(*cuts: Sequence[int]) -> list[Domain]:
    """Boxes between cuts along each size; neighbours share their bounds."""
    sides = [list(itertools.pairwise(along)) for along in cuts]
    return [Domain(*zip(*box, strict=True)) for box in itertools.product(*sides)]


def small_model(**changes: Any) -> Model:
    """Of trsm, on 8..64 x 8..64 and 64..200 x 8..64."""
    return model_of(grid_of_boxes([8, 64, 200], [8, 64]), ((0, 0), (1, 0), (2, 1)), **changes)


@st.composite
def models(draw: st.DrawFn, sizes: int | None = None) -> Model:
    """Random boxes, many of which overlap, random monomials, coefficients of both signs."""
    d = sizes or draw(st.integers(1, 4))
    bounds = st.tuples(st.integers(1, HIGHEST), st.integers(1, HIGHEST)).map(sorted)
    boxes = st.lists(bounds, min_size=d, max_size=d).map(lambda box: Domain(*zip(*box, strict=True)))
    powers = st.tuples(*[st.integers(0, 6)] * d)
    return model_of(
        draw(st.lists(boxes, min_size=1, max_size=6)),
        tuple(draw(st.lists(powers, min_size=1, max_size=8, unique=True))),
        draw(SEEDS),
        least=-1.0,
        ripple=draw(st.none() | st.just(Ripple((0.0, 0.3, 1.0, 0.7)[:d], 0.02, 9))),
    )


def points_of(model: Model, seed: int, count: int = 300) -> np.ndarray:
    """Points in the model's pieces and around, their corners among them."""
    d = len(model.exponents[0])
    anywhere = np.random.default_rng(seed).integers(1, HIGHEST + 5, (count, d))
    corners = [*itertools.chain.from_iterable((domain.lower, domain.upper) for domain in model.domains)]
    return np.concatenate([anywhere, np.array(corners)])


# --- the reference: NumPy, one thing after the other


def reference_pieces(model: Model, sizes: np.ndarray) -> np.ndarray:
    inside = np.stack([domain.contains(sizes) for domain in model.domains], axis=1)
    return np.where(inside.any(axis=1), inside.argmax(axis=1), -1)


def reference(model: Model, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Statistics at points inside; the largest sum of the magnitudes of a polynomial's terms."""
    pieces = reference_pieces(model, sizes)
    padding = np.array(model.ripple.padding) if model.ripple else 0.0
    padded = sizes + padding * (8 * np.ceil(sizes / 8) - sizes)
    scales = np.array([piece.domain.upper for piece in model.pieces], dtype=float)
    coefficients = np.stack([piece.coefficients for piece in model.pieces])
    matrix = design_matrix(padded, model.exponents, scales[pieces])
    terms = matrix[:, :, None] * coefficients[pieces]
    return ordered(terms.sum(axis=1)), np.abs(terms).sum(axis=1).max(axis=1)


def ordered(sums: np.ndarray) -> np.ndarray:
    median = np.maximum(sums[:, MEDIAN], 1e-3 * np.abs(sums[:, MEDIAN]) + 1e-12)
    result = np.empty_like(sums)
    result[:, MEDIAN] = median
    result[:, MIN] = np.clip(sums[:, MIN], 1e-3 * median, median)
    result[:, MAX] = np.maximum(sums[:, MAX], median)
    result[:, MEAN] = np.clip(sums[:, MEAN], result[:, MIN], result[:, MAX])
    result[:, STD] = np.maximum(sums[:, STD], 0.0)
    return result


def reference_errors(model: Model, sizes: np.ndarray) -> np.ndarray:
    errors = np.array([piece.error for piece in model.pieces])[reference_pieces(model, sizes)]
    if model.ripple is None:
        return errors
    off = (sizes % 8 != 0).any(axis=1)
    return np.where(off, np.sqrt(errors**2 + model.ripple.error**2), errors)


def assert_equal(found: Estimates, wanted: Estimates) -> None:
    np.testing.assert_array_equal(found.statistics, wanted.statistics)
    np.testing.assert_array_equal(found.errors, wanted.errors)
    np.testing.assert_array_equal(found.pieces, wanted.pieces)


# --- inside


@given(models(), SEEDS)
def test_the_first_piece_that_contains_a_point_is_found(model: Model, seed: int) -> None:
    sizes = points_of(model, seed)
    np.testing.assert_array_equal(model.piece_of(sizes), reference_pieces(model, sizes))


@given(models(), SEEDS)
def test_estimates_are_those_of_numpy(model: Model, seed: int) -> None:
    sizes = points_of(model, seed)
    sizes = sizes[reference_pieces(model, sizes) >= 0]
    found = model.evaluate(sizes)
    statistics, magnitudes = reference(model, sizes)
    assert np.all(np.abs(found.statistics - statistics) <= 1e-12 * magnitudes[:, None] + 1e-15)
    np.testing.assert_array_equal(found.pieces, reference_pieces(model, sizes))
    np.testing.assert_allclose(found.errors, reference_errors(model, sizes), rtol=1e-14)


def test_terms_of_one_sign_are_exact_to_rounding() -> None:
    model = small_model(ripple=Ripple((0.4, 0.9), 0.01, 9))
    sizes = np.random.default_rng(1).integers(8, 65, (1000, 2))
    np.testing.assert_allclose(model.evaluate(sizes).statistics, reference(model, sizes)[0], rtol=1e-12)


def test_statistics_are_ordered_and_positive() -> None:
    crossed = np.array([[3.0, 2.0, 9.0, 1.0, -1.0]])
    model = replace(small_model(), exponents=((0, 0),), pieces=(Piece(Domain((8, 8), (80, 80)), crossed, 0.1, 0.1, 1),))
    assert model.evaluate([16, 16]).statistics.tolist() == [2.0, 2.0, 2.0, 2.0, 0.0]
    below = replace(model, pieces=(replace(model.pieces[0], coefficients=-crossed),))
    assert np.all(below.evaluate([16, 16]).statistics[:STD] > 0)


def test_a_size_off_the_multiples_of_8_counts_part_of_its_padding() -> None:
    """The run time is the size itself."""
    coefficients = np.array([[0.0] * 5, [80.0] * 5])
    piece = Piece(Domain((8,), (80,)), coefficients, 0.03, 0.01, 9)
    model = Model(KEYS[1], ((0,), (1,)), (piece,), "free", "bound", 1.0, PEISE2017, ripple=Ripple((0.25,), 0.04, 9))
    found = model.evaluate([[8], [9], [12], [15], [16], [80]])
    np.testing.assert_allclose(found.statistics[:, MEDIAN], [8, 9 + 7 / 4, 12 + 4 / 4, 15 + 1 / 4, 16, 80], rtol=1e-15)
    np.testing.assert_allclose(found.errors, [0.03, 0.05, 0.05, 0.05, 0.03, 0.03], rtol=1e-15)
    plain = replace(model, ripple=None).evaluate([[9], [15]])
    np.testing.assert_allclose(plain.statistics[:, MEDIAN], [9, 15], rtol=1e-15)
    assert plain.errors.tolist() == [0.03, 0.03]


def test_what_a_size_counts_may_exceed_its_piece() -> None:
    """A piece ends between multiples of 8: which one it is goes by the size itself."""
    ripple = Ripple((1.0, 1.0), 0.04, 9)
    model = model_of([Domain((8, 8), (60, 60)), Domain((61, 8), (90, 60))], ((0, 0), (1, 1)), ripple=ripple)
    found = model.evaluate([60, 60])
    assert found.pieces == 0
    padded = design_matrix(np.array([[64, 64]]), model.exponents, np.array([60.0, 60.0])) @ model.pieces[0].coefficients
    np.testing.assert_allclose(found.statistics, ordered(padded)[0], rtol=1e-14)


@pytest.mark.parametrize("shape", [(), (7,), (3, 1, 5), (0,), (2, 0)])
def test_estimates_have_the_shape_of_the_sizes(shape: tuple[int, ...]) -> None:
    model = small_model()
    sizes = np.random.default_rng(0).integers(8, 65, (*shape, 2))
    found = model.evaluate(sizes)
    assert found.statistics.shape == (*shape, 5)
    assert found.errors.shape == found.pieces.shape == model.piece_of(sizes).shape == shape
    rows = model.evaluate(sizes.reshape(-1, 2))
    np.testing.assert_array_equal(found.statistics.reshape(-1, 5), rows.statistics)


@pytest.mark.parametrize(
    "sizes",
    [
        [[16, 24], [64, 8]],
        [[16.0, 24.0], [64.0, 8.0]],
        np.array([[16, 24], [64, 8]], dtype=np.uint8),
        np.array([[16, 24], [64, 8]], dtype=np.int32, order="F"),
        np.array([[16, 0, 24, 0], [64, 0, 8, 0]])[:, ::2],
    ],
)
def test_sizes_come_as_any_integers(sizes: Any) -> None:
    assert_equal(small_model().evaluate(sizes), small_model().evaluate(np.array([[16, 24], [64, 8]])))


@pytest.mark.parametrize(
    "sizes, message",
    [
        ([16.5, 24], "positive integers, got 16.5"),
        ([16, float("nan")], "positive integers, got nan"),
        ([16, float("inf")], "positive integers, got inf"),
        ([16, 1e300], r"positive integers, got 1e\+300"),
        ([16, -24], "positive integers, got -24"),
        ([[16, 24], [0, 24]], "positive integers, got 0"),
        ([16, 2**70], "positive integers, got values of type object"),
        (["16", "24"], "positive integers, got values of type <U2"),
        ([True, False], "positive integers, got values of type bool"),
        (16, r"of shape \(\.\.\., 2\), got one of shape \(\)"),
        ([], r"of shape \(\.\.\., 2\), got one of shape \(0,\)"),
        ([[16, 24, 8]], r"of shape \(\.\.\., 2\), got one of shape \(1, 3\)"),
        ([[16, 24], [8]], r"of shape \(\.\.\., 2\), got lists of several lengths"),
    ],
)
@pytest.mark.parametrize("outside", ["error", "clamp", "extrapolate"])
def test_sizes_that_are_none(sizes: Any, message: str, outside: Any) -> None:
    with pytest.raises(UsageError, match=f"^sizes must be .*{message}$"):
        small_model().evaluate(sizes, outside)


def test_a_model_that_has_no_pieces() -> None:
    with pytest.raises(UsageError, match="the model of trsm LLNN 1 has no pieces; generate it anew"):
        replace(small_model(), pieces=()).evaluate([16, 16])


def test_a_model_beyond_what_the_evaluator_can_do() -> None:
    with pytest.raises(UsageError, match="may have 16 sizes and powers up to 20, that of potf2 L has 1 and 21"):
        model_of([Domain((8,), (16,))], ((21,),)).evaluate([8])
    assert model_of([Domain((8,), (16,))], ((20,),)).evaluate([16]).statistics[MEDIAN] > 0


@pytest.mark.parametrize(
    "changes",
    [
        {"ripple": Ripple((0.5,), 0.01, 9)},
        {"exponents": ((0, 0), (1, 0))},
        {"exponents": ((0, 0), (1, 0), (-1, 0))},
        {"exponents": ((0,), (1,), (2,))},
    ],
)
def test_a_model_that_contradicts_itself(changes: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"the model of trsm LLNN 1 contradicts itself: .*; generate it anew"):
        replace(small_model(), **changes).evaluate([16, 16])


def test_a_model_that_was_evaluated_is_copied_and_pickled() -> None:
    model = small_model()
    wanted = model.evaluate([16, 24])
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), replace(model)):
        assert_equal(again.evaluate([16, 24]), wanted)


# --- the search for pieces


def halved(box: Domain, count: int) -> list[Domain]:
    """Halves boxes in turn until there are so many."""
    boxes = [box]
    while len(boxes) < count:
        boxes += halves(boxes.pop(0), 8) or ()
    return boxes


@pytest.mark.parametrize("sizes, count", [(1, 20), (2, 500), (3, 200)])
def test_the_search_has_few_nodes_and_short_paths(sizes: int, count: int) -> None:
    search = Locator.of(halved(Domain((8,) * sizes, (2056,) * sizes), count))
    assert len(search.nodes) < 3 * count
    assert longest_path(search) < 3 * np.log2(count)


def longest_path(search: Locator) -> int:
    def below(at: int) -> int:
        return 0 if at < 0 else 1 + max(below(search.nodes[at].below), below(search.nodes[at].above))

    return below(search.root)


def test_a_piece_behind_others_is_never_found() -> None:
    boxes = [Domain((8, 8), (40, 64)), Domain((40, 8), (64, 64)), Domain((16, 16), (60, 60))]
    sizes = np.array(list(itertools.product(range(1, 70), repeat=2)))
    assert set(model_of(boxes, ((0, 0),)).piece_of(sizes).tolist()) == {-1, 0, 1}
    assert len(Locator.of(boxes).nodes) == 1


# --- outside


def test_sizes_outside_are_refused_with_the_ways_out() -> None:
    wanted = (
        "the sizes 16 x 72 lie outside the model of trsm LLNN 1, which covers 8..200 x 8..64; build a "
        "model of them, or say what stands for them: outside (--outside) clamp or extrapolate"
    )
    with pytest.raises(UsageError, match=f"^{re.escape(wanted)}$"):
        small_model().evaluate([16, 72])
    with pytest.raises(UsageError, match=r"the sizes 201 x 64 \(the first of 2 such calls\) lie outside"):
        small_model().evaluate([[16, 64], [201, 64], [16, 7]])


def test_what_outside_may_be() -> None:
    with pytest.raises(UsageError, match="outside must be one of error, clamp, extrapolate, got 'ignore'"):
        small_model().evaluate([16, 16], "ignore")  # type: ignore[arg-type]


def nearest(model: Model, point: np.ndarray) -> tuple[float, list[np.ndarray]]:
    """The least sum of absolute log ratios to a piece, and the points that have it."""
    moved = [np.clip(point, domain.lower, domain.upper) for domain in model.domains]
    away = np.array([np.abs(np.log(point / there)).sum() for there in moved])
    return away.min(), [there for there, distance in zip(moved, away, strict=True) if distance <= away.min() + 1e-12]


@given(models(), SEEDS)
@settings(max_examples=50)
def test_clamped_estimates_are_those_of_a_nearest_point(model: Model, seed: int) -> None:
    sizes = points_of(model, seed, 40)
    found = model.evaluate(sizes, "clamp")
    for i, point in enumerate(sizes):
        there = model.evaluate(nearest(model, point)[1])
        same = (there.statistics == found.statistics[i]).all(axis=1) & (there.pieces == found.pieces[i])
        assert (same & (there.errors == found.errors[i])).any()


@pytest.mark.parametrize("order", [1, -1])
def test_of_pieces_equally_near_the_first_is_taken(order: int) -> None:
    """30 is 1.5 times 20, and 45 is 1.5 times 30."""
    model = model_of([Domain((8,), (20,)), Domain((45,), (80,))][::order], ((0,),))
    assert model.evaluate([30], "clamp").pieces == 0


def test_extrapolation_follows_the_flops() -> None:
    """They are m^2 n for trsm from the left."""
    model = small_model()
    sizes = np.array([[16, 16], [400, 16], [400, 128], [4, 16]])
    clamped = model.evaluate([[16, 16], [200, 16], [200, 64], [8, 16]])
    with pytest.warns(ExtrapolationWarning) as warned:
        found = model.evaluate(sizes, "extrapolate")
    (warning,) = warned
    assert str(warning.message) == (
        "3 of 4 calls lie outside their models' domains, by a factor of up to 4: extrapolated by their flops"
    )
    assert warning.filename == __file__
    ratios = np.array([1, 4, 8, 1 / 4])
    np.testing.assert_allclose(found.statistics, clamped.statistics * ratios[:, None], rtol=1e-14)
    away = np.log([1, 2, 4, 2])
    np.testing.assert_allclose(found.errors, np.sqrt(clamped.errors**2 + (OUTSIDE_ERROR * away) ** 2), rtol=1e-14)
    np.testing.assert_array_equal(found.pieces, clamped.pieces)


@pytest.mark.parametrize(
    "kernel, case, ratio",
    [
        ("copy", "inc 1,1", 3),  # 2 n words, no flops
        ("iamax", "inc other", 3),
        ("trti2", "LN", 60 * (60**2 + 2) / (20 * (20**2 + 2))),
    ],
)
def test_extrapolation_by_kernel(kernel: str, case: str, ratio: float) -> None:
    model = replace(model_of([Domain((8,), (20,))], ((0,), (1,))), key=ModelKey(kernel, case, 520))
    with pytest.warns(ExtrapolationWarning):
        found = model.evaluate([60], "extrapolate")
    np.testing.assert_allclose(found.statistics, ratio * model.evaluate([20]).statistics, rtol=1e-14)


def test_extrapolation_goes_far_without_overflow() -> None:
    with pytest.warns(ExtrapolationWarning):
        found = small_model().evaluate([200 * 10**8, 64 * 10**6], "extrapolate")
    np.testing.assert_allclose(found.statistics, 1e22 * small_model().evaluate([200, 64]).statistics, rtol=1e-12)


def test_nothing_is_said_where_nothing_is_extrapolated() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small_model().evaluate([[16, 16]], "extrapolate")
        small_model().evaluate([[1000, 1000]], "clamp")


@pytest.mark.parametrize(
    "key, message",
    [
        (ModelKey("trsmm", "LLNN 1", 520), "unknown kernel 'trsmm'"),
        (ModelKey("trsm", "LLXN 1", 520), "'LLXN 1' is no case of kernel trsm"),
        (ModelKey("gemm", "NN 1 1", 520), "the kernel gemm has 3 sizes, this model of gemm NN 1 1 has 2"),
    ],
)
def test_a_model_whose_kernel_is_another_is_not_extrapolated(key: ModelKey, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        replace(small_model(), key=key).evaluate([1000, 16], "extrapolate")


# --- mixes of cases

MIX = [
    small_model(ripple=Ripple((0.3, 0.6), 0.02, 9)),
    model_of(grid_of_boxes([8, 32, 64]), ((0,), (3,)), 1),
    model_of(grid_of_boxes([8, 32, 64], [8, 64], [8, 16, 64]), ((0, 0, 0), (1, 1, 1), (2, 0, 1)), 2),
]


def mixed(shape: tuple[int, ...], highest: int) -> tuple[np.ndarray, np.ndarray]:
    """Models and sizes of random calls of the mix."""
    random = np.random.default_rng(5)
    cases = random.integers(0, len(MIX), shape)
    sizes = random.integers(8, highest + 1, (*shape, 3))
    for i, model in enumerate(MIX):
        sizes[cases == i, len(model.exponents[0]) :] = 1
    return cases, sizes


@pytest.mark.parametrize("outside, highest", [("error", 64), ("clamp", 300), ("extrapolate", 300)])
@pytest.mark.filterwarnings("ignore::blascast.models.evaluation.outside.ExtrapolationWarning")
def test_a_mix_of_cases_is_what_each_model_says(outside: Any, highest: int) -> None:
    cases, sizes = mixed((40, 5), highest)
    found = ModelSet(MIX).evaluate(cases, sizes, outside)
    assert found.statistics.shape == (40, 5, 5)
    for place in np.ndindex(cases.shape):
        model = MIX[cases[place]]
        alone = model.evaluate(sizes[place][: len(model.exponents[0])], outside)
        np.testing.assert_array_equal(found.statistics[place], alone.statistics)
        assert (found.errors[place], found.pieces[place]) == (alone.errors, alone.pieces)


def test_a_mix_warns_once() -> None:
    with pytest.warns(ExtrapolationWarning, match="^2 of 3 calls lie outside") as warned:
        ModelSet(MIX).evaluate([0, 1, 2], [[400, 8, 1], [128, 1, 1], [8, 8, 8]], "extrapolate")
    assert len(warned) == 1
    assert warned[0].filename == __file__


def test_what_a_model_does_not_read_may_be_anything() -> None:
    found = ModelSet(MIX).evaluate([1, 1], [[8, -3, 0], [70, 0, 0]], "clamp")
    assert_equal(found, MIX[1].evaluate([[8], [64]]))


@pytest.mark.parametrize(
    "cases, sizes, message",
    [
        ([0, 3], [[8, 8, 8]] * 2, "cases must be indices of 3 models, 0 to 2, got 0 to 3"),
        ([-1, 0], [[8, 8, 8]] * 2, "cases must be indices of 3 models, 0 to 2, got -1 to 0"),
        (
            [0],
            [[8, 8, 8]] * 2,
            r"cases must be an integer array of shape \(2,\), as the sizes are, got one of shape \(1,",
        ),
        ([0.0, 1.0], [[8, 8, 8]] * 2, "cases must be an integer array .* and type float64"),
        ([0, 0], [[8, 8]] * 2, r"sizes must be an array of shape \(\.\.\., 3\), got one of shape \(2, 2\)"),
        ([2, 0], [[8, 8, 8], [300, 8, 1]], "the sizes 300 x 8 lie outside the model of trsm LLNN 1"),
        ([2, 0], [[8, 8, 8], [300, 0, 1]], "sizes must be positive integers, got 0"),
    ],
)
def test_a_mix_that_is_none(cases: Any, sizes: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ModelSet(MIX).evaluate(cases, sizes)


def test_a_set_of_no_models() -> None:
    with pytest.raises(UsageError, match="a set of models needs one at least, got none"):
        ModelSet([])


# --- the C header

EXPORTED = [*MIX, model_of([Domain((8, 8, 8, 8), (200, 64, 64, 64))], ((1, 1, 0, 0), (0, 2, 1, 3)), 4)]
NAMES = ["blascast_dtrsm_LLNN_1", "blascast_dpotf2_L", "blascast_dgemm_NT_minus1_other", "blascast_dgbmv_N_1_1_inc_1_1"]
PROGRAM = """
#include "models.h"
#include "models.h" /* twice does no harm */
#include <stdio.h>
int main(void) {
    int model, s[4];
    while (scanf("%d %d %d %d %d", &model, s, s + 1, s + 2, s + 3) == 5) {
        double median = 0, t[5] = {0, 0, 0, 0, 0};
        int piece = -2;
        switch (model) {
CASES
        }
        printf("%d %a %a %a %a %a %a\\n", piece, median, t[0], t[1], t[2], t[3], t[4]);
    }
    return 0;
}
"""


def compile_program(folder: Path, *options: str, compiler: str = "cc", suffix: str = ".c") -> Path:
    """Writes and compiles the program, which reads a model and sizes from each line and prints what it says."""
    calls = []
    for i, (name, model) in enumerate(zip(NAMES, EXPORTED, strict=True)):
        sizes = ", ".join(f"s[{k}]" for k in range(len(model.exponents[0])))
        calls.append(f"        case {i}: piece = {name}_statistics({sizes}, t); median = {name}({sizes}); break;")
    source, program = folder / f"program{suffix}", folder / "program"
    source.write_text(PROGRAM.replace("CASES", "\n".join(calls)))
    strict = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-pedantic"]
    subprocess.run([compiler, *strict, *options, "-o", str(program), str(source)], check=True)
    return program


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a header of the exported models."""
    folder = tmp_path_factory.mktemp("header")
    (folder / "models.h").write_text(c_header(SETUP, EXPORTED))
    return folder


def printed(program: Path, cases: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Piece, median and statistics that a program prints for each call."""
    lines = "\n".join(" ".join(map(str, row)) for row in np.column_stack([cases, sizes]).tolist())
    output = subprocess.run([str(program)], input=lines, check=True, capture_output=True, text=True).stdout
    return np.array([[float.fromhex(word) for word in line.split()] for line in output.splitlines()])


def calls_to_print() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Models, sizes and pieces of calls inside and outside of their models' domains."""
    random = np.random.default_rng(7)
    cases = np.repeat(np.arange(len(EXPORTED)), 1500)
    sizes = random.integers(8, 65, (len(cases), 4))
    sizes[::5] = random.integers(-5, 300, sizes[::5].shape)
    pieces = [model.piece_of(sizes[cases == i, : len(model.exponents[0])]) for i, model in enumerate(EXPORTED)]
    return cases, sizes, np.concatenate(pieces)


@pytest.mark.parametrize(
    "compiler, suffix, options, tolerance",
    [
        ("cc", ".c", ["-std=c99", "-O2", "-ffp-contract=off"], 0.0),
        ("cc", ".c", ["-std=c99", "-O0", "-ffp-contract=off"], 0.0),
        ("cc", ".c", ["-O2", "-march=native"], 1e-12),
        ("c++", ".cc", ["-std=c++11", "-O2", "-ffp-contract=off"], 0.0),
    ],
)
def test_a_compiled_header_says_what_python_says(
    folder: Path, compiler: str, suffix: str, options: list[str], tolerance: float
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    program = compile_program(folder, *options, compiler=compiler, suffix=suffix)
    cases, sizes, pieces = calls_to_print()
    inside = pieces >= 0
    assert all(1000 < np.sum(inside & (cases == i)) < 1500 for i in range(len(EXPORTED)))
    rows = printed(program, cases, sizes)
    np.testing.assert_array_equal(rows[:, 0], pieces)
    assert np.isnan(rows[~inside, 1]).all()
    wanted = ModelSet(EXPORTED).evaluate(cases[inside], sizes[inside]).statistics
    np.testing.assert_allclose(rows[inside, 2:], wanted, rtol=tolerance, atol=0)
    np.testing.assert_allclose(rows[inside, 1], wanted[:, MEDIAN], rtol=tolerance, atol=0)


def test_names_in_the_header() -> None:
    """The leading dimension is told only where two models would have one name."""
    other = replace(MIX[0], key=replace(MIX[0].key, ld=1032))
    header = c_header(SETUP, [MIX[0], MIX[1], other])
    functions = re.findall(r"^static inline \w+ (blascast_d\w+)\((.*)\)", header, re.MULTILINE)
    assert functions == [
        ("blascast_dtrsm_LLNN_1_ld520", "int m, int n"),
        ("blascast_dtrsm_LLNN_1_ld520_statistics", "int m, int n, double statistics[5]"),
        ("blascast_dpotf2_L", "int n"),
        ("blascast_dpotf2_L_statistics", "int n, double statistics[5]"),
        ("blascast_dtrsm_LLNN_1_ld1032", "int m, int n"),
        ("blascast_dtrsm_LLNN_1_ld1032_statistics", "int m, int n, double statistics[5]"),
    ]


def test_the_header_tells_where_models_are_from() -> None:
    model = replace(MIX[0], taken=1796024698.0, samples=700, origin="imported from models.json on 2026-12-01")
    header = c_header(SETUP, [model, MIX[1]])
    for line in (
        f" * library      {SETUP.library}",
        f" * machine      {SETUP.machine.cpu}, {SETUP.machine.architecture}",
        f" * fingerprint  {SETUP.fingerprint}",
        "/* dtrsm LLNN 1",
        " * domain   8..200 x 8..64 in 2 pieces, leading dimension 520",
        f" * error    {100 * model.error:.2g} %, worst piece {100 * model.worst_error:.2g} %",
        " * padding  0.30, 0.60, error 2 % more",
        " * samples  700, the last of 2026-11-30; core free",
        " * origin   imported from models.json on 2026-12-01 */",
        " * padding  none: sizes count as they are",
        " * samples  0, the last of an unknown day; core free */",
    ):
        assert line in header.splitlines()


def test_no_name_from_a_file_leaves_its_comment(tmp_path: Path) -> None:
    evil = 'a */ #error "/* \n#error \N{RIGHT-TO-LEFT OVERRIDE} \\\n#error ??/\n**/#error'
    setup = replace(SETUP, library=replace(SETUP.library, version=evil), machine=replace(SETUP.machine, cpu=evil))
    (tmp_path / "models.h").write_text(c_header(setup, [replace(model, origin=evil) for model in EXPORTED]))
    compile_program(tmp_path, "-std=c99")


@pytest.mark.parametrize(
    "models, message",
    [
        ([], "a C header needs one model at least, got none"),
        ([MIX[0], MIX[0]], "2 models would be called blascast_dtrsm_LLNN_1_ld520 in C; export them one at a time"),
        ([replace(MIX[0], key=ModelKey("trsmm", "", 520))], "unknown kernel 'trsmm'"),
        ([replace(MIX[0], key=ModelKey("hemm", "LL 1 1", 520))], "kernel hemm exists for the data types c, z, not 'd'"),
        (
            [replace(MIX[0], key=ModelKey("gemm", "NN 1 1", 520))],
            "the kernel gemm has 3 sizes, this model of gemm NN 1",
        ),
    ],
)
def test_headers_that_cannot_be(models: list[Model], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        c_header(SETUP, models)
