"""Finds BLAS/LAPACK libraries on this machine, without opening them."""

import ctypes.util
import importlib.util
from pathlib import Path

from .errors import LibraryError, unknown

WHEELS = ("scipy", "numpy")
SYSTEM = ("openblas", "mkl_rt", "blis", "lapack", "blas")


def library_path(name: str) -> str:
    """The file (or soname) of a library given by name or path.

    Parameters
    ----------
    name : str
        ``"scipy"`` or ``"numpy"`` for the OpenBLAS inside that wheel, a system library such as
        ``"openblas"``, or a path.

    Raises
    ------
    UsageError
        If the name is none of these.
    LibraryError
        If there is no such library here.
    """
    if "/" in name or ".so" in name or ".dylib" in name:
        return _existing(name)
    if name in WHEELS:
        return _inside_wheel(name)
    if name in SYSTEM:
        return _system(name)
    raise unknown("library", name, [*WHEELS, "simulated", *SYSTEM, "a path to a shared library"])


def found_libraries() -> dict[str, str]:
    """Name and file of every library that is here."""
    found = {}
    for name in (*WHEELS, *SYSTEM):
        try:
            found[name] = library_path(name)
        except LibraryError:
            continue
    return found


def _existing(path: str) -> str:
    if "/" in path and not Path(path).is_file():
        raise LibraryError(f"no library at {path!r}; give the path of a shared library")
    return path


def _inside_wheel(package: str) -> str:
    """The OpenBLAS that auditwheel (or delocate) put beside or into the package."""
    spec = importlib.util.find_spec(package)
    if spec is not None and spec.origin is not None:
        folder = Path(spec.origin).parent
        for place in (folder.parent / f"{package}.libs", folder / ".dylibs"):
            if files := sorted(place.glob("lib*openblas*")):
                return str(files[0])
    raise LibraryError(
        f"the installed {package} carries no OpenBLAS of its own (it is not a wheel from PyPI); "
        "name another library with --library"
    )


def _system(name: str) -> str:
    path = ctypes.util.find_library(name)
    if path is None:
        raise LibraryError(f"no lib{name} is installed on this system; install it or name another library")
    return path
