"""Whether one way to predict is better than another, on the same points."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..prediction import FloatArray

MOST_DIFFERENCES = 2000  # whose pairwise means are formed


@dataclass(frozen=True, slots=True)
class Comparison:
    """Absolute errors against those of another way, paired.

    Parameters
    ----------
    shift : float
        The Hodges-Lehmann estimate of the difference: negative if errors are smaller.
    p : float
        Of Wilcoxon's signed rank test; adjusted, if so, for several tests.
    """

    shift: float
    p: float


def compare(errors: FloatArray, others: FloatArray) -> Comparison:
    """Compares absolute errors, both of shape (n_points,)."""
    from scipy.stats import wilcoxon

    differences = np.abs(errors) - np.abs(others)
    if not differences.any():
        return Comparison(0.0, 1.0)
    return Comparison(hodges_lehmann(differences), float(wilcoxon(differences).pvalue))


def hodges_lehmann(differences: FloatArray) -> float:
    """The median of the means of all pairs (Hodges and Lehmann 1963), each value with itself too.

    Examples
    --------
    >>> import numpy as np
    >>> hodges_lehmann(np.array([0.0, 1.0, 5.0]))
    1.75
    """
    if len(differences) > MOST_DIFFERENCES:
        differences = np.quantile(differences, np.linspace(0, 1, MOST_DIFFERENCES))
    first, second = np.triu_indices(len(differences))
    return float(np.median((differences[first] + differences[second]) / 2))


def holm(p_values: Sequence[float]) -> list[float]:
    """P values adjusted for several tests (Holm 1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    factors = len(p_values) - np.arange(len(p_values))
    adjusted = np.minimum(np.maximum.accumulate(factors * np.array(p_values)[order]), 1.0)
    result = np.empty(len(p_values))
    result[order] = adjusted
    return [float(p) for p in result]
