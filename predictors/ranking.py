"""Ranks variants by predicted run time, with ties where the difference is within the uncertainty."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blascast.algorithms import Variant
from blascast.models.summary import MEDIAN

from .prediction import Times
from .replay import Replay

CONFIDENCE = 1.96  # standard errors


@dataclass(frozen=True, slots=True)
class Candidate:
    """A variant at a size and a block size, and its predicted run time.

    Parameters
    ----------
    variant : Variant
    n, b : int
    times : Times
    error : float
        Standard error of the median, seconds.
    """

    variant: Variant
    n: int
    b: int
    times: Times
    error: float


def best_candidate(replay: Replay, n: int) -> Candidate:
    """The block size with the least predicted median among the configurations of size n."""
    (of_size,) = np.nonzero(replay.sequence.n == n)
    return candidate(replay, int(of_size[np.argmin(replay.statistics[of_size, MEDIAN])]))


def candidate(replay: Replay, index: int) -> Candidate:
    """One configuration of a replay."""
    return Candidate(
        replay.sequence.variant,
        int(replay.sequence.n[index]),
        int(replay.sequence.b[index]),
        Times.of(replay.statistics[index]),
        float(replay.error[index]),
    )


def rank_candidates(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, fastest first."""
    return sorted(candidates, key=lambda candidate: candidate.times.median)


def tie_classes(medians: Sequence[float], errors: Sequence[float], noise_floor: float) -> list[int]:
    """Classes 1, 2, ... of ascending run times: members do not differ from their class's fastest.

    Two run times differ when their distance exceeds 1.96 standard errors of it (model errors and
    noise of both taken as independent).

    Parameters
    ----------
    medians : sequence of seconds, ascending
    errors : sequence of standard errors, seconds
    noise_floor : float
        Relative difference between two measurements of the same thing.

    Examples
    --------
    >>> tie_classes([1.00, 1.01, 1.20], [0.01, 0.01, 0.01], 0.0)
    [1, 1, 2]
    """
    classes: list[int] = []
    first = 0
    for i, (median, error) in enumerate(zip(medians, errors, strict=True)):
        noise = noise_floor * median
        tolerance = CONFIDENCE * float(np.sqrt(error**2 + errors[first] ** 2 + noise**2))
        if i and median - medians[first] > tolerance:
            first = i
            classes.append(classes[-1] + 1)
        else:
            classes.append(classes[-1] if classes else 1)
    return classes
