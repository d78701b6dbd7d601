"""A library that misbehaves costs one clear error, nothing else."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from blascast.sampler.call import Call, View, bind
from blascast.sampler.errors import LibraryError, UsageError
from blascast.sampler.failure import KernelFailed
from blascast.sampler.host.backend import WorkerBackend
from blascast.sampler.job import Job
from blascast.sampler.kernel import Data, Kernel, Ld, Size
from blascast.sampler.program import Run, Time, buffers_for
from blascast.sampler.resources import allowed_cpus, claim_cpus
from blascast.sampler.sampler import Sampler
from blascast.sampler.setup import SetupRequest


def toy_call(name: str, operand: str = "A", n: int = 8) -> Call:
    kernel = Kernel(name, "d", (Size("n"), Data("A", "inout", "n", "n"), Ld("lda", "A")), "n", "n")
    return bind(kernel, View(operand, 0, 0, n, n, n))


@pytest.fixture
def backend(toy: Callable[..., str]) -> Iterator[WorkerBackend]:
    backend = WorkerBackend(SetupRequest(toy()), hang_seconds=2.0)
    yield backend
    backend.close()


FAILURES = [
    ("segv", r"dsegv\(; n=8; ld 8\) crashed \(Segmentation fault\)"),
    ("abort", r"dabort\(; n=8; ld 8\) crashed \(Aborted\)"),
    ("exit", r"dexit\(; n=8; ld 8\) ended its process with exit status 0 .*illegal value"),
    ("hang", r"dhang\(; n=8; ld 8\) did not return within 2 s"),
    ("killed", r"dkilled\(; n=8; ld 8\) was killed by the system, most likely because memory ran out"),
    ("grumble", r"dgrumble\(; n=8; ld 8\) refused its argument number 3 as illegal"),
]


@pytest.mark.parametrize(("name", "message"), FAILURES)
def test_a_failure_names_call_and_setup_and_keeps_what_was_timed(
    backend: WorkerBackend, name: str, message: str
) -> None:
    good, bad = toy_call("fill"), toy_call(name)
    backend.allocate(buffers_for([good, bad]))
    with pytest.raises(KernelFailed, match=message) as caught:
        backend.run([Time(good), Time(good), Run(bad), Time(good)])
    assert "\n" not in str(caught.value)
    assert str(backend.setup) in str(caught.value)
    assert caught.value.records is not None
    assert len(caught.value.records.seconds) >= 2
    assert np.all(caught.value.records.seconds[:2] >= 0)


@pytest.mark.parametrize("name", ["segv", "hang"])
def test_the_next_program_gets_a_fresh_worker(backend: WorkerBackend, name: str) -> None:
    good, bad = toy_call("fill"), toy_call(name)
    backend.allocate(buffers_for([good, bad]))
    first = backend.process_id
    with pytest.raises(KernelFailed):
        backend.run([Run(bad)])
    assert backend.process_id is None
    backend.run([Run(good)])
    assert backend.process_id not in (None, first)
    np.testing.assert_array_equal(backend.read("A"), np.full((8, 8), 7.0))


@pytest.mark.parametrize("name", ["segv", "abort", "exit"])
def test_a_failing_routine_costs_its_own_job_alone(backend: WorkerBackend, name: str) -> None:
    good, other = toy_call("fill"), toy_call("fill", "B")
    jobs = [Job((), (good,)), Job((Run(toy_call(name)),), (other,)), Job((), (other,))]
    sampler = Sampler(backend)
    with pytest.raises(KernelFailed, match=name):
        sampler.measure(jobs, [200, 5, 100])
    batch = sampler.unfinished
    assert batch is not None
    first, failed, last = (len(measurement.samples) for measurement in batch.measurements)
    assert first >= 200
    assert failed == 0
    assert last >= 100


def test_a_routine_that_fails_at_last_keeps_its_samples(backend: WorkerBackend) -> None:
    failing = Job((Run(toy_call("third", "C", 16)),), (toy_call("fill", "C", 16),))
    sampler = Sampler(backend)
    with pytest.raises(KernelFailed, match="dthird"):
        sampler.measure([failing, Job((), (toy_call("fill"),))], [5, 20])
    assert sampler.unfinished is not None
    first, second = (len(measurement.samples) for measurement in sampler.unfinished.measurements)
    assert first == 2
    assert second >= 20


def test_a_closed_back_end_says_so(toy: Callable[..., str]) -> None:
    backend = WorkerBackend(SetupRequest(toy()))
    backend.close()
    backend.close()
    with pytest.raises(UsageError, match="this back end is closed"):
        backend.run([Run(toy_call("fill"))])


def test_workers_keep_off_each_others_cpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where nobody else has claimed any
    first, its_claims = claim_cpus(1)
    second, more_claims = claim_cpus(1)
    try:
        if len(allowed_cpus()) > 1:
            assert first != second
        assert all(cpu in allowed_cpus() for cpu in first + second)
    finally:
        for claim in (*its_claims, *more_claims):
            claim.close()


def test_builds_of_a_library_have_fingerprints_of_their_own(toy: Callable[..., str]) -> None:
    backends = [WorkerBackend(SetupRequest(toy(integer=integer))) for integer in ("int32_t", "int", "int64_t")]
    for backend in backends:
        backend.close()
    assert backends[0].setup.library.file == backends[2].setup.library.file
    assert backends[0].setup.fingerprint != backends[2].setup.fingerprint
    assert backends[0].setup.library.build


def test_a_worker_killed_while_idle_is_replaced(backend: WorkerBackend) -> None:
    good = toy_call("fill")
    backend.allocate(buffers_for([good]))
    assert backend.process_id is not None
    first = backend.process_id
    os.kill(first, signal.SIGKILL)
    time.sleep(0.5)
    backend.run([Run(good)])
    assert backend.process_id != first
    np.testing.assert_array_equal(backend.read("A"), np.full((8, 8), 7.0))


def test_a_forked_child_does_not_keep_the_worker_alive(toy: Callable[..., str]) -> None:
    action = "import os\nif os.fork() == 0:\n    time.sleep(20)\n    os._exit(0)\ntime.sleep(60)"
    code = PARENT.format(action=action)
    with subprocess.Popen([sys.executable, "-P", "-c", code, toy()], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        time.sleep(0.5)
        parent.kill()
        deadline = time.monotonic() + 10
        while running(worker) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not running(worker)
        parent.stdout.close()


PARENT = """
import sys, time
from blascast.sampler.host.backend import WorkerBackend
from blascast.sampler.setup import SetupRequest
backend = WorkerBackend(SetupRequest(sys.argv[1]))
print(backend.process_id, flush=True)
{action}
"""
HANGING = """
from blascast.sampler.call import View, bind
from blascast.sampler.kernel import Data, Kernel, Ld, Size
from blascast.sampler.program import Run, buffers_for
kernel = Kernel("hang", "d", (Size("n"), Data("A", "inout", "n", "n"), Ld("lda", "A")), "n", "n")
call = bind(kernel, View("A", 0, 0, 8, 8, 8))
backend.allocate(buffers_for([call]))
print("calling", flush=True)
backend.run([Run(call)])
"""


@pytest.mark.parametrize("action", ["time.sleep(60)", HANGING], ids=["idle", "inside a routine that hangs"])
def test_no_worker_outlives_its_parent(toy: Callable[..., str], action: str) -> None:
    code = PARENT.format(action=action)
    with subprocess.Popen([sys.executable, "-P", "-c", code, toy()], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        if action == HANGING:
            parent.stdout.readline()
            time.sleep(0.2)
        assert running(worker)
        parent.kill()
        parent.wait()
        deadline = time.monotonic() + 10
        while running(worker) and time.monotonic() < deadline:
            time.sleep(0.05)
    assert not running(worker)


def running(process_id: int) -> bool:
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_more_threads_than_cpus() -> None:
    count = len(allowed_cpus()) + 1
    with pytest.raises(UsageError, match=f"{count} threads need as many CPUs, this process may use {count - 1}"):
        WorkerBackend(SetupRequest(threads=count))


@pytest.mark.skipif(len(allowed_cpus()) < 2, reason="two CPUs are needed")
def test_threads_are_set_and_read_back() -> None:
    backend = WorkerBackend(SetupRequest(threads=2))
    backend.close()
    assert backend.setup.threads == 2


@pytest.mark.skipif(len(allowed_cpus()) < 2, reason="two CPUs are needed")
def test_a_library_without_threads(toy: Callable[..., str]) -> None:
    with pytest.raises(LibraryError, match=r"2 threads were asked for, libtoy\.so has 1 in force"):
        WorkerBackend(SetupRequest(toy(), threads=2))


def test_libraries_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown library 'atlantis'; known: scipy, numpy, simulated"):
        WorkerBackend(SetupRequest("atlantis"))
    with pytest.raises(LibraryError, match="no library at"):
        WorkerBackend(SetupRequest(str(tmp_path / "libnothing.so")))
    (tmp_path / "libtext.so").write_text("not a library")
    with pytest.raises(LibraryError, match="cannot open"):
        WorkerBackend(SetupRequest(str(tmp_path / "libtext.so")))
    with pytest.raises(LibraryError, match="has no routine dcopy under any known prefix and suffix"):
        WorkerBackend(SetupRequest("libm.so.6"))


@pytest.mark.parametrize("arguments", [{"dtype": "x"}, {"threads": 0}, {"threads": True}, {"threads": 1.5}])
def test_requests_that_make_no_sense(arguments: dict) -> None:
    with pytest.raises(UsageError, match="must be"):
        SetupRequest(**arguments)
