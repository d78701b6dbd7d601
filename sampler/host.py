"""The parent's side of a worker process: a back end that outlives crashes of the library under test."""

import json
import mmap
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import program
from .backend import Overhead
from .call import Call
from .errors import LibraryError, UsageError
from .failure import KernelFailed
from .kernel import ITEM_BYTES
from .libraries import library_path
from .lowering import Lowering
from .process import Died, WorkerProcess
from .program import Buffer, Operation, Records
from .resources import allowed_cpus, available_memory, claim_cpus
from .setup import Library, Setup, SetupRequest, this_machine

HANG_SECONDS = 60.0
TRIAD_BYTES = 24  # of one element of a := b + s c
TRIAD_REPETITIONS = 5
_RECORD = np.dtype([(name, np.int64) for name in ("start", "ticks", "clock", "switches")])
_ILLEGAL = re.compile(r"[Oo]n entry to\s+(\w+)\s*,?\s*parameter number\s+(\d+)")


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
        self._path = library_path(request.library)
        self._cpus, self._claims = claim_cpus(request.threads)
        self._buffers: tuple[Buffer, ...] = ()
        self._process: WorkerProcess | None = None
        self._closed = False
        try:
            self._opened = self._start()
            self.setup = self._describe()
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

    def allocate(self, buffers: Sequence[Buffer]) -> None:
        """Replaces all operands by new ones.

        Raises
        ------
        UsageError
            If they would not fit into the memory that is available.
        """
        for buffer in buffers:
            if buffer.rows < 0 or buffer.columns < 0 or buffer.ld < max(1, buffer.rows):
                raise UsageError(f"an operand needs sizes >= 0 and ld >= max(1, rows), got {buffer}")
        self._check_memory(buffers)
        self._buffers = tuple(buffers)
        self._alive()
        self._allocate()

    def run(self, operations: Sequence[Operation]) -> Records:
        """Runs a program; see `Backend.run`."""
        process = self._alive()
        request, calls = self._lowering.lower(operations)
        process.shared.truncate(8 + len(operations) * _RECORD.itemsize)
        with mmap.mmap(process.shared.fileno(), 8 + len(operations) * _RECORD.itemsize) as shared:
            shared[:8] = bytes(8)
            try:
                answer = self._ask(request, shared)
            except Died as death:
                done = int.from_bytes(shared[:8], "little")
                failed = operations[done] if done < len(operations) else operations[-1]
                raise self._failure(failed, death, self._records(shared, done)) from None
            records = self._records(shared, len(operations))
        self._check_answer(answer, calls, process, records)
        return records

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

    def write(self, buffer: str, values: npt.NDArray[np.floating]) -> None:
        """Sets the contents of an operand (rows x columns)."""
        index, shape = self._lowering.find(buffer)
        if values.shape != (shape.rows, shape.columns):
            raise UsageError(f"operand {buffer} is {shape.rows}x{shape.columns}, got values of shape {values.shape}")
        whole = self._zeros(shape)
        whole.reshape(shape.columns, shape.ld)[:, : shape.rows] = values.T
        self._alive()
        self._transfer({"do": "write", "buffer": index}, whole[: shape.elements].tobytes())

    def read(self, buffer: str) -> npt.NDArray[np.floating]:
        """The contents of an operand (rows x columns)."""
        index, shape = self._lowering.find(buffer)
        whole = self._zeros(shape)
        self._alive()
        whole[: shape.elements] = np.frombuffer(self._transfer({"do": "read", "buffer": index}), dtype=whole.dtype)
        return np.array(whole.reshape(shape.columns, shape.ld)[:, : shape.rows].T, order="F")

    def close(self) -> None:
        """Ends the worker and gives its CPUs back; no program can be run any more."""
        self._end_worker()
        for claim in self._claims:
            claim.close()
        self._closed = True

    @property
    def _lowering(self) -> Lowering:
        return Lowering(self._buffers, self.setup.dtype, self.ticks_per_second)

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
            if self._buffers:
                self._allocate()
        assert self._process is not None
        return self._process

    def _start(self) -> dict[str, Any]:
        try:
            self._process = WorkerProcess(self._request.threads)
        except OSError as error:
            raise LibraryError(f"a worker process cannot be started: {error}") from error
        request = {"do": "open", "path": self._path, "cpus": self._cpus, "threads": self._request.threads}
        request["item_bytes"] = ITEM_BYTES[self._request.dtype]
        try:
            return self._ask(request)
        except Died as death:
            raise LibraryError(f"opening {self._path} ended the worker: {death}") from None

    def _describe(self) -> Setup:
        opened, threads = self._opened, self._request.threads
        if opened["threads"] != threads:
            raise LibraryError(
                f"{threads} threads were asked for, {Path(self._path).name} has {opened['threads']} in force; "
                f"use --threads {opened['threads']} or a multi-threaded library"
            )
        library = Library(
            name=opened["name"] or Path(self._path).name.split(".")[0],
            version=opened["version"],
            core=opened["core"],
            file=Path(self._path).name,
            build=opened["build"],
            integer_bits=opened["integer_bits"],
            prefix=opened["prefix"],
            suffix=opened["suffix"],
        )
        return Setup(this_machine(), library, self._request.dtype, threads, pinned=True)

    def _check_memory(self, buffers: Sequence[Buffer]) -> None:
        elements = 2 * sum(buffer.elements for buffer in buffers)  # with the originals to restore from
        needed = ITEM_BYTES[self._request.dtype] * elements
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

    def _allocate(self) -> None:
        shapes = [{**asdict(buffer), "elements": buffer.elements} for buffer in self._buffers]
        try:
            self._ask({"do": "allocate", "buffers": shapes})
        except Died as death:
            raise LibraryError(f"allocating operands ended the worker: {death}") from None

    def _zeros(self, shape: Buffer) -> npt.NDArray[Any]:
        """Memory for a whole operand, the gaps between its columns included."""
        pivots = shape.structure == "pivots"
        kind = f"i{self.setup.library.integer_bits // 8}" if pivots else f"f{self.setup.item_bytes}"
        return np.zeros(shape.ld * shape.columns, dtype=kind)

    # --- records and failures

    def _records(self, shared: mmap.mmap, count: int) -> Records:
        raw = np.frombuffer(shared[8 : 8 + count * _RECORD.itemsize], dtype=_RECORD)
        rate, overhead = self.ticks_per_second, self._opened["overhead_ticks"]
        timed = (raw["ticks"] >= 0) & (raw["clock"] < 0)
        probed = raw["clock"] >= 0
        return Records(
            start=raw["start"] / rate,
            seconds=np.where(timed, np.maximum(raw["ticks"] - overhead, 0) / rate, -1.0),
            branch=np.where(probed, raw["ticks"] / rate, -1.0),
            clock=np.where(probed, raw["clock"] / rate, -1.0),
            switches=raw["switches"],
        )

    def _failure(self, operation: Operation, death: Died, records: Records) -> KernelFailed:
        what = operation.call if isinstance(operation, program.Run | program.Time) else operation
        name = self._name(what) if isinstance(what, Call) else str(what)
        return KernelFailed(f"{name} {death}; setup: {self.setup}", records)

    def _check_answer(
        self, answer: dict[str, Any], calls: list[Call], process: WorkerProcess, records: Records
    ) -> None:
        for call, info in zip(calls, answer["infos"], strict=True):
            if info != 0:
                raise KernelFailed(f"{self._name(call)} returned info = {info}; setup: {self.setup}", records)
        if illegal := _ILLEGAL.search(process.new_output()):
            routine, number = illegal[1].lower(), illegal[2]
            call_named = next((c for c in calls if c.kernel.routine(self.setup.dtype) == routine), None)
            name = self._name(call_named) if call_named else routine
            raise KernelFailed(f"{name} refused its argument number {number} as illegal; setup: {self.setup}", records)

    def _name(self, call: Call) -> str:
        return f"{self.setup.dtype}{call}"
