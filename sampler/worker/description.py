"""What a library is, as the worker tells its parent: the values of `setup.Library`.

Part of the worker: nothing but the standard library and the engine is imported.
"""

import hashlib
import os
from pathlib import Path
from typing import Any

from .symbols import OpenLibrary, file_of
from .vendors import Vendor

DIGESTED_BYTES = 1 << 20


def describe(library: OpenLibrary, vendor: Vendor) -> dict[str, Any]:
    """The values of `setup.Library`."""
    blas = library.blas
    return {
        "name": vendor.name,
        "version": vendor.version,
        "core": vendor.core,
        "file": Path(blas.path).name,
        "build": digest(file_of(blas.find("dcopy"))),
        "integer_bits": library.integer_bits,
        "prefix": blas.prefix,
        "suffix": blas.suffix,
        "threading": vendor.threading,
        "complex_results": library.complex_results,
        "configuration": vendor.configuration,
        "lapack": _describe_lapack(library) if library.combined else None,
    }


def _describe_lapack(library: OpenLibrary) -> dict[str, Any]:
    """The values of `setup.Lapack`."""
    path = library.lapack.path
    return {"version": library.lapack_version()[0], "file": Path(path).name, "build": digest(path)}


def digest(path: str) -> str:
    """Tells builds of a library apart: from its size, beginning and end (headers, symbol tables); "" if unreadable."""
    try:
        with Path(path).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            contents = file.read(DIGESTED_BYTES)
            file.seek(max(0, size - DIGESTED_BYTES))
            contents += file.read()
    except OSError:
        return ""
    return hashlib.sha256(str(size).encode() + contents).hexdigest()[:12]
