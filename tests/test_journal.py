"""A process that is killed loses the repetition in flight and no other."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest

from blascast.models.kept.store import Store
from blascast.models.piecewise import ModelKey
from blascast.sampler.batch.journal import Journal, left_behind
from blascast.sampler.batch.sample import Sample
from blascast.sampler.errors import StoreError
from blascast.sampler.precondition import MOST_SETTLING_CALLS
from blascast.sampler.raw import Shape
from blascast.sampler.simulated import SimulatedBackend

SETUP = SimulatedBackend().setup
KEY = ModelKey("tick", "", 8)
SAMPLE = Sample(0.25, 1.36, 1.37, 2e-6, 0, 1.0, 0, 0, 0.0)

MEASURE = """
import sys
from blascast.models.piecewise import ModelKey
from blascast.models.kept.store import Store
from blascast.sampler.call import View, bind
from blascast.sampler.host.backend import WorkerBackend
from blascast.sampler.job import warm_job
from blascast.sampler.kernel import Data, Kernel, Ld, Size
from blascast.sampler.sampler import Sampler
from blascast.sampler.setup import SetupRequest

kernel = Kernel("tick", "d", (Size("n"), Data("A", "inout", "n", "n"), Ld("lda", "A")), "n", "n")
jobs = [warm_job(bind(kernel, View("A", 0, 0, n, n, 8))) for n in (1, 2, 3, 4)]
sampler, store = Sampler(WorkerBackend(SetupRequest(sys.argv[1]))), Store()
with store.journal(sampler.setup, [(ModelKey("tick", "", 8), (n,)) for n in (1, 2, 3, 4)]) as journal:
    sampler.measure(jobs, 500, journal=journal)
"""


@pytest.mark.parametrize("calls", [40, 500, 3000])
def test_kill_9_costs_the_repetition_in_flight(home: Path, toy: Callable[..., str], tmp_path: Path, calls: int) -> None:
    made = tmp_path / "calls"
    made.touch()
    command, environment = [sys.executable, "-P", "-c", MEASURE, toy()], {**os.environ, "TOY_CALLS": str(made)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        while made.stat().st_size < calls:
            assert process.poll() is None
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
    time.sleep(0.2)  # the worker follows
    recovered = Store(home).recover()
    # as many calls to warm up as a repetition has; the last may be in flight, and the worker's end takes a moment
    repetitions = made.stat().st_size // (MOST_SETTLING_CALLS + 1) - 1
    assert repetitions - 1 <= recovered <= repetitions
    assert not list((home / "journals").iterdir())
    assert Store(home).recover() == 0


def journal(home: Path, *lines: object) -> Path:
    """A journal that a killed process left."""
    folder = home / "journals"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "1-2.journal"
    path.write_text("".join(json.dumps(line) + "\n" if not isinstance(line, str) else line for line in lines))
    return path


HEADER = {"fingerprint": SETUP.fingerprint, "names": [["tick", "", 8, [1]], ["tick", "", 8, [2]]]}
CHUNK = {"jobs": [1, 0], "lengths": [4, 4], "shape": [8, 0, 1e9, 20]}


def test_chunks_that_were_completed_are_recovered(home: Path) -> None:
    values = [0.25, 1.36, 1.37, 2e-6, 0, 1.0, 0, 0, 0.0]
    journal(home, HEADER, CHUNK, {"samples": [[1, *values, "[0.15, 0.1]"], [0, *values, None]]}, CHUNK)
    store = Store(home)
    assert store.recover() == 2
    assert store.load_samples(SETUP, KEY, "mixed") == {(1,): [SAMPLE], (2,): [replace(SAMPLE, parts=(0.15, 0.1))]}


@pytest.mark.parametrize(
    "lines",
    [
        ["not json\n"],
        [HEADER, {"samples": [[7, "x"]]}],
        [{"samples": 5}, {"samples": [[0, 0.25, 1.36, 1.37, 2e-6, 0, 1.0]]}],
        [[], {"jobs": 3, "lengths": 4, "shape": [1]}],
        [HEADER, {**CHUNK, "shape": ["a", 1, 2, 3]}],
        [HEADER, 7],
    ],
)
def test_a_damaged_journal_harms_nothing(home: Path, lines: list[object]) -> None:
    path = journal(home, *lines)
    assert Store(home).recover() == 0
    assert not path.exists()


def test_a_line_that_was_cut_off_is_left_out(home: Path) -> None:
    values = [0.25, 1.36, 1.37, 2e-6, 0, 1.0, 0, 0, 0.0, None]
    journal(home, HEADER, CHUNK, {"samples": [[0, *values]]}, CHUNK, '{"samples": [[0, 0.25')
    assert Store(home).recover() == 1


def test_the_journal_of_a_living_process_is_left_alone(home: Path) -> None:
    with Store(home).journal(SETUP, [(KEY, (1,))]) as living:
        living.begin([0], [4], Shape(4, 0, 1e9, 20))
        living.keep([(0, SAMPLE)])
        assert Store(home).recover() == 0
    assert not list((home / "journals").iterdir())


def test_a_disk_that_is_full_is_named(home: Path) -> None:
    with pytest.raises(StoreError, match="make room"), Store(home).journal(SETUP, []) as full:
        full._file.close()
        full._file = Path("/dev/full").open("w")  # noqa: SIM115
        full.keep([(0, SAMPLE)])


def test_what_could_not_be_saved_is_recovered(home: Path) -> None:
    with pytest.raises(StoreError), Store(home).journal(SETUP, [(KEY, (1,))]) as journal:
        journal.keep([(0, SAMPLE)])
        raise StoreError("the disk is full")
    assert Store(home).recover() == 1


def test_a_journal_is_not_written_twice(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a.journal", {})
    with pytest.raises(FileExistsError):
        Journal(tmp_path / "a.journal", {})
    journal.discard()


def test_a_journal_that_its_owner_removes_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between opening it and asking for its lock."""
    owner = Journal(tmp_path / "1-2.journal", {})
    lock = fcntl.flock

    def late(file: IO[str], operation: int) -> None:
        owner.discard()
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    assert left_behind(tmp_path) == []


def test_a_batch_that_was_saved_is_not_recovered_once_more(home: Path) -> None:
    """Its process was killed before it could remove the journal."""
    values = [0.25, 1.36, 1.37, 2e-6, 0]
    kept, lost = [*values, 1.0, 0, 0, 0.0, None], [*values, 2.0, 0, 0, 0.0, None]
    journal(home, HEADER, CHUNK, {"samples": [[0, *kept]]})
    assert Store(home).recover() == 1
    journal(home, HEADER, CHUNK, {"samples": [[0, *kept], [0, *lost], [1, *kept]]})
    assert Store(home).recover() == 2
    loaded = Store(home).load_samples(SETUP, KEY, "mixed")
    assert {point: sorted(s.started for s in samples) for point, samples in loaded.items()} == {
        (1,): [1.0, 2.0],
        (2,): [1.0],
    }
