"""Ripple: learns from a few samples how run times differ at sizes that are no multiples of 8."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from ..fitting.part import LEAST_NOISE
from ..piecewise import Model, Ripple
from ..sizes.domain import STEP
from ..sizes.places import IntArray, bounding_box, is_wide, random_points
from ..summary import MEDIAN, FloatArray
from .generator import Observation, Point
from .need import Need
from .workload import Workload, by_model

POINTS = 8  # for each size
MATTERS = 0.01  # of a configuration's time: what such calls must take for the ripple to be worth sampling
_MOST_PADDING = 2.0
_FIRST_GUESS = 0.5
_UNCERTAIN = 0.5  # standard error from which on a point says nothing


def with_unknown_ripple(models: Sequence[tuple[Need, Model]]) -> list[tuple[Need, Model]]:
    """The models of which is to be learnt how sizes that are no multiples of 8 differ.

    Without a workload that are all which cover such sizes; else those whose calls of such sizes take
    more than MATTERS of the time of some configuration of the question.
    """
    unknown = [(need, model) for need, model in models if model.ripple is None and _is_wide(model).any()]
    asked = [
        (need, model) for need, model in unknown if need.workload is None or _off_lattice(need.workload.sizes).any()
    ]
    workloads = [(need.workload, model) for need, model in models if need.workload is not None]
    if not asked or not workloads:
        return asked
    in_all = np.sum([by_model(workload, model).seconds.sum(axis=1) for workload, model in workloads], axis=0)
    return [(need, model) for need, model in asked if _largest_share(need.workload, model, in_all) > MATTERS]


def _largest_share(workload: Workload | None, model: Model, in_all: FloatArray) -> float:
    """What share of a configuration's time in all the calls of sizes take that are no multiples of 8, at most."""
    assert workload is not None
    off = _off_lattice(workload.sizes)
    those = workload.chosen(off)
    return float((by_model(those, model).seconds.sum(axis=1) / np.maximum(in_all, np.finfo(float).tiny)).max())


def _off_lattice(sizes: IntArray) -> npt.NDArray[np.bool_]:
    """Which rows of an array of shape (n, d) have a size that is no multiple of 8: array of shape (n,)."""
    return np.asarray((sizes % STEP != 0).any(axis=1))


def _is_wide(model: Model) -> npt.NDArray[np.bool_]:
    """Along which sizes a model rests on multiples of 8 alone: array of shape (d,)."""
    return is_wide(bounding_box(model))


def ripple_points(need: Need, model: Model, random: np.random.Generator) -> list[Point]:
    """Where to sample: for each size some points at which it is no multiple of 8, preferably calls of the question.

    Sizes below 8 are left out: they are mostly overhead.
    """
    wide = _is_wide(model)
    calls = need.workload.sizes if need.workload else np.zeros((0, len(wide)), dtype=np.int64)
    calls = random.permutation(np.unique(calls[model.covers(calls)], axis=0))
    chosen: set[Point] = set()
    for size in np.flatnonzero(wide).tolist():
        others = random_points(model, need.case, STEP * POINTS, np.arange(len(wide)) == size, random)
        points = np.concatenate([calls, others])
        points = points[(points[:, size] % STEP != 0) & (points[:, wide] >= STEP).all(axis=1)]
        chosen |= set(map(tuple, points[:POINTS].tolist()))
    return sorted(chosen)


def learn_ripple(model: Model, observations: dict[Point, Observation]) -> Ripple | None:
    """Padding by least squares of log(measured / model), and what is left beyond the model's error and noise.

    Parameters
    ----------
    model : Model
    observations : mapping of points to observations

    Returns
    -------
    Ripple or None
        None if too few points could be measured.
    """
    known = {point: o for point, o in observations.items() if o.standard_error < _UNCERTAIN}
    (wide,) = np.nonzero(_is_wide(model))
    if len(known) <= len(wide):
        return None
    points = np.array(list(known))
    seconds = np.array([observation.statistics[MEDIAN] for observation in known.values()])
    noise = np.array([observation.standard_error for observation in known.values()])
    expected = np.maximum(np.hypot(model.evaluate(points).errors, noise), LEAST_NOISE)

    def misfit(values: FloatArray) -> FloatArray:
        padded = replace(model, ripple=_ripple(model, wide, values))
        return np.asarray(np.log(seconds / padded.evaluate(points).statistics[:, MEDIAN]) / expected)

    guess = np.full(len(wide), _FIRST_GUESS)
    found = least_squares(misfit, guess, bounds=(0.0, _MOST_PADDING))
    left = float(np.sum((found.fun * expected) ** 2)) / (len(points) - len(wide))
    error = np.sqrt(max(0.0, left - float(np.mean(expected**2))))
    return replace(_ripple(model, wide, found.x), error=float(error), points=len(points))


def _ripple(model: Model, wide: IntArray, values: FloatArray) -> Ripple:
    """Without error, padding in the wide sizes alone."""
    padding = np.zeros(len(model.exponents[0]))
    padding[wide] = values
    return Ripple(tuple(padding.tolist()), 0.0, 0)


def surcharge(model: Model) -> tuple[Point, float]:
    """A point in the middle of the largest piece, just above multiples of 8, and what padding costs there, relative."""
    box = max(model.domains, key=lambda domain: domain.log_volume)
    middle = np.sqrt(np.prod([box.lower, box.upper], axis=0, dtype=float)).astype(np.int64)
    above = np.where(is_wide(box), middle // STEP * STEP + 1, middle)
    point = np.clip(above, box.lower, box.upper)[None]
    padded, plain = (m.evaluate(point).statistics[0, MEDIAN] for m in (model, replace(model, ripple=None)))
    return tuple(point[0].tolist()), float(padded / plain - 1)
