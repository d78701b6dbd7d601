"""Jobs: what one repetition of a measurement does."""

from collections.abc import Sequence
from dataclasses import dataclass

from .call import Call, View
from .program import Operation, Probe, Restore, Run, Time, buffers_for

PROBE_GAP_SECONDS = 0.5e-3


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """What one repetition does: operations that set the stage, then timed calls.

    The time of a repetition is the sum over its timed calls; probes between them are not in it.
    """

    preamble: tuple[Operation, ...]
    calls: tuple[Call, ...]

    @property
    def operations(self) -> tuple[Operation, ...]:
        """One repetition, probed before, inside (now and then) and after."""
        timed: list[Operation] = [Probe()]
        for call in self.calls:
            timed += [Time(call), Probe(PROBE_GAP_SECONDS)]
        return (*self.preamble, *timed[:-1], Probe())

    @property
    def every_call(self) -> tuple[Call, ...]:
        """The calls of one repetition, untimed ones included."""
        return (*(operation.call for operation in self.preamble if isinstance(operation, Run)), *self.calls)

    @property
    def flops(self) -> float:
        """Floating-point operations of the timed calls."""
        return float(sum(call.flops for call in self.calls))


def warm_job(call: Call) -> Job:
    """A kernel timed warm: called twice on restored operands, the second call is timed."""
    restore = tuple(Restore(view) for view in call.overwritten)
    return Job((*restore, Run(call), *restore), (call,))


def sequence_job(calls: Sequence[Call]) -> Job:
    """A whole algorithm, timed call by call on restored operands."""
    overwritten = {view.buffer for call in calls for view in call.overwritten}
    buffers = [buffer for buffer in buffers_for(calls) if buffer.name in overwritten]
    return Job(tuple(Restore(View(b.name, 0, 0, b.rows, b.columns, b.ld)) for b in buffers), tuple(calls))
