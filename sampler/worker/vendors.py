"""Vendors of BLAS libraries: how each tells what it is, and how many threads it is to use.

Part of the worker: nothing but the standard library, the engine and threadpoolctl, which has no
BLAS, is imported.
"""

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

from threadpoolctl import ThreadpoolController

from .._engine import ffi
from .symbols import OpenLibrary, file_of, find_symbol

_VERSION_IN_FILE = re.compile(r"\.so\.(\d+(?:\.\d+)+)$")
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_NETLIB = re.compile(r"^libblas(64)?\.so\.\d+\.\d+")  # others that take the name have no version of LAPACK in it
_MKL_LAYERS = {"intel_thread": "OpenMP", "gnu_thread": "OpenMP", "tbb_thread": "TBB", "sequential": "serial"}
_MKL_BRANCHES = {  # MKL_CBWR_..., of mkl_types.h
    **{3: "compatible", 4: "SSE2", 6: "SSSE3", 7: "SSE4.1", 8: "SSE4.2", 9: "AVX", 10: "AVX2", 11: "AVX512-MIC"},
    **{12: "AVX512", 13: "AVX512-MIC-E1", 14: "AVX512-E1"},
}


class Vendor:
    """A library that tells nothing about itself: known by its file, and of one thread.

    Attributes
    ----------
    name, version, core, configuration : str
        Who made it, its version, the processor type that its kernels are for, and how it was built; "" if unknown.
    threading : str
        ``"pthreads"``, ``"OpenMP"``, ``"TBB"``, ``"serial"``, or "" if unknown.
    """

    signature: ClassVar[str] = ""
    core = ""
    configuration = ""
    threading = ""

    def __init__(self, find: Callable[[str], Any], file: Path) -> None:
        self._find = find
        self._file = file
        version = _VERSION_IN_FILE.search(file.name)
        self.version = version[1] if version else ""
        self.name = file.name.split(".")[0]
        if _NETLIB.match(file.name):
            self.name, self.threading = "reference BLAS", "serial"

    def set_threads(self, threads: int) -> None:
        """Sets the number of threads, if the library can."""

    def threads(self) -> int:
        """The number of threads in force."""
        return 1

    def _call(self, result: str, function: str, parameters: str = "void", *arguments: Any) -> Any:
        """Calls one of the library's own functions; "" for a null string."""
        value = ffi.cast(f"{result}(*)({parameters})", self._find(function))(*arguments)
        if result != "char *":
            return value
        return ffi.string(value).decode() if value != ffi.NULL else ""


class OpenBLAS(Vendor):
    """https://www.openblas.net."""

    signature = "openblas_get_config"

    def __init__(self, find: Callable[[str], Any], file: Path) -> None:
        super().__init__(find, file)
        self.name = "OpenBLAS"
        self.configuration = self._call("char *", "openblas_get_config")
        version = _VERSION.search(self.configuration)
        self.version = version[0] if version else ""
        self.core = self._call("char *", "openblas_get_corename")
        self.threading = ("serial", "pthreads", "OpenMP")[self._call("int", "openblas_get_parallel")]

    def set_threads(self, threads: int) -> None:
        """Sets the number of threads."""
        self._call("void", "openblas_set_num_threads", "int", threads)

    def threads(self) -> int:
        """The number of threads in force."""
        return int(self._call("int", "openblas_get_num_threads"))


class MKL(Vendor):
    """Intel's oneMKL, through its single dynamic library."""

    signature = "MKL_Get_Version_String"

    def __init__(self, find: Callable[[str], Any], file: Path) -> None:
        super().__init__(find, file)
        self.name = "MKL"
        text = ffi.new("char[]", 200)
        self._call("void", "MKL_Get_Version_String", "char *, int", text, len(text))
        self.configuration = ffi.string(text).decode().strip()
        version = _VERSION.search(self.configuration)
        self.version = version[0] if version else ""
        self.core = _MKL_BRANCHES.get(self._call("int", "MKL_CBWR_Get_Auto_Branch"), "")
        loaded = [layer for layer in _MKL_LAYERS if any(f"mkl_{layer}" in name for name in _open_files())]
        self.threading = _MKL_LAYERS[loaded[0]] if loaded else ""

    def set_threads(self, threads: int) -> None:
        """Sets the number of threads, as a number and not as a bound."""
        self._call("void", "MKL_Set_Dynamic", "int", 0)
        self._call("void", "MKL_Set_Num_Threads", "int", threads)

    def threads(self) -> int:
        """The number of threads in force."""
        return int(self._call("int", "MKL_Get_Max_Threads"))


class BLIS(Vendor):
    """https://github.com/flame/blis, and AMD's branch of it."""

    signature = "bli_info_get_version_str"

    def __init__(self, find: Callable[[str], Any], file: Path) -> None:
        super().__init__(find, file)
        self.name = "BLIS"
        self.version = self._call("char *", "bli_info_get_version_str")
        self.core = self._call("char *", "bli_arch_string", "int", self._call("int", "bli_arch_query_id"))
        models = {"OpenMP": "bli_info_get_enable_openmp", "pthreads": "bli_info_get_enable_pthreads"}
        enabled = [model for model, function in models.items() if self._call("int64_t", function)]
        self.threading = enabled[0] if enabled else "serial"

    def set_threads(self, threads: int) -> None:
        """Sets the number of threads."""
        self._call("void", "bli_thread_set_num_threads", "int64_t", threads)

    def threads(self) -> int:
        """The number of threads in force; -1 stands for a number that was never set."""
        return max(1, int(self._call("int64_t", "bli_thread_get_num_threads")))


class FlexiBLAS(Vendor):
    """https://www.mpi-magdeburg.mpg.de/projects/flexiblas: its core is the library that it passes calls on to."""

    signature = "flexiblas_get_version"

    def __init__(self, find: Callable[[str], Any], file: Path) -> None:
        super().__init__(find, file)
        self.name = "FlexiBLAS"
        numbers = [ffi.new("int *") for _ in range(3)]
        self._call("void", "flexiblas_get_version", "int *, int *, int *", *numbers)
        self.version = ".".join(str(number[0]) for number in numbers)
        text = ffi.new("char[]", 200)
        self._call("int", "flexiblas_current_backend", "char *, size_t", text, len(text))
        self.core = ffi.string(text).decode()

    def set_threads(self, threads: int) -> None:
        """Sets the number of threads."""
        self._call("void", "flexiblas_set_num_threads", "int", threads)

    def threads(self) -> int:
        """The number of threads in force."""
        return max(1, int(self._call("int", "flexiblas_get_num_threads")))


class NVPL(Vendor):
    """NVIDIA's Performance Libraries for Arm CPUs."""

    signature = "nvpl_blas_get_version"

    def __init__(self, find: Callable[[str], Any], file: Path) -> None:
        super().__init__(find, file)
        self.name = "NVPL"
        number = self._call("int", "nvpl_blas_get_version")
        self.version = f"{number // 10000}.{number // 100 % 100}.{number % 100}"
        self.threading = "serial" if "_seq" in file.name else "OpenMP"

    def set_threads(self, threads: int) -> None:
        """Sets the number of threads."""
        self._call("void", "nvpl_blas_set_num_threads", "int", threads)

    def threads(self) -> int:
        """The number of threads in force."""
        return int(self._call("int", "nvpl_blas_get_max_threads"))


class ATLAS(Vendor):
    """https://math-atlas.sourceforge.net: its number of threads is fixed when it is built, to one in what is found."""

    signature = "ATL_buildinfo"

    def __init__(self, find: Callable[[str], Any], file: Path) -> None:
        super().__init__(find, file)
        self.name, self.threading = "ATLAS", "serial"


class OpenMP(Vendor):
    """A library that tells nothing but needs an OpenMP runtime: that is asked, through threadpoolctl."""

    signature = "omp_set_num_threads"
    threading = "OpenMP"

    def set_threads(self, threads: int) -> None:
        """Sets the number of threads of the runtime."""
        for runtime in self._runtimes():
            runtime.set_num_threads(threads)

    def threads(self) -> int:
        """The number of threads in force."""
        return max((int(runtime.num_threads) for runtime in self._runtimes()), default=1)

    def _runtimes(self) -> list[Any]:
        return list(ThreadpoolController().select(user_api="openmp").lib_controllers)


# FlexiBLAS comes first: it has names of others as aliases.
_VENDORS: tuple[type[Vendor], ...] = (FlexiBLAS, MKL, OpenBLAS, BLIS, NVPL, ATLAS, OpenMP)
_AFFIXES = tuple(product(("", "scipy_"), ("", "64_", "_64")))  # OpenBLAS surrounds these names too


def vendor_of(library: OpenLibrary) -> Vendor:
    """The vendor of a library's BLAS."""
    file = Path(file_of(library.blas.find("dcopy"))).resolve()

    def finder(prefix: str, suffix: str) -> Callable[[str], Any]:
        return lambda name: find_symbol(library.blas.handle, f"{prefix}{name}{suffix}")

    for vendor in _VENDORS:
        for find in (finder(*affixes) for affixes in _AFFIXES):
            if find(vendor.signature) != ffi.NULL:
                return vendor(find, file)
    return Vendor(finder("", ""), file)


def _open_files() -> list[str]:
    """What is mapped into this process; nothing where the system does not tell."""
    try:
        return Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return []
