"""The store: whole after a kill, shared by two, and plain about what is wrong with it."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blascast.models.domain import Domain
from blascast.models.model_file import model_from_json, model_to_json
from blascast.models.parameters import PEISE2017, Parameters
from blascast.models.piecewise import Model, ModelKey, Piece
from blascast.models.sampling import Case
from blascast.models.store import Store
from blascast.sampler.batch.sample import Sample
from blascast.sampler.errors import StoreError
from blascast.sampler.job import warm_job
from blascast.sampler.kernels import find_kernel
from blascast.sampler.sampler import Budget, Sampler
from blascast.sampler.simulated import QUIET, Disturbances, SimulatedBackend

SETUP = SimulatedBackend(disturbances=QUIET).setup
KEY = ModelKey("potf2", "L", 5000)


def piece(low: int, high: int, value: float = 1.0) -> Piece:
    return Piece(Domain((low,), (high,)), np.full((2, 5), value), 0.01, 0.02, 7)


def model(*pieces: Piece, parameters: Parameters | None = None) -> Model:
    return Model(KEY, ((0,), (1,)), pieces, "free", "bound", 1.5, parameters or Parameters())


@pytest.mark.parametrize("parameters", [Parameters(), PEISE2017])
def test_a_model_returns_as_it_was_saved(home: Path, parameters: Parameters) -> None:
    store = Store(home)
    saved = model(piece(8, 64), piece(64, 128, 3.25), parameters=parameters)
    store.save_model(SETUP, saved)
    loaded = store.load_model(SETUP, KEY)
    assert loaded is not None
    assert (loaded.key, loaded.exponents, loaded.state, loaded.stopped, loaded.seconds, loaded.parameters) == (
        saved.key,
        saved.exponents,
        "free",
        "bound",
        1.5,
        parameters,
    )
    for one, other in zip(loaded.pieces, saved.pieces, strict=True):
        assert one.domain == other.domain
        np.testing.assert_array_equal(one.coefficients, other.coefficients)
    assert store.load_model(SETUP, ModelKey("potf2", "U", 5000)) is None
    assert [(s, m.key) for s, m in store.all_models()] == [(SETUP, KEY)]


def test_a_model_file_begins_with_format_version_and_setup(home: Path) -> None:
    Store(home).save_model(SETUP, model(piece(8, 64)))
    (path,) = (home / "models").glob("*/*.json")
    assert list(json.loads(path.read_text()))[:3] == ["format", "version", "setup"]


def test_samples_return_with_their_verdicts(home: Path) -> None:
    backend = SimulatedBackend(disturbances=QUIET)
    case = Case(find_kernel("potf2"), {"uplo": "L"}, {})
    batch = Sampler(backend).measure([warm_job(case.call((n,), 5000)) for n in (8, 16)], 5)
    store = Store(home)
    store.save_samples(batch, [(KEY, (8,)), (KEY, (16,))])
    loaded = Store(home).load_samples(SETUP, KEY, "free")
    assert {point: len(samples) for point, samples in loaded.items()} == {(8,): 5, (16,): 5}
    assert tuple(loaded[8,]) == batch.measurements[0].samples
    assert store.load_samples(SETUP, KEY, "busy") == {}
    assert store.prevailing_state(SETUP) == "free"


def test_facts_are_added_to(home: Path) -> None:
    store = Store(home)
    assert store.facts(SETUP) == {}
    store.note_facts(SETUP, peak=1.0)
    store.note_facts(SETUP, floor=2.0)
    assert Store(home).facts(SETUP) == {"peak": 1.0, "floor": 2.0}


def test_two_builders_join_their_pieces(home: Path) -> None:
    first, second = Store(home), Store(home)
    first.save_model(SETUP, model(piece(8, 64)))
    joined = second.save_model(SETUP, model(piece(64, 128)))
    assert joined.domains == [Domain((64,), (128,)), Domain((8,), (64,))]
    assert second.load_model(SETUP, KEY).domains == joined.domains  # type: ignore[union-attr]
    again = first.save_model(SETUP, model(piece(8, 64)))  # nothing is doubled
    assert sorted(again.domains) == [Domain((8,), (64,)), Domain((64,), (128,))]


def test_models_that_are_not_alike_do_not_join(home: Path) -> None:
    store = Store(home)
    store.save_model(SETUP, model(piece(8, 64)))
    replaced = store.save_model(SETUP, model(piece(64, 128), parameters=PEISE2017))
    assert replaced.domains == [Domain((64,), (128,))]


BUILD = """
import sys
import blascast
blascast.rank("cholesky", n=int(sys.argv[1]), library="simulated")
print("done", flush=True)
"""


def test_two_processes_may_build_at_once(home: Path) -> None:
    command = [sys.executable, "-P", "-c", BUILD]
    processes = [subprocess.Popen([*command, n], stderr=subprocess.PIPE) for n in ("300", "400", "300")]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    assert len(Store(home).all_models()) == 4


def test_kill_9_leaves_a_whole_store(home: Path) -> None:
    for delay in (0.5, 0.7, 0.9, 1.1):
        process = subprocess.Popen([sys.executable, "-P", "-c", BUILD, "2000"], stdout=subprocess.DEVNULL)
        time.sleep(delay)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        if (home / "samples.sqlite").exists():
            with sqlite3.connect(home / "samples.sqlite") as database:
                assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            database.close()
        Store(home).all_models()
    finished = subprocess.run([sys.executable, "-P", "-c", BUILD, "300"], capture_output=True, text=True)
    assert finished.stdout == "done\n", finished.stderr


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"the store at .* cannot be used .* set BLASCAST_HOME"):
        Store(tmp_path / "file" / "home")


FULL = """
import resource, signal, sys
import blascast
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    blascast.rank("cholesky", n=300, library="simulated")
except blascast.BlascastError as error:
    print(error)
"""


def test_a_full_disk(home: Path) -> None:
    """No file may grow beyond 50 kB: SQLite cannot write its log."""
    done = subprocess.run([sys.executable, "-P", "-c", FULL], capture_output=True, text=True)
    assert "cannot be used" in done.stdout, done.stderr
    assert "make room" in done.stdout
    assert done.stdout.count("\n") == 1
    finished = subprocess.run([sys.executable, "-P", "-c", BUILD, "300"], capture_output=True, text=True)
    assert finished.stdout == "done\n", finished.stderr


def test_a_database_that_is_none(home: Path) -> None:
    home.mkdir()
    (home / "samples.sqlite").write_bytes(b"this is no database at all" * 100)
    with pytest.raises(StoreError, match=r"the store at .* is corrupt .* move it away"):
        Store(home).facts(SETUP)


def test_a_database_of_a_later_version(home: Path) -> None:
    Store(home).facts(SETUP)
    with sqlite3.connect(home / "samples.sqlite") as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(StoreError, match="is of version 99, this blascast reads up to 2"):
        Store(home).facts(SETUP)


VERSION_1 = """
CREATE TABLE setups (fingerprint TEXT PRIMARY KEY, description TEXT NOT NULL, facts TEXT NOT NULL DEFAULT '{}');
CREATE TABLE measurements (
    id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, kernel TEXT NOT NULL, "case" TEXT NOT NULL,
    ld INTEGER NOT NULL, sizes TEXT NOT NULL, precondition TEXT NOT NULL, state TEXT NOT NULL, floor REAL NOT NULL,
    taken REAL NOT NULL);
CREATE INDEX by_case ON measurements (fingerprint, kernel, "case", ld, precondition, state);
CREATE TABLE samples (
    measurement INTEGER NOT NULL REFERENCES measurements (id), seconds REAL NOT NULL, quietest REAL NOT NULL,
    busiest REAL NOT NULL, clock REAL NOT NULL, switches INTEGER NOT NULL, started REAL NOT NULL);
CREATE INDEX by_measurement ON samples (measurement);
PRAGMA user_version = 1;
"""


def test_a_database_of_version_1_is_upgraded(home: Path) -> None:
    home.mkdir()
    with sqlite3.connect(home / "samples.sqlite") as database:
        database.executescript(VERSION_1)
        database.execute(
            "INSERT INTO measurements VALUES (1, ?, 'potf2', 'L', 5000, '[8]', 'warm', 'free', 1.5, 0.0)",
            (SETUP.fingerprint,),
        )
        database.execute("INSERT INTO samples VALUES (1, 0.25, 1.5, 1.5, 2e-6, 0, 3.0)")
    database.close()
    store = Store(home)
    assert store.load_samples(SETUP, KEY, "free") == {(8,): [Sample(0.25, 1.5, 1.5, 2e-6, 0, 3.0, 0, 0, 0.0)]}
    batch = Sampler(SimulatedBackend(disturbances=QUIET)).measure(
        [warm_job(Case(find_kernel("potf2"), {"uplo": "L"}, {}).call((16,), 5000))], 5
    )
    store.save_samples(batch, [(KEY, (16,))])
    assert len(Store(home).load_samples(SETUP, KEY, "free")[16,]) == 5
    with sqlite3.connect(home / "samples.sqlite") as database:
        assert database.execute("PRAGMA user_version").fetchone() == (2,)
    database.close()


def test_samples_at_another_clock_do_not_return(home: Path) -> None:
    throttled = Disturbances(throttled_after=0.35, throttling=1.25)  # behind the first chunk
    sampler = Sampler(SimulatedBackend(disturbances=throttled), budget=Budget(factor=0.0, least_seconds=0.0))
    batch = sampler.measure([warm_job(Case(find_kernel("potf2"), {"uplo": "L"}, {}).call((400,), 5000))], 60)
    store = Store(home)
    store.save_samples(batch, [(KEY, (400,))])
    returned = store.load_samples(SETUP, KEY, batch.state)[400,]
    assert tuple(returned) == batch.measurements[0].accepted
    assert 0 < len(returned) < 60


@pytest.mark.parametrize(
    "facts", ["[]", '{"peak": "x"}', '{"peak": 0}', '{"peak": NaN}', '{"noise_floor": null}', "{", '{"peak": -1.0}']
)
def test_damaged_facts(home: Path, facts: str) -> None:
    Store(home).note_facts(SETUP, peak=1.0)
    with sqlite3.connect(home / "samples.sqlite") as database:
        database.execute("UPDATE setups SET facts = ?", (facts,))
    database.close()
    with pytest.raises(StoreError, match="is corrupt"):
        Store(home).facts(SETUP)


@pytest.mark.parametrize("value", ["'x'", "-1", "9e999", "NULL"])
def test_damaged_samples(home: Path, value: str) -> None:
    batch = Sampler(SimulatedBackend(disturbances=QUIET)).measure(
        [warm_job(Case(find_kernel("potf2"), {"uplo": "L"}, {}).call((8,), 520))], 5
    )
    Store(home).save_samples(batch, [(KEY, (8,))])
    with sqlite3.connect(home / "samples.sqlite") as database:
        database.executescript("CREATE TABLE copy AS SELECT * FROM samples; DROP TABLE samples")
        database.execute("ALTER TABLE copy RENAME TO samples")
        database.execute(f"UPDATE samples SET seconds = {value}")
    database.close()
    with pytest.raises(StoreError, match="is corrupt"):
        Store(home).load_samples(SETUP, KEY, "free")


def test_a_home_given_as_text(home: Path) -> None:
    assert Store(str(home)).home == home  # type: ignore[arg-type]


def test_a_model_of_another_setup_or_case(home: Path) -> None:
    store = Store(home)
    store.save_model(SETUP, model(piece(8, 64)))
    (path,) = (home / "models").glob("*/*.json")
    other = SimulatedBackend(dtype="s").setup
    folder = home / "models" / other.fingerprint
    folder.mkdir()
    (folder / path.name).write_text(path.read_text())
    with pytest.raises(StoreError, match="belongs to another setup"):
        store.load_model(other, KEY)
    (path.parent / "potf2-U-5000.json").write_text(path.read_text())
    with pytest.raises(StoreError, match=r"holds a model of potf2 L \(ld 5000\), not potf2 U"):
        store.load_model(SETUP, ModelKey("potf2", "U", 5000))


TEXT = model_to_json(SETUP, model(piece(8, 64)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is corrupt"),
        ("[1, 2]", "is corrupt"),
        ("{}", "is corrupt"),
        ('{"format": "something else"}', "is no model file"),
        (TEXT.replace('"version": 1', '"version": 2'), "is of version 2, this blascast reads 1"),
        (TEXT.replace('"free"', '"asleep"'), "unknown state"),
        (TEXT[: len(TEXT) // 2], "is corrupt"),
        (TEXT.replace('"lower": [', '"lower": [1, '), "is corrupt"),
        (TEXT.replace('"potf2"', '{"a": 1}'), "is corrupt"),
        (TEXT.replace('"ld": 5000', '"ld": true'), "is corrupt"),
        (TEXT.replace('"seconds": 1.5', '"seconds": Infinity'), "no finite number"),
        (TEXT.replace('"error": 0.01', '"error": NaN'), "no finite number"),
    ],
)
def test_a_model_file_that_is_none(text: str, message: str) -> None:
    with pytest.raises(StoreError, match=message) as caught:
        model_from_json(text, Path("file.json"))
    assert "file.json" in str(caught.value)
    assert "remove it" in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_change_to_a_model_file_is_read_or_refused(data: st.DataObject) -> None:
    values = json.loads(TEXT)
    name = data.draw(st.sampled_from(sorted(values)))
    if data.draw(st.booleans()):
        values[name] = data.draw(JSON)
    elif isinstance(values[name], dict):
        values[name][data.draw(st.sampled_from(sorted(values[name])))] = data.draw(JSON)
    else:
        inner = values["pieces"][0]
        inner[data.draw(st.sampled_from(sorted(inner)))] = data.draw(JSON)
    with contextlib.suppress(StoreError):
        model_from_json(json.dumps(values), Path("file.json"))
