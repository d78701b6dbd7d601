"""One go: what waits is run so many times on back ends."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
class _Program:
    """Operations for slots, and where the records of each begin."""

    slots: Sequence[Slot]
    operations: list[Operation]
    begins: npt.NDArray[np.int64]

    def owner(self, call: object) -> int | None:
        """The index into the queue that a call belongs to; None if it is unknown."""
        return None


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
    """

    def __init__(
        self,
        queue: Sequence[Waiting | Printed],
        steps: Mapping[int, Steps],
        backends: Mapping[str, Backend],
        events: Sequence[str],
    ) -> None:
        self._queue, self._steps, self._backends, self._events = queue, steps, backends, events
        self._entries: dict[tuple[int, int], Operation] = {}
        self._results: dict[Slot, Result] = {}
        self._failed: dict[int, Failure] = {}

    def run(self, repetitions: int, shuffle: np.random.Generator | None) -> list[Output]:
        """The results, repetition by repetition in the order of the queue; then the failures.

        Parameters
        ----------
        repetitions : int
        shuffle : random generator, optional
            Shuffles all calls of all repetitions.
        """
        slots = [(repetition, index) for repetition in range(repetitions) for index in self._steps]
        if shuffle is not None:
            slots = [slots[i] for i in shuffle.permutation(len(slots))]
        for dtype, group in groupby(slots, key=lambda slot: self._waiting(slot[1]).dtype):
            self._run(self._backends[dtype], list(group), in_order=shuffle is None)
        return [*self._in_order(repetitions), *self._failed.values()]

    def _waiting(self, index: int) -> Waiting:
        waiting = self._queue[index]
        assert isinstance(waiting, Waiting)
        return waiting

    def _in_order(self, repetitions: int) -> Iterator[Output]:
        for repetition in range(repetitions):
            for index, item in enumerate(self._queue):
                if isinstance(item, Printed):
                    yield item
                elif item.mode == "visible" and index not in self._failed and (repetition, index) in self._results:
                    yield self._results[repetition, index]

    # --- programs

    def _run(self, backend: Backend, slots: list[Slot], in_order: bool) -> None:
        """Runs slots; those of a call that fails are given up, the others go on."""
        while slots := [slot for slot in slots if slot[1] not in self._failed]:
            begins = np.cumsum([0, *(self._steps[index].rows for _, index in slots)])
            try:
                records = backend.run(self._operations(slots, in_order))
            except KernelFailed as failure:
                done = failure.records
                in_order = False
                ...
            self._collect(backend, slots, begins, records)
            return
