"""The worker process: opens one library and runs programs for the parent (see host.py).

Neither it nor what it imports leads to more than the standard library and the engine, so that the library
under test is the only BLAS in the process. Messages are JSON, and raw bytes for operand contents.
"""

import contextlib
import json
import mmap
import os
import signal
import sys
from multiprocessing.connection import Connection
from typing import Any

from ._engine import ffi, lib
from .description import describe
from .refused import Refused
from .symbols import OpenLibrary
from .threads import pin_threads, thread_ids
from .vendors import vendor_of

STRUCTURES = {
    "general": lib.BC_GENERAL,
    "positive definite": lib.BC_SYMMETRIC_POSITIVE_DEFINITE,
    "triangular": lib.BC_TRIANGULAR,
    "pivots": lib.BC_PIVOTS,
}
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


class Worker:
    """Holds the library, the operands, and memory shared with the parent for the records."""

    def __init__(self, shared_descriptor: int) -> None:
        self.shared_descriptor = shared_descriptor
        self.library: OpenLibrary
        self.path = ""
        self.integer_bits = 32
        self.item_bytes = 8
        self.buffers: list[Any] = []
        self.originals: dict[int, Any] = {}
        self.shapes: list[dict[str, Any]] = []

    def open(self, request: dict[str, Any]) -> dict[str, Any]:
        """Pins this process, opens the library, sets its threads, and measures the clock."""
        os.sched_setaffinity(0, request["cpus"])
        others = thread_ids()
        self.library = OpenLibrary(**request["files"])
        if request["complex"] and not self.library.fits_complex:
            raise Refused(
                "complex functions must give their values as the LAPACK expects them, those of "
                f"{request['files']['blas']} do not; name another BLAS, or time real data"
            )
        self.path = request["files"]["blas"]
        self.integer_bits = self.library.integer_bits
        self.item_bytes = request["item_bytes"]
        vendor = vendor_of(self.library)
        vendor.set_threads(len(request["cpus"]))
        threads = vendor.threads()
        return {
            "library": describe(self.library, vendor),
            "threads": threads,
            "pinned": threads == len(request["cpus"]) and pin_threads(self.library, request["cpus"], others),
            "ticks_per_second": lib.bc_ticks_per_second(CALIBRATION_SECONDS),
            "overhead_ticks": empty_call_ticks()[1],
            "empty_call_ticks": empty_call_ticks(),
            "clock": ffi.string(lib.bc_clock_name()).decode(),
        }

    def inspect(self, request: dict[str, Any]) -> dict[str, Any]:
        """Opens a library only to describe it: what it is, and which of some routines it has."""
        library = OpenLibrary(**request["files"])
        routines = [routine for routine in request["routines"] if library.find(routine) != ffi.NULL]
        return {"library": describe(library, vendor_of(library)), "routines": routines}

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
        routine = self.library.find(call["routine"])
        if routine == ffi.NULL:
            symbol = self.library.symbol(call["routine"])
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
