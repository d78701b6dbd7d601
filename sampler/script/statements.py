"""What a line can say."""

import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from ..counters import Counters
from ..errors import UsageError, unknown
from ..kernel import TYPES, Structure
from ..precondition import Precondition

Mode = Literal["visible", "hidden", "untimed"]
Letter = str  # of a data type, or i for integers

LETTERS = (*TYPES, "i")
MOST = 2**48  # of every integer: more than memory can be, and products with bytes fit into 64 bits
_NAME = re.compile(r"(?!_$)[A-Za-z_][A-Za-z0-9_]{0,99}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Operand:
    """Named memory, from an element on."""

    name: str
    row: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Scratch:
    """So many elements of memory without a name."""

    elements: int


Given: TypeAlias = int | float | complex | Operand | Scratch | None  # None: left out


@dataclass(frozen=True, slots=True)
class Allocate:
    """Makes named memory: a matrix, or a vector of one column.

    Parameters
    ----------
    name, type : str
        The type is a letter: s, d, c, z, or i for integers.
    rows, columns, ld : int
        The leading dimension is by default that of a dense matrix.
    structure : str, optional
        What it is filled with; by default what the first call that uses it needs.
    seed : int, optional
        Of its contents; by default one after the other.
    """

    name: str
    type: Letter
    rows: int
    columns: int = 1
    ld: int | None = None
    structure: Structure | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        check_name(self.name)
        if self.type not in LETTERS:
            raise UsageError(f"the type must be one of {', '.join(LETTERS)}, got {short(self.type)}")
        check_natural("rows", self.rows)
        check_natural("columns", self.columns)
        if self.ld is not None and check_natural("ld", self.ld) < max(1, self.rows):
            raise UsageError(f"ld must be at least max(1, rows) = {max(1, self.rows)}, got {self.ld}")
        if self.structure is not None and self.structure not in get_args(Structure):
            raise unknown("structure", self.structure, get_args(Structure))
        if self.seed is not None:
            check_natural("seed", self.seed)


@dataclass(frozen=True, slots=True)
class Offset:
    """Gives a part of named memory a name, and lets it move in every repetition.

    Parameters
    ----------
    name, of : str
    row, column, rows, columns : int
        The part: a window of `of`.
    step : (int, int)
        Rows and columns by which it advances from one repetition to the next.
    """

    name: str
    of: str
    row: int
    column: int
    rows: int
    columns: int
    step: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        check_name(self.name)
        check_name(self.of)
        for what in ("row", "column", "rows", "columns"):
            check_natural(what, getattr(self, what))
        if not isinstance(self.step, tuple) or len(self.step) != 2:
            raise UsageError(f"step must be two integers, rows and columns, got {short(self.step)}")
        for part in self.step:
            check_natural("step", abs(part) if _is_integer(part) else part)


@dataclass(frozen=True, slots=True)
class Free:
    """Gives memory back, with all names of its parts; or takes such a name away."""

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        check_names("free", self.names)


@dataclass(frozen=True, slots=True)
class Invoke:
    """Queues a call.

    Parameters
    ----------
    routine : str
        Its name with the letter of the data type: ``"dgemm"``.
    arguments : tuple
        In the order of the Fortran interface.
    mode : str
        visible: timed and reported; hidden: timed, not reported; untimed: just made.
    """

    routine: str
    arguments: tuple[Given, ...] = ()
    mode: Mode = "visible"

    def __post_init__(self) -> None:
        check_name(self.routine)
        if self.mode not in get_args(Mode):
            raise unknown("mode of a call", self.mode, get_args(Mode))


@dataclass(frozen=True, slots=True)
class Go:
    """Runs what is queued so many times, in order or shuffled."""

    repetitions: int = 1
    shuffled: bool = False

    def __post_init__(self) -> None:
        if check_natural("the number of repetitions", self.repetitions) < 1:
            raise UsageError("the number of repetitions must be at least 1, got 0")
        if not isinstance(self.shuffled, bool):
            raise UsageError(f"shuffled must be true or false, got {short(self.shuffled)}")


@dataclass(frozen=True, slots=True)
class Count:
    """Counts events in every timed call, from the next go on."""

    counters: Counters


@dataclass(frozen=True, slots=True)
class Parallel:
    """Begins a region whose calls are made at once, each on a thread of its own."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """Begins calls that one thread of a region makes in order."""


@dataclass(frozen=True, slots=True)
class End:
    """Ends a sequence or a region."""


@dataclass(frozen=True, slots=True)
class Precede:
    """Where operands lie before each call that follows; None: where the call before left them."""

    precondition: Precondition | None


@dataclass(frozen=True, slots=True)
class Restored:
    """Which operands get their original contents back before each call that follows.

    Parameters
    ----------
    names : tuple of str, optional
        Names of memory; None: all that the call overwrites.
    """

    names: tuple[str, ...] | None = ()

    def __post_init__(self) -> None:
        if self.names is not None and self.names:
            check_names("restore", self.names)


@dataclass(frozen=True, slots=True)
class Seed:
    """Of the contents of memory and the order of shuffled repetitions from here on."""

    seed: int

    def __post_init__(self) -> None:
        check_natural("seed", self.seed)


@dataclass(frozen=True, slots=True)
class Print:
    """A text among the results."""

    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise UsageError(f"print takes a text, got {short(self.text)}")


@dataclass(frozen=True, slots=True)
class Load:
    """Reads declarations of kernels from a file."""

    path: str

    def __post_init__(self) -> None:
        if not isinstance(self.path, str) or not self.path or not self.path.isprintable():
            raise UsageError(f"kernels takes the path of a file, got {short(self.path)}")


Bracket: TypeAlias = Parallel | Sequence | End
Statement: TypeAlias = (
    Allocate | Offset | Free | Invoke | Bracket | Go | Count | Precede | Restored | Seed | Print | Load
)


def check_name(name: Any) -> str:
    """A name of memory or of a routine.

    Raises
    ------
    UsageError
        If it is none.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UsageError(f"a name must be up to 100 letters, digits and underscores, got {short(name)}")
    return name


def check_names(verb: str, names: Any) -> None:
    """One name or more.

    Raises
    ------
    UsageError
        If there is none, or one is not a name.
    """
    if not isinstance(names, tuple) or not names:
        raise UsageError(f"{verb} takes names, got {short(names)}")
    for name in names:
        check_name(name)


def check_natural(what: str, value: Any) -> int:
    """An integer from 0 to 2^48.

    Raises
    ------
    UsageError
        If it is none.
    """
    if not _is_integer(value) or not 0 <= value <= MOST:
        raise UsageError(f"{what} must be an integer from 0 to 2^48, got {short(value)}")
    return int(value)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def short(value: Any) -> str:
    """A value for a message."""
    try:
        text = repr(value)
    except RecursionError:
        text = "something deeply nested"
    return text if len(text) <= 60 else f"{text[:57]}..."


def structure_of(word: str) -> Structure:
    """A structure as a line names it, hyphens for blanks: ``"positive-definite"``.

    Raises
    ------
    UsageError
        If there is none of that name.
    """
    names: dict[str, Structure] = {name.replace(" ", "-"): name for name in get_args(Structure)}
    key = word.replace(" ", "-")
    if key not in names:
        raise unknown("structure", word, names)
    return names[key]
