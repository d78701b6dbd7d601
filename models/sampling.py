"""The calls that a model's points stand for, and how they are observed."""

from collections.abc import Mapping
from dataclasses import dataclass

from blascast.sampler.call import Call, View, bind, case_of
from blascast.sampler.expression import parse
from blascast.sampler.kernel import Data, Flag, Kernel

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

    @property
    def name(self) -> str:
        """Flags and scalar classes, as in `Call.case`."""
        return case_of(dict(self.flags), dict(self.scalars))

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
