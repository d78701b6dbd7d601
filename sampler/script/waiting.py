"""Calls that wait for a go, and what each does in a repetition."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ..call import Call, View
from ..errors import UsageError
from ..job import PROBE_GAP_SECONDS, job_of
from ..precondition import Cold, Precondition, prepare
from ..program import Operation, Parallel, Probe, Restore, Run, Time, calls_of
from .invocation import Invocation
from .statements import Mode

FRESH = Cold("fresh memory")
REGION = "parallel"


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for the calls that follow.

    Parameters
    ----------
    precondition : Precondition or None
        None: operands lie where the call before left them.
    restored : frozenset of str or None
        Buffers whose contents are restored before each call; None: all that it overwrites.
    """

    precondition: Precondition | None = None
    restored: frozenset[str] | None = frozenset()


@dataclass(frozen=True, eq=False)
class Steps:
    """What a waiting call does in a repetition.

    Parameters
    ----------
    operations : tuple of Operation
        Array-valued where operands move.
    acting : int
        Which of them is the call itself.
    """

    operations: tuple[Operation, ...]
    acting: int

    @cached_property
    def rows(self) -> int:
        """Records that a repetition leaves."""
        return sum(map(_rows, self.operations))

    @cached_property
    def row(self) -> int:
        """Index of the call's record among them."""
        return sum(map(_rows, self.operations[: self.acting]))


def _rows(operation: Operation) -> int:
    return 1 + len(calls_of(operation)) if isinstance(operation, Parallel) else 1


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """A call, or a parallel region, that waits for a go.

    Parameters
    ----------
    line : int
    routine : str
        ``"parallel"`` for a region.
    lanes : tuple of tuple of Invocation
        Of a call that is no region, one of one.
    is_region : bool
    mode : str
    settings : Settings
    """

    line: int
    routine: str
    lanes: tuple[tuple[Invocation, ...], ...]
    is_region: bool
    mode: Mode
    settings: Settings

    @property
    def invocations(self) -> tuple[Invocation, ...]:
        """All its calls."""
        return tuple(each for lane in self.lanes for each in lane)

    @property
    def dtype(self) -> str:
        """The data type of its calls."""
        return self.invocations[0].dtype

    @property
    def buffers(self) -> Iterator[str]:
        """Names of the memory that it works on."""
        return (placement.region.buffer.name for each in self.invocations for placement in each.placements)

    def steps(self, repetitions: int) -> Steps:
        """What it does.

        Raises
        ------
        UsageError
            If the precondition cannot be had, or an operand leaves its memory.
        """
        lanes = tuple(tuple(each.call(repetitions) for each in lane) for lane in self.lanes)
        if self.settings.precondition == FRESH:
            return self._on_fresh_memory(lanes[0][0])
        before: list[Operation] = [Probe(PROBE_GAP_SECONDS)]
        for lane in lanes:
            for call in lane:
                before += self._preparation(call)
        return Steps((*before, self._act(lanes)), len(before))

    def _act(self, lanes: tuple[tuple[Call, ...], ...]) -> Operation:
        if self.is_region:
            return Parallel(lanes)
        return Run(lanes[0][0]) if self.mode == "untimed" else Time(lanes[0][0])

    def _preparation(self, call: Call) -> tuple[Operation, ...]:
        if self.settings.precondition is not None:
            return prepare(call, self.settings.precondition)
        names = self.settings.restored
        views = call.overwritten if names is None else (v for v in call.views.values() if v.buffer in names)
        return tuple(Restore(view) for view in views)

    def _on_fresh_memory(self, call: Call) -> Steps:
        """The call on copies of its operands, whose names no stream can give."""
        if self.is_region:
            raise UsageError(f"a parallel region cannot be {FRESH}; choose cold by flush")

        def apart(name: str, view: View) -> View:
            copy = f"{name} of {self.routine}, {view.rows}x{view.columns}, ld {view.ld}"
            return replace(view.entry(0), buffer=copy, row=0, column=0)

        views: Mapping[int, View] = {id(view): apart(name, view) for name, view in call.views.items()}
        job = job_of(replace(call, values=tuple(views.get(id(value), value) for value in call.values)), FRESH)
        before = (Probe(PROBE_GAP_SECONDS), *job.preamble)
        moving = tuple(call for call in job.calls if isinstance(call, Call))
        return Steps((*before, self._act((moving,)), *job.postamble), len(before))
