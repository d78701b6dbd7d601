"""All case combinations of a kernel, executed: operands before and after, by name."""

from collections.abc import Iterator
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np

from blascast.sampler.backend import Backend
from blascast.sampler.call import Call, View, bind
from blascast.sampler.expression import parse
from blascast.sampler.kernel import COMPLEX, Bound, Data, Flag, Kernel, Option, Scalar, Size
from blascast.sampler.program import Run, buffers_for

SIZES = {"m": 13, "n": 11, "k": 7, "nrhs": 5, "kl": 2, "ku": 3, "nb": 4, "k2": 9}
WIDE = {**SIZES, "m": 8}  # for kernels that proceed differently where m < n
LARGE = {
    **SIZES,
    "m": 160,
    "n": 150,
    "k": 140,
    "k2": 130,
}  # for kernels that proceed in blocks, and need workspace for it
REPEATED = 8  # kernels without cases are executed on so many operands
ORDINARY, OTHER = (-1, 0, 1), 0.5
GAP = 3  # rows between the end of an operand and its leading dimension


def calls_of(kernel: Kernel, dtype: str, sizes: dict[str, int] = SIZES) -> list[Call]:
    """One call for every combination of flags, options, classes of scalars and of increments."""
    choices = [_choices(argument, kernel, dtype) for argument in kernel.bound]
    cases = list(product(*choices))
    cases *= REPEATED if len(cases) == 1 else 1
    return [_call(kernel, case, sizes, str(number)) for number, case in enumerate(cases)]


def _choices(argument: Bound, kernel: Kernel, dtype: str) -> tuple[Any, ...]:
    match argument:
        case Flag():
            return tuple(argument.letters_for(dtype))
        case Option(_, values):
            return values
        case Scalar(_, kind):
            return (*ORDINARY, OTHER - 0.25j if dtype in COMPLEX and kind == "element" else OTHER)
        case Data(name):
            return ("column", "row") if name in kernel.vectors else ("column",)
        case Size():
            return ("given",)


def _call(kernel: Kernel, case: tuple[Any, ...], sizes: dict[str, int], number: str) -> Call:
    named = {**sizes, **{a.name: value for a, value in zip(kernel.bound, case, strict=True) if not isinstance(a, Size)}}
    values = []
    for argument, value in zip(kernel.bound, case, strict=True):
        match argument:
            case Data(name):
                rows, columns = (parse(text).evaluate(named) for text in (argument.rows, argument.columns))
                rows, columns = (columns, rows) if value == "row" else (rows, columns)
                values.append(View(f"{name}{number}", 0, 0, rows, columns, rows + GAP))
            case Size(name):
                values.append(sizes[name])
            case _:
                values.append(value)
    return bind(kernel, *values)


def executed(backend: Backend, calls: list[Call], dtype: str) -> Iterator[tuple[SimpleNamespace, ...]]:
    """For every call its flags, scalars and sizes, its operands before, and after.

    What is declared as one column comes as a vector.
    """
    backend.allocate(buffers_for(calls))
    before = [_contents(backend, call) for call in calls]
    backend.run([Run(call) for call in calls])
    for call, operands in zip(calls, before, strict=True):
        after = _contents(backend, call)
        for data in call.kernel.data:
            if data.access == "in":
                np.testing.assert_array_equal(after[data.name], operands[data.name], f"{call} changed {data.name}")
        values = SimpleNamespace(call=call, dtype=dtype, **call.flags, **call.scalars, **call.sizes)
        yield values, SimpleNamespace(**operands), SimpleNamespace(**after)


def _contents(backend: Backend, call: Call) -> dict[str, np.ndarray]:
    contents = {data.name: backend.read(call.views[data.name].buffer) for data in call.kernel.data}
    columns = {data.name for data in call.kernel.data if data.columns == "1"}
    return {name: values.ravel() if name in columns else values for name, values in contents.items()}
