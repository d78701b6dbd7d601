"""Algorithm-aware timings: a call after those that an algorithm makes since its operands' last use (section 20.2).

They tell what a call takes in an algorithm, and cost more than to run it: a reference for everything else.
"""

from collections.abc import Sequence

from blascast.sampler.call import Call
from blascast.sampler.job import Job, sequence_job
from blascast.sampler.program import Run

from .pivots import begin_with_pivots, common_entries


def aware_jobs(calls: Sequence[Call]) -> list[Job]:
    """A job for each call of an algorithm: it is timed after the calls since its operands' last use.

    As long ago as the last call of its kernel and case at most: an iteration of the algorithm.
    """
    restoring = sequence_job(calls).preamble
    jobs = []
    for index, call in enumerate(calls):
        first = begin_with_pivots(calls, _first_needed(calls, index), index + 1)
        before = tuple(Run(own) for own in calls[first:index])
        jobs.append(Job((*restoring, *before), (call,), precondition="aware"))
    return jobs


def _first_needed(calls: Sequence[Call], index: int) -> int:
    """The first of the calls that bring in what a call accesses."""
    call = calls[index]
    left = {id(view): view.rows * view.columns for view in call.views.values()}
    for place in range(index - 1, -1, -1):
        for view in call.views.values():
            left[id(view)] -= sum(common_entries(view, own) for own in calls[place].views.values())
        if max(left.values()) <= 0 or (calls[place].kernel is call.kernel and calls[place].case == call.case):
            return place
    return 0
