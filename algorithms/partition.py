"""The traversal of matrices in blocks, as numbers or as arrays.

With views of plain sizes, a traversal yields one partition a step. With views of array-valued sizes
(one entry a configuration, or a step of an outer traversal) it yields once: partitions whose entries
are all steps of all of them. So one algorithm body serves execution and prediction.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from blascast.sampler.call import Extent, View
from blascast.sampler.errors import UsageError

MOST_STEPS = 5_000_000
Direction = Literal["TL-BR", "BR-TL", "BR-TL, aligned"]
Parts: TypeAlias = tuple[View, View, View]
Partition: TypeAlias = tuple[View, View, View, View, View, View, View, View, View]
Index: TypeAlias = npt.NDArray[np.int64] | None


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A dimension cut in three: lengths of what is before, at and after the current block, by index."""

    before: Extent
    width: Extent
    after: Extent

    @property
    def parts(self) -> tuple[tuple[Extent, Extent], ...]:
        """Offset and length of the three."""
        before, width, after = self.before, self.width, self.after
        return (before * 0, before), (before, width), (before + width, after)


def partition(A: View, b: Extent, direction: Direction = "TL-BR", steps: Extent | None = None) -> Iterator[Partition]:
    """The partitions A00, A01, A02, A10, A11, A12, A20, A21, A22 along a view's diagonal, step by step.

    Parameters
    ----------
    A : View
        m x n.
    b : int or integer array
        Block size, of each configuration; the current block A11 is square, of b or what is left of min(m, n).
    direction : str
        ``"TL-BR"``: A00 grows from empty. ``"BR-TL"``: A22 does. ``"BR-TL, aligned"``: it does too, and
        the blocks are those of TL-BR (the short one comes first).
    steps : int or integer array, optional
        Of each configuration; by default as many as it takes.
    """
    for index, rows, columns in _along_diagonal(A, b, direction, steps):
        yield blocks(gathered(A, index), rows, columns)


def partitions(b: Extent, *operands: View) -> Iterator[tuple[Partition, ...]]:
    """The partitions of operands of one shape, from the top left."""
    return zip(*(partition(operand, b) for operand in operands), strict=True)


def partition_along(A: View, v: View, b: Extent, steps: Extent | None = None) -> Iterator[tuple[Partition, Parts]]:
    """The same from the top left, with the parts v0, v1, v2 of a vector that belongs to the diagonal."""
    for index, rows, columns in _along_diagonal(A, b, "TL-BR", steps):
        vector = gathered(v, index)
        along = Cut(rows.before, rows.width, vector.rows - rows.before - rows.width)
        yield blocks(gathered(A, index), rows, columns), row_parts(vector, along)


def partition_equation(
    A: View, B: View, C: View, b: Extent, c: Extent
) -> Iterator[tuple[Partition, Partition, Partition]]:
    """Partitions for a triangular Sylvester equation, whose C is swept from the bottom left to the top right.

    The blocks of A (from the bottom right) are of `b`, those of B (from the top left) of `c`; where one
    matrix is done before the other, its current block is empty.
    """
    b, c = of_entries(b, C), of_entries(c, C)
    count = most(_count(C.rows, b), _count(C.columns, c))
    for index, step in _steps(count, C.owner):
        left, right, view = (gathered(operand, index) for operand in (A, B, C))
        rows = _next(view.rows, step, _gathered(b, index), "BR-TL")
        columns = _next(view.columns, step, _gathered(c, index), "TL-BR")
        yield blocks(left, rows, rows), blocks(right, columns, columns), blocks(view, rows, columns)


def partition_rows(
    A: View, C: View, b: Extent, *others: View, direction: Direction = "BR-TL"
) -> Iterator[tuple[Partition, Parts, tuple[View, ...]]]:
    """Partitions of a square A, and the rows C0, C1, C2 of C, from the bottom to the top; other views as they are."""
    for index, rows in _along(C.rows, b, C, direction):
        same = tuple(gathered(view, index) for view in others)
        yield blocks(gathered(A, index), rows, rows), row_parts(gathered(C, index), rows), same


def partition_columns(
    B: View, C: View, c: Extent, *others: View
) -> Iterator[tuple[Partition, Parts, tuple[View, ...]]]:
    """Partitions of a square B, and the columns C0, C1, C2 of C, from left to right; other views as they are."""
    for index, columns in _along(C.columns, c, C, "TL-BR"):
        same = tuple(gathered(view, index) for view in others)
        yield blocks(gathered(B, index), columns, columns), column_parts(gathered(C, index), columns), same


def row_blocks(A: View, C: View, b: Extent, *others: View) -> Iterator[tuple[View, ...]]:
    """Blocks of b rows of A and C, from the bottom to the top, the short one first; other views as they are."""
    for index, rows in _along(A.rows, b, A, "BR-TL, aligned"):
        split = (row_parts(gathered(view, index), rows)[1] for view in (A, C))
        yield (*split, *(gathered(view, index) for view in others))


def column_blocks(B: View, C: View, c: Extent, *others: View) -> Iterator[tuple[View, ...]]:
    """Blocks of c columns of B and C, from the left to the right; other views as they are."""
    for index, columns in _along(B.columns, c, B, "TL-BR"):
        split = (column_parts(gathered(view, index), columns)[1] for view in (B, C))
        yield (*split, *(gathered(view, index) for view in others))


def stacked(top: View, bottom: View) -> View:
    """A block and the one below it, as one."""
    return top.part(0, 0, top.rows + bottom.rows, top.columns)


def only(A: View, chosen: Extent) -> View:
    """The view where `chosen` is 1, an empty one where it is 0."""
    return A.part(0, 0, A.rows * chosen, A.columns * chosen)


def beside(workspace: View, A: View) -> View:
    """A workspace (which has an entry for each configuration) with the entries of another view."""
    return replace(gathered(workspace, A.owner), loop=A.loop)


def columns_of(A: View) -> Iterator[View]:
    """Column by column; of an array-valued view one stands for all of an entry, as they are of one length."""
    if A.owner is None:
        for j in range(int(A.columns)):
            yield A.part(0, j, A.rows, 1)
    else:
        yield replace(A.part(0, 0, A.rows, 1), times=A.times * A.columns)


def rows_of(A: View) -> Iterator[View]:
    """Row by row, likewise."""
    if A.owner is None:
        for i in range(int(A.rows)):
            yield A.part(i, 0, 1, A.columns)
    else:
        yield replace(A.part(0, 0, 1, A.columns), times=A.times * A.rows)


def gathered(A: View, index: Index) -> View:
    """Entries of an array-valued view, in the order of the index; any other view as it is."""
    if index is None:
        return A
    assert A.owner is not None
    shape = A.owner.shape
    row, column, rows, columns, times = (
        np.broadcast_to(extent, shape)[index] for extent in (A.row, A.column, A.rows, A.columns, A.times)
    )
    return replace(A, row=row, column=column, rows=rows, columns=columns, times=times, owner=A.owner[index], loop=index)


def of_entries(b: Extent, A: View) -> Extent:
    """Numbers of configurations (such as block sizes), for each entry of a view."""
    return b if A.owner is None or np.ndim(b) == 0 else np.asarray(b)[A.owner]


def least(first: Extent, second: Extent) -> Extent:
    """The smaller one, of numbers or entry by entry."""
    both = isinstance(first, int) and isinstance(second, int)
    return min(first, second) if both else np.minimum(first, second)


def most(first: Extent, second: Extent) -> Extent:
    """The larger one, of numbers or entry by entry."""
    both = isinstance(first, int) and isinstance(second, int)
    return max(first, second) if both else np.maximum(first, second)


def blocks(A: View, rows: Cut, columns: Cut) -> Partition:
    """The nine blocks, row by row."""
    a, b, c, d, e, f, g, h, i = (A.part(row, column, m, n) for row, m in rows.parts for column, n in columns.parts)
    return a, b, c, d, e, f, g, h, i


def row_parts(A: View, rows: Cut) -> Parts:
    """What is above, at and below the current rows."""
    above, at, below = (A.part(row, 0, m, A.columns) for row, m in rows.parts)
    return above, at, below


def column_parts(A: View, columns: Cut) -> Parts:
    """What is left of, at and right of the current columns."""
    left, at, right = (A.part(0, column, A.rows, n) for column, n in columns.parts)
    return left, at, right


def _along_diagonal(A: View, b: Extent, direction: Direction, steps: Extent | None) -> Iterator[tuple[Index, Cut, Cut]]:
    """Which entries a step is of, and how it cuts rows and columns."""
    b = of_entries(b, A)
    extent = least(A.rows, A.columns)
    count = _count(extent, b) if steps is None else of_entries(steps, A)
    for index, step in _steps(count, A.owner):
        m, n, size = (_gathered(value, index) for value in (A.rows, A.columns, b))
        way: Direction = direction
        if direction == "BR-TL, aligned":
            step, way = _gathered(count, index) - 1 - step, "TL-BR"
        done = step * size
        width = least(size, least(m, n) - done)
        yield index, _cut(m, done, width, way), _cut(n, done, width, way)


def _steps(count: Extent, owner: Index) -> Iterator[tuple[Index, Extent]]:
    """Step by step; or once, all steps of all entries: which entry each step is of, and its number."""
    if owner is None:
        for step in range(int(count)):
            yield None, step
        return
    counts = np.broadcast_to(count, owner.shape)
    if (total := counts.sum()) > MOST_STEPS:
        raise UsageError(f"these sizes make {total} steps; ask for fewer sizes, {MOST_STEPS} steps at most")
    index = np.repeat(np.arange(counts.size), counts)
    yield index, np.arange(index.size) - np.repeat(np.cumsum(counts) - counts, counts)


def _count(extent: Extent, size: Extent) -> Extent:
    return -(-extent // size)


def _along(extent: Extent, b: Extent, A: View, direction: Direction) -> Iterator[tuple[Index, Cut]]:
    """Which entries a step along one dimension is of, and how it cuts it."""
    b = of_entries(b, A)
    count = _count(extent, b)
    for index, step in _steps(count, A.owner):
        way: Direction = direction
        if direction == "BR-TL, aligned":
            step, way = _gathered(count, index) - 1 - step, "TL-BR"
        yield index, _next(_gathered(extent, index), step, _gathered(b, index), way)


def _next(extent: Extent, step: Extent, size: Extent, direction: Direction) -> Cut:
    """The cut at a step along one dimension; empty at its end where it is done already."""
    done = least(step * size, extent)
    return _cut(extent, done, least(size, extent - done), direction)


def _cut(extent: Extent, done: Extent, width: Extent, direction: Direction) -> Cut:
    rest = extent - done - width
    return Cut(done, width, rest) if direction == "TL-BR" else Cut(rest, width, done)


def _gathered(value: Extent, index: Index) -> Extent:
    return value if index is None or np.ndim(value) == 0 else np.asarray(value)[index]
