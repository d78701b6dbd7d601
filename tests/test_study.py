"""The study of the generator's configurations: replays are what sampling would have yielded."""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import blascast
from blascast import studies
from blascast.cli import run
from blascast.models.fitting.basis import monomials
from blascast.models.generation.builder import ModelBuilder
from blascast.models.generation.generator import CALLS_PER_SAMPLE, Point
from blascast.models.generation.need import Need
from blascast.models.kept.store import Store
from blascast.models.parameters import PEISE2017, PRESETS, Parameters
from blascast.models.sizes.domain import STEP
from blascast.models.study.axes import LEAST, Axes, coarsest, densest
from blascast.models.study.baselines import SECONDS, baselines
from blascast.models.study.collection import Collection
from blascast.models.study.configurations import STUDIED, configurations
from blascast.models.study.exhaustive import ExhaustiveSet, points_of
from blascast.models.study.halving_tree import HalvingTree
from blascast.models.study.outcome import Outcome
from blascast.models.study.pruning import majority, pareto_front, prune
from blascast.models.study.replay import generate, replay, wanted_of
from blascast.models.study.segments import segments
from blascast.models.study.setting import ALL_AXES, CASE, KEY, LD, VALIDATION_KEY
from blascast.sampler.batch.repetitions import Repetitions
from blascast.sampler.errors import UsageError
from blascast.sampler.job import warm_job
from blascast.sampler.sampler import Progress, Sampler, no_progress
from blascast.sampler.simulated import KINK, QUIET, Disturbances, SimulatedBackend
from blascast.studies.figures import plot_pieces, plot_study
from blascast.studies.report import StudyReport

mpl.use("Agg")

SMALL: Axes = (np.arange(24, 345, 8), np.arange(24, 281, 8))
HANDFUL = configurations()[5::193]


def times(axes: Axes) -> np.ndarray:
    """Undisturbed times of the simulated machine."""
    backend = SimulatedBackend(disturbances=QUIET)
    return np.array([backend.warm_seconds(CASE.call(tuple(point), LD)) for point in points_of(axes).tolist()])


def noisy(axes: Axes, jitter: float = 0.01, repetitions: int = 15) -> ExhaustiveSet:
    random = np.random.default_rng(7)
    exact = times(axes)[:, None]
    return ExhaustiveSet(
        axes,
        exact * np.exp(jitter * random.standard_normal((len(exact), repetitions))),
        exact * np.exp(jitter * random.standard_normal((len(exact), 5))),
    )


class Strict(ExhaustiveSet):
    """A set that notices when a generator asks for a point that it has not."""

    def rows(self, points: Sequence[Point]) -> np.ndarray:
        for point in points:
            assert all(size in axis for size, axis in zip(point, self.axes, strict=True)), point
        return super().rows(points)


# --- what is studied


def test_2880_configurations_and_the_dissertations_default_among_them() -> None:
    studied = configurations()
    assert len(studied) == len(set(studied)) == 2880
    assert PEISE2017 in studied


def test_all_sizes_of_the_dissertation() -> None:
    assert len(points_of(ALL_AXES)) == 33_605


@pytest.mark.parametrize("most", [25, 100, 1500, 7000])
def test_axes_are_as_dense_as_allowed_and_nested(most: int) -> None:
    def within(points: int) -> Axes:
        found = densest(ALL_AXES, lambda axes: len(axes[0]) * len(axes[1]) <= points)
        assert found is not None
        return found

    axes, denser = within(most), within(2 * most)
    assert 0.8 * most < len(axes[0]) * len(axes[1]) <= most
    for own, other, every in zip(axes, denser, ALL_AXES, strict=True):
        assert set(own.tolist()) <= set(other.tolist()) <= set(every.tolist())
        assert (own[0], own[-1]) == (every[0], every[-1])
        steps = np.diff(own)
        assert steps.min() > 0
        assert np.median(steps[: len(steps) // 2]) <= np.median(steps[len(steps) // 2 :])


def test_the_coarsest_and_no_axes() -> None:
    assert [len(axis) for axis in coarsest(ALL_AXES)] == [LEAST, LEAST]
    assert densest(ALL_AXES, lambda axes: False) is None
    every = densest(ALL_AXES, lambda axes: True)
    assert every is not None
    assert [axis.tolist() for axis in every] == [axis.tolist() for axis in ALL_AXES]


# --- samples


def test_statistics_and_costs_of_the_first_repetitions() -> None:
    axes = (np.array([8, 16]), np.array([8, 24]))
    seconds = np.array([[3.0, 1.0, 2.0], [4.0, 5.0, np.nan], [6.0, np.nan, np.nan], [1.0, 2.0, 9.0]])
    exhaustive = ExhaustiveSet(axes, seconds, seconds)
    assert exhaustive.costs(2).tolist() == [CALLS_PER_SAMPLE * cost for cost in (4.0, 9.0, 6.0, 3.0)]
    assert exhaustive.counts(3).tolist() == [3, 2, 1, 3]
    assert exhaustive.reference(3, 0.0).tolist() == [1.0, 4.0, 6.0, 1.0]
    assert exhaustive.reference(3, 0.5).tolist() == [2.0, 4.5, 6.0, 2.0]
    assert exhaustive.reference(2, 0.5).tolist() == [2.0, 4.5, 6.0, 1.5]
    assert exhaustive.rows([(16, 8), (8, 24)]).tolist() == [2, 1]
    assert exhaustive.noise_floor == 0.0


def test_any_quantile_is_that_of_numpy() -> None:
    exhaustive = noisy((np.array([24, 32]), np.array([24, 32, 40])))
    for quantile in (0.0, 0.1, 0.5, 0.9, 1.0):
        expected = np.quantile(exhaustive.seconds[:, :10], quantile, axis=1)
        np.testing.assert_allclose(exhaustive.reference(10, quantile), expected, rtol=1e-14)


def test_as_many_repetitions_as_the_sampler_takes() -> None:
    sampler = Sampler(SimulatedBackend(disturbances=Disturbances(jitter=0.02)))
    jobs = [warm_job(CASE.call((size, size), LD)) for size in range(24, 537, 64)]
    wanted = Repetitions(3, 25, 0.02)
    batch = sampler.measure(jobs, wanted)
    counts = [len(measurement.samples) for measurement in batch.measurements]
    assert counts == [wanted_of(wanted, measurement.seconds) for measurement in batch.measurements]
    assert len(set(counts)) > 1
    assert wanted_of(wanted, np.array([1.0, 1.5])) == 2  # there are no more


def test_where_all_samples_are_disturbed_they_are_taken_and_told(home: Path) -> None:
    sampler = Sampler(SimulatedBackend(disturbances=Disturbances(outliers=1.0)))
    collection = Collection(sampler, Store(home), no_progress)
    points = np.array([[24, 24], [32, 24]])
    collection.complete(points, 4, KEY, "sampling")
    assert np.isfinite(collection.seconds(points, 4, KEY)).all()
    assert collection.disturbed == {(24, 24), (32, 24)}


def test_samples_for_validation_are_kept_apart(home: Path) -> None:
    store = Store(home)
    collection = Collection(Sampler(SimulatedBackend(disturbances=QUIET)), store, no_progress)
    setup = SimulatedBackend().setup
    exhaustive = collection.exhaustive_set((np.array([24, 32]), np.array([24, 32, 40])))
    assert (exhaustive.seconds.shape, exhaustive.measured.shape) == ((6, 15), (6,))
    assert not collection.disturbed
    for key, count in ((KEY, 15), (VALIDATION_KEY, 5)):
        kept = store.load_samples(setup, key, "free")
        assert {len(samples) for samples in kept.values()} == {count}
        assert store.count_samples(setup, key) == dict.fromkeys(kept, count)


def test_a_killed_validation_is_recovered_as_such(home: Path) -> None:
    setup = SimulatedBackend().setup
    batch = Sampler(SimulatedBackend(disturbances=QUIET)).measure([warm_job(CASE.call((24, 24), LD))], 3)
    journal = Store(home).journal(setup, [(VALIDATION_KEY, (24, 24))])
    opened = journal.__enter__()
    opened.keep([(0, sample) for sample in batch.measurements[0].samples])
    opened.leave()  # the process ends here
    store = Store(home)
    assert store.recover() == 3
    assert store.count_samples(setup, VALIDATION_KEY) == {(24, 24): 3}
    assert store.count_samples(setup, KEY) == {}


# --- replays


@pytest.mark.parametrize("parameters", [PEISE2017, PRESETS["default"], replace(PEISE2017, overfitting=0, bound=0.02)])
def test_a_replay_is_what_the_builder_makes(home: Path, parameters: Parameters) -> None:
    exact = times(SMALL)[:, None]
    exhaustive = Strict(SMALL, np.tile(exact, 15), exact)
    replayed = generate(parameters, exhaustive)
    sampler, store = Sampler(SimulatedBackend(disturbances=QUIET)), Store(home)
    (built,) = ModelBuilder(sampler, store, parameters).provide([Need(CASE, (exhaustive.domain,))]).values()
    assert replayed.domains == built.domains
    kept = store.load_samples(sampler.setup, built.key, built.state)
    on_lattice = sum(len(samples) for point, samples in kept.items() if not any(size % STEP for size in point))
    assert (replayed.samples, replayed.stopped) == (on_lattice, built.stopped)
    for one, other in zip(replayed.pieces, built.pieces, strict=True):
        np.testing.assert_allclose(one.coefficients, other.coefficients, rtol=1e-6, atol=1e-15)


def test_shared_replays_are_those_of_each_alone() -> None:
    exhaustive = Strict((SMALL[0][::2], SMALL[1]), *_passes(noisy((SMALL[0][::2], SMALL[1]))))
    shared = list(HalvingTree(exhaustive).outcomes(HANDFUL))
    assert len({found.pieces for found in shared}) > 3
    for found, parameters in zip(shared, HANDFUL, strict=True):
        alone = replay("", parameters, exhaustive)
        assert (found.parameters, found.samples, found.pieces) == (parameters, alone.samples, alone.pieces)
        assert found.seconds == pytest.approx(alone.seconds)
        assert found.error == pytest.approx(alone.error, rel=1e-6)
        assert found.p90_error == pytest.approx(alone.p90_error, rel=1e-6)


def _passes(exhaustive: ExhaustiveSet) -> tuple[np.ndarray, np.ndarray]:
    return exhaustive.seconds, exhaustive.measured[:, None]


def test_presets_ask_only_for_what_a_thin_set_has() -> None:
    axes = densest(ALL_AXES, lambda axes: len(axes[0]) * len(axes[1]) <= 400)
    assert axes is not None
    exhaustive = Strict(axes, *_passes(noisy(axes)))
    for name, parameters in PRESETS.items():
        found = replay(name, parameters, exhaustive)
        assert found.error < 0.03
        assert 0 < found.seconds <= exhaustive.costs(15).sum()


def test_a_replay_ends_with_its_budget() -> None:
    exhaustive = noisy(SMALL)
    cheap = generate(replace(PRESETS["accurate"], seconds=1e-9), exhaustive)
    assert cheap.stopped == "budget"
    assert cheap.samples < generate(PRESETS["accurate"], exhaustive).samples


def test_baselines_are_exact_where_they_are_right() -> None:
    points = points_of(SMALL)
    flops = np.asarray(CASE.kernel.flop_count({**CASE.flags, "m": points[:, 0], "n": points[:, 1]}), dtype=float)
    for seconds in (flops / 4e10, 1e-7 + flops / 4e10):
        samples = np.tile(seconds[:, None], 15)
        cubic, rate = baselines(ExhaustiveSet(SMALL, samples, samples))
        assert cubic.error < 1e-9
        assert (rate.error < 1e-9) == (seconds[0] == flops[0] / 4e10)
        assert rate.seconds == cubic.seconds <= SECONDS
        assert (cubic.name, cubic.parameters, cubic.pieces) == ("cubic", None, 1)


# --- pruning


def found(error: float, seconds: float, parameters: Parameters | None = None) -> Outcome:
    return Outcome("", parameters, error, error, error, seconds, 1, 1)


def test_pruning_keeps_what_is_accurate_and_cheap_everywhere() -> None:
    first = [found(error, cost) for error, cost in ((1.0, 9), (1.4, 1), (1.5, 2), (1.6, 0), (1.2, 3), (1.1, 4))]
    pruned = prune([first])
    assert pruned.accurate == (0, 1, 2, 4, 5)
    assert pruned.survivors == (1, 2)  # within the cheapest quarter of 1, 2, 3, 4, 9
    second = [found(error, cost) for error, cost in ((1.0, 1), (2.0, 1), (1.0, 2), (1.0, 1), (1.0, 5), (1.0, 6))]
    pruned = prune([first, second])
    assert pruned.accurate == (0, 2, 4, 5)
    assert pruned.survivors == ()  # the cheapest here is the dearest there
    assert prune([[found(1.0, 1), found(2.0, 1)], [found(2.0, 1), found(1.0, 1)]]).accurate == ()


def test_the_majority() -> None:
    votes = majority([PEISE2017, replace(PEISE2017, oversampling=7), replace(PEISE2017, least_repetitions=5)])
    assert set(votes) == set(STUDIED)
    assert (votes["oversampling"], votes["repetitions"], votes["grid"]) == ((4, 2), (10, 2), ("chebyshev", 3))


def test_no_other_beats_those_of_the_front() -> None:
    outcomes = [found(*pair) for pair in ((3, 1), (2, 2), (2, 3), (1, 9), (4, 1), (1, 10), (5, 5))]
    assert pareto_front(outcomes) == [0, 1, 3]


# --- one size


def test_fitted_cuts_find_the_kink() -> None:
    backend, sizes = SimulatedBackend(disturbances=QUIET), np.arange(24, 537, 8)
    exact = np.array([backend.warm_seconds(CASE.call((size, size), LD)) for size in sizes.tolist()])
    noise = np.exp(0.002 * np.random.default_rng(0).standard_normal((len(sizes), 20)))
    halved = [each for each in segments(sizes, exact[:, None] * noise) if each.cuts == "halves"]
    fitted = [each for each in segments(sizes, exact[:, None] * noise) if each.cuts == "fitted"]
    assert [each.bounds for each in halved] == [[], [280], [152, 280]]
    assert len(fitted) == 2
    assert abs(fitted[1].bounds[0] - KINK) <= 8
    errors = [each.errors(sizes, exact).mean() for each in (*halved, fitted[1])]
    assert errors[0] > errors[1] > errors[2] > errors[3]
    assert errors[3] < 0.001


# --- the front door


FEW = (*HANDFUL[::2], PEISE2017)
MINUTES = 0.25


@pytest.fixture(autouse=True, scope="module")
def few() -> Iterator[int]:
    """Studies are of a handful of configurations, the dissertation's default among them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(studies, "configurations", lambda: FEW)
        yield len(FEW)


@pytest.fixture(scope="module")
def studied(few: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the samples of a study."""
    home = tmp_path_factory.mktemp("studied")
    assert "accepted" in str(blascast.study("simulated", minutes=MINUTES, home=home))
    return home


@pytest.fixture(scope="module")
def report(studied: Path) -> StudyReport:
    """A study of samples that are there."""
    return blascast.study("simulated", minutes=MINUTES, home=studied)


def test_a_study(report: StudyReport, few: int) -> None:
    (setup,) = report.setups
    assert len(setup.outcomes) == few
    text = str(report)
    for words in ("peise2017", "default", "fast", "accurate", "cubic", "flops", "best", "cheapest", "Noise floor"):
        assert words in text
    assert {"error [%]", "p90 [%]", "cost [s]", "samples", "pieces"} <= {column.heading for column in report.columns}
    assert f"of {few}; of these within the cheapest 25 %" in text
    frame = report.to_frame()
    assert len(frame) == few + len(PRESETS) - 1 + 2
    assert set(STUDIED) | {"error", "noise_floor", "cost", "samples", "pieces", "front", "accurate"} <= set(frame)
    assert frame["front"].sum() == len(setup.front)
    by_name = frame.set_index("name")
    assert by_name.loc["default", "error"] < by_name.loc["flops", "error"]
    assert 0 < setup.noise_floor < 0.02


def test_a_second_study_measures_nothing_and_says_the_same(report: StudyReport, studied: Path) -> None:
    again = blascast.study("simulated", minutes=MINUTES, home=studied)
    assert "Nothing had to be sampled." in str(report)
    assert report.to_json()["rows"] == again.to_json()["rows"]


def test_a_study_that_was_ended_goes_on(home: Path) -> None:
    def stop(progress: Progress) -> None:
        if progress.label == "sampling" and progress.done > progress.total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        blascast.study("simulated", minutes=MINUTES, on_progress=stop)
    setup = SimulatedBackend().setup
    before = sum(Store(home).count_samples(setup, KEY).values())
    totals: list[int] = []

    def note(progress: Progress) -> None:
        if progress.label == "sampling":
            totals.append(progress.total)

    points = np.prod(blascast.study("simulated", minutes=MINUTES, on_progress=note).setups[0].counts)
    assert before > 0.4 * 15 * points
    assert totals[0] <= 15 * points - 0.4 * 15 * points  # what was there is not measured again


def test_more_time_adds_to_what_is_there(report: StudyReport, studied: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(studied, tmp_path / "copy"))
    (coarse,), (dense,) = report.setups, blascast.study("simulated", minutes=2 * MINUTES, home=home).setups
    assert np.prod(dense.counts) > np.prod(coarse.counts)
    assert dense.tally.accepted == 20 * (np.prod(dense.counts) - np.prod(coarse.counts))


def test_a_study_of_two_libraries_prunes_over_both(report: StudyReport) -> None:
    both = replace(report, setups=(report.setups[0], replace(report.setups[0], library="other")))
    assert both.pruning == report.pruning
    text = str(both)
    assert "library" in text and "on every library" in text and "other: " in text
    assert set(both.to_frame()["library"]) == {"simulated", "other"}
    figure = plot_study(both)
    assert [axes.get_title().split(",")[1].strip() for axes in figure.axes] == ["simulated", "other"]
    axes = figure.axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("cost of the samples [s]", "mean error [%]")
    labels = {text.get_text() for text in axes.get_legend().get_texts()}
    assert {*PRESETS, "cubic", "flops", "noise floor", "their front"} <= labels


def test_disturbed_points_are_told(report: StudyReport) -> None:
    busy = replace(report, setups=(replace(report.setups[0], disturbed=3),))
    assert "At 3 points all samples were disturbed" in str(busy)
    assert "all samples were disturbed" not in str(report)


def test_study_on_the_command_line(
    few: int, studied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BLASCAST_HOME", str(studied))
    figure = tmp_path / "study.png"
    arguments = ["models", "study", "--library", "simulated", "--minutes", str(MINUTES)]
    assert run([*arguments, "--output", str(figure), "--json"]) == 0
    result: Any = json.loads(capsys.readouterr().out)
    assert len(result["rows"]) == few + 5
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert run(arguments) == 0
    assert "Majority of these" in capsys.readouterr().out


def test_pieces_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figure = tmp_path / "pieces.svg"
    assert run(["models", "pieces", "--library", "simulated", "--output", str(figure)]) == 0
    out = capsys.readouterr().out
    assert "mean error [%]" in out and "152, 280" in out
    assert "<svg" in figure.read_text()
    again = blascast.pieces("simulated")
    frame = again.to_frame()
    assert frame["pieces"].tolist()[:5] == [1, 2, 3, 1, 2]
    assert frame["error"].iloc[4] < frame["error"].iloc[2]
    fitted = frame["error"].iloc[4:]
    assert fitted.max() < 1.1 * fitted.min()  # a third piece gains nothing, where chance cuts one off
    assert ("With fitted cuts, more than 2 would gain nothing." in str(again)) == (len(fitted) == 1)
    assert [axes.get_ylabel() for axes in plot_pieces(again).axes] == ["performance [GFLOP/s]"] * 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["study", "--minutes", "0"], "minutes must be positive, got 0"),
        (["study", "--minutes", "-3"], "minutes must be positive, got -3"),
        (["study", "--minutes", "nan"], "minutes must be positive, got nan"),
        (["study", "--minutes", "soon"], "'soon' is not a valid float"),
        (["study", "--minutes", "0.001"], "a study takes at least 0.2 minutes here, got 0.001; give it more"),
        (["study", "--library", "simulated"], "each once, got simulated, simulated"),
        (["study", "--output", "study.txt"], "a figure must end in .pdf, .png, .svg, got 'study.txt'"),
        (["pieces", "--output", "nowhere/study.png"], "a figure needs a folder that exists, got 'nowhere/study.png'"),
    ],
)
def test_bad_input(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", *arguments, "--library", "simulated"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("verb", ["study", "pieces"])
def test_an_unknown_library(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", verb, "--library", "simulatd"]) in (1, 2)
    assert "simulatd" in capsys.readouterr().err


def test_no_library() -> None:
    with pytest.raises(UsageError, match="at least one library, each once, got none"):
        blascast.study([])


def test_monomials_of_the_case() -> None:
    assert len(monomials(CASE.kernel, dict(CASE.flags), 2)) == 5 * 4  # as in Example 3.13
