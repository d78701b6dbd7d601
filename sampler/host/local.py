"""Runs nests in this process, on arrays of the caller's."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._engine import ffi, lib
from ..errors import LibraryError
from ..kernel import ITEM_BYTES
from ..libraries import library_files
from ..nest import Nest
from ..program import Buffer
from ..setup import Setup, SetupRequest, library_from_json, this_machine
from ..worker.description import describe
from ..worker.refused import Refused
from ..worker.symbols import OpenLibrary
from ..worker.vendors import vendor_of
from .lowered import LoweredProgram
from .lowering import STEP, Lowering

_TAG_BITS = 48  # above them in an address: which operand it is of


class LocalLibrary:
    """A library that is open in this process.

    It may be the one that SciPy or NumPy use: its number of threads is set for the time of a run, and
    set back.

    Parameters
    ----------
    request : SetupRequest
        Library, data type and threads.

    Raises
    ------
    LibraryError
        If the library cannot be opened.
    """

    def __init__(self, request: SetupRequest) -> None:
        files = library_files(request.library)
        try:
            self._library = OpenLibrary(**files.to_open)
        except Refused as refusal:
            raise LibraryError(str(refusal)) from None
        self._vendor = vendor_of(self._library)
        described = library_from_json(describe(self._library, self._vendor))
        self.setup = Setup(this_machine(), described, request.dtype, request.threads, pinned=False)

    def compile(self, nest: Nest, buffers: Sequence[Buffer], given: int) -> "CompiledNest":
        """Prepares a nest whose first `given` buffers are the caller's; the others are temporary.

        Raises
        ------
        LibraryError
            If the library lacks a routine.
        """
        lowering = Lowering(buffers, self.setup, _Tags(self._library, self.setup), 1.0)
        lowered = lowering.lower([nest])
        item = ITEM_BYTES[self.setup.dtype]
        temporary = [np.zeros(max(1, buffer.elements) * item, dtype=np.uint8) for buffer in buffers[given:]]
        return CompiledNest(self._vendor, self.setup.threads, lowered, lowering.pool.contents(), temporary)


class CompiledNest:
    """A nest that runs on any arrays of the layout it was compiled for; one thread at a time."""

    def __init__(
        self, vendor: Any, threads: int, lowered: LoweredProgram, pool: bytes, temporary: list[npt.NDArray[np.uint8]]
    ) -> None:
        self._vendor, self._threads = vendor, threads
        self._pool, self._temporary = np.frombuffer(pool, dtype=np.uint8).copy(), temporary
        words_address = np.zeros(len(lowered.words) + 1, dtype=np.uint64)
        self._rows, words = lowered.placed(self._pool.ctypes.data, words_address.ctypes.data)
        self._words = words_address
        self._words[: len(words)] = words
        self._word_places, self._word_owners, self._word_offsets = _tagged(lowered)
        results = np.flatnonzero(lowered.rows["result"])
        self._result_places = results
        self._result_owners, self._result_offsets = _apart(lowered.rows["result"][results])
        self._temporary_bases = np.array([array.ctypes.data for array in temporary], dtype=np.uint64)
        self._record = ffi.new("bc_record[]", len(self._rows))
        self._current = ffi.new("int64_t *")
        self._operations = ffi.cast("bc_operation *", self._rows.ctypes.data)
        self._lock = threading.Lock()

    @property
    def temporary_bytes(self) -> int:
        """What it keeps for copies."""
        return sum(array.nbytes for array in self._temporary)

    def run(self, *addresses: int) -> None:
        """Runs it on operands whose first elements are at the given addresses."""
        with self._lock:
            bases = np.array(addresses, dtype=np.uint64)
            if self._temporary:
                bases = np.concatenate([bases, self._temporary_bases])
            self._words[self._word_places] = self._word_offsets + bases[self._word_owners]
            if len(self._result_places):
                self._rows["result"][self._result_places] = self._result_offsets + bases[self._result_owners]
            before = self._vendor.threads()
            if before != self._threads:
                self._vendor.set_threads(self._threads)
            try:
                status = lib.bc_run(self._operations, len(self._rows), self._record, ffi.NULL, self._current)
            finally:
                if before != self._threads:
                    self._vendor.set_threads(before)
        if status != lib.BC_OK:
            raise LibraryError(f"the engine refused a nest (status {status})")


class _Tags:
    """Addresses that name the operand in their upper bits."""

    def __init__(self, library: OpenLibrary, setup: Setup) -> None:
        self._library, self._setup = library, setup

    def buffer(self, index: int) -> int:
        """The first element of an operand."""
        return (index + 1) << _TAG_BITS

    def original(self, index: int) -> int:
        """There are no original contents."""
        raise NotImplementedError

    def routine(self, name: str) -> int:
        """A routine of the library, or a loop of the engine."""
        routine = self._library.find(name)
        if routine == ffi.NULL:
            routine = lib.bc_loop(name.encode(), self._setup.library.integer_bits)
        if routine == ffi.NULL:
            raise LibraryError(f"{self._setup.library.name} has no routine {name}; name another library")
        return int(ffi.cast("uintptr_t", routine))

    def scratch(self, slot: tuple[int, int], elements: int) -> int:
        """Nests need none."""
        raise NotImplementedError


def _tagged(lowered: LoweredProgram) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.uint64]]:
    """The words that point to operands: where they are, whose, and how far behind its first element."""
    steps = lowered.rows[lowered.rows["kind"] == STEP]
    places = np.concatenate(
        [np.zeros(0, dtype=np.int64), *(int(row["words"]) // 8 + np.arange(int(row["word_count"])) for row in steps)]
    )
    places = places[~lowered.pooled[places] & (lowered.words[places] >> np.uint64(_TAG_BITS) != 0)]
    return places, *_apart(lowered.words[places])


def _apart(addresses: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.uint64]]:
    """Index of the operand, and bytes behind its first element."""
    owners = (addresses >> np.uint64(_TAG_BITS)).astype(np.intp) - 1
    return owners, addresses & np.uint64((1 << _TAG_BITS) - 1)
