"""Parameters: contradictions are refused, presets have names, and one is the dissertation's."""

from dataclasses import replace

import numpy as np
import pytest
from modelling import GEMM, POTF2, SYRK, TRSM

from blascast.models.generation.need import Need
from blascast.models.generation.task import Task
from blascast.models.parameters import PEISE2017, PRESETS, Parameters, preset_name
from blascast.models.sampling import Case
from blascast.models.sizes.domain import Domain
from blascast.models.sizes.grid import GRIDS
from blascast.sampler.errors import UsageError

REFUSED = [
    ({"cuts": "thirds"}, "cuts must be 'fitted' or 'halves', got 'thirds'"),
    ({"grid": "random"}, "the grid must be one of cartesian, chebyshev, geometric, got 'random'"),
    ({"error_measure": "p50"}, "the error measure must be 'mean', 'p90' or 'max', got 'p50'"),
    ({"overfitting": -1}, "overfitting and oversampling must not be negative"),
    ({"overfitting_3d": -1}, "overfitting and oversampling must not be negative"),
    ({"oversampling": -1}, "overfitting and oversampling must not be negative: too few points for the degree"),
    ({"least_repetitions": 0}, "repetitions must be 1 <= least <= most, got least 0, most 25"),
    ({"least_repetitions": 30}, "repetitions must be 1 <= least <= most, got least 30, most 25"),
    ({"most_repetitions": 2}, "repetitions must be 1 <= least <= most, got least 3, most 2"),
    ({"reference": -0.1}, r"the reference must be a quantile from 0 to 1, got -0\.1"),
    ({"reference": 1.1}, r"the reference must be a quantile from 0 to 1, got 1\.1"),
    ({"reference": float("nan")}, "the reference must be a quantile from 0 to 1, got nan"),
    ({"bound": 0.0}, r"bound must be positive, got 0\.0"),
    ({"bound": float("nan")}, "bound must be positive, got nan"),
    ({"answer_bound": -0.01}, r"answer_bound must be positive, got -0\.01"),
    ({"precision": 0.0}, r"precision must be positive, got 0\.0"),
    ({"seconds": 0.0}, r"seconds must be positive, got 0\.0"),
    ({"minimum_width": 7}, "minimum widths must be at least 8, got 7"),
    ({"minimum_width_3d": 0}, "minimum widths must be at least 8, got 0"),
    ({"minimum_width_threaded": -8}, "minimum widths must be at least 8, got -8"),
    ({"minimum_width_3d_threaded": 1}, "minimum widths must be at least 8, got 1"),
]


@pytest.mark.parametrize(("wrong", "message"), REFUSED)
def test_contradictions_are_refused(wrong: dict, message: str) -> None:
    known = {"least_repetitions": 3, "most_repetitions": 25}
    with pytest.raises(UsageError, match=message) as caught:
        Parameters(**{**known, **wrong})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("base", PRESETS.values(), ids=PRESETS)
def test_a_preset_can_be_changed_in_part(base: Parameters) -> None:
    for grid in GRIDS:
        for cuts in ("fitted", "halves"):
            changed = replace(base, grid=grid, cuts=cuts, reference=0.25)
            assert (changed.grid, changed.cuts, changed.reference) == (grid, cuts, 0.25)


# --- names


def test_presets_have_names() -> None:
    assert {"default", "fast", "accurate", "peise2017"} <= set(PRESETS)
    for name, preset in PRESETS.items():
        assert preset_name(preset) == name
    assert Parameters() == PRESETS["default"]
    assert preset_name(replace(Parameters(), bound=0.123)) == "own"


def test_what_a_question_may_cost_makes_no_other_models() -> None:
    for name, preset in PRESETS.items():
        other = replace(preset, seconds=1.25, answer_bound=0.125)
        assert other == preset
        assert preset_name(other) == name
    assert replace(Parameters(), oversampling=3) != Parameters()


def test_presets_are_in_order() -> None:
    fast, default, accurate = (PRESETS[name] for name in ("fast", "default", "accurate"))
    for name in ("bound", "answer_bound", "precision"):
        assert getattr(fast, name) >= getattr(default, name) > getattr(accurate, name)
    for name in ("most_repetitions", "seconds"):
        assert getattr(fast, name) < getattr(default, name) < getattr(accurate, name)


# --- the dissertation's


def test_the_default_of_the_dissertation() -> None:
    """Table 3.3: overfitting 2, oversampling 4, Chebyshev, 10 repetitions, minimum, maximum error, 1 %, width 32."""
    assert PEISE2017 is PRESETS["peise2017"]
    assert (PEISE2017.cuts, PEISE2017.grid) == ("halves", "chebyshev")
    assert (PEISE2017.overfitting, PEISE2017.oversampling) == (2, 4)
    assert (PEISE2017.least_repetitions, PEISE2017.most_repetitions) == (10, 10)
    assert (PEISE2017.reference, PEISE2017.error_measure, PEISE2017.bound) == (0.0, "max", 0.01)
    assert PEISE2017.seconds == float("inf")


@pytest.mark.parametrize(
    ("case", "threads", "overfitting", "width"),
    [(TRSM, 1, 2, 32), (POTF2, 1, 2, 32), (GEMM, 1, 0, 64), (SYRK, 4, 2, 64), (GEMM, 2, 0, 256)],
)
def test_its_variations(case: Case, threads: int, overfitting: int, width: int) -> None:
    sizes = case.kernel.sizes
    assert PEISE2017.overfitting_for(sizes) == overfitting
    assert PEISE2017.minimum_width_for(sizes, threads) == width


@pytest.mark.parametrize(
    ("case", "lower", "upper", "counts"),
    [
        (TRSM, (24, 24), (536, 4152), (2 + 2 + 1 + 4, 1 + 2 + 1 + 4)),  # m^2 n: the dissertation's 9 x 8 points
        (GEMM, (24, 24, 24), (536, 536, 536), (1 + 0 + 1 + 4,) * 3),
        (POTF2, (24,), (536,), (3 + 2 + 1 + 4,)),
    ],
)
def test_its_first_grid(case: Case, lower: tuple, upper: tuple, counts: tuple) -> None:
    """Along each size degree + 1 + oversampling points, the degree that of the flops and the overfitting."""
    task = Task(Need(case, (Domain(lower, upper),)), PEISE2017, threads=1)
    task.begin(task.missing(), {})
    points = np.array(task.generator_.wanted)
    assert len(points) == np.prod(counts)
    assert tuple(len(np.unique(column)) for column in points.T) == counts
