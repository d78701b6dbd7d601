"""Expressions over a kernel's arguments, as text: shapes, flops, memory traffic, what sizes must be.

The language is a small part of Python's: numbers, names, ``+ - * / //``, powers with a constant
exponent (of what is no power itself), ``max``, ``min``, and ``a if side == 'L' else b``; and, of
sizes, one comparison ``k <= n``. It is parsed, never evaluated by Python, so a declaration read
from a file cannot run code.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, reduce
from typing import Any, Protocol
from zlib import crc32

from .errors import UsageError

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda item, items: item in items,
}
_ORDERS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_LONGEST = 1000
_HIGHEST_POWER = 6


class _Values(Protocol):
    def __getitem__(self, name: str, /) -> Any: ...


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression.

    Parameters
    ----------
    text : str
        The expression, for instance ``"m * n * (m if side == 'L' else n)"``.

    Raises
    ------
    UsageError
        If the text is not in the language.

    Examples
    --------
    >>> Expression("2 * m * n * k").evaluate({"m": 2, "n": 3, "k": 5})
    60
    >>> sorted(Expression("n * (n + 1) * k").exponents({"n", "k"}, {}))
    [(1, 1), (1, 2)]
    """

    text: str
    _tree: ast.expr = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.text) > _LONGEST:
            raise UsageError(f"an expression may have {_LONGEST} characters, this one has {len(self.text)}")
        try:
            tree = ast.parse(self.text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise UsageError(f"not an expression: {self.text!r}") from error
        for node in ast.walk(tree):
            _check(node, self.text)
        object.__setattr__(self, "_tree", tree)

    @property
    def names(self) -> frozenset[str]:
        """The argument names that occur."""
        calls = {id(node.func) for node in ast.walk(self._tree) if isinstance(node, ast.Call)}
        return frozenset(
            node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name) and id(node) not in calls
        )

    def evaluate(self, values: _Values) -> Any:
        """The value for numbers, or elementwise for integer arrays of one shape.

        Raises
        ------
        UsageError
            If a name has no value, or the value is not defined (a division by zero).
        """
        return _evaluate(self._tree, values, self.text)

    @property
    def is_comparison(self) -> bool:
        """Whether it compares sizes by their order, such as ``k <= n``, and so has no value itself."""
        return isinstance(self._tree, ast.Compare) and type(self._tree.ops[0]) in _ORDERS

    def holds(self, values: _Values) -> Any:
        """Whether a comparison of sizes holds: for numbers, or elementwise for integer arrays of one shape.

        Raises
        ------
        UsageError
            If it is no comparison by ``< <= > >=``, or a name has no value.

        Examples
        --------
        >>> Expression("k <= (m if side == 'L' else n)").holds({"side": "L", "m": 2, "k": 3})
        False
        """
        if not (isinstance(self._tree, ast.Compare) and self.is_comparison):
            raise UsageError(f"{self.text!r} is no comparison by <, <=, > or >=")
        left, right = (_number(side, values, self.text) for side in (self._tree.left, self._tree.comparators[0]))
        return _ORDERS[type(self._tree.ops[0])](left, right)

    def variable(self, values: Mapping[str, object]) -> str | None:
        """The name that the expression reduces to under the flags in `values`, if it is one name."""
        tree = _resolve(self._tree, values, self.text)
        return tree.id if isinstance(tree, ast.Name) else None

    def exponents(self, sizes: set[str] | tuple[str, ...], flags: Mapping[str, object]) -> frozenset[tuple[int, ...]]:
        """The monomials of the expression as a polynomial in `sizes` (in sorted order for a set).

        Parameters
        ----------
        sizes : names of the variables
        flags : values of all other names

        Returns
        -------
        frozenset of tuples
            One tuple of exponents, in the order of `sizes`, for each monomial that does not cancel;
            those of all arguments of a maximum or minimum.

        Raises
        ------
        UsageError
            If the expression is not a polynomial in `sizes`.
        """
        order = tuple(sorted(sizes)) if isinstance(sizes, set) else sizes
        variables: dict[str, object] = {name: _Polynomial.variable(i, len(order)) for i, name in enumerate(order)}
        value = self.evaluate({**flags, **variables})
        if not isinstance(value, _Polynomial):
            return frozenset({(0,) * len(order)} if value else ())
        return frozenset(value.terms)

    def __str__(self) -> str:
        return self.text


@cache
def parse(text: str) -> Expression:
    """The expression that a text denotes, parsed once."""
    return Expression(text)


def _check(node: ast.AST, text: str) -> None:
    """Refuses whatever is outside the language."""
    allowed = (
        *(ast.BinOp, ast.UnaryOp, ast.USub, ast.Name, ast.Load, ast.Constant, ast.IfExp, ast.Compare, ast.Call),
        *_OPERATORS,
        *_COMPARISONS,
        *_ORDERS,
    )
    known = isinstance(node, allowed)
    if isinstance(node, ast.Call):
        known = isinstance(node.func, ast.Name) and node.func.id in ("max", "min") and not node.keywords
        known = known and len(node.args) >= 2
    if isinstance(node, ast.Compare):
        known = len(node.ops) == 1
    if isinstance(node, ast.IfExp) and isinstance(node.test, ast.Compare):  # sizes are arrays, and decide nothing
        known = type(node.test.ops[0]) in _COMPARISONS
    if isinstance(node, ast.Constant):
        known = type(node.value) in (int, float, str)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        power = node.right.value if isinstance(node.right, ast.Constant) else None
        known = type(power) is int and 0 <= power <= _HIGHEST_POWER
        known = known and not any(isinstance(inner, ast.Pow) for inner in ast.walk(node.left))
    if not known:
        raise UsageError(f"{text!r} holds what an expression may not: {type(node).__name__}")


def _evaluate(node: ast.expr, values: _Values, text: str) -> Any:
    node = _resolve(node, values, text)
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return _lookup(node.id, values, text)
        case ast.UnaryOp():
            return -_number(node.operand, values, text)
        case ast.BinOp():
            left, right = _number(node.left, values, text), _number(node.right, values, text)
            try:
                return _OPERATORS[type(node.op)](left, right)
            except (TypeError, ZeroDivisionError, OverflowError) as error:
                raise UsageError(f"{text!r} has no value here: {error}") from error
        case ast.Call(func=ast.Name(id=name), args=arguments):
            operands = [_number(argument, values, text) for argument in arguments]
            if any(isinstance(operand, _Polynomial) for operand in operands):
                return _any_of(operands, ast.unparse(node))
            return reduce(_larger if name == "max" else _smaller, operands)
    raise UsageError(f"{text!r} is a comparison, not a value")


def _number(node: ast.expr, values: _Values, text: str) -> Any:
    """The value of what must be a number: a text can be multiplied, too, and become as long as memory is large."""
    value = _evaluate(node, values, text)
    if isinstance(value, str):
        raise UsageError(f"{text!r} calculates with the text {value!r}")
    return value


def _resolve(node: ast.expr, values: _Values, text: str) -> ast.expr:
    """Follows conditions down to the branch that holds."""
    while isinstance(node, ast.IfExp):
        if not isinstance(node.test, ast.Compare):
            raise UsageError(f"a condition in {text!r} is no comparison")
        left = _evaluate(node.test.left, values, text)
        right = _evaluate(node.test.comparators[0], values, text)
        try:
            holds = bool(_COMPARISONS[type(node.test.ops[0])](left, right))
        except (TypeError, ValueError) as error:
            raise UsageError(f"a condition in {text!r} cannot be decided: {error}") from error
        node = node.body if holds else node.orelse
    return node


def _lookup(name: str, values: _Values, text: str) -> Any:
    try:
        return values[name]
    except KeyError as error:
        raise UsageError(f"{text!r} uses {name!r}, which has no value here") from error


def _larger(a: Any, b: Any) -> Any:
    return a * (a >= b) + b * (a < b)  # of numbers and of arrays alike


def _smaller(a: Any, b: Any) -> Any:
    return a * (a <= b) + b * (a > b)


def _any_of(operands: list[Any], text: str) -> Any:
    """A polynomial with the monomials of all operands of a maximum or minimum.

    Any of them may be its value, so what cancels against one of them must not vanish: each is weighted
    by a number that no other maximum or minimum shares.
    """
    weighted = (operand * (crc32(f"{text} {i}".encode()) + 1) for i, operand in enumerate(operands))
    return reduce(operator.add, weighted)


@dataclass(frozen=True, slots=True)
class _Polynomial:
    """A polynomial as exponents -> coefficient, to read the monomials off an expression."""

    terms: Mapping[tuple[int, ...], Fraction]

    @classmethod
    def variable(cls, index: int, count: int) -> "_Polynomial":
        return cls({tuple(int(i == index) for i in range(count)): Fraction(1)})

    def _coerce(self, other: object) -> "_Polynomial":
        if isinstance(other, _Polynomial):
            return other
        if isinstance(other, int | float):
            zero = (0,) * len(next(iter(self.terms), ()))
            return _Polynomial({zero: Fraction(other)} if other else {})
        raise TypeError("not a polynomial")

    def __add__(self, other: object) -> "_Polynomial":
        sums = dict(self.terms)
        for exponents, coefficient in self._coerce(other).terms.items():
            sums[exponents] = sums.get(exponents, Fraction(0)) + coefficient
        return _Polynomial({exponents: value for exponents, value in sums.items() if value})

    def __mul__(self, other: object) -> "_Polynomial":
        products: dict[tuple[int, ...], Fraction] = {}
        for left, a in self.terms.items():
            for right, b in self._coerce(other).terms.items():
                exponents = tuple(map(operator.add, left, right))
                products[exponents] = products.get(exponents, Fraction(0)) + a * b
        return _Polynomial({exponents: value for exponents, value in products.items() if value})

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> "_Polynomial":
        return self * -1

    def __sub__(self, other: object) -> "_Polynomial":
        return self + self._coerce(other) * -1

    def __rsub__(self, other: object) -> "_Polynomial":
        return self._coerce(other) + self * -1

    def __truediv__(self, other: object) -> "_Polynomial":
        if not isinstance(other, int | float):
            raise TypeError("division by a polynomial")
        return _Polynomial({exponents: value / Fraction(other) for exponents, value in self.terms.items()})

    __floordiv__ = __truediv__  # what is rounded off is of no higher degree

    def __pow__(self, power: int) -> "_Polynomial":
        one = self._coerce(1)
        return reduce(operator.mul, [self] * power, one)
