"""Statements -> programs on back ends -> results."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from ..backend import Backend
from ..counters import Counters
from ..errors import BlascastError, LibraryError, UsageError, unknown
from ..failure import KernelFailed
from ..job import PROBE_GAP_SECONDS, job_of
from ..kernel import Kernel
from ..kernels import KERNELS
from ..precondition import Cold, Precondition, prepare
from ..program import (
    Buffer,
    Operation,
    Probe,
    Records,
    Repeat,
    Restore,
    Run,
    Time,
    buffers_for,
    calls_of,
    entries_of,
    entry_of,
    views_of,
)
from ..program import Parallel as Region
from . import statements as say
from .invocation import Invocation, invocation
from .memory import Memory
from .results import Failure, Opened, Output, Printed, Result, Shares

MOST_CALLS = 1_000_000  # calls times repetitions of one go
MOST_INT32 = 2**31 - 1
FRESH = Cold("fresh memory")


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for the calls that follow.

    Parameters
    ----------
    precondition : Precondition or None
    restored : tuple of str or None
        Names of memory; None: all that a call overwrites.
    """

    precondition: Precondition | None = None
    restored: tuple[str, ...] | None = ()


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """A call, or a parallel region, that waits for a go.

    Parameters
    ----------
    line : int
    routine : str
    dtype : str
    lanes : tuple of tuple of Invocation
        One of one call, if it is no region.
    mode : str
    settings : Settings
    """

    line: int
    routine: str
    dtype: str
    lanes: tuple[tuple[Invocation, ...], ...]
    mode: say.Mode
    settings: Settings

    @property
    def invocations(self) -> tuple[Invocation, ...]:
        """All its calls."""
        return tuple(each for lane in self.lanes for each in lane)

    @property
    def is_region(self) -> bool:
        """Whether calls are made at once."""
        return self.mode == "visible" and self.routine == REGION

    def steps(self, repetitions: int) -> "Steps":
        """Its operations, array-valued where operands move.

        Raises
        ------
        UsageError
            If the precondition cannot be had, or an operand leaves its memory.
        """
        lanes = tuple(tuple(each.call(repetitions) for each in lane) for lane in self.lanes)
        calls = [call for lane in lanes for call in lane]
        before: list[Operation] = [Probe(PROBE_GAP_SECONDS)]
        if self.settings.precondition == FRESH:
            return self._fresh()
        for invocation, call in zip(self.invocations, calls, strict=True):
            if self.settings.precondition is not None:
                before += prepare(call, self.settings.precondition)
            else:
                before += [Restore(view) for view in self._restored(call)]
        act = Region(lanes) if self.is_region else (Run if self.mode == "untimed" else Time)(calls[0])
        return Steps((*before, act), len(before))
