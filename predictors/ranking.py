"""Ranks variants by predicted run time, with ties where the difference is within the uncertainty."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blascast.models.summary import MEDIAN

from .configurations import Configuration
from .prediction import Times
from .replay import Replay

CONFIDENCE = 1.96  # standard errors
NOISE_IF_UNKNOWN = 0.02


@dataclass(frozen=True, slots=True)
class Candidate:
    """A configuration and its predicted run time.

    Parameters
    ----------
    configuration : Configuration
    times : Times
    error : float
        Standard error of the median, seconds.
    """

    configuration: Configuration
    times: Times
    error: float


def candidates_of(configurations: Sequence[Configuration], replay: Replay) -> list[Candidate]:
    """The configurations of a replay with their times."""
    return [
        Candidate(configuration, Times.of(statistics), float(error))
        for configuration, statistics, error in zip(configurations, replay.statistics, replay.error, strict=True)
    ]


def best_candidate(configurations: Sequence[Configuration], replay: Replay, which: Sequence[int]) -> Candidate:
    """That with the least predicted median, among those of some indices."""
    best = which[int(np.argmin(replay.statistics[list(which), MEDIAN]))]
    return Candidate(configurations[best], Times.of(replay.statistics[best]), float(replay.error[best]))


def rank_candidates(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, fastest first."""
    return sorted(candidates, key=lambda candidate: candidate.times.median)


def noise_or_assumed(noise_floor: float | None) -> float:
    """The noise floor; where too few samples tell it, one that is large for a kernel's."""
    return NOISE_IF_UNKNOWN if noise_floor is None else noise_floor


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
