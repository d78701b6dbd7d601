"""Programs: what a back end runs from start to end without returning to Python."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .call import Call, View
from .errors import UsageError
from .kernel import Structure


@dataclass(frozen=True, slots=True)
class Buffer:
    """An operand to allocate: column-major, seeded contents of a structure."""

    name: str
    rows: int
    columns: int
    ld: int
    structure: Structure = "general"
    seed: int = 0

    @property
    def elements(self) -> int:
        """Elements between its first and its last."""
        return self.ld * (self.columns - 1) + self.rows if self.columns else 0


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Call a kernel, untimed."""

    call: Call


@dataclass(frozen=True, slots=True, eq=False)
class Time:
    """Call a kernel between two time stamps."""

    call: Call


@dataclass(frozen=True, slots=True, eq=False)
class Restore:
    """Copy a view's original contents back into it."""

    view: View


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """Read a view, one word a cache line."""

    view: View


@dataclass(frozen=True, slots=True, eq=False)
class Flush:
    """Evict a view from all caches."""

    view: View


@dataclass(frozen=True, slots=True)
class Probe:
    """Read the probes, unless they were read less than so many seconds ago."""

    minimum_gap_seconds: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.minimum_gap_seconds < float("inf"):
            raise UsageError(f"the gap between probes must be finite and >= 0, got {self.minimum_gap_seconds}")


Operation: TypeAlias = Run | Time | Restore | Touch | Flush | Probe


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """What a program reported, one entry an operation; -1 where an operation reports nothing.

    Parameters
    ----------
    start : array of shape (n_operations,), seconds
        When each operation began.
    seconds : array of shape (n_operations,)
        Duration of timed calls, the engine's overhead subtracted.
    branch, clock : arrays of shape (n_operations,), seconds
        Durations of the two probe loops.
    halt : array of shape (n_operations,), seconds
        What a probe took besides its loops; long where the processor halted meanwhile.
    switches : array of shape (n_operations,)
        Involuntary context switches of the process so far.
    faults : array of shape (n_operations,)
        Page faults of the process so far.
    cpu : array of shape (n_operations,)
        Number of the CPU that the program runs on; -1 also where that is not told.
    """

    start: npt.NDArray[np.float64]
    seconds: npt.NDArray[np.float64]
    branch: npt.NDArray[np.float64]
    clock: npt.NDArray[np.float64]
    halt: npt.NDArray[np.float64]
    switches: npt.NDArray[np.int64]
    faults: npt.NDArray[np.int64]
    cpu: npt.NDArray[np.int64]

    def part(self, first: int, end: int) -> "Records":
        """The records of the operations first..end-1."""
        window = slice(first, end)
        return Records(*(getattr(self, field.name)[window] for field in fields(self)))


def buffers_for(calls: Iterable[Call], seed: int = 0) -> tuple[Buffer, ...]:
    """One buffer for each operand named in the calls, large enough for all views into it.

    Raises
    ------
    UsageError
        If calls name an operand with different leading dimensions.
    """
    extents: dict[str, tuple[int, int, int, Structure]] = {}
    for call in calls:
        for data in call.kernel.data:
            view = call.views[data.name]
            fresh = (0, 0, view.ld, view.structure or data.structure)
            rows, columns, ld, structure = extents.get(view.buffer, fresh)
            if view.ld != ld:
                raise UsageError(
                    f"operand {view.buffer} has the leading dimension {ld} in one call, {view.ld} in another"
                )
            extents[view.buffer] = (
                max(rows, int(view.row) + int(view.rows)),
                max(columns, int(view.column) + int(view.columns)),
                ld,
                structure,
            )
    return tuple(
        Buffer(name, rows, columns, ld, structure, seed + i)
        for i, (name, (rows, columns, ld, structure)) in enumerate(extents.items())
    )
