"""Random points of what a model covers."""

import numpy as np
import numpy.typing as npt

from ..piecewise import Model
from ..sampling import Case
from .domain import STEP, Domain
from .lattice import EVEN

IntArray = npt.NDArray[np.int64]
_CANDIDATES = 100  # for each point that is wanted


def bounding_box(model: Model) -> Domain:
    """The smallest domain that contains all pieces."""
    lowers, uppers = zip(*((domain.lower, domain.upper) for domain in model.domains), strict=True)
    return Domain(tuple(map(min, zip(*lowers, strict=True))), tuple(map(max, zip(*uppers, strict=True))))


def is_wide(domain: Domain) -> npt.NDArray[np.bool_]:
    """Along which sizes a domain is sampled at multiples of 8 alone: array of shape (d,)."""
    return np.asarray(np.array(domain.upper) - np.array(domain.lower) >= 2 * STEP)


def random_points(
    model: Model, case: Case, count: int, any_size: npt.NDArray[np.bool_], random: np.random.Generator
) -> IntArray:
    """Distinct points inside the pieces that the kernel takes, log-uniform.

    Parameters
    ----------
    model : Model
    case : Case
        The model's.
    count : int
        So many, or all there are if they are fewer.
    any_size : boolean array of shape (d,)
        Along which sizes any integer may come; along the others multiples of 8, where a domain is wide.
    random : Generator

    Returns
    -------
    array of shape (n, d)
    """
    box = bounding_box(model)
    axes = [_axis(box, i, bool(any_size[i]), _CANDIDATES * count, random) for i in range(len(box.lower))]
    points = np.stack(axes, axis=1)
    points = points[model.covers(points)]
    points = points[case.valid(points)]
    _, first = np.unique(points, axis=0, return_index=True)
    return np.asarray(points[np.sort(first)[:count]])


def _axis(box: Domain, size: int, any_size: bool, count: int, random: np.random.Generator) -> IntArray:
    """Random coordinates along a size."""
    low, high = box.lower[size], box.upper[size]
    values = np.exp(random.uniform(np.log(low), np.log(high), count))
    if any_size:
        return np.clip(np.rint(values).astype(np.int64), low, high)
    return EVEN.nearest(size, low, high, values)
