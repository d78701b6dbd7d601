"""The conditions of a batch, as far as the operating system tells them."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from .files import parse_int, read_text

ROOT = Path("/")
_STEAL = 8  # of the fields of a CPU's line; see proc(5)


@dataclass(frozen=True, slots=True)
class Conditions:
    """What else went on.

    Parameters
    ----------
    steal_seconds : float, optional
        Time that the host took from this machine's CPUs, summed over them; None where it is not told.
        It is counted in hundredths of a second: too coarse to judge a sample by.
    load : float, optional
        Processes that ran or wanted to, mean of the last minute; None where it is not told.
    """

    steal_seconds: float | None
    load: float | None

    @classmethod
    def now(cls, root: Path | None = None) -> Self:
        """The steal time since the machine started, and the load, as told below a root folder."""
        return cls(_steal_seconds(root or ROOT), _load(root or ROOT))

    def since(self, earlier: "Conditions") -> "Conditions":
        """The steal time between two moments, and the load at the later one."""
        if self.steal_seconds is None or earlier.steal_seconds is None:
            return Conditions(None, self.load)
        return Conditions(self.steal_seconds - earlier.steal_seconds, self.load)


def _steal_seconds(root: Path) -> float | None:
    fields = (read_text(root / "proc/stat") or "").split("\n", 1)[0].split()
    ticks = parse_int(fields[_STEAL]) if len(fields) > _STEAL else None
    return ticks / os.sysconf("SC_CLK_TCK") if ticks is not None else None


def _load(root: Path) -> float | None:
    try:
        return float((read_text(root / "proc/loadavg") or "").split()[0])
    except (ValueError, IndexError):
        return None
