"""Kernels that a user declares in a TOML file (see docs/kernels.md)::

[kernel.geadd]  # C := alpha A + beta C
types = "sdcz"
arguments = [
    "size m", "size n", "scalar alpha", "in A(m, n)", "ld lda A",
    "scalar beta", "inout C(m, n)", "ld ldc C",
]
flops = "2 * m * n"
words = "3 * m * n"
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from .errors import UsageError, unknown
from .kernel import (
    TYPES,
    Access,
    Argument,
    Data,
    Flag,
    Inc,
    Info,
    Integer,
    Kernel,
    Kind,
    Ld,
    Option,
    Scalar,
    Size,
    Structure,
    Work,
)

_REQUIRED = ("types", "arguments", "flops", "words")
_OPTIONAL = ("returns", "names", "requires", "implied")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LARGEST_BYTES = 1 << 20
_ROUTINE = re.compile(r"[a-z][a-z0-9_]*")
_ARGUMENT = re.compile(r"(?P<role>\w+)(\s+(?P<name>\w+))?\s*(\((?P<inside>.*)\))?(?P<words>[^()]*)", re.ASCII)


def read_kernels(path: str | Path) -> tuple[Kernel, ...]:
    """The kernels that a file declares, in its order; `register` makes them known.

    Raises
    ------
    UsageError
        If the file cannot be read, or a declaration is wrong: file, kernel, rule, what came.
    """
    kernels = _contents(path).get("kernel")
    if not isinstance(kernels, dict) or not kernels:
        raise UsageError(f"{path}: no kernel is declared; begin each with a line such as [kernel.geadd]")
    declared = []
    for name, table in kernels.items():
        try:
            declared.append(_kernel(name, table))
        except UsageError as error:
            raise UsageError(f"{path}: kernel {name!r}: {str(error).removeprefix(f'kernel {name}: ')}") from error
    return tuple(declared)


def _contents(path: str | Path) -> dict[str, Any]:
    try:
        if Path(path).exists() and (not Path(path).is_file() or Path(path).stat().st_size > LARGEST_BYTES):
            raise UsageError(
                f"{path} must be a file of at most {LARGEST_BYTES} bytes; name a TOML file that declares kernels"
            )
        contents = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; name a TOML file that declares kernels") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not TOML: {' '.join(str(error).split())}") from error
    if strangers := contents.keys() - {"kernel"}:
        raise UsageError(f"{path}: a file of kernels has tables [kernel.NAME] only, got {min(strangers)!r}")
    return contents


def _kernel(name: str, table: Any) -> Kernel:
    if not _ROUTINE.fullmatch(name):
        raise UsageError("a name is that of the routine without its type, in small letters, such as geadd")
    if not isinstance(table, dict):
        raise UsageError(f"a declaration is a table with {', '.join(_REQUIRED)}, got {table!r}")
    for key in table.keys() - {*_REQUIRED, *_OPTIONAL}:
        raise unknown("key", key, (*_REQUIRED, *_OPTIONAL))
    for key in _REQUIRED:
        if key not in table:
            raise UsageError(f"{key} is missing; a declaration needs {', '.join(_REQUIRED)}")
    arguments = table["arguments"]
    if not isinstance(arguments, list):
        raise UsageError(f'arguments is a list such as ["size n", "in A(n, n)", "ld lda A"], got {arguments!r}')
    return Kernel(
        name,
        _text(table, "types"),
        tuple(_argument(number, text) for number, text in enumerate(arguments, 1)),
        _text(table, "flops"),
        _text(table, "words"),
        _returned(_text(table, "returns")) if "returns" in table else None,
        _names(table.get("names", {})),
        _requires(table.get("requires", [])),
        implied=_implied(table.get("implied", [])),
    )


def _text(table: Mapping[str, Any], key: str) -> str:
    """The text under a key."""
    if not isinstance(table[key], str):
        raise UsageError(f"{key} is a text in quotes, got {table[key]!r}")
    return str(table[key])


def _names(names: Any) -> dict[str, str]:
    known = isinstance(names, dict) and all(
        dtype in TYPES and isinstance(routine, str) and _ROUTINE.fullmatch(routine) for dtype, routine in names.items()
    )
    if not known:
        raise UsageError(f'names tells routines by data type, such as {{z = "dznrm2"}}, got {names!r}')
    return dict(names)


def _requires(comparisons: Any) -> tuple[str, ...]:
    if not _is_list_of_texts(comparisons):
        raise UsageError(f'requires is a list of comparisons of sizes such as ["k <= n"], got {comparisons!r}')
    return tuple(comparisons)


def _implied(sizes: Any) -> tuple[str, ...]:
    if not _is_list_of_texts(sizes) or not all(_NAME.fullmatch(size) for size in sizes):
        raise UsageError(f'implied is a list of sizes that are no arguments, such as ["m"], got {sizes!r}')
    return tuple(sizes)


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


@dataclass(frozen=True, slots=True)
class _Parts:
    """An argument's text in parts: ``role name(expressions) words``."""

    name: str
    expressions: tuple[str, ...]
    words: tuple[str, ...]


class _Malformed(Exception):
    """An argument that is not of its role's form."""


def _argument(number: int, text: Any) -> Argument:
    role = text.split()[0] if isinstance(text, str) and text.split() else ""
    if role not in _ROLES:
        raise UsageError(f"argument {number} begins with one of {', '.join(_ROLES)}, got {text!r}")
    example, build = _ROLES[role]
    try:
        return build(_parsed(text))
    except _Malformed as error:
        raise UsageError(f'argument {number} {error}, got {text!r}; write it like "{example}"') from None


def _returned(text: str) -> Data:
    try:
        parts = _parsed(f"out {text}")
        if parts.expressions:
            raise _Malformed("is one number")
        return _operand("out", parts)
    except _Malformed as error:
        raise UsageError(f'returns {error}, got {text!r}; write it like "value real"') from None


def _parsed(text: str) -> _Parts:
    match = _ARGUMENT.fullmatch(text.strip())
    if match is None:
        raise _Malformed("is a role, a name, expressions in parentheses, and words")
    if match["name"] and not _NAME.fullmatch(match["name"]):
        raise _Malformed("has a name that begins with a digit")
    expressions = () if match["inside"] is None else _split(match["inside"])
    return _Parts(match["name"] or "", expressions, tuple(match["words"].split()))


def _split(inside: str) -> tuple[str, ...]:
    """Expressions between commas, but for those within parentheses."""
    depth, parts = 0, [""]
    for character in inside:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return tuple(part.strip() for part in parts)


# --- the roles


def _demand(parts: _Parts, expressions: tuple[int, ...] = (0,), words: tuple[int, ...] = (0,)) -> None:
    """Refuses a missing name, and other numbers of expressions and words than those."""
    if not parts.name:
        raise _Malformed("needs a name")
    if len(parts.expressions) not in expressions:
        raise _Malformed(f"has {_either(expressions)} expressions in parentheses")
    if words and len(parts.words) not in words:
        raise _Malformed(f"has {_either(words)} words at the end")


def _either(numbers: tuple[int, ...]) -> str:
    return " or ".join(map(str, numbers))


def _flag(parts: _Parts) -> Flag:
    _demand(parts, words=(1, 2))
    if not all(letters.isalnum() and letters.isascii() for letters in parts.words):
        raise _Malformed("has letters only")
    return Flag(parts.name, *parts.words)


def _option(parts: _Parts) -> Option:
    _demand(parts, words=())
    if not parts.words or not all(re.fullmatch(r"-?[0-9]{1,9}", word) for word in parts.words):
        raise _Malformed("has integers for values")
    return Option(parts.name, tuple(map(int, parts.words)))


def _size(parts: _Parts) -> Size:
    _demand(parts, words=(0, 1))
    if parts.words not in ((), ("given",)):
        raise _Malformed("may be given, and nothing else")
    return Size(parts.name, given=bool(parts.words))


def _scalar(parts: _Parts) -> Scalar:
    _demand(parts, words=(0, 1))
    if parts.words not in ((), ("real",)):
        raise _Malformed("may be real, and nothing else")
    return Scalar(parts.name, "real" if parts.words else "element")


def _types(parts: _Parts) -> str:
    """The data types of an argument that not all of a kernel's routines have."""
    _demand(parts, expressions=(1,), words=(0, 2))
    if not parts.words:
        return "".join(TYPES)
    if parts.words[0] != "for" or set(parts.words[1]) - set(TYPES):
        raise _Malformed("may be for some data types only")
    return parts.words[1]


def _integer(parts: _Parts) -> Integer:
    types = _types(parts)
    return Integer(parts.name, parts.expressions[0], types)


def _work(parts: _Parts) -> Work:
    types = _types(parts)
    return Work(parts.name, parts.expressions[0], types)


def _operand(access: Access, parts: _Parts) -> Data:
    _demand(parts, expressions=(0, 1, 2), words=())
    kinds = [word for word in parts.words if word in get_args(Kind)]
    structure: Any = " ".join(word for word in parts.words if word not in kinds) or "general"
    if structure not in get_args(Structure) or len(kinds) > 1:
        raise _Malformed(f"has a kind ({', '.join(get_args(Kind))}) and a structure ({', '.join(get_args(Structure))})")
    kind: Any = kinds[0] if kinds else "integer" if structure == "pivots" else "element"
    rows, columns = (*parts.expressions, "1", "1")[:2]
    return Data(parts.name, access, rows, columns, structure, kind)


def _of(role: type[Ld] | type[Inc]) -> Callable[[_Parts], Ld | Inc]:
    def build(parts: _Parts) -> Ld | Inc:
        _demand(parts, words=(1,))
        return role(parts.name, parts.words[0])

    return build


def _info(parts: _Parts) -> Info:
    _demand(_Parts(parts.name or "info", parts.expressions, parts.words))
    return Info(parts.name or "info")


_ROLES: dict[str, tuple[str, Callable[[_Parts], Argument]]] = {
    "flag": ("flag trans NTC", _flag),
    "option": ("option itype 1 2 3", _option),
    "size": ("size n", _size),
    "scalar": ("scalar alpha", _scalar),
    "in": ("in A(m, n) triangular", lambda parts: _operand("in", parts)),
    "out": ("out tau(min(m, n))", lambda parts: _operand("out", parts)),
    "inout": ("inout A(m, n)", lambda parts: _operand("inout", parts)),
    "ld": ("ld lda A", _of(Ld)),
    "inc": ("inc incx x", _of(Inc)),
    "integer": ("integer lwork(64 * n)", _integer),
    "work": ("work iwork(n) for sd", _work),
    "info": ("info", _info),
}
