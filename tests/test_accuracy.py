"""Predictions held against measurements: statistics by hand, and the report on the simulated machine."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import blascast
from blascast.algorithms import find_variant
from blascast.answers.accuracy import MACRO, POOLED
from blascast.answers.accuracy_report import AGAIN, AccuracyReport, verdicts
from blascast.cli import run
from blascast.plots import draw_accuracy
from blascast.predictors.accuracy.choices import best_found, kendall_tau, yield_of_choice
from blascast.predictors.accuracy.comparison import compare, hodges_lehmann, holm
from blascast.predictors.accuracy.errors import bootstrap_interval, relative_errors, symmetric_factors
from blascast.predictors.accuracy.ladder import RUNGS, SmallRuns, power_law, small_configurations
from blascast.predictors.configurations import Configuration
from blascast.sampler.errors import UsageError

SIMULATED = ["--library", "simulated"]


def test_errors_and_factors() -> None:
    predicted, measured = np.array([1.1, 0.5]), np.array([1.0, 1.0])
    np.testing.assert_allclose(relative_errors(predicted, measured), [0.1, -0.5])
    np.testing.assert_allclose(symmetric_factors(predicted, measured), [1.1, 2.0])


def test_intervals_widen_where_groups_differ() -> None:
    """Ten values a group: those of one group are alike, so there are as few independent ones as groups."""
    random = np.random.default_rng(1)
    groups = np.repeat(np.arange(10), 10)
    shifts = random.standard_normal(10)
    grouped = bootstrap_interval(shifts[groups], groups, lambda v: float(np.mean(v)), random)
    alone = bootstrap_interval(shifts[groups], np.arange(100), lambda v: float(np.mean(v)), random)
    assert grouped[0] < np.mean(shifts) < grouped[1]
    assert grouped[1] - grouped[0] > 2 * (alone[1] - alone[0])


def test_the_best_choice_is_any_of_the_measured_best_class() -> None:
    measured, errors = np.array([1.0, 1.01, 1.5]), np.full(3, 0.001)
    assert best_found(np.array([3.0, 2.0, 1.0]), measured, errors, 0.0) == 0
    assert best_found(np.array([3.0, 1.0, 2.0]), measured, errors, 0.02) == 1
    assert best_found(np.ones(3), measured, errors, 0.02) == pytest.approx(2 / 3)
    assert yield_of_choice(np.ones(2), np.array([1.0, 2.0])) == pytest.approx(0.75)


@given(st.lists(st.floats(0.1, 10), min_size=2, max_size=8, unique=True), st.floats(0, 0.5))
def test_tau_of_the_same_order_is_one(values: list[float], noise: float) -> None:
    times = np.array(values)
    for predicted, wanted in ((times, 1.0), (-times, -1.0)):
        assert kendall_tau(predicted, times, noise) in (None, pytest.approx(wanted))
    assert kendall_tau(np.ones(len(times)), times, 0.0) == 0


def test_comparisons() -> None:
    random = np.random.default_rng(2)
    small, large = 0.01 * random.standard_normal(200), 0.05 * random.standard_normal(200)
    found = compare(small, large)
    assert found.p < 0.05
    assert found.shift < 0
    assert found.shift == pytest.approx(-0.03, abs=0.01)
    assert compare(large, small).shift > 0
    assert compare(small, small).p == 1
    assert hodges_lehmann(np.array([2.0])) == 2
    assert hodges_lehmann(random.standard_normal(5000) + 3) == pytest.approx(3, abs=0.1)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_adjusted_p_values_are_larger_and_keep_their_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= a <= 1 for p, a in zip(p_values, adjusted, strict=True))
    assert np.all(np.diff(np.array(adjusted)[np.argsort(p_values)]) >= 0)


def test_power_laws_are_those_of_each_variant_and_block_size() -> None:
    asked = [
        Configuration(find_variant("cholesky", v), {"n": n}, b) for v in (1, 2) for b in (32, 64) for n in (500, 1000)
    ]
    runs = small_configurations(asked, "d")
    assert {(run.variant.name, run.b) for run in runs} == {("1", 32), ("1", 64), ("2", 32), ("2", 64)}
    assert max(run.sizes["n"] for run in runs) < 500
    n = np.array([run.sizes["n"] for run in runs], dtype=float)
    factors = np.array([{"1": 1.0, "2": 2.0}[run.variant.name] * run.b for run in runs])
    small = SmallRuns(runs, factors * n**2.5, n**3, 1.0)
    wanted = [{"1": 1.0, "2": 2.0}[c.variant.name] * c.b * c.sizes["n"] ** 2.5 for c in asked]
    np.testing.assert_allclose(small.power_laws(asked), wanted)
    assert power_law(np.array([1.0, 2.0]), np.array([5.0, 5.0])) == (pytest.approx(5.0), pytest.approx(0.0, abs=1e-12))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> AccuracyReport:
    home = tmp_path_factory.mktemp("store")
    return blascast.accuracy(["cholesky", "lu"], range(200, 801, 200), [32, 64, 128], library="simulated", home=home)


def test_every_way_to_predict_is_judged_on_the_same_points(report) -> None:  # type: ignore[no-untyped-def]
    ways = [*RUNGS, AGAIN]
    assert [(row.operation, row.predictor) for row in report.rows] == [
        (operation, way) for operation in ("cholesky", "lu", POOLED, MACRO) for way in ways
    ]
    by_way = {(row.operation, row.predictor): row for row in report.rows}
    for operation in ("cholesky", "lu", POOLED):
        assert len({by_way[operation, way].points for way in ways}) == 1
    points = report.points
    assert len(points) == by_way[POOLED, AGAIN].points
    errors = np.abs(points[RUNGS[-1]] / points[["pass 1", "pass 2"]].mean(axis=1) - 1)
    own = errors[points["operation"] == "lu"]
    assert by_way["lu", RUNGS[-1]].median == pytest.approx(own.median())
    assert by_way["lu", RUNGS[-1]].mean == pytest.approx(own.mean())
    macro, low, high = by_way[MACRO, "models"], *(by_way[o, "models"] for o in ("cholesky", "lu"))
    assert macro.low <= macro.median <= macro.high
    assert macro.high - macro.low <= max(low.high - low.low, high.high - high.low), "of a mean of independent medians"
    mean = np.mean([by_way[operation, "power law"].p90 for operation in ("cholesky", "lu")])
    assert by_way[MACRO, "power law"].p90 == pytest.approx(mean)


def test_the_ladder_has_costs_and_the_models_are_at_its_top(report) -> None:  # type: ignore[no-untyped-def]
    for operation in ("cholesky", "lu"):
        own = {row.predictor: row for row in report.rows if row.operation == operation}
        assert own["models"].median < own["power law"].median < own["flops at peak"].median
        assert own["models"].median < 0.03
        assert own["models"].shift < 0
        assert own["flops at peak"].shift is None
        assert all(0 < own[way].cost < 1000 for way in RUNGS)
        assert own[AGAIN].cost is None
        assert own["models"].best > own["flops at peak"].best
        assert 0.97 < own["models"].yield_ <= 1


def test_flop_counts_know_no_variants(report) -> None:  # type: ignore[no-untyped-def]
    """They predict all variants alike: whether the best is found is chance, and so is the order."""
    (row,) = [row for row in report.rows if (row.operation, row.predictor) == ("cholesky", "flops at one rate")]
    assert row.tau == 0
    assert 0 < row.best < 1


def test_as_text_and_json(report, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    text = " ".join(str(report).split())
    for words in ("flops at peak", "measured again", "tau", "Wilcoxon"):
        assert words in text
    assert json.loads(json.dumps(report.to_json(), allow_nan=False))["rows"][0]["operation"] == "cholesky"
    table, figure = tmp_path / "points.csv", tmp_path / "accuracy.png"
    ask = [
        "accuracy",
        "lauum",
        "--n",
        "200,400",
        "--b",
        "32,64",
        *SIMULATED,
        "--csv",
        str(table),
        "--output",
        str(figure),
    ]
    assert run([*ask, "--variants", "1,2", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    with table.open() as file:
        assert len(list(csv.DictReader(file))) == len(shown["points"]) == 2 * 2 * 2
    assert figure.stat().st_size > 10_000


def test_a_figure_has_eight_plots_for_each_operation(report) -> None:  # type: ignore[no-untyped-def]
    figure = draw_accuracy(report)
    plots = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    assert len(plots) == 2 * 8
    labels = {axes.get_xlabel(): axes for axes in plots[:8]}
    assert set(labels) >= {"matrix size n", "block size b", "measured run time [ms]", "cost of measurement [s]"}
    lines = {line.get_label() for line in plots[0].lines}
    assert {"peak", "1", "3"} <= lines
    assert {"n = 200", "n = 800", "peak"} <= {line.get_label() for line in labels["block size b"].lines}


def test_a_figure_of_single_block_sizes() -> None:
    found = blascast.accuracy("trinv", [100, 200], 32, variants=["3", "lapack"], library="simulated")
    assert len(draw_accuracy(found).axes) >= 8


def test_points_have_their_errors_and_come_as_soon_as_they_are_measured() -> None:
    came: list[object] = []
    found = blascast.accuracy(
        ["lauum", "cholesky"], [200], [32, 64], variants=["1"], library="simulated", on_points=came.append
    )
    assert [frame["operation"].unique().tolist() for frame in came] == [["lauum"], ["cholesky"]]  # type: ignore[index]
    measured = found.points[["pass 1", "pass 2"]].mean(axis=1)
    np.testing.assert_allclose(found.points["RE, models"], found.points["models"] / measured - 1)
    np.testing.assert_allclose(found.points["ARE, power law"], abs(found.points["power law"] / measured - 1))


@pytest.mark.parametrize("option", ["--csv", "--output"])
def test_files_that_cannot_be_written_are_refused_before_anything_is_measured(
    option: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["accuracy", "lauum", *SIMULATED, option, "nowhere/file.png"]) == 2
    assert "needs a folder that exists, got 'nowhere/file.png'" in capsys.readouterr().err
    folder = tmp_path / "folder.png"
    folder.mkdir()
    assert run(["accuracy", "lauum", *SIMULATED, option, str(folder)]) == 2
    assert f"cannot be written as '{folder}'; choose another path" in capsys.readouterr().err


def test_a_simpler_way_is_as_good_only_if_its_errors_are_as_small() -> None:
    few = blascast.accuracy("cholesky", [200, 400], [32, 64], variants=["3"], library="simulated")
    said = " ".join(verdicts(few.points))
    assert "power law" not in said, "four points tell nothing by a test, errors of 50 % do"
    assert "flops" not in said
    alike = few.points.assign(**{"power law": few.points["corrected models"]})
    (said,) = verdicts(alike)
    assert said.startswith("cholesky: power law is as good as the corrected models (")
    worse = few.points.assign(**{"corrected models": 1.5 * few.points["models"]})
    assert "is better than the corrected models (" in verdicts(worse)[0]
    two = pd.concat([alike, alike.assign(setup="another")])
    assert [sentence.split(":")[0] for sentence in verdicts(two)] == [
        "cholesky (simulated, 1 thread)",
        "cholesky (another)",
    ]


def test_threads_are_apart(capsys: pytest.CaptureFixture[str]) -> None:
    found = blascast.accuracy(["lauum"], [200, 300], [32, 64], variants=["1", "2"], library="simulated", threads=[1, 2])
    assert {row.setup for row in found.rows} == {"simulated, 1 thread", "simulated, 2 threads"}
    assert "setup" in str(found)


def test_what_cannot_be_judged(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="needs at least one operation and one block size"):
        blascast.accuracy([], [100], [32], library="simulated")
    with pytest.raises(UsageError, match="unknown variant of cholesky, lu '9'; known: 1, 2, 3, lapack, "):
        blascast.accuracy(["cholesky", "lu"], [100], [32], variants=["9"], library="simulated")
    with pytest.raises(UsageError, match=r"library .* has no block size, and is not compared here"):
        blascast.accuracy("cholesky", 100, 32, variants=["library"], library="simulated")
    with pytest.raises(UsageError, match="variants must hold at least one"):
        blascast.accuracy("cholesky", 100, 32, variants=[], library="simulated")
    with pytest.raises(UsageError, match="library and threads must hold at least one each"):
        blascast.accuracy("cholesky", 100, 32, library=[])
    with pytest.raises(UsageError, match="b must be a positive integer, got 0"):
        blascast.accuracy("cholesky", 100, [0], library="simulated")
    with pytest.raises(UsageError, match="the block size must be at most n = 100, got 300"):
        blascast.accuracy("cholesky", 100, 300, variants=["1"], library="simulated")
    with pytest.raises(UsageError, match=r"nothing of cholesky is left to compare: .* choose among 1, 2, 3, lapack"):
        blascast.accuracy(["cholesky", "trinv"], 100, 32, variants=["7"], library="simulated")
    with pytest.raises(UsageError, match="cholesky is about square matrices, m = 50 cannot be chosen"):
        blascast.accuracy("cholesky", 100, 32, m=50, library="simulated")
    some = blascast.accuracy("cholesky", [50, 100], [32, 64], variants=["1"], library="simulated")
    assert some.left_out == ("Block sizes larger than a matrix are left out there: 64.",)
    with pytest.raises(UsageError, match="n must hold at least one size"):
        blascast.accuracy(["cholesky"], [], [32], library="simulated")
    assert run(["accuracy", "qr", "--dtype", "x", *SIMULATED]) == 2
    assert "'x' is not one of 's', 'd', 'c', 'z'" in capsys.readouterr().err
