"""The parent's side of a worker process: a back end that outlives crashes of the library under test."""

import contextlib
import fcntl
import json
import mmap
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from socket import socketpair
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from . import program
from .backend import Overhead
from .call import Call, View
from .errors import LibraryError, UsageError
from .failure import KernelFailed
from .kernel import Data, Flag, Info, Ld, Scalar, Size
from .libraries import library_path
from .program import Buffer, Operation, Records
from .setup import Library, Setup, SetupRequest, this_machine

HANG_SECONDS = 60.0
_POLL_SECONDS = 0.2
_RECORD = np.dtype([(name, np.int64) for name in ("start", "ticks", "clock", "switches")])
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
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
        self._process: _Process | None = None
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
        request, calls = self._lower(operations)
        process.shared.truncate(8 + len(operations) * _RECORD.itemsize)
        with mmap.mmap(process.shared.fileno(), 8 + len(operations) * _RECORD.itemsize) as shared:
            shared[:8] = bytes(8)
            try:
                answer = self._ask(request, shared)
            except _Died as death:
                done = int.from_bytes(shared[:8], "little")
                failed = operations[done] if done < len(operations) else operations[-1]
                raise self._failure(failed, death, self._records(shared, done)) from None
            records = self._records(shared, len(operations))
        self._check_answer(answer, calls, process, records)
        return records

    def write(self, buffer: str, values: npt.NDArray[np.floating]) -> None:
        """Sets the contents of an operand (rows x columns)."""
        index, shape = self._find(buffer)
        if values.shape != (shape.rows, shape.columns):
            raise UsageError(f"operand {buffer} is {shape.rows}x{shape.columns}, got values of shape {values.shape}")
        whole = self._zeros(shape)
        whole.reshape(shape.columns, shape.ld)[:, : shape.rows] = values.T
        self._alive()
        self._transfer({"do": "write", "buffer": index}, whole[: shape.elements].tobytes())

    def read(self, buffer: str) -> npt.NDArray[np.floating]:
        """The contents of an operand (rows x columns)."""
        index, shape = self._find(buffer)
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

    def _end_worker(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None

    # --- the worker's life

    def _alive(self) -> "_Process":
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
            self._process = _Process(self._request.threads)
        except OSError as error:
            raise LibraryError(f"a worker process cannot be started: {error}") from error
        request = {"do": "open", "path": self._path, "cpus": self._cpus, "threads": self._request.threads}
        request["item_bytes"] = 4 if self._request.dtype == "s" else 8
        try:
            return self._ask(request)
        except _Died as death:
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
        item_bytes = 4 if self._request.dtype == "s" else 8
        needed = 2 * item_bytes * sum(buffer.elements for buffer in buffers)  # with the originals to restore from
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
        except _Died as death:
            raise LibraryError(f"moving the contents of an operand failed: the worker {death}") from None

    def _allocate(self) -> None:
        shapes = [{**asdict(buffer), "elements": buffer.elements} for buffer in self._buffers]
        try:
            self._ask({"do": "allocate", "buffers": shapes})
        except _Died as death:
            raise LibraryError(f"allocating operands ended the worker: {death}") from None

    def _zeros(self, shape: Buffer) -> npt.NDArray[Any]:
        """Memory for a whole operand, the gaps between its columns included."""
        pivots = shape.structure == "pivots"
        kind = f"i{self.setup.library.integer_bits // 8}" if pivots else f"f{self.setup.item_bytes}"
        return np.zeros(shape.ld * shape.columns, dtype=kind)

    def _find(self, name: str) -> tuple[int, Buffer]:
        for index, buffer in enumerate(self._buffers):
            if buffer.name == name:
                return index, buffer
        raise UsageError(f"no operand {name!r} was allocated")

    # --- programs

    def _lower(self, operations: Sequence[Operation]) -> tuple[dict[str, Any], list[Call]]:
        """The program as JSON values: each distinct call once, then the operations."""
        calls: dict[int, int] = {}
        distinct: list[Call] = []
        lowered: list[list[Any]] = []
        for operation in operations:
            match operation:
                case program.Run(call) | program.Time(call):
                    if id(call) not in calls:
                        calls[id(call)] = len(distinct)
                        distinct.append(call)
                    lowered.append([type(operation).__name__.lower(), calls[id(call)]])
                case program.Probe(gap):
                    lowered.append(["probe", round(gap * self.ticks_per_second)])
                case program.Restore(view) | program.Touch(view) | program.Flush(view):
                    index, element = self._place(view)
                    place = [index, element, int(view.rows), int(view.columns), view.ld]
                    lowered.append([type(operation).__name__.lower(), *place])
                case _:
                    raise UsageError(f"a program holds operations, got {operation!r}")
        request = {"do": "run", "calls": [self._lower_call(call) for call in distinct], "operations": lowered}
        return request, distinct

    def _lower_call(self, call: Call) -> dict[str, Any]:
        if any(np.ndim(size) for size in call.sizes.values()):
            raise UsageError("an array-valued call can be predicted, not run: it stands for many")
        arguments: list[list[Any]] = []
        for argument in call.kernel.arguments:
            match argument:
                case Flag(name):
                    arguments.append(["flag", call.flags[name]])
                case Size(name):
                    arguments.append(["integer", int(call.sizes[name])])
                case Scalar(name):
                    arguments.append(["scalar", call.scalars[name]])
                case Data(name):
                    arguments.append(["data", self._place(call.views[name])])
                case Ld(_, of):
                    arguments.append(["integer", max(1, call.views[of].ld)])
                case Info():
                    arguments.append(["info", 0])
        return {"routine": call.kernel.routine(self.setup.dtype), "arguments": arguments}

    def _place(self, view: View) -> tuple[int, int]:
        index, buffer = self._find(view.buffer)
        inside = view.row + view.rows <= buffer.rows and view.column + view.columns <= buffer.columns
        if not inside or view.ld != buffer.ld or min(view.row, view.column, view.rows, view.columns) < 0:
            raise UsageError(f"the view {view} is not inside the operand of {buffer.rows}x{buffer.columns}")
        return index, int(view.row + view.column * view.ld)

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

    # --- failures

    def _failure(self, operation: Operation, death: "_Died", records: Records) -> KernelFailed:
        what = operation.call if isinstance(operation, program.Run | program.Time) else operation
        name = self._name(what) if isinstance(what, Call) else str(what)
        return KernelFailed(f"{name} {death}; setup: {self.setup}", records)

    def _check_answer(self, answer: dict[str, Any], calls: list[Call], process: "_Process", records: Records) -> None:
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


class _Died(Exception):
    """The worker ended, or had to be ended; its text says how."""


_lifelines: set[int] = set()


def _close_lifelines() -> None:
    """A forked child must not keep its parent's workers alive."""
    for lifeline in _lifelines:
        os.close(lifeline)
    _lifelines.clear()


os.register_at_fork(after_in_child=_close_lifelines)


def _memory_file() -> IO[bytes]:
    """A file in memory, to share with a worker: a full disk cannot harm it."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("blascast"), "w+b")
    return tempfile.TemporaryFile()


class _Process:
    """One worker process and what connects it: a socket, a lifeline and shared memory."""

    def __init__(self, threads: int) -> None:
        ours, theirs = socketpair()
        lifeline_read, self.lifeline = os.pipe()
        _lifelines.add(self.lifeline)
        self.shared, self.output = _memory_file(), _memory_file()
        descriptors = (theirs.fileno(), lifeline_read, self.shared.fileno())
        with theirs:
            self.popen = subprocess.Popen(
                [sys.executable, "-P", "-m", "blascast.sampler.worker", *map(str, descriptors)],
                pass_fds=descriptors,
                stdin=subprocess.DEVNULL,
                stdout=self.output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **dict.fromkeys(_THREAD_VARIABLES, str(threads))},
                start_new_session=True,
            )
        os.close(lifeline_read)
        self.connection = Connection(ours.detach())
        self._read_until = 0

    def ask(
        self, request: dict[str, Any], contents: bytes | None, progress: mmap.mmap | None, hang_seconds: float
    ) -> bytes:
        """Sends a request and waits for the answer, as long as operations advance.

        Raises
        ------
        _Died
            If the worker ended or hung.
        """
        try:
            self.connection.send_bytes(json.dumps(request).encode())
            if contents is not None:
                self.connection.send_bytes(contents)
            self._wait(progress, hang_seconds)
            return self.connection.recv_bytes()
        except (EOFError, OSError):
            raise _Died(self._how_it_ended()) from None

    def _wait(self, progress: mmap.mmap | None, hang_seconds: float) -> None:
        seen, since = b"", time.monotonic()
        while not self.connection.poll(_POLL_SECONDS):
            now = progress[:8] if progress is not None else b""
            if now != seen:
                seen, since = now, time.monotonic()
            if time.monotonic() - since > hang_seconds:
                raise _Died(f"did not return within {hang_seconds:.0f} s and was ended")

    def _how_it_ended(self) -> str:
        status = self.popen.wait()
        said = self.new_output().strip().splitlines()
        remark = f' (it said: "{said[-1][:200]}")' if said else ""
        if status == -signal.SIGKILL:
            return "was killed by the system, most likely because memory ran out" + remark
        if status < 0:
            return f"crashed ({signal.strsignal(-status)}){remark}"
        return f"ended its process with exit status {status}{remark}"

    def new_output(self) -> str:
        """What the library printed since this was last asked."""
        self.output.seek(self._read_until)
        text = self.output.read()
        self._read_until += len(text)
        return text.decode(errors="replace")

    def end(self) -> None:
        """Kills the process if need be and closes what connects it."""
        with contextlib.suppress(OSError):
            self.popen.kill()
        self.popen.wait()
        self.connection.close()
        _lifelines.discard(self.lifeline)
        with contextlib.suppress(OSError):
            os.close(self.lifeline)
        self.shared.close()
        self.output.close()


def allowed_cpus() -> list[int]:
    """The CPUs that this process may use."""
    return sorted(os.sched_getaffinity(0))


def claim_cpus(threads: int) -> tuple[list[int], list[IO[str]]]:
    """CPUs to pin a worker to, and the locked files that keep other workers off them.

    The last allowed ones (the first tend to serve interrupts) that no other worker of this user has
    claimed; where there are not enough of those, claimed ones as well.

    Raises
    ------
    UsageError
        If more threads than allowed CPUs are asked for.
    """
    cpus = allowed_cpus()[::-1]
    if threads > len(cpus):
        raise UsageError(f"{threads} threads need as many CPUs, this process may use {len(cpus)}; use fewer threads")
    claims: dict[int, IO[str]] = {}
    for cpu in cpus:
        if len(claims) < threads and (claim := _claim(cpu)) is not None:
            claims[cpu] = claim
    shared = [cpu for cpu in cpus if cpu not in claims]
    return sorted([*claims, *shared][:threads]), list(claims.values())


def _claim(cpu: int) -> IO[str] | None:
    """A locked file that stands for a CPU; None if another process holds it, or no file can be had."""
    try:
        file = (Path(tempfile.gettempdir()) / f"blascast-{os.getuid()}-cpu-{cpu}.lock").open("w")
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def available_memory() -> float:
    """Bytes that can be allocated without swapping."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        fields = dict(line.split(":", 1) for line in lines)
        return 1024.0 * int(fields["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        return float("inf")
