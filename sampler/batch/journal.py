"""The journal of a batch: what it has measured so far, in files that outlive a killed process.

    NAME.journal    one JSON value a line: what the batch is; then for each chunk of repetitions what
                    is run, and the samples it came to
    NAME.records    the engine's records of the chunk in flight, written by the worker as it goes

So a process that is killed loses the repetition in flight and no other. While it lives it holds a
lock on the journal.
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import IO, Any

from ..program import Records
from ..raw import Shape, completed
from .sample import Sample

SUFFIX = ".journal"


class Journal:
    """Writes the journal of one batch.

    Parameters
    ----------
    path : Path
        Ends in `SUFFIX`; must not exist.
    header : JSON value
        What the batch is.

    Raises
    ------
    OSError
        If it cannot be written, here as in all methods.
    """

    def __init__(self, path: Path, header: Any) -> None:
        self._path = path
        self._file = path.open("x")
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self._write(header)

    @property
    def left_in(self) -> Path:
        """The file for the records of the chunk in flight."""
        return _records_of(self._path)

    def begin(self, jobs: Sequence[int], lengths: Sequence[int], shape: Shape) -> None:
        """Notes that repetitions of these jobs are run, each with so many operations."""
        self.left_in.unlink(missing_ok=True)
        self._write({"jobs": list(jobs), "lengths": list(lengths), "shape": astuple(shape)})

    def keep(self, samples: Sequence[tuple[int, Sample]]) -> None:
        """Notes the samples of the chunk, each with the index of its job."""
        self._write({"samples": [[job, *sample.row] for job, sample in samples]})

    def discard(self) -> None:
        """Removes it: its samples are elsewhere now."""
        for path in (self._path, self.left_in):
            path.unlink(missing_ok=True)
        self._file.close()

    def leave(self) -> None:
        """Closes it for somebody to recover."""
        self._file.close()

    def _write(self, value: Any) -> None:
        self._file.write(json.dumps(value) + "\n")
        self._file.flush()


def left_behind(folder: Path) -> list[Path]:
    """The journals in a folder whose process has ended."""
    return [path for path in sorted(folder.glob(f"*{SUFFIX}")) if _is_left_behind(path)]


def _is_left_behind(path: Path) -> bool:
    with contextlib.suppress(OSError), path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(file.fileno()).st_nlink > 0  # its owner may have removed it meanwhile
    return False


SamplesOf = Callable[[Records, Sequence[int]], list[Sample]]


def read_journal(path: Path, samples_of: SamplesOf) -> tuple[Any, list[tuple[int, Sample]]]:
    """What a batch was (None if not even that was written), and its samples, each with the index of its job.

    Parameters
    ----------
    path : Path
    samples_of : callable
        Makes samples of the records of a chunk whose repetitions have the given lengths.
    """
    with path.open() as file:
        lines = _complete_values(file)
    header, chunks = (lines[0], lines[1:]) if lines else (None, [])
    samples = [(int(job), Sample.of_row(*values)) for line in chunks for job, *values in line.get("samples", ())]
    if chunks and "samples" not in chunks[-1]:
        samples += _in_flight(_records_of(path), chunks[-1], samples_of)
    return header, samples


def remove_journal(path: Path) -> None:
    """Removes a journal and its records."""
    for file in (path, _records_of(path)):
        file.unlink(missing_ok=True)


def _in_flight(path: Path, chunk: Any, samples_of: SamplesOf) -> list[tuple[int, Sample]]:
    """The samples of repetitions that were completed before the process was killed."""
    shape = Shape(*chunk["shape"])
    try:
        contents = path.read_bytes()
    except OSError:
        return []
    if len(contents) < shape.bytes:
        return []
    samples = samples_of(completed(contents, shape), chunk["lengths"])
    return [(int(job), sample) for job, sample in zip(chunk["jobs"], samples, strict=False)]


def _complete_values(file: IO[str]) -> list[Any]:
    """The values of all lines but one that was cut off."""
    values = []
    for line in file:
        with contextlib.suppress(ValueError):
            values.append(json.loads(line))
    return values


def _records_of(path: Path) -> Path:
    return path.with_suffix(".records")
