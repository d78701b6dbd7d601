"""Nests: loops around calls on moving operands, timed as one, as tensor contractions are made of.

Each operand of a call lies at a place of its own when all loops are in their first iteration, and
moves by a number of elements with every iteration of a loop around the call. A result may be added
up over the iterations of some loops: it is new at the first of them, where beta is 0 and a function's
value is stored, and added to at all others.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from .call import Call, View
from .errors import UsageError


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A call in a nest.

    Parameters
    ----------
    call : Call
        With operands where the first iteration has them.
    moves : mapping of operands or factors to mappings of loops to elements
        By how much each moves with an iteration of a loop; those left out do not.
    factors : mapping
        Factors (alpha) that are elements of operands; their values in the call mean nothing.
    adds : bool
        Whether beta or a function's value depend on what loops have passed; else they are as in the call.
    """

    call: Call
    moves: Mapping[str, Mapping[str, int]]
    factors: Mapping[str, View] = field(default_factory=dict)
    adds: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A loop: its name, how often it does its body, and whether its iterations add to one result."""

    name: str
    count: int
    body: tuple["Loop | Step", ...]
    adds: bool = False

    def __post_init__(self) -> None:
        if self.count < 1 or not self.body:
            raise UsageError(f"the loop {self.name} needs a body and at least one iteration, got {self.count}")


Row: TypeAlias = Loop | Step


@dataclass(frozen=True, slots=True, eq=False)
class Nest:
    """Loops and calls, run in order and timed as one."""

    body: tuple[Row, ...]

    def __str__(self) -> str:
        calls = [str(step.call) for _, step in self.steps()]
        return f"a nest of {', '.join(calls)}"

    def steps(self) -> Iterator[tuple[tuple[Loop, ...], Step]]:
        """Every step, and the loops around it, outermost first."""
        yield from _steps(self.body, ())

    @property
    def flops(self) -> float:
        """Floating-point operations of all calls (minimal count)."""
        return float(sum(step.call.flops * times(loops) for loops, step in self.steps()))

    @property
    def rows(self) -> int:
        """How many loops and steps it has."""
        return _count(self.body)

    @property
    def call_count(self) -> int:
        """How many calls it makes."""
        return sum(times(loops) for loops, _ in self.steps())

    @property
    def views(self) -> tuple[View, ...]:
        """Where operands and factors lie at first."""
        return tuple(view for _, step in self.steps() for view in (*step.call.views.values(), *step.factors.values()))


def times(loops: tuple[Loop, ...]) -> int:
    """How often what stands inside loops is done."""
    product = 1
    for loop in loops:
        product *= loop.count
    return product


def _count(rows: tuple[Row, ...]) -> int:
    return sum(1 + _count(row.body) if isinstance(row, Loop) else 1 for row in rows)


def _steps(rows: tuple[Row, ...], loops: tuple[Loop, ...]) -> Iterator[tuple[tuple[Loop, ...], Step]]:
    for row in rows:
        if isinstance(row, Loop):
            yield from _steps(row.body, (*loops, row))
        else:
            yield loops, row
