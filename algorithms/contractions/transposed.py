"""Transpose, transpose, multiply, transpose: a contraction as one matrix product on copies.

Each class of indices, in one order, becomes one index. A tensor that is a matrix in these orders
already is not copied.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from blascast.sampler.call import bind
from blascast.sampler.nest import Loop, Nest, Row, Step

from .layout import Part, copying, is_run, packed
from .nests import ContractionNest, kernel_for, temporary, tensor_buffers
from .notation import TENSORS, Tensor
from .problem import Problem

KERNEL = "ttgt"
_ROWS, _COLUMNS, _SUM = "rows", "columns", "sum"
_GROUPS: dict[Tensor, tuple[str, str]] = {"A": (_ROWS, _SUM), "B": (_SUM, _COLUMNS), "C": (_ROWS, _COLUMNS)}


def transposed_nests(problem: Problem, dtype: str) -> Iterator[ContractionNest]:
    """All choices of orders, those of the operands and of the result, that need a copy; batch indices are loops.

    None if a class of indices is empty.
    """
    contraction = problem.contraction
    classes = {_ROWS: contraction.free_of_A, _COLUMNS: contraction.free_of_B, _SUM: contraction.contracted}
    if not all(classes.values()):
        return
    homes: dict[str, tuple[Tensor, Tensor]] = {_ROWS: ("A", "C"), _COLUMNS: ("B", "C"), _SUM: ("A", "B")}
    choices = [
        list(dict.fromkeys(_by_stride(problem, name, classes[group]) for name in homes[group])) for group in homes
    ]
    for rows, columns, summed in product(*choices):
        found = _Transposed(problem, {_ROWS: rows, _COLUMNS: columns, _SUM: summed}, dtype).nest()
        if found.copied:
            yield found


def _by_stride(problem: Problem, tensor: Tensor, indices: Sequence[str]) -> tuple[str, ...]:
    """Indices in the order of a tensor, the fastest first."""
    return tuple(sorted(indices, key=lambda index: problem.stride(tensor, index)))


class _Transposed:
    """Builds the nest of one choice of orders."""

    def __init__(self, problem: Problem, groups: dict[str, tuple[str, ...]], dtype: str) -> None:
        self._problem, self._groups, self._dtype = problem, groups, dtype
        self._batch = problem.contraction.batch
        self._whole = {name: self._inside_batch(name) for name in TENSORS}
        self._matrices = {name: self._as_matrix(name, self._whole[name]) for name in TENSORS}
        self._copied = [name for name in TENSORS if self._matrices[name].rows_of_matrix() is None]
        self._copies = {name: packed(f"copy of {name}", self._extents_of_copy(name)) for name in self._copied}

    def nest(self) -> ContractionNest:
        matrices = {
            name: self._as_matrix(name, self._copies[name]) if name in self._copies else self._matrices[name]
            for name in TENSORS
        }
        before = [row for name in self._copied if name != "C" for row in copying(*self._pair(name))]
        after = copying(*reversed(self._pair("C"))) if "C" in self._copied else ()
        rows: tuple[Row, ...] = (*before, self._gemm(matrices), *after)
        for index in reversed(self._batch):
            rows = (Loop(index, self._problem.extents[index], rows),)
        copies = [temporary(part, number) for number, part in enumerate(self._copies.values(), len(TENSORS))]
        orders = "".join(f"({''.join(group)})" for group in self._groups.values())
        name = f"{''.join(self._batch)}{orders}{chr(39) * len(self._copied)}-{KERNEL}"
        buffers = (*tensor_buffers(self._problem), *copies)
        return ContractionNest(name, KERNEL, self._batch, tuple(self._copied), Nest(rows), buffers)

    def _pair(self, name: Tensor) -> tuple[Part, Part]:
        """A tensor and its copy."""
        return self._whole[name], self._copies[name]

    def _inside_batch(self, name: Tensor) -> Part:
        problem, indices = self._problem, self._problem.contraction.indices_of(name)
        own = [index for index in indices if index not in self._batch]
        return Part(
            name,
            {index: problem.extents[index] for index in own},
            {index: problem.stride(name, index) for index in own},
            {index: problem.stride(name, index) for index in self._batch},
        )

    def _as_matrix(self, name: Tensor, part: Part) -> Part:
        """A part with each group as one index; of strides that no matrix has, where a group is no run."""
        extents, strides = {}, {}
        for group in _GROUPS[name]:
            indices = self._groups[group]
            extents[group] = prod(part.extents[index] for index in indices)
            strides[group] = part.strides[indices[0]] if is_run(part, indices) else 0
        if 0 in strides.values():
            strides = dict.fromkeys(strides, 0)
        return Part(part.buffer, extents, strides, part.moves)

    def _extents_of_copy(self, name: Tensor) -> dict[str, int]:
        """The indices of a copy, the fastest first: those of the group that is fastest in the tensor itself."""
        groups = [self._groups[group] for group in _GROUPS[name]]
        fastest = min(self._whole[name].strides, key=lambda index: self._whole[name].strides[index])
        groups.sort(key=lambda group: fastest not in group)
        return {index: self._problem.extents[index] for group in groups for index in group}

    def _gemm(self, matrices: dict[Tensor, Part]) -> Step:
        C = matrices["C"]
        rows = str(C.rows_of_matrix())
        A, B = matrices["A"], matrices["B"]
        first, second = (A, B) if rows == _ROWS else (B, A)
        first_rows, second_rows = str(first.rows_of_matrix()), str(second.rows_of_matrix())
        call = bind(
            kernel_for("gemm", self._dtype),
            *("N" if first_rows == rows else "T", "N" if second_rows == _SUM else "T"),
            *(1, first.matrix(first_rows), second.matrix(second_rows), 0, C.matrix(rows)),
        )
        return Step(call, {"A": first.moves, "B": second.moves, "C": C.moves})
