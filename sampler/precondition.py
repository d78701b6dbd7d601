"""Preconditions: where a call's operands lie when it begins.

warm       the call was just made: operands and code are in the caches; a short call several times, so
           that the processor predicts its branches as well, whatever was run before
cold       operands are in no cache; code is. By flushing the cache lines, or in fresh memory, whose
           pages the processor has not touched lately either
A, B cold  these operands only, the others warm; or a part of one: 25% of A cold
touched    a list of accesses, oldest first: operands or parts of them, and so many bytes of foreign
           memory between; what is not listed is cold

The library's own buffers are as the call before left them, whatever the precondition.
"""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from .call import Call, View
from .errors import UsageError
from .program import Flush, Operation, Restore, Run, Touch

FOREIGN = "foreign memory"

# After a long call one of less than a microsecond takes up to three times as long, until it was made some ten times
# (docs/measurements.md).
SETTLING_WORK = 200_000  # flops and words, in some tens of microseconds
MOST_SETTLING_CALLS = 16

_FOREIGN_ROWS = 512
_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_ITEMS = r"(?:\d{1,3}% of )?\w+(?:, ?(?:\d{1,3}% of )?\w+)*"


@dataclass(frozen=True, slots=True)
class Warm:
    """The call was just made."""

    def __str__(self) -> str:
        return "warm"


@dataclass(frozen=True, slots=True)
class Cold:
    """No operand is in a cache: by flushing, or in fresh memory."""

    by: Literal["flush", "fresh memory"] = "flush"

    def __str__(self) -> str:
        return f"cold by {self.by}"


@dataclass(frozen=True, slots=True)
class Part:
    """So much of an operand, from the beginning: of its columns, or of the entries of a vector."""

    operand: str
    percent: int

    def __post_init__(self) -> None:
        if not 1 <= self.percent <= 100:
            raise UsageError(f"a part of an operand must be 1% to 100%, got {self.percent}% of {self.operand}")

    def view(self, whole: View) -> View:
        """The part of that operand: at least a column, or an entry."""
        rows, columns = int(whole.rows), int(whole.columns)
        if columns == 1:
            return whole.part(0, 0, -(-rows * self.percent // 100), 1)
        return whole.part(0, 0, rows, -(-columns * self.percent // 100))

    def __str__(self) -> str:
        return f"{self.percent}% of {self.operand}"


@dataclass(frozen=True, slots=True)
class Mixed:
    """The operands of these names, or parts of them, are flushed, the others warm."""

    cold: tuple[str | Part, ...]

    def __post_init__(self) -> None:
        names = [own.operand if isinstance(own, Part) else own for own in self.cold]
        if len(set(names)) < len(names):
            raise UsageError(f"each operand is named once where some are cold, got {self}")

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.cold))} cold"


@dataclass(frozen=True, slots=True)
class Foreign:
    """An access to so many bytes of memory that is no operand."""

    bytes: int

    def __post_init__(self) -> None:
        if self.bytes < 1:
            raise UsageError(f"foreign memory must be at least 1 byte, got {self.bytes}")

    @property
    def view(self) -> View:
        """The memory, as an operand."""
        columns = -(-self.bytes // (8 * _FOREIGN_ROWS))
        return View(FOREIGN, 0, 0, _FOREIGN_ROWS, columns, _FOREIGN_ROWS, kind="double")

    def __str__(self) -> str:
        unit = max((u for u, size in _UNITS.items() if self.bytes % size == 0), key=lambda u: _UNITS[u])
        return f"{self.bytes // _UNITS[unit]}{unit or 'B'}"


Access: TypeAlias = str | Part | View | Foreign  # an operand by its argument's name, a part of one, other memory


@dataclass(frozen=True, slots=True)
class Touched:
    """These accesses were made, oldest first, and nothing else is cached."""

    accesses: tuple[Access, ...]

    def __str__(self) -> str:
        return f"touched {', '.join(map(str, self.accesses))}"


Precondition: TypeAlias = Warm | Cold | Mixed | Touched

WARM = Warm()


def precondition_of(text: str) -> Precondition:
    """The precondition that a text names.

    Examples
    --------
    >>> precondition_of("warm"), precondition_of("cold by fresh memory")
    (Warm(), Cold(by='fresh memory'))
    >>> precondition_of("A, B cold")
    Mixed(cold=('A', 'B'))
    >>> str(precondition_of("touched A, 64KiB, 25% of B"))
    'touched A, 64KiB, 25% of B'

    Raises
    ------
    UsageError
        If it names none.
    """
    words = " ".join(text.split())
    match words:
        case "warm":
            return WARM
        case "cold" | "cold by flush":
            return Cold()
        case "cold by fresh memory":
            return Cold("fresh memory")
    if named := re.fullmatch(rf"({_ITEMS}) cold", words):
        return Mixed(tuple(_operand_or_part(item) for item in re.split(", ?", named[1])))
    if listed := re.fullmatch(rf"touched ({_ITEMS})", words):
        return Touched(tuple(_access(item) for item in re.split(", ?", listed[1])))
    known = "warm, cold by flush, cold by fresh memory, 'A, 50% of B cold' or 'touched A, 64KiB, 50% of B'"
    raise UsageError(f"a precondition is {known}, got {text!r}")


def _operand_or_part(text: str) -> str | Part:
    part = re.fullmatch(r"(\d{1,3})% of (\w+)", text)
    return Part(part[2], int(part[1])) if part else text


def _access(text: str) -> Access:
    size = re.fullmatch(r"(\d{1,15})(B|KiB|MiB|GiB)", text)
    return Foreign(int(size[1]) * _UNITS[size[2]]) if size else _operand_or_part(text)


def prepare(call: Call, precondition: Precondition) -> tuple[Operation, ...]:
    """The operations that bring a call's operands into the precondition, their contents restored.

    For `Cold("fresh memory")` a call must be on memory that was not used lately: see `job.job_of`.

    Raises
    ------
    UsageError
        If an operand is named that the call has not.
    """
    restore = tuple(Restore(view) for view in call.overwritten)
    return (*settle(call), *restore, *arrange(call, precondition))


def settle(call: Call) -> tuple[Operation, ...]:
    """The operations that make a call until the caches hold its code and the processor predicts its branches."""
    words = sum(int(np.max(view.rows * view.columns)) for view in call.views.values())
    work = max(float(np.max(call.flops)) + words, 1.0)
    times = int(np.clip(np.ceil(SETTLING_WORK / work), 1, MOST_SETTLING_CALLS))
    once: list[Operation] = [*(Restore(view) for view in call.overwritten), Run(call)]
    return tuple(once * times)


def arrange(call: Call, precondition: Precondition) -> tuple[Operation, ...]:
    """The operations that bring a call's operands from where the call just left them into the precondition."""
    match precondition:
        case Cold():
            return tuple(Flush(view) for view in call.views.values())
        case Mixed(cold):
            return tuple(Flush(_accessed(call, own)) for own in cold)
        case Touched(accesses):
            touches = tuple(Touch(_accessed(call, access)) for access in accesses)
            return (*(Flush(view) for view in call.views.values()), *touches)
    return ()


def _accessed(call: Call, access: Access) -> View:
    match access:
        case View():
            return access
        case Foreign():
            return access.view
        case Part():
            return access.view(_operand(call, access.operand))
    return _operand(call, access)


def _operand(call: Call, name: str) -> View:
    if name not in call.views:
        raise UsageError(f"{call.kernel.name} has the operands {', '.join(call.views)}, not {name!r}")
    return call.views[name]
