"""Named memory, views into it, scratch memory."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..call import Extent, View
from ..errors import UsageError
from ..kernel import ITEM_BYTES, Data, Kind, Structure
from ..program import Buffer
from ..resources import available_memory
from .statements import Allocate, Letter, Offset, Operand, Scratch

INTEGER = "i"
WIDEST_INTEGER_BYTES = 8
ADDRESSABLE_BYTES = 2.0**47


@dataclass(frozen=True, slots=True)
class Region:
    """A window of a buffer, which may advance in every repetition.

    Parameters
    ----------
    buffer : Buffer
    type : str
        Letter of what it holds.
    row, column, rows, columns : int
    step : (int, int)
        Rows and columns from one repetition to the next.
    """

    buffer: Buffer
    type: Letter
    row: int
    column: int
    rows: int
    columns: int
    step: tuple[int, int] = (0, 0)

    @property
    def elements(self) -> int:
        """Elements between its first and its last."""
        return self.buffer.ld * (self.columns - 1) + self.rows if self.columns else 0

    def at(self, repetitions: int) -> tuple[Extent, Extent]:
        """Its first row and column in each of so many repetitions (numbers if it stays).

        Raises
        ------
        UsageError
            If it leaves the buffer.
        """
        if repetitions == 1 or self.step == (0, 0):
            return self.row, self.column
        for what, first, size, step, room in (
            ("row", self.row, self.rows, self.step[0], self.buffer.rows),
            ("column", self.column, self.columns, self.step[1], self.buffer.columns),
        ):
            last = first + (repetitions - 1) * step
            if last < 0 or last + size > room:
                raise UsageError(
                    f"a part of {self.buffer.name} that advances by {step} {what}s leaves it within {repetitions} "
                    f"repetitions: {self.buffer.name} has {room} {what}s; make it larger, or go less often"
                )
        moves = np.arange(repetitions)
        return self.row + self.step[0] * moves, self.column + self.step[1] * moves


@dataclass(frozen=True, slots=True)
class Placement:
    """Where an operand of a call lies: from an element of a region on.

    Parameters
    ----------
    region : Region
    label : str
        How messages name it.
    first : int
        The element, counted down the columns of the region.
    rows, columns, ld : int
        As the view of the call has them.
    """

    region: Region
    label: str
    first: int
    rows: int
    columns: int
    ld: int

    def __post_init__(self) -> None:
        last = self.first + self.rows + (self.columns - 1) * self.ld
        empty = self.rows == 0 or self.columns == 0
        if (self.first if empty else last) > self.region.elements or not (empty or self._fits):
            raise UsageError(
                f"{self.label} would take {self.rows}x{self.columns} with the leading dimension {self.ld}, it has "
                f"{self.region.rows}x{self.region.columns} with {self.region.buffer.ld}; make it larger"
            )

    @property
    def _fits(self) -> bool:
        """Whether it stays within the region's columns, where it has the same leading dimension."""
        row, column = self.first % self.region.buffer.ld, self.first // self.region.buffer.ld
        same = self.ld == self.region.buffer.ld
        return not same or (row + self.rows <= self.region.rows and column + self.columns <= self.region.columns)

    def view(self, repetitions: int = 1) -> View:
        """The view, array-valued if it moves.

        Raises
        ------
        UsageError
            If it leaves the buffer.
        """
        row, column = self.region.at(repetitions)
        ld = self.region.buffer.ld
        if self.ld == ld:
            row, column = row + self.first % ld, column + self.first // ld
        else:
            row, column = row + column * ld + self.first, 0
        return View(self.region.buffer.name, row, column, self.rows, self.columns, self.ld)


class Memory:
    """All memory of a stream, by name.

    Memory is filled as the first call needs it that needs a structure, unless a structure was asked for.
    """

    def __init__(self) -> None:
        self.seed = 1
        self._regions: dict[str, Region] = {}
        self._pools: dict[str, Region] = {}
        self._asked_for: dict[str, Structure] = {}
        self._needed: dict[str, Structure] = {}
        self._kinds: dict[str, dict[str, Kind]] = {}  # by name and data type of the calls
        self._bytes_left = (
            min(available_memory(), ADDRESSABLE_BYTES) / 2
        )  # every operand may have a second copy, to restore from

    def allocate(self, statement: Allocate) -> None:
        """Makes named memory; it is filled when it is first used.

        Raises
        ------
        UsageError
            If the name is taken, or there is not enough memory.
        """
        self._check_free(statement.name)
        ld = statement.ld or max(1, statement.rows)
        seed = self._next_seed() if statement.seed is None else statement.seed
        buffer = Buffer(statement.name, statement.rows, statement.columns, ld, seed=seed)
        self._take(bytes_of(buffer.elements, statement.type))
        if statement.structure is not None:
            self._asked_for[statement.name] = statement.structure
        self._regions[statement.name] = Region(buffer, statement.type, 0, 0, statement.rows, statement.columns)

    def offset(self, statement: Offset) -> None:
        """Names a part of named memory.

        Raises
        ------
        UsageError
            If the name is taken, or the part is not inside.
        """
        self._check_free(statement.name)
        whole = self.find(statement.of)
        if statement.row + statement.rows > whole.rows or statement.column + statement.columns > whole.columns:
            raise UsageError(
                f"{statement.name} would be {statement.rows}x{statement.columns} at "
                f"{statement.row},{statement.column}: {statement.of} has {whole.rows}x{whole.columns}"
            )
        self._regions[statement.name] = replace(
            whole,
            row=whole.row + statement.row,
            column=whole.column + statement.column,
            rows=statement.rows,
            columns=statement.columns,
            step=(whole.step[0] + statement.step[0], whole.step[1] + statement.step[1]),
        )

    def free(self, names: Iterable[str]) -> None:
        """Gives memory back with all names of its parts, or takes the name of a part away."""
        for name in names:
            region = self.find(name)
            if region.buffer.name == name:
                self._bytes_left += bytes_of(region.buffer.elements, region.type)
                self._regions = {other: part for other, part in self._regions.items() if part.buffer.name != name}
                for facts in (self._asked_for, self._needed, self._kinds):
                    facts.pop(name, None)
            else:
                del self._regions[name]

    def find(self, name: str) -> Region:
        """The region of a name.

        Raises
        ------
        UsageError
            If there is none.
        """
        if name not in self._regions:
            raise UsageError(
                f"unknown operand {name!r}; known: {', '.join(sorted(self._regions)[:20]) or 'none, allocate it first'}"
            )
        return self._regions[name]

    def region(
        self, operand: Operand | Scratch, data: Data, dtype: str, slot: int, shape: tuple[int, int, int]
    ) -> Region:
        """The region that an operand of a call names, or scratch memory.

        Parameters
        ----------
        operand : Operand or Scratch
        data : Data
            What the kernel wants.
        dtype : str
            Of the call.
        slot : int
            Scratch memory of one call is told apart by this number.
        shape : (int, int, int)
            Rows, columns and leading dimension that the call sees.

        Raises
        ------
        UsageError
            If it is unknown, of another type, or there is not enough memory.
        """
        letter = letter_for(data.kind, dtype)
        if isinstance(operand, Scratch):
            region = self._scratch(operand.elements, letter, data.structure, slot, shape)
        else:
            region = self.find(operand.name)
        if region.type != letter:
            raise UsageError(
                f"{data.name} must be of the type {letter}, {region.buffer.name} is of the type {region.type}"
            )
        own_layout = shape[2] == region.buffer.ld or 1 in shape[:2]
        if own_layout and data.structure != "general":
            self._needed.setdefault(region.buffer.name, data.structure)
        self._kinds.setdefault(region.buffer.name, {}).setdefault(dtype, data.kind)
        return region

    def buffers(self, names: Iterable[str], dtype: str) -> list[Buffer]:
        """The memory of these names as it is now, for a back end of a data type."""
        regions = {**self._pools, **self._regions}
        return [
            replace(
                regions[name].buffer,
                structure=self._asked_for.get(name) or self._needed.get(name, "general"),
                kind=self._kinds[name][dtype],
            )
            for name in names
            if name in regions
        ]

    def _scratch(
        self, elements: int, letter: Letter, structure: Structure, slot: int, shape: tuple[int, int, int]
    ) -> Region:
        """Memory that all calls share: for each slot as much as the largest needs; by shape where it has structure."""
        rows, columns, ld = shape
        least = rows + (columns - 1) * ld if rows and columns else 0
        if elements < least:
            raise UsageError(
                f"[{elements}] is too small, {rows}x{columns} with the leading dimension {ld} take {least}"
            )
        if structure in ("general", "pivots"):
            name, layout = f"[{slot} {letter}]", (elements, 1, max(1, elements))
        else:
            name, layout = f"[{slot} {letter} {structure} {shape[0]}x{shape[1]} ld {shape[2]}]", shape
        pool = self._pools.get(name)
        buffer = Buffer(name, *layout, seed=slot)
        if pool is None or pool.buffer.elements < buffer.elements:
            self._take(bytes_of(buffer.elements - (pool.buffer.elements if pool else 0), letter))
            self._pools[name] = Region(buffer, letter, 0, 0, buffer.rows, buffer.columns)
        return Region(buffer, letter, 0, 0, buffer.rows, buffer.columns)

    def _next_seed(self) -> int:
        self.seed += 1
        return self.seed - 1

    def _check_free(self, name: str) -> None:
        if name in self._regions:
            raise UsageError(f"the name {name} is taken; free it first, or choose another")

    def _take(self, needed: int) -> None:
        """Refuses what would not fit beside all that is there."""
        if needed > self._bytes_left:
            raise UsageError(
                f"{needed / 1e9:.2f} GB are needed, {self._bytes_left / 1e9:.2f} GB are left (half of the memory that "
                "was available, as every operand may have a second copy); choose smaller sizes, or free some"
            )
        self._bytes_left -= needed


def bytes_of(elements: int, letter: Letter) -> int:
    """Bytes of so many elements of a type."""
    return elements * ITEM_BYTES.get(letter, WIDEST_INTEGER_BYTES)


def letter_for(kind: Kind, dtype: str) -> Letter:
    """The letter of the type that an operand of a kind has in calls of a data type."""
    match kind:
        case "integer":
            return INTEGER
        case "real":
            return {"c": "s", "z": "d"}.get(dtype, dtype)
        case "double":
            return "d"
    return dtype
