"""Micro-benchmarks: single calls in the cache state that an algorithm leaves them in, and how often each occurs.

Stages, as in section 23 of the dissertation; each has what those before it have:

repeated    a call again and again: everything is cached
distances   operands were accessed as long ago as in the algorithm
prefetching what the loop around a call brought in is there
failures    where lines that iterations share end, it is not
first       the first iterations of loops are apart
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Literal, TypeAlias, get_args

from blascast.sampler.call import Call, View, bind
from blascast.sampler.expression import parse
from blascast.sampler.kernel import Data
from blascast.sampler.nest import Loop, Nest, Step, times
from blascast.sampler.precondition import WARM, Access, Foreign, Precondition, Touched
from blascast.sampler.setup import Cache

from .distances import Operand, Walk, operands_of
from .prefetching import failing_share, prefetch_of, prefetched_view

Stage: TypeAlias = Literal["repeated", "distances", "prefetching", "failures", "first"]
STAGES: tuple[Stage, ...] = get_args(Stage)
LAST: Stage = "first"
LEAST_DISTANCE = 4096  # bytes: nearer operands are in the first cache
SIGNIFICANT_SHARE = 0.05  # of all calls: first iterations of outer loops that are fewer are not told apart
BEYOND_LAST_CACHE = 1.25  # of its size: what was accessed longer ago is in no cache
LARGEST_STRIDE = 1 << 12  # elements: larger ones are shortened, as memory of such a span need not be there
MOST_WORK = 1e8  # flops or bytes of a call that is timed: some milliseconds
MOST_MEMORY = 1e8  # bytes from the first to the last entry of an operand of such a call
_KEPT = 1 << 11  # elements by which strides may be shortened: places in cache sets and pages stay


@dataclass(frozen=True, slots=True, eq=False)
class Benchmark:
    """A call in a precondition.

    Parameters
    ----------
    call : Call
        On operands of its own.
    precondition : Precondition
    key : str
        What tells it from others, for a data type.
    """

    call: Call
    precondition: Precondition
    key: str


@dataclass(frozen=True, slots=True, eq=False)
class Occurrence:
    """A micro-benchmark and how many calls of an algorithm are like it."""

    benchmark: Benchmark
    count: float


def occurrences(nest: Nest, caches: Sequence[Cache], item_bytes: int, stage: Stage = LAST) -> list[Occurrence]:
    """The micro-benchmarks that predict a nest.

    Parameters
    ----------
    nest : Nest
    caches : sequence of Cache
        Of the machine, the smallest first.
    item_bytes : int
    stage : str
        Up to which stage they are refined.
    """
    merged: dict[str, Occurrence] = {}
    for loops, step in nest.steps():
        for found in _of_step(nest, loops, step, _Machine(tuple(caches), item_bytes), STAGES.index(stage)):
            key = found.benchmark.key
            count = found.count + (merged[key].count if key in merged else 0.0)
            merged[key] = Occurrence(found.benchmark, count)
    return list(merged.values())


@dataclass(frozen=True, slots=True)
class _Machine:
    caches: tuple[Cache, ...]
    item_bytes: int

    @property
    def limit(self) -> float:
        """What was accessed longer ago, in bytes, is in no cache."""
        return BEYOND_LAST_CACHE * max((cache.bytes for cache in self.caches), default=0)

    def typical(self, distance: int) -> int | None:
        """A distance of the same effect, one of few: 0 for the nearest, None beyond the last cache.

        Between two caches it makes no difference how much of the larger one was used.
        """
        if distance < LEAST_DISTANCE:
            return 0
        if distance > self.limit:
            return None
        power = 1 << (distance - 1).bit_length()
        sizes = [cache.bytes for cache in self.caches[:-1]]
        return min(power, 4 * max(sizes)) if sizes else power


def _of_step(nest: Nest, loops: tuple[Loop, ...], step: Step, machine: _Machine, stage: int) -> Iterator[Occurrence]:
    """The occurrences of one step, by which loops are in their first iteration, and whether prefetching fails."""
    call, factor = representative(step.call, machine.item_bytes)
    calls, walk, operands = factor * times(loops), Walk(nest, step, machine.item_bytes), operands_of(step)
    if stage < STAGES.index("distances"):
        yield Occurrence(_benchmark(call, WARM), calls)
        return
    inner = loops[-1] if loops else None
    apart = [loop for loop in loops if loop is inner or 1 / loop.count > SIGNIFICANT_SHARE]
    apart = [loop for loop in apart if loop.count > 1] if stage >= STAGES.index("first") else []
    for firsts in product((False, True), repeat=len(apart)):
        first = frozenset(loop.name for loop, is_first in zip(apart, firsts, strict=True) if is_first)
        share = prod(1 / loop.count if loop.name in first else 1 - 1 / loop.count for loop in apart)
        distances = {operand.name: walk.distance(operand, first) for operand in operands}
        if inner is None or inner.name in first or inner.count == 1 or stage < STAGES.index("prefetching"):
            yield Occurrence(_prepared(call, operands, distances, (), machine), calls * share)
            continue
        prefetched = [o for o in operands if prefetch_of(o, inner.name, machine.item_bytes) != "none"]
        shared = [o for o in operands if prefetch_of(o, inner.name, machine.item_bytes) == "shared lines"]
        failing = failing_share(shared, inner.name, machine.item_bytes) if stage >= STAGES.index("failures") else 0.0
        yield Occurrence(_prepared(call, operands, distances, prefetched, machine), calls * share * (1 - failing))
        if failing:
            others = [o for o in prefetched if o not in shared]
            yield Occurrence(_prepared(call, operands, distances, others, machine), calls * share * failing)


def representative(call: Call, item_bytes: int) -> tuple[Call, float]:
    """A call that takes not too long, and how many of it take as long as the given one.

    Where a call is a large part of a contraction, or all of it, its largest sizes are halved until it
    would take some milliseconds and its operands span some megabytes: run times of large kernels are in
    proportion to their work.
    """
    work, smaller = _work(call, item_bytes), call
    while _work(smaller, item_bytes) > MOST_WORK or _span(smaller) * item_bytes > MOST_MEMORY:
        name, size = max(smaller.sizes.items(), key=lambda item: item[1])
        smaller = _resized(smaller, {**smaller.sizes, name: -(-size // 2)})
    return smaller, work / _work(smaller, item_bytes)


def _work(call: Call, item_bytes: int) -> float:
    """Flops, or bytes where those are more than a flop each."""
    return max(float(call.flops), float(call.kernel.byte_count({**call.flags, **call.sizes}, "s")) * item_bytes / 4)


def _span(call: Call) -> int:
    """Elements from the first to the last of the widest operand."""
    return max((int(view.columns) - 1) * _own_view("", view).ld + int(view.rows) for view in call.views.values())


def _resized(call: Call, sizes: dict[str, int]) -> Call:
    """The call with other sizes, on parts of its operands."""
    values: list[object] = []
    named = {**call.flags, **sizes}
    for argument, value in zip(call.kernel.bound, call.values, strict=True):
        if isinstance(value, View) and isinstance(argument, Data):
            rows, columns = (int(parse(text).evaluate(named)) for text in (argument.rows, argument.columns))
            if argument.name in call.kernel.vectors and value.rows == 1 and value.columns != 1:
                rows, columns = columns, rows
            value = value.part(0, 0, rows, columns)
        values.append(value)
    return bind(call.kernel, *values)


def _prepared(
    call: Call,
    operands: Sequence[Operand],
    distances: dict[str, int],
    prefetched: Sequence[Operand],
    machine: _Machine,
) -> Benchmark:
    """The call after accesses that leave its operands as far away as they are in the algorithm."""
    own = {operand.name: view for operand, view in zip(operands, _own_views(call), strict=True)}
    typical = {name: machine.typical(distance) for name, distance in distances.items()}
    near: dict[str, View] = {}
    for operand in prefetched:
        view = prefetched_view(operand, machine.item_bytes)
        near[operand.name] = replace(own[operand.name], rows=view.rows, columns=view.columns)
    far = sorted((name for name, distance in typical.items() if distance is not None), key=lambda n: -(typical[n] or 0))
    if not near and len(far) == len(operands) and not any(typical.values()):
        return _benchmark(call, WARM)
    accesses: list[Access] = []
    ahead = sum(_bytes(view, machine) for view in near.values())
    for place, name in enumerate(far):
        distance, behind = typical[name] or 0, far[place + 1 :]
        accesses.append(own[name])
        following = typical[behind[0]] or 0 if behind else 0
        nearer = sum(_bytes(own[other], machine) for other in behind[:1])
        if (foreign := distance - following - nearer - (0 if behind else ahead)) >= LEAST_DISTANCE:
            accesses.append(Foreign(foreign))
    accesses += near.values()
    return _benchmark(call, Touched(tuple(accesses)))


def _bytes(view: View, machine: _Machine) -> int:
    return int(view.rows) * int(view.columns) * machine.item_bytes


def _benchmark(call: Call, precondition: Precondition) -> Benchmark:
    own = replace(call, values=_own_values(call))
    shapes = ", ".join(f"{v.rows}x{v.columns} ld {v.ld}" for v in own.views.values())
    return Benchmark(own, precondition, f"{own.kernel.name} {own.case}; {shapes}; {_text(precondition)}")


def _text(precondition: Precondition) -> str:
    """A precondition with parts of operands by their shape."""
    if not isinstance(precondition, Touched):
        return str(precondition)
    words = [f"{a.buffer}[{a.rows}x{a.columns}]" if isinstance(a, View) else str(a) for a in precondition.accesses]
    return f"touched {', '.join(words)}"


def _own_values(call: Call) -> tuple[object, ...]:
    """The call's values, its operands in memory of their own."""
    views = iter(_own_views(call))
    return tuple(next(views) if isinstance(value, View) else value for value in call.values)


def _own_views(call: Call) -> list[View]:
    """Views from the beginning of memory that operands of the same shape share."""
    return [_own_view(name, view) for name, view in call.views.items()]


def _own_view(name: str, view: View) -> View:
    ld = view.ld if view.ld <= LARGEST_STRIDE else _KEPT + view.ld % _KEPT + (_KEPT if view.ld % _KEPT == 0 else 0)
    ld = max(ld, int(view.rows))
    return View(f"{name} of {view.rows}x{view.columns}, ld {ld}", 0, 0, view.rows, view.columns, ld)
