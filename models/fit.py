"""Fits polynomials to the statistics of a run time by least squares of the relative error."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from blascast.sampler.expression import parse
from blascast.sampler.kernel import Kernel

from .summary import MEDIAN, STD, FloatArray

Exponents = tuple[tuple[int, ...], ...]
_HIGHEST_LEVERAGE = 0.95


def monomials(kernel: Kernel, flags: dict[str, str | int], overfitting: int) -> Exponents:
    """Exponents of all monomials that the kernel's flops and words span, raised in each size.

    Every monomial of the counts brings all that divide it (dissertation, section 3.2.4). The words
    matter where nothing is computed, as in a copy.

    Examples
    --------
    >>> from blascast.sampler.kernels import find_kernel
    >>> monomials(find_kernel("syrk"), {"uplo": "L", "trans": "N"}, 0)
    ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1))
    """
    highest = {top for count in (kernel.flops, kernel.words) for top in parse(count).exponents(kernel.sizes, flags)}
    below = {exponents for top in highest for exponents in product(*(range(power + overfitting + 1) for power in top))}
    return tuple(sorted(below))


def degrees(exponents: Exponents) -> tuple[int, ...]:
    """The highest exponent of each size."""
    return tuple(max(column) for column in zip(*exponents, strict=True))


def design_matrix(sizes: npt.NDArray[np.int64], exponents: Exponents, scale: FloatArray) -> FloatArray:
    """The monomials at sizes / scale.

    Parameters
    ----------
    sizes : array of shape (n, d)
    exponents : n_monomials tuples of d
    scale : array of shape (d,) or (n, d)

    Returns
    -------
    array of shape (n, n_monomials)
    """
    scaled = sizes / scale
    powers = np.stack([scaled**p for p in range(max(degrees(exponents)) + 1)])  # (power, n, d)
    matrix = np.ones((len(sizes), len(exponents)))
    for j, monomial in enumerate(exponents):
        for dimension, power in enumerate(monomial):
            if power:
                matrix[:, j] *= powers[power, :, dimension]
    return matrix


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Polynomials of the five statistics and how well they predict.

    Parameters
    ----------
    coefficients : array of shape (n_monomials, 5)
    residuals : array of shape (n_points, 5)
        Relative errors at the points.
    held_out : array of shape (n_points,)
        Relative error of the median at each point, had the point been left out of the fit.
    """

    coefficients: FloatArray
    residuals: FloatArray
    held_out: FloatArray


def fit(sizes: npt.NDArray[np.int64], statistics: FloatArray, exponents: Exponents, scale: FloatArray) -> Fit:
    """Fits every statistic y by least squares of X c against 1, X[i, j] = m_j(x_i) / y_i.

    The standard deviation, which may vanish, is fitted relative to the median.

    Parameters
    ----------
    sizes : array of shape (n_points, d)
    statistics : array of shape (n_points, 5), seconds
    exponents : monomials, no more of them than points
    scale : array of shape (d,)
        What sizes are divided by.
    """
    matrix = design_matrix(sizes, exponents, scale)
    coefficients = np.empty((len(exponents), statistics.shape[1]))
    residuals = np.empty(statistics.shape)
    held_out = np.empty(len(sizes))
    for s in range(statistics.shape[1]):
        reference = statistics[:, MEDIAN if s == STD else s]
        relative = matrix / reference[:, None]
        target = statistics[:, s] / reference
        coefficients[:, s] = np.linalg.lstsq(relative, target, rcond=None)[0]
        residuals[:, s] = relative @ coefficients[:, s] - target
        if s == MEDIAN:
            held_out = residuals[:, s] / (1 - np.minimum(_leverages(relative), _HIGHEST_LEVERAGE))
    return Fit(coefficients, residuals, held_out)


def _leverages(matrix: FloatArray) -> FloatArray:
    """Diagonal of the projection onto the range of the matrix."""
    basis, singular_values, _ = np.linalg.svd(matrix, full_matrices=False)
    basis = basis[:, singular_values > singular_values[0] * 1e-12]
    return np.asarray((basis**2).sum(axis=1))
