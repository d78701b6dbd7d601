"""libraries: what BLAS and LAPACK libraries are on this machine, and which kernels they have."""

from dataclasses import asdict, dataclass
from typing import Any

from blascast.sampler.errors import LibraryError, UsageError
from blascast.sampler.host.inspection import Inspection, inspect_library
from blascast.sampler.kernel import TYPES, Kernel
from blascast.sampler.kernels import KERNELS
from blascast.sampler.libraries import LibraryFiles, found_libraries, library_files

from .report import Column, Report

OF_LIBRARIES = tuple(kernel for kernel in KERNELS.values() if not kernel.own)


@dataclass(frozen=True, slots=True)
class Entry:
    """A library: its files, and what was found in them or why they cannot be used."""

    files: LibraryFiles
    found: Inspection | None
    reason: str = ""

    def has(self, kernel: Kernel, dtype: str) -> bool:
        """Whether the library has a kernel's routine for a data type."""
        return self.found is not None and dtype in kernel.types and kernel.routine(dtype) in self.found.routines

    def to_json(self) -> dict[str, Any]:
        """The entry as plain JSON values."""
        row = {**asdict(self.files), "error": self.reason or None}
        if self.found is not None:
            row["library"] = asdict(self.found.library)
            row["kernels"] = {k.name: [t for t in k.types if self.has(k, t)] for k in OF_LIBRARIES}
        return row


@dataclass(frozen=True, eq=False, repr=False)
class LibrariesReport(Report):
    """All libraries.

    Parameters
    ----------
    entries : tuple of Entry
    """

    entries: tuple[Entry, ...]

    @property
    def title(self) -> str:
        """What is listed."""
        return "BLAS and LAPACK libraries on this machine"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        headings = ("name", "vendor", "version", "core", "integers", "symbols", "threading", "routines", "file")
        return [Column(heading, text=heading not in ("integers", "routines")) for heading in headings]

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [_cells(entry) for entry in self.entries]

    @property
    def remarks(self) -> list[str]:
        """Why some cannot be used, and how the names are."""
        return [
            *(f"{entry.files.name} cannot be used: {entry.reason}." for entry in self.entries if entry.reason),
            f"Routines: how many of the {_routine_count()} that blascast knows, all data types taken together.",
            "Any name can be given with --library; LAPACK+BLAS stands for the LAPACK of one on the BLAS of another.",
        ]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {"rows": [entry.to_json() for entry in self.entries]}


@dataclass(frozen=True, eq=False, repr=False)
class LibraryReport(Report):
    """One library, kernel by kernel.

    Parameters
    ----------
    entry : Entry
        Of a library that could be opened.
    """

    entry: Entry

    @property
    def title(self) -> str:
        """Which library it is."""
        assert self.entry.found is not None
        return f"{self.entry.files.name}: {self.entry.found.library}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        return [Column("kernel", text=True), *(Column(dtype, text=True) for dtype in TYPES)]

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [[k.name, *(self._cell(k, dtype) for dtype in TYPES)] for k in OF_LIBRARIES]

    def _cell(self, kernel: Kernel, dtype: str) -> str:
        if dtype not in kernel.types:
            return ""
        return "yes" if self.entry.has(kernel, dtype) else "no"

    @property
    def remarks(self) -> list[str]:
        """What else the library is."""
        assert self.entry.found is not None
        library, files = self.entry.found.library, self.entry.files
        return [
            f"File: {files.blas}.",
            *([f"File of the LAPACK: {files.lapack}."] if files.lapack else []),
            *([f"Configuration: {library.configuration}."] if library.configuration else []),
            f"Integers: {library.integer_bits} bits. Threading: {library.threading or 'unknown'}.",
            f"Symbols: {_symbol(self.entry.found)}. Values of complex functions: {library.complex_results}.",
        ]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values: one row a kernel and data type."""
        rows = [
            {"kernel": kernel.name, "dtype": dtype, "present": self.entry.has(kernel, dtype)}
            for kernel in OF_LIBRARIES
            for dtype in kernel.types
        ]
        return {**self.entry.to_json(), "rows": rows}


def libraries() -> LibrariesReport:
    """Finds the BLAS and LAPACK libraries of this machine and describes them.

    One that cannot be opened is listed with the reason.
    """
    return LibrariesReport(tuple(_entry(files) for files in found_libraries().values()))


def describe_library(name: str) -> LibraryReport:
    """Describes one library: what it is, and which kernels it has.

    Parameters
    ----------
    name : str
        A name that `libraries` lists, a path, or ``"LAPACK+BLAS"``.

    Raises
    ------
    UsageError
        If the name is unknown.
    LibraryError
        If there is no such library here, or it cannot be opened.
    """
    if name == "simulated":
        raise UsageError("a library with a file is needed, simulated has none; name one that blascast libraries lists")
    entry = _entry(library_files(name))
    if entry.found is None:
        raise LibraryError(entry.reason)
    return LibraryReport(entry)


def _entry(files: LibraryFiles) -> Entry:
    routines = [kernel.routine(dtype) for kernel in OF_LIBRARIES for dtype in kernel.types]
    try:
        return Entry(files, inspect_library(files, routines))
    except LibraryError as error:
        return Entry(files, None, str(error))


def _cells(entry: Entry) -> list[str]:
    if entry.found is None:
        return [entry.files.name, *["–"] * 7, entry.files.blas]
    library = entry.found.library
    return [
        *(entry.files.name, library.name, library.version, library.core, str(library.integer_bits)),
        *(_symbol(entry.found), library.threading, str(len(entry.found.routines)), entry.files.blas),
    ]


def _symbol(found: Inspection) -> str:
    return f"{found.library.prefix}dgemm{found.library.suffix}"


def _routine_count() -> int:
    return sum(len(kernel.types) for kernel in OF_LIBRARIES)
