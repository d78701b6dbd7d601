"""Programs: what a back end runs from start to end without returning to Python."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .call import Call, View
from .errors import UsageError
from .kernel import Kind, Structure


@dataclass(frozen=True, slots=True)
class Buffer:
    """An operand to allocate: column-major, seeded contents of a structure."""

    name: str
    rows: int
    columns: int
    ld: int
    structure: Structure = "general"
    seed: int = 0
    kind: Kind = "element"

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
    switches : array of shape (n_operations,)
        Involuntary context switches of the thread so far.
    """

    start: npt.NDArray[np.float64]
    seconds: npt.NDArray[np.float64]
    branch: npt.NDArray[np.float64]
    clock: npt.NDArray[np.float64]
    switches: npt.NDArray[np.int64]

    def part(self, first: int, end: int) -> "Records":
        """The records of the operations first..end-1."""
        window = slice(first, end)
        return Records(
            self.start[window], self.seconds[window], self.branch[window], self.clock[window], self.switches[window]
        )


def buffers_for(calls: Iterable[Call], seed: int = 0) -> tuple[Buffer, ...]:
    """One buffer for each operand named in the calls, large enough for all views into it.

    Raises
    ------
    UsageError
        If calls name an operand with different leading dimensions.
    """
    extents: dict[str, tuple[int, int, int, Structure, Kind]] = {}
    for call in calls:
        for data in call.kernel.data:
            view = call.views[data.name]
            fresh = (0, 0, view.ld, view.structure or data.structure, view.kind or data.kind)
            rows, columns, ld, structure, kind = extents.get(view.buffer, fresh)
            if view.ld != ld:
                raise UsageError(
                    f"operand {view.buffer} has the leading dimension {ld} in one call, {view.ld} in another"
                )
            if kind != (view.kind or data.kind):
                raise UsageError(f"operand {view.buffer} holds numbers of kind {kind}, {call} needs {data.kind}")
            extents[view.buffer] = (
                max(rows, int(np.max(view.row + view.rows, initial=0))),
                max(columns, int(np.max(view.column + view.columns, initial=0))),
                ld,
                structure,
                kind,
            )
    return tuple(
        Buffer(name, rows, columns, ld, structure, seed + i, kind)
        for i, (name, (rows, columns, ld, structure, kind)) in enumerate(extents.items())
    )
