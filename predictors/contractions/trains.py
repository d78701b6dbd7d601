"""Trains: iterations of a loop that are too short to be timed one by one, timed as they follow each other.

Calls of some hundred nanoseconds overlap in a processor, and it fetches ahead what they will access.
So some iterations are timed as one, with all that is inside them, copies too, in the state that the
loops outside leave their operands in.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil

from blascast.sampler.nest import Loop, Nest, Row, Step, times

from .distances import Operand, Walk, operands_of
from .memory import in_own_memory
from .singles import Occurrence, continued, work
from .situations import situations
from .states import Machine, prepared

LONGEST_ITERATION = 50e-6  # seconds: steps of longer iterations are timed one by one
TRAIN_SECONDS = 100e-6
_CALL_SECONDS = 50e-9  # to know roughly how long iterations take
_WORK_PER_SECOND = 2e10


def trains(
    rows: Sequence[Row], item_bytes: int, loops: tuple[Loop, ...] = ()
) -> Iterator[tuple[tuple[Loop, ...], Row]]:
    """The outermost loops of several short iterations, and the steps outside of such, with the loops around each."""
    for row in rows:
        if isinstance(row, Step) or (row.count > 1 and _seconds(row.body, item_bytes) < LONGEST_ITERATION):
            yield loops, row
        else:
            yield from trains(row.body, item_bytes, (*loops, row))


def train_occurrences(nest: Nest, loops: tuple[Loop, ...], loop: Loop, machine: Machine) -> Iterator[Occurrence]:
    """Iterations of a loop by which loops are in their first one.

    At most half of a loop is timed as one, so that a contraction is never run as a whole.
    """
    length = min(ceil(TRAIN_SECONDS / _seconds(loop.body, machine.item_bytes)), ceil(loop.count / 2))
    walk = Walk(nest, loop, machine.item_bytes)
    around = (*loops, replace(loop, count=ceil(loop.count / length)))
    operands = [_stretched(operand, loop.name, length) for operand in _operands(loop.body)]
    for situation in situations(around, operands, machine.item_bytes):
        body = tuple(_continued(row, around, situation.first) for row in loop.body)
        own = in_own_memory((Loop(loop.name, length, body, loop.adds and loop.name in situation.first),))
        distances = {own.names[operand.view.buffer]: 0 for operand in operands}
        for operand in operands:
            buffer = own.names[operand.view.buffer]
            distance = walk.distance(operand, situation.first, situation.within)
            distances[buffer] = max(distances[buffer], distance)
        yield Occurrence(prepared(own, distances, machine), times(loops) * loop.count / length * situation.share)


def _stretched(operand: Operand, loop: str, length: int) -> Operand:
    """The operand as moved by so many iterations at a time."""
    return replace(operand, moves={**operand.moves, loop: length * operand.moves.get(loop, 0)})


def _operands(rows: Sequence[Row]) -> list[Operand]:
    """Of all steps in rows."""
    return [operand for _, step in Nest(tuple(rows)).steps() for operand in operands_of(step)]


def _continued(row: Row, loops: Sequence[Loop], firsts: frozenset[str]) -> Row:
    """A row whose calls add to their results where loops outside have passed a first iteration."""
    if isinstance(row, Step):
        return continued(row, loops, firsts)
    return replace(row, body=tuple(_continued(inner, loops, firsts) for inner in row.body))


def _seconds(rows: Sequence[Row], item_bytes: int) -> float:
    """Roughly how long rows take."""
    return sum(
        times(loops) * (_CALL_SECONDS + work(step.call, item_bytes) / _WORK_PER_SECOND)
        for loops, step in Nest(tuple(rows)).steps()
    )
