"""A Fortran argument list -> a call."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..call import Call, bind
from ..errors import UsageError
from ..expression import parse
from ..kernel import COMPLEX, Argument, Data, Flag, Inc, Info, Integer, Kernel, Ld, Option, Scalar, Size, Work
from .memory import Memory, Placement
from .statements import Given, Operand, Scratch, check_natural, short

_SLOTS = 64  # for the scratch memory of one call: more than it can have arguments
_DERIVED = (Integer, Work, Info)  # what follows from the other arguments, and may be left out


@dataclass(frozen=True, slots=True)
class Invocation:
    """A call whose operands may move.

    Parameters
    ----------
    kernel : Kernel
    dtype : str
    values : tuple
        As `bind` takes them, with placements in place of views.
    integers : tuple of int
        All integers that the routine is passed.
    """

    kernel: Kernel
    dtype: str
    values: tuple[Any, ...]
    integers: tuple[int, ...]

    @property
    def placements(self) -> tuple[Placement, ...]:
        """Where its operands lie."""
        return tuple(value for value in self.values if isinstance(value, Placement))

    def call(self, repetitions: int = 1) -> Call:
        """The call, array-valued if operands move.

        Raises
        ------
        UsageError
            If an operand leaves its memory.
        """
        values = (value.view(repetitions) if isinstance(value, Placement) else value for value in self.values)
        return bind(self.kernel, *values)


def invocation(kernel: Kernel, dtype: str, arguments: Sequence[Given], memory: Memory, lane: int = 0) -> Invocation:
    """The call of a routine with arguments in the order of its Fortran interface.

    Sizes, leading dimensions and increments are given; what follows from them (lwork, work, info) may
    be left out: all of it, the info only, or one by one with a ``_``.

    Raises
    ------
    UsageError
        If the arguments do not fit the routine or the operands.
    """
    routine = kernel.routine(dtype)
    named = _named(kernel, dtype, arguments)
    try:
        return _Reading(kernel, dtype, named, memory, lane).invocation()
    except UsageError as error:
        text = str(error)
        raise UsageError(text if text.startswith(kernel.name) else f"{routine}: {text}") from None


def _named(kernel: Kernel, dtype: str, arguments: Sequence[Given]) -> dict[str, tuple[Argument, Given]]:
    """The arguments by name; what is left out is None."""
    every = kernel.arguments_for(dtype)
    for left_out in ((), (Info,), _DERIVED):
        given = [argument for argument in every if not isinstance(argument, left_out)]
        if len(given) == len(arguments):
            named = {argument.name: (argument, value) for argument, value in zip(given, arguments, strict=True)}
            return {argument.name: named.get(argument.name, (argument, None)) for argument in every}
    needed = [f"[{argument.name}]" if isinstance(argument, _DERIVED) else argument.name for argument in every]
    raise UsageError(
        f"{kernel.routine(dtype)} takes {' '.join(needed) or 'no arguments'}: {len(needed)} arguments, "
        f"got {len(arguments)}"
    )


class _Reading:
    """Reads the arguments of one call, each when another needs it."""

    def __init__(
        self, kernel: Kernel, dtype: str, named: dict[str, tuple[Argument, Given]], memory: Memory, lane: int
    ) -> None:
        self._kernel, self._dtype, self._named, self._memory = kernel, dtype, named, memory
        self._known: dict[str, Any] = {}
        self._slots = _SLOTS * lane  # lanes share no scratch memory

    def invocation(self) -> Invocation:
        for argument, value in self._named.values():
            if isinstance(argument, Flag | Option | Size | Scalar):
                self._known[argument.name] = self._plain(argument, value)
        steps = {argument.of: self._step(argument, value) for argument, value in self._named.values()
                 if isinstance(argument, Ld | Inc)}  # fmt: skip
        for size in self._kernel.implied:
            self._known[size] = self._implied(size, steps)
        values = [self._value(argument, steps) for argument in self._kernel.bound]
        for argument, value in self._named.values():
            self._check_derived(argument, value)
        result = Invocation(self._kernel, self._dtype, tuple(values), self._integers(steps))
        self._check_sizes(result.call())
        return result

    def _plain(self, argument: Argument, value: Given) -> Any:
        match argument:
            case Flag(name):
                letters = argument.letters_for(self._dtype)
                letter = show(value).upper()
                if len(letter) != 1 or letter not in letters:
                    raise UsageError(f"{name} must be one of {', '.join(letters)}, got {show(value)}")
                return letter
            case Option(name, known):
                if value not in known or not isinstance(value, int):
                    raise UsageError(f"{name} must be one of {', '.join(map(str, known))}, got {show(value)}")
                return value
            case Size(name):
                return check_integer(name, value, 0)
            case Scalar(name, kind):
                real = kind != "element" or self._dtype not in COMPLEX
                if not isinstance(value, int | float if real else int | float | complex):
                    raise UsageError(f"{name} must be a {'real ' * real}number, got {show(value)}")
                return value
        raise UsageError(f"{argument.name} cannot be given")

    def _step(self, argument: Ld | Inc, value: Given) -> int:
        """A leading dimension or an increment."""
        return check_integer(argument.name, value, 1)

    def _implied(self, size: str, steps: dict[str, int]) -> int:
        """A size that is no argument: the rows that an operand's memory has from its first entry on."""
        data = next(data for data in self._kernel.data if data.rows == size)
        ld, operand = steps[data.name], self._named[data.name][1]
        if not isinstance(operand, Operand):
            return ld
        region = self._memory.find(operand.name)
        own = region.buffer.ld
        return region.rows - operand.row if ld == own else ld - (operand.row + operand.column * own) % ld

    def _value(self, argument: Argument, steps: dict[str, int]) -> Any:
        """What `bind` takes, or where an operand lies."""
        if not isinstance(argument, Data):
            return self._known[argument.name]
        rows, columns = (self._extent(text) for text in (argument.rows, argument.columns))
        step = steps.get(argument.name)
        if argument.name in self._kernel.vectors and step not in (None, 1) and rows > 1:
            rows, columns, ld = 1, rows, int(step or 1)
        elif argument.name in self._kernel.vectors:
            ld = 0
        else:
            ld = max(1, rows) if step is None else step
            if ld < rows:
                raise UsageError(f"the leading dimension of {argument.name} must be at least {rows}, got {ld}")
        value = self._named[argument.name][1] if argument.name in self._named else Scratch(rows * columns)
        if not isinstance(value, Operand | Scratch):
            raise UsageError(f"{argument.name} must be an operand such as A, A+5, A[5,3] or [count], got {show(value)}")
        return self._placement(argument, value, rows, columns, ld)

    def _placement(self, data: Data, operand: Operand | Scratch, rows: int, columns: int, ld: int) -> Placement:
        self._slots += isinstance(operand, Scratch)
        region = self._memory.region(operand, data, self._dtype, self._slots, (rows, columns, ld or max(1, rows)))
        own = region.buffer.ld
        label, first = f"{data.name} = {show(operand)}", 0
        if isinstance(operand, Operand):
            first = operand.row + operand.column * own
        if not ld:  # a vector without gaps runs on into the next columns, if it must
            ld = own if first % own + rows <= region.rows else own + first + rows
        return Placement(region, label, first, rows, columns, ld)

    def _extent(self, text: str) -> int:
        size = int(parse(text).evaluate(self._known))
        if size < 0:
            raise UsageError(f"the size {text} = {size} is negative")
        return size

    def _check_derived(self, argument: Argument, value: Given) -> None:
        """Refuses what does not follow from the other arguments, where it is given all the same."""
        match argument:
            case Integer(name, text) if value is not None:
                wanted = int(parse(text).evaluate(self._known))
                if value != wanted:
                    raise UsageError(f"{name} is {wanted} here, got {show(value)}; leave it out, or write _")
            case Work(name, text) if value is not None:
                least = int(parse(text).evaluate(self._known))
                if not isinstance(value, Scratch) or value.elements < least:
                    raise UsageError(
                        f"{name} must be scratch memory of [{least}] elements or more, got {show(value)}; "
                        "leave it out, or write _"
                    )
            case Info(name) if not isinstance(value, int | Scratch | None):
                raise UsageError(f"{name} is reported where it is not 0, got {show(value)}; leave it out, or write _")

    def _integers(self, steps: dict[str, int]) -> tuple[int, ...]:
        sizes = [self._known[name] for name in self._kernel.sizes]
        derived = [
            int(parse(argument.value).evaluate(self._known))
            for argument, _ in self._named.values()
            if isinstance(argument, Integer)
        ]
        return (*sizes, *steps.values(), *derived)

    def _check_sizes(self, call: Call) -> None:
        """Makes sure that the call is the one that was written."""
        for name, size in call.sizes.items():
            if size != self._known[name]:
                raise UsageError(f"{name} = {self._known[name]} has no effect here, it must be {size}")


def check_integer(name: str, value: Given, least: int) -> int:
    """An integer argument.

    Raises
    ------
    UsageError
        If it is none, or too small.
    """
    if not isinstance(value, int) or value < least:
        raise UsageError(f"{name} must be an integer of at least {least}, got {show(value)}")
    return check_natural(name, value)


def show(value: Given) -> str:
    """An argument as it is written."""
    match value:
        case None:
            return "_"
        case Scratch(elements):
            return f"[{elements}]"
        case Operand(name, row, 0):
            return f"{name}+{row}" if row else name
        case Operand(name, row, column):
            return f"{name}[{row},{column}]"
        case complex():
            return f"{value.real},{value.imag}"
    return short(value)
