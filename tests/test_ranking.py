"""Rankings: sweeps, crossovers, several setups, what a library lacks; predictions and block sizes of all operations."""

import json
from collections.abc import Iterable
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

import blascast
from blascast.algorithms import OPERATIONS, execute, find_variant
from blascast.answers.standings import RankReport, SweepReport
from blascast.cli import run
from blascast.plots import draw_blocksize, draw_rank
from blascast.sampler.call import Call
from blascast.sampler.errors import BlascastError, UsageError
from blascast.sampler.failure import KernelFailed
from blascast.sampler.host.backend import WorkerBackend
from blascast.sampler.kernel import Kernel
from blascast.sampler.simulated import SimulatedBackend

mpl.use("Agg")

SIMULATED = ["--library", "simulated"]
FAST = blascast.preset("fast")


class Lacking(SimulatedBackend):
    """A library without some routines."""

    missing = ("potrf", "potf2")

    def lacks(self, kernels: Iterable[Kernel]) -> list[str]:
        return [kernel.routine(self.setup.dtype) for kernel in kernels if kernel.name in self.missing]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_can_be_asked_about(operation: str) -> None:
    some = list(OPERATIONS[operation].variants)
    some = [*some[:3], *some[-3:]]
    ranking = blascast.rank(operation, 200, b=48, variants=some, library="simulated", parameters=FAST)
    assert isinstance(ranking, RankReport)
    assert [row.candidate.configuration.variant.name for row in ranking.rows] != []
    assert {row.candidate.configuration.variant.name for row in ranking.rows} == set(some)
    medians = [row.candidate.times.median for row in ranking.rows]
    assert medians == sorted(medians)
    assert all(row.candidate.error < row.candidate.times.median for row in ranking.rows)
    best = next(row.candidate for row in ranking.rows if row.contender.variant.block_sizes)
    found = blascast.predict(operation, best.configuration.variant.name, 200, best.configuration.b, library="simulated")
    assert found.candidate.times.median == pytest.approx(best.times.median, rel=0.05)


def test_a_sweep() -> None:
    sweep = blascast.rank("trinv", [100, 300, 200], variants=[1, 2, 3], library="simulated")
    assert isinstance(sweep, SweepReport)
    assert [ranking.problem["n"] for ranking in sweep.rankings] == [100, 200, 300]
    frame = sweep.to_frame()
    assert len(frame) == 9
    for n, rows in frame.groupby("n"):
        alone = blascast.rank("trinv", int(n), variants=[1, 2, 3], library="simulated").to_frame()  # type: ignore[call-overload]
        assert alone["variant"].tolist() == rows["variant"].tolist()
    text = str(sweep)
    for words in ("fastest", "tied with", "efficiency [%]"):
        assert words in text


class Crossing(SimulatedBackend):
    """Of small matrices potrf is quick, of large ones slow."""

    def warm_seconds(self, call: Call) -> float:
        seconds = super().warm_seconds(call)
        return seconds * (call.sizes["n"] / 400) if call.kernel.name == "potrf" else seconds


def test_where_another_variant_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blascast.sampler.backends.SimulatedBackend", Crossing)
    sweep = blascast.rank("cholesky", range(64, 1025, 64), variants=[1, 3, "library"], library="simulated")
    assert isinstance(sweep, SweepReport)
    assert sweep.rankings[0].rows[0].contender.variant.name == "library"
    assert sweep.rankings[-1].rows[0].contender.variant.name != "library"
    assert sweep.crossovers
    for crossover in sweep.crossovers:
        n = [ranking.problem["n"] for ranking in sweep.rankings]
        before, after = (sweep.contenders[i].variant.name for i in (crossover.before, crossover.after))
        first = {ranking.problem["n"]: ranking.rows for ranking in sweep.rankings}
        assert crossover.high in n
        at_high = {row.contender.variant.name: row.candidate.times.median for row in first[int(crossover.high)]}
        assert at_high[after] < at_high[before]
        assert f"{after} is faster for certain" in " ".join(sweep.remarks)


def test_libraries_and_threads_compete(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranking = blascast.rank("lu", 300, variants=[3, 5], library="simulated", threads=[1, 2])
    assert len(ranking.rows) == 4
    assert {(row.contender.variant.name, row.contender.evidence.setup.threads) for row in ranking.rows} == {
        (variant, threads) for variant in ("3", "5") for threads in (1, 2)
    }
    assert ranking.rows[0].contender.evidence.setup.threads == 2
    assert "simulated, 2 threads" in str(ranking)
    figure = tmp_path / "lu.png"
    ask = ["rank", "lu", "--n", "200,300", "--variants", "3,5", "--threads", "1,2", *SIMULATED, "--output", str(figure)]
    assert run([*ask, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["rows"]) == 8
    assert [evidence["setup"]["threads"] for evidence in found["evidence"]] == [1, 2]
    assert figure.stat().st_size > 5000


def test_a_verified_sweep_is_drawn() -> None:
    sweep = blascast.rank("lauum", [100, 200], variants=[1, 2, "lapack"], verify=True, library="simulated")
    assert "fastest measured" in str(sweep)
    (axes,) = draw_rank(sweep).axes
    lines = {line.get_label() for line in axes.lines}
    assert {"1", "2", "lapack", "peak"} <= lines
    assert axes.get_ylabel() == "performance [GFLOP/s]"
    points = [line for line in axes.lines if line.get_marker() == "o"]
    assert len(points) == 3


def test_what_a_library_lacks_is_left_out_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blascast.sampler.backends.SimulatedBackend", Lacking)
    ranking = blascast.rank("cholesky", 200, library="simulated")
    assert [row.contender.variant.name for row in ranking.rows] == ["lapack"]
    assert "Left out: cholesky library (the library's potrf), as simulated has no dpotrf." in ranking.remarks
    with pytest.raises(UsageError, match=r"cholesky 1 .* as simulated has no dpotf2\. Name another library"):
        blascast.rank("cholesky", 200, variants=[1, "lapack"], library="simulated")
    with pytest.raises(UsageError, match=r"cholesky 3 .* cannot be predicted, as simulated has no dpotf2"):
        blascast.predict("cholesky", 3, 200, 64, library="simulated")
    with pytest.raises(UsageError, match="cannot be predicted, as simulated has no dpotf2"):
        blascast.blocksize("cholesky", 3, 200, library="simulated")
    monkeypatch.setattr(Lacking, "missing", ("getf2", "getrf2", "getrf"))
    with pytest.raises(UsageError, match=r"nothing is known of lu 3 .*Name another library"):
        blascast.rank("lu", 200, library="simulated")


def test_models_of_another_setup_answer_what_they_can() -> None:
    built = blascast.rank("cholesky", 200, variants=[1, 3, "recursive"], library="simulated")
    fingerprint = built.evidence[0].setup.fingerprint
    stored = blascast.rank("cholesky", 200, models=fingerprint)
    assert {row.contender.variant.name for row in stored.rows} == {"1", "3", "recursive"}
    assert any("as there are no models of potrf2" in remark for remark in stored.remarks)
    with pytest.raises(UsageError, match="leave out library"):
        blascast.rank("cholesky", 200, models=fingerprint, library="simulated")


def test_block_sizes_are_verified_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = blascast.blocksize("lu", 5, [200, 400], fixed=32, verify=True, library="simulated")
    for row in report.rows:
        assert row.measured is not None
        assert {row.b, *row.curve.plateau, 32} == set(row.measured)
        assert 0.9 < row.measured_yield <= 1
    assert "loss of 32 [%]" in str(report)
    assert len(draw_blocksize(report).axes) == 3
    path = tmp_path / "blocks.svg"
    ask = ["blocksize", "sylvester", "--variant", "m1n2", "--n", "100,200", "--m", "120", *SIMULATED]
    assert run([*ask, "--output", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["m"], row["n"]) for row in found] == [(120, 100), (120, 200)]
    assert path.read_text().startswith("<?xml")


def test_predictions_with_two_block_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["predict", "sylvester", "--variant", "d3m1m2", "--n", "100", "--m", "150", "--b", "32x16", *SIMULATED]
    assert run([*ask, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["m"], found["n"], found["b"]) == (150, 100, [32, 16])
    assert run(["predict", "qr", "--variant", "lapack", "--n", "300", *SIMULATED, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["b"] == [32, 128]
    assert run(["predict", "lu", "--variant", "library", "--n", "300", *SIMULATED]) == 0
    assert "lu library (the library's getrf), m = 300, n = 300:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rank", "cholesky", "--n", "100", "--b", "101"], "the block size must be at most n = 100, got 101"),
        (["rank", "cholesky", "--n", "100", "--b", "0"], "--b must be a positive integer, got 0"),
        (["rank", "cholesky", "--n", "100", "--b", "8x8x8"], "--b must be B or ROWSxCOLUMNS, got '8x8x8'"),
        (["rank", "cholesky", "--n", "100", "--b", "8x8"], "takes 1 block size(s), got 8x8"),
        (["rank", "cholesky", "--n", "100", "--m", "50"], "cholesky is about square matrices, m = 50 cannot be chosen"),
        (["rank", "cholesky", "--n", "100", "--variants", "1,7"], "unknown variant of cholesky '7'; known: 1, 2, 3"),
        (["rank", "cholesky", "--n", "100", "--variants", "1,,2"], "--variants must be names with commas between"),
        (["rank", "lu", "--n", "300:100:100"], "--n must be N or FIRST:LAST:STEP with FIRST <= LAST"),
        (["rank", "lu", "--n", "9000000"], "needs 1.3e+06 GB for its operands"),
        (["rank", "gaxpy", "--n", "100"], "unknown operation 'gaxpy'"),
        (["predict", "cholesky", "--variant", "1", "--n", "100"], "needs a block size b; choose one"),
        (["blocksize", "cholesky", "--variant", "library", "--n", "100"], "has a block size of its own"),
        (["blocksize", "cholesky", "--variant", "1", "--n", "100", "--fixed", "0"], "--fixed must be"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*arguments, *SIMULATED]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_operands_that_an_algorithm_cannot_factorize(real: WorkerBackend) -> None:
    indefinite = np.diag([1.0, 1.0, -1.0, 1.0])
    with pytest.raises(KernelFailed, match=r"dpotf2.*returned info = 1"):
        execute(real, find_variant("cholesky", 3), {"A": indefinite}, 2)
    with pytest.raises(KernelFailed, match=r"dgetf2.*returned info"):
        execute(real, find_variant("lu", 5), {"A": np.zeros((4, 4))}, 2)
    with pytest.raises(KernelFailed, match=r"dtrtri.*returned info = 2"):
        execute(real, find_variant("trinv", "library"), {"A": np.diag([1.0, 0.0, 1.0])}, 2)
    with pytest.raises(KernelFailed, match=r"dtrsyl.*returned info = 1"):
        execute(real, find_variant("sylvester", "m1n1"), {"A": np.eye(4), "B": -np.eye(4), "C": np.ones((4, 4))}, 2)
    for operation, names in (("trinv", range(1, 9)), ("lu-nopiv", range(1, 6))):
        for name in names:
            with pytest.raises(
                BlascastError, match=rf"^{operation} {name} .* a pivot or diagonal entry is zero"
            ) as caught:
                execute(real, find_variant(operation, name), {"A": np.tril(np.ones((4, 4)), -1)}, 2)
            assert "\n" not in str(caught.value)


def test_what_is_left_of_a_domain_may_hold_no_sizes(tmp_path: Path) -> None:
    """Row swaps need k2 <= m: of what a smaller question adds to the models of a larger one, parts have no points."""
    options = {"library": "simulated", "home": tmp_path}
    blascast.blocksize("lu", "lapack", n=range(64, 513, 64), **options)  # type: ignore[arg-type]
    assert blascast.blocksize("lu", "lapack", n=100, **options).to_frame()["n"].tolist() == [100]  # type: ignore[arg-type]


def test_ends_of_the_range_and_unblocked_are_named() -> None:
    report = blascast.blocksize("sylvester", "m1n2", n=500, fixed=5000, library="simulated")
    text = " ".join(str(report).split())
    assert "For n = 500 the fixed block size means unblocked." in text
    assert ("the best is the largest compared" in text) == (report.to_frame()["b"].iloc[0] == 256)
