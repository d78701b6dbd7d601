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


def ranking(variant: IntArray, bound: float, noise_floor: float) -> Judge:
    """The order of the variants, each at its best block size, must be known, or their errors be within the bound.

    Neighbours in the ranking are told apart when they differ by more than CONFIDENCE standard errors
    and noise, and cannot be when they differ by less than noise alone.

    Parameters
    ----------
    variant : integer array of shape (n_configurations,)
        The variant of each configuration.
    bound : float
        Relative.
    noise_floor : float
        Relative difference between two measurements of the same thing.
    """

    def judge(seconds: FloatArray, errors: FloatArray) -> Judgement:
        members = [np.flatnonzero(variant == v) for v in np.unique(variant)]
        best = np.array([indices[np.argmin(seconds[indices])] for indices in members])
        best = best[np.argsort(seconds[best])]
        decided = _decided(seconds[best], errors[best], noise_floor)
        wide = errors[best] > bound * seconds[best]
        open_ = np.zeros(len(seconds), dtype=bool)
        open_[best] = wide & ~decided
        return Judgement(open_, "decision" if wide.any() else "bound")

    return judge


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


def block_sizes(n: IntArray, bound: float) -> Judge:
    """For every n, the errors of those block sizes that may be the best must be within the bound.

    Parameters
    ----------
    n : integer array of shape (n_configurations,)
        The matrix size of each configuration.
    bound : float
        Relative.
    """

    def judge(seconds: FloatArray, errors: FloatArray) -> Judgement:
        open_ = np.zeros(len(seconds), dtype=bool)
        for size in np.unique(n):
            (members,) = np.nonzero(n == size)
            best = members[np.argmin(seconds[members])]
            reach = CONFIDENCE * np.sqrt(errors[members] ** 2 + errors[best] ** 2)
            rivals = members[seconds[members] - reach < seconds[best]]
            open_[rivals] = errors[rivals] > bound * seconds[rivals]
        return Judgement(open_, "bound")

    return judge
