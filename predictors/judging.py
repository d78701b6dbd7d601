"""Judges: when an answer is good enough that nothing more need be sampled for it."""

import numpy as np

from blascast.models.generation.workload import BoolArray, Judge, Judgement
from blascast.models.summary import FloatArray

from .configurations import IntArray
from .ranking import CONFIDENCE

TRUSTED_ERROR = 0.05  # what an error must be below for a decision to rest on it


def within(bound: float) -> Judge:
    """Every configuration's standard error, relative, must be within the bound."""

    def judge(seconds: FloatArray, errors: FloatArray) -> Judgement:
        return Judgement(errors > bound * seconds, "bound")

    return judge


def ranking(problem: IntArray, variant: IntArray, bound: float, noise_floor: float) -> Judge:
    """For every problem, the order of the variants, each at its best block size, must be known.

    Or their errors must be within the bound.

    Neighbours in the ranking are told apart when they differ by more than CONFIDENCE standard errors
    and noise, and cannot be when they differ by less than noise alone.

    Parameters
    ----------
    problem, variant : integer arrays of shape (n_configurations,)
        The sizes and the variant of each configuration, numbered.
    bound : float
        Relative.
    noise_floor : float
        Relative difference between two measurements of the same thing.
    """

    def judge(seconds: FloatArray, errors: FloatArray) -> Judgement:
        open_, any_wide = np.zeros(len(seconds), dtype=bool), False
        for best in _best_of_each(problem, variant, seconds):
            decided = _decided(seconds[best], errors[best], noise_floor)
            wide = errors[best] > bound * seconds[best]
            open_[best] = wide & ~decided
            any_wide |= bool(wide.any())
        return Judgement(open_, "decision" if any_wide else "bound")

    return judge


def _best_of_each(problem: IntArray, variant: IntArray, seconds: FloatArray) -> list[IntArray]:
    """For every problem the fastest configuration of each variant, ascending in time."""
    order = np.lexsort((seconds, variant, problem))
    groups = np.stack([problem[order], variant[order]])
    first = np.ones(len(order), dtype=bool)
    first[1:] = np.any(groups[:, 1:] != groups[:, :-1], axis=0)
    best = order[first]
    best = best[np.lexsort((seconds[best], problem[best]))]
    return np.split(best, np.flatnonzero(np.diff(problem[best])) + 1)


def _decided(seconds: FloatArray, errors: FloatArray, noise_floor: float) -> BoolArray:
    """Which of ascending run times are trusted and told from both neighbours, or cannot be told from them ever."""
    gaps = np.diff(seconds)
    noise = noise_floor * seconds[1:]
    apart = gaps > CONFIDENCE * np.sqrt(errors[1:] ** 2 + errors[:-1] ** 2 + noise**2)
    settled = apart | (gaps < noise)
    decided = errors < TRUSTED_ERROR * seconds
    decided[1:] &= settled
    decided[:-1] &= settled
    return decided


def block_sizes(problem: IntArray, bound: float) -> Judge:
    """For every problem, the errors of those block sizes that may be the best must be within the bound.

    Parameters
    ----------
    problem : integer array of shape (n_configurations,)
        The sizes of each configuration, numbered.
    bound : float
        Relative.
    """

    def judge(seconds: FloatArray, errors: FloatArray) -> Judgement:
        wide = errors > bound * seconds
        open_ = np.zeros(len(seconds), dtype=bool)
        for number in np.unique(problem):
            (members,) = np.nonzero(problem == number)
            best = members[np.argmin(seconds[members])]
            reach = CONFIDENCE * np.sqrt(errors[members] ** 2 + errors[best] ** 2)
            rivals = members[seconds[members] - reach < seconds[best]]
            open_[rivals] = wide[rivals]
        return Judgement(open_, "decision" if wide.any() else "bound")

    return judge
