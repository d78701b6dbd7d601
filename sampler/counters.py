"""Counters: events of the processor, and what the operating system counts for every thread.

They are read before and after each timed call, for the thread that calls.
"""

import errno
import os
from dataclasses import dataclass

from .errors import BlascastError, UsageError, unknown

MOST = 16
_HARDWARE, _CACHE = 0, 3  # types of Linux's perf_event_open
_READ, _MISS = 0 << 8, 1 << 16

# By name: type and config, as perf_event_open takes them; negative types are the engine's own
# (csrc/counters.c) and are there everywhere.
EVENTS: dict[str, tuple[int, int]] = {
    "page-faults": (-1, 0),
    "context-switches": (-2, 0),
    "migrations": (-3, 0),
    "task-clock": (-4, 0),  # nanoseconds of CPU time
    "cycles": (_HARDWARE, 0),
    "instructions": (_HARDWARE, 1),
    "cache-references": (_HARDWARE, 2),
    "cache-misses": (_HARDWARE, 3),
    "branches": (_HARDWARE, 4),
    "branch-misses": (_HARDWARE, 5),
    "bus-cycles": (_HARDWARE, 6),
    "ref-cycles": (_HARDWARE, 9),
    "L1-dcache-loads": (_CACHE, 0 | _READ),
    "L1-dcache-load-misses": (_CACHE, 0 | _READ | _MISS),
    "LLC-loads": (_CACHE, 2 | _READ),
    "LLC-load-misses": (_CACHE, 2 | _READ | _MISS),
    "dTLB-loads": (_CACHE, 3 | _READ),
    "dTLB-load-misses": (_CACHE, 3 | _READ | _MISS),
}
SOFTWARE = tuple(name for name, (kind, _) in EVENTS.items() if kind < 0)


@dataclass(frozen=True, slots=True)
class Counters:
    """The events to count.

    Parameters
    ----------
    events : tuple of str
        Names of `EVENTS`.
    multiplex : bool
        Whether events of the processor may take turns where it cannot count them all at once; their
        counts are then estimates.

    Raises
    ------
    UsageError
        If an event is unknown, named twice, or there are too many.
    """

    events: tuple[str, ...] = ()
    multiplex: bool = False

    def __post_init__(self) -> None:
        for event in self.events:
            if event not in EVENTS:
                raise unknown("counter", event, EVENTS)
        if len(set(self.events)) < len(self.events) or len(self.events) > MOST:
            raise UsageError(f"counters must be up to {MOST} different events, got {', '.join(self.events)}")


def refusal(counters: Counters, failed: int, status: int) -> BlascastError:
    """Why counters cannot be had, and the way out."""
    event, always = counters.events[failed], ", ".join(SOFTWARE)
    if status in (errno.EACCES, errno.EPERM):
        return UsageError(
            f"the system does not permit to count {event} (see kernel.perf_event_paranoid); counters that are always "
            f"there: {always}"
        )
    if status == errno.ENOSPC:
        return UsageError(
            f"the processor cannot count {', '.join(counters.events)} at once, {event} is too many; count fewer, or "
            "let them take turns (multiplex)"
        )
    return UsageError(
        f"this processor or its virtual machine cannot count {event} ({os.strerror(status)}); counters that are "
        f"always there: {always}"
    )
