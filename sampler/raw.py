"""Records as the engine leaves them in a file: the index of the operation in progress, then one row an operation,
then one row of counters an operation.
"""

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

import numpy as np

from .program import Records

ROW = np.dtype([(name, np.int64) for name in ("start", "ticks", "clock", "halt", "switches", "faults", "cpu")])
_INDEX_BYTES = 8


@dataclass(frozen=True, slots=True)
class Shape:
    """What is needed to read a file of records.

    Parameters
    ----------
    operations, counters : int
    ticks_per_second : float
    overhead_ticks : int
        What timing itself takes.
    """

    operations: int
    counters: int
    ticks_per_second: float
    overhead_ticks: int

    @property
    def bytes(self) -> int:
        """Size of the file."""
        return _INDEX_BYTES + self.operations * (ROW.itemsize + 8 * self.counters)


@contextmanager
def mapped(file: IO[bytes], shape: Shape) -> Iterator[mmap.mmap]:
    """The file, made large enough and with its index at zero.

    Raises
    ------
    OSError
        If the disk is full: better now than when the engine writes to it.
    """
    file.truncate(shape.bytes)
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, shape.bytes)
    with mmap.mmap(file.fileno(), shape.bytes) as memory:
        memory[:_INDEX_BYTES] = bytes(_INDEX_BYTES)
        yield memory


def completed(contents: mmap.mmap | bytes, shape: Shape) -> Records:
    """The records of the operations that were completed."""
    done = min(int.from_bytes(contents[:_INDEX_BYTES], "little"), shape.operations)
    everything = contents[:]
    rows = np.frombuffer(everything, dtype=ROW, count=shape.operations, offset=_INDEX_BYTES)[:done]
    counted = np.frombuffer(everything, dtype=np.int64, offset=_INDEX_BYTES + shape.operations * ROW.itemsize)
    counted = counted[: shape.operations * shape.counters].reshape(shape.operations, shape.counters)[:done]
    timed = (rows["ticks"] >= 0) & (rows["clock"] < 0)
    probed = rows["clock"] >= 0
    rate = shape.ticks_per_second
    return Records(
        start=rows["start"] / rate,
        seconds=np.where(timed, np.maximum(rows["ticks"] - shape.overhead_ticks, 0) / rate, -1.0),
        branch=np.where(probed, rows["ticks"] / rate, -1.0),
        clock=np.where(probed, rows["clock"] / rate, -1.0),
        halt=np.where(probed, rows["halt"] / rate, -1.0),
        switches=rows["switches"],
        faults=rows["faults"],
        cpu=rows["cpu"],
        counters=np.where(timed[:, None], counted, -1),
    )
