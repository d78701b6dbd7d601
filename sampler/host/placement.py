"""The memory that programs are placed in: shared with a worker, which runs them from there."""

import mmap
from collections.abc import Callable
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from .lowered import OPERATION, LoweredProgram

_LEAST_BYTES = 1 << 20
_ALIGNMENT = 64


class ProgramMemory:
    """Holds one program at a time: the pool of constants, then words, then operations.

    Parameters
    ----------
    file : file in memory
        The worker has it open too.
    ask : callable
        Sends a request to the worker and returns its answer.
    """

    def __init__(self, file: IO[bytes], ask: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self._file, self._ask = file, ask
        self._mapped: mmap.mmap | None = None
        self._address = 0

    def place(self, program: LoweredProgram, pool: bytes) -> int:
        """Writes a program; the address of its operations in the worker."""
        words_at = _aligned(len(pool))
        rows_at = _aligned(words_at + 8 * len(program.words))
        memory = self._room(rows_at + len(program.rows) * OPERATION.itemsize)
        rows, words = program.placed(self._address, self._address + words_at)
        memory[: len(pool)] = pool
        _array(memory, np.dtype(np.uint64), words_at, len(words))[:] = words
        _array(memory, OPERATION, rows_at, len(rows))[:] = rows
        return self._address + rows_at

    def integers(self, places: npt.NDArray[np.int64], bits: int) -> npt.NDArray[np.int64]:
        """Integers of the pool."""
        assert self._mapped is not None
        slots = _array(self._mapped, np.dtype(np.int64), 0, len(self._mapped) // 8)
        return slots[places // 8].astype(np.int32 if bits == 32 else np.int64).astype(np.int64)

    def _room(self, size: int) -> mmap.mmap:
        """The memory, at least that large."""
        if self._mapped is None or len(self._mapped) < size:
            room = max(_LEAST_BYTES, 1 << (size - 1).bit_length())
            self._file.truncate(room)
            self._mapped = mmap.mmap(self._file.fileno(), room)
            self._address = int(self._ask({"do": "program", "bytes": room})["address"])
        return self._mapped


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _array(memory: mmap.mmap, dtype: np.dtype[Any], offset: int, count: int) -> npt.NDArray[Any]:
    return np.frombuffer(memory, dtype=dtype, count=count, offset=offset)
