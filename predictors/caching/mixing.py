"""Mixing: what share of its operands a call misses in the caches, and the time between warm and cold."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blascast.sampler.errors import UsageError
from blascast.sampler.setup import Machine

from .accesses import FloatArray, Grid
from .association import Association
from .reuse import scan


@dataclass(frozen=True, slots=True)
class Level:
    """A level of cache.

    Parameters
    ----------
    bytes : int
    weight : float
        The part of the difference between warm and cold that is due to missing it; of all levels 1.
    """

    bytes: int
    weight: float = 1.0


def levels_of(machine: Machine) -> tuple[Level, ...]:
    """The level of a machine's caches that matters: the last. Smaller ones are missed by warm calls as well.

    Raises
    ------
    UsageError
        If no size is known.
    """
    sizes = [cache.bytes for cache in machine.caches if cache.bytes > 0]
    if not sizes:
        raise UsageError(
            "the sizes of this machine's caches are not known, which the context 'cache' needs; "
            "choose another context, such as warm"
        )
    return (Level(max(sizes)),)


def missed(
    grid: Grid, statement: int, levels: Sequence[Level], association: Association, splits: bool = True
) -> FloatArray:
    """The share of what a statement's calls access that is not in the caches, weighted by level; of shape (n_rows,).

    Parameters
    ----------
    grid : Grid
    statement : int
    levels : sequence of Level
    association : Association
    splits : bool
        See `scan`.
    """
    operands = grid.statements[statement]
    total = np.sum([own.bytes for own in operands], axis=0)
    cached = np.zeros(len(grid.owner))
    for operand in range(len(operands)):
        for found, distance in scan(grid, statement, operand, splits):
            (rows,) = np.nonzero(found)
            for level in levels:
                share = association.share(distance[rows] / level.bytes)
                cached[rows] += level.weight * found[rows] * share
    return np.asarray(1.0 - cached / np.maximum(total, 1.0))
