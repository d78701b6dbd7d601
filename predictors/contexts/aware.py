"""Algorithm-aware timings: a call after those that an algorithm makes since its operands' last use (section 20.2).

They tell what a call takes in an algorithm, and cost more than to run it: a reference for everything else.
"""

from collections.abc import Sequence

from blascast.sampler.call import Call, View
from blascast.sampler.job import Job, sequence_job
from blascast.sampler.program import Run


def aware_jobs(calls: Sequence[Call]) -> list[Job]:
    """A job for each call of an algorithm: it is timed after the calls since its operands' last use.

    As long ago as the last call of its kernel and case at most: an iteration of the algorithm.
    """
    restoring = sequence_job(calls).preamble
    jobs = []
    for index, call in enumerate(calls):
        first = _first_needed(calls, index)
        while (earlier := min(_first_integers(calls, place) for place in range(first, index + 1))) < first:
            first = earlier
        before = tuple(Run(own) for own in calls[first:index])
        jobs.append(Job((*restoring, *before), (call,), precondition="aware"))
    return jobs


def _first_needed(calls: Sequence[Call], index: int) -> int:
    """The first of the calls that bring in what a call accesses."""
    call = calls[index]
    left = {id(view): view.rows * view.columns for view in call.views.values()}
    for place in range(index - 1, -1, -1):
        for view in call.views.values():
            left[id(view)] -= sum(_common(view, own) for own in calls[place].views.values())
        if max(left.values()) <= 0 or (calls[place].kernel is call.kernel and calls[place].case == call.case):
            return place
    return 0


def _first_integers(calls: Sequence[Call], index: int) -> int:
    """The first of the calls that write the integers (pivots) which a call reads: any others may point anywhere."""
    data = {own.name for own in calls[index].kernel.data if own.kind == "integer" and own.access == "in"}
    first = index
    for view in (view for name, view in calls[index].views.items() if name in data):
        writers = (place for place in range(index - 1, -1, -1) if _writes(calls[place], view))
        first = min(first, next(writers, index))
    return first


def _writes(call: Call, view: View) -> bool:
    return any(_common(view, own) for own in call.overwritten)


def _common(view: View, other: View) -> int:
    """Entries that views have in common."""
    if view.buffer != other.buffer:
        return 0
    rows = min(view.row + view.rows, other.row + other.rows) - max(view.row, other.row)
    columns = min(view.column + view.columns, other.column + other.columns) - max(view.column, other.column)
    return int(max(rows, 0) * max(columns, 0))
