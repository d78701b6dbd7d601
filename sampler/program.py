"""Programs: what a back end runs from start to end without returning to Python."""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .call import Call, View
from .errors import UsageError
from .kernel import Kind, Structure
from .nest import Nest

LONGEST_NAME = 200  # of a region, in messages


@dataclass(frozen=True, slots=True)
class Buffer:
    """An operand to allocate: column-major, seeded contents of a structure, anew after `period` columns unless 0."""

    name: str
    rows: int
    columns: int
    ld: int
    structure: Structure = "general"
    seed: int = 0
    kind: Kind = "element"
    period: int = 0

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

    def __str__(self) -> str:
        return f"restoring {self.view}"


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """Read a view, one word a cache line."""

    view: View

    def __str__(self) -> str:
        return f"touching {self.view}"


@dataclass(frozen=True, slots=True, eq=False)
class Flush:
    """Evict a view from all caches."""

    view: View

    def __str__(self) -> str:
        return f"flushing {self.view}"


@dataclass(frozen=True, slots=True)
class Probe:
    """Read the probes, unless they were read less than so many seconds ago."""

    minimum_gap_seconds: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.minimum_gap_seconds < float("inf"):
            raise UsageError(f"the gap between probes must be finite and >= 0, got {self.minimum_gap_seconds}")


@dataclass(frozen=True, slots=True, eq=False)
class Parallel:
    """Call kernels at once, timed as one: each lane's calls in order, on a thread pinned to a CPU of its own."""

    lanes: tuple[tuple[Call, ...], ...]

    def __str__(self) -> str:
        return f"a parallel region of {', '.join(str(call) for lane in self.lanes for call in lane)[:LONGEST_NAME]}"

    def __post_init__(self) -> None:
        if not self.lanes or not all(self.lanes):
            raise UsageError("a parallel region needs at least one call in every lane")


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """Do operations so many times; in repetition r, array-valued views stand for their entry r."""

    body: tuple["Operation", ...]
    count: int

    def __post_init__(self) -> None:
        if self.count < 1 or not self.body:
            raise UsageError(f"operations can be repeated once or more often, got {self.count} repetitions")


Operation: TypeAlias = Run | Time | Restore | Touch | Flush | Probe | Parallel | Nest | Repeat


def calls_of(operation: Operation) -> tuple[Call, ...]:
    """The calls that an operation makes (of those repeated, each once)."""
    match operation:
        case Run(call) | Time(call):
            return (call,)
        case Parallel(lanes):
            return tuple(call for lane in lanes for call in lane)
        case Nest():
            return tuple(step.call for _, step in operation.steps())
        case Repeat(body):
            return tuple(call for inner in body for call in calls_of(inner))
    return ()


def views_of(operation: Operation) -> tuple[View, ...]:
    """The views that an operation works on (of those repeated, each once)."""
    match operation:
        case Restore(view) | Touch(view) | Flush(view):
            return (view,)
        case Nest():
            return operation.views
        case Repeat(body):
            return tuple(view for inner in body for view in views_of(inner))
    return tuple(view for call in calls_of(operation) for view in call.views.values())


def lanes_of(operation: Operation) -> int:
    """How many threads an operation needs."""
    match operation:
        case Parallel(lanes):
            return len(lanes)
        case Repeat(body):
            return max(map(lanes_of, body))
    return 1


def entries_of(operation: Operation) -> int:
    """How many operations an array-valued one stands for; 1 if it is none."""
    if isinstance(operation, Repeat):
        return 1
    extents = [e for view in views_of(operation) for e in (view.row, view.column, view.rows, view.columns)]
    return max((1 if isinstance(extent, int) else int(np.size(extent)) for extent in extents), default=1)


def records_of(operation: Operation) -> int:
    """How many records a scalar operation has: a region one more than calls, a nest one more than loops and steps."""
    match operation:
        case Parallel():
            return 1 + len(calls_of(operation))
        case Nest():
            return 1 + operation.rows
        case Repeat(body, count):
            return count * sum(map(records_of, body))
    return 1


def entry_of(operation: Operation, index: int) -> Operation:
    """One of the operations that an array-valued one stands for."""
    match operation:
        case Run(call):
            return Run(call.entry(index))
        case Time(call):
            return Time(call.entry(index))
        case Restore(view):
            return Restore(view.entry(index))
        case Touch(view):
            return Touch(view.entry(index))
        case Flush(view):
            return Flush(view.entry(index))
        case Parallel(lanes):
            return Parallel(tuple(tuple(call.entry(index) for call in lane) for lane in lanes))
    return operation


def unrolled(operations: Iterable[Operation]) -> Iterator[Operation]:
    """The operations one by one: repetitions and array-valued operations spelt out."""
    for operation in operations:
        if isinstance(operation, Repeat):
            for index in range(operation.count):
                yield from unrolled(entry_of(inner, index) for inner in operation.body)
        elif (count := entries_of(operation)) > 1:
            yield from (entry_of(operation, index) for index in range(count))
        else:
            yield operation


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """What a program reported, one entry an operation; -1 where an operation reports nothing.

    Array-valued operations and repetitions have an entry for each that they stand for; a parallel
    region has one, and one that reports nothing for each of its calls; a nest one, and one that reports
    nothing for each of its loops and steps.

    Parameters
    ----------
    start : array of shape (n_operations,), seconds
        When each operation began.
    seconds : array of shape (n_operations,)
        Duration of timed calls, parallel regions and nests, the engine's overhead subtracted.
    branch, clock : arrays of shape (n_operations,), seconds
        Durations of the two probe loops.
    halt : array of shape (n_operations,), seconds
        What a probe took besides its loops; long where the processor halted meanwhile.
    switches, faults : integer arrays of shape (n_operations,)
        Involuntary context switches and page faults of the process so far, as probes saw them.
    cpu : integer array of shape (n_operations,)
        Number of the CPU that probes ran on; -1 also where that is not told.
    counters : integer array of shape (n_operations, n_counters)
        What the open counters counted during timed calls and regions.
    """

    start: npt.NDArray[np.float64]
    seconds: npt.NDArray[np.float64]
    branch: npt.NDArray[np.float64]
    clock: npt.NDArray[np.float64]
    halt: npt.NDArray[np.float64]
    switches: npt.NDArray[np.int64]
    faults: npt.NDArray[np.int64]
    cpu: npt.NDArray[np.int64]
    counters: npt.NDArray[np.int64]

    def part(self, first: int, end: int) -> "Records":
        """The records of the operations first..end-1."""
        return Records(*(getattr(self, field.name)[first:end] for field in fields(self)))

    def __len__(self) -> int:
        return len(self.start)


def buffers_for(
    calls: Iterable[Call], seed: int = 0, others: Iterable[View] = (), given: Container[str] = ()
) -> tuple[Buffer, ...]:
    """One buffer for each operand named in the calls and in other views, large enough for all views into it.

    Those whose names are given are left out.

    Raises
    ------
    UsageError
        If an operand is named with different leading dimensions or kinds of numbers.
    """
    buffers: dict[str, Buffer] = {}
    for view, structure, kind in (*_with_contents(calls), *((view, "general", "element") for view in others)):
        if view.buffer in given:
            continue
        fresh = Buffer(view.buffer, 0, 0, view.ld, view.structure or structure, seed + len(buffers), view.kind or kind)
        buffer = buffers.get(view.buffer, replace(fresh, period=view.period))
        if view.ld != buffer.ld:
            raise UsageError(
                f"operand {view.buffer} has the leading dimension {buffer.ld} in one call, {view.ld} in another"
            )
        buffers[view.buffer] = replace(
            buffer,
            rows=max(buffer.rows, int(np.max(view.row + view.rows, initial=0))),
            columns=max(buffer.columns, int(np.max(view.column + view.columns, initial=0))),
        )
    return tuple(_with_room(buffer) for buffer in buffers.values())


def _with_room(buffer: Buffer) -> Buffer:
    """One column may be longer than the leading dimension, which is nothing to it."""
    return replace(buffer, ld=max(buffer.ld, buffer.rows)) if buffer.columns <= 1 else buffer


def _with_contents(calls: Iterable[Call]) -> Iterator[tuple[View, Structure, Kind]]:
    """The operands of calls, and what each needs to be filled with."""
    kinds: dict[str, Kind] = {}
    for call in calls:
        for data in call.kernel.data:
            view = call.views[data.name]
            if kinds.setdefault(view.buffer, data.kind) != data.kind:
                raise UsageError(
                    f"operand {view.buffer} holds {kinds[view.buffer]}s in one call, {data.kind}s in another"
                )
            yield view, data.structure, data.kind
