"""Pivots: calls that read integers need the calls that wrote them, for any others may point anywhere."""

from collections.abc import Sequence

import numpy as np

from blascast.sampler.call import Call, View


def begin_with_pivots(calls: Sequence[Call], first: int, end: int) -> int:
    """The last place at or before the first from which on all that write integers for calls up to the end are made.

    Parameters
    ----------
    calls : sequence of Call
        Of an algorithm, in order.
    first, end : int
        The calls that are to be made: from the first, up to but not including the end.
    """
    while (earlier := min(_first_writer(calls, place) for place in range(first, end))) < first:
        first = earlier
    return first


def common_entries(view: View, other: View) -> int:
    """Entries that views have in common."""
    if view.buffer != other.buffer:
        return 0
    rows = min(view.row + view.rows, other.row + other.rows) - max(view.row, other.row)
    columns = min(view.column + view.columns, other.column + other.columns) - max(view.column, other.column)
    return int(max(rows, 0) * max(columns, 0))


def _first_writer(calls: Sequence[Call], index: int) -> int:
    """The first of the calls that last wrote the integers which a call reads; itself, if it reads none."""
    reads = {own.name for own in calls[index].kernel.data if own.kind == "integer" and own.access != "out"}
    first = index
    for view in (view for name, view in calls[index].views.items() if name in reads):
        missing = np.ones((int(view.rows), int(view.columns)), dtype=np.bool_)
        for place in range(index - 1, -1, -1):
            if not missing.any():
                break
            for own in calls[place].overwritten:
                if common_entries(view, own):
                    row, column = own.row - view.row, own.column - view.column
                    missing[max(row, 0) : row + own.rows, max(column, 0) : column + own.columns] = False
                    first = min(first, place)
    return first
