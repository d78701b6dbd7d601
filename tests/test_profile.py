"""Profiles: what each call takes in an algorithm, alone, and by its model."""

import json
from pathlib import Path

import numpy as np
import pytest

import blascast
from blascast.algorithms import find_variant, scalar_calls
from blascast.cli import run
from blascast.predictors.configurations import Configuration
from blascast.predictors.contexts.aware import aware_jobs
from blascast.predictors.profiles import Profile
from blascast.sampler.program import Run

ASK = ["profile", "cholesky", "--variant", "3", "--n", "200", "--b", "64", "--library", "simulated"]


def test_a_profile_on_the_simulated_machine(tmp_path: Path) -> None:
    report = blascast.profile("cholesky", 3, 200, 64, library="simulated", home=tmp_path)
    found = report.profile
    assert [call.label for call in found.calls] == list(found.labels)
    assert set(found.labels) == {"potf2 L", "trsm RLTN 1", "syrk LN -1 1"}
    # the simulated machine's caches keep whole operands: an algorithm of three calls a step is warm
    np.testing.assert_allclose(found.model, found.alone["warm"], rtol=0.05)
    assert (found.alone["cold"] >= found.alone["warm"]).all()
    total = report.rows[-1]
    assert total.kernel == "all calls"
    assert total.calls == len(found.calls) == sum(row.calls for row in report.rows[:-1])
    assert total.inside == pytest.approx(sum(row.inside for row in report.rows[:-1]))
    assert sum(row.share for row in report.rows[:-1]) == pytest.approx(1.0)
    assert list(report.calls_frame()["kernel"]) == list(found.labels)


def test_time_stamps_tell_all_calls_of_a_run(tmp_path: Path) -> None:
    """On the real engine: as many times as calls, and the run without stamps takes about as long."""
    report = blascast.profile("trinv", 3, 100, 32, home=tmp_path, parameters=blascast.preset("fast"))
    found = report.profile
    assert found.passes.shape == (2, len(found.calls))
    assert (found.passes > 0).any(axis=1).all()
    assert found.totals[0] == pytest.approx(found.passes[0].sum(), rel=0.5)
    assert found.plain[0] == pytest.approx(found.totals[0], rel=0.9)


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figure = tmp_path / "calls.svg"
    assert run([*ASK, "--output", str(figure)]) == 0
    out = capsys.readouterr().out
    assert "between warm and cold" in " ".join(out.split())
    assert "A run without time stamps takes" in out
    assert "number of the call" in figure.read_text()
    assert run([*ASK, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert len(answer["calls"]) == answer["rows"][-1]["calls"]
    assert set(answer["calls"][0]) == {"kernel", "sizes", "inside", "noise", "warm", "cold", "model", "between"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("cholesky --variant 3 --n 200", "needs a block size b; choose one"),
        ("cholesky --variant 9 --n 200 --b 8", "unknown variant of cholesky '9'"),
        ("cholesky --variant 3 --n 200 --b 300", "the block size must be at most n = 200, got 300"),
        ("cholesky --variant 3 --n 900000 --b 64", "needs 1.3e+04 GB for its operands"),
        ("cholesky --variant library --n 200", "is one call; profile a variant that makes several"),
        ("nothing --variant 3 --n 200 --b 8", "unknown operation 'nothing'"),
        ("cholesky --variant 3 --n 200 --b 8 --output x.txt", "a figure must end in .pdf, .png, .svg"),
    ],
)
def test_what_is_refused(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["profile", *arguments.split(), "--library", "simulated"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_aware_calls_follow_those_since_their_operands_last_use() -> None:
    sizes = {"n": 200}
    calls = scalar_calls(find_variant("cholesky", 3), sizes, 64)
    labels = [call.kernel.name for call in calls]
    assert labels[:6] == ["potf2", "trsm", "syrk", "potf2", "trsm", "syrk"]
    jobs = aware_jobs(calls)
    before = [[o.call.kernel.name for o in job.preamble if isinstance(o, Run)] for job in jobs]
    assert before[0] == []
    assert before[1] == ["potf2"]  # which used its triangle; its other operand none before it
    assert before[2] == ["potf2", "trsm"]
    assert before[3] == ["syrk"]
    assert before[4] == ["syrk", "potf2"]
    assert all(job.calls == (call,) for job, call in zip(jobs, calls, strict=True))


def test_row_swaps_are_timed_with_the_pivots_of_their_panel() -> None:
    """Others would point beyond the matrix."""
    calls = scalar_calls(find_variant("lu", 5), {"m": 400, "n": 400}, 64)
    for call, job in zip(calls, aware_jobs(calls), strict=True):
        if call.kernel.name == "laswp":
            pivots = call.views["ipiv"]
            before = [operation.call for operation in job.preamble if isinstance(operation, Run)]
            written = [own.views["ipiv"] for own in before if own.kernel.name == "getf2"]
            assert any((own.row, own.rows) == (pivots.row, pivots.rows) for own in written)


def test_what_lies_between_warm_and_cold() -> None:
    passes = np.array([[1.0, 2.9, 0.4, 5.0, 0.97], [1.0, 2.9, 0.4, 5.0, 0.99]])
    count = passes.shape[1]
    alone = {"warm": np.ones(count), "cold": np.full(count, 3.0)}
    errors = {"warm": np.full(count, 0.005), "cold": np.full(count, 0.1)}
    empty = np.empty(0)
    configuration = Configuration(find_variant("cholesky", 3), {"n": 10}, 5)
    own = Profile(configuration, (), passes, alone, errors, empty, empty, empty)
    assert own.beside("warm").tolist() == [0, 1, -1, 1, 0]
    assert own.beside("cold").tolist() == [-1, 0, -1, 1, -1]
    assert own.bracketed().tolist() == [True, True, False, False, True]
    assert own.noise == pytest.approx([0, 0, 0, 0, 0.02 / 0.98])


def test_an_aware_profile_of_a_factorization_with_pivots(tmp_path: Path) -> None:
    report = blascast.profile("lu", 5, 300, 64, aware=True, home=tmp_path, parameters=blascast.preset("fast"))
    assert (report.profile.alone["aware"] > 0).any()


def test_an_aware_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*ASK, "--aware"]) == 0
    assert "Aware: each call after those that the algorithm makes" in " ".join(capsys.readouterr().out.split())
    assert run([*ASK, "--aware", "--output", str(tmp_path / "aware.svg")]) == 0
    assert "after the calls since the last use" in (tmp_path / "aware.svg").read_text()
    report = blascast.profile("cholesky", 3, 200, 64, aware=True, library="simulated", home=tmp_path)
    np.testing.assert_allclose(report.profile.alone["aware"], report.profile.inside, rtol=0.05)
    assert set(report.to_json()["rows"][0]) >= {"warm", "cold", "aware"}
