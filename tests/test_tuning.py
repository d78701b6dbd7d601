"""Tables of block sizes, and the ILAENV that is made of them: compiled, preloaded, and asked."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import blascast
from blascast.answers.ilaenv import override
from blascast.cli import run
from blascast.predictors.blocksize import Curve
from blascast.predictors.tuning import OWN, chosen_block_sizes, steps_of
from blascast.sampler.errors import LibraryError, UsageError
from blascast.sampler.libraries import library_files
from blascast.sampler.simulated import SimulatedBackend

B = np.array([32, 64, 96, 128])

# A LAPACK of which only ILAENV is there, and a routine that asks it.
LAPACK = r"""
#include <stddef.h>
int ilaenv_(const int *ispec, const char *name, const char *opts, const int *n1, const int *n2, const int *n3,
            const int *n4, size_t a, size_t b) { return *ispec == 1 ? 64 : *ispec == 3 ? 128 : 2; }
int ask_(int ispec, const char *name, int n1, int n2) {
    int none = -1;
    return ilaenv_(&ispec, name, " ", &n1, &n2, &none, &none, 6, 1);
}
"""
ASK = """
import ctypes, json, sys
lapack, everything = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(None)
def asked():
    return [lapack.ask_(i, name.encode(), n1, n2) for i, name, n1, n2 in json.loads(sys.argv[2])]
found = [asked()]
ctypes.c_int.in_dll(everything, "blascast_blocksizes").value = 0
found.append(asked())
print(json.dumps(found))
"""


def curve(n: int, seconds: list[float]) -> Curve:
    return Curve({"n": n}, B, np.array(seconds), np.zeros(len(B)))


def test_the_fewest_steps_that_stay_within_one_per_cent() -> None:
    curves = [
        curve(100, [1.0, 1.005, 1.2, 1.3]),
        curve(200, [1.009, 1.0, 1.02, 1.3]),
        curve(300, [1.3, 1.1, 1.0, 1.005]),
        curve(400, [1.3, 1.2, 1.009, 1.0]),
    ]
    own = [curve.at(64) for curve in curves]
    steps = steps_of(curves, own, chosen_block_sizes(curves, own))
    assert [(step.first, step.last, step.b) for step in steps] == [(100, 200, OWN), (300, 400, 128)]
    assert steps[0].gain == 0
    assert steps[1].gain == pytest.approx(np.mean([1.1 / 1.005 - 1, 0.2]))


def test_lapacks_own_block_size_is_kept_where_it_is_good_enough() -> None:
    curves = [curve(n, [1.0, 1.004, 1.009, 1.3]) for n in (100, 200)]
    assert chosen_block_sizes(curves, [1.009, 1.009]) == [OWN, OWN]
    assert chosen_block_sizes(curves, [1.3, 1.3]) == [32, 32]
    assert chosen_block_sizes(curves, [0.9, 0.9]) == [OWN, OWN], "it may have a crossover that none of ours has"


def test_steps_say_what_was_measured() -> None:
    curves = [curve(n, [1.0, 1.1, 1.2, 1.3]) for n in (100, 200, 300, 400)]
    steps = steps_of(curves, [1.1] * 4, [32, 32, OWN, 32], {0: 0.08, 1: 0.12, 2: -0.01, 3: 0.05})
    assert [(step.first, step.last, step.b) for step in steps] == [(100, 200, 32), (300, 300, OWN), (400, 400, 32)]
    assert [step.measured for step in steps] == [pytest.approx(0.1), None, 0.05]
    assert [step.gain for step in steps] == [pytest.approx(0.1), 0.0, pytest.approx(0.1)]


@pytest.fixture
def preloaded(tmp_path: Path):  # type: ignore[no-untyped-def]
    """Asks a LAPACK for block sizes, with an override preloaded: on, and switched off."""
    (tmp_path / "lapack.c").write_text(LAPACK)

    def compile_(name: str) -> Path:
        library = tmp_path / f"lib{name}.so"
        command = ["cc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", str(library), str(tmp_path / f"{name}.c")]
        subprocess.run([*command, "-ldl"], check=True)
        return library

    def ask(source: str, questions: list[tuple[int, str, int, int]]) -> list[list[int]]:
        (tmp_path / "override.c").write_text(source)
        command = [sys.executable, "-c", ASK, str(compile_("lapack")), json.dumps(questions)]
        environment = {**os.environ, "LD_PRELOAD": str(compile_("override"))}
        answer = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
        return json.loads(answer)  # type: ignore[no-any-return]

    return ask


def test_the_override_answers_what_is_in_its_tables(preloaded) -> None:  # type: ignore[no-untyped-def]
    source = override(
        {
            "getrf": [(100, 200, 16), (300, 500, 48), (600, 1000, 96)],
            "geqrf": [(50, 300, 300), (400, 600, 40)],
            "potrf": [(100, 200, 0), (300, 400, 24)],
        },
        SimulatedBackend().setup,
    )
    questions = [
        *((1, "DGETRF", 100, 100), (1, "DGETRF", 200, 300), (1, "dgetrf", 201, 400), (1, "DGETRF", 5000, 700)),
        *((1, "DGEQRF", 250, 900), (3, "DGEQRF", 400, 400), (3, "DGETRF", 400, 400)),
        *((2, "DGETRF", 100, 100), (1, "DPOTRF", 300, -1), (1, "DPOTRF", 150, -1), (1, "DGEQRF", 600, -1)),
        # beyond the tables, or of other types
        *((1, "DGETRF", 5000, 5000), (1, "DGETRF", 99, 99), (1, "ZGETRF", 5000, 700), (1, "SGEQRF", 600, -1)),
    ]
    on, off = preloaded(source, questions)
    assert on == [16, 16, 48, 96, 300, 40, 128, 2, 24, 64, 40, 64, 64, 64, 64]
    assert off == [64, 64, 64, 64, 64, 128, 128, 2, 64, 64, 64, 64, 64, 64, 64]


def test_hermitian_matrices_have_routines_of_their_own() -> None:
    source = override({"sygst": [(100, 200, 16)]}, SimulatedBackend("z").setup)
    assert '{"ZHEGST", ZHEGST,' in source
    assert "SYGST" not in source


def test_unblocked_is_unblocked() -> None:
    """LAPACK's own is kept where both it and the best are no less than the matrix."""
    small = Curve({"n": 48}, np.array([16, 48]), np.array([1.2, 1.0]), np.zeros(2))
    assert chosen_block_sizes([small], [small.at(64)]) == [OWN]


def test_exported_block_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str], preloaded) -> None:  # type: ignore[no-untyped-def]
    report = blascast.export_blocksizes(range(100, 501, 200), ["cholesky", "qr"], library="simulated")
    frame = report.to_frame()
    assert set(frame["routine"]) == {"potrf", "geqrf"}
    assert (frame["n_from"] <= frame["n_to"]).all()
    ask = ["export", "blocksizes", "cholesky", "qr", "--n", "100:500:200", "--library", "simulated"]
    for kind in ("csv", "json", "c"):
        path = tmp_path / f"table.{kind}"
        assert run([*ask, "--output", str(path)]) == 0
        capsys.readouterr()
        assert run([*ask, "--format", kind]) == 0
        printed = capsys.readouterr().out
        if kind != "json":  # which has the seconds that it took
            assert printed.strip() == path.read_text().strip()
        else:
            assert json.loads(printed)["rows"] == json.loads(path.read_text())["rows"] == report.to_json()["rows"]
    largest = frame[frame["routine"] == "potrf"].iloc[-1]
    on, off = preloaded((tmp_path / "table.c").read_text(), [(1, "DPOTRF", 500, -1), (1, "DLAUUM", 500, -1)])
    assert on == [64 if np.isnan(largest["b"]) else largest["b"], 64]
    assert off == [64, 64]


def test_what_cannot_be_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="is overridden for cholesky, trinv, lauum, sygst, lu, qr, got 'lauum-upper'"):
        blascast.export_blocksizes([100], ["lauum-upper"], library="simulated")
    with pytest.raises(UsageError, match="n must hold at least one size"):
        blascast.export_blocksizes([], ["lu"], library="simulated")
    path = tmp_path / "table.txt"
    assert run(["export", "blocksizes", "lu", "--n", "100", "--library", "simulated", "--output", str(path)]) == 2
    assert "are written as csv, json, c, got" in capsys.readouterr().err
    assert run(["export", "blocksizes", "lu", "--n", "100", "--library", "simulated", "--format", "c", "--json"]) == 2
    assert "--json does not fit --format c; leave one of them out" in capsys.readouterr().err


def reference_lapack() -> str:
    """The file of Debian's reference LAPACK."""
    try:
        files = library_files("reference")
    except LibraryError:
        return ""
    return files.lapack


# Calls a routine of reference LAPACK, checks what it computes against SciPy, and tells how often the tables were asked.
CALL = """
import ctypes, sys
import numpy as np, scipy.linalg as sl
lapack, name, n = ctypes.CDLL(sys.argv[1]), sys.argv[2], 100
random = np.random.default_rng(0)
full = random.uniform(-1, 1, (n, n))
spd = full @ full.T / n + 2 * np.eye(n)
lower = np.tril(full) / n + 2 * np.eye(n)
start = {"getrf": full, "geqrf": full, "potrf": spd, "trtri": lower, "sygst": spd}[name]
a, b = np.asfortranarray(start), np.asfortranarray(lower)
size, info, one, room = (ctypes.c_int(i) for i in (n, 0, 1, 64 * n))
pivots, tau, work = (ctypes.c_int * n)(), (ctypes.c_double * n)(), (ctypes.c_double * (64 * n))()
A, B = (x.ctypes.data_as(ctypes.c_void_p) for x in (a, b))
p, end = ctypes.byref, ctypes.c_size_t(1)
arguments = {
    "getrf": (p(size), p(size), A, p(size), pivots, p(info)),
    "geqrf": (p(size), p(size), A, p(size), tau, work, p(room), p(info)),
    "potrf": (b"L", p(size), A, p(size), p(info), end),
    "trtri": (b"L", b"N", p(size), A, p(size), p(info), end, end),
    "sygst": (p(one), b"L", p(size), A, p(size), B, p(size), p(info), end),
}[name]
getattr(lapack, f"d{name}_")(*arguments)
assert info.value == 0
if name == "getrf":
    assert np.allclose(a, sl.lu_factor(full)[0])
elif name == "geqrf":
    assert np.allclose(abs(np.triu(a)), abs(sl.qr(full)[1]))
elif name == "potrf":
    assert np.allclose(np.tril(a), sl.cholesky(spd, lower=True))
elif name == "trtri":
    assert np.allclose(np.tril(a) @ lower, np.eye(n))
else:
    c = np.linalg.solve(lower, np.linalg.solve(lower, spd).T)
    assert np.allclose(np.tril(a), np.tril(c))
print(ctypes.c_int.in_dll(ctypes.CDLL(None), "blascast_asked").value)
"""


@pytest.mark.skipif(not reference_lapack(), reason="reference LAPACK is not installed")
@pytest.mark.parametrize("name", ["potrf", "getrf", "geqrf", "trtri", "sygst"])
def test_reference_lapack_takes_the_overriding_block_sizes(name: str, tmp_path: Path) -> None:
    source = (
        override({name: [(1, 10000, 7)]}, SimulatedBackend().setup)
        .replace("    return steps[i].b;", "    blascast_asked++;\n    return steps[i].b;")
        .replace("int blascast_blocksizes = 1;", "int blascast_blocksizes = 1;\nint blascast_asked = 0;")
    )
    (tmp_path / "override.c").write_text(source)
    library = tmp_path / "liboverride.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(tmp_path / "override.c"), "-ldl"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    command = [sys.executable, "-c", CALL, reference_lapack(), name]
    assert int(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout) >= 1


def test_block_sizes_that_do_not_win_are_left_to_lapack(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measured, the simulated machine is made to be as fast with every block size."""
    plain = blascast.export_blocksizes(range(200, 601, 200), ["trinv"], library="simulated")
    assert any(step.b != OWN for step in plain.routines[0].steps)
    assert all(step.measured is None for step in plain.routines[0].steps)
    shown = blascast.export_blocksizes(range(200, 601, 200), ["trinv"], verify=True, library="simulated")
    won = [step for step in shown.routines[0].steps if step.b != OWN]
    assert all(step.measured == pytest.approx(step.gain, abs=0.03) for step in won)
    assert "measured [%]" in str(shown)
    assert shown.to_json()["verified"]
    assert all(tried["kept"] == (tried["gain"] > tried["noise"]) for tried in shown.to_json()["tried"])
    monkeypatch.setattr("blascast.answers.tuning._measured", lambda *_: (0.01, 0.02))
    alike = blascast.export_blocksizes(range(200, 601, 200), ["trinv"], verify=True, library="simulated")
    assert [(step.first, step.last, step.b) for step in alike.routines[0].steps] == [(200, 600, OWN)]
    assert "did not win, and are left to LAPACK: trtri at n = " in " ".join(str(alike).split())
    assert {tried.gain for tried in alike.routines[0].tried} == {0.01}


def test_a_block_size_must_win_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = iter([(0.30, 0.02), (0.01, 0.02), (0.30, 0.02), (0.20, 0.02)])
    monkeypatch.setattr("blascast.answers.tuning._measured", lambda *_: next(measured))
    monkeypatch.setattr("blascast.answers.tuning.chosen_block_sizes", lambda *_: [32, 32])
    (found,) = blascast.export_blocksizes([200, 400], ["trinv"], verify=True, library="simulated").routines
    assert [(tried.n, tried.kept, tried.gain) for tried in found.tried] == [(200, False, 0.01), (400, True, 0.20)]
    assert [(step.first, step.b, step.measured) for step in found.steps] == [(200, OWN, None), (400, 32, 0.20)]


def test_the_largest_block_size_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blascast.answers.tuning.chosen_block_sizes", lambda curves, _: [256] * len(curves))
    report = blascast.export_blocksizes([400, 800], ["lu"], library="simulated")
    assert "getrf: the largest block size that was compared; larger may be better." in report.remarks


def test_all_routines_but_geqrf_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "blocksizes", "--n", "100", "--library", "simulated", "--json"]) == 0
    routines = {row["routine"] for row in json.loads(capsys.readouterr().out)["rows"]}
    assert routines == {"potrf", "trtri", "lauum", "sygst", "getrf"}
