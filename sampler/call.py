"""Calls: kernels with bound arguments, whose operands are views into buffers.

Sizes and offsets may be numbers, or integer arrays of one shape; an array-valued call stands for
one call per entry, and is what predictions are computed from.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .errors import UsageError
from .expression import parse
from .kernel import Bound, Data, Flag, Kernel, Kind, Option, Scalar, Size, Structure

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
    structure, kind : str, optional
        What the buffer must be filled with; by default what the first kernel called needs.
    period : int
        Columns of the buffer after which its contents begin anew; 0 if they do not.
    owner : integer array, optional
        For array-valued views: the configuration that each entry belongs to.
    times : int or integer array
        For array-valued views: how many calls of one size each entry stands for.
    loop : integer array, optional
        For array-valued views that a loop has made: the entry outside the loop that each one comes from.
    """

    buffer: str
    row: Extent
    column: Extent
    rows: Extent
    columns: Extent
    ld: int
    structure: Structure | None = None
    owner: npt.NDArray[np.int64] | None = None
    kind: Kind | None = None
    period: int = 0
    times: Extent = 1
    loop: npt.NDArray[np.int64] | None = None

    @property
    def increment(self) -> int:
        """Elements from one entry to the next, as a vector: 1 along a column, ld along a row."""
        return 1 if _same(self.columns, 1) else self.ld

    @property
    def vector_shape(self) -> tuple[Extent, Extent]:
        """Its shape as a column vector.

        Raises
        ------
        UsageError
            If it is neither one column nor one row.
        """
        if _same(self.columns, 1):
            return self.rows, 1
        if _same(self.rows, 1):
            return self.columns, 1
        raise UsageError(f"a vector must be one row or one column, got {self}")

    def entry(self, index: int) -> "View":
        """One of the views that an array-valued view stands for; a scalar view is every entry of itself."""
        row, column, rows, columns = (
            int(extent) if np.ndim(extent) == 0 else int(np.ravel(extent)[index])
            for extent in (self.row, self.column, self.rows, self.columns)
        )
        return replace(self, row=row, column=column, rows=rows, columns=columns, owner=None, times=1, loop=None)

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
    def flags(self) -> dict[str, str | int]:
        """The flags and options by argument name."""
        return {a.name: v for a, v in zip(self.kernel.bound, self.values, strict=True) if isinstance(a, Flag | Option)}

    @property
    def scalars(self) -> dict[str, complex]:
        """The scalar factors by argument name."""
        return {a.name: v for a, v in zip(self.kernel.bound, self.values, strict=True) if isinstance(a, Scalar)}

    @property
    def case(self) -> str:
        """Its flags and the class of its scalars and increments, such as ``"RLTN 1"``: one sub-model each."""
        views = self.views
        increments = [views[data.name].increment for data in self.kernel.data if data.name in self.kernel.vectors]
        return case_of(self.flags, self.scalars, increments)

    @property
    def label(self) -> str:
        """Kernel and case."""
        return f"{self.kernel.name} {self.case}".strip()

    @property
    def overwritten(self) -> tuple[View, ...]:
        """The operands that the kernel changes."""
        return tuple(self.views[data.name] for data in self.kernel.data if data.access != "in")

    @property
    def owner(self) -> npt.NDArray[np.int64] | None:
        """For an array-valued call: the configuration each entry belongs to."""
        return next((view.owner for view in self.views.values() if view.owner is not None), None)

    @property
    def times(self) -> Extent:
        """For an array-valued call: how many calls of one size each entry stands for."""
        return next((view.times for view in self.views.values() if view.owner is not None), 1)

    @property
    def flops(self) -> Any:
        """Floating-point operations (minimal count)."""
        return self.kernel.flop_count({**self.flags, **self.sizes})

    def byte_count(self, dtype: str) -> Any:
        """Bytes moved to and from memory at least."""
        return self.kernel.byte_count({**self.flags, **self.sizes}, dtype)

    def entry(self, index: int) -> "Call":
        """One of the calls that an array-valued call stands for."""
        values = tuple(value.entry(index) if isinstance(value, View) else value for value in self.values)
        sizes = {name: int(size if np.ndim(size) == 0 else np.ravel(size)[index]) for name, size in self.sizes.items()}
        return Call(self.kernel, values, sizes)

    def __str__(self) -> str:
        sizes = ", ".join(f"{name}={value}" for name, value in self.sizes.items())
        lds = sorted({view.ld for view in self.views.values()})
        return f"{self.kernel.name}({self.case}; {sizes}; ld {'/'.join(map(str, lds))})"


def fitting_ld(rows: int) -> int:
    """The least leading dimension for so many rows that is a multiple of 8 and not of 256.

    Examples
    --------
    >>> fitting_ld(1000), fitting_ld(1021), fitting_ld(1)
    (1000, 1032, 8)
    """
    ld = 8 * -(-rows // 8)
    return ld + 8 if ld % 256 == 0 else ld


def _same(first: Extent, second: Extent) -> bool:
    """Whether extents are equal, entry by entry."""
    return bool(first == second if isinstance(first, int) and isinstance(second, int) else np.all(first == second))


def case_of(flags: Mapping[str, str | int], scalars: Mapping[str, complex], increments: Sequence[int] = ()) -> str:
    """The case of given flags, scalars and increments.

    Examples
    --------
    >>> case_of({"uplo": "L", "trans": "N"}, {"alpha": -1, "beta": 0.5})
    'LN -1 other'
    >>> case_of({}, {"alpha": 2}, [1, 520])
    'other inc 1,other'
    """
    classes = [str(int(value.real)) if value in ORDINARY_SCALARS else "other" for value in scalars.values()]
    steps = ",".join("1" if increment == 1 else "other" for increment in increments)
    return " ".join(["".join(map(str, flags.values())), *classes, *(["inc", steps] if steps else [])]).strip()


def flags_of_case(kernel: Kernel, case: str) -> dict[str, str | int]:
    """The flags and options by argument name, from a case as `Call.case` has it.

    Where options of several digits leave a choice, the first values that fit are taken.

    Raises
    ------
    UsageError
        If it is no case of the kernel.

    Examples
    --------
    >>> from blascast.sampler.kernels import find_kernel
    >>> flags_of_case(find_kernel("trsm"), "RLTN 1")
    {'side': 'R', 'uplo': 'L', 'transA': 'T', 'diag': 'N'}
    >>> flags_of_case(find_kernel("trsyl"), "NT-1")
    {'transA': 'N', 'transB': 'T', 'isgn': -1}
    """
    chosen = [argument for argument in kernel.bound if isinstance(argument, Flag | Option)]
    if not chosen:
        return {}
    match = re.match("".join(map(_choice, chosen)) + "(?: |$)", case)
    if match is None:
        wanted = ", ".join(f"{argument.name} {_choice(argument)}" for argument in chosen)
        raise UsageError(f"{case!r} is no case of kernel {kernel.name}, which begins with {wanted}")
    values = zip(chosen, match.groups(), strict=True)
    return {argument.name: int(text) if isinstance(argument, Option) else text for argument, text in values}


def _choice(argument: Flag | Option) -> str:
    """A pattern of the texts that a flag or option may stand as in a case."""
    values = argument.letters + argument.complex_letters if isinstance(argument, Flag) else argument.values
    return f"({'|'.join(re.escape(str(value)) for value in dict.fromkeys(values))})"


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
    chosen = {a.name: named[a.name] for a in kernel.bound if isinstance(a, Flag | Option | Size)}
    shapes = {data.name: _shape(kernel, data.name, named[data.name]) for data in kernel.data}
    sizes = kernel.infer_sizes(chosen, shapes)
    _check_shapes(kernel, {**chosen, **sizes}, shapes)
    ordered = {name: sizes[name] for name in kernel.sizes}
    return Call(kernel, values, ordered)


def _shape(kernel: Kernel, name: str, view: View) -> tuple[Extent, Extent]:
    return view.vector_shape if name in kernel.vectors else (view.rows, view.columns)


def _check_value(kernel: Kernel, argument: Bound, value: Any) -> None:
    match argument:
        case Flag(name, letters, others):
            if not isinstance(value, str) or len(value) != 1 or value not in letters + others:
                raise UsageError(f"{kernel.name}: {name} must be one of {', '.join(letters)}, got {value!r}")
        case Option(name, known):
            if value not in known:
                raise UsageError(f"{kernel.name}: {name} must be one of {', '.join(map(str, known))}, got {value!r}")
        case Size(name):
            if not isinstance(value, int | np.integer | np.ndarray) or np.any(np.less(value, 0)):
                raise UsageError(f"{kernel.name}: {name} must be an integer that is not negative, got {value!r}")
        case Scalar(name, kind):
            if not isinstance(value, int | float if kind == "real" else int | float | complex):
                raise UsageError(f"{kernel.name}: {name} must be a {'real ' * (kind == 'real')}number, got {value!r}")
        case Data(name):
            if not isinstance(value, View):
                raise UsageError(f"{kernel.name}: {name} must be a view of an operand, got {value!r}")


def _check_shapes(kernel: Kernel, values: dict[str, Any], shapes: dict[str, tuple[Any, Any]]) -> None:
    for data in kernel.data:
        for text, extent in zip((data.rows, data.columns), shapes[data.name], strict=True):
            wanted = parse(text).evaluate(values)
            if not _same(wanted, extent):
                raise UsageError(f"{kernel.name}: operand {data.name} must have {text} = {wanted}, got {extent}")
