"""Baselines: what models achieve that need no generator, from about a second of sampling."""

import numpy as np

from ..fitting.basis import design_matrix, of_total_degree
from ..fitting.fit import least_squares
from ..sizes.grid import grid_points
from ..summary import FloatArray
from .exhaustive import MEDIAN_QUANTILE, ExhaustiveSet
from .outcome import Outcome, outcome
from .setting import CASE

SECONDS = 1.0
POINTS = 5  # along each size
DEGREE = 3


def baselines(exhaustive: ExhaustiveSet) -> list[Outcome]:
    """One cubic polynomial, and flops at one rate, both fitted to the same points of a Chebyshev grid.

    Of these there are as many repetitions as a second allows, at least one.
    """
    flops = _flops(exhaustive)[:, None]
    exponents, scale = of_total_degree(len(exhaustive.axes), DEGREE), np.array(exhaustive.domain.upper, float)
    cubes = design_matrix(exhaustive.points, exponents, scale)
    return [_baseline("cubic", cubes, exhaustive), _baseline("flops", flops, exhaustive)]


def _baseline(name: str, matrix: FloatArray, exhaustive: ExhaustiveSet) -> Outcome:
    """A linear model with the columns of a matrix, of shape (n_points, n_columns)."""
    counts = [POINTS] * len(exhaustive.axes)
    rows = exhaustive.rows(grid_points(exhaustive.domain, counts, "chebyshev", exhaustive.lattice))
    fitting = [k for k in range(1, exhaustive.seconds.shape[1] + 1) if exhaustive.costs(k)[rows].sum() <= SECONDS]
    repetitions = max(fitting, default=1)
    coefficients, _ = least_squares(matrix[rows], exhaustive.reference(repetitions, MEDIAN_QUANTILE)[rows])
    return outcome(
        name,
        None,
        matrix @ coefficients / exhaustive.measured,
        float(exhaustive.costs(repetitions)[rows].sum()),
        int(exhaustive.counts(repetitions)[rows].sum()),
        1,
    )


def _flops(exhaustive: ExhaustiveSet) -> FloatArray:
    sizes = dict(zip(CASE.kernel.sizes, exhaustive.points.T, strict=True))
    return np.asarray(CASE.kernel.flop_count({**CASE.flags, **sizes}), dtype=float)
