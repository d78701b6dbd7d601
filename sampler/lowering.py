"""Programs as the JSON values that a worker is sent: each distinct call once, then the operations."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import program
from .call import Call, View
from .errors import UsageError
from .kernel import Data, Flag, Info, Ld, Scalar, Size
from .program import Buffer, Operation


class Lowering:
    """Lowers programs on given operands.

    Parameters
    ----------
    buffers : sequence of Buffer
        The operands, in the order they were allocated.
    dtype : str
    ticks_per_second : float
    """

    def __init__(self, buffers: Sequence[Buffer], dtype: str, ticks_per_second: float) -> None:
        self._buffers, self._dtype, self._ticks_per_second = tuple(buffers), dtype, ticks_per_second

    def find(self, name: str) -> tuple[int, Buffer]:
        """Index and shape of an operand."""
        for index, buffer in enumerate(self._buffers):
            if buffer.name == name:
                return index, buffer
        raise UsageError(f"no operand {name!r} was allocated")

    def lower(self, operations: Sequence[Operation]) -> tuple[dict[str, Any], list[Call]]:
        """The program as JSON values: each distinct call once, then the operations."""
        calls: dict[int, int] = {}
        distinct: list[Call] = []
        lowered: list[list[Any]] = []
        for operation in operations:
            match operation:
                case program.Run(call) | program.Time(call):
                    if id(call) not in calls:
                        calls[id(call)] = len(distinct)
                        distinct.append(call)
                    lowered.append([type(operation).__name__.lower(), calls[id(call)]])
                case program.Probe(gap):
                    lowered.append(["probe", round(gap * self._ticks_per_second)])
                case program.Restore(view) | program.Touch(view) | program.Flush(view):
                    index, element = self._place(view)
                    place = [index, element, int(view.rows), int(view.columns), view.ld]
                    lowered.append([type(operation).__name__.lower(), *place])
                case _:
                    raise UsageError(f"a program holds operations, got {operation!r}")
        request = {"do": "run", "calls": [self._lower_call(call) for call in distinct], "operations": lowered}
        return request, distinct

    def _lower_call(self, call: Call) -> dict[str, Any]:
        if any(np.ndim(size) for size in call.sizes.values()):
            raise UsageError("an array-valued call can be predicted, not run: it stands for many")
        arguments: list[list[Any]] = []
        for argument in call.kernel.arguments:
            match argument:
                case Flag(name):
                    arguments.append(["flag", call.flags[name]])
                case Size(name):
                    arguments.append(["integer", int(call.sizes[name])])
                case Scalar(name):
                    arguments.append(["scalar", call.scalars[name]])
                case Data(name):
                    arguments.append(["data", self._place(call.views[name])])
                case Ld(_, of):
                    arguments.append(["integer", max(1, call.views[of].ld)])
                case Info():
                    arguments.append(["info", 0])
        return {"routine": call.kernel.routine(self._dtype), "arguments": arguments}

    def _place(self, view: View) -> tuple[int, int]:
        index, buffer = self.find(view.buffer)
        inside = view.row + view.rows <= buffer.rows and view.column + view.columns <= buffer.columns
        if not inside or view.ld != buffer.ld or min(view.row, view.column, view.rows, view.columns) < 0:
            raise UsageError(f"the view {view} is not inside the operand of {buffer.rows}x{buffer.columns}")
        return index, int(view.row + view.column * view.ld)
