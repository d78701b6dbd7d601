"""Limits of the control groups that this process is in (versions 1 and 2): CPU time and memory.

A limit of a group holds for all groups below it, so the tightest one on the way up counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .files import parse_int, read_fields, read_int, read_text

_MOUNT = "sys/fs/cgroup"
_UNLIMITED_BYTES = 1 << 60  # version 1 writes the largest multiple of a page


@dataclass(frozen=True, slots=True)
class Limits:
    """What a process and its like may use.

    Parameters
    ----------
    version : int, optional
        Of the control groups: 1, 2, or None if not told.
    cpu_quota : float, optional
        CPUs' worth of time, None if unlimited.
    throttled_count : int, optional
        How often the group has been halted for using its quota up.
    memory_bytes : int, optional
        The most memory it may use, None if unlimited.
    memory_left_bytes : int, optional
        What of it is left.
    """

    version: int | None
    cpu_quota: float | None
    throttled_count: int | None
    memory_bytes: int | None
    memory_left_bytes: int | None


def read_limits(root: Path = Path("/")) -> Limits:
    """Reads the limits in force."""
    cpu, memory = list(_groups(root, "cpu")), list(_groups(root, "memory"))
    quotas = [quota for group in cpu if (quota := _quota(group)) is not None]
    limits = [(limit, _used(group)) for group in memory if (limit := _memory_limit(group)) is not None]
    throttled = [count for group in cpu if (count := parse_int(read_fields(group / "cpu.stat").get("nr_throttled")))]
    return Limits(
        _version(root),
        min(quotas, default=None),
        max(throttled, default=0) if cpu else None,
        min((limit for limit, _ in limits), default=None),
        min((max(0, limit - used) for limit, used in limits), default=None),
    )


def _version(root: Path) -> int | None:
    if (root / _MOUNT / "cgroup.controllers").exists():
        return 2
    return 1 if (root / _MOUNT / "cpu").exists() or (root / _MOUNT / "memory").exists() else None


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """The folders of this process's group and of those above it, innermost first."""
    for line in (read_text(root / "proc/self/cgroup") or "0::/").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, name = rest.partition(":")
        if controllers and controller not in controllers.split(","):
            continue
        mount = root / _MOUNT / controllers
        inner = mount / name.strip("/")
        # inside a container the name may be the host's, which is not to be seen: the mount is the group then
        yield from (folder for folder in (inner, *inner.parents) if folder.is_relative_to(mount) and folder.is_dir())


def _quota(group: Path) -> float | None:
    newer = (read_text(group / "cpu.max") or "").split()
    if len(newer) == 2:
        quota, period = parse_int(newer[0]), parse_int(newer[1])
    else:
        quota, period = read_int(group / "cpu.cfs_quota_us"), read_int(group / "cpu.cfs_period_us")
    return quota / period if quota and period and min(quota, period) > 0 else None


def _memory_limit(group: Path) -> int | None:
    limits = [read_int(group / name) for name in ("memory.max", "memory.high", "memory.limit_in_bytes")]
    return min((limit for limit in limits if limit is not None and limit < _UNLIMITED_BYTES), default=None)


def _used(group: Path) -> int:
    """Bytes in use that cannot be taken back: files' pages that nothing has touched of late do not count."""
    for usage, statistics, inactive in (
        ("memory.current", "memory.stat", "inactive_file"),
        ("memory.usage_in_bytes", "memory.stat", "total_inactive_file"),
    ):
        if (used := read_int(group / usage)) is not None:
            return used - (parse_int(read_fields(group / statistics).get(inactive)) or 0)
    return 0
