"""The monomials of a kernel's polynomials, and their values."""

from collections.abc import Collection, Mapping
from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt

from blascast.sampler.expression import parse
from blascast.sampler.kernel import Kernel

from ..summary import FloatArray

Exponents = tuple[tuple[int, ...], ...]

MOST_MONOMIALS = 64  # those of gemm (three sizes, each to the first power) with an overfitting of 2


def monomials(kernel: Kernel, flags: Mapping[str, str | int], overfitting: int) -> Exponents:
    """Exponents of all monomials that the kernel's flops and words span, raised in each size.

    Every monomial of the counts brings all that divide it (dissertation, section 3.2.4). The words
    matter where nothing is computed, as in a copy. The constant and each size are always among them: a
    call costs time even if it counts nothing.

    The basis grows with the number of sizes as a product. Where it would exceed MOST_MONOMIALS, the
    highest overfitting below the one asked for is taken that keeps within it, at least 0.

    Examples
    --------
    >>> from blascast.sampler.kernels import find_kernel
    >>> monomials(find_kernel("syrk"), {"uplo": "L", "trans": "N"}, 0)
    ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1))
    >>> gbmv = find_kernel("gbmv")  # sizes m, n, kl, ku
    >>> monomials(gbmv, {"trans": "N"}, 1) == monomials(gbmv, {"trans": "N"}, 0)
    True
    """
    highest = {top for count in (kernel.flops, kernel.words) for top in parse(count).exponents(kernel.sizes, flags)}
    highest |= {tuple(int(size == other) for other in kernel.sizes) for size in kernel.sizes}
    bases = (_dividing(highest, raised) for raised in range(overfitting, 0, -1))
    return next((basis for basis in bases if len(basis) <= MOST_MONOMIALS), _dividing(highest, 0))


def of_total_degree(sizes: int, degree: int) -> Exponents:
    """All monomials of so many sizes up to a degree: a plain polynomial.

    Examples
    --------
    >>> of_total_degree(2, 2)
    ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0))
    """
    return tuple(powers for powers in product(range(degree + 1), repeat=sizes) if sum(powers) <= degree)


def _dividing(highest: Collection[tuple[int, ...]], raised: int) -> Exponents:
    """Every monomial that divides one of the highest when all sizes' exponents in these are raised."""
    return tuple(sorted({below for top in highest for below in product(*(range(power + raised + 1) for power in top))}))


def raised_singly(exponents: Exponents, least: Exponents) -> Exponents:
    """Those monomials of which at most one size is raised beyond what the least ones have.

    Products of several raised sizes are many, and samples rarely support them.

    Examples
    --------
    >>> raised_singly(((0, 0), (1, 0), (2, 0), (2, 1), (2, 2)), ((0, 0), (1, 1)))
    ((0, 0), (1, 0), (2, 0), (2, 1))
    """
    highest = degrees(least)
    return tuple(
        monomial
        for monomial in exponents
        if sum(power > high for power, high in zip(monomial, highest, strict=True)) <= 1
    )


@cache
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
