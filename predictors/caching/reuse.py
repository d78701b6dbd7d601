"""Reuse: how much was accessed between two uses of a region (section 18.3 of the dissertation).

Caches are taken to be fully associative, and to replace what was used least recently. So what a call
finds depends on how many bytes were accessed since: the access distance, by a scan backwards over the
calls before it. A region of which calls before used parts only is found part by part, each at its own
distance: parts are taken to be others each time, until together they are the whole.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from .accesses import FloatArray, Grid, IntArray, Regions

SMALL = 0.25  # of a call's inputs: a result that is no larger stays in the cache, though they may not

Part: TypeAlias = tuple[FloatArray, FloatArray]


def scan(grid: Grid, statement: int, operand: int, splits: bool) -> Iterator[Part]:
    """The parts of an operand by when they were used last: bytes and access distances, of shape (n_rows,).

    What none of the calls used that are looked back at was used by a run of the algorithm before: all
    of its operands were accessed since.

    Parameters
    ----------
    grid : Grid
    statement, operand : int
    splits : bool
        Whether of a call with large inputs and a small result the result counts as accessed last.
    """
    own, width = grid.statements[statement][operand], len(grid.statements)
    left, distance = own.bytes.copy(), np.zeros(len(own.bytes))
    for lag in range(1, grid.history + 1):
        if not left.any():
            return
        back, place = -((statement - lag) // width), (statement - lag) % width
        rows = len(left) - back
        if rows <= 0:
            break
        same = grid.owner[back:] == grid.owner[:rows]
        later = own.after(back)
        for kind, added in _groups(grid.statements[place], splits):
            distance[back:] += same * added[:rows]
            found = np.zeros(rows)
            for former in grid.statements[place]:
                counts = same if kind is None else same & (former.written[:rows] == kind)
                found += counts * _common(later, former.before(back))
            found = np.minimum(found, left[back:])
            if found.any():
                left[back:] -= found
                yield np.concatenate([np.zeros(back), found]), distance.copy()
    yield left, np.maximum(grid.whole, distance)


def _groups(call: Sequence[Regions], splits: bool) -> Iterator[tuple[bool | None, FloatArray]]:
    """What a scan meets of a call: results (True), inputs (False) or all (None), and the bytes that are then behind."""
    total = np.sum([own.bytes for own in call], axis=0)
    if not splits:
        yield None, total
        return
    results = np.sum([own.bytes * own.written for own in call], axis=0)
    last = np.where(results <= SMALL * (total - results), results, total)
    yield True, last
    yield False, total - last


def _common(region: Regions, former: Regions) -> FloatArray:
    """Bytes of a region that lie in another one, too."""
    rows = _overlap(region.row, region.rows, former.row, former.rows)
    columns = _overlap(region.column, region.columns, former.column, former.columns)
    area = np.maximum(region.rows * region.columns, 1)
    return np.where(region.buffer == former.buffer, region.bytes * (rows * columns / area), 0.0)


def _overlap(first: IntArray, length: IntArray, other: IntArray, its_length: IntArray) -> IntArray:
    """Length that intervals have in common."""
    return np.asarray(np.maximum(np.minimum(first + length, other + its_length) - np.maximum(first, other), 0))
