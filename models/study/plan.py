"""How dense a set can be measured in a given time."""

import math

import numpy as np

from blascast.sampler.errors import UsageError

from ..fitting.basis import design_matrix, monomials
from ..fitting.fit import least_squares
from ..generation.generator import CALLS_PER_SAMPLE
from ..summary import FloatArray
from .axes import Axes, IntArray, coarsest, densest
from .collection import Collection
from .exhaustive import points_of
from .setting import ALL_AXES, CASE, DOMAIN, KEY, REPETITIONS, VALIDATIONS

QUICK_REPETITIONS = 3
MEASURED_AGAIN = 1.5  # repetitions for each that counts, on a shared machine
COPIED_BYTES_PER_SECOND = 4e9  # when operands are restored
PROBES_SECONDS = 50e-6  # of a repetition
ELEMENT_BYTES = 8


def affordable_axes(collection: Collection, seconds: float) -> Axes:
    """The coordinates of the densest set that two passes over it can be measured in so many seconds.

    It is told from a few quick samples, which belong to all sets: a second time, from the same samples,
    it is the same set.

    Raises
    ------
    UsageError
        If the time is too short for the coarsest one.
    """
    if math.isinf(seconds):
        return ALL_AXES
    quick = points_of(coarsest(ALL_AXES))
    collection.complete(quick, QUICK_REPETITIONS, KEY, "estimating the time")
    times = np.nanmedian(collection.seconds(quick, QUICK_REPETITIONS, KEY), axis=1)
    exponents, scale = monomials(CASE.kernel, dict(CASE.flags), 0), np.array(DOMAIN.upper, dtype=float)
    coefficients, _ = least_squares(design_matrix(quick, exponents, scale), times)

    def estimated(axes: Axes) -> float:
        points = points_of(axes)
        calls = np.maximum(design_matrix(points, exponents, scale) @ coefficients, times.min())
        return (REPETITIONS + VALIDATIONS) * MEASURED_AGAIN * float(_repetition(points, calls).sum())

    found = densest(ALL_AXES, lambda axes: estimated(axes) <= seconds)
    if found is None:
        least = math.ceil(10 * estimated(coarsest(ALL_AXES)) / 60) / 10
        raise UsageError(f"a study takes at least {least:.1f} minutes here, got {seconds / 60:g}; give it more")
    return found


def _repetition(points: IntArray, calls: FloatArray) -> FloatArray:
    """What one repetition takes: calls, each on an operand that is restored, and probes."""
    restored = ELEMENT_BYTES * points.prod(axis=1) / COPIED_BYTES_PER_SECOND
    return np.asarray(CALLS_PER_SAMPLE * (calls + restored) + PROBES_SECONDS)
