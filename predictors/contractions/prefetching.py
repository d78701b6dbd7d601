"""Prefetching: operands that a loop's previous iteration brought in (dissertation, sections 23.4 and 23.5).

An operand is prefetched if it moves with the loop directly around its step, and that loop runs along
its first index, so that iterations share cache lines, or its iterations lie behind each other in
memory, or one line long. The lines that iterations share end now and then: there prefetching fails.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from blascast.sampler.call import View

from .distances import Operand
from .footprints import LINE_BYTES

Prefetch: TypeAlias = Literal["none", "shared lines", "next"]


def prefetch_of(operand: Operand, loop: str, item_bytes: int) -> Prefetch:
    """How an operand is prefetched by the loop directly around its step."""
    move = abs(operand.moves.get(loop, 0)) * item_bytes
    if not move:
        return "none"
    if move < LINE_BYTES:
        return "shared lines"
    region = operand.region(item_bytes)
    follows = region.is_contiguous and move == region.run_bytes
    is_line = int(operand.view.rows) * item_bytes <= LINE_BYTES and operand.view.columns != 1
    return "next" if follows or is_line or (region.run_bytes <= LINE_BYTES and region.is_contiguous) else "none"


def prefetched_view(operand: Operand, item_bytes: int) -> View:
    """What is prefetched: a line along the first index, of all columns."""
    view = operand.view
    rows = min(int(view.rows), LINE_BYTES // item_bytes)
    return view.part(0, 0, rows, view.columns)


def failing_share(operands: Sequence[Operand], loop: str, item_bytes: int) -> float:
    """The share of iterations in which an operand enters a new line: where prefetching fails."""
    moves = [abs(operand.moves[loop]) * item_bytes for operand in operands if operand.moves.get(loop)]
    return max((move / LINE_BYTES for move in moves if move < LINE_BYTES), default=0.0)
