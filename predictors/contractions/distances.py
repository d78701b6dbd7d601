"""Access distances: how much memory was accessed since an operand was (dissertation, section 23.3).

The nest is walked backwards from a step. Where the operand does not move with the loop around it, it
was accessed in that loop's previous iteration, and the walk ends. Where it moves, everything that the
loop accesses in all its iterations lies between, and the walk goes on outside. At the root the
previous run of the whole nest is assumed to come right before.

A loop may be in its first iteration: then the walk goes on outside, too, to where the loop was last.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from blascast.sampler.call import View
from blascast.sampler.nest import Loop, Nest, Row, Step

from .footprints import LINE_BYTES, Region, volume


@dataclass(frozen=True, slots=True, eq=False)
class Operand:
    """An operand of a step.

    Parameters
    ----------
    name : str
        Of the kernel's argument.
    view : View
    moves : mapping
        By loop, elements.
    """

    name: str
    view: View
    moves: dict[str, int]

    def region(self, item_bytes: int, loops: Sequence[Loop] = ()) -> Region:
        """What it refers to, swept by loops."""
        sweeps = [(loop.count, abs(self.moves[loop.name])) for loop in loops if self.moves.get(loop.name)]
        return Region.of(self.view, item_bytes).swept(sweeps)


def operands_of(step: Step) -> tuple[Operand, ...]:
    """The operands of a step, in the kernel's order, and factors in memory."""
    places = {**step.call.views, **step.factors}
    return tuple(Operand(name, view, dict(step.moves.get(name, {}))) for name, view in places.items())


class Walk:
    """Walks a nest backwards from one of its rows: a step, or some iterations of a loop.

    Parameters
    ----------
    nest : Nest
    row : Step or Loop
        Of a loop, any iterations in a row; the previous ones were made right before.
    item_bytes : int
    """

    def __init__(self, nest: Nest, row: Row, item_bytes: int) -> None:
        self._item_bytes = item_bytes
        self._path = _path(nest.body, row)

    def distance(
        self, operand: Operand, first: frozenset[str] = frozenset(), within: frozenset[str] = frozenset()
    ) -> int:
        """Bytes accessed since an operand was.

        Parameters
        ----------
        operand : Operand
            Of the step, or of the iterations together.
        first : set of str
            The loops that are in their first iteration.
        within : set of str
            Those that move by less than a cache line, and enter no new one.
        """
        between: list[Region] = []
        for rows, place, loop in self._path:
            for row in reversed(rows[:place]):
                if any(other.view.buffer == operand.view.buffer for _, other in _accesses(row)):
                    return volume(between)
                between += self._regions((row,))
            if loop is not None and self._moves(operand, loop.name, within):
                between = self._regions(loop.body, (loop,))
                continue
            between += self._regions(rows[place + 1 :])
            if loop is None or loop.name not in first:
                break
        return volume(between)

    def _moves(self, operand: Operand, loop: str, within: frozenset[str]) -> bool:
        """Whether an iteration of a loop has another part than the one before."""
        move = abs(operand.moves.get(loop, 0)) * self._item_bytes
        return move > 0 and not (loop in within and move < LINE_BYTES)

    def _regions(self, rows: Sequence[Row], loops: tuple[Loop, ...] = ()) -> list[Region]:
        """What rows access, swept by their own loops and the given ones."""
        return [
            operand.region(self._item_bytes, (*loops, *inside)) for row in rows for inside, operand in _accesses(row)
        ]


def _accesses(row: Row, loops: tuple[Loop, ...] = ()) -> Iterator[tuple[tuple[Loop, ...], Operand]]:
    """The operands of all steps in a row, with the loops inside it that are around them."""
    if isinstance(row, Step):
        for operand in operands_of(row):
            yield loops, operand
    else:
        for inner in row.body:
            yield from _accesses(inner, (*loops, row))


_Place: TypeAlias = tuple[tuple[Row, ...], int, Loop | None]


def _path(rows: tuple[Row, ...], row: Row) -> list[_Place]:
    """From a row outwards: the rows that it, or the loop around it, stands among, its place, and their loop."""
    found = _descend(rows, row, None)
    assert found is not None
    return [((row,), 0, row), *found] if isinstance(row, Loop) else found


def _descend(rows: tuple[Row, ...], sought: Row, loop: Loop | None) -> list[_Place] | None:
    for place, row in enumerate(rows):
        if row is sought:
            return [(rows, place, loop)]
        if isinstance(row, Loop) and (inside := _descend(row.body, sought, row)) is not None:
            return [*inside, (rows, place, loop)]
    return None
