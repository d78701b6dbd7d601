"""Kernels as data: a BLAS or LAPACK routine described by its ordered arguments.

A new kernel is a declaration of a few lines (see ``kernels/``)::

    TRTI2 = Kernel(
        "trti2",
        types="sdcz",
        arguments=(
            Flag("uplo", "LU"), Flag("diag", "NU"), Size("n"),
            Data("A", "inout", "n", "n", "triangular"), Ld("lda", "A"), Info(),
        ),
        flops="n * (n + 1) * (2 * n + 1) / 6",
        words="n * (n + 1)",
    )
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import and_
from typing import Any, Literal, TypeAlias, get_args

from .errors import UsageError
from .expression import parse

Structure = Literal[
    "general",
    "triangular",
    "positive definite",
    "reflectors",
    "Schur form",
    "shifted Schur form",
    "packed triangular",
    "modified rotation",
    "pivots",
]
Access = Literal["in", "out", "inout"]
Kind = Literal["element", "real", "double", "integer"]
ITEM_BYTES = {"s": 4, "d": 8, "c": 8, "z": 16}
TYPES = tuple(ITEM_BYTES)
COMPLEX = "cz"


@dataclass(frozen=True, slots=True)
class Flag:
    """A character argument and the letters it takes; `complex_letters` where complex types take others."""

    name: str
    letters: str
    complex_letters: str = ""

    def letters_for(self, dtype: str) -> str:
        """The letters that a data type takes."""
        return self.complex_letters or self.letters if dtype in COMPLEX else self.letters


@dataclass(frozen=True, slots=True)
class Option:
    """An integer argument that chooses what is computed, such as itype or isgn."""

    name: str
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Size:
    """A dimension; `given` where no operand tells it (a bandwidth), so that a caller must."""

    name: str
    given: bool = False


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer that follows from the other arguments, such as lwork; only for some data types if `types` says so."""

    name: str
    value: str
    types: str = "sdcz"


@dataclass(frozen=True, slots=True)
class Scalar:
    """A factor such as alpha, of the data type or its real counterpart."""

    name: str
    kind: Kind = "element"


@dataclass(frozen=True, slots=True)
class Data:
    """An operand: how it is accessed, its shape, the structure and the kind of numbers it must have.

    A vector that has an increment is declared as one column; a caller may give a column or a row.
    The structures are those that sampled operands are filled with:

    - general: uniform in [-1, 1);
    - triangular: both triangles are well-conditioned, with a unit diagonal too; the diagonal is real;
    - positive definite: symmetric, Hermitian;
    - reflectors: small entries, as vectors of Householder reflectors beside their unit;
    - Schur form: upper triangular, zeros below; the shifted one's eigenvalues lie apart from the other's;
    - packed triangular: well-conditioned in packed and in band storage;
    - modified rotation: what rotmg returns, a flag of 0 and the entries of H;
    - pivots: integers, row i is to be swapped with an earlier row: valid for any size.
    """

    name: str
    access: Access
    rows: str
    columns: str
    structure: Structure = "general"
    kind: Kind = "element"


@dataclass(frozen=True, slots=True)
class Ld:
    """The leading dimension of the operand `of`."""

    name: str
    of: str


@dataclass(frozen=True, slots=True)
class Inc:
    """The increment of the vector `of`."""

    name: str
    of: str


@dataclass(frozen=True, slots=True)
class Work:
    """Scratch memory of so many elements (of any kind), which all calls share."""

    name: str
    elements: str
    types: str = "sdcz"


@dataclass(frozen=True, slots=True)
class Info:
    """The status that a LAPACK routine returns."""

    name: str = "info"


Argument: TypeAlias = Flag | Option | Size | Integer | Scalar | Data | Ld | Inc | Work | Info
Bound: TypeAlias = Flag | Option | Size | Scalar | Data


@dataclass(frozen=True)
class Kernel:
    """A routine described as data.

    Parameters
    ----------
    name : str
        Its name without the letter of the data type: ``"gemm"``.
    types : str
        Letters of the data types it exists for, of ``"sdcz"``.
    arguments : tuple
        All its arguments in the order of the Fortran interface.
    flops : str
        Minimal count of floating-point operations for the real types, an expression over its
        arguments. A complex operation counts as four (see `flop_factor`).
    words : str
        Matrix elements moved to and from memory at least, an expression over the same.
    returns : Data, optional
        The value of a function, as a 1 x 1 operand.
    names : mapping, optional
        By data type, the routine's name where it is not letter and name: ``{"z": "dznrm2"}``.
    requires : tuple of str
        What its sizes must be to each other, as comparisons: ``("n <= m", "k <= n")``. Models are
        sampled only where all of them hold.
    own : bool
        Whether it is of the engine, not of a library.
    implied : tuple of str
        Sizes that are no arguments: an operand's shape alone tells them, such as how many rows there
        are among which a routine swaps some.
    """

    name: str
    types: str
    arguments: tuple[Argument, ...]
    flops: str
    words: str
    returns: Data | None = None
    names: Mapping[str, str] = field(default_factory=dict, hash=False)
    requires: tuple[str, ...] = ()
    own: bool = False
    implied: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        every = (*self.arguments, *([self.returns] if self.returns else []))
        names = [*(argument.name for argument in every), *self.implied]
        if not self.types or set(self.types) - set(TYPES):
            raise UsageError(f"kernel {self.name}: types must be letters of {''.join(TYPES)}, got {self.types!r}")
        for argument in self.arguments:
            self._check(argument)
        if len(set(names)) < len(names):
            raise UsageError(f"kernel {self.name}: an argument name occurs twice among {', '.join(names)}")
        named = {argument.name for argument in self.arguments if isinstance(argument, Flag | Option)}
        known = named | set(self.sizes)
        for text in self._expressions():
            if parse(text).is_comparison:
                raise UsageError(f"kernel {self.name}: {text!r} is a comparison, not a value")
        for text in self.requires:
            if not parse(text).is_comparison:
                raise UsageError(f"kernel {self.name}: it requires {text!r}, which is no comparison such as k <= n")
        for text in (*self._expressions(), *self.requires):
            if strangers := parse(text).names - known:
                raise UsageError(
                    f"kernel {self.name}: {text!r} uses {min(strangers)!r}, which is no flag, option or size"
                )

    def _expressions(self) -> list[str]:
        texts = [self.flops, self.words, *(text for data in self.data for text in (data.rows, data.columns))]
        texts += [argument.value for argument in self.arguments if isinstance(argument, Integer)]
        return texts + [argument.elements for argument in self.arguments if isinstance(argument, Work)]

    def _check(self, argument: Argument) -> None:
        """Refuses a flag without letters, an unknown access, structure or kind, an ld of no operand."""
        match argument:
            case Flag(name, "") | Option(name, ()):
                raise UsageError(f"kernel {self.name}: flag {name} needs letters")
            case Data(name, access, structure=structure, kind=kind):
                known = access in get_args(Access) and structure in get_args(Structure) and kind in get_args(Kind)
                if not known:
                    raise UsageError(
                        f"kernel {self.name}: operand {name} is {access!r}, {structure!r}, {kind!r}: unknown"
                    )
                if structure == "pivots" and kind != "integer":
                    raise UsageError(
                        f"kernel {self.name}: operand {name} holds pivots: its kind is integer, not {kind}"
                    )
            case Ld(name, of) | Inc(name, of):
                if of not in [data.name for data in self.data]:
                    raise UsageError(f"kernel {self.name}: {name} belongs to {of!r}, no operand")

    @cached_property
    def data(self) -> tuple[Data, ...]:
        """Its operands, in order; what a function returns comes last."""
        operands = tuple(argument for argument in self.arguments if isinstance(argument, Data))
        return operands if self.returns is None else (*operands, self.returns)

    @cached_property
    def vectors(self) -> frozenset[str]:
        """Names of the operands that have an increment."""
        return frozenset(argument.of for argument in self.arguments if isinstance(argument, Inc))

    @cached_property
    def sizes(self) -> tuple[str, ...]:
        """Names of its dimensions, in order; those that are no arguments come last."""
        return (*(argument.name for argument in self.arguments if isinstance(argument, Size)), *self.implied)

    @cached_property
    def bound(self) -> tuple[Bound, ...]:
        """The arguments a caller gives; other sizes, leading dimensions and increments follow from the operands."""
        given = tuple(
            argument
            for argument in self.arguments
            if isinstance(argument, Flag | Option | Scalar | Data) or (isinstance(argument, Size) and argument.given)
        )
        return given if self.returns is None else (*given, self.returns)

    def arguments_for(self, dtype: str) -> tuple[Argument, ...]:
        """The arguments that the routine of a data type has."""
        return tuple(a for a in self.arguments if not isinstance(a, Integer | Work) or dtype in a.types)

    def infer_sizes(self, values: Mapping[str, Any], shapes: Mapping[str, tuple[Any, Any]]) -> dict[str, Any]:
        """The dimensions that given values and operands of the given shapes imply (numbers, or arrays of one shape)."""
        sizes: dict[str, Any] = {name: values[name] for name in self.sizes if name in values}
        for data in self.data:
            for text, extent in zip((data.rows, data.columns), shapes[data.name], strict=True):
                if name := parse(text).variable(values):
                    sizes.setdefault(name, extent)
        if missing := set(self.sizes) - set(sizes):
            raise UsageError(f"kernel {self.name}: no operand tells the size {min(missing)!r}")
        return sizes

    def admits(self, values: Mapping[str, Any]) -> Any:
        """Whether flags and sizes are as it requires (numbers, or arrays of one shape)."""
        return reduce(and_, (parse(text).holds(values) for text in self.requires), True)

    def flop_count(self, values: Mapping[str, Any]) -> Any:
        """Floating-point operations of the real types for flags and sizes (numbers, or arrays of one shape)."""
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
        return self.names.get(dtype, dtype + self.name)


def flop_factor(dtype: str) -> int:
    """Floating-point operations that count as one of a kernel's: complex arithmetic takes four times as many."""
    return 4 if dtype in COMPLEX else 1
