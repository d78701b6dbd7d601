"""The command line on the simulated machine: what it prints, and how it refuses."""

import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import sqlite3
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blascast.cli import cli, run
from blascast.cli.options import parse_size, parse_sizes
from blascast.sampler.errors import UsageError
from blascast.sampler.resources import allowed_cpus

SIMULATED = ["--library", "simulated"]


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run([*arguments, *SIMULATED]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def answer_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads(answer(capsys, *arguments, "--json"))


STATISTICS = {"min", "median", "mean", "max", "std"}


def test_rank_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    out = answer(capsys, "rank", "cholesky", "--n", "600")
    for heading in ("class", "variant", "name", "b", "time [ms]", "± [%]", "GFLOP/s", "efficiency [%]"):
        assert heading in out
    assert "right-looking" in out
    assert re.search(r"Fastest: variant \w+ \(", out)
    assert "Took: sampling" in out
    assert all(line == line.rstrip() for line in out.splitlines())


def test_rank_json(capsys: pytest.CaptureFixture[str]) -> None:
    result = answer_json(capsys, "rank", "cholesky", "--n", "600")
    assert {"operation", "n", "rows", "left_out", "evidence"} <= set(result)
    (evidence,) = result["evidence"]
    assert {"setup", "noise_floor", "peak_gflops", "state", "seconds"} <= set(evidence)
    assert (result["operation"], result["n"]) == ("cholesky", 600)
    assert set(evidence["seconds"]) == {"sampling", "modelling", "prediction", "verification"}
    assert set(result["evidence"][0]["samples"]) == {"accepted", "requeued", "given_up", "stopped"}
    assert result["evidence"][0]["samples"]["stopped"] in ("bound", "decision")
    assert sorted(row["variant"] for row in result["rows"]) == ["1", "2", "3", "lapack", "library", "recursive"]
    for row in result["rows"]:
        assert {"variant", "b", "time", "gflops", "efficiency", "class", "measured"} <= set(row)
        assert set(row["time"]) == STATISTICS
        assert row["measured"] is None
        flops = 600 * 601 * 1201 / 6
        assert row["gflops"] == pytest.approx(flops / row["time"]["median"] / 1e9)
    medians = [row["time"]["median"] for row in result["rows"]]
    assert medians == sorted(medians)


def test_the_second_time_nothing_is_sampled(capsys: pytest.CaptureFixture[str]) -> None:
    first = answer(capsys, "rank", "cholesky", "--n", "400")
    assert re.search(r"Samples: [1-9]\d* accepted, \d+ measured again", first)
    assert "Sampling ended as" in first
    second = answer(capsys, "rank", "cholesky", "--n", "400")
    assert "Nothing had to be sampled." in second
    assert "Sampling ended" not in second
    assert answer_json(capsys, "rank", "cholesky", "--n", "400")["evidence"][0]["samples"]["stopped"] is None


def test_rank_verified(capsys: pytest.CaptureFixture[str]) -> None:
    some = ("--variants", "1,2,3,4,5,6,7,8")
    result = answer_json(capsys, "rank", "trinv", "--n", "500", "--b", "64", "--verify", *some)
    assert len(result["rows"]) == 8
    for row in result["rows"]:
        assert row["b"] == 64
        assert set(row["measured"]) == STATISTICS
        assert row["time"]["median"] == pytest.approx(row["measured"]["median"], rel=0.03)
    assert result["evidence"][0]["seconds"]["verification"] > 0
    out = answer(capsys, "rank", "trinv", "--n", "500", "--b", "64", "--verify", *some)
    assert "measured [ms]" in out
    assert "error [%]" in out


def test_the_ranking_is_that_of_the_true_costs(capsys: pytest.CaptureFixture[str]) -> None:
    from blascast.algorithms import find_operation, scalar_calls
    from blascast.sampler.simulated import SimulatedBackend

    backend = SimulatedBackend()
    result = answer_json(capsys, "rank", "trinv", "--n", "800", "--b", "96")
    block_sizes = {"lapack": 64}
    truth = {
        name: sum(backend.warm_seconds(call) for call in scalar_calls(variant, {"n": 800}, block_sizes.get(name, 96)))
        for name, variant in find_operation("trinv").variants.items()
    }
    for row in result["rows"]:
        assert row["time"]["median"] == pytest.approx(truth[row["variant"]], rel=0.02)
    order = [row["variant"] for row in result["rows"]]
    classes = {row["variant"]: row["class"] for row in result["rows"]}
    for faster, slower in zip(sorted(truth, key=truth.__getitem__), order, strict=True):
        assert classes[faster] == classes[slower]  # the same but for ties


def test_predict(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["predict", "trinv", "--variant", "3", "--n", "700", "--b", "96"]
    result = answer_json(capsys, *arguments, "--breakdown")
    assert {row["kernel"] for row in result["rows"]} == {"gemm NN 1 1", "trsm LLNN 1", "trsm RLNN -1", "trti2 LN"}
    assert sum(row["share"] for row in result["rows"]) == pytest.approx(1)
    assert sum(row["time"] for row in result["rows"]) == pytest.approx(result["time"]["median"])
    assert {row["kernel"]: row["calls"] for row in result["rows"]}["trti2 LN"] == 8
    assert "share [%]" in answer(capsys, *arguments, "--breakdown")
    assert "slowest" in answer(capsys, *arguments)


def test_blocksize(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["blocksize", "cholesky", "--variant", "3", "--n", "200:600:200"]
    result = answer_json(capsys, *arguments)
    assert [row["n"] for row in result["rows"]] == [200, 400, 600]
    for row in result["rows"]:
        assert {"n", "b", "low", "high", "loss"} <= set(row)
        assert row["low"] <= row["b"] <= row["high"]
        assert row["loss"] >= 0
    assert "loss of 64 [%]" in answer(capsys, *arguments)


def test_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer_json(capsys, "models", "list")["rows"] == []
    answer(capsys, "rank", "cholesky", "--n", "300", "--variants", "1,2,3")
    rows = answer_json(capsys, "models", "list")["rows"]
    assert {row["kernel"] for row in rows} == {"gemm", "potf2", "syrk", "trsm"}
    for row in rows:
        assert row["pieces"] == len(row["domains"])
        assert row["cost"] > 0
        assert 0 <= row["error"] < 0.05
    assert "stopped" in answer(capsys, "models", "list")
    assert answer_json(capsys, "models", "list", "--threads", "2")["rows"] == []
    assert answer_json(capsys, "models", "list", "--dtype", "s")["rows"] == []
    assert run(["models", "list", "--library", "scipy", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == []


def test_both_data_types_and_thread_counts(capsys: pytest.CaptureFixture[str]) -> None:
    double = answer_json(capsys, "rank", "cholesky", "--n", "300")
    single = answer_json(capsys, "rank", "cholesky", "--n", "300", "--dtype", "s")
    both = answer_json(capsys, "rank", "cholesky", "--n", "300", "--threads", "2")
    assert single["rows"][0]["gflops"] > double["rows"][0]["gflops"] < both["rows"][0]["gflops"]
    assert len({r["evidence"][0]["setup"]["fingerprint"] for r in (double, single, both)}) == 3


REFUSED = [
    (["rank", "choleski", "--n", "100"], "unknown operation 'choleski'; known: cholesky, cholesky-upper"),
    (["rank", "cholesky", "--n", "0"], "must be a positive integer, got 0"),
    (["rank", "cholesky", "--n", "-5"], "must be a positive integer, got '-5'"),
    (["rank", "cholesky", "--n", "1.5"], "must be a positive integer, got '1.5'"),
    (["rank", "cholesky", "--n", "many"], "must be a positive integer, got 'many'"),
    (["rank", "cholesky", "--n", "1000000000"], "needs 1.6e+10 GB for its operands"),
    (["rank", "cholesky"], "Missing option '--n'"),
    (["rank"], "Missing argument 'OPERATION'"),
    (["rank", "cholesky", "--n", "100", "--b", "0"], "must be a positive integer, got 0"),
    (["rank", "cholesky", "--n", "100", "--b", "-1"], "must be a positive integer, got '-1'"),
    (["rank", "cholesky", "--n", "100", "--b", "1000000000"], "must be at most n = 100, got 1000000000"),
    (["rank", "cholesky", "--n", "100", "--dtype", "q"], "'q' is not one of 's', 'd'"),
    (["rank", "cholesky", "--n", "100", "--threads", "0"], "--threads must be a positive integer, got 0"),
    (["rank", "cholesky", "--n", "100", "--threads", "5"], "5 threads need as many CPUs"),
    (["rank", "cholesky", "--n", "100", "--frobnicate"], "No such option"),
    (["predict", "trinv", "--variant", "9", "--n", "100", "--b", "8"], "unknown variant of trinv '9'; known: 1, 2"),
    (["predict", "trinv", "--variant", "1", "--n", "100", "--b", "101"], "must be at most n = 100, got 101"),
    (["blocksize", "cholesky", "--variant", "3", "--n", "500:100:100"], "FIRST:LAST:STEP with FIRST <= LAST"),
    (["blocksize", "cholesky", "--variant", "3", "--n", "1:100000000:1"], "may hold 10000 sizes"),
    (["dance"], "No such command 'dance'"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_wrong_usage_costs_one_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = run([*arguments, *(SIMULATED if len(arguments) > 1 else [])])
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert err.startswith("blascast: ")
    assert message in err
    assert err.count("\n") == 1


def test_real_libraries_that_cannot_be_used(capsys: pytest.CaptureFixture[str]) -> None:
    rank = ["rank", "cholesky", "--n", "100"]
    threads = str(len(allowed_cpus()) + 1)
    for arguments, status, message in [
        (["--library", "atlantis"], 2, "unknown library 'atlantis'"),
        (["--library", "/nowhere/libblas.so"], 1, "no library at '/nowhere/libblas.so'"),
        (["--library", "libm.so.6"], 1, "no routine dcopy"),
        (["--threads", threads], 2, f"{threads} threads need as many CPUs"),
    ]:
        assert run([*rank, *arguments]) == status
        err = capsys.readouterr().err
        assert message in err
        assert err.count("\n") == 1


def test_a_library_without_the_routine(toy: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rank", "cholesky", "--n", "100", "--library", toy()]) == 2
    err = capsys.readouterr().err
    assert (
        "nothing is known of cholesky 1 (top-looking), as libtoy has no dtrsm, dsyrk, dpotf2. Name another library"
        in err
    )
    assert err.count("\n") == 1


def test_a_store_that_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BLASCAST_HOME", str(tmp_path / "file"))
    for arguments in (["models", "list"], ["rank", "cholesky", "--n", "100", *SIMULATED]):
        assert run(arguments) == 1
        err = capsys.readouterr().err
        assert "cannot be used" in err
        assert err.count("\n") == 1


def test_a_corrupt_model_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer(capsys, "rank", "cholesky", "--n", "300")
    path = next((home / "models").glob("*/trsm-*.json"))
    path.write_text("{")
    for arguments in (["models", "list"], ["rank", "cholesky", "--n", "300", *SIMULATED]):
        assert run(arguments) == 1
        err = capsys.readouterr().err
        assert path.name in err
        assert "remove it" in err
    path.unlink()
    answer(capsys, "rank", "cholesky", "--n", "300")


def test_help_has_a_worked_example_and_the_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    assert "blascast rank cholesky --n 1000" in capsys.readouterr().out
    for verb in verbs():
        assert run([*verb, "--help"]) == 0
        out = capsys.readouterr().out
        assert re.search(rf"Examples:\n\s+blascast {' '.join(verb)}", out)
        assert "--json" in out


@pytest.mark.parametrize("verb", ["doctor", "rank", "predict", "blocksize", "sample", "models list"])
def test_help_names_the_options_of_a_setup(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*verb.split(), "--help"]) == 0
    out = capsys.readouterr().out
    for option in ("--threads", "--library"):
        assert option in out
    assert ("--dtype" in out) == (verb != "sample")  # there, the names of routines tell it
    default = "(all)" if verb == "models list" else "scipy"
    assert f"[default: {default}]" in " ".join(out.split())


def verbs() -> list[list[str]]:
    """All verbs, those of a group with its name before them."""
    found = []
    for name, command in cli.commands.items():
        inner = getattr(command, "commands", None)
        found += [[name, verb] for verb in inner] if inner else [[name]]
    return found


def test_without_a_verb_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    assert "Usage: blascast" in capsys.readouterr().out


def test_python_m() -> None:
    done = subprocess.run([sys.executable, "-P", "-m", "blascast", "--version"], capture_output=True, text=True)
    assert done.stdout.startswith("blascast, version ")


def test_sizes() -> None:
    assert parse_size(" 12 ") == 12
    assert parse_sizes("8,8,500:1000:250") == (8, 500, 750, 1000)
    for text in ("", ",", "1:2", "1:2:3:4", "1:2:0", "0", "³", "١"):
        with pytest.raises(UsageError):
            parse_sizes(text)


@given(st.text(max_size=20) | st.from_regex(r"[0-9:,]{0,12}"))
def test_any_text_is_sizes_or_refused(text: str) -> None:
    try:
        sizes = parse_sizes(text)
    except UsageError as error:
        assert "\n" not in str(error).replace(repr(text), "")
    else:
        assert sizes
        assert all(size >= 1 for size in sizes)
        assert list(sizes) == sorted(set(sizes))


def workers_of(parent: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == parent and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


@pytest.mark.parametrize("delay", [0.1, 0.4, 1.0, 2.0])
def test_ctrl_c_at_any_moment(delay: float, home: Path) -> None:
    """Workers are gone, the store is whole, and the same command can run again."""
    command = [sys.executable, "-P", "-m", "blascast", "rank", "cholesky", "--n", "1500"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(delay)
    workers = workers_of(process.pid)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{worker}").exists() for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    assert process.returncode in (130, -signal.SIGINT)  # the latter before Python has reached blascast
    if process.returncode == 130:
        assert errors == "blascast: interrupted; what was measured is kept, the same command resumes\n"
    assert run(["models", "list"]) == 0


def test_an_interrupted_question_resumes(home: Path) -> None:
    """Samples taken before the interrupt are not taken again."""
    command = [sys.executable, "-P", "-m", "blascast", "rank", "cholesky", "--n", "300", "--b", "96"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    while not any('"samples"' in journal.read_text() for journal in (home / "journals").glob("*.journal")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    with sqlite3.connect(home / "samples.sqlite") as database:
        (kept,) = database.execute("SELECT COUNT(*) FROM samples").fetchone()
    database.close()
    assert kept > 0
    assert subprocess.run(command, capture_output=True, timeout=100).returncode == 0


def test_a_narrow_terminal_hides_nothing() -> None:
    """On 60 columns, through a pseudo-terminal."""
    command = [sys.executable, "-P", "-m", "blascast", "rank", "trinv", "--n", "300", "--verify", *SIMULATED]
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    with subprocess.Popen(command, stdout=child, stderr=subprocess.DEVNULL) as process:
        os.close(child)
        shown = b""
        with contextlib.suppress(OSError):  # the end of a pseudo-terminal
            while part := os.read(parent, 4096):
                shown += part
        process.wait()
    os.close(parent)
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())
    assert "…" not in text
    for word in ("GFLOP/s", "efficiency", "variant", "measured", "inverse", "LAPACK", "error"):
        assert word in text


def test_an_output_that_cannot_be_written() -> None:
    command = f"{sys.executable} -P -m blascast rank cholesky --n 200 --library simulated"
    for redirected, status in ((">/dev/full", 1), (">&-", 0)):
        done = subprocess.run(f"{command} {redirected}", shell=True, capture_output=True, text=True)
        assert done.returncode == status
        assert "Traceback" not in done.stderr
        assert done.stderr.count("\n") <= 1
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, shell=True, capture_output=True, text=True, env=ascii_only)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_pipe_is_no_failure_of_ours() -> None:
    command = f"{sys.executable} -P -m blascast --help | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, env=os.environ)
    assert done.stdout.startswith("Usage: blascast")
    assert "Traceback" not in done.stderr
