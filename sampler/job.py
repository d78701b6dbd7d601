"""Jobs: what one repetition of a measurement does."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from .call import Call, View
from .nest import Nest
from .precondition import WARM, Cold, Precondition, prepare, settle
from .program import (
    Buffer,
    Flush,
    Operation,
    Probe,
    Restore,
    Time,
    buffers_for,
    calls_of,
    entries_of,
    entry_of,
    views_of,
)

PROBE_GAP_SECONDS = 0.5e-3

# Fresh memory is used again after so many bytes, or so many copies of the operands: more than the
# second level of a TLB reaches, or than its first level has entries.
FRESH_BYTES = 64 << 20
MOST_COPIES = 256


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """What one repetition does: operations that set the stage, timed calls, and what is cleared away.

    The time of a repetition is the sum over its timed calls; probes between them are not in it.
    Array-valued views move: repetition r uses their entry r, modulo their number. A nest is timed as one.

    Parameters
    ----------
    preamble : tuple of Operation
    calls : tuple of Call or Nest
    postamble : tuple of Operation
    precondition : str
        Where the operands lie, in words.
    buffers : tuple of Buffer
        Operands of other shapes than the views into them tell.
    """

    preamble: tuple[Operation, ...]
    calls: tuple[Call | Nest, ...]
    postamble: tuple[Operation, ...] = ()
    precondition: str = str(WARM)
    buffers: tuple[Buffer, ...] = ()
    _entries: dict[int, tuple[Operation, ...]] = field(default_factory=dict, init=False, repr=False)

    def operations(self, repetition: int) -> tuple[Operation, ...]:
        """What a repetition does, probed before, inside (now and then) and after."""
        entry = repetition % max(map(entries_of, self.body))
        if entry not in self._entries:
            self._entries[entry] = tuple(
                entry_of(operation, entry) if entries_of(operation) > 1 else operation for operation in self.body
            )
        return self._entries[entry]

    def makes(self, call: Call) -> bool:
        """Whether the call is one of those that its repetitions have made so far."""
        return any(call is own for entry in self._entries.values() for o in entry for own in calls_of(o))

    @property
    def body(self) -> tuple[Operation, ...]:
        """What a repetition does, array-valued."""
        timed: list[Operation] = [Probe()]
        for call in self.calls:
            timed += [call if isinstance(call, Nest) else Time(call), Probe(PROBE_GAP_SECONDS)]
        return (*self.preamble, *timed[:-1], Probe(), *self.postamble)

    @property
    def flops(self) -> float:
        """Floating-point operations of the timed calls."""
        return float(sum(np.max(call.flops) for call in self.calls))


def warm_job(call: Call) -> Job:
    """A kernel timed warm: called on restored operands until it settles, and then timed."""
    return job_of(call, WARM)


def job_of(call: Call, precondition: Precondition) -> Job:
    """A kernel timed in a precondition.

    Raises
    ------
    UsageError
        If the precondition names an operand that the call has not.
    """
    if precondition == Cold("fresh memory"):
        return _fresh_job(call)
    return Job(prepare(call, precondition), (call,), precondition=str(precondition))


def _fresh_job(call: Call) -> Job:
    """Each repetition on other copies of the operands, which were flushed after their last use.

    The calls before the timed one, on operands of its own, bring the code into the caches.
    """
    moving = _copies(call)
    clear: list[Operation] = [Restore(view) for view in moving.overwritten]
    clear += [Flush(view) for view in moving.views.values()]
    return Job(settle(call), (moving,), tuple(clear), str(Cold("fresh memory")))


def _copies(call: Call) -> Call:
    """The call on many copies of its buffers, which lie side by side."""
    buffers = {buffer.name: buffer for buffer in buffers_for([call])}
    size = sum(16 * buffer.elements for buffer in buffers.values())  # of the widest elements
    count = int(np.clip(FRESH_BYTES // max(size, 1), 2, MOST_COPIES))

    def moved(view: View) -> View:
        columns = buffers[view.buffer].columns
        name = f"{view.buffer}, {columns} columns again"
        return replace(view, buffer=name, period=columns, column=view.column + columns * np.arange(count))

    return replace(call, values=tuple(moved(value) if isinstance(value, View) else value for value in call.values))


def sequence_job(calls: Sequence[Call]) -> Job:
    """A whole algorithm, timed call by call on restored operands."""
    overwritten = {view.buffer for call in calls for view in call.overwritten}
    buffers = [buffer for buffer in buffers_for(calls) if buffer.name in overwritten]
    restore = tuple(Restore(View(b.name, 0, 0, b.rows, b.columns, b.ld)) for b in buffers)
    return Job(restore, tuple(calls), precondition="in sequence")


def buffers_of(jobs: Sequence[Job], seed: int) -> tuple[Buffer, ...]:
    """The operands of jobs; of those that several give, the largest."""
    given: dict[str, Buffer] = {}
    for buffer in (buffer for job in jobs for buffer in job.buffers):
        if buffer.name not in given or given[buffer.name].elements < buffer.elements:
            given[buffer.name] = buffer
    operations = [operation for job in jobs for operation in job.body]
    calls = [call for operation in operations for call in calls_of(operation)]
    others = [view for operation in operations if not calls_of(operation) for view in views_of(operation)]
    return (*given.values(), *buffers_for(calls, seed, others, given))
