"""The store: whole after a kill, shared by two, and plain about what is wrong with it."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blascast.models.kept.store import Store
from blascast.models.parameters import PEISE2017, Parameters
from blascast.models.piecewise import Model, ModelKey, Piece
from blascast.models.sampling import Case
from blascast.models.sizes.domain import Domain
from blascast.sampler.batch.sample import Sample
from blascast.sampler.errors import StoreError
from blascast.sampler.job import sequence_job, warm_job
from blascast.sampler.kernels import find_kernel
from blascast.sampler.sampler import Budget, Sampler
from blascast.sampler.simulated import QUIET, Disturbances, SimulatedBackend

SETUP = SimulatedBackend(disturbances=QUIET).setup
KEY = ModelKey("potf2", "L", 5000)


def piece(low: int, high: int, value: float = 1.0) -> Piece:
    return Piece(Domain((low,), (high,)), np.full((2, 5), value), 0.01, 0.02, 7)


def model(*pieces: Piece, parameters: Parameters | None = None) -> Model:
    return Model(KEY, ((0,), (1,)), pieces, "free", "bound", 1.5, parameters or Parameters())


def test_samples_return_with_their_verdicts(home: Path) -> None:
    backend = SimulatedBackend(disturbances=QUIET)
    case = Case(find_kernel("potf2"), {"uplo": "L"}, {})
    calls = [case.call((n,), 5000) for n in (8, 16)]
    batch = Sampler(backend).measure([*map(warm_job, calls), sequence_job(calls)], 5)
    store = Store(home)
    store.save_samples(batch, [(KEY, (8,)), (KEY, (16,)), (KEY, (24,))])
    loaded = Store(home).load_samples(SETUP, KEY, "free")
    assert {point: len(samples) for point, samples in loaded.items()} == {(8,): 5, (16,): 5, (24,): 5}
    assert tuple(loaded[8,]) == batch.measurements[0].samples
    for sample in loaded[24,]:
        assert len(sample.parts) == 2
        assert sum(sample.parts) == pytest.approx(sample.seconds)
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
blascast.rank("cholesky", n=int(sys.argv[1]), b=64, library="simulated")
print("done", flush=True)
"""


def test_kill_9_leaves_a_whole_store(home: Path) -> None:
    for delay in (0.6, 1.0):
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
    blascast.rank("cholesky", n=300, b=64, library="simulated")
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
    with pytest.raises(StoreError, match="is of version 99, this blascast reads up to 3"):
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
        assert database.execute("PRAGMA user_version").fetchone() == (3,)
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


@pytest.fixture
def damage(home: Path) -> Callable[[str], None]:
    """Changes what is in a database with samples of one point; NULL may be anywhere."""
    batch = Sampler(SimulatedBackend(disturbances=QUIET)).measure(
        [warm_job(Case(find_kernel("potf2"), {"uplo": "L"}, {}).call((8,), 520))], 5
    )
    Store(home).save_samples(batch, [(KEY, (8,))])

    def change(statement: str) -> None:
        with sqlite3.connect(home / "samples.sqlite") as database:
            for table in ("samples", "measurements"):
                database.executescript(f"CREATE TABLE copy AS SELECT * FROM {table}; DROP TABLE {table}")
                database.execute(f"ALTER TABLE copy RENAME TO {table}")
            database.execute(statement)
        database.close()

    return change


@pytest.mark.parametrize("value", ["'x'", "-1", "9e999", "NULL"])
@pytest.mark.parametrize("column", ["seconds", "quietest", "busiest", "clock", "halt"])
def test_damaged_samples(home: Path, damage: Callable[[str], None], column: str, value: str) -> None:
    """NaN is NULL to SQLite."""
    damage(f"UPDATE samples SET {column} = {value}")
    with pytest.raises(StoreError, match="is corrupt"):
        Store(home).load_samples(SETUP, KEY, "free")


def test_samples_whose_probe_was_slow_in_most_of_its_chunks(home: Path, damage: Callable[[str], None]) -> None:
    """Their halts came out negative once; they are as good as others."""
    before = Store(home).load_samples(SETUP, KEY, "free")
    damage("UPDATE samples SET halt = -2e-6")
    assert Store(home).load_samples(SETUP, KEY, "free").keys() == before.keys()


@pytest.mark.parametrize("column", ["switches", "faults", "migrations"])
@pytest.mark.parametrize("value", ["'x'", "0.5", "NULL"])
def test_damaged_counts(home: Path, damage: Callable[[str], None], column: str, value: str) -> None:
    damage(f"UPDATE samples SET {column} = {value}")
    with pytest.raises(StoreError, match="is corrupt"):
        Store(home).load_samples(SETUP, KEY, "free")


@pytest.mark.parametrize(
    "sizes", ["", "[", "8", '"ab"', "{}", "[]", "[8.5]", "[-8]", "[0]", "[true]", '["a"]', "[[8]]", "null"]
)
def test_damaged_sizes(home: Path, damage: Callable[[str], None], sizes: str) -> None:
    damage(f"UPDATE measurements SET sizes = '{sizes}'")
    with pytest.raises(StoreError, match="is corrupt"):
        Store(home).load_samples(SETUP, KEY, "free")


VALUES = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.text(max_size=5), st.binary(max_size=5))
COLUMNS = {
    "samples": ["seconds", "quietest", "busiest", "clock", "switches", "started", "faults", "migrations", "halt"],
    "measurements": ["sizes", "floor", "clock", "longest_halt", "state", "ld", "kernel", "taken"],
}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The contents of one with samples of one point."""
    folder = tmp_path_factory.mktemp("sound")
    batch = Sampler(SimulatedBackend(disturbances=QUIET)).measure(
        [warm_job(Case(find_kernel("potf2"), {"uplo": "L"}, {}).call((8,), 520))], 3
    )
    store = Store(folder)
    store.save_samples(batch, [(KEY, (8,))])
    store.close()
    return (folder / "samples.sqlite").read_bytes()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([(table, column) for table, columns in COLUMNS.items() for column in columns]), VALUES)
def test_any_damage_to_a_database_is_read_or_refused(
    home: Path, database: bytes, place: tuple[str, str], value: object
) -> None:
    home.mkdir(exist_ok=True)
    (home / "samples.sqlite").write_bytes(database)
    table, column = place
    with contextlib.closing(sqlite3.connect(home / "samples.sqlite")) as changed:
        with contextlib.suppress(sqlite3.IntegrityError):
            changed.execute(f"UPDATE {table} SET {column} = ?", (value,))
        changed.commit()
    store = Store(home)
    with contextlib.suppress(StoreError):
        for point, samples in store.load_samples(SETUP, KEY, "free").items():
            assert point == (8,)
            assert all(sample.seconds >= 0 for sample in samples)
    with contextlib.suppress(StoreError):
        assert store.prevailing_state(SETUP) in (None, "free", "busy", "mixed")
    with contextlib.suppress(StoreError):
        assert isinstance(store.last_taken(SETUP, KEY), float)
    store.close()


@pytest.mark.parametrize(
    ("column", "read"),
    [
        ("state", lambda store: store.prevailing_state(SETUP)),
        ("taken", lambda store: store.last_taken(SETUP, KEY)),
    ],
)
def test_damaged_measurements(
    home: Path, damage: Callable[[str], None], column: str, read: Callable[[Store], object]
) -> None:
    damage(f"UPDATE measurements SET {column} = 'asleep'")
    with pytest.raises(StoreError, match="is corrupt"):
        read(Store(home))


def test_a_model_file_that_is_no_text(home: Path) -> None:
    store = Store(home)
    store.save_model(SETUP, model(piece(8, 64)))
    (path,) = (home / "models").glob("*/*.json")
    path.write_bytes(b"\xff\xfe\x00")
    for read in (lambda: store.load_model(SETUP, KEY), store.all_models):
        with pytest.raises(StoreError, match="is corrupt"):
            read()


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


# --- many models

OPENED = """
import sys
opened = set()
sys.addaudithook(lambda event, args: opened.add(str(args[0])) if event == "open" else None)
import blascast
blascast.predict("cholesky", 3, n=300, b=64, library="simulated")
print(*sorted(name for name in opened if name.endswith(".json") and "/models/" in name), sep="\\n")
"""


def test_a_question_opens_the_models_it_needs_and_no_others(home: Path) -> None:
    command = [sys.executable, "-P", "-c", OPENED]
    assert subprocess.run(command, capture_output=True, text=True).returncode == 0
    needed = {str(path) for path in (home / "models").glob("*/*.json")}
    assert {Path(name).name.split("-")[0] for name in needed} == {"potf2", "syrk", "trsm"}
    store = Store(home)
    for setup in (SETUP, SimulatedBackend(dtype="s").setup):
        for number in range(20):
            store.save_model(setup, replace(model(piece(8, 64)), key=ModelKey("trti2", "LN", 1000 + number)))
    done = subprocess.run(command, capture_output=True, text=True)
    assert set(done.stdout.split()) == needed, done.stderr


def test_fifty_models_of_fifty_pieces(home: Path) -> None:
    store = Store(home)
    pieces = [piece(low, low + 8, float(low)) for low in range(8, 408, 8)]
    for number in range(50):
        store.save_model(SETUP, replace(model(*pieces), key=ModelKey("potf2", "L", 1000 + number)))
    found = Store(home).all_models()
    assert sorted(model.key.ld for _, model in found) == list(range(1000, 1050))
    sizes = np.arange(8, 401)[:, None]
    for _, made in found:
        assert made.domains == [p.domain for p in pieces]
        assert made.covers(sizes).all()
