"""Hostile surroundings: no /proc, a home that cannot be written, odd terminals, full disks, a crowd at the store."""

import contextlib
import fcntl
import json
import os
import pty
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from blascast.models.kept.store import Store

BLASCAST = [sys.executable, "-P", "-m", "blascast"]
SIMULATED = ["--library", "simulated"]
RANK = ["rank", "cholesky", "--n", "200", *SIMULATED]
DOCTOR = ["doctor", *SIMULATED]


def blascast(*arguments: str, before: tuple[str, ...] = (), **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the command line in a process of its own."""
    return subprocess.run(
        [*before, *BLASCAST, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=120,
    )


def refused_in_one_line(done: subprocess.CompletedProcess[str], *words: str) -> bool:
    return (
        (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        and done.stderr.startswith("blascast: ")
        and all(word in done.stderr for word in words)
    )


# --- no /proc and no /sys

HIDE = """
import os, sys
def hide(path):
    if str(path).startswith(("/proc", "/sys")):
        raise FileNotFoundError(2, "hidden", path)
def stat(path, *more, _stat=os.stat, **options):
    hide(path)
    return _stat(path, *more, **options)
os.stat = stat  # which has no audit event
sys.addaudithook(lambda event, given: hide(given[0]) if event in ("open", "os.listdir", "os.scandir") else None)
"""
OPEN = """
from pathlib import Path
from blascast.models.kept.store import Store
from blascast.sampler.call import View, bind
from blascast.sampler.host.backend import WorkerBackend
from blascast.sampler.kernels import find_kernel
from blascast.sampler.program import Time, buffers_for
from blascast.sampler.resources import available_memory
from blascast.sampler.setup import SetupRequest
try:
    Path("/proc/meminfo").read_text()
except FileNotFoundError:
    print("hidden")
backend = WorkerBackend(SetupRequest())
call = bind(find_kernel("potf2"), "L", View("A", 0, 0, 8, 8, 8))
backend.allocate(buffers_for([call]))
print(backend.setup.machine.caches, available_memory(), backend.run([Time(call)]).seconds[0] > 0)
"""


@pytest.fixture
def hidden(tmp_path: Path) -> dict[str, str]:
    """Variables under which Python, the worker's included, finds no file in /proc and /sys."""
    (tmp_path / "sitecustomize.py").write_text(HIDE)
    return {"PYTHONPATH": str(tmp_path)}


def test_no_proc(hidden: dict[str, str]) -> None:
    command = [sys.executable, "-P", "-c", OPEN]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **hidden})
    assert done.stdout == "hidden\n() inf True\n", done.stderr


def test_doctor_without_proc(hidden: dict[str, str]) -> None:
    done = blascast("doctor", "--json", **hidden)
    assert done.returncode == 0, done.stderr
    untold = {row["name"] for row in json.loads(done.stdout)["rows"] if row["value"] == "not told by the system"}
    assert {"caches", "frequency governor", "CPU quota", "memory", "load", "steal time"} <= untold


def test_an_empty_environment(home: Path) -> None:
    done = subprocess.run([*BLASCAST, *RANK], capture_output=True, text=True, env={"BLASCAST_HOME": str(home)})
    assert (done.returncode, done.stderr) == (0, "")


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    command = f"mkdir {tmp_path}/gone && cd {tmp_path}/gone && rmdir ../gone && {' '.join(BLASCAST + RANK)}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# --- a home that cannot be written


@pytest.fixture
def bound_by_permissions() -> tuple[str, ...]:
    """What to put before a command for file permissions to count, even for root."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("root heeds no permissions, and there is no setpriv to change that")
    return ("setpriv", "--bounding-set", "-dac_override", "--inh-caps", "-dac_override")


def test_a_read_only_home(home: Path, bound_by_permissions: tuple[str, ...]) -> None:
    assert blascast(*RANK).returncode == 0
    folders = [home, *(path for path in home.rglob("*") if path.is_dir())]
    for path in (*home.rglob("*"), home):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        refused = blascast(*RANK, before=bound_by_permissions)
        assert refused_in_one_line(refused, str(home), "set BLASCAST_HOME to a folder that can be written")
        listed = blascast("models", "list", "--json", before=bound_by_permissions)
        assert len(json.loads(listed.stdout)["rows"]) == 6
        examined = blascast(*DOCTOR, before=bound_by_permissions)
        assert (examined.returncode, examined.stderr) == (0, "")
        assert "store: export BLASCAST_HOME=FOLDER" in examined.stdout
    finally:
        for folder in folders:
            folder.chmod(0o755)


def test_a_home_that_cannot_be_made() -> None:
    for verb in (RANK, ["models", "list"]):
        assert refused_in_one_line(blascast(*verb, BLASCAST_HOME="/proc/nowhere"), "/proc/nowhere", "cannot be used")
    examined = blascast(*DOCTOR, BLASCAST_HOME="/proc/nowhere")
    assert examined.returncode == 0
    assert "store: export BLASCAST_HOME=FOLDER" in examined.stdout


# --- outputs


def on_a_terminal(arguments: list[str], columns: int = 80, **environment: str) -> tuple[int, str]:
    """Exit status of a command and what it wrote to a terminal, errors too."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    with subprocess.Popen(
        [*BLASCAST, *arguments], stdout=child, stderr=child, env={**inherited, "TERM": "xterm", **environment}
    ) as process:
        os.close(child)
        shown = b""
        with contextlib.suppress(OSError):  # the end of a pseudo-terminal
            while part := os.read(parent, 4096):
                shown += part
        status = process.wait()
    os.close(parent)
    return status, shown.decode(errors="replace")


ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
WORDS = {"rank": ("variant", "efficiency", "right-looking", "GFLOP/s", "floor"), "doctor": ("processor", "bandwidth")}


@pytest.mark.parametrize("arguments", [RANK, DOCTOR], ids=["rank", "doctor"])
def test_a_terminal_of_20_columns(arguments: list[str]) -> None:
    status, shown = on_a_terminal(arguments, columns=20)
    answer = ESCAPE.sub("", shown).split("simulated", 1)[1]  # behind the progress bar
    assert status == 0
    assert "…" not in answer
    for word in WORDS[arguments[0]]:
        assert word in answer


@pytest.mark.parametrize("arguments", [RANK, DOCTOR], ids=["rank", "doctor"])
def test_a_dumb_terminal_gets_no_escape_codes(arguments: list[str]) -> None:
    status, shown = on_a_terminal(arguments, TERM="dumb")
    assert (status, ESCAPE.findall(shown)) == (0, [])
    assert all(word in shown for word in WORDS[arguments[0]])


def test_no_color() -> None:
    status, shown = on_a_terminal(RANK, NO_COLOR="1")
    codes = [code for found in re.findall(r"\x1b\[([0-9;]*)m", shown) for code in found.split(";") if code]
    assert status == 0
    assert not {code for code in codes if 30 <= int(code) <= 49 or int(code) >= 90}


def test_json_on_a_terminal_is_json() -> None:
    blascast(*RANK)  # so that no progress is shown
    status, shown = on_a_terminal([*RANK, "--json"])
    assert status == 0
    assert json.loads(ESCAPE.sub("", shown))["n"] == 200


@pytest.mark.parametrize(
    "environment",
    [
        {"LANG": "C", "LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
)
def test_any_encoding(environment: dict[str, str]) -> None:
    command = [*BLASCAST, *RANK]
    done = subprocess.run(command, capture_output=True, env={**os.environ, **environment})
    assert (done.returncode, done.stderr) == (0, b"")
    assert all(word.encode() in done.stdout for word in WORDS["rank"])
    status, shown = on_a_terminal(RANK, **environment)
    assert status == 0
    assert all(word in shown for word in WORDS["rank"])


FULL = "blascast: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize(
    ("arguments", "redirected", "status", "errors"),
    [
        (DOCTOR, ">/dev/full", 1, FULL),
        ([*DOCTOR, "--json"], ">/dev/full", 1, FULL),
        (["models", "list"], ">/dev/full", 1, FULL),
        (["--help"], ">/dev/full", 1, FULL),
        (["--version"], ">/dev/full", 1, FULL),
        (DOCTOR, ">&-", 0, ""),
        (DOCTOR, "2>&-", 0, ""),
        (DOCTOR, ">&- 2>&- <&-", 0, ""),
        (["--version"], ">&-", 0, ""),
        (["dance"], "2>&-", 2, ""),
        (["dance"], "2>/dev/full", 2, ""),
        (
            ["predict", "cholesky", "--variant", "1", "--n", "8", "--b", "8", "--library", "/nowhere.so"],
            "2>/dev/full",
            1,
            "",
        ),
    ],
)
def test_outputs_that_cannot_be_written(arguments: list[str], redirected: str, status: int, errors: str) -> None:
    done = subprocess.run(f"{' '.join(BLASCAST + arguments)} {redirected}", shell=True, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (status, errors)


# --- the store


def test_a_full_disk(home: Path) -> None:
    """On a file system of its own, where such may be mounted; the one with a limited file size is in test_store."""
    home.mkdir()
    mount = f"mount -t tmpfs -o size=100k none {home}"
    private = ["unshare", "--mount", *(["--map-root-user"] if os.geteuid() else [])]
    if shutil.which("unshare") is None or subprocess.run([*private, "sh", "-c", mount], capture_output=True).returncode:
        pytest.skip("no file system may be mounted here")
    command = f"{mount} && {' '.join(BLASCAST + RANK)}; echo $?; {' '.join([*BLASCAST, 'models', 'list'])}"
    done = subprocess.run([*private, "sh", "-c", command], capture_output=True, text=True)
    assert re.fullmatch(r"blascast: the store at .* cannot be used \(.*full\); make room, or set .*\n", done.stderr)
    assert done.stdout.startswith("1\n0 models in ")


HAMMER = """
import sys, time
from dataclasses import replace
from blascast.models.piecewise import ModelKey
from blascast.models.sampling import Case
from blascast.models.kept.store import Store
from blascast.sampler.errors import StoreError
from blascast.sampler.job import warm_job
from blascast.sampler.kernels import find_kernel
from blascast.sampler.sampler import Sampler
from blascast.sampler.simulated import QUIET, SimulatedBackend
me, begin = int(sys.argv[1]), float(sys.argv[2])
backend, key = SimulatedBackend(disturbances=QUIET), ModelKey("potf2", "L", 5000)
batch = Sampler(backend).measure([warm_job(Case(find_kernel("potf2"), {"uplo": "L"}, {}).call((8,), 5000))], 5)
time.sleep(max(0.0, begin - time.time()))
for turn in range(TURNS):
    store, names = Store(), [(key, (1000 * me + turn + 1,))]
    with store.journal(backend.setup, names) as journal:
        store.recover()  # what others have left, never what they write
        journal.keep([(0, sample) for sample in batch.measurements[0].samples])
        store.save_samples(batch, names)
    try:
        with store.journal(backend.setup, names) as journal:
            journal.keep([(0, replace(sample, started=sample.started + 1)) for sample in batch.measurements[0].samples])
            raise StoreError("as if the disk were full")
    except StoreError:
        pass
    assert len(store.load_samples(backend.setup, key, "free")) > turn
    store.note_facts(backend.setup, **{f"fact_{me}_{turn}": 1.0})
    store.close()
"""
CROWD, TURNS = 6, 20


def test_a_crowd_at_the_store_loses_nothing(home: Path) -> None:
    """All begin at once, with a store that is not there yet, and open it anew at every turn."""
    code = HAMMER.replace("TURNS", str(TURNS))
    begin = str(time.time() + 3)
    processes = [
        subprocess.Popen([sys.executable, "-P", "-c", code, str(me), begin], stderr=subprocess.PIPE, text=True)
        for me in range(CROWD)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, ""), errors
    Store(home).recover()  # half of the samples are from journals, each once
    assert not list((home / "journals").iterdir())
    with contextlib.closing(sqlite3.connect(home / "samples.sqlite")) as database:
        sizes = {json.loads(text)[0] for (text,) in database.execute("SELECT sizes FROM measurements")}
        ((facts,),) = database.execute("SELECT facts FROM setups")
        assert database.execute("SELECT COUNT(*) FROM samples").fetchone() == (
            CROWD * TURNS * 10,
        )  # half of them recovered, each once
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert sizes == {1000 * me + turn + 1 for me in range(CROWD) for turn in range(TURNS)}
    assert len(json.loads(facts)) == CROWD * TURNS
