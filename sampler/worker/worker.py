"""What a worker does for its parent: holds the library and the operands, and runs programs.

Messages are JSON, and raw bytes for operand contents.
"""

import mmap
import os
from pathlib import Path
from typing import IO, Any

from .._engine import ffi, lib
from .description import describe
from .refused import Refused
from .symbols import OpenLibrary
from .threads import pin_threads, thread_ids
from .vendors import vendor_of

STRUCTURES = {
    "general": lib.BC_GENERAL,
    "positive definite": lib.BC_POSITIVE_DEFINITE,
    "triangular": lib.BC_TRIANGULAR,
    "pivots": lib.BC_PIVOTS,
    "reflectors": lib.BC_REFLECTORS,
    "Schur form": lib.BC_SCHUR,
    "shifted Schur form": lib.BC_SHIFTED_SCHUR,
    "packed triangular": lib.BC_PACKED_TRIANGULAR,
    "modified rotation": lib.BC_MODIFIED_ROTATION,
}
NUMBERS = {"s": lib.BC_FLOAT, "d": lib.BC_DOUBLE, "c": lib.BC_FLOAT_COMPLEX, "z": lib.BC_DOUBLE_COMPLEX}
NUMBER_BYTES = {lib.BC_INT32: 4, lib.BC_INT64: 8, lib.BC_FLOAT: 4, lib.BC_DOUBLE: 8}
NUMBER_BYTES |= {lib.BC_FLOAT_COMPLEX: 8, lib.BC_DOUBLE_COMPLEX: 16}
WIDEST_BYTES = 16
EMPTY_CALLS = 10_000
CALIBRATION_SECONDS = 0.02


class Worker:
    """Holds the library, the operands, and memory shared with the parent for the records."""

    def __init__(self, records_descriptor: int, program_descriptor: int) -> None:
        self.records_descriptor, self.program_descriptor = records_descriptor, program_descriptor
        self.library: OpenLibrary
        self.path = ""
        self.integer_bits = 32
        self.dtype = "d"
        self.buffers: list[Any] = []
        self.originals: list[Any] = []
        self.scratches: list[Any] = []
        self.shapes: list[dict[str, Any]] = []
        self.mapped: Any = None

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
        self.dtype = request["dtype"]
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
        """Replaces operands (to keep: but those of the same shape and name) by new, seeded ones, in no cache."""
        there = dict(zip(map(str, self.shapes), self.buffers, strict=False))
        shapes = [str(shape) for shape in request["buffers"]]
        stay = {shape: there.pop(shape) for shape in shapes if request["keep"] and shape in there}
        for memory in (*there.values(), *self.originals, *self.scratches):
            lib.bc_release(memory)
        self.buffers, self.originals, self.scratches, self.shapes = [], [], [], request["buffers"]
        for index, shape in enumerate(shapes):
            self.buffers.append(stay.get(shape) or self._filled(index))
        return {"addresses": [address(memory) for memory in self.buffers]}

    def _filled(self, index: int) -> Any:
        shape, numbers = self.shapes[index], self._numbers(index)
        size = shape["elements"] * NUMBER_BYTES[numbers]
        memory = self._allocated(size)
        structure, rows, columns, ld = (STRUCTURES[shape["structure"]], shape["rows"], shape["columns"], shape["ld"])
        period = shape["period"] or max(1, columns)
        for first in range(0, columns, period):
            part = ffi.cast("char *", memory) + first * ld * NUMBER_BYTES[numbers]
            lib.bc_fill(part, structure, numbers, rows, min(period, columns - first), ld, shape["seed"])
        lib.bc_flush(ffi.cast("char *", memory), size, 1, size)
        return memory

    def _allocated(self, size: int) -> Any:
        memory = lib.bc_allocate(size)
        if memory == ffi.NULL:
            raise Refused(f"no memory for an operand of {size / 1e9:.2f} GB; choose smaller sizes")
        return memory

    def _numbers(self, index: int) -> int:
        """What an operand holds."""
        match self.shapes[index]["kind"]:
            case "integer":
                return int(lib.BC_INT64 if self.integer_bits == 64 else lib.BC_INT32)
            case "real":
                return int(lib.BC_FLOAT if self.dtype in "sc" else lib.BC_DOUBLE)
            case "double":
                return int(lib.BC_DOUBLE)
        return int(NUMBERS[self.dtype])

    def original(self, request: dict[str, Any]) -> dict[str, Any]:
        """Makes a second copy of an operand as it was filled."""
        self.originals.append(self._filled(request["buffer"]))
        return {"address": address(self.originals[-1])}

    def scratch(self, request: dict[str, Any]) -> dict[str, Any]:
        """Makes scratch memory for so many elements of any kind."""
        self.scratches.append(self._allocated(request["elements"] * WIDEST_BYTES))
        return {"address": address(self.scratches[-1])}

    def routine(self, request: dict[str, Any]) -> dict[str, Any]:
        """Finds a routine in the library, or a loop of the engine."""
        routine = self.library.find(request["name"])
        if routine == ffi.NULL:
            routine = lib.bc_loop(request["name"].encode(), self.integer_bits)
        if routine == ffi.NULL:
            symbol = self.library.symbol(request["name"])
            raise Refused(f"{self.path} has no routine {request['name']} (symbol {symbol}); name another library")
        return {"address": address(routine)}

    def team(self, request: dict[str, Any]) -> dict[str, Any]:
        """Starts the threads of parallel regions, one for each CPU."""
        status = lib.bc_team(ffi.new("int32_t[]", request["cpus"]), len(request["cpus"]))
        if status:
            raise Refused(f"no threads for {len(request['cpus'])} lanes: {os.strerror(status)}")
        return {}

    def counters(self, request: dict[str, Any]) -> dict[str, Any]:
        """Opens counters; the errno and the index of the one that cannot be had, if any."""
        types, configs = ffi.new("int32_t[]", request["types"]), ffi.new("int64_t[]", request["configs"])
        failed = ffi.new("int *")
        status = lib.bc_counters_open(types, configs, len(request["types"]), request["multiplex"], failed)
        return {"errno": status, "failed": failed[0]}

    def shares(self, request: dict[str, Any]) -> dict[str, Any]:
        """The share of the time that each counter counted."""
        return {"shares": [lib.bc_counters_share(i) for i in range(lib.bc_counter_count())]}

    def write(self, request: dict[str, Any], contents: bytes) -> dict[str, Any]:
        """Sets an operand's contents (whole buffer, gaps between columns included)."""
        ffi.memmove(ffi.cast("char *", self.buffers[request["buffer"]]), contents, len(contents))
        return {}

    def read(self, request: dict[str, Any]) -> bytes:
        """An operand's contents (whole buffer)."""
        index = request["buffer"]
        size = self.shapes[index]["elements"] * NUMBER_BYTES[self._numbers(index)]
        return bytes(ffi.buffer(ffi.cast("char *", self.buffers[index]), size))

    def triad(self, request: dict[str, Any]) -> dict[str, Any]:
        """Runs the triad on threads pinned to the given CPUs, for the memory's bandwidth."""
        cpus = ffi.new("int32_t[]", request["cpus"])
        ticks = lib.bc_triad_ticks(cpus, len(cpus), request["elements"], request["repetitions"])
        if ticks < 0:
            raise Refused(f"no memory or no threads for a triad on {len(cpus)} CPUs; use fewer threads")
        return {"ticks": ticks}

    def program(self, request: dict[str, Any]) -> dict[str, Any]:
        """Maps the memory in which the parent places programs."""
        self.mapped = mmap.mmap(self.program_descriptor, request["bytes"])
        return {"address": address(ffi.from_buffer(self.mapped))}

    def _records_file(self, path: str | None) -> IO[bytes]:
        return Path(path).open("r+b") if path else os.fdopen(self.records_descriptor, "r+b", closefd=False)

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """Runs the program that was placed; its records are left behind the index of the current operation."""
        count, counters = request["count"], lib.bc_counter_count()
        operations = ffi.cast("bc_operation *", request["operations"])
        records_bytes = count * ffi.sizeof("bc_record")
        with self._records_file(request["left_in"]) as file:
            shared = mmap.mmap(file.fileno(), 8 + records_bytes + 8 * count * counters)
        with shared:
            memory = ffi.from_buffer(shared)
            current, records = ffi.cast("int64_t *", memory), ffi.cast("bc_record *", memory + 8)
            counted = ffi.cast("int64_t *", memory + 8 + records_bytes) if counters else ffi.NULL
            status = lib.bc_run(operations, count, records, counted, current)
            ffi.release(memory)
        if status != lib.BC_OK:
            raise Refused(f"the engine refused the program (status {status})")
        return {}


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
    lib.bc_run(operations, EMPTY_CALLS, records, ffi.NULL, ffi.new("int64_t *"))
    ticks = sorted(record.ticks for record in records)
    return [ticks[EMPTY_CALLS * percent // 100] for percent in (10, 50, 90)]
