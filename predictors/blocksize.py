"""Chooses block sizes from predicted run times."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blascast.models.summary import MEDIAN

from .configurations import Configuration, IntArray, Problem
from .prediction import FloatArray
from .replay import Replay

PLATEAU = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Run time against block size, for one problem.

    Parameters
    ----------
    problem : mapping
        Sizes by name.
    b : integer array of shape (n_block_sizes,), ascending
    seconds, errors : arrays of the same shape
        Predicted medians and their standard errors.
    """

    problem: Problem
    b: IntArray
    seconds: FloatArray
    errors: FloatArray

    @property
    def best(self) -> int:
        """The index of the fastest."""
        return int(np.argmin(self.seconds))

    def at(self, b: int) -> float:
        """Seconds at a block size that is among them; at the largest, if it is larger."""
        return float(self.seconds[np.flatnonzero(self.b == min(b, self.b[-1]))[0]])

    def loss(self, b: int) -> float:
        """By how much a block size takes longer than the best, relative."""
        return self.at(b) / float(self.seconds[self.best]) - 1

    @property
    def plateau(self) -> tuple[int, int]:
        """The least and the largest block size of the run around the best that is within 1 % of it."""
        low, high = plateau(self.seconds, self.best)
        return int(self.b[low]), int(self.b[high])


def curves(configurations: Sequence[Configuration], replay: Replay) -> list[Curve]:
    """One for each problem, in the order of their first configurations."""
    problems = list({tuple(c.sizes.items()): c.sizes for c in configurations}.values())
    return [_curve(problem, configurations, replay) for problem in problems]


def _curve(problem: Problem, configurations: Sequence[Configuration], replay: Replay) -> Curve:
    of_problem = np.array([i for i, c in enumerate(configurations) if c.sizes == problem])
    b = replay.sequence.b[of_problem]
    order = np.argsort(b)
    chosen = of_problem[order]
    return Curve(problem, b[order], replay.statistics[chosen, MEDIAN], replay.error[chosen])


def plateau(seconds: FloatArray, best: int) -> tuple[int, int]:
    """First and last index of the run around `best` that is within 1 % of it.

    Examples
    --------
    >>> import numpy as np
    >>> plateau(np.array([2.0, 1.005, 1.0, 1.009, 1.3, 1.0]), 2)
    (1, 3)
    """
    within = seconds <= (1 + PLATEAU) * seconds[best]
    low = high = best
    while low > 0 and within[low - 1]:
        low -= 1
    while high + 1 < len(within) and within[high + 1]:
        high += 1
    return low, high
