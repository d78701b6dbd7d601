"""Operations and their variants, by name."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from blascast.sampler.call import Call, View
from blascast.sampler.errors import UsageError, unknown
from blascast.sampler.expression import parse
from blascast.sampler.kernel import Kind, Structure, flop_factor

from .conjugation import of_type

Body = Callable[..., Iterator[Call]]
UsualBlockSize = Callable[[Mapping[str, Any], str], Any]

SIZES = ("m", "n")


@dataclass(frozen=True, slots=True)
class Operand:
    """What an operation works on.

    Parameters
    ----------
    name : str
    rows, columns : str
        Expressions in the operation's sizes; those of a workspace in the block size b too.
    structure, kind : str
        What it holds.
    workspace : bool
        Whether it is neither given nor a result.
    """

    name: str
    rows: str
    columns: str
    structure: Structure = "general"
    kind: Kind = "element"
    workspace: bool = False

    def shape(self, sizes: Mapping[str, Any]) -> tuple[Any, Any]:
        """Rows and columns for sizes by name (numbers or arrays)."""
        return parse(self.rows).evaluate(sizes), parse(self.columns).evaluate(sizes)


@dataclass(frozen=True, slots=True)
class Variant:
    """One algorithm for an operation.

    Parameters
    ----------
    operation : str
    name : str
        A number as in the dissertation, or what it is called.
    title : str
        What it is, in a few words.
    body : callable
        Yields the calls for operands and block sizes.
    block_sizes : int
        How many it takes: 1 (a recursive one's is the crossover to unblocked kernels); 2 for the two
        dimensions of a Sylvester equation, or a block size and a crossover; 0 for a routine of the library,
        which has its own.
    usual : callable, optional
        The block size (or pair) that LAPACK takes, for sizes by name and a data type: that of a variant
        which is LAPACK's own, and only that is ranked.
    """

    operation: str
    name: str
    title: str
    body: Body = field(repr=False)
    block_sizes: int = 1
    usual: UsualBlockSize | None = field(default=None, repr=False)

    def calls(self, operands: tuple[View, ...], b: Any, dtype: str) -> Iterator[Call]:
        """The calls for operands and a block size (a pair where it takes two; one stands for both)."""
        pair = b if isinstance(b, tuple) else (b, b)
        return of_type(self.body(*operands, *pair[: self.block_sizes]), dtype)

    def __str__(self) -> str:
        return f"{self.operation} {self.name} ({self.title})"


@dataclass(frozen=True)
class Operation:
    """What is computed.

    Parameters
    ----------
    name : str
    formula : str
        The operation in mathematical notation.
    flops : str
        Minimal count of floating-point operations of the real types, an expression in the sizes.
    operands : tuple of Operand
    variants : dict
        By name.
    """

    name: str
    formula: str
    flops: str
    operands: tuple[Operand, ...]
    variants: dict[str, Variant] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> tuple[str, ...]:
        """Names of its sizes: n, or m and n."""
        used = {
            name for operand in self.operands for text in (operand.rows, operand.columns) for name in parse(text).names
        }
        return tuple(name for name in SIZES if name in used)

    def flop_count(self, sizes: Mapping[str, Any], dtype: str = "d") -> Any:
        """Minimal count of floating-point operations for sizes by name (numbers or arrays)."""
        return flop_factor(dtype) * parse(self.flops).evaluate(sizes)


OPERATIONS: dict[str, Operation] = {}


def define_operation(operation: Operation) -> Operation:
    """Adds an operation to the registry.

    Raises
    ------
    UsageError
        If the name is taken.
    """
    if operation.name in OPERATIONS:
        raise UsageError(f"operation {operation.name!r} exists already; choose another name")
    OPERATIONS[operation.name] = operation
    return operation


def define_variant(variant: Variant) -> Variant:
    """Adds a variant to its operation.

    Raises
    ------
    UsageError
        If the name is taken.
    """
    variants = find_operation(variant.operation).variants
    if variant.name in variants:
        raise UsageError(f"variant {variant.name} of {variant.operation} exists already; choose another name")
    variants[variant.name] = variant
    return variant


def variant(operation: str, name: int | str, title: str, **options: Any) -> Callable[[Body], Body]:
    """Registers an algorithm body as a variant of an operation.

    Raises
    ------
    UsageError
        If the name is taken.
    """

    def register(body: Body) -> Body:
        define_variant(Variant(operation, str(name), title, body, **options))
        return body

    return register


def find_operation(name: str) -> Operation:
    """The operation of that name."""
    if not isinstance(name, str) or name not in OPERATIONS:
        raise unknown("operation", name, sorted(OPERATIONS))
    return OPERATIONS[name]


def find_variant(operation: str, name: int | str) -> Variant:
    """The variant of an operation with that name or number."""
    variants = find_operation(operation).variants
    if isinstance(name, bool) or not isinstance(name, int | str) or str(name) not in variants:
        raise unknown(f"variant of {operation}", name, list(variants))
    return variants[str(name)]
