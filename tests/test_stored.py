"""What is kept: listed, shown, drawn, compared, handed on, taken in, removed."""

import contextlib
import json
import os
import pty
import shutil
import subprocess
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

import blascast
from blascast.cli import run
from blascast.models.kept.bundle import bundle_to_json, entries_from_json
from blascast.models.kept.store import Store
from blascast.models.parameters import PEISE2017, Parameters
from blascast.models.piecewise import Model, ModelKey, Piece, Ripple
from blascast.models.sizes.domain import Domain
from blascast.models.summary import STATISTICS
from blascast.plots import (
    draw_model,
    plot_model,
    plot_model_errors,
    plot_model_map,
    plot_model_scatter,
)
from blascast.plots.slices import Slice, slices_of
from blascast.sampler.errors import StoreError, UsageError
from blascast.sampler.setup import Library, Machine, Setup
from blascast.sampler.simulated import SimulatedBackend

mpl.use("Agg")

D, S = (SimulatedBackend(dtype=dtype).setup for dtype in "ds")
ELSEWHERE = Setup(
    Machine("Some CPU", "riscv64", ()),
    Library("BLIS", "9.9", "rv64iv", "libblis-far.so.4", "0" * 12, 64, "", "_"),
    "d",
    4,
    pinned=False,
)


def box(lower: Sequence[int], upper: Sequence[int], exponents: Sequence[Sequence[int]], scale: float = 1.0) -> Piece:
    """A piece on which every monomial takes 1 ms * scale at the upper end; its error is 1 %."""
    coefficients = np.full((len(exponents), len(STATISTICS)), 1e-3 * scale)
    return Piece(Domain(tuple(lower), tuple(upper)), coefficients, 0.01, 0.005, 9)


def made_up(kernel: str, case: str, *bounds: tuple[Sequence[int], Sequence[int]], ld: int = 520, **more: Any) -> Model:
    """A model with such pieces."""
    sizes = len(bounds[0][0])
    exponents = ((0,) * sizes, (1,) * sizes)
    scale = more.pop("scale", 1.0)
    pieces = tuple(box(lower, upper, exponents, scale) for lower, upper in bounds)
    values = {"samples": 12, "taken": 1.0e9, **more}
    key = ModelKey(kernel, case, ld)
    return Model(key, exponents, pieces, "free", "bound", 1.5, values.pop("parameters", Parameters()), **values)


POTF2 = made_up("potf2", "L", ((8,), (64,)), ((64,), (256,)))
TRSM = made_up("trsm", "LLNN -1", ((8, 8), (512, 256)), ld=1032)


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with what two questions brought: potf2, trsm, syrk and gemm, in d and s."""
    folder = tmp_path_factory.mktemp("sampled") / "home"
    asked = {"variants": [1, 2, 3], "library": "simulated", "context": "warm", "home": folder}
    blascast.rank("cholesky", n=300, **asked)  # type: ignore[arg-type]
    blascast.rank("cholesky", n=200, b=64, dtype="s", **asked)  # type: ignore[arg-type]
    return folder


@pytest.fixture
def full(sampled: Path, home: Path) -> Path:
    """A copy of it as the test's own store."""
    shutil.copytree(sampled, home)
    return home


def save(home: Path, *entries: tuple[Setup, Model]) -> None:
    store = Store(home)
    for setup, model in entries:
        store.save_model(setup, model)


Answer = Callable[..., str]


@pytest.fixture
def answer(capsys: pytest.CaptureFixture[str]) -> Answer:
    """The output of a verb of `models` that goes well."""

    def given(*arguments: str) -> str:
        status = run(["models", *arguments])
        out, err = capsys.readouterr()
        assert (status, err) == (0, "")
        return out

    return given


@pytest.fixture
def refusal(capsys: pytest.CaptureFixture[str]) -> Answer:
    """The one line of a verb of `models` that is refused."""

    def given(*arguments: str, status: int = 2) -> str:
        assert run(["models", *arguments]) == status
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("blascast: ")
        assert err.count("\n") == 1
        return err

    return given


# --- naming


def test_models_are_found_by_kernel_case_and_setup(full: Path, answer: Answer) -> None:
    def found(*arguments: str) -> set[tuple[str, str, str]]:
        rows = json.loads(answer("list", *arguments, "--json"))["rows"]
        return {(row["setup"]["dtype"], row["kernel"], row["case"]) for row in rows}

    everything = found()
    assert {kernel for _, kernel, _ in everything} == {"gemm", "potf2", "syrk", "trsm"}
    assert {dtype for dtype, _, _ in everything} == {"d", "s"}
    assert found("TRSM") == found("trsm") == {one for one in everything if one[1] == "trsm"}
    assert found("dtrsm") == {("d", "trsm", "RLTN 1")} == found("dtrsm", "RLTN") == found("dtrsm", "rltn", "1")
    assert found("dtrsm", "LLNN") == set()
    assert found("--dtype", "s") == {one for one in everything if one[0] == "s"}
    assert found("--setup", S.fingerprint[:5]) == found("--setup", S.fingerprint.upper()) == found("--dtype", "s")
    assert found("--threads", "2") == set()
    assert found("--ld", "520", "--library", "simulated") == everything
    assert found("--ld", "1032") == set()


def test_a_library_that_is_not_here(home: Path, answer: Answer) -> None:
    save(home, (ELSEWHERE, POTF2), (D, POTF2))
    for name in ("blis 9", "libblis-far.so.4", "RV64IV"):
        (row,) = json.loads(answer("list", "--library", name, "--json"))["rows"]
        assert row["setup"]["library"]["name"] == "BLIS"
    assert json.loads(answer("list", "--library", "scipy", "--json"))["rows"] == []
    assert "BLIS 9.9 (rv64iv), d, 4 threads, Some CPU" in answer("show", "potf2", "--library", "blis 9")


def test_only_the_files_that_are_needed_are_opened(full: Path, answer: Answer, refusal: Answer) -> None:
    for path in (full / "models").glob("*/trsm-*.json"):
        path.write_text("{")
    assert "dpotf2 L" in answer("show", "dpotf2")
    assert "is corrupt" in refusal("show", "trsm", status=1)
    for path in (full / "models" / S.fingerprint).glob("*.json"):
        path.write_text("{")
    assert "dsyrk" in answer("show", "syrk", "--setup", D.fingerprint[:6])


def test_what_names_no_model_is_told_what_there_is(home: Path, refusal: Answer) -> None:
    assert "no models are stored in" in refusal("show", "gemm")
    save(home, (D, POTF2), (D, TRSM), (ELSEWHERE, TRSM))
    for arguments, message in [
        (("gemmm",), "no stored model has the kernel 'gemmm'; they have trsm, potf2"),
        (("spotf2",), "no stored model has the kernel 'spotf2'"),
        (("trsm", "RLNN"), "no stored model with the kernel 'trsm' has the case 'RLNN'; they have 'LLNN -1'"),
        (("trsm", "LLNN", "--ld", "520"), "with the kernel 'trsm', the case 'LLNN' has the leading dimension 520"),
        (("potf2", "--threads", "4"), "has the number of threads 4; they have 1"),
        (("potf2", "--dtype", "s"), "has the data type 's'; they have d"),
        (("potf2", "--library", "atlantis"), "has the library 'atlantis'; they have simulated 1"),
        (("potf2", "--setup", "0123"), f"has the setup '0123'; they have {D.fingerprint[:6]} (simulated 1, d"),
    ]:
        if arguments[-1] == "0123":
            assert not D.fingerprint.startswith("0123")
        assert message in refusal("show", *arguments)


def test_several_where_one_is_needed(home: Path, refusal: Answer) -> None:
    save(home, (D, POTF2), (D, replace(POTF2, key=ModelKey("potf2", "U", 520))))
    assert "one model is needed, 2 are meant; choose by case" in (message := refusal("show", "potf2"))
    assert message.endswith("dpotf2 L; dpotf2 U\n")
    save(home, (D, replace(POTF2, key=ModelKey("potf2", "L", 1032))), (ELSEWHERE, POTF2))
    message = refusal("plot", "potf2", "L", "--output", "x.png")
    assert "dpotf2 L, ld 1032, setup " in message
    assert "(BLIS 9.9 (rv64iv), d, 4 threads, Some CPU)" in message


def test_many_where_one_is_needed(home: Path, refusal: Answer) -> None:
    cases = [f"{uplo}{trans} {alpha} {beta}" for uplo in "LU" for trans in "NT" for alpha in "01" for beta in "01"]
    save(home, *((D, made_up("syrk", case, ((8, 8), (64, 64)))) for case in cases))
    assert "... (16 in all)" in refusal("show", "syrk")


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"setup": "xyz"}, "first digits of its fingerprint .0 to 9, a to f., got 'xyz'"),
        ({"setup": "*"}, "first digits of its fingerprint"),
        ({"setup": ""}, "first digits of its fingerprint"),
        ({"dtype": "q"}, "the data type must be one of s, d, c, z, got 'q'"),
        ({"threads": 0}, "the number of threads must be a positive integer, got 0"),
        ({"ld": True}, "the leading dimension must be a positive integer, got True"),
        ({"library": 3}, "the library must be given as text, got 3"),
        ({"kernel": 3}, "the kernel must be given as text, got 3"),
    ],
)
def test_filters_that_make_no_sense(filters: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        blascast.list_models(**filters)


# --- list


def test_the_list_fits_on_140_columns(home: Path, answer: Answer) -> None:
    save(home, (D, TRSM), (D, replace(POTF2, ripple=Ripple((0.5,), 0.013, 6), parameters=PEISE2017)))
    save(home, (S, made_up("gemm", "NN -1 other", ((8, 8, 8), (1024, 1024, 1024)), origin="imported from afar")))
    out = answer("list")
    assert max(map(len, out.splitlines())) <= 140
    for heading in ("ripple", "preset", "samples", "taken"):
        assert heading in out
    assert "sgemm NN -1 other   1024x1024x1024" in out
    assert f"{S.fingerprint[:6]}*" in out
    assert "* imported from afar." in out
    assert "peise2017   2001-09-09" in out
    assert "1.3" in out


def test_the_list_says_once_what_is_alike(full: Path, answer: Answer) -> None:
    out = answer("list")
    assert "Preset: default." in out
    assert "Times are for a core of one's own." in out
    for absent in ("preset ", "core  ", "*"):
        assert absent not in out
    assert out.count("dpotf2 L") == 1
    assert out.startswith("8 models in ")


def test_an_empty_list_says_why(home: Path, answer: Answer) -> None:
    assert "No models are stored in" in answer("list")
    save(home, (D, POTF2))
    assert "1 model in" in answer("list", "potf2")
    assert "No stored model has the kernel 'getrf'; they have potf2." in answer("list", "getrf")
    assert len(blascast.list_models("getrf").to_frame()) == 0


def test_the_list_as_json_and_frame(home: Path, answer: Answer) -> None:
    save(home, (D, replace(POTF2, ripple=Ripple((0.5,), 0.013, 6), origin="imported")))
    (row,) = json.loads(answer("list", "--json"))["rows"]
    assert row["ripple"] == {"padding": [0.5], "error": 0.013, "points": 6}
    assert (row["samples"], row["taken"], row["origin"], row["preset"]) == (12, 1.0e9, "imported", "default")
    assert (row["error"], row["worst"], row["noise"], row["pieces"]) == (0.01, 0.01, 0.005, 2)
    frame = blascast.list_models("potf2").to_frame()
    assert frame["setup_fingerprint"].tolist() == [D.fingerprint]


def test_a_model_of_an_unknown_kernel_and_time(home: Path, answer: Answer) -> None:
    """One that a person declared in another process; and a file of version 1 tells no time."""
    save(home, (D, made_up("own_kernel", "", ((8, 8), (64, 64)), taken=0.0)))
    assert "down_kernel   64x64" in answer("list")
    assert "–" in answer("list")
    assert "size 1   size 2" in answer("show", "own_kernel")
    assert "size 1" in answer("show", "down_kernel")


# --- show


def test_a_model_in_full(full: Path, answer: Answer) -> None:
    model = blascast.show_model("dtrsm").model
    out = answer("show", "dtrsm", "RLTN", "1")
    assert out.startswith("dtrsm RLTN 1, ld 520: simulated 1, d, 1 thread, simulated processor")
    for piece in model.pieces:
        m, n = zip(piece.domain.lower, piece.domain.upper, strict=True)
        assert f"{m[0]}..{m[1]}" in out
        assert f"{n[0]}..{n[1]}" in out
    assert f"Setup {D.fingerprint}: library file –, threads pinned." in out
    assert "Parameters: preset default." in out
    assert f"{model.samples} samples, taken in " in out
    assert "Origin" not in out


def test_a_model_as_json_is_what_its_file_holds(full: Path, answer: Answer) -> None:
    shown = json.loads(answer("show", "dpotf2", "--json"))
    held = json.loads((full / "models" / D.fingerprint / "potf2-L-520.json").read_text())
    assert shown["rows"] == held.pop("pieces")
    assert {name: shown[name] for name in held} == held
    assert shown["fingerprint"] == D.fingerprint
    assert "coefficients" in blascast.show_model("dpotf2").to_frame()


def test_what_is_unusual_about_a_model(home: Path, answer: Answer) -> None:
    parameters = Parameters(bound=0.02, overfitting=2)
    own = replace(TRSM, parameters=parameters, ripple=Ripple((0.25, 1.0), 0.013, 6), origin="imported from afar")
    save(home, (D, replace(own, stopped="a whim", samples=1)))
    out = answer("show", "trsm")
    assert "Parameters: the default ones but overfitting 2, bound 0.02." in out
    assert "padded to the next one by m 0.25, n 1.00 of the way; error there 1.3 %, from 6 points." in out
    assert "Sampling ended by: a whim." in out
    assert "1 sample, taken in 1.5 s, the last on 2001-09-09." in out
    assert "Origin: imported from afar." in out


def test_unused_monomials_are_not_counted(home: Path, answer: Answer) -> None:
    coefficients = np.zeros((2, 5))
    unused, none = coefficients.copy(), coefficients
    unused[0] = 1e-3
    pieces = tuple(replace(piece, coefficients=c) for piece, c in zip(POTF2.pieces, (unused, none), strict=True))
    save(home, (D, replace(POTF2, pieces=pieces)))
    lines = answer("show", "potf2").splitlines()[4:6]
    assert [line.split()[-2:] for line in lines] == [["0", "1"], ["–", "0"]]


# --- plot


SIGNATURES = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}


@pytest.mark.parametrize(
    ("names", "suffix"), [(("dpotf2",), ".png"), (("dtrsm", "RLTN"), ".pdf"), (("dgemm",), ".svg")]
)
def test_models_of_one_two_and_three_sizes_are_drawn(
    full: Path, tmp_path: Path, answer: Answer, names: tuple[str, ...], suffix: str
) -> None:
    file = tmp_path / f"plot{suffix}"
    out = answer("plot", *names, "--output", str(file))
    assert f"drawn to {file}" in out
    assert "drawn: map, scatter, heat" in out
    assert file.read_bytes().startswith(SIGNATURES[suffix])


def test_the_plot_that_was_asked_for(full: Path, tmp_path: Path, answer: Answer) -> None:
    file = tmp_path / "plot.PNG"
    answer_ = ("plot", "dgemm", "--kind", "map", "--at", "8,64", "--kind", "map", "--output", str(file), "--json")
    result = json.loads(answer(*answer_))
    assert result["place"] == str(file)
    assert result["rows"][0]["done"] == "drawn: map"
    entry = blascast.show_model("dgemm")
    for kinds, axes in ((["map"], 3), (["scatter"], 2), (["scatter", "heat"], 2 + 3), (["heat", "map"], 3 + 3)):
        figure = draw_model(entry.setup, entry.model, kinds)
        colorbars = sum(kind != "scatter" for kind in kinds)
        assert len(figure.axes) == axes + colorbars


def test_the_map_has_all_pieces_and_points(full: Path) -> None:
    entry = blascast.show_model("dtrsm")
    points = Store(full).load_samples(entry.setup, entry.model.key, entry.model.state)
    (axes,) = plot_model_map(entry.setup, entry.model, Figure())
    boxes = {(p.get_x(), p.get_y(), p.get_width(), p.get_height()) for p in axes.patches}
    assert boxes == {(*d.lower, d.upper[0] - d.lower[0], d.upper[1] - d.lower[1]) for d in entry.model.domains}
    assert {tuple(point) for point in np.transpose(axes.lines[0].get_data()).astype(int).tolist()} == set(points)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("size m", "size n")
    assert axes.get_xscale() == "log"
    assert axes.get_title() == f"{len(boxes)} piece{'s' * (len(boxes) > 1)}, {len(points)} sampled points"


def test_the_dissertations_maps_are_not_logarithmic(home: Path) -> None:
    model = replace(TRSM, parameters=PEISE2017)
    (axes,) = plot_model_map(D, model, Figure())
    assert axes.get_xscale() == "linear"
    (near,) = plot_model_map(D, made_up("trsm", "LLNN 1", ((64, 8), (128, 64))), Figure())
    assert (near.get_xscale(), near.get_yscale()) == ("linear", "log")
    assert near.get_title() == "1 piece, 0 sampled points"


def test_predicted_against_measured(full: Path) -> None:
    entry = blascast.show_model("dtrsm")
    above, below = plot_model_scatter(entry.setup, entry.model, Figure())
    measured, predicted = above.lines[0].get_data()
    np.testing.assert_allclose(predicted, measured, rtol=0.2)
    np.testing.assert_array_equal(*above.lines[1].get_data())
    np.testing.assert_allclose(below.lines[1].get_ydata(), 100 * (predicted / measured - 1))
    assert (above.get_ylabel(), below.get_xlabel(), below.get_ylabel()) == (
        "predicted [s]",
        "measured [s]",
        "error [%]",
    )


def test_every_point_is_in_one_slice(full: Path) -> None:
    entry = blascast.show_model("dgemm")
    points = Store(full).load_samples(entry.setup, entry.model.key, entry.model.state)
    panels = plot_model_errors(entry.setup, entry.model, Figure())
    (low,), (high,) = entry.model.domains[0].lower[2:], entry.model.domains[0].upper[2:]
    assert [axes.get_title() for axes in (panels[0], panels[-1])] == [f"k = {low}", f"k = {high}"]
    drawn = [c.get_offsets() for axes in panels for c in axes.collections if isinstance(c, PathCollection)]
    assert sorted(map(tuple, np.concatenate(drawn).astype(int).tolist())) == sorted(p[:2] for p in points)


def test_errors_along_one_size(full: Path) -> None:
    entry = blascast.show_model("dpotf2")
    (axes,) = plot_model_errors(entry.setup, entry.model, Figure())
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("size n", "predicted above measured [%]")
    assert np.abs(axes.lines[1].get_ydata()).max() < 20


def test_plots_in_figures_of_their_own(full: Path) -> None:
    entry = blascast.show_model("dtrsm")
    for draw in (plot_model_map, plot_model_scatter, plot_model_errors):
        assert draw(entry.setup, entry.model)[0].get_figure() is plt.gcf()
    assert plot_model(entry.setup, entry.model).get_figure() is plt.gcf()
    plt.close("all")


def test_performance_of_complex_types_and_where_nothing_is_computed(home: Path) -> None:
    c = SimulatedBackend(dtype="c").setup
    model = made_up("potrf", "L", ((8,), (64,)))
    real, complex_ = (plot_model(setup, model, Figure().subplots()).lines[0].get_ydata()[-1] for setup in (S, c))
    assert complex_ == pytest.approx(4 * real)
    assert real == pytest.approx(64 * 65 * 129 / 6 / 1e9 / 2e-3)
    copy = plot_model(D, made_up("copy", "inc 1,1", ((8,), (10**6,))), Figure().subplots())
    assert copy.get_ylabel() == "bandwidth [GB/s]"
    assert len(copy.lines[0].get_xdata()) <= 1000
    assert copy.lines[0].get_ydata()[-1] == pytest.approx(2 * 8e6 / 1e9 / 2e-3)


def test_a_gap_between_pieces_is_a_gap_in_the_curve(home: Path) -> None:
    model = made_up("potf2", "L", ((8,), (64,)), ((128,), (256,)), ripple=Ripple((1.0,), 0.01, 3))
    (line,) = plot_model(D, model, Figure().subplots()).lines
    sizes, rates = line.get_data()
    assert set(sizes[np.isnan(rates)]) == set(range(72, 128, 8))


def test_an_imported_model_has_only_a_map(home: Path, tmp_path: Path, answer: Answer, refusal: Answer) -> None:
    save(home, (D, replace(TRSM, origin="imported")), (D, made_up("gemm", "NN 1 1", ((8, 8, 8), (64, 64, 64)))))
    file = str(tmp_path / "plot.png")
    assert "drawn: map" in answer("plot", "trsm", "--output", file)
    message = refusal("plot", "trsm", "--kind", "scatter", "--output", file)
    assert "holds no samples of trsm LLNN -1 (models are imported without them): only its map can be drawn" in message
    assert "no samples of gemm NN 1 1: only" in refusal("plot", "gemm", "--kind", "heat", "--output", file)
    assert "drawn: map" in answer("plot", "gemm", "--output", file)


def test_plots_that_are_refused(home: Path, tmp_path: Path, refusal: Answer) -> None:
    save(home, (D, TRSM), (D, made_up("gemm", "NN 1 1", ((8, 8, 8), (64, 64, 256)))))
    file = str(tmp_path / "plot.png")
    assert "a figure must end in .pdf, .png, .svg, got 'plot.jpg'" in refusal("plot", "trsm", "--output", "plot.jpg")
    assert "a figure needs a folder that exists" in refusal("plot", "trsm", "--output", "/nowhere/plot.png")
    assert "k must be from 8 to 256, where gemm NN 1 1 is modelled, got 999" in refusal(
        "plot", "gemm", "--at", "64,999", "--output", file
    )
    assert "trsm LLNN -1 has the sizes m, n" in refusal("plot", "trsm", "--at", "8", "--output", file)
    assert "'bars' is not one of 'map'" in refusal("plot", "trsm", "--kind", "bars", "--output", file)
    assert "Missing option '--output'" in refusal("plot", "trsm")
    with pytest.raises(UsageError, match="a plot must be one of map, scatter, heat, got 'bars'"):
        draw_model(D, TRSM, ["bars"])


def test_slices() -> None:
    gemm = made_up("gemm", "NN 1 1", ((8, 8, 8), (64, 64, 64)), ((8, 8, 64), (64, 64, 256)))
    assert [one.held for one in slices_of(gemm)] == [(8,), (48,), (256,)]
    assert [one.held for one in slices_of(gemm, (9,))] == [(9,)]
    assert [one.cuts(gemm.domains[0]) for one in slices_of(gemm)] == [True, True, False]
    gbmv = made_up("gbmv", "N 1 1 inc 1,1", ((8, 8, 1, 1), (64, 64, 2, 100)))
    assert [one.held for one in slices_of(gbmv)] == [(1, 8), (2, 8)]
    assert slices_of(TRSM) == [Slice(())]


# --- export and import


def alike(one: Model, other: Model) -> bool:
    same = all(
        (a.domain, a.error, a.noise, a.points) == (b.domain, b.error, b.noise, b.points)
        and np.array_equal(a.coefficients, b.coefficients)
        for a, b in zip(one.pieces, other.pieces, strict=True)
    )
    return (same and replace(one, pieces=()) == replace(other, pieces=())) or (same and fields(one) == fields(other))


def fields(model: Model) -> tuple[Any, ...]:
    return (model.key, model.exponents, model.state, model.stopped, model.seconds, model.parameters, model.samples)


def test_models_are_handed_on(full: Path, tmp_path: Path, answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    file, there = tmp_path / "models.json", tmp_path / "there"
    assert f"8 models written to {file}" in answer("export", "--output", str(file))
    ours = {(setup, model.key): model for setup, model in Store(full).all_models()}
    monkeypatch.setenv("BLASCAST_HOME", str(there))
    out = answer("import", str(file))
    assert f"8 models imported into {there}" in out
    assert out.count("added") == 8
    theirs = {(setup, model.key): model for setup, model in Store(there).all_models()}
    assert set(theirs) == set(ours)
    for name, model in theirs.items():
        assert alike(model, ours[name])
        assert model.taken == ours[name].taken
        assert model.origin.startswith("imported 2")
        assert model.origin.endswith(" from models.json")
    assert "* imported" in answer("list")
    (origin,) = {model.origin for model in theirs.values()}
    trsm = next(model for (setup, key), model in theirs.items() if (setup, key.kernel) == (D, "trsm"))
    assert f"dtrsm RLTN 1, {origin}, ld" in draw_model(D, trsm).get_suptitle()
    few = tmp_path / "few.json"
    answer("export", "--setup", D.fingerprint, "--output", str(few))
    compared = json.loads(answer("compare", D.fingerprint, str(few), "--json"))
    assert (compared["a"]["imported"], compared["b"]["imported"]) == ([origin], [origin])
    assert f", {origin}" in " ".join(answer("compare", D.fingerprint, str(few)).split())


def test_imported_models_are_marked_where_they_are_verified(home: Path, tmp_path: Path, answer: Answer) -> None:
    blascast.build("trsm", sizes={"m": (24, 136), "n": (24, 136)}, library="simulated")
    file = tmp_path / "models.json"
    answer("export", "trsm", "--output", str(file))
    assert "was not made here" not in answer("verify", "trsm", "--library", "simulated")
    answer("import", str(file), "--replace")
    assert "trsm LLNN 1 was not made here: imported 2" in " ".join(
        answer("verify", "trsm", "--library", "simulated").split()
    )
    (row,) = json.loads(answer("verify", "trsm", "--library", "simulated", "--json"))["rows"]
    assert row["origin"].endswith(" from models.json")


def test_some_models_are_exported(full: Path, tmp_path: Path, answer: Answer, refusal: Answer) -> None:
    file = tmp_path / "some.json"
    result = json.loads(answer("export", "dtrsm", "--output", str(file), "--json"))
    assert [(row["kernel"], row["setup"]["dtype"], row["done"]) for row in result["rows"]] == [("trsm", "d", "written")]
    held = json.loads(file.read_text())
    assert (held["format"], held["version"], len(held["models"])) == ("blascast bundle", 1, 1)
    assert held["models"][0] == json.loads((full / "models" / D.fingerprint / "trsm-RLTN_1-520.json").read_text())
    assert "no stored model has the kernel 'getrf'" in refusal("export", "getrf", "--output", str(file))
    assert "a file cannot be written as" in refusal("export", "--output", str(tmp_path))
    with pytest.raises(UsageError, match="the format must be one of json, c, got 'xml'"):
        blascast.export_models(file, format="xml")  # type: ignore[arg-type]


def test_a_c_header(home: Path, tmp_path: Path, answer: Answer, refusal: Answer) -> None:
    save(home, (D, POTF2), (D, TRSM), (S, POTF2))
    file = tmp_path / "models.h"
    assert "2 models written" in answer("export", "--dtype", "d", "--format", "c", "--output", str(file))
    assert "blascast_dpotf2_L(" in (text := file.read_text())
    assert "blascast_dtrsm_LLNN_minus1(" in text
    message = refusal("export", "--format", "c", "--output", str(file))
    assert "a C header is of one setup, these models are of 2; choose with setup" in message
    assert f"{S.fingerprint[:6]}: simulated 1, s" in message


def test_a_model_file_of_a_store_is_imported(home: Path, tmp_path: Path, answer: Answer) -> None:
    save(tmp_path / "there", (ELSEWHERE, TRSM))
    (file,) = (tmp_path / "there").glob("models/*/*.json")
    assert "1 model imported" in answer("import", str(file))
    assert blascast.show_model("trsm").model.origin.endswith("from trsm-LLNN_-1-1032.json")


def test_own_models_are_not_replaced_unasked(home: Path, tmp_path: Path, answer: Answer, refusal: Answer) -> None:
    one, both = tmp_path / "one.json", tmp_path / "both.json"
    one.write_text(bundle_to_json([(D, made_up("potf2", "L", ((8,), (64,)), scale=2))]))
    both.write_text(bundle_to_json([(D, POTF2), (D, TRSM)]))
    save(home, (D, POTF2))
    message = refusal("import", str(both))
    assert "1 model made here would be lost (dpotf2 L), so nothing was imported; --replace takes" in message
    assert len(blascast.list_models().entries) == 1
    assert "replaced the own one" in answer("import", str(one), "--replace")
    assert blascast.show_model("potf2").model.pieces[0].coefficients[0, 0] == 2e-3
    out = answer("import", str(both))  # what is there is imported itself
    assert "replaced the imported one" in out
    assert "added" in out
    assert len(blascast.show_model("potf2").model.pieces) == 2


def test_one_model_twice(home: Path, tmp_path: Path, refusal: Answer) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    one.write_text(bundle_to_json([(D, POTF2)]))
    two.write_text(bundle_to_json([(D, POTF2), (S, POTF2), (D, POTF2)]))
    assert "two.json holds 2 models of potf2 L (ld 520) of the same setup" in refusal("import", str(two), status=1)
    assert "together these files holds 2 models" in refusal("import", str(one), str(one), status=1)
    assert blascast.list_models().entries == ()


BUNDLE = bundle_to_json([(D, POTF2)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is corrupt (JSONDecodeError"),
        (BUNDLE[: len(BUNDLE) // 2], "is corrupt (JSONDecodeError"),
        ("[" * 100_000, "is corrupt (RecursionError"),
        ("[1]", "holds no models of blascast; name a file that 'blascast models export' wrote"),
        ('{"format": "cake"}', "holds no models of blascast"),
        ('{"format": "blascast bundle", "version": 2, "models": []}', "is of version 2, this blascast reads 1; update"),
        ('{"format": "blascast bundle", "version": true}', "is of version True"),
        ('{"format": "blascast bundle"}', "is corrupt (KeyError: 'version'); have it exported anew"),
        ('{"format": "blascast bundle", "version": 1, "models": []}', "is corrupt (ValueError: no models)"),
        ('{"format": "blascast bundle", "version": 1, "models": {"a": 1}}', "is corrupt (ValueError: no models)"),
        (BUNDLE.replace('"blascast model"', '"cake"'), "model 1 of FILE is no model file of blascast"),
        (BUNDLE.replace('"version": 3', '"version": 99'), "model 1 of FILE is of version 99, this blascast reads 1 to"),
        (BUNDLE.replace('"error": 0.01', '"error": NaN'), "nan is no finite number"),
        (BUNDLE.replace("0.001", "NaN"), "coefficients of shape"),
        (BUNDLE.replace('"taken": 1000000000.0', '"taken": 1e300'), "1e+300 is no finite number"),
        (BUNDLE.replace('"samples": 12', '"samples": 1.5'), "1.5 is no integer from 0 to 2^53"),
        (BUNDLE.replace('"points": 9', '"points": -9'), "-9 is no integer from 0"),
        (BUNDLE.replace('"dtype": "d"', '"dtype": "q"'), "no type, threads and pinning"),
        (BUNDLE.replace('"cpu": "simulated', '"cpu": "\\u001b[31m'), "is no printable text"),
        (BUNDLE.replace('"threads": 1', '"threads": [1]'), "[1] is no integer"),
        (BUNDLE.replace('"potf2"', '"gemmm"'), "holds a model of gemmm L: unknown kernel 'gemmm'"),
        (BUNDLE.replace('"case": "L"', '"case": " L"'), "holds a model of potf2  L: its case is written 'L'"),
        (BUNDLE.replace('"case": "L"', '"case": "X"'), "holds a model of potf2 X: 'X' is no case of dpotf2"),
        (BUNDLE.replace('"case": "L"', '"case": "../../L"'), "holds a model of potf2 ../../L: '../../L' is no case"),
        (BUNDLE.replace('"dtype": "d"', '"dtype": "c"').replace("potf2", "dot"), "exists for the data types s, d, not"),
        (
            BUNDLE.replace('"potf2"', '"trsm"').replace('"case": "L"', '"case": "LLNN 1"'),
            "has 2 sizes here, the model 1",
        ),
    ],
)
def test_files_that_are_not_imported(home: Path, tmp_path: Path, refusal: Answer, text: str, message: str) -> None:
    file = tmp_path / "models.json"
    file.write_text(text)
    assert message.replace("FILE", str(file)) in (line := refusal("import", str(file), status=1))
    assert str(file) in line
    assert blascast.list_models().entries == ()


def test_files_that_cannot_be_read(home: Path, tmp_path: Path, refusal: Answer) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff")
    assert "is no text; name a file" in refusal("import", str(tmp_path / "picture.png"), status=1)
    assert "cannot be read: No such file or directory; name another" in refusal("import", str(tmp_path / "none.json"))
    assert "cannot be read: Is a directory" in refusal("import", str(tmp_path))
    assert "Missing argument 'FILES...'" in refusal("import")
    with pytest.raises(UsageError, match="at least one file is needed"):
        blascast.import_models([])


def test_nothing_is_imported_if_one_file_is_wrong(home: Path, tmp_path: Path, refusal: Answer) -> None:
    (tmp_path / "good.json").write_text(BUNDLE)
    (tmp_path / "bad.json").write_text("{")
    refusal("import", str(tmp_path / "good.json"), str(tmp_path / "bad.json"), status=1)
    assert blascast.list_models().entries == ()


def test_the_mark_of_origin_can_be_printed(home: Path, tmp_path: Path, answer: Answer) -> None:
    file = tmp_path / "a\x1b[31mb.json"
    file.write_text(BUNDLE)
    blascast.import_models(file)
    assert "from a?[31mb.json." in answer("show", "potf2")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.text(max_size=40) | st.builds(json.dumps, JSON))
def test_any_text_holds_no_models(text: str) -> None:
    with pytest.raises(StoreError) as caught:
        entries_from_json(text, "file.json")
    assert "\n" not in str(caught.value)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all values in JSON values."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(*path, key) for key, _ in inner] + [place for key, one in inner for place in places(one, (*path, key))]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_change_to_a_bundle_is_read_or_refused(data: st.DataObject) -> None:
    """What is read can be listed and shown, and written again."""
    values = json.loads(BUNDLE)
    *way, last = data.draw(st.sampled_from(places(values)))
    parent = values
    for key in way:
        parent = parent[key]
    if data.draw(st.booleans()):
        parent[last] = data.draw(JSON)
    else:
        del parent[last]
    try:
        entries = entries_from_json(json.dumps(values), "file.json")
    except StoreError as error:
        assert "\n" not in str(error)
        return
    assert entries_from_json(bundle_to_json(entries), "again.json")
    assert str(blascast.stored.listing.ModelsReport(Path("home"), tuple(entries)))
    for entry in entries:
        assert str(blascast.stored.showing.ModelReport(*entry))


# --- compare


def test_two_models_whose_ratio_is_known(home: Path, tmp_path: Path, answer: Answer) -> None:
    slower = made_up("trsm", "LLNN -1", ((8, 8), (512, 256)), ld=1032, scale=1.25)
    save(home, (D, TRSM), (D, POTF2), (ELSEWHERE, slower))
    result = json.loads(answer("compare", D.fingerprint[:6], ELSEWHERE.fingerprint[:6], "--json"))
    (row,) = result["rows"]
    assert (row["kernel"], row["case"], row["ld"]) == ("trsm", "LLNN -1", 1032)
    assert (row["lower"], row["upper"]) == ([8, 8], [512, 256])
    assert row["ratio"] == pytest.approx(dict.fromkeys(("lowest", "median", "p90", "highest"), 1.25))
    assert row["error"] == pytest.approx(0.01 * 2**0.5)
    assert (result["a"]["models"], result["b"]["setup"]["threads"]) == (2, 4)
    out = answer("compare", D.fingerprint[:6], ELSEWHERE.fingerprint[:6])
    assert "trsm LLNN -1   1032   8..512 x 8..256" in out
    assert "1.250" in out
    assert "B: " in out
    assert "4 threads, Some CPU; 1 model, preset default, until 2001-09-09" in out
    assert "Only A: potf2 L." in out
    assert "Only B" not in out
    assert blascast.compare_models(D.fingerprint, ELSEWHERE.fingerprint).to_frame()["ratio_median"][0] == 1.25


def test_where_models_differ_most(home: Path, tmp_path: Path, answer: Answer) -> None:
    """Before and after an update that made small sizes quicker; only sizes that both cover count."""
    before, after = made_up("potf2", "L", ((8,), (256,))), POTF2
    small, large = after.pieces
    after = replace(after, pieces=(replace(small, coefficients=small.coefficients / 4), large))
    file = tmp_path / "before.json"
    file.write_text(bundle_to_json([(D, before)]))
    save(home, (D, after))
    (one,) = blascast.compare_models(file, D.fingerprint[:4]).comparisons
    at = int(one.points[one.most_different][0])
    assert 8 <= at <= 64
    assert one.ratios[one.most_different] == one.ratios.min()
    assert one.domain == Domain((8,), (256,))
    assert set(one.points[:, 0]) >= {8, 16, 64, 256}
    assert f"n = {at}" in answer("compare", str(file), D.fingerprint)


def test_only_common_sizes_are_compared(home: Path, tmp_path: Path) -> None:
    """Two pieces side by side against a box that lies across both and beyond."""
    here = made_up("trsm", "LLNN 1", ((8, 8), (256, 1024)), ((256, 8), (1024, 256)))
    there = made_up("trsm", "LLNN 1", ((128, 128), (512, 2048)))
    (tmp_path / "a.json").write_text(bundle_to_json([(D, here)]))
    (tmp_path / "b.json").write_text(bundle_to_json([(S, there)]))
    (one,) = blascast.compare_models(tmp_path / "a.json", tmp_path / "b.json").comparisons
    assert one.domain == Domain((128, 128), (512, 1024))
    assert (here.piece_of(one.points) >= 0).all()
    assert (there.piece_of(one.points) >= 0).all()
    assert len(one.points) > 1000


def test_what_cannot_be_compared(home: Path, tmp_path: Path, refusal: Answer) -> None:
    save(home, (D, POTF2), (S, TRSM))
    d, s = D.fingerprint[:6], S.fingerprint[:6]
    apart = tmp_path / "apart.json"
    apart.write_text(bundle_to_json([(S, made_up("potf2", "L", ((512,), (1024,))))]))
    several = tmp_path / "several.json"
    several.write_text(bundle_to_json([(D, POTF2), (S, POTF2)]))
    for b, message in ((s, "has trsm LLNN -1 (ld 1032); on no common sizes"), (str(apart), "on no common sizes")):
        assert f"there is nothing to compare: {d} has potf2 L (ld 520); {b}" in (line := refusal("compare", d, b))
        assert message in line
    assert f"{several} stands for 2 setups, one is needed; name it by more digits" in refusal(
        "compare", d, str(several)
    )
    line = refusal("compare", "nothing", d)
    assert "'nothing' is neither a file nor the setup of a stored model; setups: " in line
    assert f"{D.fingerprint[:6]}: simulated 1, d" in line
    assert "holds no models" in refusal("compare", d, str(written(tmp_path / "cake.json", "{}")), status=1)


def test_a_beginning_of_two_fingerprints(home: Path, refusal: Answer) -> None:
    machines = (replace(D, machine=replace(D.machine, cpu=f"cpu {i}")) for i in range(1000))
    twin = next(one for one in machines if one.fingerprint[0] == D.fingerprint[0])
    save(home, (D, POTF2), (twin, POTF2))
    assert "stands for 2 setups" in refusal("compare", D.fingerprint[0], D.fingerprint)


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


# --- remove


def sample_counts(home: Path) -> dict[tuple[str, str], int]:
    store = Store(home)
    counts = {
        (setup.dtype, key.kernel): sum(map(len, store.load_samples(setup, key, "free").values()))
        for setup, key in store.sampled()
    }
    store.close()
    return counts


def test_models_are_removed_and_made_anew_from_their_samples(full: Path, answer: Answer) -> None:
    before = sample_counts(full)
    out = answer("remove", "dtrsm", "RLTN", "1", "--yes")
    assert f"removed from {full}: 1 model\n" in out
    assert "dtrsm RLTN 1   520   model\n" in out
    assert sample_counts(full) == before
    assert len(blascast.list_models().entries) == 7
    assert len(blascast.list_models("dtrsm").entries) == 0
    again = blascast.rank("cholesky", n=300, variants=[1, 2, 3], library="simulated")
    assert len(blascast.list_models("dtrsm").entries) == 1
    assert again.evidence[0].spent.sampling < 0.5


def test_samples_are_removed_with_their_models(full: Path, answer: Answer) -> None:
    before = sample_counts(full)
    result = json.loads(answer("remove", "--dtype", "s", "--samples", "--yes", "--json"))
    assert {row["kernel"] for row in result["rows"]} == {"gemm", "potf2", "syrk", "trsm"}
    assert all(row["done"].startswith("model and ") for row in result["rows"])
    assert sample_counts(full) == {name: count for name, count in before.items() if name[0] == "d"}
    assert {setup.dtype for setup, _ in blascast.list_models().entries} == {"d"}


def test_samples_without_a_model_are_removed(full: Path, answer: Answer, refusal: Answer) -> None:
    answer("remove", "dpotf2", "--yes")
    count = sum(map(len, Store(full).load_samples(D, ModelKey("potf2", "L", 520), "free").values()))
    out = answer("remove", "dpotf2", "--samples", "--yes")
    assert f"removed from {full}: the samples of 1 case\n" in out
    assert int(out.split("520")[1].split()[0]) >= count > 0
    assert "no stored model has the kernel 'dpotf2'" in refusal("remove", "dpotf2", "--samples", "--yes")


def test_everything_is_removed_only_if_that_is_said(full: Path, answer: Answer, refusal: Answer) -> None:
    assert "what to remove must be named" in refusal("remove", "--yes")
    assert "what to remove must be named" in refusal("remove", "--samples", "--yes")
    assert len(blascast.list_models().entries) == 8
    assert "8 models and the samples of 8 cases" in answer("remove", "--all", "--samples", "--yes")
    assert blascast.list_models().entries == ()
    assert sample_counts(full) == {}
    assert "no models are stored" in refusal("remove", "--all", "--yes")


def test_nothing_is_removed_unasked(full: Path, refusal: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    line = refusal("remove", "trsm")
    assert "Remove 2 models (" in line
    assert "dtrsm RLTN 1" in line
    assert "There is no terminal to ask on, so nothing was removed; --yes says yes" in line
    monkeypatch.setattr(sys, "stdin", None)
    assert "no terminal" in refusal("remove", "trsm", "--samples")
    assert "nothing was removed" in str(blascast.remove_models("trsm", confirm=lambda question: False))
    assert len(blascast.list_models().entries) == 8


@pytest.mark.parametrize(("typed", "left"), [("y\n", 7), ("\x04", 8)])  # the latter ends the input
def test_a_terminal_is_asked(full: Path, typed: str, left: int) -> None:
    parent, child = pty.openpty()
    command = [sys.executable, "-P", "-m", "blascast", "models", "remove", "dtrsm"]
    with subprocess.Popen(command, stdin=child, stdout=subprocess.PIPE, stderr=child, text=True) as process:
        os.close(child)
        asked = b""
        while b"[y/N]" not in asked:
            asked += os.read(parent, 1000)
        os.write(parent, typed.encode())
        assert process.stdout is not None
        out = process.stdout.read()
    with contextlib.suppress(OSError):
        os.close(parent)
    assert process.returncode == 0
    assert b"Remove 1 model (dtrsm RLTN 1)?" in asked
    assert ("nothing was removed" in out) == (left == 8)
    assert len(blascast.list_models().entries) == left


# --- files of the store


@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8), st.integers(0, 9)), min_size=2, unique=True))
@example([("", "", 0), (".new", "", 0)])
def test_every_key_has_a_file_of_its_own(keys: list[tuple[str, str, int]]) -> None:
    with contextlib.suppress(UnicodeEncodeError):  # lone surrogates are in no case
        paths = [Store._model_path(types.SimpleNamespace(home=Path("home")), D, ModelKey(*key)) for key in keys]  # type: ignore[arg-type]
        assert len(set(paths)) == len(keys)
        for path in paths:
            assert path.parent == Path("home/models") / D.fingerprint
            assert path.name.endswith(".json")
            assert "\0" not in path.name
            assert not path.name.startswith(".new-")


def test_cases_with_increments_and_strange_marks(home: Path) -> None:
    store = Store(home)
    for case in ("other inc 1,other", "../../x", "a_b", "a b", "100%", "[*]?"):
        model = made_up("axpy", case, ((8,), (64,)))
        store.save_model(D, model)
        loaded = store.load_model(D, model.key)
        assert loaded is not None
        assert loaded.key.case == case
    assert len(store.all_models("axpy")) == 6
    assert store.all_models("a*") == []
    assert (home / "models" / D.fingerprint / "axpy-other_inc_1,other-520.json").is_file()
    assert not list(home.glob("*.json"))
    for _, model in store.all_models():
        store.remove_model(D, model.key)
        store.remove_model(D, model.key)  # that it is gone is no failure
    assert store.all_models() == []


def test_damaged_descriptions_of_setups(full: Path) -> None:
    import sqlite3

    with sqlite3.connect(full / "samples.sqlite") as database:
        database.execute("UPDATE setups SET description = '{}'")
    database.close()
    with pytest.raises(StoreError, match="is corrupt"):
        Store(full).sampled()


def test_every_verb_has_help_with_an_example(answer: Answer) -> None:
    from blascast.cli.models import models

    for verb in ("list", "show", "plot", "export", "import", "compare", "remove"):
        assert verb in models.commands
        out = answer(verb, "--help")
        assert f"Examples:\n    blascast models {verb}" in out
        assert "--json" in out
