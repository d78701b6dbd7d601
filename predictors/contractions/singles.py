"""Single calls in the state that an algorithm leaves them in: the stages of the dissertation's section 23."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from blascast.sampler.call import Call, View, bind
from blascast.sampler.expression import parse
from blascast.sampler.kernel import Data, Scalar
from blascast.sampler.nest import Loop, Nest, Step, times

from .distances import Operand, Walk, operands_of
from .memory import LARGEST_STRIDE, OwnMemory, in_own_memory
from .prefetching import failing_share, prefetch_of, prefetched_view
from .situations import Situation, situations
from .stages import Stage
from .states import Benchmark, Machine, prepared, repeated

MOST_WORK = 1e8  # flops or bytes of a call that is timed: some milliseconds
MOST_MEMORY = 1e8  # bytes from the first to the last entry of an operand of such a call


@dataclass(frozen=True, slots=True, eq=False)
class Occurrence:
    """A micro-benchmark and how often an algorithm does what it does."""

    benchmark: Benchmark
    count: float


def repeated_calls(loops: tuple[Loop, ...], step: Step, machine: Machine) -> Iterator[Occurrence]:
    """A step's call again and again."""
    call, factor = representative(step.call, machine.item_bytes)
    yield Occurrence(repeated(_alone(step, call)), factor * times(loops))


def single_calls(
    nest: Nest, loops: tuple[Loop, ...], step: Step, machine: Machine, stage: Stage
) -> Iterator[Occurrence]:
    """A step's calls by which loops are in their first iteration, and whether prefetching fails."""
    item_bytes, walk, operands = machine.item_bytes, Walk(nest, step, machine.item_bytes), operands_of(step)
    inner = loops[-1] if loops else None
    found = situations(loops) if stage >= Stage.FIRST else [Situation()]
    for situation in found:
        call, factor = representative(continued(step, loops, situation.first).call, item_bytes)
        own = _alone(step, call)
        distances = {own.names[o.view.buffer]: walk.distance(o, situation.first) for o in operands}
        count = factor * times(loops) * situation.share
        if inner is None or inner.name in situation.first or inner.count == 1 or stage < Stage.PREFETCHING:
            yield Occurrence(prepared(own, distances, machine), count)
            continue
        kinds = {operand.name: prefetch_of(operand, inner.name, item_bytes) for operand in operands}
        shared = [operand for operand in operands if kinds[operand.name] == "shared lines"]
        failing = failing_share(shared, inner.name, item_bytes) if stage >= Stage.FAILURES else 0.0
        brought = [operand.name for operand in operands if kinds[operand.name] != "none"]
        others = [operand.name for operand in operands if kinds[operand.name] == "next"]
        for names, part in ((brought, 1 - failing), (others, failing)):
            if part:
                near = _brought(own, operands, names, item_bytes)
                yield Occurrence(prepared(own, distances, machine, near), count * part)


def continued(step: Step, loops: Sequence[Loop], first: frozenset[str]) -> Step:
    """The step, adding to its result where a loop around it has passed the first iteration of those that add."""
    if not step.adds or "beta" not in step.call.scalars:
        return step
    if not any(loop.adds and loop.name not in first for loop in loops):
        return step
    values = (
        1 if isinstance(argument, Scalar) and argument.name == "beta" else value
        for argument, value in zip(step.call.kernel.bound, step.call.values, strict=True)
    )
    return replace(step, call=bind(step.call.kernel, *values), adds=False)


def _alone(step: Step, call: Call) -> OwnMemory:
    """A call on the step's operands, outside of all loops."""
    return in_own_memory((Step(call, {}, step.factors),))


def _brought(own: OwnMemory, operands: Sequence[Operand], names: Sequence[str], item_bytes: int) -> list[Operand]:
    """What prefetching brought in of a step's operands, in their own memory: no more than what a part of a call has."""
    (step,) = own.rows
    assert isinstance(step, Step)
    lines = {operand.name: prefetched_view(operand, item_bytes) for operand in operands if operand.name in names}
    return [_cut(operand, lines[operand.name]) for operand in operands_of(step) if operand.name in names]


def _cut(operand: Operand, lines: View) -> Operand:
    """An operand of which these lines alone are meant, as far as it has them."""
    view = operand.view
    rows, columns = min(int(view.rows), int(lines.rows)), min(int(view.columns), int(lines.columns))
    return replace(operand, view=replace(view, rows=rows, columns=columns))


# --- large calls


def representative(call: Call, item_bytes: int) -> tuple[Call, float]:
    """A call that takes not too long, and how many of it take as long as the given one.

    Where a call is a large part of a contraction, or all of it, its largest sizes are halved until it
    would take some milliseconds and its operands span some megabytes: run times of large kernels are in
    proportion to their work.
    """
    whole, smaller = work(call, item_bytes), call
    while work(smaller, item_bytes) > MOST_WORK or _span(smaller) * item_bytes > MOST_MEMORY:
        name, size = max(smaller.sizes.items(), key=lambda item: item[1])
        smaller = _resized(smaller, {**smaller.sizes, name: -(-size // 2)})
    return smaller, whole / work(smaller, item_bytes)


def work(call: Call, item_bytes: int) -> float:
    """Flops, or bytes where those are more than a flop each."""
    return max(float(call.flops), float(call.kernel.byte_count({**call.flags, **call.sizes}, "s")) * item_bytes / 4)


def _span(call: Call) -> int:
    """Elements from the first to the last of the widest operand, with large strides shortened."""
    return max((int(view.columns) - 1) * min(view.ld, LARGEST_STRIDE) + int(view.rows) for view in call.views.values())


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
