"""What of this machine may be used: CPUs and memory."""

import fcntl
import os
import tempfile
from pathlib import Path
from typing import IO

from .environment.cgroup import read_limits
from .environment.memory import read_memory
from .errors import UsageError


def allowed_cpus() -> list[int]:
    """The CPUs that this process may use."""
    return sorted(os.sched_getaffinity(0))


def claim_cpus(threads: int) -> tuple[list[int], list[IO[str]]]:
    """CPUs to pin a worker to, and the locked files that keep other workers off them.

    The last allowed ones (the first tend to serve interrupts) that no other worker of this user has
    claimed; where there are not enough of those, claimed ones as well.

    Raises
    ------
    UsageError
        If more threads than allowed CPUs are asked for.
    """
    cpus = allowed_cpus()[::-1]
    if threads > len(cpus):
        raise UsageError(f"{threads} threads need as many CPUs, this process may use {len(cpus)}; use fewer threads")
    claims: dict[int, IO[str]] = {}
    for cpu in cpus:
        if len(claims) < threads and (claim := _claim(cpu)) is not None:
            claims[cpu] = claim
    shared = [cpu for cpu in cpus if cpu not in claims]
    return sorted([*claims, *shared][:threads]), list(claims.values())


def _claim(cpu: int) -> IO[str] | None:
    """A locked file that stands for a CPU; None if another process holds it, or no file can be had."""
    try:
        file = (Path(tempfile.gettempdir()) / f"blascast-{os.getuid()}-cpu-{cpu}.lock").open("w")
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def available_memory() -> float:
    """Bytes that can be allocated without swapping and within the limit of this process's control group."""
    amounts = (read_memory().available_bytes, read_limits().memory_left_bytes)
    return float(min((amount for amount in amounts if amount is not None), default=float("inf")))
