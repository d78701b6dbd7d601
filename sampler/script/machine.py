"""Executes statements: keeps what is named and what waits, and runs it on back ends."""

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from types import TracebackType
from typing import Self

import numpy as np

from ..backend import Backend
from ..counters import Counters
from ..declaration import read_kernels
from ..errors import BlascastError, UsageError
from ..kernel import Kernel
from ..kernels import KERNELS
from ..program import Buffer, Operation, buffers_for, calls_of, views_of
from . import statements as say
from .invocation import Invocation, invocation
from .memory import Memory
from .reader import VERBS
from .results import Failure, Opened, Output, Printed, Shares
from .round import Round
from .waiting import FRESH, REGION, Settings, Steps, Waiting

MOST_WAITING = 100_000
MOST_CALLS = 1_000_000  # of one go: calls times repetitions
MOST_OF_32_BITS = 2**31 - 1


class Machine:
    """Executes statements; a context manager.

    Parameters
    ----------
    open_backend : callable
        Opens the back end for a data type; this is done when its first call is run.
    """

    def __init__(self, open_backend: Callable[[str], Backend]) -> None:
        self._open = open_backend
        self._backends: dict[str, Backend] = {}
        self._held: dict[str, list[Buffer]] = {}
        self._routines: dict[str, tuple[Kernel, str]] = {}
        self._memory = Memory()
        self._random = np.random.default_rng(self._memory.seed)
        self._settings = Settings()
        self._counters = Counters()
        self._counters_line = 0
        self._queue: list[Waiting | Printed] = []
        self._region: _OpenRegion | None = None
        self.declare(*KERNELS.values())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for backend in self._backends.values():
            backend.close()

    def do(self, line: int, statement: say.Statement) -> Iterator[list[Output]]:
        """Executes a statement; what comes out of it, in batches as soon as they are there.

        Parameters
        ----------
        line : int
            Where it stands in the stream.

        Raises
        ------
        BlascastError
            If it cannot be executed.
        """
        match statement:
            case say.Allocate():
                self._memory.allocate(statement)
            case say.Offset():
                self._memory.offset(statement)
            case say.Free(names):
                self._free(names)
            case say.Invoke():
                self._invoke(line, statement)
            case say.Go():
                yield from self._go(statement)
            case say.Count(counters):
                self._counters_line = line
                self._count(counters)
            case say.Parallel() | say.Sequence() | say.End():
                self._bracket(line, statement)
            case say.Precede(precondition):
                self._settings = Settings(precondition, self._settings.restored)
            case say.Restored(names):
                restored = None if names is None else frozenset(self._memory.find(n).buffer.name for n in names)
                self._settings = Settings(self._settings.precondition, restored)
            case say.Seed(seed):
                self._memory.seed = seed
                self._random = np.random.default_rng(seed)
            case say.Print(text):
                self._wait(Printed(line, text))
            case say.Load(path):
                self.declare(*read_kernels(path))

    def finish(self) -> Iterator[list[Output]]:
        """Runs what still waits.

        Raises
        ------
        UsageError
            If a parallel region is open.
        """
        yield from self._go(say.Go())

    def declare(self, *kernels: Kernel) -> None:
        """Makes kernels known to this stream.

        Raises
        ------
        UsageError
            If a routine is known already.
        """
        routines = {kernel.routine(dtype): (kernel, dtype) for kernel in kernels for dtype in kernel.types}
        if taken := routines.keys() & self._routines.keys():
            raise UsageError(f"the routine {min(taken)} is known already; choose another name")
        self._routines.update(routines)

    # --- memory, counters

    def _free(self, names: tuple[str, ...]) -> None:
        waiting = {name for item in self._queue if isinstance(item, Waiting) for name in item.buffers}
        for name in names:
            if self._memory.find(name).buffer.name in waiting:
                raise UsageError(f"{name} is an operand of calls that wait; let them go first")
        self._memory.free(names)

    def _count(self, counters: Counters) -> None:
        """Counts events on every back end, or on none."""
        self._counters = Counters()
        try:
            for backend in self._backends.values():
                backend.count(counters)
        except UsageError:
            for backend in self._backends.values():
                backend.count(Counters())
            raise
        self._counters = counters

    # --- the queue

    def _wait(self, item: Waiting | Printed) -> None:
        if len(self._queue) >= MOST_WAITING:
            raise UsageError(f"{MOST_WAITING} calls wait, and no more may; let them go first")
        self._queue.append(item)

    def _invoke(self, line: int, statement: say.Invoke) -> None:
        if statement.routine not in self._routines:
            raise self._unknown(statement.routine)
        kernel, dtype = self._routines[statement.routine]
        lane = self._region.lane if self._region is not None else 0
        call = invocation(kernel, dtype, statement.arguments, self._memory, lane)
        if self._region is not None:
            self._region.add(call, statement.mode, self._settings)
            return
        waiting = Waiting(line, statement.routine, ((call,),), False, statement.mode, self._settings)
        if self._settings.precondition is not None:
            waiting.steps(1)  # refuses an operand that the call has not, while the line is at hand
        self._wait(waiting)

    def _unknown(self, name: str) -> UsageError:
        close = get_close_matches(name, [*self._routines, *VERBS], 5)
        like = f"; like it are {', '.join(close)}" if close else "; a routine is written with its letter, as dgemm"
        return UsageError(f"unknown routine or statement {name!r}{like}")

    def _bracket(self, line: int, statement: say.Bracket) -> None:
        region = self._region
        if isinstance(statement, say.Parallel):
            self._check_closed()
            self._region = _OpenRegion(line)
        elif region is None:
            raise UsageError("no parallel region is open; begin one with parallel {")
        elif isinstance(statement, say.Sequence):
            region.begin_sequence()
        elif region.in_sequence:
            region.end_sequence()
        else:
            self._region = None
            self._wait(region.waiting(self._settings))

    def _check_closed(self) -> None:
        if self._region is not None:
            raise UsageError(f"the parallel region of line {self._region.line} is open; end it with }} first")

    # --- go

    def _go(self, go: say.Go) -> Iterator[list[Output]]:
        self._check_closed()
        if not self._queue:
            return
        if len(self._queue) * go.repetitions > MOST_CALLS:
            raise UsageError(
                f"one go may make {MOST_CALLS} calls, {go.repetitions} repetitions of {len(self._queue)} are more; "
                "go less often"
            )
        queue, self._queue = self._queue, []
        waiting = {index: item for index, item in enumerate(queue) if isinstance(item, Waiting)}
        steps: dict[int, Steps] = {}
        outputs: list[Output] = []
        for index, item in waiting.items():
            try:
                outputs += self._opened(item.dtype)
                steps[index] = self._steps(item, go.repetitions)
            except UsageError as error:
                outputs.append(Failure(item.line, error))
        yield outputs
        self._allocate([(waiting[index], each) for index, each in steps.items()])
        yield self._check(waiting, steps)
        events = self._counters.events
        yield Round(queue, steps, self._backends, events, go.repetitions).run(self._random if go.shuffled else None)
        if self._counters.multiplex and steps:
            yield [Shares(next(iter(self._backends.values())).counter_shares)]

    def _opened(self, dtype: str) -> list[Output]:
        """Opens the back end of a data type, if that was not done."""
        if dtype in self._backends:
            return []
        backend = self._backends[dtype] = self._open(dtype)
        self._held[dtype] = []
        opened = Opened(backend.setup, backend.clock_name, backend.ticks_per_second)
        try:
            self._count(self._counters)
        except UsageError as error:  # asked for when there was no back end yet to refuse it
            return [opened, Failure(self._counters_line, error)]
        return [opened]

    def _steps(self, waiting: Waiting, repetitions: int) -> Steps:
        if self._backends[waiting.dtype].setup.library.integer_bits == 32:
            largest = max((integer for each in waiting.invocations for integer in each.integers), default=0)
            if largest > MOST_OF_32_BITS:
                raise UsageError(f"the library takes integers up to {MOST_OF_32_BITS}, got {largest}")
        return waiting.steps(repetitions)

    def _allocate(self, every: list[tuple[Waiting, Steps]]) -> None:
        """Makes the memory that calls need; what is there, stays."""
        for dtype, backend in self._backends.items():
            items = [(waiting, steps) for waiting, steps in every if waiting.dtype == dtype]
            names = dict.fromkeys([buffer.name for buffer in self._held[dtype]])
            names |= dict.fromkeys(name for waiting, _ in items for name in waiting.buffers)
            buffers = self._memory.buffers(names, dtype)
            own = {buffer.name for buffer in buffers}
            buffers += _others([o for _, steps in items for o in steps.operations], own)
            if buffers != self._held[dtype]:
                backend.allocate(buffers, keep=True)
                self._held[dtype] = buffers

    def _check(self, waiting: dict[int, Waiting], steps: dict[int, Steps]) -> list[Output]:
        """Gives up what a back end cannot run."""
        failures: list[Output] = []
        for index in list(steps):
            try:
                for operation in steps[index].operations:
                    self._backends[waiting[index].dtype].check(operation)
            except BlascastError as error:
                failures.append(Failure(waiting[index].line, error))
                del steps[index]
        return failures


class _OpenRegion:
    """A parallel region whose end was not read yet."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.in_sequence = False
        self._lanes: list[list[Invocation]] = []

    @property
    def lane(self) -> int:
        """The lane of the next call."""
        return len(self._lanes) - self.in_sequence

    def add(self, call: Invocation, mode: say.Mode, settings: Settings) -> None:
        """Adds a call: as a lane, or to the open sequence."""
        if mode != "visible":
            raise UsageError(f"a parallel region is timed as one, a call in it cannot be {mode}")
        if settings.precondition == FRESH:
            raise UsageError(f"a parallel region cannot be {FRESH}; choose cold by flush")
        for other in (other for lane in self._lanes for other in lane):
            if other.dtype != call.dtype:
                raise UsageError(f"calls of a parallel region have one data type, got {other.dtype} and {call.dtype}")
        if sum(map(len, self._lanes)) >= MOST_WAITING:
            raise UsageError(f"a parallel region may hold {MOST_WAITING} calls, and no more")
        if self.in_sequence:
            self._lanes[-1].append(call)
        else:
            self._lanes.append([call])

    def begin_sequence(self) -> None:
        """Begins a lane of several calls."""
        if self.in_sequence:
            raise UsageError("a sequence cannot stand inside another; end that with } first")
        self.in_sequence = True
        self._lanes.append([])

    def end_sequence(self) -> None:
        """Ends it."""
        self.in_sequence = False
        if not self._lanes[-1]:
            self._lanes.pop()
            raise UsageError("a sequence needs at least one call")

    def waiting(self, settings: Settings) -> Waiting:
        """The region, to be queued."""
        if not self._lanes:
            raise UsageError("a parallel region needs at least one call")
        return Waiting(self.line, REGION, tuple(map(tuple, self._lanes)), True, "visible", settings)


def _others(operations: list[Operation], own: set[str]) -> list[Buffer]:
    """Memory that preconditions need beside the operands."""
    calls = [call for o in operations for call in calls_of(o) if any(v.buffer not in own for v in call.views.values())]
    views = [view for o in operations if not calls_of(o) for view in views_of(o) if view.buffer not in own]
    return list(buffers_for(calls, 0, views))
