"""Outcomes: what a model achieves, and what it cost."""

from dataclasses import dataclass

import numpy as np

from ..parameters import Parameters
from ..summary import FloatArray


@dataclass(frozen=True, slots=True)
class Outcome:
    """Errors and cost of one model.

    Parameters
    ----------
    name : str
        Of the preset or baseline; empty for other configurations.
    parameters : Parameters or None
        None for a baseline.
    error, median_error, p90_error : float
        Mean, median and 90th percentile of the relative errors of the predicted median over all points.
    seconds : float
        Time of all calls that its samples took.
    samples : int
    pieces : int
    """

    name: str
    parameters: Parameters | None
    error: float
    median_error: float
    p90_error: float
    seconds: float
    samples: int
    pieces: int


def outcome(
    name: str,
    parameters: Parameters | None,
    relative: FloatArray,
    seconds: float,
    samples: int,
    pieces: int,
) -> Outcome:
    """The outcome of a model whose estimates are so many times what was measured (array of shape (n_points,))."""
    errors = np.abs(relative - 1)
    middle, high = np.quantile(errors, [0.5, 0.9])
    return Outcome(name, parameters, float(errors.mean()), float(middle), float(high), seconds, samples, pieces)
