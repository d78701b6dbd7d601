"""What else runs: load, and CPU time that a hypervisor gave to others."""

from dataclasses import dataclass
from pathlib import Path

from .files import parse_int, read_text

_STEAL = 7  # field of a line of /proc/stat, after its name
_GUEST = 8  # guest times, from here on, are contained in the others


@dataclass(frozen=True, slots=True)
class Activity:
    """Load, and CPU time since the system was started.

    Parameters
    ----------
    load : float, optional
        Mean number of runnable processes over a minute.
    stolen_ticks, total_ticks : int, optional
        Time that was stolen by the hypervisor, and all time, of all CPUs together, in the system's ticks.
    """

    load: float | None
    stolen_ticks: int | None
    total_ticks: int | None


def read_activity(root: Path = Path("/")) -> Activity:
    """Reads them."""
    load = (read_text(root / "proc/loadavg") or "").split()
    lines = (read_text(root / "proc/stat") or "").splitlines()
    ticks = [parse_int(field) for field in lines[0].split()[1:]] if lines else []
    known = [tick for tick in ticks[:_GUEST] if tick is not None]
    told = len(known) > _STEAL
    return Activity(_parse_float(load[0]) if load else None, *((known[_STEAL], sum(known)) if told else (None, None)))


def _parse_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def stolen_share(before: Activity, after: Activity) -> float | None:
    """The part of all CPU time between two readings that the hypervisor gave to others."""
    if before.stolen_ticks is None or before.total_ticks is None:
        return None
    if after.stolen_ticks is None or after.total_ticks is None or after.total_ticks <= before.total_ticks:
        return None
    return max(0, after.stolen_ticks - before.stolen_ticks) / (after.total_ticks - before.total_ticks)
