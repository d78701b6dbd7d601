"""The traversal of a square matrix in blocks, as numbers or as arrays.

With a view of plain sizes, `partition` yields one 3x3 partition a step. With a view of array-valued
sizes (one entry a configuration) it yields once: partitions whose entries are all steps of all
configurations. So one algorithm body serves execution and prediction.
"""

from collections.abc import Iterator
from typing import Literal, TypeAlias

import numpy as np

from blascast.sampler.call import Extent, View
from blascast.sampler.errors import UsageError

MOST_STEPS = 2_000_000
Direction = Literal["TL-BR", "BR-TL"]
Partition: TypeAlias = tuple[View, View, View, View, View, View, View, View, View]


def partition(A: View, b: Extent, direction: Direction = "TL-BR") -> Iterator[Partition]:
    """The partitions A00, A01, A02, A10, A11, A12, A20, A21, A22 of a square view, step by step.

    Parameters
    ----------
    A : View
        Square, n x n.
    b : int or integer array
        Block size; the current block A11 is min(b, rest) square.
    direction : str
        ``"TL-BR"``: A00 grows from empty. ``"BR-TL"``: A22 does.
    """
    if A.owner is None:
        for done in range(0, int(A.rows), int(b)):
            yield _split(A, A.rows, done, min(int(b), int(A.rows) - done), direction)
    else:
        width, before, steps = _all_steps(A, np.asarray(b))
        yield _split(steps, steps.rows, before, np.minimum(width, steps.rows - before), direction)


def _all_steps(A: View, b: np.ndarray) -> tuple[Extent, Extent, View]:
    """Block size, size done before, and whole view, for all steps of all configurations."""
    n = np.asarray(A.rows)
    steps = -(-n // b)
    if steps.sum() > MOST_STEPS:
        raise UsageError(f"these sizes make {steps.sum()} steps; ask for fewer sizes, {MOST_STEPS} steps at most")
    index = np.repeat(np.arange(n.size), steps)
    step = np.arange(index.size) - np.repeat(np.cumsum(steps) - steps, steps)
    row, column = (np.broadcast_to(extent, n.shape)[index] for extent in (A.row, A.column))
    assert A.owner is not None
    view = View(A.buffer, row, column, n[index], n[index], A.ld, A.structure, A.owner[index])
    return b[index], step * b[index], view


def _split(A: View, n: Extent, done: Extent, width: Extent, direction: Direction) -> Partition:
    rest = n - done - width
    r0, r2 = (done, rest) if direction == "TL-BR" else (rest, done)
    at = ((r0 * 0, r0), (r0, width), (r0 + width, r2))  # offset and extent of the blocks 0, 1, 2
    a, b, c, d, e, f, g, h, i = (A.part(row, column, m, k) for row, m in at for column, k in at)
    return a, b, c, d, e, f, g, h, i
