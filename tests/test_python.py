"""The Python interface: reports print, show as HTML, turn into frames, and can be drawn."""

import matplotlib as mpl
import numpy as np
import pytest

import blascast
from blascast.effort import Spent, Tally
from blascast.models.generation.task import EXHAUSTED
from blascast.plots import plot_blocksize, plot_model, plot_rank
from blascast.report import effort_sentences
from blascast.session import Session

mpl.use("Agg")


def test_a_ranking() -> None:
    ranking = blascast.rank("cholesky", n=400, library="simulated", verify=True)
    assert "right-looking" in str(ranking)
    assert repr(ranking) == str(ranking)
    frame = ranking.to_frame()
    assert frame["variant"].tolist() != sorted(frame["variant"])
    assert set(frame["variant"]) == {"1", "2", "3", "lapack", "recursive", "library"}
    assert {"variant", "b", "time_median", "gflops", "efficiency", "class", "measured_median"} <= set(frame.columns)
    assert frame["time_median"].is_monotonic_increasing
    html = ranking._repr_html_()
    assert html.count("<tr>") == 7
    assert "time [ms]" in html
    axes = plot_rank(ranking)
    assert axes.get_xlabel() == "performance [GFLOP/s]"


def test_a_prediction() -> None:
    prediction = blascast.predict("cholesky", 3, n=400, b=64, breakdown=True, library="simulated")
    assert set(prediction.to_frame()["kernel"]) == {"potf2 L", "trsm RLTN 1", "syrk LN -1 1"}
    assert prediction.candidate.times.median > 0
    whole = blascast.predict("cholesky", 3, n=np.int64(400), b=np.uint8(64), library="simulated").to_frame()
    assert whole["time_median"].tolist() == [prediction.candidate.times.median]


def test_block_sizes() -> None:
    report = blascast.blocksize("cholesky", 3, n=[200, 400], library="simulated")
    assert report.to_frame()["n"].tolist() == [200, 400]
    axes = plot_blocksize(report)
    assert axes.get_xlabel() == "block size b"
    assert len(axes.get_legend().get_texts()) == 2


def test_a_list_of_models() -> None:
    assert len(blascast.list_models().to_frame()) == 0
    blascast.rank("cholesky", n=200, b=64, variants=[1, 2, 3], library="simulated")
    assert len(blascast.list_models().to_frame()) == 4


def test_models_are_drawn() -> None:
    blascast.rank("cholesky", n=200, library="simulated")
    for setup, model in blascast.list_models().entries:
        axes = plot_model(setup, model)
        assert axes.get_xlabel().startswith("size ")
        points, line = axes.lines[:2]
        assert len(points.get_xdata()) >= 2
        rates = np.interp(points.get_xdata(), line.get_xdata(), line.get_ydata())
        np.testing.assert_allclose(points.get_ydata(), rates, rtol=0.1)


@pytest.mark.parametrize(
    ("seconds", "answer_bound", "sentence"),
    [
        (1e-9, 1e-9, "Sampling ended with its budget of time"),
        (60.0, 0.2, "Sampling ended as the errors were within the bound"),
        (60.0, 1e-3, "Sampling ended as more would not change the ranking"),
    ],
)
def test_why_sampling_ended(seconds: float, answer_bound: float, sentence: str) -> None:
    parameters = blascast.Parameters(seconds=seconds, answer_bound=answer_bound)
    ranking = blascast.rank("cholesky", n=600, b=64, library="simulated", parameters=parameters)
    assert sentence in str(ranking)


@pytest.mark.parametrize("stopped", ["bound", "decision", "budget", *EXHAUSTED])
def test_every_end_of_sampling_has_a_sentence(stopped: str) -> None:
    first, *_ = effort_sentences(Tally(accepted=5, stopped=stopped), Spent(sampling=1.0))
    assert first.startswith("Sampling ended")


def test_a_question_goes_on_where_its_time_was_up() -> None:
    hurried, patient = (blascast.Parameters(seconds=seconds, answer_bound=1e-4) for seconds in (1e-9, 60.0))
    question = {"operation": "cholesky", "variant": 3, "n": 600, "b": 64, "library": "simulated", "context": "warm"}
    rough = blascast.predict(**question, parameters=hurried)
    fine = blascast.predict(**question, parameters=patient)
    assert rough.evidence.tally.stopped == "budget"
    assert fine.evidence.tally.accepted > 0
    assert fine.evidence.tally.stopped != "budget"
    assert fine.candidate.error < rough.candidate.error


def test_parameters_that_contradict_each_other() -> None:
    with pytest.raises(blascast.UsageError, match="repetitions must be 1 <= least <= most"):
        blascast.Parameters(least_repetitions=30, most_repetitions=20)


def test_a_diagnosis() -> None:
    report = blascast.doctor(library="simulated")
    assert {"name", "value", "verdict", "remedy", "good"} == set(report.to_frame().columns)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n": 0},
        {"n": "8"},
        {"n": 8.0},
        {"n": 100, "b": 0},
        {"n": 100, "b": 101},
        {"n": 100, "dtype": "q"},
        {"n": 100, "threads": -1},
        {"n": 10**9},
        {"n": np.int32(60_000)},
        {"n": 100, "library": 3},
        {"n": 100, "library": []},
        {"n": 100, "variants": []},
        {"n": 100, "variants": [1, "four"]},
        {"n": 100, "m": 50},
        {"n": []},
        {"n": 100, "b": (32, 16)},
        {"n": 100, "dtype": ["d"]},
    ],
)
def test_arguments_that_make_no_sense(wrong: dict) -> None:
    with pytest.raises(blascast.UsageError) as caught:
        blascast.rank("cholesky", **{"library": "simulated", **wrong})
    assert "\n" not in str(caught.value)


def test_no_sizes() -> None:
    with pytest.raises(blascast.UsageError, match="at least one size"):
        blascast.blocksize("cholesky", 3, n=[], library="simulated")
    with pytest.raises(blascast.UsageError, match="n must be a positive integer"):
        blascast.blocksize("cholesky", 3, n=b"ab", library="simulated")  # type: ignore[arg-type]


def test_an_attribute_that_does_not_exist() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = blascast.nothing


def test_small_problems() -> None:
    for n in (1, 2, 7, 8, 17):
        for operation in ("cholesky", "trinv"):
            report = blascast.rank(operation, n=n, library="simulated")
            assert all(row.candidate.times.median > 0 for row in report.rows)


def test_algorithms_for_complex_types() -> None:
    """The rows that qr copies are conjugated, by a routine that real types have not."""
    kernels = {
        dtype: {
            share.kernel
            for share in blascast.predict("qr", 1, 100, 16, dtype=dtype, breakdown=True, library="simulated").shares
        }
        for dtype in "dz"
    }
    assert "lacgv inc 1" in kernels["z"]
    assert not any("lacgv" in label for label in kernels["d"])
    assert len(kernels["z"]) == len(kernels["d"]) + 1


def test_complex_flops_count_four_times() -> None:
    """The simulated machine takes four times as long for a product of complex numbers: its peak is the same."""
    with Session(library="simulated", dtype="s") as real, Session(library="simulated", dtype="c") as complex_:
        assert complex_.measure_peak() == pytest.approx(real.measure_peak(), rel=0.05)
