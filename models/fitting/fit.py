"""Fits polynomials to run times by least squares of the relative error (dissertation, section 3.2.4)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..summary import MEDIAN, STATISTICS, STD, FloatArray

_HIGHEST_LEVERAGE = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A polynomial of one statistic and how well it predicts.

    Parameters
    ----------
    coefficients : array of shape (n_monomials,)
    residuals : array of shape (n_points,)
        Relative errors at the points.
    held_out : array of shape (n_points,)
        Relative error at each point, had the point been left out of the fit.
    whitening : array of shape (n_monomials, rank)
        Monomials relative to the time, times it: rows whose squared lengths are leverages.
    tested : bool
        Whether an error can be seen at every point, were it left out: not where a monomial hangs on one of them.
    """

    coefficients: FloatArray
    residuals: FloatArray
    held_out: FloatArray
    whitening: FloatArray
    tested: bool

    def leverages(self, matrix: FloatArray) -> FloatArray:
        """Variance of estimates in units of the variance of a point, for monomials of shape (n, n_monomials)."""
        relative = matrix / (matrix @ self.coefficients)[:, None]
        return np.asarray(((relative @ self.whitening) ** 2).sum(axis=1))


def fit(matrix: FloatArray, seconds: FloatArray, weights: FloatArray | None = None) -> Fit:
    """Fits y by least squares of W X c against W 1, X[i, j] = m_j(x_i) / y_i, W = diag(weights).

    Parameters
    ----------
    matrix : array of shape (n_points, n_monomials)
        The monomials at the points, no more of them than points.
    seconds : array of shape (n_points,), positive
    weights : array of shape (n_points,), optional
        Positive; by default all points count alike.
    """
    weights = np.ones(len(seconds)) if weights is None else weights
    left, singular, right = _decomposed(matrix, seconds / weights)
    projected = weights @ left
    residuals = left @ projected / weights - 1.0
    leverages = (left**2).sum(axis=1)
    held_out = residuals / (1 - np.minimum(leverages, _HIGHEST_LEVERAGE))
    whitening = right.T / singular
    return Fit(whitening @ projected, residuals, held_out, whitening, bool(leverages.max() < _HIGHEST_LEVERAGE))


def least_squares(matrix: FloatArray, seconds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coefficients and residuals of the same fit, without what else `Fit` knows."""
    left, singular, right = _decomposed(matrix, seconds)
    weights = left.sum(axis=0)
    return np.asarray((weights / singular) @ right), np.asarray(left @ weights - 1.0)


def _decomposed(matrix: FloatArray, seconds: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The singular value decomposition of monomials relative to the time, without what is none but rounding."""
    left, singular, right = np.linalg.svd(matrix / seconds[:, None], full_matrices=False)
    kept = singular > singular[0] * len(seconds) * np.finfo(float).eps
    return left[:, kept], singular[kept], right[kept]


def fit_statistics(matrix: FloatArray, statistics: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Coefficients of all statistics; that of the deviation, which may vanish, is fitted relative to the median.

    Parameters
    ----------
    matrix : array of shape (n_points, n_monomials)
    statistics : array of shape (n_points, 5), seconds
    weights : array of shape (n_points,), optional
        As for `fit`.

    Returns
    -------
    array of shape (n_monomials, 5)
    """
    weights = np.ones(len(statistics)) if weights is None else weights
    coefficients: npt.NDArray[np.float64] = np.empty((matrix.shape[1], len(STATISTICS)))
    for s in range(len(STATISTICS)):
        reference = statistics[:, MEDIAN if s == STD else s]
        target = weights * statistics[:, s] / reference
        coefficients[:, s] = np.linalg.lstsq(matrix * (weights / reference)[:, None], target, rcond=None)[0]
    return coefficients
