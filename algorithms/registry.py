"""Operations and their variants, by name."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from blascast.sampler.call import Call, Extent, View
from blascast.sampler.errors import UsageError, unknown
from blascast.sampler.expression import parse
from blascast.sampler.kernel import Structure

Body = Callable[[View, Extent], Iterator[Call]]


@dataclass(frozen=True, slots=True)
class Variant:
    """One blocked algorithm for an operation.

    Parameters
    ----------
    operation : str
    number : int
        As in the dissertation.
    name : str
        What it is, in a few words.
    body : callable
        Yields the calls for an operand and a block size.
    """

    operation: str
    number: int
    name: str
    body: Body = field(repr=False)

    def calls(self, A: View, b: Extent) -> Iterator[Call]:
        """The calls for operand `A` and block size `b`."""
        return self.body(A, b)

    def __str__(self) -> str:
        return f"{self.operation} {self.number} ({self.name})"


@dataclass(frozen=True, slots=True)
class Operation:
    """What is computed.

    Parameters
    ----------
    name : str
    formula : str
        The operation in mathematical notation.
    flops : str
        Minimal count of floating-point operations, an expression in n.
    structure : str
        What its operand must be.
    types : str
        Letters of the data types that its variants are for.
    variants : dict
        By number.
    """

    name: str
    formula: str
    flops: str
    structure: Structure
    types: str = "sd"
    variants: dict[int, Variant] = field(default_factory=dict)

    def check_type(self, dtype: str) -> None:
        """Refuses a data type that its variants are not for."""
        if dtype not in self.types:
            raise UsageError(f"{self.name} is there for the data types {', '.join(self.types)}, not {dtype!r}")

    def flop_count(self, n: Any) -> Any:
        """Minimal count of floating-point operations for a size (or an array of sizes)."""
        return parse(self.flops).evaluate({"n": n})


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


def variant(operation: str, number: int, name: str) -> Callable[[Body], Body]:
    """Registers an algorithm body as a variant of an operation.

    Raises
    ------
    UsageError
        If the number is taken.
    """

    def register(body: Body) -> Body:
        variants = find_operation(operation).variants
        if number in variants:
            raise UsageError(f"variant {number} of {operation} exists already; choose another number")
        variants[number] = Variant(operation, number, name, body)
        return body

    return register


def find_operation(name: str) -> Operation:
    """The operation of that name."""
    if not isinstance(name, str) or name not in OPERATIONS:
        raise unknown("operation", name, sorted(OPERATIONS))
    return OPERATIONS[name]


def find_variant(operation: str, number: int) -> Variant:
    """The variant of an operation with that number."""
    variants = find_operation(operation).variants
    if isinstance(number, bool) or not isinstance(number, int) or number not in variants:
        raise unknown(f"variant of {operation}", number, sorted(variants))
    return variants[number]
