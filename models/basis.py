"""The monomials of a kernel's polynomials, and their values."""

from itertools import product

import numpy as np
import numpy.typing as npt

from blascast.sampler.expression import parse
from blascast.sampler.kernel import Kernel

from .summary import FloatArray

Exponents = tuple[tuple[int, ...], ...]


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
