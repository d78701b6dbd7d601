"""Situations of a call or train: which loops around it are in their first iteration, or go on within cache lines.

Where a loop moves an operand by less than a cache line, most of its iterations find the operand's lines
where the iteration before had them: only those that enter new lines find it moved.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from blascast.sampler.nest import Loop

from .distances import Operand
from .prefetching import failing_share

SIGNIFICANT_SHARE = 0.05  # of all calls: first iterations of outer loops that are fewer are not told apart
LEAST_SHARE = 0.01  # rarer situations are left out


@dataclass(frozen=True, slots=True)
class Situation:
    """What loops are like.

    Parameters
    ----------
    first : set of str
        Those in their first iteration.
    within : set of str
        Those whose iteration has the same cache lines as the one before.
    share : float
        Of all calls or trains.
    """

    first: frozenset[str] = frozenset()
    within: frozenset[str] = frozenset()
    share: float = 1.0


def situations(loops: Sequence[Loop], moving: Iterable[Operand] = (), item_bytes: int = 1) -> list[Situation]:
    """The situations of what stands inside loops, outermost first; shares add up to 1.

    First iterations of the innermost loop are told apart, and of those that have few.

    Parameters
    ----------
    loops : sequence of Loop
    moving : iterable of Operand
        Those whose lines matter.
    item_bytes : int
    """
    operands = list(moving)
    choices = [list(_choices(loop, loop is loops[-1], operands, item_bytes)) for loop in loops]
    found = []
    for chosen in product(*choices):
        share = prod(share for _, share in chosen)
        words = {loop.name: word for loop, (word, _) in zip(loops, chosen, strict=True)}
        first, within = (frozenset(name for name, word in words.items() if word == own) for own in ("first", "within"))
        found.append(Situation(first, within, share))
    kept = [situation for situation in found if situation.share >= LEAST_SHARE] or found
    whole = sum(situation.share for situation in kept)
    return [Situation(own.first, own.within, own.share / whole) for own in kept]


def _choices(loop: Loop, is_inner: bool, operands: Sequence[Operand], item_bytes: int) -> Iterable[tuple[str, float]]:
    """What one loop may be like, with shares."""
    first = 1 / loop.count if is_inner or 1 / loop.count > SIGNIFICANT_SHARE else 0.0
    entering = failing_share([o for o in operands if o.moves.get(loop.name)], loop.name, item_bytes) or 1.0
    yield from (
        (word, share)
        for word, share in (
            ("first", first),
            ("on", (1 - first) * entering),
            ("within", (1 - first) * (1 - entering)),
        )
        if share > 0
    )
