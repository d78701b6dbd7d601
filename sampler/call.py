"""Calls: kernels with bound arguments, whose operands are views into buffers.

Sizes and offsets may be numbers, or integer arrays of one shape; an array-valued call stands for
one call per entry, and is what predictions are computed from.
"""

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .errors import UsageError
from .expression import parse
from .kernel import Data, Flag, Kernel, Scalar, Structure

Extent: TypeAlias = int | npt.NDArray[np.int64]

ORDINARY_SCALARS = (-1, 0, 1)  # kernels treat these specially; all others cost the same


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A part of an operand: a window of a column-major buffer.

    Parameters
    ----------
    buffer : str
        Name of the operand.
    row, column, rows, columns : int or integer arrays of one shape
    ld : int
        Leading dimension of the buffer, in elements.
    structure : str, optional
        What the buffer must be filled with; by default what the first kernel called needs.
    owner : integer array, optional
        For array-valued views: the configuration that each entry belongs to.
    """

    buffer: str
    row: Extent
    column: Extent
    rows: Extent
    columns: Extent
    ld: int
    structure: Structure | None = None
    owner: npt.NDArray[np.int64] | None = None

    def part(self, row: Extent, column: Extent, rows: Extent, columns: Extent) -> "View":
        """The sub-view that begins at (row, column) of this one."""
        return replace(self, row=self.row + row, column=self.column + column, rows=rows, columns=columns)

    def __str__(self) -> str:
        return f"{self.buffer}[{self.rows}x{self.columns} at {self.row},{self.column}; ld {self.ld}]"


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A kernel with bound arguments.

    Parameters
    ----------
    kernel : Kernel
    values : tuple
        Flags (letters), scalars (numbers) and operands (views), in the kernel's order.

    Raises
    ------
    UsageError
        If a flag has an unknown letter, or operands do not conform.
    """

    kernel: Kernel
    values: tuple[Any, ...]
    sizes: dict[str, Any]

    @property
    def views(self) -> dict[str, View]:
        """The operands by argument name."""
        return {a.name: v for a, v in zip(self.kernel.bound, self.values, strict=True) if isinstance(a, Data)}

    @property
    def flags(self) -> dict[str, str]:
        """The flags by argument name."""
        return {a.name: v for a, v in zip(self.kernel.bound, self.values, strict=True) if isinstance(a, Flag)}

    @property
    def scalars(self) -> dict[str, float]:
        """The scalar factors by argument name."""
        return {a.name: v for a, v in zip(self.kernel.bound, self.values, strict=True) if isinstance(a, Scalar)}

    @property
    def case(self) -> str:
        """Its flags and the class of its scalars, such as ``"RLTN 1"``: one sub-model each."""
        return case_of(self.flags, self.scalars)

    @property
    def overwritten(self) -> tuple[View, ...]:
        """The operands that the kernel changes."""
        return tuple(self.views[data.name] for data in self.kernel.data if data.access != "in")

    @property
    def owner(self) -> npt.NDArray[np.int64] | None:
        """For an array-valued call: the configuration each entry belongs to."""
        return next(iter(self.views.values())).owner

    @property
    def flops(self) -> Any:
        """Floating-point operations (minimal count)."""
        return self.kernel.flop_count({**self.flags, **self.sizes})

    def byte_count(self, dtype: str) -> Any:
        """Bytes moved to and from memory at least."""
        return self.kernel.byte_count({**self.flags, **self.sizes}, dtype)

    def __str__(self) -> str:
        sizes = ", ".join(f"{name}={value}" for name, value in self.sizes.items())
        lds = sorted({view.ld for view in self.views.values()})
        return f"{self.kernel.name}({self.case}; {sizes}; ld {'/'.join(map(str, lds))})"


def case_of(flags: dict[str, str], scalars: dict[str, float]) -> str:
    """The case of given flags and scalars.

    Examples
    --------
    >>> case_of({"uplo": "L", "trans": "N"}, {"alpha": -1, "beta": 0.5})
    'LN -1 other'
    """
    classes = [str(int(value)) if value in ORDINARY_SCALARS else "other" for value in scalars.values()]
    return " ".join(["".join(flags.values()), *classes]).strip()


def bind(kernel: Kernel, *values: Any) -> Call:
    """A call of `kernel` with flags, scalars and views in BLAS order; sizes follow from the views.

    Raises
    ------
    UsageError
        If the number of values, a flag or a shape is wrong.
    """
    if len(values) != len(kernel.bound):
        wanted = " ".join(argument.name for argument in kernel.bound)
        raise UsageError(f"{kernel.name} takes {wanted}: {len(kernel.bound)} values, got {len(values)}")
    named = dict(zip((argument.name for argument in kernel.bound), values, strict=True))
    for argument in kernel.bound:
        _check_value(kernel, argument, named[argument.name])
    flags = {a.name: named[a.name] for a in kernel.bound if isinstance(a, Flag)}
    shapes = {data.name: (named[data.name].rows, named[data.name].columns) for data in kernel.data}
    sizes = kernel.infer_sizes(flags, shapes)
    _check_shapes(kernel, {**flags, **sizes}, shapes)
    ordered = {name: sizes[name] for name in kernel.sizes}
    return Call(kernel, values, ordered)


def _check_value(kernel: Kernel, argument: Flag | Scalar | Data, value: Any) -> None:
    match argument:
        case Flag(name, letters):
            if not isinstance(value, str) or len(value) != 1 or value not in letters:
                raise UsageError(f"{kernel.name}: {name} must be one of {', '.join(letters)}, got {value!r}")
        case Scalar(name):
            if not isinstance(value, int | float):
                raise UsageError(f"{kernel.name}: {name} must be a number, got {value!r}")
        case Data(name):
            if not isinstance(value, View):
                raise UsageError(f"{kernel.name}: {name} must be a view of an operand, got {value!r}")


def _check_shapes(kernel: Kernel, values: dict[str, Any], shapes: dict[str, tuple[Any, Any]]) -> None:
    for data in kernel.data:
        for text, extent in zip((data.rows, data.columns), shapes[data.name], strict=True):
            wanted = parse(text).evaluate(values)
            if not np.array_equal(wanted, extent):
                raise UsageError(f"{kernel.name}: operand {data.name} must have {text} = {wanted}, got {extent}")
