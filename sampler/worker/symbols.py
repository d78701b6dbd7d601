"""A library that is open in this process: its symbols, the width of its integers, how it returns complex numbers.

Part of the worker: nothing but the standard library and the engine is imported.
"""

from dataclasses import dataclass
from typing import Any, Literal

from .._engine import ffi, lib
from .refused import Refused

PREFIXES = ("", "scipy_")
SUFFIXES = ("$NEWLAPACK", "_", "", "64_", "_64_", "_64", "__")  # the first: Accelerate, whose plain names are of old
Results = Literal["registers", "hidden pointer", "unknown"]


@dataclass(frozen=True, slots=True)
class Part:
    """A file of a library, open, with what surrounds the names of its routines."""

    path: str
    handle: Any
    prefix: str
    suffix: str

    def symbol(self, routine: str) -> str:
        """A routine's symbol."""
        return f"{self.prefix}{routine}{self.suffix}"

    def find(self, routine: str) -> Any:
        """Address of a routine, in this file or one that it needs; NULL if there is none."""
        return find_symbol(self.handle, self.symbol(routine))


class OpenLibrary:
    """A BLAS and its LAPACK, which may be one file or two.

    Parameters
    ----------
    blas : str
        File or soname.
    lapack : str
        File of the LAPACK where that is apart. It is made to call that BLAS.
    stand_in : str
        A BLAS that the LAPACK's file names as needed: opened so that the loader fetches no other. It is not called
        for any routine that `blas` has.

    Raises
    ------
    Refused
        If a file cannot be opened, or is no such library, or the two do not fit together.
    """

    def __init__(self, blas: str, lapack: str = "", stand_in: str = "") -> None:
        self.blas = _open_part(blas, "dcopy", "BLAS")
        self.integer_bits = _integer_bits(self.blas)
        self.lapack = self.blas
        if lapack:
            # A needed library that is open already is not fetched again: the loader goes by its soname.
            self._stand_in = _open(stand_in) if stand_in else None
            self.lapack = _open_part(lapack, "ilaver", "LAPACK")
            self._check_integers()
            self._join()

    @property
    def combined(self) -> bool:
        """Whether the LAPACK is a file of its own, given or found: one file may need another with the BLAS."""
        own = file_of(self.lapack.find("ilaver"))
        return self.lapack is not self.blas or own not in ("", file_of(self.blas.find("dcopy")))

    def find(self, routine: str) -> Any:
        """Address of a routine; NULL if there is none."""
        return self._part(routine).find(routine)

    def symbol(self, routine: str) -> str:
        """The symbol that a routine has, or would have."""
        return self._part(routine).symbol(routine)

    def _part(self, routine: str) -> Part:
        """The LAPACK for what is in its own file (not one that it needs), else the BLAS."""
        found = self.lapack.find(routine)
        own = found != ffi.NULL and file_of(found) == file_of(self.lapack.find("ilaver"))
        return self.lapack if self.combined and own else self.blas

    @property
    def complex_results(self) -> Results:
        """How the BLAS's complex functions give their value."""
        return _results(self.blas, "zdotu")

    @property
    def fits_complex(self) -> bool:
        """Whether LAPACK and BLAS agree on how complex functions give their value."""
        return not self.combined or self.complex_results == _results(self.lapack, "zladiv")

    def lapack_version(self) -> tuple[str, int]:
        """The version of LAPACK that it follows ("" if it has none), and the width of its integers in bits."""
        return _lapack_version(self.lapack)

    def _check_integers(self) -> None:
        bits = self.lapack_version()[1]
        if bits != self.integer_bits:
            raise Refused(
                f"a LAPACK and its BLAS need integers of one width, {self.lapack.path} has {bits} bits and "
                f"{self.blas.path} {self.integer_bits}; name another of the two"
            )

    def _join(self) -> None:
        """Makes the LAPACK call the BLAS.

        Binding the routines one by one is exact: neither does the LAPACK call LAPACK routines that a BLAS such as
        OpenBLAS brings along, nor do their names or sonames matter, as they would to the loader.
        """
        handle, home = self.lapack.handle, file_of(self.blas.find("dcopy"))
        bound = False
        for index in range(lib.bc_import_count(handle)):
            routine = _routine_of(ffi.string(lib.bc_import_name(handle, index)).decode(), self.lapack)
            address = self.blas.find(routine)
            if file_of(address) == home:
                bound = lib.bc_import_bind(handle, index, address) == 0 or bound
        if not bound:
            raise Refused(
                f"a LAPACK that can be combined calls a BLAS outside its own file, {self.lapack.path} does not; "
                "name reference, or the path of another liblapack"
            )


def find_symbol(handle: Any, name: str) -> Any:
    """Address of a symbol in a library or one that it needs; NULL if there is none."""
    return lib.bc_symbol(handle, name.encode())


def file_of(address: Any) -> str:
    """The file that an address belongs to, as the loader names it."""
    file = lib.bc_file_of(address)
    return str(ffi.string(file).decode()) if file != ffi.NULL else ""


def call(routine: Any, *arguments: Any) -> None:
    """Calls a routine with pointers, and the lengths of its flags at the end."""
    words = ffi.new("uintptr_t[]", lib.BC_MAX_WORDS)
    for index, argument in enumerate(arguments):
        words[index] = int(ffi.cast("uintptr_t", argument))
    lib.bc_call(routine, words, len(arguments))


def _open(path: str) -> Any:
    handle = lib.bc_open(path.encode())
    if handle == ffi.NULL:
        raise Refused(f"cannot open {path}: {ffi.string(lib.bc_open_error()).decode()}")
    return handle


def _open_part(path: str, routine: str, kind: str) -> Part:
    """Opens a file and finds the affixes by a routine that every such library has."""
    handle = _open(path)
    for prefix in PREFIXES:
        for suffix in SUFFIXES:
            part = Part(path, handle, prefix, suffix)
            if part.find(routine) != ffi.NULL:
                return part
    raise Refused(f"{path} has no routine {routine} under any known prefix and suffix: not a {kind} library?")


def _routine_of(symbol: str, part: Part) -> str:
    """The routine that a symbol stands for; "" if it is not in the form of the library's routines."""
    if symbol.startswith(part.prefix) and symbol.endswith(part.suffix):
        return symbol[len(part.prefix) : len(symbol) - len(part.suffix)]
    return ""


def _integer_bits(blas: Part) -> int:
    """Copies n elements, n being 3 in its lower half and negative as a whole (as libblastrampoline does)."""
    n, increment = ffi.new("int64_t *", -(2**32) + 3), ffi.new("int64_t *", 1)
    source, target = ffi.new("double[]", [1.0, 2.0, 3.0]), ffi.new("double[]", 3)
    call(blas.find("dcopy"), n, source, increment, target, increment)
    return 32 if list(target) == list(source) else 64


def _lapack_version(part: Part) -> tuple[str, int]:
    """From ilaver, which writes three integers; a narrow one leaves the upper half of a wide one as it was."""
    routine = part.find("ilaver")
    if routine == ffi.NULL:
        return "", 0
    numbers = [ffi.new("int64_t *", -1) for _ in range(3)]
    call(routine, *numbers)
    bits = 32 if numbers[0][0] < 0 else 64
    return ".".join(str(number[0] & 0xFFFFFFFF) for number in numbers), bits


def _results(part: Part, function: Literal["zdotu", "zladiv"]) -> Results:
    """Calls a complex function so that its arguments are valid whether or not the first one takes the result.

    If it does, the others are 1 and 1 * 2, or 1 / 1. If not, the first one is n = 0, or a divided 0.
    """
    routine = part.find(function)
    if routine == ffi.NULL:
        return "unknown"
    first = ffi.new("double[2]")
    integer, one, two = ffi.new("int64_t *", 1), ffi.new("double[2]", [1.0, 0.0]), ffi.new("double[2]", [2.0, 0.0])
    arguments = {"zdotu": (first, integer, one, integer, two, integer), "zladiv": (first, one, one)}
    call(routine, *arguments[function])
    return "hidden pointer" if first[0] != 0 else "registers"
