"""A line -> a statement."""

from collections.abc import Callable, Sequence

from ..counters import Counters
from ..errors import UsageError
from ..precondition import precondition_of
from . import statements as say
from .jsonl import read_object
from .tokens import given, integer

MULTIPLEX, SHUFFLED, ALL, NONE = "multiplex", "shuffled", "all", "none"


def read(text: str) -> say.Statement | None:
    """The statement of a line of text or JSON; None if the line is blank or a comment.

    Examples
    --------
    >>> read("allocate A d 100 50")
    Allocate(name='A', type='d', rows=100, columns=50, ld=None, structure=None, seed=None)
    >>> read('{"do": "go", "repetitions": 3}')
    Go(repetitions=3, shuffled=False)

    Raises
    ------
    UsageError
        If it is no statement.
    """
    text = text.strip()
    if text.startswith("{"):
        return read_object(text)
    verb, *rest = text.split(maxsplit=1) or [""]
    if verb == "print":
        return say.Print(*rest or [""])
    words = text.split("#", 1)[0].split()
    if not words:
        return None
    if words[0] in _VERBS:
        return _VERBS[words[0]](words[1:])
    return _invoke(words, "visible")


def _allocate(words: Sequence[str]) -> say.Allocate:
    plain, options = _options("allocate", words, ("ld", "structure", "seed"))
    if not 3 <= len(plain) <= 4:
        raise UsageError(f"allocate takes NAME TYPE ROWS [COLUMNS], got {len(plain)} words")
    return say.Allocate(
        name=plain[0],
        type=plain[1],
        rows=integer(plain[2], "rows"),
        columns=integer(plain[3], "columns") if len(plain) == 4 else 1,
        ld=integer(options["ld"], "ld") if "ld" in options else None,
        structure=say.structure_of(options["structure"]) if "structure" in options else None,
        seed=integer(options["seed"], "seed") if "seed" in options else None,
    )


def _offset(words: Sequence[str]) -> say.Offset:
    plain, options = _options("offset", words, ("step",))
    if len(plain) != 6:
        raise UsageError(f"offset takes NAME OF ROW COLUMN ROWS COLUMNS [step=ROWS,COLUMNS], got {len(plain)} words")
    row, column, rows, columns = (integer(word) for word in plain[2:])
    step = tuple(integer(part, "step") for part in options.get("step", "0,0").split(","))
    return say.Offset(plain[0], plain[1], row, column, rows, columns, step)  # type: ignore[arg-type]  # it checks


def _options(verb: str, words: Sequence[str], known: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Plain words, and values of the form name=value."""
    plain: list[str] = []
    options: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            plain.append(word)
        elif name not in known or name in options:
            raise UsageError(f"{verb} has the options {'=, '.join(known)}=, each once; got {say.short(word)}")
        else:
            options[name] = value
    return plain, options


def _invoke(words: Sequence[str], mode: say.Mode) -> say.Invoke:
    if not words:
        raise UsageError("a call takes a routine and its arguments, got nothing")
    if words[0] in _VERBS and mode == "visible":
        raise UsageError(f"call takes a routine and its arguments, {words[0]!r} is a statement")
    return say.Invoke(words[0], tuple(map(given, words[1:])), mode)


def _go(words: Sequence[str]) -> say.Go:
    shuffled = SHUFFLED in words[-1:]
    plain = words[:-1] if shuffled else words
    if len(plain) > 1:
        raise UsageError(f"go takes [REPETITIONS] [{SHUFFLED}], got {say.short(' '.join(words))}")
    return say.Go(integer(plain[0], "the number of repetitions") if plain else 1, shuffled)


def _counters(words: Sequence[str]) -> say.Count:
    multiplex = MULTIPLEX in words[-1:]
    return say.Count(Counters(tuple(words[:-1] if multiplex else words), multiplex))


def _block(word: str, statement: say.Statement) -> Callable[[Sequence[str]], say.Statement]:
    def begin(words: Sequence[str]) -> say.Statement:
        if list(words) != ["{"]:
            raise UsageError(f"{word} takes {{ at the end of its line, and nothing else")
        return statement

    return begin


def _end(words: Sequence[str]) -> say.End:
    if words:
        raise UsageError("} stands on a line of its own")
    return say.End()


def _precondition(words: Sequence[str]) -> say.Precede:
    text = " ".join(words)
    return say.Precede(None if text == NONE else precondition_of(text))


def _restore(words: Sequence[str]) -> say.Restored:
    if list(words) in ([ALL], [NONE]):
        return say.Restored(None if words[0] == ALL else ())
    if not words:
        raise UsageError("restore takes all, none, or names of memory, got nothing")
    return say.Restored(tuple(words))


def _seed(words: Sequence[str]) -> say.Seed:
    if len(words) != 1:
        raise UsageError(f"seed takes a number, got {len(words)} words")
    return say.Seed(integer(words[0], "the seed"))


def _kernels(words: Sequence[str]) -> say.Load:
    return say.Load(" ".join(words))


_VERBS: dict[str, Callable[[Sequence[str]], say.Statement]] = {
    "allocate": _allocate,
    "offset": _offset,
    "free": lambda words: say.Free(tuple(words)),
    "call": lambda words: _invoke(words, "visible"),
    "hidden": lambda words: _invoke(words, "hidden"),
    "untimed": lambda words: _invoke(words, "untimed"),
    "go": _go,
    "counters": _counters,
    "parallel": _block("parallel", say.Parallel()),
    "sequence": _block("sequence", say.Sequence()),
    "}": _end,
    "precondition": _precondition,
    "restore": _restore,
    "seed": _seed,
    "kernels": _kernels,
}
VERBS = (*(verb for verb in _VERBS if verb != "}"), "print")
