"""Ten at once on one store, some of them killed: nothing is damaged, nothing that was kept is lost."""

import contextlib
import json
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from blascast.models.kept.store import Store

# Seven build models, three read, all in processes of their own. Each builder notes the samples of a batch
# when the store has taken them. Three builders are killed in the middle of their work.
CROWD = """
import json, os, random, signal, sys, time, traceback
from dataclasses import astuple
from itertools import count
from pathlib import Path

from blascast.models.generation.builder import ModelBuilder
from blascast.models.sizes.domain import Domain
from blascast.models.generation.need import Need
from blascast.models.parameters import Parameters
from blascast.models.sampling import Case
from blascast.models.kept.store import Store
from blascast.sampler.kernels import find_kernel
from blascast.sampler.sampler import Sampler
from blascast.sampler.simulated import SimulatedBackend

BUILDERS, READERS, KILLED = 7, 3, 3
home, notes = Path(sys.argv[1]), Path(sys.argv[2])
cases = [
    Case(find_kernel("potf2"), {"uplo": uplo}, {}) for uplo in "LU"
] + [
    Case(find_kernel("syrk"), {"uplo": uplo, "trans": "N"}, {"alpha": -1, "beta": 1}) for uplo in "LU"
]


class Noting(Store):
    def save_samples(self, batch, names):
        super().save_samples(batch, names)
        samples = [sample for measurement in batch.measurements for sample in measurement.samples]
        with (notes / str(os.getpid())).open("a") as file:
            file.write(json.dumps([sample.row[:-1] for sample in samples]) + "\\n")


def build(number):
    choice = random.Random(number)
    store = Noting(home)
    store.recover()
    for attempt in count() if number < KILLED else range(6):
        case = choice.choice(cases)
        domain = Domain(*((low,) * len(case.kernel.sizes) for low in (8, choice.choice([64, 128, 256, 512]))))
        sampler = Sampler(SimulatedBackend(seed=100 * number + attempt))
        ModelBuilder(sampler, store, Parameters(bound=0.005)).provide([Need(case, (domain,))])
    store.close()


def read(number):
    store = Store(home)
    setup = SimulatedBackend().setup
    for _ in range(40):
        for setup, model in store.all_models():
            store.load_samples(setup, model.key, model.state)
            store.facts(setup)
        time.sleep(0.02)
    store.close()


def born(work, number):
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work(number)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


builders = [born(build, number) for number in range(BUILDERS)]
readers = [born(read, number) for number in range(READERS)]
ended = {}
for number, child in enumerate(builders[:KILLED]):
    deadline = time.monotonic() + 20
    while not (notes / str(child)).exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(0.05 * number)
    os.kill(child, signal.SIGKILL)
for child in builders + readers:
    ended[child] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(json.dumps([ended[child] for child in builders + readers]))
"""


def kept(home: Path) -> Counter[tuple[float, ...]]:
    with contextlib.closing(sqlite3.connect(home / "samples.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        columns = "seconds, quietest, busiest, clock, switches, started, faults, migrations, halt"
        return Counter(database.execute(f"SELECT {columns} FROM samples").fetchall())


@pytest.mark.parametrize("attempt", range(2))
def test_a_crowd_on_one_store(home: Path, tmp_path: Path, attempt: int) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    crowd = subprocess.run(
        [sys.executable, "-P", "-c", CROWD, str(home), str(notes)], capture_output=True, text=True, timeout=120
    )
    assert crowd.returncode == 0, crowd.stderr
    statuses = json.loads(crowd.stdout)
    assert statuses[:3] == [-signal.SIGKILL] * 3
    assert statuses[3:] == [0] * 7, crowd.stderr
    lines = [line for file in notes.iterdir() for line in file.read_text().split("\n")[:-1]]  # the last is not whole
    noted = Counter(tuple(sample) for line in lines for sample in json.loads(line))
    assert noted.total() > 500
    assert not noted - kept(home)

    store = Store(home)
    models = store.all_models()
    assert 0 < len(models) <= 12
    for setup, model in models:
        assert store.load_model(setup, model.key) is not None
        assert store.load_samples(setup, model.key, model.state)
    store.recover()
    assert list((home / "journals").iterdir()) == []
    assert not noted - kept(home)
    assert set(kept(home).values()) == {1}  # also of those that were killed when they had saved a batch
    assert not list(home.rglob("*.damaged"))
