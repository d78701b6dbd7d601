"""Finds the BLAS and LAPACK libraries of this machine, without opening them.

scipy, numpy                 the OpenBLAS inside that package's wheel
openblas32, openblas64, mkl  packages from PyPI: scipy-openblas32, scipy-openblas64, mkl
openblas-pthread, blis-openmp, atlas, ...  Debian's folders, one a build
reference                    the BLAS and LAPACK of Netlib as Debian packs them
openblas, blis, flexiblas, nvpl_blas_lp64_gomp, ...  files in a folder of the system
blas                         libblas and liblapack in a folder of the system, where they are none of these
accelerate                   macOS
"""

import importlib.metadata
import importlib.util
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .errors import LibraryError, UsageError, unknown

PREFERRED_THREADING = "pthread"
WHEELS = ("scipy", "numpy")
PACKAGES = {"openblas32": "scipy_openblas32", "openblas64": "scipy_openblas64"}
REMEDIES = {
    **{name: f"pip install {name} (its wheel from PyPI)" for name in WHEELS},
    **{name: f"pip install {package.replace('_', '-')}" for name, package in PACKAGES.items()},
    "mkl": "pip install mkl",
    **dict.fromkeys(("openblas", "blis", "atlas", "reference", "flexiblas"), "install the system's package"),
    **{"nvpl": "install NVIDIA's package", "accelerate": "a part of macOS"},
}
ACCELERATE = "/System/Library/Frameworks/Accelerate.framework/Accelerate"

_DEBIAN_BUILDS = ("openblas*-*/libopenblas*.so.[0-9]", "blis*-*/libblis*.so.[0-9]", "nvpl/libnvpl_blas_*lp64_*.so")
_DEBIAN_PAIRS = (("atlas", "atlas", "atlas"), ("reference", "blas", "lapack"))
_STEMS = ("openblas*", "blis*", "satlas", "flexiblas", "nvpl_blas_lp64_*", "nvpl_blas_ilp64_*", "mkl_rt")
_VERSIONED = re.compile(r"^lib(?P<stem>\w+?)\.(so|dylib)([.\d]*)$")


@dataclass(frozen=True, slots=True)
class LibraryFiles:
    """What to open for a library.

    Parameters
    ----------
    name : str
        What a person types.
    blas : str
        File (or soname) of the BLAS.
    lapack : str
        File of the LAPACK where that is apart.
    stand_in : str
        A BLAS that the LAPACK's file names as needed, where another one is to be called.
    """

    name: str
    blas: str
    lapack: str = ""
    stand_in: str = ""

    def __add__(self, other: "LibraryFiles") -> "LibraryFiles":
        """The LAPACK of this library on the BLAS of another one."""
        stand_in = self.blas if self.lapack else ""
        return LibraryFiles(f"{self.name}+{other.name}", other.blas, self.lapack or self.blas, stand_in)

    @property
    def to_open(self) -> dict[str, str]:
        """What a worker is told to open."""
        return {"blas": self.blas, "lapack": self.lapack, "stand_in": self.stand_in}

    @property
    def file_names(self) -> tuple[str, str]:
        """Names of the BLAS's file, and of the LAPACK's where it has one of its own."""
        return Path(self.blas).name, Path(self.lapack).name if self.lapack else ""


def library_files(name: str) -> LibraryFiles:
    """The files of a library given by name or path, or of a LAPACK and a BLAS: ``"reference+blis"``.

    Parameters
    ----------
    name : str
        A name that `found_libraries` knows or the beginning of one up to a hyphen (``"blis"``: of several
        builds that on pthreads), a path, or two of these joined by a plus, the LAPACK first.

    Raises
    ------
    UsageError
        If the name is none of these, or could be more than one.
    LibraryError
        If there is no such library here.
    """
    lapack, plus, blas = name.partition("+")
    if plus and not Path(name).is_file():
        return library_files(lapack) + library_files(blas)
    if "/" in name or ".so" in name or ".dylib" in name:
        return _given(name)
    found = found_libraries()
    builds = [known for known in found if name in (known, known.split("-")[0])]
    chosen = [name, f"{name}-{PREFERRED_THREADING}", *(builds if len(builds) == 1 else [])]
    if known := next((one for one in chosen if one in found), None):
        return found[known]
    if builds:
        raise UsageError(f"the library must be one, {name!r} could be {', '.join(builds)}; name one of these")
    if name in REMEDIES:
        raise LibraryError(f"no library {name!r} was found on this machine; {REMEDIES[name]} or name another library")
    others = [known for known in found if known not in WHEELS]
    raise unknown("library", name, [*WHEELS, "simulated", *others, "a path to a shared library", "LAPACK+BLAS"])


def _given(path: str) -> LibraryFiles:
    """The library at a path; a soname is left to the loader."""
    if "/" not in path:
        return LibraryFiles(path, path)
    if not Path(path).is_file():
        raise LibraryError(f"no library at {path!r}; give the path of a shared library")
    return LibraryFiles(path, os.path.realpath(path))


def found_libraries(folders: Iterable[Path] | None = None) -> dict[str, LibraryFiles]:
    """Every library that is here, by name; no file is listed twice.

    Parameters
    ----------
    folders : iterable of Path, optional
        Where to look for the system's libraries, instead of `system_folders`; then Python's packages are not looked at.
    """
    found: dict[str, LibraryFiles] = {}
    files: set[str] = set()
    packaged = _packaged() if folders is None else ()
    for library in (*packaged, *_installed(list(system_folders() if folders is None else folders))):
        if library.blas not in files and library.name not in found:
            files.add(library.blas)
            found[library.name] = library
    return found


def system_folders() -> list[Path]:
    """The folders where systems keep their libraries."""
    configured = [sysconfig.get_config_var("LIBDIR") or "", *os.environ.get("LD_LIBRARY_PATH", "").split(":")]
    triplet = sysconfig.get_config_var("MULTIARCH") or ""
    mkl_root = Path(os.environ.get("MKLROOT", "/opt/intel/oneapi/mkl/latest"))
    usual = [Path("/usr/lib", triplet), *map(Path, ("/usr/lib64", "/usr/lib", "/usr/local/lib", "/opt/homebrew/lib"))]
    return [*map(Path, filter(None, configured)), *usual, Path(sys.prefix, "lib"), mkl_root / "lib"]


# --- inside Python's packages


def _packaged() -> Iterator[LibraryFiles]:
    for name in WHEELS:
        if folder := _package_folder(name):
            yield from _first(name, "lib*openblas*", folder.parent / f"{name}.libs", folder / ".dylibs")
    for name, package in PACKAGES.items():
        if folder := _package_folder(package):
            yield from _first(name, "lib*openblas*.*", folder / "lib")
    yield from _first("mkl", "libmkl_rt.*", *_folders_of_distribution("mkl", "libmkl_rt."))


def _package_folder(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None


def _folders_of_distribution(name: str, beginning: str) -> set[Path]:
    """Where a distribution keeps the files whose names begin so: outside its package, for mkl."""
    try:
        files = importlib.metadata.files(name) or []
    except importlib.metadata.PackageNotFoundError:
        return set()
    return {Path(str(file.locate())).parent for file in files if file.name.startswith(beginning)}


def _first(name: str, pattern: str, *folders: Path) -> Iterator[LibraryFiles]:
    """The first of the files that match."""
    files = [file for folder in folders for file in sorted(folder.glob(pattern))]
    if files:
        yield LibraryFiles(name, os.path.realpath(files[0]))


# --- in the system's folders


def _installed(folders: list[Path]) -> Iterator[LibraryFiles]:
    for folder in folders:
        yield from _builds_in_folders(folder)
        yield from _plain_files(folder)
    for folder in folders:
        yield from _pair("blas", folder, folder, {home for home in folders if home.is_dir()})
    if Path(ACCELERATE).parent.is_dir():
        yield LibraryFiles("accelerate", ACCELERATE)


def _builds_in_folders(folder: Path) -> Iterator[LibraryFiles]:
    """Debian: a folder for each build, and links to the preferred ones beside them."""
    for pattern in _DEBIAN_BUILDS:
        for file in sorted(folder.glob(pattern)):
            yield LibraryFiles(file.parent.name, os.path.realpath(file))
    for name, blas, lapack in _DEBIAN_PAIRS:
        yield from _pair(name, folder / blas, folder / lapack)


def _plain_files(folder: Path) -> Iterator[LibraryFiles]:
    for stem in _STEMS:
        for file in sorted(folder.glob(f"lib{stem}.*")):
            if named := _VERSIONED.match(file.name):
                yield LibraryFiles(named["stem"].removesuffix("_rt"), os.path.realpath(file))


def _pair(name: str, blas: Path, lapack: Path, homes: set[Path] | None = None) -> Iterator[LibraryFiles]:
    """The libblas and liblapack in two folders; only if they really are at home there, where homes are given."""
    files = [_resolved(blas, "libblas"), _resolved(lapack, "liblapack")]
    at_home = [file if homes is None or Path(file).parent in homes else "" for file in files]
    if at_home[0]:
        yield LibraryFiles(name, *at_home)


def _resolved(folder: Path, stem: str) -> str:
    files = sorted(folder.glob(f"{stem}.so*"))
    return os.path.realpath(files[0]) if files else ""
