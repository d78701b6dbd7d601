"""Answers from stored models alone, of this setup or another, and their verification at fresh points."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import blascast
from blascast.cli import run
from blascast.models.kept.shelf import Shelf
from blascast.models.kept.store import Store
from blascast.models.parameters import preset
from blascast.models.piecewise import ModelKey
from blascast.models.quality.staleness import OLDEST_SECONDS, is_successor, what_changed
from blascast.models.summary import MEDIAN
from blascast.sampler.call import Call
from blascast.sampler.errors import UsageError
from blascast.sampler.setup import Cache, Lapack, Library, Machine, Setup
from blascast.sampler.simulated import Disturbances, SimulatedBackend

SIMULATED = ["--library", "simulated"]
SIZES = {"m": (24, 200), "n": (24, 136)}
FAST = preset("fast")
ELSEWHERE = "imported 2026-11-30 from elsewhere.json"


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., SimulatedBackend]], None]:
    """Makes ``library="simulated"`` another simulated machine."""
    return lambda backend: monkeypatch.setattr("blascast.sampler.backends.SimulatedBackend", backend)


@pytest.fixture
def foreign() -> Setup:
    """A setup of another machine, of which models of a Cholesky and of trsm were imported."""
    blascast.rank("cholesky", n=200, library="simulated")
    setup = replace(SimulatedBackend().setup, machine=Machine("another processor", "none", (Cache(1, 1 << 15),)))
    store = Store()
    for own, model in store.all_models():
        store.save_model(setup, replace(model, origin=ELSEWHERE))
        next((store.home / "models" / own.fingerprint).glob(f"{model.key.kernel}-*")).unlink()
    store.close()
    return setup


def out_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(list(arguments)) == 0
    return capsys.readouterr().out


# --- estimate


def test_estimates_are_those_of_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    (model,) = blascast.build("trsm", sizes=SIZES, library="simulated", parameters=FAST).models
    report = blascast.estimate("trsm", sizes={"m": [32, 100], "n": range(40, 121, 40)}, library="simulated")
    points = np.array([[m, n] for m in (32, 100) for n in (40, 80, 120)])
    frame = report.to_frame()
    np.testing.assert_array_equal(frame[["sizes_m", "sizes_n"]], points)
    np.testing.assert_allclose(frame["time_median"], model.evaluate(points).statistics[:, MEDIAN])
    np.testing.assert_allclose(frame["gflops"], points[:, 0] ** 2 * points[:, 1] / frame["time_median"] / 1e9)
    assert frame["inside"].all()
    out = out_of(capsys, "models", "estimate", "trsm", "LLNN 1", "--sizes", "m=32,n=40:120:40", *SIMULATED)
    assert out.startswith("trsm LLNN 1: simulated 1, d, 1 thread")
    assert len([line for line in out.splitlines() if line.split()[:1] == ["32"]]) == 3
    for word in ("median [ms]", "± [%]", "GFLOP/s", "24..200 x 24..136", "nothing was measured here"):
        assert word in out


def test_estimates_outside(capsys: pytest.CaptureFixture[str]) -> None:
    blascast.build("trsm", sizes=SIZES, library="simulated", parameters=FAST)
    ask = ["models", "estimate", "trsm", "--sizes", "m=400,n=100", *SIMULATED]
    assert run(ask) == 2
    assert "lie outside the model of trsm LLNN 1" in capsys.readouterr().err
    clamped = json.loads(out_of(capsys, *ask, "--outside", "clamp", "--json"))
    inside = blascast.estimate("trsm", sizes={"m": 200, "n": 100}, library="simulated").to_json()
    assert clamped["rows"][0]["time"] == inside["rows"][0]["time"]
    assert not clamped["rows"][0]["inside"]
    assert (clamped["origin"]["outside"], clamped["origin"]["how"]) == (1, "clamp")
    out = out_of(capsys, *ask, "--outside", "extrapolate")
    assert "1 of 1 calls are outside the models' domains: they are extrapolated." in out
    assert "outside" in out.splitlines()[4]


def test_a_kernel_without_flops_has_no_rate() -> None:
    blascast.build("lacpy", sizes={"m": (24, 136), "n": (24, 136)}, library="simulated", parameters=FAST)
    (row,) = blascast.estimate("lacpy", sizes={"m": 64, "n": 64}, library="simulated").to_json()["rows"]
    assert row["gflops"] is None
    assert row["time"]["median"] > 0


def test_the_model_with_the_closest_leading_dimension_answers() -> None:
    blascast.build("trsm", sizes=SIZES, library="simulated", parameters=FAST)
    blascast.build("trsm", sizes={"m": (24, 904), "n": (24, 200)}, library="simulated", parameters=FAST)
    assert blascast.estimate("trsm", sizes={"m": 64, "n": 64}, library="simulated").model.key.ld == 520
    assert blascast.estimate("trsm", sizes={"m": 500, "n": 64}, library="simulated").model.key.ld == 1032
    shelf = Shelf.named(Store(), SimulatedBackend().setup.fingerprint)
    assert shelf.closest(ModelKey("trsm", "LLNN 1", 2056), np.array([[64, 64]])).key.ld == 1032


# --- another setup's models


def test_a_ranking_from_imported_models(foreign: Setup, capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["rank", "cholesky", "--n", "200", "--models", foreign.fingerprint[:5]]
    out = out_of(capsys, *ask)
    assert f"variants each at its best block size: {foreign}" in out
    assert f"From the stored models of setup {foreign.fingerprint} ({foreign}), {ELSEWHERE}" in " ".join(out.split())
    assert "Nothing had to be sampled." in out
    result = json.loads(out_of(capsys, *ask, "--json"))
    assert result["evidence"][0]["setup"]["fingerprint"] == foreign.fingerprint
    assert result["evidence"][0]["origin"]["setup"] == foreign.fingerprint
    assert result["evidence"][0]["origin"]["imported"] == [ELSEWHERE]
    assert result["evidence"][0]["origin"]["outside"] == 0
    assert [row["efficiency"] for row in result["rows"]] == [None] * 6  # its peak is not known here
    assert result["evidence"][0]["noise_floor"] is None
    assert {setup for setup, _ in Store().all_models()} == {foreign}  # nothing was sampled


def test_predictions_and_block_sizes_from_imported_models(foreign: Setup, capsys: pytest.CaptureFixture[str]) -> None:
    models = ["--models", foreign.fingerprint.upper()]
    out = out_of(capsys, "predict", "cholesky", "--variant", "3", "--n", "200", "--b", "64", *models)
    assert ELSEWHERE in out
    assert "of the measured peak" not in out
    out = out_of(capsys, "blocksize", "cholesky", "--variant", "3", "--n", "96,200", *models)
    assert ELSEWHERE in out
    for verb, arguments in (("predict", ["--b", "64"]), ("blocksize", [])):
        ask = [verb, "cholesky", "--variant", "3", "--n", "200", *arguments, *models, "--json"]
        assert json.loads(out_of(capsys, *ask))["evidence"][0]["origin"]["imported"] == [ELSEWHERE]


def test_answers_equal_those_of_the_setup_itself() -> None:
    own = blascast.rank("cholesky", n=200, library="simulated", context="warm")
    stored = blascast.rank("cholesky", n=200, models=own.evidence[0].setup.fingerprint)
    assert own.evidence[0].origin.to_json() is None
    assert stored.evidence[0].origin.to_json() is not None
    for one, other in zip(own.rows, stored.rows, strict=True):
        assert one.candidate.times == other.candidate.times
        assert one.efficiency == other.efficiency


def test_calls_outside_the_models(foreign: Setup, capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["predict", "cholesky", "--variant", "3", "--n", "500", "--b", "64", "--models", foreign.fingerprint]
    assert run(ask) == 2
    err = capsys.readouterr().err
    assert "calls of trsm RLTN 1 lie outside the model of setup" in err
    assert "set outside to clamp or extrapolate" in err
    assert err.count("\n") == 1
    out = out_of(capsys, *ask, "--outside", "clamp")
    assert "calls are outside the models' domains: the nearest sizes inside stand for them." in out
    result = json.loads(out_of(capsys, *ask, "--outside", "extrapolate", "--json"))
    assert 0 < result["evidence"][0]["origin"]["outside"] <= result["evidence"][0]["origin"]["calls"]


def test_imported_models_of_the_own_setup_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    blascast.rank("cholesky", n=200, library="simulated")
    store = Store()
    for setup, model in store.all_models():
        store.save_model(setup, replace(model, origin=ELSEWHERE))
    store.close()
    report = blascast.rank("cholesky", n=200, library="simulated")
    assert f"Uses models of setup {report.evidence[0].setup.fingerprint} that were {ELSEWHERE}." in report.remarks
    assert report.to_json()["evidence"][0]["origin"]["imported"] == [ELSEWHERE]
    larger = blascast.rank("cholesky", n=300, library="simulated")  # its pieces are added to the imported ones
    assert larger.to_json()["evidence"][0]["origin"]["imported"] == [ELSEWHERE]
    assert blascast.build("potf2", sizes={"n": (8, 64)}, library="simulated").origin.imported == (ELSEWHERE,)


ANOTHER = "feedbeef"
REFUSED = [
    (["rank", "trinv", "--n", "200"], "trinv 1 (rows, by the inverse above), as there are no models of trmm, trti2"),
    (["rank", "cholesky-upper", "--n", "200"], "has no model of trsm LUTN 1; it has models of gemm NT -1 1, potf2 L"),
    (["rank", "cholesky", "--n", "200", "--verify"], "nothing can be measured where the stored models"),
    (["rank", "cholesky", "--n", "200", *SIMULATED], "library cannot be chosen; leave out library, or models"),
    (["rank", "cholesky", "--n", "200", "--dtype", "d"], "dtype cannot be chosen"),
    (["rank", "cholesky", "--n", "200", "--threads", "1"], "threads cannot be chosen"),
    (["rank", "cholesky", "--n", "200", "--preset", "fast"], "parameters cannot be chosen"),
    (["rank", "cholesky", "--n", "300000"], "n must be at most 200000 where stored models answer, got 300000"),
    (["models", "estimate", "trsm", "LLNN 1", "--sizes", "m=8,n=8"], "has no model of trsm LLNN 1; it has models of"),
    (["models", "estimate", "trsm", "L 1", "--sizes", "m=8,n=8"], "'L 1' is no case of dtrsm"),
    (["models", "estimate", "trsm", "--sizes", "m=8"], "trsm has the sizes m, n, got m; give each of them"),
    (["models", "estimate", "trsm", "--sizes", "m=8:64,n=8"], "m must be N or FIRST:LAST:STEP"),
    (["models", "estimate", "rotg", "--sizes", "m=8"], "kernel rotg has no sizes"),
    (["models", "estimate", "trsm", "--sizes", "m=1:9999:1,n=1:9999:1"], "at most 100000 combinations of sizes"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_what_stored_models_cannot_answer(
    arguments: list[str], message: str, foreign: Setup, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments, "--models", foreign.fingerprint]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


def test_setups_that_are_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["rank", "cholesky", "--n", "96", "--models"]
    assert run([*ask, ANOTHER]) == 2
    assert "no models are kept in" in capsys.readouterr().err
    for threads in (1, 2):
        blascast.build("trsm", sizes=SIZES, library="simulated", threads=threads, parameters=FAST)
    setups = {setup.fingerprint: setup for setup, _ in Store().all_models()}
    for name in (ANOTHER, ""):
        assert run([*ask, name]) == 2
        err = capsys.readouterr().err
        assert f"no models of a setup {name!r} are kept; there are those of" in err
        assert all(f"{fingerprint} ({setup})" in err for fingerprint, setup in setups.items())
    store = Store()
    (first, second) = setups.values()
    (model,) = [model for setup, model in store.all_models() if setup == first]
    machines = (replace(second.machine, cpu=f"cpu {i}") for i in range(1000))
    like = next(s for m in machines if (s := replace(second, machine=m)).fingerprint[0] == first.fingerprint[0])
    store.save_model(like, model)
    assert run([*ask, first.fingerprint[0]]) == 2
    err = capsys.readouterr().err
    assert f"the setup must be one, {first.fingerprint[0]!r} could be" in err
    assert err.endswith("give more digits\n")


def test_outside_needs_stored_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rank", "cholesky", "--n", "96", "--outside", "clamp", *SIMULATED]) == 2
    assert "outside is about the stored models of a setup" in capsys.readouterr().err
    with pytest.raises(UsageError, match="outside must be one of error, clamp, extrapolate, got 'guess'"):
        blascast.rank("cholesky", n=96, models="0", outside="guess")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="outside must be one of"):
        blascast.estimate("trsm", sizes={"m": 8, "n": 8}, outside=None, library="simulated")  # type: ignore[arg-type]


# --- verify


def test_good_models_are_good(capsys: pytest.CaptureFixture[str]) -> None:
    blascast.build("trsm", "LLNN 1", "RUTN 1", sizes=SIZES, library="simulated", parameters=FAST)
    before = count_of_samples()
    report = blascast.verify_models(library="simulated", seed=1)
    assert count_of_samples() == before  # models must not be fitted to the points they are judged by
    for row in report.to_json()["rows"]:
        assert row["points"] == 20
        assert row["error"]["median"] < 0.01
        assert abs(row["error"]["bias"]) <= row["error"]["median"] <= row["error"]["p90"]
        assert row["coverage"] >= 0.75
        assert 0 < row["noise"] < 0.02
        assert row["one_rate"] > 5 * row["error"]["median"]  # small calls run at lower rates
        assert row["age_seconds"] < 600
        assert row["stale"] == []
    for row in report.rows:
        assert not (row.check.points % 8).any()
    assert report.tally.accepted >= 2 * 2 * 20 * FAST.least_repetitions
    out = out_of(capsys, "models", "verify", "trsm", "RUTN", "1", "--points", "10", "--any-size", *SIMULATED)
    (line,) = [line for line in out.splitlines() if line.startswith(" dtrsm")]
    assert line.split()[:5] == ["dtrsm", "RUTN", "1", "520", "10"]
    assert line.endswith("good")
    for word in (
        "error [%]",
        "p90 [%]",
        "bias [%]",
        "stated [%]",
        "noise [%]",
        "one rate [%]",
        "age [d]",
        "within [%]",
    ):
        assert word in out


def count_of_samples() -> int:
    store = Store()
    found = [store.load_samples(setup, model.key, model.state) for setup, model in store.all_models()]
    return sum(len(samples) for samples_of in found for samples in samples_of.values())


def test_sizes_that_are_no_multiples_of_8() -> None:
    blascast.build("trsm", sizes=SIZES, library="simulated", parameters=FAST)
    (row,) = blascast.verify_models("trsm", any_size=True, library="simulated").rows
    assert (row.check.points % 8).any(axis=0).all()


def test_a_library_that_became_slower_makes_models_stale(machine: Callable) -> None:
    blascast.build("trsm", sizes=SIZES, library="simulated", parameters=FAST)

    class Slower(SimulatedBackend):
        def warm_seconds(self, call: Call) -> float:
            return 1.2 * super().warm_seconds(call)

    machine(Slower)
    report = blascast.verify_models(library="simulated")
    (row,) = report.rows
    assert row.to_json()["error"]["bias"] == pytest.approx(1 / 1.2 - 1, abs=0.02)
    assert row.stale == ("100 % of the points lie beyond 2 standard errors of the model and the noise",)
    assert "trsm LLNN 1 is stale: 100 % of the points" in " ".join(report.remarks)
    assert report.cells()[0][-1] == "stale"


def test_another_clock_makes_models_stale(machine: Callable) -> None:
    blascast.build("trsm", sizes=SIZES, library="simulated", parameters=FAST)
    machine(partial(SimulatedBackend, disturbances=Disturbances(throttled_after=0.0, throttling=1.25)))
    (row,) = blascast.verify_models(library="simulated").rows
    assert "the clock runs at 80 % of what it was then" in row.stale


def test_old_models_are_stale() -> None:
    (model,) = blascast.build("trsm", sizes=SIZES, library="simulated", parameters=FAST).models
    Store().save_model(SimulatedBackend().setup, replace(model, taken=time.time() - OLDEST_SECONDS - 86400))
    (row,) = blascast.verify_models(library="simulated", points=3).rows
    assert row.stale == ("it was sampled 91 days ago",)
    Store().save_model(SimulatedBackend().setup, replace(model, taken=0.0))
    report = blascast.verify_models(library="simulated", points=3)
    assert report.rows[0].stale == ()
    assert report.rows[0].age_seconds is None
    assert report.cells()[0][-2] == "–"


def test_models_of_another_state_are_told() -> None:
    (model,) = blascast.build("trsm", sizes=SIZES, library="simulated", parameters=FAST).models
    (other,) = blascast.build("potf2", sizes={"n": (8, 96)}, library="simulated", parameters=FAST).models
    Store().save_model(SimulatedBackend().setup, replace(other, state="mixed"))
    report = blascast.verify_models(library="simulated", points=5)
    assert report.state == "free" == model.state
    assert "Measured on a core that was free; some models are of one that was mixed." in report.remarks


def test_models_of_setups_that_were_left_are_listed() -> None:
    (model,) = blascast.build("trsm", sizes=SIZES, library="simulated", parameters=FAST).models
    setup = SimulatedBackend().setup
    earlier = replace(setup, library=replace(setup.library, version="0"))
    rebuilt = replace(setup, library=replace(setup.library, build="1f"))
    loose = replace(setup, pinned=False)
    moved = replace(setup, machine=Machine("another processor", "none", ()))
    unrelated = (
        replace(setup, library=replace(setup.library, name="BLIS")),
        replace(setup, threads=2),
        replace(setup, dtype="s"),
    )
    for other in (earlier, rebuilt, loose, moved, *unrelated):
        Store().save_model(other, model)
    report = blascast.verify_models("trsm", library="simulated", points=3)
    assert {other.fingerprint for other, _ in report.outdated} == {
        other.fingerprint for other in (earlier, rebuilt, loose, moved)
    }
    said = " ".join(report.remarks)
    assert f"1 model of setup {earlier.fingerprint}: made with simulated 0, now it is simulated 1: build them" in said
    assert f"setup {rebuilt.fingerprint}: made with another build of simulated 1" in said
    assert f"setup {loose.fingerprint}: made with threads that were not pinned" in said
    assert f"setup {moved.fingerprint}: of another machine (another processor); they answer with --models" in said
    assert len(report.to_json()["outdated"]) == 4


def test_a_library_is_known_by_its_name_whatever_its_version() -> None:
    def setup(file: str, version: str, lapack: Lapack | None = None) -> Setup:
        library = Library("OpenBLAS", version, "SkylakeX", file, "0", 32, "", "_", lapack=lapack)
        return Setup(Machine("p", "x86_64", ()), library, "d", 1, True)

    new = setup("libscipy_openblas-6cdc3b4a.so", "0.3.30")
    assert is_successor(new, setup("libscipy_openblas-0f683016.so", "0.3.29"))
    assert not is_successor(new, new)
    assert not is_successor(new, setup("libscipy_openblas64_-0f683016.so", "0.3.29"))
    assert not is_successor(new, setup("libopenblasp-r0.3.29.so", "0.3.29"))
    assert is_successor(setup("libopenblasp-r0.3.30.so", "0.3.30"), setup("libopenblasp-r0.3.29.so", "0.3.29"))
    assert not is_successor(
        new, setup("libscipy_openblas-0f683016.so", "0.3.29", Lapack("3.12", "liblapack.so.3", "1"))
    )
    assert (
        what_changed(new, setup("libscipy_openblas-0f683016.so", "0.3.29"))
        == "made with OpenBLAS 0.3.29 (SkylakeX), now it is OpenBLAS 0.3.30 (SkylakeX): build them anew"
    )


def test_nothing_to_verify(capsys: pytest.CaptureFixture[str]) -> None:
    assert "No models of this setup are there to verify." in out_of(capsys, "models", "verify", *SIMULATED)
    blascast.build("trsm", sizes=SIZES, library="simulated", parameters=FAST)
    assert "No models of this setup" in out_of(capsys, "models", "verify", "trsm", "RLTN 1", *SIMULATED)
    assert json.loads(out_of(capsys, "models", "verify", "gemm", "--json", *SIMULATED))["rows"] == []


def test_models_of_kernels_that_are_not_known_here() -> None:
    (model,) = blascast.build("trsm", sizes=SIZES, library="simulated", parameters=FAST).models
    Store().save_model(SimulatedBackend().setup, replace(model, key=replace(model.key, kernel="mine")))
    report = blascast.verify_models(library="simulated", points=3)
    assert len(report.rows) == 1
    assert "Not verified, as the kernel is not known here: mine." in report.remarks


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trsn"], "unknown kernel 'trsn'"),
        (["trsm", "LLN 1"], "'LLN 1' is no case of dtrsm"),
        (["--points", "0"], "--points must be a positive integer, got 0"),
    ],
)
def test_wrong_usage_of_verify(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "verify", *arguments, *SIMULATED]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_a_case_needs_its_kernel() -> None:
    with pytest.raises(UsageError, match="name the kernel of 'LLNN 1' too"):
        blascast.verify_models(case="LLNN 1", library="simulated")
    with pytest.raises(UsageError, match=r"points must be a positive integer, got 2\.5"):
        blascast.verify_models(points=2.5, library="simulated")  # type: ignore[arg-type]


@pytest.mark.parametrize("verb", ["build", "verify", "estimate", "list"])
def test_help_has_a_worked_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = out_of(capsys, "models", verb, "--help")
    assert f"Examples:\n    blascast models {verb}" in out
    assert "--json" in out
