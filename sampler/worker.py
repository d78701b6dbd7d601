"""The worker process: opens one library and runs programs for the parent (see host.py).

It imports nothing but the standard library and the engine, so that the library under test is the
only BLAS in the process. Messages are JSON, and raw bytes for operand contents.
"""

import contextlib
import hashlib
import json
import mmap
import os
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ._engine import ffi, lib

STRUCTURES = {
    "general": lib.BC_GENERAL,
    "positive definite": lib.BC_SYMMETRIC_POSITIVE_DEFINITE,
    "triangular": lib.BC_TRIANGULAR,
    "pivots": lib.BC_PIVOTS,
}
PREFIXES = ("", "scipy_")
SUFFIXES = ("_", "", "64_", "_64_", "_64", "__")
KINDS = {
    "run": lib.BC_CALL,
    "time": lib.BC_TIMED_CALL,
    "restore": lib.BC_COPY,
    "touch": lib.BC_TOUCH,
    "flush": lib.BC_FLUSH,
    "probe": lib.BC_PROBE,
}
EMPTY_CALLS = 10_000
CALIBRATION_SECONDS = 0.02
DIGESTED_BYTES = 1 << 20


class Refused(Exception):
    """A request that cannot be met; its text goes back to the parent."""


class Worker:
    """Holds the library, the operands, and memory shared with the parent for the records."""

    def __init__(self, shared_descriptor: int) -> None:
        self.shared_descriptor = shared_descriptor
        self.library = ffi.NULL
        self.path = ""
        self.affixes = ("", "")
        self.integer_bits = 32
        self.item_bytes = 8
        self.buffers: list[Any] = []
        self.originals: dict[int, Any] = {}
        self.shapes: list[dict[str, Any]] = []

    def open(self, request: dict[str, Any]) -> dict[str, Any]:
        """Pins this process, opens the library, probes it, and measures the clock."""
        os.sched_setaffinity(0, request["cpus"])
        self.path = request["path"]
        self.library = lib.bc_open(os.fsencode(self.path))
        if self.library == ffi.NULL:
            raise Refused(f"cannot open {request['path']}: {ffi.string(lib.bc_open_error()).decode()}")
        self.affixes = self._probe_affixes(request["path"])
        self.integer_bits = self._probe_integer_bits()
        self.item_bytes = request["item_bytes"]
        return {
            **describe_threading(request["path"], request["threads"]),
            "build": digest(request["path"]),
            "prefix": self.affixes[0],
            "suffix": self.affixes[1],
            "integer_bits": self.integer_bits,
            "ticks_per_second": lib.bc_ticks_per_second(CALIBRATION_SECONDS),
            "overhead_ticks": empty_call_ticks()[1],
            "empty_call_ticks": empty_call_ticks(),
            "clock": ffi.string(lib.bc_clock_name()).decode(),
        }

    def _probe_affixes(self, path: str) -> tuple[str, str]:
        for prefix in PREFIXES:
            for suffix in SUFFIXES:
                if self._symbol(f"{prefix}dcopy{suffix}") != ffi.NULL:
                    return prefix, suffix
        raise Refused(f"{path} has no routine dcopy under any known prefix and suffix: not a BLAS library?")

    def _probe_integer_bits(self) -> int:
        """Copies n elements, n being 3 in its lower half and negative as a whole (as libblastrampoline does)."""
        n, increment = ffi.new("int64_t *", -(2**32) + 3), ffi.new("int64_t *", 1)
        source, target = ffi.new("double[]", [1.0, 2.0, 3.0]), ffi.new("double[]", 3)
        pointers = (n, source, increment, target, increment)
        words = pad([address(pointer) for pointer in pointers])
        lib.bc_call(self._symbol(self.symbol("dcopy")), words, len(pointers))
        return 32 if list(target) == list(source) else 64

    def _symbol(self, name: str) -> Any:
        return lib.bc_symbol(self.library, name.encode())

    def symbol(self, routine: str) -> str:
        """The library's symbol for a routine."""
        return f"{self.affixes[0]}{routine}{self.affixes[1]}"

    def allocate(self, request: dict[str, Any]) -> dict[str, Any]:
        """Replaces all operands by new, seeded ones."""
        for memory in (*self.buffers, *self.originals.values()):
            lib.bc_release(memory)
        self.buffers, self.originals, self.shapes = [], {}, request["buffers"]
        for index in range(len(self.shapes)):
            self.buffers.append(self._filled(index))
        return {}

    def _filled(self, index: int) -> Any:
        shape = self.shapes[index]
        size = max(1, shape["elements"]) * self._bytes(index)
        memory = lib.bc_allocate(size)
        if memory == ffi.NULL:
            raise Refused(f"no memory for an operand of {size / 1e9:.2f} GB; choose smaller sizes")
        structure, rows, columns, ld = (STRUCTURES[shape["structure"]], shape["rows"], shape["columns"], shape["ld"])
        lib.bc_fill(memory, structure, self._bytes(index), rows, columns, ld, shape["seed"])
        return memory

    def _bytes(self, index: int) -> int:
        """Of one element of an operand."""
        return self.integer_bits // 8 if self.shapes[index]["structure"] == "pivots" else self.item_bytes

    def _make_original(self, index: int) -> None:
        """Makes a second copy of an operand as it was filled, when first needed."""
        if index not in self.originals:
            self.originals[index] = self._filled(index)

    def write(self, request: dict[str, Any], contents: bytes) -> dict[str, Any]:
        """Sets an operand's contents (whole buffer, gaps between columns included)."""
        ffi.memmove(ffi.cast("char *", self.buffers[request["buffer"]]), contents, len(contents))
        return {}

    def read(self, request: dict[str, Any]) -> bytes:
        """An operand's contents (whole buffer)."""
        index = request["buffer"]
        size = self.shapes[index]["elements"] * self._bytes(index)
        return bytes(ffi.buffer(ffi.cast("char *", self.buffers[index]), size))

    def triad(self, request: dict[str, Any]) -> dict[str, Any]:
        """Runs the triad on threads pinned to the given CPUs, for the memory's bandwidth."""
        cpus = ffi.new("int32_t[]", request["cpus"])
        ticks = lib.bc_triad_ticks(cpus, len(cpus), request["elements"], request["repetitions"])
        if ticks < 0:
            raise Refused(f"no memory or no threads for a triad on {len(cpus)} CPUs; use fewer threads")
        return {"ticks": ticks}

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """Runs a program; the records are left in shared memory, behind the index of the current operation."""
        keep: list[Any] = []
        calls = [self._lower_call(call, keep) for call in request["calls"]]
        operations = self._lower_operations(request["operations"], calls)
        count = len(request["operations"])
        with mmap.mmap(self.shared_descriptor, 8 + count * ffi.sizeof("bc_record")) as shared:
            memory = ffi.from_buffer(shared)
            current, records = ffi.cast("int64_t *", memory), ffi.cast("bc_record *", memory + 8)
            status = lib.bc_run(operations, count, records, current)
            ffi.release(memory)
        if status != lib.BC_OK:
            raise Refused(f"the engine refused the program (status {status})")
        return {"infos": [int(call["info"][0]) if call["info"] else 0 for call in calls]}

    def _lower_call(self, call: dict[str, Any], keep: list[Any]) -> dict[str, Any]:
        routine = self._symbol(self.symbol(call["routine"]))
        if routine == ffi.NULL:
            symbol = self.symbol(call["routine"])
            raise Refused(f"{self.path} has no routine {call['routine']} (symbol {symbol}); name another library")
        words, lengths, info = [], [], None
        for kind, value in call["arguments"]:
            pointer = self._argument(kind, value)
            info = pointer if kind == "info" else info
            lengths += [len(value)] if kind == "flag" else []
            keep.append(pointer)
            words.append(address(pointer))
        padded = pad(words + lengths)
        keep.append(padded)
        return {"routine": routine, "words": padded, "count": len(words) + len(lengths), "info": info}

    def _argument(self, kind: str, value: Any) -> Any:
        match kind:
            case "flag":
                return ffi.new("char[]", value.encode())
            case "integer" | "info":
                return ffi.new(f"int{self.integer_bits}_t *", value)
            case "scalar":
                return ffi.new("double *" if self.item_bytes == 8 else "float *", value)
        return self._at(self.buffers, *value)

    def _at(self, memories: Any, index: int, element: int) -> Any:
        return ffi.cast("char *", memories[index]) + element * self._bytes(index)

    def _lower_operations(self, operations: list[list[Any]], calls: list[dict[str, Any]]) -> Any:
        lowered = ffi.new("bc_operation[]", len(operations))
        for target, (kind, *values) in zip(lowered, operations, strict=True):
            target.kind = KINDS[kind]
            if kind in ("run", "time"):
                call = calls[values[0]]
                target.routine, target.words, target.word_count = call["routine"], call["words"], call["count"]
            elif kind == "probe":
                target.minimum_gap_ticks = values[0]
            else:
                index, element, rows, columns, ld = values
                target.target = self._at(self.buffers, index, element)
                target.column_bytes, target.columns = rows * self._bytes(index), columns
                target.stride_bytes = ld * self._bytes(index)
                if kind == "restore":
                    self._make_original(index)
                    target.source = self._at(self.originals, index, element)
        return lowered


def address(pointer: Any) -> int:
    """A pointer as a machine word."""
    return int(ffi.cast("uintptr_t", pointer))


def pad(words: list[int]) -> Any:
    """The words of a call in an array of the engine's full width."""
    if len(words) > lib.BC_MAX_WORDS:
        raise Refused(f"a call may have {lib.BC_MAX_WORDS} arguments and string lengths, this one has {len(words)}")
    return ffi.new("uintptr_t[]", words + [0] * (lib.BC_MAX_WORDS - len(words)))


def empty_call_ticks() -> list[int]:
    """10th percentile, median and 90th percentile of the ticks of an empty timed call."""
    words = pad([])
    routine = lib.bc_nothing_address()
    operation = {"kind": lib.BC_TIMED_CALL, "words": words, "word_count": 16, "routine": routine}
    operations = ffi.new("bc_operation[]", [operation] * EMPTY_CALLS)
    records = ffi.new("bc_record[]", EMPTY_CALLS)
    lib.bc_run(operations, EMPTY_CALLS, records, ffi.new("int64_t *"))
    ticks = sorted(record.ticks for record in records)
    return [ticks[EMPTY_CALLS * percent // 100] for percent in (10, 50, 90)]


def digest(path: str) -> str:
    """Tells builds of a library apart: from its size, beginning and end (headers and symbol tables)."""
    name, real = Path(path).name, Path(path)
    if not real.is_file():  # a soname: the loader knows where it is
        mapped = [line.split(maxsplit=5)[-1].strip() for line in Path("/proc/self/maps").read_text().splitlines()]
        real = Path(next((file for file in mapped if Path(file).name.startswith(name)), path))
    try:
        with real.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            contents = file.read(DIGESTED_BYTES)
            file.seek(max(0, size - DIGESTED_BYTES))
            contents += file.read()
    except OSError:
        return ""
    return hashlib.sha256(str(size).encode() + contents).hexdigest()[:12]


def describe_threading(path: str, threads: int) -> dict[str, Any]:
    """Sets the number of threads through the library's own interface and reads it back."""
    from threadpoolctl import ThreadpoolController

    real = os.path.realpath(path)
    for controller in ThreadpoolController().lib_controllers:
        if os.path.realpath(controller.filepath) == real or Path(path).name in controller.filepath:
            controller.set_num_threads(threads)
            return {
                "name": {"openblas": "OpenBLAS", "mkl": "MKL", "blis": "BLIS"}.get(controller.internal_api, ""),
                "version": controller.version or "",
                "core": getattr(controller, "architecture", "") or "",
                "threads": controller.get_num_threads() or 1,
            }
    return {"name": "", "version": "", "core": "", "threads": 1}


def serve(connection: Connection, worker: Worker) -> None:
    """Answers requests until the parent closes the connection."""
    while True:
        request = json.loads(connection.recv_bytes())
        contents = connection.recv_bytes() if request["do"] == "write" else None
        try:
            arguments = (request,) if contents is None else (request, contents)
            answer = getattr(worker, request["do"])(*arguments)
            reply = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        except Refused as refusal:
            reply = json.dumps({"refused": str(refusal)}).encode()
        connection.send_bytes(reply)


def main(arguments: list[str]) -> None:
    """Entry point: descriptors of the connection, of the lifeline and of the shared memory."""
    connection, lifeline, shared = map(int, arguments)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt ends
    lib.bc_exit_when_closed(lifeline)
    with contextlib.suppress(EOFError):
        serve(Connection(connection), Worker(shared))


if __name__ == "__main__":
    main(sys.argv[1:])
