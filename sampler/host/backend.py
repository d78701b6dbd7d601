"""The parent's side of a worker process: a back end that outlives crashes of the library under test."""

import contextlib
import json
import mmap
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backend import Overhead
from ..call import Call
from ..counters import EVENTS, Counters, refusal
from ..errors import LibraryError, UsageError
from ..failure import KernelFailed
from ..kernel import COMPLEX, Kernel
from ..libraries import library_files
from ..program import Buffer, Operation, Records, lanes_of
from ..raw import Shape, completed, mapped
from ..resources import allowed_cpus, available_memory, claim_cpus
from ..setup import Setup, SetupRequest, library_from_json, this_machine
from .addresses import WorkerAddresses
from .lowered import LoweredProgram
from .lowering import Lowering, item_bytes
from .placement import ProgramMemory
from .process import Died, WorkerProcess

HANG_SECONDS = 60.0
TRIAD_BYTES = 24  # of one element of a := b + s c
TRIAD_REPETITIONS = 5
_ILLEGAL = re.compile(r"[Oo]n entry to\s+(\w+)\s*,?\s*parameter number\s+(\d+)")


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A program that the engine can start: as it was lowered, and the address of its operations."""

    lowered: LoweredProgram
    address: int


class WorkerBackend:
    """Runs programs in a worker process of its own: one library, one number of threads, pinned.

    A worker that dies is replaced at the next call of `allocate` or `run`.

    Parameters
    ----------
    request : SetupRequest
    hang_seconds : float
        How long one operation may take before the worker counts as hung.

    Raises
    ------
    UsageError
        If more threads than allowed CPUs are asked for, or the library is unknown.
    LibraryError
        If the library cannot be opened or does not take that number of threads.
    """

    def __init__(self, request: SetupRequest, hang_seconds: float = HANG_SECONDS) -> None:
        self._request = request
        self._hang_seconds = hang_seconds
        self._files = library_files(request.library)
        self._cpus, self._claims = claim_cpus(request.threads)
        self._buffers: tuple[Buffer, ...] = ()
        self._counters = Counters()
        self._process: WorkerProcess | None = None
        self._closed = False
        try:
            self._opened = self._start()
            self.setup = self._describe()
            self._allocate()
        except BaseException:
            self.close()
            raise

    @property
    def overhead(self) -> Overhead:
        """What timing itself costs, measured when the worker started."""
        subtracted = self._opened["overhead_ticks"] / self.ticks_per_second
        low, median, high = (t / self.ticks_per_second - subtracted for t in self._opened["empty_call_ticks"])
        return Overhead(subtracted, low, median, high)

    @property
    def ticks_per_second(self) -> float:
        """Rate of the clock, calibrated against the monotonic clock."""
        return float(self._opened["ticks_per_second"])

    @property
    def clock_name(self) -> str:
        """The instruction or function that reads the clock."""
        return str(self._opened["clock"])

    @property
    def cpus(self) -> tuple[int, ...]:
        """The CPUs that the worker is pinned to."""
        return tuple(self._cpus)

    @property
    def allowed_cpus(self) -> tuple[int, ...]:
        """The CPUs that this process may use."""
        return tuple(allowed_cpus())

    @property
    def process_id(self) -> int | None:
        """The worker's, while it lives."""
        return self._process.popen.pid if self._process else None

    def allocate(self, buffers: Sequence[Buffer], keep: bool = False) -> None:
        """Replaces all operands by new ones; with `keep`, those that are there already stay as they are.

        Raises
        ------
        UsageError
            If they would not fit into the memory that is available.
        """
        for buffer in buffers:
            if buffer.rows < 0 or buffer.columns < 0 or buffer.ld < max(1, buffer.rows):
                raise UsageError(f"an operand needs sizes >= 0 and ld >= max(1, rows), got {buffer}")
        self._alive()
        there = self._buffers if keep else ()
        self._check_memory([buffer for buffer in buffers if buffer not in there])
        self._buffers = tuple(buffers)
        self._allocate(keep)

    def lacks(self, kernels: Iterable[Kernel]) -> list[str]:
        """Those of the kernels' routines that the library has not."""
        self._alive()
        return [name for name in (kernel.routine(self.setup.dtype) for kernel in kernels) if not self._has(name)]

    def _has(self, routine: str) -> bool:
        try:
            self._addresses.routine(routine)
        except LibraryError:
            return False
        return True

    def check(self, operation: Operation) -> None:
        """Makes sure that an operation can be run; see `Backend.check`."""
        self._alive()
        self._lowering.lower([operation])
        self._start_team([operation])

    def prepare(self, operations: Sequence[Operation]) -> Prepared:
        """Places a program where the engine can run it, until another is placed."""
        self._alive()
        lowered = self._lowering.lower(operations)
        self._start_team(operations)
        return Prepared(lowered, self._memory.place(lowered, self._lowering.pool.contents()))

    def run(self, operations: Sequence[Operation], left_in: Path | None = None) -> Records:
        """Runs a program; see `Backend.run`."""
        process = self._alive()
        prepared = self.prepare(operations)
        rows = prepared.lowered.rows
        request = {"do": "run", "operations": prepared.address, "count": len(rows)}
        with left_in.open("w+b") if left_in else contextlib.nullcontext(process.records) as file:
            shape = self.raw_shape(len(rows))
            with mapped(file, shape) as shared:
                try:
                    self._ask({**request, "left_in": str(left_in) if left_in else None}, shared)
                except Died as death:
                    records = completed(shared, shape)
                    failed = prepared.lowered.source(min(len(records), len(rows) - 1))
                    raise self._failure(failed, death, records) from None
                records = completed(shared, shape)
        self._check_calls(prepared.lowered, process, records)
        return records

    def raw_shape(self, operations: int) -> Shape:
        """What is needed to read the records that a program leaves in a file."""
        return Shape(operations, len(self._counters.events), self.ticks_per_second, self._opened["overhead_ticks"])

    def count(self, counters: Counters) -> None:
        """Counts these events from now on; see `Backend.count`."""
        self._alive()
        self._counters = Counters()
        self._open_counters(counters)
        self._counters = counters

    @property
    def counter_shares(self) -> dict[str, float]:
        """The share of the time that each event was counted."""
        self._alive()
        return dict(zip(self._counters.events, self._ask({"do": "shares"})["shares"], strict=True))

    def write(self, buffer: str, values: npt.NDArray[np.floating]) -> None:
        """Sets the contents of an operand (rows x columns)."""
        self._alive()
        index, shape = self._lowering.find(buffer)
        if values.shape != (shape.rows, shape.columns):
            raise UsageError(f"operand {buffer} is {shape.rows}x{shape.columns}, got values of shape {values.shape}")
        whole = self._zeros(shape)
        whole.reshape(shape.columns, shape.ld)[:, : shape.rows] = values.T
        self._transfer({"do": "write", "buffer": index}, whole[: shape.elements].tobytes())

    def read(self, buffer: str) -> npt.NDArray[np.floating]:
        """The contents of an operand (rows x columns)."""
        self._alive()
        index, shape = self._lowering.find(buffer)
        whole = self._zeros(shape)
        whole[: shape.elements] = np.frombuffer(self._transfer({"do": "read", "buffer": index}), dtype=whole.dtype)
        return np.array(whole.reshape(shape.columns, shape.ld)[:, : shape.rows].T, order="F")

    def triad_bytes_per_second(self, cpus: Sequence[int], memory_bytes: int) -> float:
        """Memory bandwidth of threads on the given CPUs; see `Backend.triad_bytes_per_second`."""
        self._alive()
        elements = max(1, memory_bytes // (TRIAD_BYTES * len(cpus)))
        request = {"do": "triad", "cpus": list(cpus), "elements": elements, "repetitions": TRIAD_REPETITIONS}
        try:
            ticks = self._ask(request)["ticks"]
        except Died as death:
            raise LibraryError(f"measuring the memory's bandwidth failed: the worker {death}") from None
        return TRIAD_BYTES * elements * len(cpus) * self.ticks_per_second / float(ticks)

    def close(self) -> None:
        """Ends the worker and gives its CPUs back; no program can be run any more."""
        self._end_worker()
        for claim in self._claims:
            claim.close()
        self._closed = True

    def _end_worker(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None

    # --- the worker's life

    def _alive(self) -> WorkerProcess:
        if self._closed:
            raise UsageError("this back end is closed; open another one")
        if self._process is not None and self._process.popen.poll() is not None:
            self._end_worker()  # it died while idle
        if self._process is None:
            self._opened = self._start()
            self._allocate()
            self._open_counters(self._counters)
        assert self._process is not None
        return self._process

    def _start(self) -> dict[str, Any]:
        try:
            self._process = WorkerProcess(self._request.threads)
        except OSError as error:
            raise LibraryError(f"a worker process cannot be started: {error}") from error
        request: dict[str, Any] = {"do": "open", "files": self._files.to_open, "cpus": self._cpus}
        request |= {"dtype": self._request.dtype, "complex": self._request.dtype in COMPLEX}
        self._memory = ProgramMemory(self._process.program, self._ask)
        self._lanes = 1
        try:
            return self._ask(request)
        except Died as death:
            raise LibraryError(f"opening {self._files.name} ended the worker: {death}") from None

    def _describe(self) -> Setup:
        opened, threads = self._opened, self._request.threads
        if opened["threads"] != threads:
            raise LibraryError(
                f"{threads} threads were asked for, {self._files.file_names[0]} has {opened['threads']} in force; "
                f"use --threads {opened['threads']} or a multi-threaded library"
            )
        library = library_from_json(opened["library"])
        return Setup(this_machine(), library, self._request.dtype, threads, opened["pinned"])

    def _check_memory(self, buffers: Sequence[Buffer]) -> None:
        needed = 2 * sum(buffer.elements * self._item_bytes(buffer) for buffer in buffers)  # with the originals
        available = available_memory()
        if needed > available:
            raise UsageError(
                f"the operands need {needed / 1e9:.1f} GB, {available / 1e9:.1f} GB of memory are available; "
                "choose smaller sizes"
            )

    # --- talking to the worker

    def _ask(
        self, request: dict[str, Any], progress: mmap.mmap | None = None, contents: bytes | None = None
    ) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._ask_bytes(request, progress, contents))
        if "refused" in answer:
            raise LibraryError(answer["refused"])
        return answer

    def _ask_bytes(
        self, request: dict[str, Any], progress: mmap.mmap | None = None, contents: bytes | None = None
    ) -> bytes:
        assert self._process is not None
        try:
            return self._process.ask(request, contents, progress, self._hang_seconds)
        except BaseException:  # dead, or interrupted: the answer to this request must never meet the next one
            self._end_worker()
            raise

    def _transfer(self, request: dict[str, Any], contents: bytes | None = None) -> bytes:
        """Moves the contents of an operand."""
        try:
            return self._ask_bytes(request, contents=contents)
        except Died as death:
            raise LibraryError(f"moving the contents of an operand failed: the worker {death}") from None

    def _allocate(self, keep: bool = False) -> None:
        shapes = [{**asdict(buffer), "elements": buffer.elements} for buffer in self._buffers]
        try:
            answer = self._ask({"do": "allocate", "buffers": shapes, "keep": keep})
            self._addresses = WorkerAddresses(self._ask, answer["addresses"])
            self._lowering = Lowering(self._buffers, self.setup, self._addresses, self.ticks_per_second)
        except Died as death:
            raise LibraryError(f"allocating operands ended the worker: {death}") from None

    def _start_team(self, operations: Sequence[Operation]) -> None:
        """Makes sure there is a thread for every lane, each on a CPU of its own."""
        lanes = max(map(lanes_of, operations), default=1)
        if lanes > self._lanes:
            others = [cpu for cpu in allowed_cpus() if cpu not in self._cpus]
            cpus = [*self._cpus[::-1], *others[::-1]]
            threads = self._request.threads
            if lanes * threads > len(cpus):
                needed = f"{lanes} lanes need" if threads == 1 else f"{lanes} lanes of {threads} threads need"
                raise UsageError(f"{needed} as many CPUs, this process may use {len(cpus)}; use fewer of them")
            self._ask({"do": "team", "cpus": cpus[:lanes]})
            self._lanes = lanes

    def _open_counters(self, counters: Counters) -> None:
        types, configs = (
            zip(*(EVENTS[event] for event in counters.events), strict=True) if counters.events else ((), ())
        )
        answer = self._ask({"do": "counters", "types": types, "configs": configs, "multiplex": counters.multiplex})
        if answer["errno"]:
            raise refusal(counters, answer["failed"], answer["errno"])

    def _item_bytes(self, buffer: Buffer) -> int:
        return item_bytes(buffer.kind, self.setup.dtype, self.setup.library.integer_bits)

    def _zeros(self, shape: Buffer) -> npt.NDArray[Any]:
        """Memory for a whole operand, the gaps between its columns included."""
        letter = (
            "i" if shape.kind == "integer" else "c" if shape.kind == "element" and self.setup.dtype in "cz" else "f"
        )
        return np.zeros(shape.ld * shape.columns, dtype=f"{letter}{self._item_bytes(shape)}")

    # --- records and failures

    def _failure(self, failed: Call | Operation, death: Died, records: Records) -> KernelFailed:
        call = failed if isinstance(failed, Call) else None
        name = self._name(call) if call else str(failed)
        return KernelFailed(f"{name} {death}; setup: {self.setup}", records, call)

    def _check_calls(self, lowered: LoweredProgram, process: WorkerProcess, records: Records) -> None:
        """Refuses calls that reported an illegal value or a failure."""
        failures: list[tuple[str, Call | None]] = []
        for routine, number in dict(_ILLEGAL.findall(process.new_output())).items():
            failures += self._illegal(lowered, routine.lower(), f"refused its argument number {number} as illegal")
        for call, places in lowered.infos:
            statuses = self._memory.integers(places, self.setup.library.integer_bits)
            if (failed := np.flatnonzero(statuses)).size:
                name = self._name(call.entry(int(failed[0])))
                failures.append((f"{name} returned info = {statuses[failed[0]]}", call))
        if failures:
            first, *others = (KernelFailed(f"{what}; setup: {self.setup}", records, call) for what, call in failures)
            first.others = tuple(others)
            raise first

    def _illegal(self, lowered: LoweredProgram, routine: str, what: str) -> list[tuple[str, Call | None]]:
        """The calls that a library may mean when it names a routine: it does not say which call it was."""
        sources = {id(source): source for part in lowered.parts for source in part.sources}.values()
        calls = [s for s in sources if isinstance(s, Call) and s.kernel.routine(self.setup.dtype) == routine]
        remark = f" (or another of {len(calls)} calls of {routine})" if len(calls) > 1 else ""
        return [(f"{self._name(call)} {what}{remark}", call) for call in calls] or [(f"{routine} {what}", None)]

    def _name(self, call: Call) -> str:
        return f"{self.setup.dtype}{call}"
