"""Recursions: depth first with numbers; with arrays level by level, all sub-problems of a level at once."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from blascast.sampler.call import Call, Extent, View, bind

from .partition import gathered, least, of_entries

GRAIN = 8
_ARRAYS = ("row", "column", "rows", "columns", "times", "owner")


@dataclass(frozen=True, slots=True, eq=False)
class Again:
    """Operands of a smaller problem of the same kind."""

    operands: tuple[View, ...]


Step: TypeAlias = Callable[..., Iterable[Call | Again]]


def again(*operands: View) -> Again:
    """What a step yields where it recurs."""
    return Again(operands)


def recursion(operands: tuple[View, ...], b: Extent, leaf: Callable[..., Call], step: Step) -> Iterator[Call]:
    """The calls of a recursive algorithm.

    Parameters
    ----------
    operands : tuple of View
        The first one's smaller dimension tells how large the problem is.
    b : int or integer array
        Crossover: problems up to it are leaves; of each configuration.
    leaf, step : callable
        Take the operands. A step yields calls, and `again` where it recurs.
    """
    if operands[0].owner is None:
        yield from _depth_first(operands, b, leaf, step)
    else:
        yield from _by_level(operands, b, leaf, step)


def _depth_first(operands: tuple[View, ...], b: Extent, leaf: Callable[..., Call], step: Step) -> Iterator[Call]:
    if _extent(operands) <= b:
        yield leaf(*operands)
        return
    for item in step(*operands):
        if isinstance(item, Again):
            yield from _depth_first(item.operands, b, leaf, step)
        else:
            yield item


def _by_level(operands: tuple[View, ...], b: Extent, leaf: Callable[..., Call], step: Step) -> Iterator[Call]:
    """The leaves, and each statement of the step, of all levels together."""
    leaves: list[Call] = []
    statements: dict[int, list[Call]] = {}
    level = operands
    while len(np.atleast_1d(level[0].columns)):
        small = _extent(level) <= of_entries(b, level[0])
        leaves.append(leaf(*(gathered(view, np.flatnonzero(small)) for view in level)))
        problems: list[tuple[View, ...]] = []
        for number, item in enumerate(step(*(gathered(view, np.flatnonzero(~small)) for view in level))):
            if isinstance(item, Again):
                problems.append(item.operands)
            else:
                statements.setdefault(number, []).append(item)
        level = tuple(map(_joined, zip(*problems, strict=True)))
    for calls in (*statements.values(), leaves):
        yield _together(calls)


def _together(calls: list[Call]) -> Call:
    """Calls that differ in their views alone, as one."""
    columns = zip(*(call.values for call in calls), strict=True)
    return bind(calls[0].kernel, *(_joined(c) if isinstance(c[0], View) else _lined_up(c) for c in columns))


def _lined_up(values: tuple[Any, ...]) -> Any:
    """Flags and scalars, which are the same; sizes that are given, one after the other."""
    return np.concatenate(values) if isinstance(values[0], np.ndarray) else values[0]


def quarters(A: View) -> tuple[View, View, View, View]:
    """A square view's A11, A12, A21 and A22."""
    first, second = halves(A.columns)
    parts = (0, first), (first, second)
    a, b, c, d = (A.part(row, column, m, n) for row, m in parts for column, n in parts)
    return a, b, c, d


def halves(extent: Extent) -> tuple[Extent, Extent]:
    """A dimension cut in two: the first a multiple of 8, where it is 16 or more (ReLAPACK's rule).

    Examples
    --------
    >>> halves(100), halves(15)
    ((48, 52), (7, 8))
    """
    first = np.where(np.asarray(extent) >= 2 * GRAIN, (extent + GRAIN) // (2 * GRAIN) * GRAIN, extent // 2)
    if isinstance(extent, int):
        return int(first), extent - int(first)
    return first, extent - first


def _extent(operands: tuple[View, ...]) -> Extent:
    return least(operands[0].rows, operands[0].columns)


def _joined(parts: tuple[View, ...]) -> View:
    """Array-valued views one after the other."""

    def together(name: str) -> npt.NDArray[np.int64]:
        return np.concatenate([np.broadcast_to(getattr(part, name), np.shape(part.rows)) for part in parts])

    joined: dict[str, Any] = {name: together(name) for name in _ARRAYS}
    return replace(parts[0], **joined)
