"""Building models without a question: what is built, what is refused, what an interrupt leaves; the ripple."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import blascast
from blascast.cli import run
from blascast.models.generation.builder import ModelBuilder
from blascast.models.generation.feasibility import rounded
from blascast.models.generation.need import Need
from blascast.models.generation.workload import Workload
from blascast.models.kept.store import Store
from blascast.models.parameters import PEISE2017, PRESETS, Parameters, preset
from blascast.models.piecewise import Model, ModelKey, Ripple
from blascast.models.sampling import Case, case_named, case_of_call, usual_case
from blascast.models.sizes.domain import Domain
from blascast.models.sizes.lattice import EVEN
from blascast.models.sizes.places import random_points
from blascast.models.summary import MEDIAN
from blascast.predictors.judging import within
from blascast.sampler.call import Call
from blascast.sampler.errors import UsageError
from blascast.sampler.kernels import find_kernel
from blascast.sampler.sampler import Sampler
from blascast.sampler.simulated import QUIET, SimulatedBackend

SIMULATED = ["--library", "simulated"]
SMALL = {"m": (24, 200), "n": (24, 136)}  # below the kink
SMALL_TEXT = "m=24:200,n=24:136"
TRSM = usual_case(find_kernel("trsm"), "d")
GEMM = usual_case(find_kernel("gemm"), "d")
LARGEST_LD = 8200


def tiled(tile: int) -> type[SimulatedBackend]:
    """The simulated machine with a library that works on whole tiles."""

    class Tiled(SimulatedBackend):
        def warm_seconds(self, call: Call) -> float:
            padded = tuple(-(-size // tile) * tile for size in call.sizes.values())
            return super().warm_seconds(case_of_call(call).call(padded, LARGEST_LD))

    return Tiled


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., SimulatedBackend]], None]:
    """Makes ``library="simulated"`` another simulated machine."""
    return lambda backend: monkeypatch.setattr("blascast.sampler.backends.SimulatedBackend", backend)


# --- what is built


def test_a_model_of_given_sizes() -> None:
    report = blascast.build("trsm", "RLTN 1", sizes=SMALL, library="simulated")
    (model,) = report.models
    assert (model.key.kernel, model.key.case) == ("trsm", "RLTN 1")
    sizes = np.random.default_rng(0).integers([24, 24], [201, 137], (200, 2))
    assert model.covers(sizes).all()
    backend = SimulatedBackend()
    case = case_named(find_kernel("trsm"), "RLTN 1", "d")
    true = [backend.warm_seconds(case.call(tuple(point), LARGEST_LD)) for point in sizes.tolist()]
    np.testing.assert_allclose(model.evaluate(sizes).statistics[:, MEDIAN], true, rtol=0.03)
    assert model.error < 0.01
    (row,) = report.to_frame().to_dict("records")
    assert row["sizes_m"] == [24, 200]
    assert row["samples"] >= row["points"] * Parameters().least_repetitions
    assert row["cost"] > 0
    assert row["stopped"] in ("bound", "noise", "no gain", "minimum width")


def test_the_same_command_finds_everything_in_the_store() -> None:
    first = blascast.build("trsm", sizes=SMALL, library="simulated")
    again = blascast.build("trsm", sizes=SMALL, library="simulated")
    assert first.tally.accepted > 0
    assert again.tally.accepted == 0
    assert again.models[0].domains == first.models[0].domains
    assert again.models[0].ripple == first.models[0].ripple
    assert "Nothing had to be sampled" in str(again)


def test_several_cases_at_once() -> None:
    report = blascast.build("trsm", "LLNN 1", "RUTN -1", "LLNN 1", sizes=SMALL, library="simulated")
    assert [model.key.case for model in report.models] == ["LLNN 1", "RUTN -1"]
    assert len(blascast.list_models().entries) == 2


def test_a_single_size() -> None:
    (model,) = blascast.build("gemm", sizes={"m": (24, 136), "n": (24, 136), "k": 30}, library="simulated").models
    assert {domain.lower[2] for domain in model.domains} == {30} == {domain.upper[2] for domain in model.domains}
    backend = SimulatedBackend(disturbances=QUIET)
    point = (96, 64, 30)
    found = model.evaluate(np.array([point])).statistics[0, MEDIAN]
    assert found == pytest.approx(backend.warm_seconds(GEMM.call(point, 520)), rel=0.02)
    assert model.ripple is not None
    assert model.ripple.padding[2] == 0


def test_models_of_other_preconditions_are_others(capsys: pytest.CaptureFixture[str]) -> None:
    """Cold operands cost the simulated machine time of their own; models and samples are kept beside warm ones."""
    states = ("warm", "cold by flush", "B cold", "touched A, 64KiB, B")
    found = {}
    for state in states:
        report = blascast.build("trsm", sizes=SMALL, precondition=state, library="simulated")
        assert report.models[0].key.precondition == state
        assert report.tally.accepted > 0
        found[state] = report.models[0].evaluate(np.array([[120, 80]])).statistics[0, MEDIAN]
    assert found["cold by flush"] > 1.02 * found["B cold"] > 1.02 * found["warm"]
    assert found["touched A, 64KiB, B"] == pytest.approx(found["warm"], rel=0.02)
    listed = blascast.list_models().to_frame()
    assert sorted(listed["precondition"]) == sorted(states)
    (one,) = blascast.list_models("trsm", precondition="B cold").to_frame().to_dict("records")
    assert one["precondition"] == "B cold"
    assert run(["models", "list", "--precondition", "B  cold"]) == 0
    assert "dtrsm LLNN 1 (B cold)" in capsys.readouterr().out
    verified = blascast.verify_models("trsm", library="simulated")
    assert {row.check.model.key.precondition: not row.stale for row in verified.rows} == dict.fromkeys(states, True)
    assert blascast.show_model("trsm").model.key.precondition == "warm"
    blascast.remove_models("trsm", precondition="B cold", samples=True)
    assert sorted(blascast.list_models().to_frame()["precondition"]) == sorted(set(states) - {"B cold"})


@pytest.mark.parametrize(
    ("kernel", "dtype", "sizes"),
    [
        ("laswp", "d", {"n": (24, 136), "k2": (8, 64), "m": (64, 200)}),
        ("larfb", "d", {"m": (64, 136), "n": (24, 136), "k": (8, 64)}),
        ("larft", "s", {"n": (64, 136), "k": (8, 64)}),
        ("geqrf", "z", {"m": (24, 136), "n": (24, 136)}),
        ("getrf2", "c", {"m": (24, 136), "n": (24, 136)}),
        ("trsyl", "d", {"m": (24, 136), "n": (24, 136)}),
        ("lacgv", "z", {"n": (24, 1000)}),
        ("subt", "d", {"m": (24, 136), "n": (24, 136)}),
        ("rot", "c", {"n": (24, 1000)}),
    ],
)
def test_odd_kernels(kernel: str, dtype: str, sizes: dict[str, tuple[int, int]]) -> None:
    """Pivots, reflectors, vectors, integers that no argument tells; all within what verification sees."""
    report = blascast.build(kernel, sizes=sizes, dtype=dtype, library="simulated", parameters=preset("fast"))
    assert report.models[0].covers(np.array([list(map(max, sizes.values()))])).all()
    (row,) = blascast.verify_models(kernel, dtype=dtype, library="simulated", seed=0).to_json()["rows"]
    assert row["points"] >= 5
    assert row["error"]["median"] < 0.05


def test_models_of_other_threads_are_others() -> None:
    one = blascast.build("trsm", sizes=SMALL, library="simulated")
    two = blascast.build("trsm", sizes=SMALL, library="simulated", threads=2)
    assert one.setup.fingerprint != two.setup.fingerprint
    assert two.tally.accepted > 0
    point = np.array([[160, 96]])
    ratio = one.models[0].evaluate(point).statistics / two.models[0].evaluate(point).statistics
    assert ratio[0, MEDIAN] == pytest.approx(2**0.9, rel=0.05)


def test_a_larger_build_keeps_the_pieces_that_are_there() -> None:
    (small,) = blascast.build("trsm", sizes=SMALL, library="simulated").models
    (large,) = blascast.build("trsm", sizes={"m": (24, 240), "n": (24, 136)}, library="simulated").models
    assert large.domains[: len(small.domains)] == small.domains
    assert max(domain.upper[0] for domain in large.domains) == 240


def test_a_build_goes_on_where_a_question_was_content() -> None:
    """A question samples what it needs; a build then refines all of the domain, which has a kink."""
    sizes = np.array([[512, 128]])
    need = Need(TRSM, (Domain((8, 8), (512, 128)),), Workload(sizes, np.zeros(1, dtype=np.int64), 1))
    builder = ModelBuilder(Sampler(SimulatedBackend()), Store(), PRESETS["fast"])
    (coarse,) = builder.provide([need], within(0.5)).values()
    assert coarse.worst_error > PRESETS["fast"].bound
    fine = built(SimulatedBackend(), TRSM, *need.domains)
    assert fine.worst_error < coarse.worst_error / 2
    assert fine.samples > coarse.samples


def test_a_build_whose_time_was_up_goes_on() -> None:
    sizes = {"m": (8, 512), "n": (8, 128)}
    brief = blascast.build("trsm", sizes=sizes, library="simulated", parameters=preset("fast", seconds=1e-9))
    assert brief.models[0].stopped == "budget"
    assert "budget of time" in str(brief)
    assert brief.to_json()["parameters"]["seconds"] == 1e-9
    done = blascast.build("trsm", sizes=sizes, library="simulated", parameters=preset("fast"))
    assert done.tally.accepted > 0
    assert done.models[0].stopped != "budget"
    assert done.models[0].worst_error < brief.models[0].worst_error / 2


def test_an_interrupted_build_resumes(machine: Callable, home: Path) -> None:
    sizes = dict.fromkeys("mnk", (24, 520))

    class Interrupted(SimulatedBackend):
        programs = 0

        def run(self, operations, *rest):  # type: ignore[no-untyped-def]
            self.programs += 1
            if self.programs == 4:
                raise KeyboardInterrupt
            return super().run(operations, *rest)

    machine(partial(SimulatedBackend, disturbances=QUIET))
    whole = blascast.build("gemm", sizes=sizes, library="simulated", home=home / "whole")
    machine(partial(Interrupted, disturbances=QUIET))
    with pytest.raises(KeyboardInterrupt):
        blascast.build("gemm", sizes=sizes, library="simulated")
    kept = Store().load_samples(whole.setup, whole.models[0].key, "free")
    count = sum(map(len, kept.values()))
    assert 0 < count < whole.tally.accepted
    machine(partial(SimulatedBackend, disturbances=QUIET))
    resumed = blascast.build("gemm", sizes=sizes, library="simulated")
    assert resumed.tally.accepted == whole.tally.accepted - count
    assert resumed.models[0].domains == whole.models[0].domains


def test_bounds_are_rounded_outwards() -> None:
    assert rounded(Domain((30, 5, 100), (500, 100, 107))) == Domain((24, 1, 100), (504, 104, 107))
    report = blascast.build("trsm", sizes={"m": (30, 130), "n": (3, 101)}, library="simulated")
    assert report.to_json()["rows"][0]["sizes"] == {"m": [24, 136], "n": [1, 104]}


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["models", "build", "trsm", "LLNN 1", "--sizes", SMALL_TEXT, *SIMULATED]
    assert run([*command, "--preset", "fast", "--set", "bound=0.05", "--set", "reference=min", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["preset"] == "own"
    assert (result["parameters"]["bound"], result["parameters"]["reference"]) == (0.05, 0.0)
    assert result["parameters"]["most_repetitions"] == PRESETS["fast"].most_repetitions
    (row,) = result["rows"]
    assert {"case", "ld", "sizes", "pieces", "error", "worst", "noise", "samples", "points", "cost"} <= set(row)
    assert row["ripple"]["points"] > 0
    assert run(command) == 0
    out = capsys.readouterr().out
    assert out.startswith("1 model of trsm, parameters default: simulated 1, d, 1 thread")
    for word in (
        "sizes",
        "pieces",
        "error [%]",
        "noise [%]",
        "samples",
        "points",
        "cost [s]",
        "stopped by",
        "m=24..200",
    ):
        assert word in out
    assert "sizes off the multiples of 8 cost" in out


def test_help_lists_all_parameters_of_all_presets(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "build", "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    table = {words[0]: words[1:] for line in lines if (words := line.split()) and len(words) == 1 + len(PRESETS)}
    assert table["parameter"] == list(PRESETS)
    assert table["cuts"] == [parameters.cuts for parameters in PRESETS.values()]
    assert table["minimum_width_3d_threaded"] == ["32", "32", "32", "256"]
    assert table["seconds"] == ["60", "15", "600", "inf"]
    assert set(Parameters.__dataclass_fields__) <= set(table)


def test_questions_take_presets_and_settings(capsys: pytest.CaptureFixture[str]) -> None:
    for command in (
        ["rank", "cholesky", "--n", "96", "--b", "32"],
        ["predict", "cholesky", "--variant", "3", "--n", "96", "--b", "32"],
        ["blocksize", "cholesky", "--variant", "3", "--n", "96"],
    ):
        assert run([*command, "--preset", "fast", "--set", "precision=0.05", *SIMULATED]) == 0
    capsys.readouterr()
    stored = {model.parameters for _, model in blascast.list_models().entries}
    assert stored == {replace(PRESETS["fast"], precision=0.05)}


# --- what is refused

BUILD = ["models", "build"]
REFUSED = [
    ([*BUILD, "trsn", "--sizes", "m=8:64,n=8:64"], "unknown kernel 'trsn'; known: trsv, trsm"),
    ([*BUILD, "trsm", "LLN 1", "--sizes", SMALL_TEXT], "'LLN 1' is no case of dtrsm"),
    ([*BUILD, "rotg", "--sizes", "n=8:64"], "kernel rotg has no sizes: its time is a single number"),
    ([*BUILD, "lauum", "--sizes", "n=8:64", "--dtype", "q"], "'q' is not one of 's', 'd'"),
    ([*BUILD, "trsm"], "Missing option '--sizes'"),
    ([*BUILD, "trsm", "--sizes", "m=8:64"], "trsm has the sizes m, n, got m; give each of them"),
    ([*BUILD, "trsm", "--sizes", "m=8:64,n=8:64,k=8"], "trsm has the sizes m, n, got m, n, k; give each"),
    ([*BUILD, "trsm", "--sizes", "m=64:8,n=8:64"], "m must be LOWEST:HIGHEST, got 64:8; did you mean 8:64?"),
    ([*BUILD, "trsm", "--sizes", "24:536,24:4152"], "--sizes must be NAME=LOWEST:HIGHEST, with commas between"),
    ([*BUILD, "trsm", "--sizes", "m=8:64,m=8:32"], "--sizes must give m once, got 8:64 and 8:32"),
    ([*BUILD, "trsm", "--sizes", "m=8:64:8,n=8"], "m must be LOWEST:HIGHEST or a single size, got '8:64:8'"),
    ([*BUILD, "trsm", "--sizes", "m=0:64,n=8"], "m must be a positive integer, got 0"),
    ([*BUILD, "trsm", "--sizes", "m=a:64,n=8"], "m must be a positive integer, got 'a'"),
    ([*BUILD, "potf2", "--sizes", "n=24:40"], "n = 24:40 has 3 sizes to sample, too few for a polynomial of degree 3"),
    ([*BUILD, "trsm", "--sizes", "m=8:1000000,n=8:1000000"], "needs 3.36e+04 GB for its operands"),
    ([*BUILD, "trsm", "--sizes", SMALL_TEXT, "--set", "bound=0"], "bound must be positive, got 0"),
    ([*BUILD, "trsm", "--sizes", SMALL_TEXT, "--set", "bound=nan"], "bound must be positive, got nan"),
    ([*BUILD, "trsm", "--sizes", SMALL_TEXT, "--set", "bound"], "--set must be NAME=VALUE, got 'bound'"),
    ([*BUILD, "trsm", "--sizes", SMALL_TEXT, "--set", "bond=1"], "unknown parameter 'bond'; known: cuts"),
    ([*BUILD, "trsm", "--sizes", SMALL_TEXT, "--set", "overfitting=1.5"], "overfitting must be an integer, got '1.5'"),
    ([*BUILD, "trsm", "--sizes", SMALL_TEXT, "--set", "bound=1%"], "bound must be a number, got '1%'"),
    ([*BUILD, "trsm", "--sizes", SMALL_TEXT, "--set", "reference=mean"], "reference must be min, median, max or a"),
    ([*BUILD, "trsm", "--sizes", SMALL_TEXT, "--set", "reference=1.5"], "must be a quantile from 0 to 1, got 1.5"),
    ([*BUILD, "trsm", "--sizes", SMALL_TEXT, "--set", "precision=inf"], "precision must be finite, got inf"),
    ([*BUILD, "trsm", "--sizes", SMALL_TEXT, "--set", "oversampling=-1"], "too few points for the degree"),
    ([*BUILD, "trsm", "--sizes", SMALL_TEXT, "--set", "cuts=thirds"], "cuts must be 'fitted' or 'halves'"),
    (
        [*BUILD, "trsm", "--sizes", SMALL_TEXT, "--set", "least_repetitions=99"],
        "1 <= least <= most, got least 99, most",
    ),
    (
        [*BUILD, "trsm", "--sizes", SMALL_TEXT, "--set", "minimum_width=512"],
        "the minimum width 512 exceeds the domain's largest width 176 (24..200 x 24..136): nothing could be cut",
    ),
    (
        [*BUILD, "trsm", "--sizes", SMALL_TEXT, "--preset", "peise2017", "--set", "minimum_width=8"],
        "a minimum width of 8 leaves 2 sizes to sample in a piece, too few for a polynomial of degree 4; choose at",
    ),
    ([*BUILD, "trsm", "--sizes", SMALL_TEXT, "--precondition", "lukewarm"], "a precondition is warm, cold by flush"),
    ([*BUILD, "trsm", "--sizes", SMALL_TEXT, "--precondition", "Q cold"], "trsm has the operands A, B, not 'Q'"),
    ([*BUILD, "trsm", "--sizes", SMALL_TEXT, "--preset", "slow"], "'slow' is not one of 'default', 'fast'"),
    ([*BUILD, "trsm", "--sizes", SMALL_TEXT, "--threads", "5"], "5 threads need as many CPUs"),
    (["rank", "cholesky", "--n", "96", "--set", "bound=x"], "bound must be a number, got 'x'"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_wrong_usage_costs_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    assert run([*arguments, *SIMULATED]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("blascast: ")
    assert message in err
    assert err.count("\n") == 1
    assert not (home / "samples.sqlite").exists() or not Store().all_models()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"sizes": {"m": (24, 64), "n": (8.5, 64)}}, "n must be a positive integer, got 8.5"),
        ({"sizes": {"m": (24, 64), "n": (8, 64, 8)}}, "n must be a positive integer"),
        ({"sizes": {}}, "trsm has the sizes m, n, got none"),
        ({"sizes": SMALL, "threads": "2"}, "the number of threads must be a positive integer, got '2'"),
        ({"sizes": SMALL, "dtype": "q"}, "the data type must be one of"),
    ],
)
def test_arguments_that_make_no_sense(wrong: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        blascast.build("trsm", **{"library": "simulated", **wrong})


def test_a_preset_by_name_with_changes() -> None:
    assert preset() == Parameters()
    assert preset("peise2017") is not None
    assert preset("peise2017", reference="max") == replace(PEISE2017, reference=1.0)
    assert preset("fast", least_repetitions=np.int64(5)).least_repetitions == 5
    for wrong in ({"overfitting": True}, {"overfitting": 1.5}, {"overfitting": None}, {"bound": "inf%"}):
        with pytest.raises(UsageError):
            preset("fast", **wrong)
    with pytest.raises(UsageError, match="unknown preset 'slow'; known: default, fast, accurate, peise2017"):
        preset("slow")


def test_a_minimum_width_of_a_preset_is_never_refused() -> None:
    """Of a small domain nothing is cut by the dissertation's parameters."""
    parameters = preset("peise2017", oversampling=0)
    report = blascast.build("trsm", sizes={"m": (24, 48), "n": 64}, library="simulated", parameters=preset("fast"))
    assert len(report.models) == 1
    with pytest.raises(UsageError, match="too few for a polynomial of degree 4 in m"):
        blascast.build("trsm", sizes={"m": (24, 48), "n": 64}, library="simulated", parameters=parameters)


# --- the ripple


def built(backend: SimulatedBackend, case: Case, domain: Domain) -> Model:
    (model,) = ModelBuilder(Sampler(backend), Store(), PRESETS["fast"]).provide([Need(case, (domain,))]).values()
    return model


def misfit(model: Model, case: Case, backend: SimulatedBackend, low: int, high: int) -> float:
    """Root mean square relative error at random sizes."""
    sizes = np.random.default_rng(1).integers(low, high + 1, (300, len(case.kernel.sizes)))
    true = [backend.warm_seconds(case.call(tuple(point), LARGEST_LD)) for point in sizes.tolist()]
    return float(np.sqrt(np.mean((model.evaluate(sizes).statistics[:, MEDIAN] / true - 1) ** 2)))


def test_tiles_of_8_are_learnt() -> None:
    backend = tiled(8)()
    model = built(backend, GEMM, Domain((8, 8, 8), (264, 264, 264)))
    assert model.ripple is not None
    np.testing.assert_allclose(model.ripple.padding, 1.0, atol=0.1)
    assert model.ripple.error < 0.01
    assert misfit(model, GEMM, backend, 16, 264) < 0.02
    assert misfit(replace(model, ripple=None), GEMM, backend, 16, 264) > 0.05


def test_tiles_of_4_are_learnt_in_part_and_the_error_says_so() -> None:
    backend = tiled(4)()
    model = built(backend, GEMM, Domain((8, 8, 8), (264, 264, 264)))
    assert model.ripple is not None
    assert all(0.2 < padding < 0.7 for padding in model.ripple.padding)
    left = misfit(model, GEMM, backend, 16, 264)
    assert left < misfit(replace(model, ripple=None), GEMM, backend, 16, 264)
    assert left / 3 < model.ripple.error < 3 * left


def test_where_there_is_no_ripple_none_is_learnt() -> None:
    backend = SimulatedBackend()
    model = built(backend, GEMM, Domain((8, 8, 8), (264, 264, 264)))
    assert model.ripple is not None
    np.testing.assert_allclose(model.ripple.padding, 0.0, atol=0.1)
    assert model.ripple.error < 0.01


def test_the_report_says_how_large_the_ripple_is(machine: Callable) -> None:
    machine(tiled(8))
    report = blascast.build(
        "gemm", sizes=dict.fromkeys("mnk", (8, 264)), library="simulated", parameters=preset("fast")
    )
    (row,) = report.to_json()["rows"]
    assert row["ripple"]["surcharge"] == pytest.approx((48 / 41) ** 3 - 1, rel=0.3)
    assert any("cost up to" in remark and "(at 41 x 41 x 41)" in remark for remark in report.remarks)


def test_points_of_the_ripple_are_not_fitted_to() -> None:
    """Built again from its samples, a model is of multiples of 8 alone."""
    backend = tiled(8)()
    domain = Domain((8, 8, 8), (264, 264, 264))
    model = built(backend, GEMM, domain)
    samples = Store().load_samples(backend.setup, model.key, "free")
    assert any(size % 8 for point in samples for size in point)
    for path in Store().home.glob("models/*/*.json"):
        path.unlink()
    again = built(tiled(8)(), GEMM, domain)
    assert again.error < 0.01
    assert misfit(again, GEMM, backend, 16, 264) < 0.02


def test_the_lattice_knows_its_points() -> None:
    domain = Domain((1, 30, 100), (64, 40, 100))
    points = np.array([[1, 30, 100], [8, 31, 100], [9, 31, 100], [64, 40, 101], [64, 41, 100], [72, 40, 100]])
    assert EVEN.contains(domain, points).tolist() == [True, True, False, False, False, False]


def rippled(n: int, b: int = 24) -> dict[ModelKey, Ripple | None]:
    blascast.predict("cholesky", 3, n, b, library="simulated")
    return {model.key: model.ripple for _, model in blascast.list_models().entries}


def test_a_question_has_the_ripple_examined_where_it_matters() -> None:
    assert set(rippled(240).values()) == {None}  # all calls at multiples of 8
    found = rippled(251)
    assert found.keys() == rippled(240).keys()
    by_kernel = {key.kernel: ripple for key, ripple in found.items()}
    assert by_kernel["syrk"] is not None
    assert by_kernel["trsm"] is not None
    assert by_kernel["potf2"] is None  # one call of eleven, and that is short
    assert found == rippled(251)  # once known, it is not examined again


def test_a_question_prefers_its_own_calls() -> None:
    backend = SimulatedBackend(disturbances=QUIET)
    sizes = np.array([[m, 64] for m in range(33, 130, 8)])
    need = Need(TRSM, (Domain((8, 8), (136, 72)),), Workload(sizes, np.zeros(len(sizes), dtype=np.int64), 1))
    (model,) = ModelBuilder(Sampler(backend), Store()).provide([need], within(0.01)).values()
    assert model.ripple is not None
    samples = Store().load_samples(backend.setup, model.key, model.state)
    off = [point for point in samples if point[0] % 8]
    assert len(off) == 8
    assert {tuple(point) for point in off} <= set(map(tuple, sizes.tolist()))


def test_a_model_that_grows_keeps_its_ripple() -> None:
    first = rippled(251)
    assert {key: first[key] for key in first if first[key]}.items() <= rippled(384).items()


def test_random_points_are_inside_distinct_and_at_multiples_of_8() -> None:
    (model,) = blascast.build("trsm", sizes={"m": (24, 200), "n": (40, 50)}, library="simulated").models
    random = np.random.default_rng(0)
    points = random_points(model, TRSM, 30, np.array([False, False]), random)
    assert len(np.unique(points, axis=0)) == 30
    assert model.covers(points).all()
    assert not (points[:, 0] % 8).any()
    assert (points[:, 1] % 8).any()  # too narrow for multiples of 8
    assert (random_points(model, TRSM, 30, np.array([True, False]), random)[:, 0] % 8).any()
    everything = random_points(model, TRSM, 500, np.array([False, False]), random)
    assert len(everything) == 23 * 11
