"""The calls that a model's points stand for, and how they are observed."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from blascast.sampler.call import Call, View, bind, case_of
from blascast.sampler.errors import UsageError
from blascast.sampler.expression import parse
from blascast.sampler.kernel import Data, Flag, Kernel, Scalar

from .generator import Point

SMALLEST_LD = 520


def fitting_ld(rows: int) -> int:
    """The least leading dimension for so many rows that is a multiple of 8 and not of 256.

    Examples
    --------
    >>> fitting_ld(1000), fitting_ld(1021), fitting_ld(1)
    (1000, 1032, 8)
    """
    ld = 8 * -(-rows // 8)
    return ld + 8 if ld % 256 == 0 else ld


def model_ld(largest_size: int) -> int:
    """The leading dimension that models are sampled with: one for each doubling of the sizes.

    It is 512 times a power of two, plus 8: a multiple of 8 and not of 256, and close to what the
    kernel's own operands need. Unblocked kernels are so sampled at 520, though an algorithm calls
    them on blocks of a larger matrix: columns that are far apart slow them down by up to some per cent.

    Examples
    --------
    >>> model_ld(100), model_ld(520), model_ld(521), model_ld(2000)
    (520, 520, 1032, 2056)
    """
    ld = SMALLEST_LD
    while ld < largest_size:
        ld = 2 * (ld - 8) + 8
    return ld


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A kernel with flags and scalars, its sizes still open.

    Parameters
    ----------
    kernel : Kernel
    flags, scalars : mappings by argument name
    """

    kernel: Kernel
    flags: Mapping[str, str | int]
    scalars: Mapping[str, complex]

    def __post_init__(self) -> None:
        if not self.kernel.sizes:
            raise UsageError(
                f"kernel {self.kernel.name} has no sizes: its time is a single number; "
                "measure it with 'blascast sample'"
            )

    @property
    def name(self) -> str:
        """Flags and scalar classes, as in `Call.case`."""
        return case_of(dict(self.flags), dict(self.scalars))

    def valid(self, points: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Which points of an array of shape (n, d) the kernel takes: array of shape (n,)."""
        return np.ones(len(points), dtype=np.bool_)

    def call(self, point: Point, ld: int) -> Call:
        """The call of given sizes on operands of their own."""
        sizes = dict(zip(self.kernel.sizes, point, strict=True))
        operands = self._operands({**self.flags, **sizes}, ld)
        values: list[View | str | complex] = []
        for argument in self.kernel.bound:
            if isinstance(argument, Data):
                values.append(operands[argument.name])
            elif isinstance(argument, Flag):
                values.append(self.flags[argument.name])
            else:
                values.append(self.scalars[argument.name])
        return bind(self.kernel, *values)

    def _operands(self, values: Mapping[str, object], ld: int) -> dict[str, View]:
        """Views from the origin of buffers that cases share: one for each structure, place and leading dimension."""
        operands: dict[str, View] = {}
        for data in self.kernel.data:
            place = sum(view.buffer.startswith(data.structure) for view in operands.values())
            rows, columns = (int(parse(text).evaluate(values)) for text in (data.rows, data.columns))
            operands[data.name] = View(f"{data.structure} {place}, ld {ld}", 0, 0, rows, columns, ld)
        return operands


def case_of_call(call: Call) -> Case:
    """The case that a call belongs to."""
    return Case(call.kernel, call.flags, call.scalars)


def usual_case(kernel: Kernel, dtype: str) -> Case:
    """What is meant where only a kernel is named: the first letter of each flag, factors of 1.

    Raises
    ------
    UsageError
        If the kernel does not exist for the type, or has no sizes.
    """
    kernel.routine(dtype)
    flags = {a.name: a.letters_for(dtype)[0] for a in kernel.bound if isinstance(a, Flag)}
    return Case(kernel, flags, {a.name: 1 for a in kernel.bound if isinstance(a, Scalar)})


def case_named(kernel: Kernel, text: str, dtype: str) -> Case:
    """The case of that name, as `Case.name` has it.

    Raises
    ------
    UsageError
        If the kernel does not exist for the type or has no sizes, or the text is no case of it.
    """
    usual = usual_case(kernel, dtype)
    words = text.split() if usual.flags else ["", *text.split()]
    letters, factors = words[0] if words else "", words[1:]
    flags = [argument for argument in kernel.bound if isinstance(argument, Flag)]
    fits = len(letters) == len(flags) and all(x in a.letters_for(dtype) for x, a in zip(letters, flags, strict=True))
    if not fits or len(factors) != len(usual.scalars) or not set(factors) <= {"-1", "0", "1", "other"}:
        raise UsageError(f"{text!r} is no case of {kernel.routine(dtype)}; write one such as {usual.name!r}")
    scalars = {name: 0.5 if x == "other" else int(x) for name, x in zip(usual.scalars, factors, strict=True)}
    return Case(kernel, dict(zip(usual.flags, letters, strict=True)), scalars)
