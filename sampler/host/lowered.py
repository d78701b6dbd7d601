"""Lowered operations: what the engine reads, and how several are put together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..call import Call
from ..program import Operation

# As in csrc/engine.cdef.h
OPERATION = np.dtype(
    [
        *(("kind", np.int32), ("word_count", np.int32), ("words", np.uint64), ("routine", np.uint64)),
        *(("result", np.uint64), ("returns", np.int32), ("lane", np.int32)),
        *(("target", np.uint64), ("source", np.uint64)),
        *(("column_bytes", np.int64), ("columns", np.int64), ("stride_bytes", np.int64), ("amount", np.int64)),
        *(("adds", np.int32), ("beta", np.int32), ("hidden", np.int32), ("unused", np.int32)),
    ]
)

Integers: TypeAlias = npt.NDArray[np.int64]
Words: TypeAlias = npt.NDArray[np.uint64]
Rows: TypeAlias = npt.NDArray[np.void]


@dataclass(frozen=True, slots=True, eq=False)
class Lowered:
    """An operation as the engine reads it.

    Parameters
    ----------
    rows : array of OPERATION of shape (n_entries, width)
        For each entry the engine's operations; `words` counts from the first of `words`.
    words : integer array
        Words of all calls.
    pooled : boolean array of the same shape
        Which words are offsets into the pool of constants.
    sources : tuple of length `width`
        What each column stands for, to name it when it fails.
    infos : tuple of (Call, integer array of shape (n_entries,))
        Where in the pool each call's status is.
    """

    rows: Rows
    words: Words
    pooled: npt.NDArray[np.bool_]
    sources: tuple[Call | Operation, ...]
    infos: tuple[tuple[Call, Integers], ...] = ()


class Pool:
    """Constants that words point to: sizes, flags, scalars, and room for the status of each call."""

    def __init__(self) -> None:
        self._places: dict[Any, int] = {}
        self._contents = bytearray()

    def place(self, contents: bytes) -> int:
        """Where a constant is."""
        if contents not in self._places:
            start = self._places[contents] = self.reserve(len(contents))
            self._contents[start : start + len(contents)] = contents
        return self._places[contents]

    def places(self, integers: Integers) -> Integers:
        """Where integers are (64 bits; the lower half is the same number of 32 bits)."""
        if integers.ndim == 0:
            return np.array(self.place(int(integers).to_bytes(8, "little", signed=True)))
        distinct, inverse = np.unique(integers, return_inverse=True)
        places = [self.place(int(integer).to_bytes(8, "little", signed=True)) for integer in distinct]
        return np.array(places)[inverse.reshape(integers.shape)]

    def reserve(self, count: int) -> int:
        """Room for so many bytes, zeros, at a multiple of 16."""
        start = len(self._contents)
        self._contents.extend(bytes(-(-count // 16) * 16))
        return start

    def contents(self) -> bytes:
        """All of it, with every status zero."""
        return bytes(self._contents)


@dataclass(frozen=True, slots=True, eq=False)
class LoweredProgram:
    """A whole program, ready to be placed into the worker's memory.

    Parameters
    ----------
    rows : array of OPERATION
        `words` counts from the first of `words`.
    words : integer array
    pooled : boolean array
        Which words are offsets into the pool.
    parts : list of Lowered
        The operations, in order.
    ends : integer array
        Index of the first row behind each part.
    """

    rows: Rows
    words: Words
    pooled: npt.NDArray[np.bool_]
    parts: list[Lowered]
    ends: Integers

    def placed(self, pool_address: int, words_address: int) -> tuple[Rows, Words]:
        """Rows and words for a pool and words at the given addresses."""
        rows = self.rows.copy()
        has_words = rows["word_count"] != 0
        rows["words"][has_words] += np.uint64(words_address)
        return rows, self.words + self.pooled * np.uint64(pool_address)

    def source(self, index: int) -> Call | Operation:
        """What a row stands for."""
        part = int(np.searchsorted(self.ends, index, side="right"))
        lowered = self.parts[part]
        entry, column = divmod(index - int(self.ends[part]) + lowered.rows.size, lowered.rows.shape[1])
        source: Call | Operation = lowered.sources[column]
        if isinstance(source, Call) and lowered.rows.shape[0] > 1:
            return source.entry(entry)
        return source

    @property
    def infos(self) -> list[tuple[Call, Integers]]:
        """Every call with a status, and where the statuses of its entries are."""
        distinct = {id(part): part for part in self.parts}
        return [info for part in distinct.values() for info in part.infos]


def rows_of(entries: int, kind: int) -> Rows:
    """A row of a kind for each entry, all else zero."""
    rows = np.zeros((entries, 1), dtype=OPERATION)
    rows["kind"] = kind
    return rows


def wordless(rows: Rows, source: Operation) -> Lowered:
    """An operation without words."""
    return Lowered(rows, np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.bool_), (source,))


def joined(parts: Sequence[Lowered]) -> tuple[Rows, Words, npt.NDArray[np.bool_]]:
    """The rows of several operations one after another, with their words."""
    rows = np.concatenate([np.zeros(0, dtype=OPERATION), *(part.rows.ravel() for part in parts)])
    lengths = np.array([8 * len(part.words) for part in parts], dtype=np.uint64)
    sizes = np.array([part.rows.size for part in parts], dtype=np.int64)
    rows["words"] += np.repeat(np.cumsum(lengths) - lengths, sizes)
    return rows, *_joined_words(parts)


def _joined_words(parts: Sequence[Lowered]) -> tuple[Words, npt.NDArray[np.bool_]]:
    words = [np.zeros(0, dtype=np.uint64), *(part.words for part in parts)]
    pooled = [np.zeros(0, dtype=np.bool_), *(part.pooled for part in parts)]
    return np.concatenate(words), np.concatenate(pooled)


def side_by_side(parts: Sequence[Lowered], entries: int) -> Lowered:
    """Operations that follow each other in every entry."""
    rows = np.empty((entries, sum(part.rows.shape[1] for part in parts)), dtype=OPERATION)
    first = offset = 0
    for part in parts:
        end = first + part.rows.shape[1]
        rows[:, first:end] = part.rows
        rows["words"][:, first:end] += np.uint64(offset)
        first, offset = end, offset + 8 * len(part.words)
    sources = tuple(source for part in parts for source in part.sources)
    return Lowered(rows, *_joined_words(parts), sources, tuple(info for part in parts for info in part.infos))
