"""Algorithm-aware timings: a call after those that an algorithm makes since its operands' last use (section 20.2).

They tell what a call takes in an algorithm, and cost more than to run it: a reference for everything else.
"""

from collections.abc import Sequence
from dataclasses import replace

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
        before = tuple(Run(own) for own in calls[_first_needed(calls, index) : index])
        jobs.append(replace(sequence_job([call]), preamble=(*restoring, *before), precondition="aware"))
    return jobs


def _first_needed(calls: Sequence[Call], index: int) -> int:
    """The first of the calls that bring in what a call accesses."""
    call = calls[index]
    wanted = [view for view in call.views.values() if view.rows > 0 and view.columns > 0]
    for place in range(index - 1, -1, -1):
        wanted = [view for view in wanted if not any(_meet(view, own) for own in calls[place].views.values())]
        if not wanted or (calls[place].kernel is call.kernel and calls[place].case == call.case):
            return place
    return 0


def _meet(view: View, other: View) -> bool:
    """Whether views have entries in common."""
    return bool(
        view.buffer == other.buffer
        and view.row < other.row + other.rows
        and other.row < view.row + view.rows
        and view.column < other.column + other.columns
        and other.column < view.column + view.columns
    )
