"""The store: samples in SQLite, models as JSON files, keyed by the setup's fingerprint.

    HOME/samples.sqlite                  measurements with all their samples; facts about setups
    HOME/models/FINGERPRINT/KERNEL-CASE-ld.json, or KERNEL-CASE-ld-PRECONDITION.json
    HOME/journals/PID-TIME.journal       of batches in flight, or that were killed

The database is in write-ahead mode and a batch is one transaction. A killed process loses the
repetition in flight at most: the rest of its batch is recovered from the journal. Model files are
replaced as a whole, under a lock. Opening any of them never runs code.
"""

import contextlib
import fcntl
import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from glob import escape
from pathlib import Path
from typing import Any, TypeAlias, cast, get_args
from urllib.parse import quote

import numpy as np
import platformdirs

from blascast.sampler.batch.guard import floor_of, prevailing_clocks, prevailing_state, samples_of
from blascast.sampler.batch.journal import SUFFIX, Journal, left_behind, read_journal, remove_journal
from blascast.sampler.batch.sample import Batch, Sample, State
from blascast.sampler.errors import StoreError
from blascast.sampler.precondition import WARM
from blascast.sampler.setup import Setup, setup_from_json

from ..generation.generator import Point
from ..piecewise import Model, ModelKey
from .model_file import model_from_json, model_to_json

# Statements that bring the database from the version of their index to the next: a new one takes all steps.
LEAST_HALT = -0.1  # seconds; samples of former versions may have one below 0
_STEPS = (
    (
        """CREATE TABLE IF NOT EXISTS setups (
        fingerprint TEXT PRIMARY KEY, description TEXT NOT NULL, facts TEXT NOT NULL DEFAULT '{}')""",
        """CREATE TABLE IF NOT EXISTS measurements (
        id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, kernel TEXT NOT NULL, "case" TEXT NOT NULL,
        ld INTEGER NOT NULL, sizes TEXT NOT NULL, precondition TEXT NOT NULL, state TEXT NOT NULL, floor REAL NOT NULL,
        taken REAL NOT NULL)""",
        'CREATE INDEX IF NOT EXISTS by_case ON measurements (fingerprint, kernel, "case", ld, precondition, state)',
        """CREATE TABLE IF NOT EXISTS samples (
        measurement INTEGER NOT NULL REFERENCES measurements (id), seconds REAL NOT NULL, quietest REAL NOT NULL,
        busiest REAL NOT NULL, clock REAL NOT NULL, switches INTEGER NOT NULL, started REAL NOT NULL)""",
        "CREATE INDEX IF NOT EXISTS by_measurement ON samples (measurement)",
    ),
    (
        "ALTER TABLE samples ADD COLUMN faults INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE samples ADD COLUMN migrations INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE samples ADD COLUMN halt REAL NOT NULL DEFAULT 0",
        # The clock that samples must be close to, and the longest halt with which they count; NULL: any.
        "ALTER TABLE measurements ADD COLUMN clock REAL",
        "ALTER TABLE measurements ADD COLUMN longest_halt REAL",
    ),
    ("ALTER TABLE samples ADD COLUMN parts TEXT",),  # times of calls that were timed one by one, a JSON list
)
SCHEMA_VERSION = len(_STEPS)
_BUSY_SECONDS = 60.0
_LEAST_FACT = 1e-9
_OF_CASE = 'm.fingerprint = ? AND m.kernel = ? AND m."case" = ? AND m.ld = ? AND m.precondition = ?'

Name: TypeAlias = tuple[ModelKey, Point]


def default_home() -> Path:
    """The folder BLASCAST_HOME, else the platform's folder for user data."""
    named = os.environ.get("BLASCAST_HOME")
    return Path(named) if named else Path(platformdirs.user_data_dir("blascast"))


class Store:
    """What was measured and modelled earlier.

    Parameters
    ----------
    home : Path, optional
        Its folder, made if need be; by default that of `default_home`.

    Raises
    ------
    StoreError
        If it cannot be read or written, or is not a store.
    """

    def __init__(self, home: Path | None = None) -> None:
        self.home = Path(home) if home is not None else default_home()
        with self._explained():
            (self.home / "models").mkdir(parents=True, exist_ok=True)

    @cached_property
    def _database(self) -> sqlite3.Connection:
        """Opened when first needed: models can be listed without it."""
        with self._lock():  # SQLite does not wait for another process that turns to write-ahead mode
            return self._open_database()

    def _open_database(self) -> sqlite3.Connection:
        database = sqlite3.connect(self.home / "samples.sqlite", timeout=_BUSY_SECONDS)
        database.execute("PRAGMA journal_mode = WAL")
        version = _version(database)
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"the store at {self.home} is of version {version}, this blascast reads up to {SCHEMA_VERSION}; "
                "update blascast or set BLASCAST_HOME to another folder"
            )
        if version < SCHEMA_VERSION:
            _upgrade(database)
        return database

    def close(self) -> None:
        """Closes the database, if it was opened."""
        if "_database" in self.__dict__:
            self._database.close()

    # --- setups

    def facts(self, setup: Setup) -> dict[str, float]:
        """What is known about a setup: the floor of its probes, its peak, its noise floor."""
        with self._explained():
            row = self._database.execute(
                "SELECT facts FROM setups WHERE fingerprint = ?", (setup.fingerprint,)
            ).fetchone()
            return _checked_facts(json.loads(row[0])) if row else {}

    def note_facts(self, setup: Setup, **facts: float) -> None:
        """Adds to what is known about a setup."""
        with self._explained(), self._database:
            self._database.execute("BEGIN IMMEDIATE")
            known = {**self.facts(setup), **facts}
            self._database.execute(
                "INSERT INTO setups VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET facts = excluded.facts",
                (setup.fingerprint, json.dumps(setup.to_json()), json.dumps(known)),
            )

    # --- samples

    def save_samples(self, batch: Batch, names: Sequence[Name]) -> None:
        """Keeps the samples of a batch, all or none of them; `names` says what each measurement is of."""
        with self._explained(), self._database:
            for name, measurement in zip(names, batch.measurements, strict=True):
                limits = (measurement.clock, measurement.longest_halt)
                terms = (batch.state, batch.floor, time.time(), *limits)
                self._insert(batch.setup.fingerprint, name, terms, measurement.samples)

    def _insert(self, fingerprint: str, name: Name, terms: tuple[Any, ...], samples: Sequence[Sample]) -> None:
        """Adds a measurement; `terms` are on what its samples count, and when it was taken."""
        key, point = name
        cursor = self._database.execute(
            "INSERT INTO measurements VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (fingerprint, key.kernel, key.case, key.ld, json.dumps(point), key.precondition, *terms),
        )
        rows = [(cursor.lastrowid, *sample.row) for sample in samples]
        self._database.executemany("INSERT INTO samples VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    @contextlib.contextmanager
    def journal(self, setup: Setup, names: Sequence[Name]) -> Iterator[Journal]:
        """A journal for a batch, which is removed at the end: by then its samples must be saved.

        If they could not be, it is left: what it holds is recovered when the store can be written again.
        """
        header = {
            "fingerprint": setup.fingerprint,
            "names": [[*_terms_of(key), list(point)] for key, point in names],
        }
        with self._explained():
            self._journals.mkdir(exist_ok=True)
            with self._lock():  # nobody may find it before it is locked
                journal = Journal(self._journals / f"{os.getpid()}-{time.time_ns()}{SUFFIX}", header)
        try:
            with self._disk_explained():
                yield journal
        except StoreError:
            with contextlib.suppress(OSError):
                journal.leave()
            raise
        except BaseException:
            journal.discard()
            raise
        with self._explained():
            journal.discard()

    def recover(self) -> int:
        """Saves what processes that were killed had measured, each journal once; how many samples."""
        count = 0
        with self._explained():
            if not left_behind(self._journals):
                return 0
            _ = self._database  # opening it takes the lock, too
            with self._lock():
                for path in left_behind(self._journals):
                    try:
                        count += self._save_recovered(*read_journal(path, samples_of))
                    except (ValueError, TypeError, LookupError, AttributeError):
                        path.rename(path.with_suffix(".damaged"))
                    remove_journal(path)
        return count

    def _save_recovered(self, header: Any, samples: list[tuple[int, Sample]]) -> int:
        if not samples:
            return 0
        names = [(ModelKey(*terms), tuple(point)) for *terms, point in header["names"]]
        own = [[sample for job, sample in samples if job == index] for index in range(len(names))]
        floor = floor_of(np.array([ratio for _, sample in samples for ratio in (sample.quietest, sample.busiest)]))
        state, count = prevailing_state([sample for _, sample in samples], floor), 0
        with self._database:
            for name, taken, clock in zip(names, own, prevailing_clocks(own), strict=True):
                new = [sample for sample in taken if not self._is_kept(header["fingerprint"], name, sample)]
                if new:
                    # any halt: the usual one is not known
                    terms = (state, floor, time.time(), clock, None)
                    self._insert(header["fingerprint"], name, terms, new)
                count += len(new)
        return count

    def _is_kept(self, fingerprint: str, name: Name, sample: Sample) -> bool:
        """Whether a sample is here: its process may have been killed when it had saved its batch."""
        query = (
            "SELECT 1 FROM measurements m JOIN samples s ON s.measurement = m.id "
            f"WHERE {_OF_CASE} AND m.sizes = ? AND s.started = ? AND s.seconds = ?"
        )
        key, point = name
        terms = (fingerprint, *_terms_of(key), json.dumps(point), sample.started, sample.seconds)
        return self._database.execute(query, terms).fetchone() is not None

    @property
    def _journals(self) -> Path:
        return self.home / "journals"

    def load_samples(self, setup: Setup, key: ModelKey, state: State | None) -> dict[Point, list[Sample]]:
        """The samples of a case that count in the given state (None: all), by point, in the order they were taken."""
        query = (
            "SELECT m.sizes, m.floor, m.clock, m.longest_halt, "
            "s.seconds, s.quietest, s.busiest, s.clock, s.switches, s.started, s.faults, s.migrations, s.halt, s.parts "
            "FROM measurements m JOIN samples s ON s.measurement = m.id "
            f"WHERE {_OF_CASE} ORDER BY s.rowid"
        )
        found: dict[Point, list[Sample]] = {}
        with self._explained():
            for sizes, floor, clock, halt, *values in self._database.execute(
                query, (setup.fingerprint, *_terms_of(key))
            ):
                sample = Sample.of_row(*values)
                _check_sample(sample)
                if state is None or sample.verdict(state, floor, clock, halt) == "ok":
                    found.setdefault(_point(sizes), []).append(sample)
        return found

    def count_samples(self, setup: Setup, key: ModelKey) -> dict[Point, int]:
        """How many samples of a case there are at each point, whether they count or not."""
        query = (
            "SELECT m.sizes, COUNT(*) FROM measurements m JOIN samples s ON s.measurement = m.id "
            f"WHERE {_OF_CASE} GROUP BY m.sizes"
        )
        with self._explained():
            rows = self._database.execute(query, (setup.fingerprint, *_terms_of(key)))
            return {_point(sizes): count for sizes, count in rows}

    def prevailing_state(self, setup: Setup) -> State | None:
        """The state that most of the setup's measurements are of."""
        query = "SELECT state FROM measurements WHERE fingerprint = ? GROUP BY state ORDER BY COUNT(*) DESC LIMIT 1"
        with self._explained():
            row = self._database.execute(query, (setup.fingerprint,)).fetchone()
            return _state(row[0]) if row else None

    def last_taken(self, setup: Setup, key: ModelKey) -> float:
        """When the last samples of a case were taken, seconds since 1970; 0 if there are none."""
        query = f"SELECT MAX(taken) FROM measurements m WHERE {_OF_CASE}"
        with self._explained():
            row = self._database.execute(query, (setup.fingerprint, *_terms_of(key))).fetchone()
            return float(row[0] or 0.0)

    def sampled(self) -> list[tuple[Setup, ModelKey]]:
        """The cases that there are samples of, in setups that something is noted about."""
        query = (
            'SELECT DISTINCT s.description, m.kernel, m."case", m.ld, m.precondition '
            "FROM measurements m JOIN setups s ON s.fingerprint = m.fingerprint ORDER BY m.fingerprint, 2, 3, 4, 5"
        )
        with self._explained():
            rows = self._database.execute(query).fetchall()
            return [(setup_from_json(json.loads(text)), ModelKey(*case)) for text, *case in rows]

    def remove_samples(self, setup: Setup, key: ModelKey) -> int:
        """Removes all samples of a case; how many there were."""
        given = (setup.fingerprint, *_terms_of(key))
        with self._explained(), self._database:
            removed = self._database.execute(
                f"DELETE FROM samples WHERE measurement IN (SELECT id FROM measurements m WHERE {_OF_CASE})", given
            )
            self._database.execute(f"DELETE FROM measurements AS m WHERE {_OF_CASE}", given)
            return removed.rowcount

    def usual_clock(self, setup: Setup, key: ModelKey) -> float | None:
        """The time of the probes' arithmetic loop while most samples of a case were taken, seconds, if known."""
        query = f"SELECT m.clock FROM measurements m WHERE {_OF_CASE} AND m.clock IS NOT NULL ORDER BY m.clock"
        with self._explained():
            clocks = [clock for (clock,) in self._database.execute(query, (setup.fingerprint, *_terms_of(key)))]
        return float(clocks[len(clocks) // 2]) if clocks else None

    # --- models

    def load_model(self, setup: Setup, key: ModelKey) -> Model | None:
        """The model of a case, or None.

        Raises
        ------
        StoreError
            If the file is corrupt, or holds a model of another setup or case.
        """
        path = self._model_path(setup, key)
        with self._explained():
            if not path.exists():
                return None
            found_setup, model = model_from_json(path.read_text(), path)
        if found_setup != setup:
            raise StoreError(f"{path} belongs to another setup ({found_setup}); remove it")
        if model.key != key:
            raise StoreError(f"{path} holds a model of {model.key} (ld {model.key.ld}), not {key}; remove it")
        return model

    def save_model(self, setup: Setup, model: Model) -> Model:
        """Keeps a model, joined with pieces that another process has saved meanwhile; the result."""
        path = self._model_path(setup, model.key)
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._lock():
                earlier = self.load_model(setup, model.key)
                joined = model if earlier is None else model.joined(earlier)
                _replace(path, model_to_json(setup, joined))
        return joined

    def replace_model(self, setup: Setup, model: Model) -> None:
        """Keeps a model in the place of the one that is there, if there is one."""
        path = self._model_path(setup, model.key)
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._lock():
                _replace(path, model_to_json(setup, model))

    def remove_model(self, setup: Setup, key: ModelKey) -> None:
        """Removes a model; that there is none is no failure."""
        path = self._model_path(setup, key)
        with self._explained(), self._lock():
            path.unlink(missing_ok=True)

    def all_models(self, kernel: str | None = None, fingerprint: str = "") -> list[tuple[Setup, Model]]:
        """Every model with its setup; or those of a kernel, or of setups whose fingerprints begin so.

        No other files are opened.
        """
        files = "*.json" if kernel is None else f"{escape(_in_file_name(kernel))}-*.json"
        with self._explained():
            paths = sorted((self.home / "models").glob(f"{escape(fingerprint)}*/{files}"))
            return [model_from_json(path.read_text(), path) for path in paths]

    def _model_path(self, setup: Setup, key: ModelKey) -> Path:
        parts = [key.kernel, key.case, str(key.ld), *([key.precondition] if key.precondition != str(WARM) else [])]
        name = "-".join(map(_in_file_name, parts)) + ".json"
        return self.home / "models" / setup.fingerprint / name

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        with (self.home / "models" / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @contextlib.contextmanager
    def _disk_explained(self) -> Iterator[None]:
        """Turns what the file system says into one line with a way out."""
        try:
            yield
        except OSError as error:
            raise self._unusable(error) from error

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Turns what the file system and SQLite say into one line with a way out."""
        try:
            with self._disk_explained():
                yield
        except sqlite3.OperationalError as error:
            raise self._unusable(error) from error
        except (sqlite3.DatabaseError, ValueError, TypeError, KeyError) as error:
            raise StoreError(
                f"the store at {self.home} is corrupt ({error}); move it away or set BLASCAST_HOME to another folder"
            ) from error

    def _unusable(self, error: Exception) -> StoreError:
        return StoreError(
            f"the store at {self.home} cannot be used ({error}); make room, or set BLASCAST_HOME to a "
            "folder that can be written"
        )


def _version(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def _upgrade(database: sqlite3.Connection) -> None:
    """Takes the steps to SCHEMA_VERSION, all or none; another process may have done so meanwhile."""
    with database:
        database.execute("BEGIN IMMEDIATE")
        for step in _STEPS[_version(database) :]:
            for statement in step:
                database.execute(statement)
        database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _checked_facts(facts: Any) -> dict[str, float]:
    """Facts as they were noted, or ValueError."""
    if not isinstance(facts, dict):
        raise ValueError("facts about a setup that are none")
    for name, value in facts.items():
        least = 0.0 if name == "noise_floor" else _LEAST_FACT
        if not isinstance(value, float) or not least <= value < float("inf"):
            raise ValueError(f"{name} of a setup is {value!r}")
    return facts


def _state(text: str) -> State:
    """A state as it was noted, or ValueError."""
    if text not in get_args(State):
        raise ValueError(f"the state of a measurement is {text!r}")
    return cast(State, text)


def _point(text: str) -> Point:
    """Sizes as they were noted, or ValueError."""
    sizes = json.loads(text)
    if not isinstance(sizes, list) or not sizes or not all(type(size) is int and size > 0 for size in sizes):
        raise ValueError(f"sizes of a call are {text}")
    return tuple(sizes)


def _check_sample(sample: Sample) -> None:
    values = (sample.seconds, sample.quietest, sample.busiest, sample.clock)
    sound = all(isinstance(value, float) and 0 < value < float("inf") for value in values)
    counts = (sample.switches, sample.faults, sample.migrations)
    sound = sound and isinstance(sample.halt, float) and LEAST_HALT < sample.halt < float("inf")
    if not (sound or sample.seconds == 0) or not all(isinstance(count, int) for count in counts):
        raise ValueError(f"a sample is {sample}")


def _terms_of(key: ModelKey) -> tuple[str, str, int, str]:
    return key.kernel, key.case, key.ld, key.precondition


def _in_file_name(text: str) -> str:
    """Text as a part of a file name: spaces as underscores, other marks but commas, hyphens and ~ by their codes."""
    return quote(text, safe=" ,").replace("_", "%5F").replace(".", "%2E").replace(" ", "_")


def _replace(path: Path, text: str) -> None:
    """Writes a file as a whole: a reader sees the old text or the new one."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
