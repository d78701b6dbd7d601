"""One go: what waits is run so many times on back ends."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..backend import Backend
from ..failure import KernelFailed
from ..program import Operation, Records, Repeat, calls_of, entries_of, entry_of
from .results import Failure, Output, Printed, Result
from .waiting import Steps, Waiting

Slot: TypeAlias = tuple[int, int]  # a repetition, and an index into the queue


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """Runs a queue and collects results.

    Parameters
    ----------
    queue : sequence of Waiting or Printed
    steps : mapping of index to Steps
        Of all calls in the queue that can be run.
    backends : mapping of data type to Backend
    events : sequence of str
        The counters in force.
    repetitions : int
    """

    queue: Sequence[Waiting | Printed]
    steps: Mapping[int, Steps]
    backends: Mapping[str, Backend]
    events: Sequence[str]
    repetitions: int
    _results: dict[Slot, Result] = field(default_factory=dict, init=False)
    _failed: dict[int, Failure] = field(default_factory=dict, init=False)
    _entries: dict[tuple[int, int], Operation] = field(default_factory=dict, init=False)

    def run(self, shuffle: np.random.Generator | None) -> list[Output]:
        """The results, repetition by repetition in the order of the queue; then the failures.

        Parameters
        ----------
        shuffle : random generator, optional
            Shuffles all calls of all repetitions.
        """
        slots = [(repetition, index) for repetition in range(self.repetitions) for index in self.steps]
        if shuffle is not None:
            slots = [slots[i] for i in shuffle.permutation(len(slots))]
        for dtype, group in groupby(slots, key=lambda slot: self._waiting(slot[1]).dtype):
            part = list(group)
            self._run(self.backends[dtype], part, regular=shuffle is None and len(part) == len(slots))
        return [*self._in_order(), *self._failed.values()]

    def _waiting(self, index: int) -> Waiting:
        waiting = self.queue[index]
        assert isinstance(waiting, Waiting)
        return waiting

    def _in_order(self) -> Iterator[Output]:
        for repetition in range(self.repetitions):
            for index, item in enumerate(self.queue):
                if isinstance(item, Printed):
                    yield item
                elif (repetition, index) in self._results:
                    yield self._results[repetition, index]

    def _run(self, backend: Backend, slots: list[Slot], regular: bool) -> None:
        """Runs slots, but those of calls that failed; if a call ends the worker, goes on behind it."""
        while slots := [slot for slot in slots if slot[1] not in self._failed]:
            ends = np.cumsum([self.steps[index].rows for _, index in slots])
            operations = self._repeated() if regular else self._one_by_one(slots)
            try:
                self._collect(backend, slots, ends, backend.run(operations))
                return
            except KernelFailed as failure:
                done = 0 if failure.records is None else len(failure.records)
                if failure.records is not None:
                    self._collect(backend, slots, ends, failure.records)
                if done == ends[-1]:
                    self._blame(failure)
                    return
                at = int(np.searchsorted(ends, done, side="right"))
                self._fail(slots[at][1], failure, "; the calls behind it have operands filled anew")
                slots, regular = slots[at + 1 :], False

    # --- programs

    def _repeated(self) -> list[Operation]:
        """All repetitions in order; operands that move elsewhere than from one to the next, one by one."""
        body = tuple(operation for steps in self.steps.values() for operation in steps.operations)
        if all(entries_of(operation) in (1, self.repetitions) for operation in body):
            return [Repeat(body, self.repetitions)]
        return self._one_by_one([(repetition, index) for repetition in range(self.repetitions) for index in self.steps])

    def _one_by_one(self, slots: Sequence[Slot]) -> list[Operation]:
        return [self._entry(o, repetition) for repetition, index in slots for o in self.steps[index].operations]

    def _entry(self, operation: Operation, repetition: int) -> Operation:
        """What an operation is in a repetition; the same object whenever it is the same."""
        count = entries_of(operation)
        if count == 1:
            return operation
        key = (id(operation), repetition % count)
        if key not in self._entries:
            self._entries[key] = entry_of(operation, repetition % count)
        return self._entries[key]

    # --- results and failures

    def _collect(self, backend: Backend, slots: Sequence[Slot], ends: npt.NDArray[np.int64], records: Records) -> None:
        """Keeps the results of slots that have one among the records."""
        probes = _last_probes(records)
        for (repetition, index), end in zip(slots, ends.tolist(), strict=True):
            waiting, steps = self._waiting(index), self.steps[index]
            row = end - steps.rows + steps.row
            if row >= len(records):
                return
            if waiting.mode == "visible":
                seconds, probe = float(records.seconds[row]), probes[row]
                self._results[repetition, index] = Result(
                    line=waiting.line,
                    repetition=repetition,
                    routine=waiting.routine,
                    ticks=round(seconds * backend.ticks_per_second),
                    seconds=seconds,
                    probe=None if np.isnan(probe) else float(probe),
                    counters=dict(zip(self.events, records.counters[row].tolist(), strict=True)),
                )

    def _blame(self, failure: KernelFailed) -> None:
        """Takes back the results of calls that ran to the end, and failed."""
        owners = self._owners()
        for each in (failure, *failure.others):
            index = owners.get(id(each.call))
            if index is None:
                index = next(iter(self.steps))
                self._fail(index, each, " (by this call, or another of the same go)")
            self._fail(index, each)
            for repetition in range(self.repetitions):
                self._results.pop((repetition, index), None)

    def _owners(self) -> dict[int, int]:
        """By the identity of a call, its index in the queue."""
        owners: dict[int, int] = {}
        for index, steps in self.steps.items():
            for operation in steps.operations:
                entries = (self._entries.get((id(operation), entry)) for entry in range(entries_of(operation)))
                for each in (operation, *entries):
                    owners |= {id(call): index for call in (calls_of(each) if each else ())}
        return owners

    def _fail(self, index: int, failure: KernelFailed, remark: str = "") -> None:
        self._failed.setdefault(index, Failure(self._waiting(index).line, KernelFailed(f"{failure}{remark}")))


def _last_probes(records: Records) -> npt.NDArray[np.float64]:
    """For each record the ratio of the probes as last read before it; not a number where they never were."""
    read = records.branch >= 0
    ratio = np.where(read, records.branch / records.clock, np.nan)
    last = np.maximum.accumulate(np.where(read, np.arange(len(read)), -1))
    return np.where(last >= 0, ratio[last], np.nan)
