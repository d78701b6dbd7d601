"""Accesses: the regions of buffers that calls access, for many calls at once.

Calls are laid out as a grid: a row for each iteration of an algorithm's loop, a column for each
statement in it. So the call before a call is that of the statement before it, and a scan backwards
works on whole columns.
"""

from collections.abc import Iterable, Iterator
from collections.abc import Sequence as Many
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from blascast.algorithms import CallArray, Sequence, find_operation
from blascast.sampler.call import Call, Extent, View
from blascast.sampler.kernel import Data

LINE_BYTES = 64
SCANNED = 64  # calls that are looked back, where no loop tells how many an iteration has
_TRIANGLES = ("triangular", "positive definite", "packed triangular")  # one half of which is accessed

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """Rectangles of buffers, one a row of the grid; all arrays of shape (n_rows,).

    Parameters
    ----------
    buffer : array
        The number of the buffer.
    row, column, rows, columns : arrays
    bytes : array
        In whole cache lines; of a triangle half as many.
    written : bool array
        Whether the call writes there.
    """

    buffer: IntArray
    row: IntArray
    column: IntArray
    rows: IntArray
    columns: IntArray
    bytes: FloatArray
    written: npt.NDArray[np.bool_]

    def before(self, rows: int) -> "Regions":
        """Those of so many rows earlier, for all but the first rows."""
        return Regions(*(getattr(self, own.name)[: len(self.row) - rows] for own in fields(self)))

    def after(self, rows: int) -> "Regions":
        """All but the first rows."""
        return Regions(*(getattr(self, own.name)[rows:] for own in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """The accesses of sequences of calls.

    Parameters
    ----------
    statements : tuple of tuple of Regions
        By statement, the operands of its calls.
    owner : integer array of shape (n_rows,)
        The configuration that each row belongs to; rows of one follow each other.
    whole : array of shape (n_rows,)
        Bytes of all operands of the configuration.
    history : int
        Calls that are looked back at.
    """

    statements: tuple[tuple[Regions, ...], ...]
    owner: IntArray
    whole: FloatArray
    history: int


def grid_of_sequence(sequence: Sequence, item_bytes: int, history: int | None = None) -> Grid | None:
    """The grid of an array-valued sequence; None if its calls are not those of a single loop.

    By default, as many calls are looked back at as an iteration has.
    """
    first = sequence.calls[0].call.owner if sequence.calls else None
    if first is None or not is_single_loop(sequence):
        return None
    numbers = _numbered(own.call for own in sequence.calls)
    statements = tuple(tuple(_made(own, numbers, item_bytes)) for own in sequence.calls)
    operation = find_operation(sequence.variant.operation)
    extents = {**sequence.sizes, "b": sequence.b}
    whole = sum(item_bytes * np.prod(np.broadcast_arrays(*own.shape(extents)), axis=0) for own in operation.operands)
    return Grid(
        statements, first, np.broadcast_to(whole, len(sequence.n)).astype(float)[first], history or len(statements)
    )


def is_single_loop(sequence: Sequence) -> bool:
    """Whether all calls of an array-valued sequence are made in one loop."""
    views = [view for own in sequence.calls for view in own.call.views.values() if view.owner is not None]
    loops = [view.loop for view in views if view.loop is not None]
    return 0 < len(loops) == len(views) and all(np.array_equal(own, loops[0]) for own in loops)


def grid_of_calls(calls: Many[Call], item_bytes: int, history: int = SCANNED) -> Grid:
    """The grid of calls in order: as of one statement, whose operands are as many as any call has."""
    numbers = _numbered(calls)
    own = [list(_regions(call, numbers, 1, item_bytes)) for call in calls]
    width = max(map(len, own), default=0)
    zero = np.zeros(1, dtype=np.int64)
    nothing = Regions(zero, zero, zero, zero, zero, np.zeros(1), np.zeros(1, dtype=np.bool_))
    padded = [[*regions, *[nothing] * (width - len(regions))] for regions in own]
    columns = tuple(_stacked([regions[place] for regions in padded]) for place in range(width))
    views = [view for call in calls for view in call.views.values()]
    ends = {name: [0, 0] for name in numbers}
    for view in views:
        ends[view.buffer] = list(map(max, ends[view.buffer], _ends(view)))
    whole = float(item_bytes * sum(rows * columns for rows, columns in ends.values()))
    return Grid((columns,), np.zeros(len(calls), dtype=np.int64), np.full(len(calls), whole), history)


def _ends(view: View) -> tuple[int, int]:
    """Rows and columns of the buffer that a scalar view reaches into."""
    return int(view.row) + int(view.rows), int(view.column) + int(view.columns)


def _numbered(calls: Iterable[Call]) -> dict[str, int]:
    names = dict.fromkeys(view.buffer for call in calls for view in call.views.values())
    return {name: number for number, name in enumerate(names)}


def _made(calls: CallArray, numbers: dict[str, int], item_bytes: int) -> Iterator[Regions]:
    """The regions of a statement; none where its call is not made, as a size is zero."""
    assert calls.call.owner is not None
    count = len(calls.call.owner)
    made = np.isin(np.arange(count), calls.entries)
    for own in _regions(calls.call, numbers, count, item_bytes):
        yield replace(own, rows=own.rows * made, bytes=own.bytes * made)


def _regions(call: Call, numbers: dict[str, int], count: int, item_bytes: int) -> Iterable[Regions]:
    for data in call.kernel.data:
        yield _region(call.views[data.name], data, numbers[call.views[data.name].buffer], count, item_bytes)


def _region(view: View, data: Data, number: int, count: int, item_bytes: int) -> Regions:
    row, column, rows, columns = (_filled(value, count) for value in _rectangle(view))
    lines = columns * -(-rows * item_bytes // LINE_BYTES)
    half = 0.5 if data.structure in _TRIANGLES else 1.0
    written = np.full(count, data.access != "in")
    return Regions(_filled(number, count), row, column, rows, columns, half * LINE_BYTES * lines.astype(float), written)


def _rectangle(view: View) -> tuple[Extent, Extent, Extent, Extent]:
    """Row, column, rows, columns; of a row or column that stands for several, all of them."""
    rows, columns = view.rows, view.columns
    if np.max(view.times) > 1:
        if np.ndim(columns) == 0:
            columns = view.times
        else:
            rows = view.times
    return view.row, view.column, rows, columns


def _filled(value: Extent, count: int) -> IntArray:
    return np.ascontiguousarray(np.broadcast_to(np.asarray(value, dtype=np.int64), count))


def _stacked(regions: Many[Regions]) -> Regions:
    return Regions(*(np.concatenate([getattr(own, one.name) for own in regions]) for one in fields(Regions)))
