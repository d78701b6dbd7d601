"""A JSON object -> a statement."""

import json
from collections.abc import Callable
from typing import Any

from ..counters import Counters
from ..errors import UsageError, unknown
from ..precondition import precondition_of
from . import statements as say
from .tokens import given_value

Fields = dict[str, Any]


def read_object(text: str) -> say.Statement:
    """The statement of a line of JSON.

    Examples
    --------
    >>> read_object('{"do": "restore", "names": ["A"]}')
    Restored(names=('A',))

    Raises
    ------
    UsageError
        If it is none.
    """
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"not a line of JSON: {str(error)[:100]}") from None
    if not isinstance(fields, dict):
        raise UsageError("a line of JSON must hold one object")
    verb = fields.pop("do", None)
    if not isinstance(verb, str) or verb not in _VERBS:
        raise unknown("statement", say.short(verb), _VERBS)
    required, optional, build = _VERBS[verb]
    strangers = [name for name in fields if name not in required + optional]
    missing = [name for name in required if name not in fields]
    if strangers or missing:
        known = ", ".join((*required, *(f"[{name}]" for name in optional))) or "nothing else"
        came = ", ".join(map(say.short, fields)) or "nothing"
        raise UsageError(f"{verb} takes {known}; got {came}")
    return build(fields)


def _names(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _allocate(fields: Fields) -> say.Allocate:
    if isinstance(fields.get("structure"), str):
        fields["structure"] = say.structure_of(fields["structure"])
    return say.Allocate(**fields)


def _offset(fields: Fields) -> say.Offset:
    return say.Offset(**{**fields, "step": _names(fields.get("step", (0, 0)))})


def _call(fields: Fields) -> say.Invoke:
    arguments = fields.get("arguments", [])
    if not isinstance(arguments, list):
        raise UsageError(f"arguments must be a list, got {say.short(arguments)}")
    return say.Invoke(fields["routine"], tuple(map(given_value, arguments)), fields.get("mode", "visible"))


def _counters(fields: Fields) -> say.Count:
    events, multiplex = fields.get("events", []), fields.get("multiplex", False)
    if not isinstance(events, list) or not all(isinstance(event, str) for event in events):
        raise UsageError(f"events must be a list of names, got {say.short(events)}")
    if not isinstance(multiplex, bool):
        raise UsageError(f"multiplex must be true or false, got {say.short(multiplex)}")
    return say.Count(Counters(tuple(events), multiplex))


def _precondition(fields: Fields) -> say.Precede:
    text = fields["is"]
    if text is not None and not isinstance(text, str):
        raise UsageError(f"a precondition is a text or null, got {say.short(text)}")
    return say.Precede(None if text in (None, "none") else precondition_of(text))


def _restore(fields: Fields) -> say.Restored:
    names = fields["names"]
    return say.Restored(None if names == "all" else () if names in ("none", None) else _names(names))


# Fields that a statement must have, those that it may have, and what makes it of them
_VERBS: dict[str, tuple[tuple[str, ...], tuple[str, ...], Callable[[Fields], say.Statement]]] = {
    "allocate": (("name", "type", "rows"), ("columns", "ld", "structure", "seed"), _allocate),
    "offset": (("name", "of", "row", "column", "rows", "columns"), ("step",), _offset),
    "free": (("names",), (), lambda fields: say.Free(_names(fields["names"]))),
    "call": (("routine",), ("arguments", "mode"), _call),
    "go": ((), ("repetitions", "shuffled"), lambda fields: say.Go(**fields)),
    "counters": ((), ("events", "multiplex"), _counters),
    "parallel": ((), (), lambda fields: say.Parallel()),
    "sequence": ((), (), lambda fields: say.Sequence()),
    "end": ((), (), lambda fields: say.End()),
    "precondition": (("is",), (), _precondition),
    "restore": (("names",), (), _restore),
    "seed": (("seed",), (), lambda fields: say.Seed(**fields)),
    "print": (("text",), (), lambda fields: say.Print(**fields)),
    "kernels": (("path",), (), lambda fields: say.Load(**fields)),
}
