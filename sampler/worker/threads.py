"""The threads of the library under test: their number, and a CPU for each.

Part of the worker: nothing but the standard library and the engine is imported.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from .._engine import ffi
from .symbols import OpenLibrary, call

WARM_UP_SIZE = 512  # of a dgemm that every library divides among its threads
WARM_UP_CALLS = 2

_TASKS = Path("/proc/self/task")


def thread_ids() -> set[int]:
    """The threads of this process; none where the system does not tell."""
    try:
        return {int(task.name) for task in _TASKS.iterdir()}
    except OSError:
        return set()


def pin_threads(library: OpenLibrary, cpus: Sequence[int], others: set[int]) -> bool:
    """Gives each thread of the library a CPU of its own, this one the first.

    A warm-up call starts the threads; those that did most of it are the library's.

    Parameters
    ----------
    library : OpenLibrary
    cpus : sequence of int
        As many as the library has threads; this process must be pinned to them as a set.
    others : set of int
        Threads that were there before the library.

    Returns
    -------
    bool
        Whether it was possible. Where threads cannot be listed, or live for one call only (as those of BLIS on
        pthreads), all stay pinned to the CPUs as a set.
    """
    if len(cpus) == 1:
        return True
    before = {thread: _run_seconds(thread) for thread in thread_ids()}
    warm_up(library)
    worked = {t: _run_seconds(t) - before.get(t, 0.0) for t in thread_ids() - others - {os.getpid()}}
    threads = sorted(worked, key=lambda thread: worked[thread], reverse=True)[: len(cpus) - 1]
    if len(threads) < len(cpus) - 1:
        return False
    try:
        for thread, cpu in zip((os.getpid(), *sorted(threads)), cpus, strict=True):
            os.sched_setaffinity(thread, {cpu})
    except OSError:  # it ended meanwhile
        os.sched_setaffinity(0, set(cpus))
        return False
    return True


def warm_up(library: OpenLibrary) -> None:
    """Multiplies two matrices, so that every thread is started and has worked."""
    n, flag = ffi.new("int64_t *", WARM_UP_SIZE), ffi.new("char[]", b"N")
    one = ffi.new("double *", 1.0)
    A, B, C = (ffi.new("double[]", WARM_UP_SIZE**2) for _ in range(3))
    for _ in range(WARM_UP_CALLS):
        call(library.find("dgemm"), flag, flag, n, n, n, one, A, n, B, n, one, C, n, 1, 1)  # and the flags' lengths


def _run_seconds(thread: int) -> float:
    """Time that a thread has run; 0 where the system does not tell."""
    try:
        return 1e-9 * int((_TASKS / str(thread) / "schedstat").read_text().split()[0])
    except OSError:
        return 0.0
