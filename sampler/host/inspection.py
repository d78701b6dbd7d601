"""What a library is and which routines it has, found out in a worker process that lives for that only."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import LibraryError
from ..libraries import LibraryFiles
from ..setup import Library, library_from_json
from .process import Died, WorkerProcess

OPENING_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was found in a library.

    Parameters
    ----------
    library : Library
    routines : frozenset of str
        Those of the routines asked for that it has.
    """

    library: Library
    routines: frozenset[str]


def inspect_library(files: LibraryFiles, routines: Sequence[str]) -> Inspection:
    """Opens a library in a process of its own, and looks for routines.

    Parameters
    ----------
    files : LibraryFiles
    routines : sequence of str
        Names such as ``"dgemm"``.

    Raises
    ------
    LibraryError
        If it cannot be opened, or is no BLAS.
    """
    try:
        process = WorkerProcess(threads=1)
    except OSError as error:
        raise LibraryError(f"a worker process cannot be started: {error}") from error
    request = {"do": "inspect", "files": files.to_open, "routines": list(routines)}
    try:
        answer = json.loads(process.ask(request, None, None, OPENING_SECONDS))
    except Died as death:
        raise LibraryError(f"opening {files.name} ended the worker: {death}") from None
    finally:
        process.end()
    if "refused" in answer:
        raise LibraryError(answer["refused"])
    return Inspection(library_from_json(answer["library"]), frozenset(answer["routines"]))
