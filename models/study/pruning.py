"""Which configurations are accurate and cheap, in all setups (section 9.2 of the dissertation)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..parameters import Parameters
from .configurations import STUDIED, studied_value
from .outcome import Outcome

ERROR_FACTOR = 1.5
CHEAP_PART = 0.25


@dataclass(frozen=True, slots=True)
class Pruning:
    """Indices of the configurations that are left.

    Parameters
    ----------
    accurate : tuple of int
        Those whose error is at most ERROR_FACTOR times the least, in every setup.
    survivors : tuple of int
        Those of them that are within the cheapest CHEAP_PART of them, in every setup.
    """

    accurate: tuple[int, ...]
    survivors: tuple[int, ...]


def prune(setups: Sequence[Sequence[Outcome]]) -> Pruning:
    """Prunes by accuracy, then by cost.

    Parameters
    ----------
    setups : sequence of sequences of Outcome
        For each setup those of all configurations, in the same order.
    """
    errors = np.array([[found.error for found in outcomes] for outcomes in setups])
    costs = np.array([[found.seconds for found in outcomes] for outcomes in setups])
    accurate = np.flatnonzero((errors <= ERROR_FACTOR * errors.min(axis=1, keepdims=True)).all(axis=0))
    left = costs[:, accurate]
    limits = np.quantile(left, CHEAP_PART, axis=1, keepdims=True) if len(accurate) else np.zeros((len(left), 1))
    cheap = (left <= limits).all(axis=0)
    return Pruning(tuple(accurate.tolist()), tuple(accurate[cheap].tolist()))


def majority(configurations: Sequence[Parameters]) -> dict[str, tuple[Any, int]]:
    """The most common value of each parameter that is studied, and how many have it."""
    return {
        name: Counter(studied_value(parameters, name) for parameters in configurations).most_common(1)[0]
        for name in STUDIED
    }


def pareto_front(outcomes: Sequence[Outcome]) -> list[int]:
    """Indices of those that no other beats in both error and cost, cheapest first."""
    front: list[int] = []
    for index in sorted(range(len(outcomes)), key=lambda i: (outcomes[i].seconds, outcomes[i].error)):
        if not front or outcomes[index].error < outcomes[front[-1]].error:
            front.append(index)
    return front
