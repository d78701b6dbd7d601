"""Windows: a step of an algorithm's loop, timed call by call after the step before it.

So its calls find in the caches what the algorithm leaves there (algorithm-aware timings, section 20.2 of
the dissertation), for the cost of two steps, and of restoring what they overwrite.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from blascast.algorithms import CallArray, Sequence, find_operation, operands_of
from blascast.sampler.call import Call, View
from blascast.sampler.job import Job, sequence_job
from blascast.sampler.program import Run

from ..caching.accesses import is_single_loop
from ..configurations import Configuration, described, traced


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """A step of an algorithm.

    Parameters
    ----------
    configuration : Configuration
    step, steps : int
        Which one, from 0, of how many.
    before, calls : tuple of Call
        Those of the step before, and those that are timed; in order.
    """

    configuration: Configuration
    step: int
    steps: int
    before: tuple[Call, ...]
    calls: tuple[Call, ...]

    @property
    def job(self) -> Job:
        """What is done to time it: operands are restored as before a run."""
        restored = sequence_job((*self.before, *self.calls)).preamble
        return Job((*restored, *(Run(call) for call in self.before)), self.calls, precondition="in a window")


def window_of(configuration: Configuration, dtype: str, place: float) -> Window | None:
    """The step of an algorithm at which so much of its operations is done; None if it has no single loop, or one step.

    Parameters
    ----------
    configuration : Configuration
    dtype : str
    place : float
        0 is the beginning, 1 the end.
    """
    sequence = traced([configuration], dtype)
    owner = sequence.calls[0].call.owner if sequence.calls else None
    if owner is None or len(owner) == 1 or not is_single_loop(sequence):
        return None
    count = len(owner)
    flops = sum(np.bincount(own.entries, own.flops * own.times, minlength=count) for own in sequence.calls)
    done = np.cumsum(flops)
    return _window(configuration, sequence, dtype, int(np.searchsorted(done, place * done[-1])), count)


def _window(configuration: Configuration, sequence: Sequence, dtype: str, step: int, steps: int) -> Window:
    label = f" of {configuration.variant.operation}, {described(configuration.sizes)}"
    operation = find_operation(configuration.variant.operation)
    homes = dict(
        zip(
            (operand.name for operand in operation.operands),
            operands_of(operation, configuration.sizes, configuration.b or 1, label),
            strict=True,
        )
    )
    before, calls = (
        tuple(call for own in sequence.calls for call in _calls_of_step(own, number, homes))
        for number in (step - 1, step)
    )
    return Window(configuration, step, steps, before, calls)


def _calls_of_step(statement: CallArray, step: int, homes: dict[str, View]) -> Iterator[Call]:
    """The calls that a statement makes in a step, on the operands' own memory."""
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
