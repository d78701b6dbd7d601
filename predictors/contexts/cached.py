"""Between warm and cold: estimates by the cache model (section 18.3 of the dissertation)."""

from collections.abc import Sequence as Many

import numpy as np

from blascast.algorithms import CallArray, Sequence

from ..caching.accesses import grid_of_sequence
from ..caching.association import FITTED, Association
from ..caching.mixing import Level, missed
from ..replay import Estimate, Estimated


def between(
    sequence: Sequence,
    warm: Estimate,
    cold: Estimate,
    item_bytes: int,
    levels: Many[Level],
    association: Association = FITTED,
    splits: bool = True,
) -> Estimate | None:
    """Estimates of a sequence's calls, from warm ones to cold ones by the share that they miss.

    None if the calls are not those of a single loop: their state is not known.

    Parameters
    ----------
    sequence : Sequence
    warm, cold : Estimate
    item_bytes : int
    levels, association, splits
        See `missed`.
    """
    grid = grid_of_sequence(sequence, item_bytes)
    if grid is None:
        return None

    def estimate(calls: CallArray) -> Estimated:
        statement = next(number for number, own in enumerate(sequence.calls) if own is calls)
        times, errors, causes = warm(calls)
        beyond, further_errors, _ = cold(calls)
        share = missed(grid, statement, levels, association, splits)[calls.entries]
        mixed = times + share[:, np.newaxis] * np.maximum(beyond - times, 0.0)
        return mixed, errors + share * (further_errors - errors), causes

    return estimate
