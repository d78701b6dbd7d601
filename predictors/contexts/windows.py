"""Windows: a step of an algorithm's loop, timed call by call after the step before it.

So its calls find in the caches what the algorithm leaves there (algorithm-aware timings, section 20.2 of
the dissertation), for the cost of two steps, and of restoring what they overwrite. Of an algorithm that is
no single loop (loops in loops, a recursion) it is a run of as many calls as it makes per block of its
largest size, after as many others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from blascast.algorithms import CallArray, find_operation, operands_of
from blascast.algorithms import Sequence as CallSequence
from blascast.sampler.call import Call, View
from blascast.sampler.job import Job, sequence_job
from blascast.sampler.program import Run

from ..caching.accesses import is_single_loop
from ..configurations import Configuration, described, traced
from ..prediction import FloatArray
from .pivots import begin_with_pivots

MOST_CALLS = 1000  # of an algorithm that is no single loop: they are listed one by one


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """A step of an algorithm.

    Parameters
    ----------
    configuration : Configuration
    step : int
        Which one, from 0; the number of its first call, where there is no single loop.
    share : float
        Of the algorithm's flops, those that are made for it.
    before, calls : tuple of Call
        Those of the step before, and those that are timed; in order.
    """

    configuration: Configuration
    step: int
    share: float
    before: tuple[Call, ...]
    calls: tuple[Call, ...]

    @property
    def job(self) -> Job:
        """What is done to time it: operands are restored as before a run."""
        restored = sequence_job((*self.before, *self.calls)).preamble
        return Job((*restored, *(Run(call) for call in self.before)), self.calls, precondition="in a window")


def window_of(configuration: Configuration, dtype: str, place: float) -> Window | None:
    """The step of an algorithm at which so much of its flops is done; None if it has one step, or too many calls.

    Parameters
    ----------
    configuration : Configuration
    dtype : str
    place : float
        0 is the beginning, 1 the end.
    """
    sequence = traced([configuration], dtype)
    if is_single_loop(sequence):
        return _step_of_loop(configuration, sequence, place)
    if sum(int(own.times.sum()) for own in sequence.calls) > MOST_CALLS:
        return None
    return _run_of_calls(configuration, dtype, place)


def _step_of_loop(configuration: Configuration, sequence: CallSequence, place: float) -> Window | None:
    owner = sequence.calls[0].call.owner
    assert owner is not None
    if len(owner) == 1:
        return None
    done = np.cumsum(sum(np.bincount(o.entries, o.flops * o.times, minlength=len(owner)) for o in sequence.calls))
    step = int(np.searchsorted(done, place * done[-1]))
    operands = find_operation(configuration.variant.operation).operands
    homes = dict(zip((own.name for own in operands), _operands(configuration), strict=True))
    before, calls = (
        tuple(call for own in _in_turns(sequence.calls) for call in _calls_of_step(own, number, homes))
        for number in (step - 1, step)
    )
    return Window(configuration, step, _share(done, max(step - 1, 0), step + 1), before, calls)


def _run_of_calls(configuration: Configuration, dtype: str, place: float) -> Window | None:
    b = configuration.b or 1
    calls = list(configuration.variant.calls(_operands(configuration), b, dtype))
    calls = [call for call in calls if min(call.sizes.values()) > 0]
    blocks = -(-max(configuration.sizes.values()) // (b[0] if isinstance(b, tuple) else b))
    count = -(-len(calls) // blocks)
    if 2 * count > len(calls):
        return None
    done = np.cumsum([float(call.flops) for call in calls])
    first = min(int(np.searchsorted(done, place * done[-1])), len(calls) - count)
    begin = begin_with_pivots(calls, max(first - count, 0), first + count)
    share = _share(done, begin, first + count)
    return Window(configuration, first, share, tuple(calls[begin:first]), tuple(calls[first : first + count]))


def _share(done: FloatArray, first: int, end: int) -> float:
    """Of what is done up to each place, what is done between two of them."""
    return float((done[end - 1] - (done[first - 1] if first else 0.0)) / done[-1])


def _operands(configuration: Configuration) -> tuple[View, ...]:
    """The operands of all variants for a problem have memory in common."""
    operation = find_operation(configuration.variant.operation)
    label = f" of {operation.name}, {described(configuration.sizes)}"
    return operands_of(operation, configuration.sizes, configuration.b or 1, label)


def _in_turns(statements: Sequence[CallArray]) -> list[list[CallArray]]:
    """The statements in order, those together that a loop over rows or columns makes in turns: on the same one."""
    found: list[list[CallArray]] = []
    for own in statements:
        repeated = _repeated(own)
        if found and any(view is other for view in repeated for other in _repeated(found[-1][-1])):
            found[-1].append(own)
        else:
            found.append([own])
    return found


def _repeated(statement: CallArray) -> list[View]:
    """The rows and columns that stand for several."""
    return [view for view in statement.call.views.values() if np.max(view.times, initial=1) > 1]


def _calls_of_step(together: Sequence[CallArray], step: int, homes: dict[str, View]) -> Iterator[Call]:
    """The calls that statements make in a step, in turns, on the operands' own memory."""
    listed = (_calls_of_statement(own, step, homes) for own in together)
    return chain.from_iterable(zip(*listed, strict=True))


def _calls_of_statement(statement: CallArray, step: int, homes: dict[str, View]) -> Iterator[Call]:
    if step not in statement.entries:
        return
    call = statement.call.entry(step)
    times = int(np.ravel(statement.call.times)[step if np.ndim(statement.call.times) else 0])
    for repetition in range(times):
        values = [
            _home(scalar, array, repetition, homes) if isinstance(scalar, View) else scalar
            for scalar, array in zip(call.values, statement.call.values, strict=True)
        ]
        yield replace(call, values=tuple(values))


def _home(view: View, array: View, repetition: int, homes: dict[str, View]) -> View:
    """A view of a step in the memory of its operand; of a row or column that stands for several, the given one."""
    home = homes[view.buffer]
    several = np.ndim(array.times) > 0
    down, across = (0, repetition) if several and np.ndim(array.columns) == 0 else (repetition, 0)
    row, column = int(view.row) + down * several, int(view.column) + across * several
    return replace(home, row=row, column=column, rows=view.rows, columns=view.columns)
