"""Workloads: the calls that a question will replay, and where in a model their time and its error arise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..fitting.part import Part
from ..piecewise import Model
from ..summary import MEDIAN, FloatArray

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """The calls of one kernel case that a question will replay.

    Parameters
    ----------
    sizes : integer array of shape (n_calls, d)
    owner : integer array of shape (n_calls,)
        The configuration that each call belongs to.
    configurations : int
    times : int, or integer array of shape (n_calls,)
        How many calls each stands for.
    """

    sizes: npt.NDArray[np.int64]
    owner: npt.NDArray[np.int64]
    configurations: int
    times: int | npt.NDArray[np.int64] = 1

    def chosen(self, which: BoolArray) -> "Workload":
        """The calls that a mask selects."""
        times = self.times if isinstance(self.times, int) else self.times[which]
        return Workload(self.sizes[which], self.owner[which], self.configurations, times)


@dataclass(frozen=True, slots=True, eq=False)
class Contributions:
    """What parts of a model contribute to the run time of each configuration.

    Parameters
    ----------
    seconds, errors : arrays of shape (n_configurations, n_parts)
        Median, and its standard error: the calls that one part estimates err as one.
    """

    seconds: FloatArray
    errors: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """What a question says of its answer so far.

    Parameters
    ----------
    open : boolean array of shape (n_configurations,)
        The configurations whose errors still matter.
    settled : str
        Why the others' do not: ``"bound"`` or ``"decision"``.
    """

    open: BoolArray
    settled: str


# Judges run times (seconds) and their standard errors (seconds) of all configurations.
Judge: TypeAlias = Callable[[FloatArray, FloatArray], Judgement]


def by_parts(workload: Workload, parts: Sequence[Part]) -> Contributions:
    """What the parts of a model in the making contribute."""
    seconds = np.zeros((workload.configurations, len(parts)))
    left = np.ones(len(workload.sizes), dtype=bool)
    for index, part in enumerate(parts):
        here = left & part.domain.contains(workload.sizes)
        left &= ~here
        inside = workload.chosen(here)
        times = inside.times * np.abs(part.seconds(inside.sizes))
        seconds[:, index] = np.bincount(inside.owner, weights=times, minlength=workload.configurations)
    return Contributions(seconds, seconds * np.array([part.error for part in parts]))


def by_model(workload: Workload, model: Model) -> Contributions:
    """What the pieces of a model contribute, as far as they cover the workload."""
    covered = workload.chosen(model.covers(workload.sizes))
    found, width = model.evaluate(covered.sizes), len(model.pieces)
    place, length = covered.owner * width + found.pieces, workload.configurations * width
    times = covered.times * found.statistics[:, MEDIAN]
    seconds, errors = (
        np.bincount(place, weights=weights, minlength=length).astype(float).reshape(-1, width)
        for weights in (times, times * found.errors)
    )
    return Contributions(seconds, errors)


def importance(errors: FloatArray, open_: BoolArray) -> FloatArray:
    """How much the error of each part matters to the configurations that are open.

    Parameters
    ----------
    errors : array of shape (n_configurations, n_parts)
        Of all parts of all kernel cases, seconds.
    open_ : boolean array of shape (n_configurations,)

    Returns
    -------
    array of shape (n_parts,)
        The largest share that a part has of the squared error of a configuration.
    """
    squares = errors[open_] ** 2
    return np.asarray((squares / np.maximum(squares.sum(axis=1, keepdims=True), np.finfo(float).tiny)).max(axis=0))
