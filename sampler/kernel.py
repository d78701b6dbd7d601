"""Kernels as data: a BLAS or LAPACK routine described by its ordered arguments.

A new kernel is a declaration of a few lines (see ``kernels/``)::

    TRTI2 = Kernel(
        "trti2",
        types="sd",
        arguments=(
            Flag("uplo", "LU"), Flag("diag", "NU"), Size("n"),
            Data("A", "inout", "n", "n", "triangular"), Ld("lda", "A"), Info(),
        ),
        flops="n * (n + 1) * (2 * n + 1) / 6",
        words="n * (n + 1)",
    )
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from .errors import UsageError
from .expression import parse

Structure = Literal["general", "triangular", "positive definite", "pivots"]
Access = Literal["in", "out", "inout"]
ITEM_BYTES = {"s": 4, "d": 8}
REAL_TYPES = tuple(ITEM_BYTES)


@dataclass(frozen=True, slots=True)
class Flag:
    """A character argument and the letters it takes."""

    name: str
    letters: str


@dataclass(frozen=True, slots=True)
class Size:
    """A dimension."""

    name: str


@dataclass(frozen=True, slots=True)
class Scalar:
    """A real factor such as alpha."""

    name: str


@dataclass(frozen=True, slots=True)
class Data:
    """A matrix operand: how it is accessed, its shape, and the structure it must have.

    Pivots are integers, row i is to be swapped with row i: valid for any size.
    """

    name: str
    access: Access
    rows: str
    columns: str
    structure: Structure = "general"


@dataclass(frozen=True, slots=True)
class Ld:
    """The leading dimension of the operand `of`."""

    name: str
    of: str


@dataclass(frozen=True, slots=True)
class Info:
    """The status that a LAPACK routine returns."""

    name: str = "info"


Argument = Flag | Size | Scalar | Data | Ld | Info


@dataclass(frozen=True, slots=True)
class Kernel:
    """A routine described as data.

    Parameters
    ----------
    name : str
        Its name without the letter of the data type: ``"gemm"``.
    types : str
        Letters of the data types it exists for, of ``"sd"``.
    arguments : tuple
        All its arguments in the order of the Fortran interface.
    flops : str
        Minimal count of floating-point operations, an expression over the arguments.
    words : str
        Matrix elements moved to and from memory at least, an expression over the arguments.
    """

    name: str
    types: str
    arguments: tuple[Argument, ...]
    flops: str
    words: str

    def __post_init__(self) -> None:
        names = [argument.name for argument in self.arguments]
        if not self.types or set(self.types) - set(REAL_TYPES):
            raise UsageError(f"kernel {self.name}: types must be letters of {''.join(REAL_TYPES)}, got {self.types!r}")
        for argument in self.arguments:
            self._check(argument)
        if len(set(names)) < len(names):
            raise UsageError(f"kernel {self.name}: an argument name occurs twice among {', '.join(names)}")
        for text in (self.flops, self.words, *(e for d in self.data for e in (d.rows, d.columns))):
            if strangers := parse(text).names - set(names):
                raise UsageError(f"kernel {self.name}: {text!r} uses {min(strangers)!r}, which is no argument")

    def _check(self, argument: Argument) -> None:
        """Refuses a flag without letters, an unknown access or structure, an ld of no operand."""
        match argument:
            case Flag(name, ""):
                raise UsageError(f"kernel {self.name}: flag {name} needs letters")
            case Data(name, access, structure=structure):
                if access not in get_args(Access) or structure not in get_args(Structure):
                    raise UsageError(f"kernel {self.name}: operand {name} is {access!r}, {structure!r}: unknown")
            case Ld(name, of):
                if of not in [data.name for data in self.data]:
                    raise UsageError(f"kernel {self.name}: {name} is the leading dimension of {of!r}, no operand")

    @property
    def data(self) -> tuple[Data, ...]:
        """Its matrix operands, in order."""
        return tuple(argument for argument in self.arguments if isinstance(argument, Data))

    @property
    def sizes(self) -> tuple[str, ...]:
        """Names of its dimensions, in order."""
        return tuple(argument.name for argument in self.arguments if isinstance(argument, Size))

    @property
    def bound(self) -> tuple[Flag | Scalar | Data, ...]:
        """The arguments a caller gives; sizes and leading dimensions follow from the operands."""
        return tuple(argument for argument in self.arguments if isinstance(argument, Flag | Scalar | Data))

    def infer_sizes(self, flags: Mapping[str, str], shapes: Mapping[str, tuple[Any, Any]]) -> dict[str, Any]:
        """The dimensions that operands of the given shapes imply (numbers, or arrays of one shape)."""
        sizes: dict[str, Any] = {}
        for data in self.data:
            for text, extent in zip((data.rows, data.columns), shapes[data.name], strict=True):
                if name := parse(text).variable(flags):
                    sizes.setdefault(name, extent)
        if missing := set(self.sizes) - set(sizes):
            raise UsageError(f"kernel {self.name}: no operand tells the size {min(missing)!r}")
        return sizes

    def flop_count(self, values: Mapping[str, Any]) -> Any:
        """Floating-point operations for flags and sizes (numbers, or arrays of one shape)."""
        return parse(self.flops).evaluate(values)

    def byte_count(self, values: Mapping[str, Any], dtype: str) -> Any:
        """Bytes moved for flags and sizes (numbers, or arrays of one shape)."""
        return ITEM_BYTES[dtype] * parse(self.words).evaluate(values)

    def routine(self, dtype: str) -> str:
        """The routine's name for a data type: ``"dgemm"``.

        Raises
        ------
        UsageError
            If the kernel does not exist for the type.
        """
        if dtype not in self.types:
            raise UsageError(f"kernel {self.name} exists for the data types {', '.join(self.types)}, not {dtype!r}")
        return dtype + self.name
