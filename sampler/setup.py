"""Setups: what a measurement is valid for, and the fingerprint that keys everything stored."""

import hashlib
import json
import platform
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .errors import UsageError
from .kernel import ITEM_BYTES

_CPU_FOLDER = Path("/sys/devices/system/cpu/cpu0")


@dataclass(frozen=True, slots=True)
class Cache:
    """One level of cache as a CPU sees it."""

    level: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Machine:
    """The processor that measurements were taken on."""

    cpu: str
    architecture: str
    caches: tuple[Cache, ...]


@dataclass(frozen=True, slots=True)
class Lapack:
    """A LAPACK in a file of its own, on the BLAS of a library.

    Parameters
    ----------
    version : str
        That of the reference LAPACK which it follows.
    file, build : str
        As of a library.
    """

    version: str
    file: str
    build: str

    def __str__(self) -> str:
        return f"LAPACK {self.version}"


@dataclass(frozen=True, slots=True)
class Library:
    """A BLAS/LAPACK library as its probing found it.

    Parameters
    ----------
    name, version, core : str
        Vendor, version and the processor type that its kernels are for, as the library says.
    file : str
        Name of its file, without the folder.
    build : str
        Digest of the file.
    integer_bits : int
        32 or 64.
    prefix, suffix : str
        What surrounds a routine's name in its symbols.
    complex_results : str
        How functions return complex values: in "registers", or through a "hidden pointer" before the arguments;
        "unknown" if it has none of them.
    threading : str
        ``"pthreads"``, ``"OpenMP"``, ``"TBB"``, ``"serial"``, or "" if unknown.
    configuration : str
        How it was built, in its own words.
    lapack : Lapack, optional
        Its LAPACK, where that is in a file of its own; all else is then of the BLAS.
    """

    name: str
    version: str
    core: str
    file: str
    build: str
    integer_bits: int
    prefix: str
    suffix: str
    complex_results: str = "registers"
    threading: str = ""
    configuration: str = ""
    lapack: Lapack | None = None

    @property
    def file_names(self) -> tuple[str, str]:
        """Names of the BLAS's file, and of the LAPACK's where it has one of its own."""
        return self.file, self.lapack.file if self.lapack else ""

    def __str__(self) -> str:
        core = f"({self.core})" if self.core else ""
        blas = " ".join(part for part in (self.name, self.version, core) if part)
        return f"{self.lapack} on {blas}" if self.lapack else blas


def library_from_json(values: dict[str, Any]) -> Library:
    """The library that was written as plain JSON values.

    Raises
    ------
    KeyError, TypeError
        If the values do not describe a library.
    """
    lapack = values.get("lapack")
    return Library(**{**values, "lapack": Lapack(**lapack) if lapack else None})


@dataclass(frozen=True)
class Setup:
    """Machine, library, data type, threads, and whether each thread had a CPU of its own."""

    machine: Machine
    library: Library
    dtype: str
    threads: int
    pinned: bool

    @cached_property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that differ when anything in the setup does."""
        text = json.dumps(self.to_json(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def to_json(self) -> dict[str, Any]:
        """The setup as plain JSON values."""
        return asdict(self)

    @property
    def item_bytes(self) -> int:
        """Bytes of one matrix element."""
        return ITEM_BYTES[self.dtype]

    def __str__(self) -> str:
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return f"{self.library}, {self.dtype}, {threads}, {self.machine.cpu}"


def setup_from_json(values: dict[str, Any]) -> Setup:
    """The setup that `Setup.to_json` wrote.

    Raises
    ------
    KeyError, TypeError
        If the values do not describe a setup.
    """
    machine = values["machine"]
    caches = tuple(Cache(**cache) for cache in machine["caches"])
    return Setup(
        Machine(machine["cpu"], machine["architecture"], caches),
        library_from_json(values["library"]),
        values["dtype"],
        values["threads"],
        values["pinned"],
    )


@dataclass(frozen=True, slots=True)
class SetupRequest:
    """What a person asks for: a library by name or path, a data type, a number of threads.

    Raises
    ------
    UsageError
        If the data type is unknown or the number of threads is not positive.
    """

    library: str = "scipy"
    dtype: str = "d"
    threads: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.library, str):
            raise UsageError(f"the library must be given as text, by name or path, got {self.library!r}")
        if not isinstance(self.dtype, str) or self.dtype not in ITEM_BYTES:
            raise UsageError(f"the data type must be one of {', '.join(ITEM_BYTES)}, got {self.dtype!r}")
        if isinstance(self.threads, bool) or not isinstance(self.threads, int) or self.threads < 1:
            raise UsageError(f"the number of threads must be a positive integer, got {self.threads!r}")


def this_machine() -> Machine:
    """The processor this process runs on."""
    return Machine(_cpu_name(), platform.machine(), _caches())


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    named = {key.strip(): value.strip() for key, value in fields.items()}
    name = named.get("model name") or named.get("CPU part") or platform.machine()
    kind = [named[key] for key in ("cpu family", "model", "stepping") if key in named]
    return f"{name} {'/'.join(kind)}".strip()


def _caches() -> tuple[Cache, ...]:
    caches = []
    for folder in sorted(_CPU_FOLDER.glob("cache/index*")):
        try:
            kind, level, size = ((folder / name).read_text().strip() for name in ("type", "level", "size"))
        except OSError:
            continue
        if kind != "Instruction" and size.endswith("K"):
            caches.append(Cache(int(level), int(size[:-1]) * 1024))
    return tuple(caches)
