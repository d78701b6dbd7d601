"""Programs as the engine reads them: arrays of operations, words and constants, with a worker's addresses.

Everything is vectorised over the entries of array-valued calls, and each operation is lowered once,
however often programs repeat it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from .. import program
from ..call import Call, View
from ..errors import LibraryError, UsageError
from ..expression import parse
from ..kernel import ITEM_BYTES, Data, Flag, Inc, Info, Integer, Kernel, Kind, Ld, Option, Scalar, Size, Work
from ..nest import Loop, Nest, Step
from ..program import Buffer, Operation
from ..setup import Setup
from .lowered import Integers, Lowered, LoweredProgram, Pool, joined, rows_of, side_by_side, wordless

KINDS = {program.Run: 0, program.Time: 1, program.Restore: 2, program.Touch: 3, program.Flush: 4, program.Probe: 5}
REGION, MEMBER, NEST, LOOP, STEP = 6, 7, 8, 9, 10
RESULT = -1  # in a move, instead of the index of a word
NUMBERS = {"s": 3, "d": 4, "c": 5, "z": 6}
VOID, INT32, INT64 = 0, 1, 2
MOST_WORDS = 40
MOST_KNOWN = 100_000
SCALARS = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}


class Addresses(Protocol):
    """Where things are in the worker's memory."""

    def buffer(self, index: int) -> int:
        """The first element of an operand."""
        ...

    def original(self, index: int) -> int:
        """The first element of its original contents."""
        ...

    def routine(self, name: str) -> int:
        """A routine of the library."""
        ...

    def scratch(self, slot: tuple[int, int], elements: int) -> int:
        """Scratch memory for so many elements, the same for all that ask for the slot (a lane, and a number)."""
        ...


class Lowering:
    """Lowers programs on given operands; each operation once.

    Parameters
    ----------
    buffers : sequence of Buffer
        The operands, in the order they were allocated.
    setup : Setup
    addresses : Addresses
    ticks_per_second : float
    """

    def __init__(self, buffers: Sequence[Buffer], setup: Setup, addresses: Addresses, ticks_per_second: float) -> None:
        self._buffers = {buffer.name: (index, buffer) for index, buffer in enumerate(buffers)}
        self._setup, self._addresses, self._ticks_per_second = setup, addresses, ticks_per_second
        self._known: dict[int, tuple[Operation, Lowered]] = {}
        self.pool = Pool()

    def find(self, name: str) -> tuple[int, Buffer]:
        """Index and shape of an operand."""
        if name not in self._buffers:
            raise UsageError(f"no operand {name!r} was allocated")
        return self._buffers[name]

    def lower(self, operations: Sequence[Operation]) -> LoweredProgram:
        """A program.

        Raises
        ------
        UsageError
            If a view is not inside its operand, or an operation is none.
        LibraryError
            If the library lacks a routine.
        """
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        parts = [self._once(operation) for operation in operations]
        order: dict[int, int] = {}
        index = np.array([order.setdefault(id(part), len(order)) for part in parts], dtype=np.int64)
        distinct = [parts[i] for i in np.unique(index, return_index=True)[1]]
        sizes = np.array([part.rows.size for part in distinct], dtype=np.int64)
        starts = np.cumsum(sizes) - sizes
        table, words, pooled = joined(distinct)
        ends = np.cumsum(sizes[index]) if len(parts) else np.zeros(0, dtype=np.int64)
        shift = np.repeat(starts[index] - (ends - sizes[index]), sizes[index]) if len(parts) else ends
        return LoweredProgram(table[np.arange(len(shift)) + shift], words, pooled, parts, ends)

    def _once(self, operation: Operation) -> Lowered:
        known = self._known.get(id(operation))
        if known is None:
            known = self._known[id(operation)] = (operation, self._lower(operation))  # kept alive with its id
        return known[1]

    def _lower(self, operation: Operation) -> Lowered:
        match operation:
            case program.Run(call) | program.Time(call):
                return self._call(call, KINDS[type(operation)])
            case program.Restore(view) | program.Touch(view) | program.Flush(view):
                return self._region_of_memory(operation, view)
            case program.Probe(gap):
                rows = rows_of(1, KINDS[program.Probe])
                rows["amount"] = round(gap * self._ticks_per_second)
                return wordless(rows, operation)
            case program.Parallel(lanes):
                return self._parallel(operation, lanes)
            case Nest(body):
                return self._nest(operation, body)
            case program.Repeat(body, count):
                return self._repeat(body, count)
        raise UsageError(f"a program holds operations, got {operation!r}")

    # --- structures

    def _repeat(self, body: tuple[Operation, ...], count: int) -> Lowered:
        parts = []
        for operation in body:
            part = self._once(operation)
            if isinstance(operation, program.Repeat):
                sources = part.sources * part.rows.shape[0]
                part = Lowered(part.rows.reshape(1, -1), part.words, part.pooled, sources, part.infos)
            if part.rows.shape[0] not in (1, count):
                raise UsageError(f"views with {part.rows.shape[0]} entries cannot be repeated {count} times")
            parts.append(part)
        return side_by_side(parts, count)

    def _parallel(self, region: Operation, lanes: tuple[tuple[Call, ...], ...]) -> Lowered:
        members = []
        for lane, calls in enumerate(lanes):
            for call in calls:
                members.append(self._call(call, MEMBER, lane))
                members[-1].rows["lane"] = lane
        rows = rows_of(1, REGION)
        rows["amount"] = len(members)
        entries = max(member.rows.shape[0] for member in members)
        return side_by_side([wordless(rows, region), *members], entries)

    def _nest(self, nest: Nest, body: tuple[Loop | Step, ...]) -> Lowered:
        numbers = {id(row): number for number, row in enumerate(_in_order(body), 1)}
        parts = [self._row_of_nest(row, numbers) for row in _in_order(body)]
        rows = rows_of(1, NEST)
        rows["amount"] = len(parts)
        return side_by_side([wordless(rows, nest), *parts], 1)

    def _row_of_nest(self, row: Loop | Step, numbers: dict[int, int]) -> Lowered:
        if isinstance(row, Step):
            return self._step(row)
        rows = rows_of(1, LOOP)
        rows["amount"] = sum(1 for _ in _in_order(row.body))
        rows["columns"], rows["adds"] = row.count, row.adds
        inside = [step for step in _in_order(row.body) if isinstance(step, Step)]
        moves = [move for step in inside for move in self._moves(step, row.name, numbers[id(step)])]
        rows["word_count"] = len(moves)
        words = np.array(moves, dtype=np.int64).astype(np.uint64)
        return Lowered(rows, words, np.zeros(len(words), dtype=np.bool_), (Nest(row.body),))

    def _moves(self, step: Step, loop: str, number: int) -> list[int]:
        """Number of the step, index of the word, and bytes, for all that moves with a loop."""
        moves: list[int] = []
        for argument, by in step.moves.items():
            if elements := by.get(loop, 0):
                data = next((d for d in step.call.kernel.data if d.name == argument), None)
                item = self._item_bytes(data.kind if data else "element")
                moves += [number, self._word_index(step.call.kernel, argument), elements * item]
        return moves

    def _word_index(self, kernel: Kernel, argument: str) -> int:
        """The word that points to an operand or factor; RESULT for what a function returns."""
        if kernel.returns is not None and argument == kernel.returns.name:
            return RESULT
        names = [a.name for a in kernel.arguments_for(self._setup.dtype)]
        return names.index(argument) + (kernel.returns is not None and self._hides(kernel.returns))

    def _step(self, step: Step) -> Lowered:
        kernel, lowered = step.call.kernel, self._call(step.call, STEP)
        rows, words, pooled = lowered.rows, lowered.words, lowered.pooled
        rows["beta"] = self._word_index(kernel, "beta") if step.adds and "beta" in step.call.scalars else -1
        if kernel.returns is not None and self._hides(kernel.returns):
            rows["result"], rows["returns"] = words[0], self._numbers(kernel.returns)
            rows["hidden"] = 1
        for name, view in step.factors.items():
            index, element = self._place(view)
            word = self._word_index(kernel, name)
            words[word] = self._addresses.buffer(index) + element * self._item_bytes("element")
            pooled[word] = False
        factors = [self._scalar(value, "element") for value in (0, 1)]
        words = np.concatenate([words, np.array(factors, dtype=np.uint64)])
        pooled = np.concatenate([pooled, np.ones(len(factors), dtype=np.bool_)])
        return Lowered(rows, words, pooled, lowered.sources, lowered.infos)

    def _region_of_memory(self, operation: Operation, view: View) -> Lowered:
        index, element = self._place(view)
        item = self._item_bytes(self.find(view.buffer)[1].kind)
        column_bytes, columns = np.broadcast_arrays(np.multiply(view.rows, item), view.columns, element)[:2]
        rows = rows_of(max(column_bytes.size, 1), KINDS[type(operation)])
        rows["target"] = np.reshape(self._addresses.buffer(index) + element * item, (-1, 1))
        rows["column_bytes"], rows["columns"] = column_bytes.reshape(-1, 1), columns.reshape(-1, 1)
        rows["stride_bytes"] = view.ld * item
        if isinstance(operation, program.Restore):
            rows["source"] = np.reshape(self._addresses.original(index) + element * item, (-1, 1))
        return wordless(rows, operation)

    # --- calls

    def _call(self, call: Call, kind: int, lane: int = 0) -> Lowered:
        dtype, kernel = self._setup.dtype, call.kernel
        self._check_flags(call)
        entries = program.entries_of(program.Run(call))
        columns, infos = self._words(call, entries, lane)
        result = self._result(call) if kernel.returns else None
        hidden = result is not None and self._hides(kernel.returns)
        if hidden:
            columns.insert(0, (result, False))
        if len(columns) > MOST_WORDS:
            raise LibraryError(
                f"a call may have {MOST_WORDS} arguments and string lengths, {kernel.name} has {len(columns)}"
            )
        rows = rows_of(entries, kind)
        rows["routine"] = self._addresses.routine(kernel.routine(dtype))
        rows["word_count"] = len(columns)
        if result is not None and not hidden:
            rows["result"], rows["returns"] = np.reshape(result, (-1, 1)), self._numbers(kernel.returns)
        width = 4 * -(-len(columns) // 4)
        words = np.zeros((entries, width), dtype=np.uint64)
        for column, (word, _) in enumerate(columns):
            words[:, column] = word
        pooled = np.zeros((entries, width), dtype=np.bool_)
        pooled[:, [i for i, (_, is_pooled) in enumerate(columns) if is_pooled]] = True
        rows["words"] = 8 * width * np.arange(entries, dtype=np.uint64).reshape(-1, 1)
        return Lowered(rows, words.ravel(), pooled.ravel(), (call,), infos)

    def _check_flags(self, call: Call) -> None:
        for argument in call.kernel.arguments:
            if isinstance(argument, Flag) and str(call.flags[argument.name]) not in argument.letters_for(
                self._setup.dtype
            ):
                letters = ", ".join(argument.letters_for(self._setup.dtype))
                raise UsageError(
                    f"{call.kernel.routine(self._setup.dtype)}: {argument.name} must be one of {letters}, "
                    f"got {call.flags[argument.name]!r}"
                )

    def _words(
        self, call: Call, entries: int, lane: int
    ) -> tuple[list[tuple[Any, bool]], tuple[tuple[Call, Integers], ...]]:
        """The words of a call, each a number or one for each entry, and whether it is an offset into the pool."""
        columns: list[tuple[Any, bool]] = []
        lengths: list[tuple[Any, bool]] = []
        infos: tuple[tuple[Call, Integers], ...] = ()
        slots = 0
        views, flags, scalars = call.views, call.flags, call.scalars
        values = {**flags, **call.sizes}
        for argument in call.kernel.arguments_for(self._setup.dtype):
            match argument:
                case Flag(name):
                    columns.append((self.pool.place(str(flags[name]).encode()), True))
                    lengths.append((1, False))
                case Scalar(name, kind):
                    columns.append((self._scalar(scalars[name], kind), True))
                case Data(name):
                    index, element = self._place(views[name])
                    item = self._item_bytes(self.find(views[name].buffer)[1].kind)
                    columns.append((self._addresses.buffer(index) + element * item, False))
                case Work(_, elements):
                    most = int(np.max(parse(elements).evaluate(values), initial=1))
                    columns.append((self._addresses.scratch((lane, slots), most), False))
                    slots += 1
                case Info():
                    places = self.pool.reserve(16 * entries) + 16 * np.arange(entries)
                    infos = ((call, places),)
                    columns.append((places, True))
                case _:
                    integers = np.asarray(_integer(argument, views, values), dtype=np.int64)
                    self._check_fits(call, argument.name, integers)
                    columns.append((self.pool.places(integers), True))
        return columns + lengths, infos

    def _check_fits(self, call: Call, name: str, integers: Integers) -> None:
        """Refuses integers that the library's are too short for: it would see other ones."""
        bits = self._setup.library.integer_bits
        if bits < 64 and (largest := int(np.max(integers, initial=0))) >= 1 << (bits - 1):
            raise UsageError(
                f"{call.kernel.name}: {name} = {largest} does not fit into the library's integers of {bits} bits; "
                "choose smaller sizes, or a library with integers of 64 bits"
            )

    def _scalar(self, value: complex, kind: Kind) -> int:
        """Where a factor is; a real one of a complex routine is real."""
        dtype = (
            self._setup.dtype if kind == "element" else {"c": "s", "z": "d"}.get(self._setup.dtype, self._setup.dtype)
        )
        if dtype in "sd" and isinstance(value, complex):
            raise UsageError(f"a factor of the data type {self._setup.dtype} must be real here, got {value}")
        return self.pool.place(np.array(value, dtype=SCALARS[dtype]).tobytes())

    def _result(self, call: Call) -> Any:
        assert call.kernel.returns is not None
        view = call.views[call.kernel.returns.name]
        index, element = self._place(view)
        return self._addresses.buffer(index) + element * self._item_bytes(self.find(view.buffer)[1].kind)

    def _hides(self, returns: Data | None) -> bool:
        """Whether a result is returned through a hidden first argument."""
        assert returns is not None
        is_complex = returns.kind == "element" and self._setup.dtype in "cz"
        return is_complex and self._setup.library.complex_results == "hidden pointer"

    def _numbers(self, data: Data | None) -> int:
        """The engine's number for what a function returns."""
        assert data is not None
        if data.kind == "integer":
            return INT64 if self._setup.library.integer_bits == 64 else INT32
        if data.kind == "element":
            return NUMBERS[self._setup.dtype]
        return NUMBERS["d" if self._item_bytes(data.kind) == 8 else "s"]

    # --- operands

    def _item_bytes(self, kind: Kind) -> int:
        return item_bytes(kind, self._setup.dtype, self._setup.library.integer_bits)

    def _place(self, view: View) -> tuple[int, Any]:
        """The operand of a view, and its first element (or that of each entry)."""
        index, buffer = self.find(view.buffer)
        first = view.row + view.column * view.ld
        wrong = [extent < 0 for extent in (view.row, view.column, view.rows, view.columns)]
        if view.ld == buffer.ld:
            wrong += [view.row + view.rows > buffer.rows, view.column + view.columns > buffer.columns]
        else:  # the same memory with another leading dimension, as Fortran allows
            wrong.append(first + view.rows + (view.columns - 1) * view.ld > buffer.elements)
        if any(one if isinstance(one, bool) else np.any(one) for one in wrong):
            raise UsageError(f"the view {view} is not inside the operand of {buffer.rows}x{buffer.columns}")
        return index, first


def item_bytes(kind: Kind, dtype: str, integer_bits: int) -> int:
    """Bytes of one number of an operand."""
    match kind:
        case "integer":
            return integer_bits // 8
        case "real":
            return ITEM_BYTES[dtype] // (2 if dtype in "cz" else 1)
        case "double":
            return 8
    return ITEM_BYTES[dtype]


def _in_order(rows: Sequence[Loop | Step]) -> Iterator[Loop | Step]:
    """The rows of a nest, each loop before its body."""
    for row in rows:
        yield row
        if isinstance(row, Loop):
            yield from _in_order(row.body)


def _integer(argument: Any, views: dict[str, View], values: dict[str, Any]) -> Any:
    """The value of an integer argument, for every entry."""
    match argument:
        case Size(name) | Option(name):
            return values[name]
        case Integer(_, value):
            return parse(value).evaluate(values)
        case Ld(_, of):
            return max(1, views[of].ld)
        case Inc(_, of):
            return max(1, views[of].increment)
    raise UsageError(f"{argument} cannot be passed to a routine")
