"""Numbers and operands in text."""

import math
import re
from typing import Any

from ..errors import UsageError
from .statements import MOST, Given, Operand, Scratch, short

OMITTED = "_"
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_REAL = re.compile(r"[+-]?(?:[0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})(?:[eEdD][+-]?[0-9]{1,5})?")
_OPERAND = re.compile(
    r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:\+(?P<offset>[0-9]{1,19})|\[(?P<row>[0-9]{1,19}),(?P<column>[0-9]{1,19})\])?",
    re.ASCII,
)
_SCRATCH = re.compile(r"\[([0-9]{1,19})\]")


def integer(text: str, what: str = "a size") -> int:
    """An integer from -2^48 to 2^48.

    Raises
    ------
    UsageError
        If the text is none.
    """
    if not _INTEGER.fullmatch(text) or abs(int(text)) > MOST:
        raise UsageError(f"{what} must be an integer of at most 2^48, got {short(text)}")
    return int(text)


def given(text: str) -> Given:
    """An argument of a call.

    Examples
    --------
    >>> given("A+5"), given("A[5,3]"), given("[100]"), given("1.5"), given("2,-3"), given("_")
    (Operand(name='A', row=5, column=0), Operand(name='A', row=5, column=3), Scratch(elements=100), 1.5, (2-3j), None)

    Raises
    ------
    UsageError
        If the text is none.
    """
    if text == OMITTED:
        return None
    if _INTEGER.fullmatch(text):
        return integer(text, "an argument")
    if scratch := _SCRATCH.fullmatch(text):
        return Scratch(integer(scratch[1]))
    if named := _OPERAND.fullmatch(text):
        return Operand(named["name"], integer(named["row"] or named["offset"] or "0"), integer(named["column"] or "0"))
    parts = text.split(",")
    if len(parts) <= 2 and all(map(_REAL.fullmatch, parts)):
        numbers = [finite(float(re.sub("[dD]", "e", part))) for part in parts]
        return numbers[0] if len(numbers) == 1 else complex(*numbers)
    raise UsageError(
        f"an argument is a letter, a number, a complex number 2,3, an operand A, A+5 or A[5,3], [count], or _; "
        f"got {short(text)}"
    )


def given_value(value: Any) -> Given:
    """An argument of a call that JSON holds: text as in a line, a number, [count], [re, im], or null.

    Raises
    ------
    UsageError
        If the value is none.
    """
    match value:
        case None:
            return None
        case str():
            return given(value)
        case bool():
            pass
        case int() if abs(value) <= MOST:
            return value
        case float():
            return finite(value)
        case [int(count)] if 0 <= count <= MOST and not isinstance(count, bool):
            return Scratch(count)
        case [int() | float() as real, int() | float() as imaginary] if max(abs(real), abs(imaginary)) <= MOST:
            return complex(finite(float(real)), finite(float(imaginary)))
    raise UsageError(f"an argument is text, a number, [count], [re, im] or null; got {short(value)}")


def finite(number: float) -> float:
    """A number that is finite.

    Raises
    ------
    UsageError
        If it is not.
    """
    if not math.isfinite(number):
        raise UsageError(f"a number must be finite, got {number}")
    return number
