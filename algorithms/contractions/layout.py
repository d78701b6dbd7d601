"""Parts of tensors as kernels see them, and loops that copy and clear them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod

from blascast.sampler.call import View, bind
from blascast.sampler.kernels import find_kernel
from blascast.sampler.nest import Loop, Row, Step


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part of a tensor, or of a copy of one: some indices run over it, loops move it.

    Parameters
    ----------
    buffer : str
    extents : mapping
        By index, of all that run over it.
    strides : mapping
        By the same, elements.
    moves : mapping
        By loop, elements.
    """

    buffer: str
    extents: Mapping[str, int]
    strides: Mapping[str, int]
    moves: Mapping[str, int] = field(default_factory=dict)

    @property
    def scalar(self) -> View:
        """Its first entry."""
        return View(self.buffer, 0, 0, 1, 1, 1)

    def vector(self, index: str) -> View:
        """The entries along an index."""
        extent, stride = self.extents[index], self.strides[index]
        if stride == 1 or extent == 1:
            return View(self.buffer, 0, 0, extent, 1, extent)
        return View(self.buffer, 0, 0, 1, extent, stride)

    def rows_of_matrix(self) -> str | None:
        """Which of its two indices can be the rows of a matrix: neighbours along it are adjacent; None if none can."""
        first, second = self.strides
        fitting = [rows for rows, columns in ((first, second), (second, first)) if self._fits(rows, columns)]
        adjacent = [rows for rows in fitting if self.strides[rows] == 1 and self.extents[rows] > 1]
        return next(iter(adjacent + fitting), None)

    def _fits(self, rows: str, columns: str) -> bool:
        unit = self.strides[rows] == 1 or self.extents[rows] == 1
        return unit and (self.extents[columns] == 1 or self.strides[columns] >= self.extents[rows])

    def matrix(self, rows: str) -> View:
        """The matrix with an index as rows, and the other as columns."""
        (columns,) = (index for index in self.strides if index != rows)
        height, width = self.extents[rows], self.extents[columns]
        return View(self.buffer, 0, 0, height, width, self.strides[columns] if width > 1 else height)


def packed(buffer: str, extents: Mapping[str, int]) -> Part:
    """A part without gaps, the first index contiguous."""
    strides, step = {}, 1
    for index, extent in extents.items():
        strides[index] = step
        step *= extent
    return Part(buffer, extents, strides)


def is_run(part: Part, indices: Sequence[str]) -> bool:
    """Whether neighbours along indices, the first fastest, are evenly apart: they are like one index."""
    return all(part.strides[b] == part.strides[a] * part.extents[a] for a, b in pairwise(indices))


def copying(source: Part, target: Part) -> tuple[Row, ...]:
    """Loops that copy one part to another of the same indices.

    Along an index that is contiguous in both, or in the target alone, by the BLAS's copy; where another
    one is contiguous in the source, by transposing matrices.
    """
    source, target = _fused(source, target)
    order = sorted(target.strides, key=lambda index: target.strides[index])
    inner = order[0]
    contiguous = [index for index in order if source.strides[index] == 1 and source.extents[index] > 1]
    if contiguous and contiguous[0] != inner and target.strides[inner] == 1:
        across = contiguous[0]
        call = bind(
            find_kernel("transpose"),
            _between(source, across, inner).matrix(across),
            _between(target, inner, across).matrix(inner),
        )
        return _looped(Step(call, {"A": {**source.moves, **_along(source)}, "B": {**target.moves, **_along(target)}}),
                       [index for index in order if index not in (inner, across)], source.extents)  # fmt: skip
    call = bind(find_kernel("copy"), source.vector(inner), target.vector(inner))
    step = Step(call, {"x": {**source.moves, **_along(source)}, "y": {**target.moves, **_along(target)}})
    return _looped(step, order[1:], source.extents)


def clearing(part: Part) -> tuple[Row, ...]:
    """Loops that set a part to zero."""
    part, _ = _fused(part, part)
    order = sorted(part.strides, key=lambda index: part.strides[index])
    if not order:
        view, rest = part.scalar, []
    elif part.strides[order[0]] > 1 and part.extents[order[0]] > 1:
        view, rest = View(part.buffer, 0, 0, 1, part.extents[order[0]], part.strides[order[0]]), order[1:]
    elif len(order) == 1:
        view, rest = part.vector(order[0]), []
    else:
        view, rest = _between(part, *order[:2]).matrix(order[0]), order[2:]
    return _looped(Step(bind(find_kernel("zero"), view), {"A": {**part.moves, **_along(part)}}), rest, part.extents)


def _between(part: Part, first: str, second: str) -> Part:
    """The part that two of its indices run over."""
    return Part(
        part.buffer,
        {index: part.extents[index] for index in (first, second)},
        {index: part.strides[index] for index in (first, second)},
        part.moves,
    )


def _along(part: Part) -> dict[str, int]:
    """How loops over its own indices move it."""
    return {_loop_name(index): stride for index, stride in part.strides.items()}


def _looped(step: Step, indices: Sequence[str], extents: Mapping[str, int]) -> tuple[Row, ...]:
    """A step inside loops over indices, the first innermost."""
    row: Row = step
    for index in indices:
        row = Loop(_loop_name(index), extents[index], (row,))
    return (row,)


def _loop_name(index: str) -> str:
    """Loops that copy are not those of the algorithm."""
    return f"{index} of a copy"


def _fused(source: Part, target: Part) -> tuple[Part, Part]:
    """Both with those indices as one that are evenly apart in both."""
    order = sorted(target.strides, key=lambda index: target.strides[index])
    groups: list[list[str]] = []
    for index in order:
        if groups and all(is_run(part, [groups[-1][-1], index]) for part in (source, target)):
            groups[-1].append(index)
        else:
            groups.append([index])
    return _grouped(source, groups), _grouped(target, groups)


def _grouped(part: Part, groups: Sequence[Sequence[str]]) -> Part:
    extents = {"".join(group): prod(part.extents[index] for index in group) for group in groups}
    return Part(part.buffer, extents, {"".join(group): part.strides[group[0]] for group in groups}, part.moves)
