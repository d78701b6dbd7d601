"""Algorithms as nests: loops around a kernel, with the copies that it needs.

BLAS takes a matrix only if neighbours along one of its two indices are adjacent. Else the part is
copied: just inside the innermost loop that moves it, no more often than it changes.
"""

from dataclasses import dataclass
from functools import cached_property
from math import prod

from blascast.sampler.call import bind
from blascast.sampler.kernel import COMPLEX, Kernel
from blascast.sampler.kernels import find_kernel
from blascast.sampler.nest import Loop, Nest, Row, Step
from blascast.sampler.program import Buffer

from .enumeration import LoopAlgorithm
from .layout import Part, clearing, copying, packed
from .notation import TENSORS, Tensor
from .problem import Problem

_UNCONJUGATED = {"dot": "dotu", "ger": "geru"}  # what the complex types have instead


@dataclass(frozen=True, eq=False)
class ContractionNest:
    """An algorithm for a problem, ready to be run.

    Parameters
    ----------
    name : str
        Its loops, outermost first, an apostrophe for each copy behind the loop in which it is made, and its kernel.
    kernel : str
    loops : tuple of str
    copied : tuple of str
        The tensors of which parts are copied.
    nest : Nest
    buffers : tuple of Buffer
        A, B, C, and those of copies.
    """

    name: str
    kernel: str
    loops: tuple[str, ...]
    copied: tuple[Tensor, ...]
    nest: Nest
    buffers: tuple[Buffer, ...]

    @cached_property
    def calls(self) -> int:
        """How many calls it makes, copies too."""
        return self.nest.call_count


def kernel_for(name: str, dtype: str) -> Kernel:
    """The kernel that an algorithm calls for a data type: nothing is conjugated."""
    return find_kernel(_UNCONJUGATED.get(name, name) if dtype in COMPLEX else name)


def nest_of(algorithm: LoopAlgorithm, problem: Problem, dtype: str) -> ContractionNest:
    """The nest of an algorithm.

    Parameters
    ----------
    algorithm : LoopAlgorithm
    problem : Problem
        Of the algorithm's contraction.
    dtype : str
    """
    return _Builder(algorithm, problem, dtype).nest()


def name_of(algorithm: LoopAlgorithm, problem: Problem) -> str:
    """The name of an algorithm, as `ContractionNest.name`."""
    return _Builder(algorithm, problem, "d").name


def tensor_buffers(problem: Problem) -> tuple[Buffer, ...]:
    """The memory of A, B and C."""
    return tuple(Buffer(name, problem.span(name), 1, problem.span(name), seed=i) for i, name in enumerate(TENSORS))


def temporary(part: Part, seed: int) -> Buffer:
    """The memory of a copy."""
    size = prod(part.extents.values())
    return Buffer(part.buffer, size, 1, size, seed=seed)


class _Builder:
    """Builds the nest of one algorithm, from the inside."""

    def __init__(self, algorithm: LoopAlgorithm, problem: Problem, dtype: str) -> None:
        self._problem, self._mapping, self._loops = problem, algorithm.mapping, algorithm.loops
        self._contracted = set(problem.contraction.contracted)
        self._kernel = kernel_for(algorithm.mapping.kernel, dtype)
        self._whole = {name: self._slice(name) for name in TENSORS}
        self._copies = {name: self._packed(name) for name in TENSORS if self._needs_copy(name)}
        self._parts = {**self._whole, **self._copies}

    def nest(self) -> ContractionNest:
        copies = [temporary(part, number) for number, part in enumerate(self._copies.values(), len(TENSORS))]
        body = (*self._cleared(), *self._body(0))
        buffers = (*tensor_buffers(self._problem), *copies)
        return ContractionNest(self.name, self._mapping.kernel, self._loops, tuple(self._copies), Nest(body), buffers)

    @property
    def name(self) -> str:
        places = [self._depth(name) for name in self._copies]
        loops = [loop + "'" * places.count(depth) for depth, loop in enumerate(self._loops, 1)]
        return f"{chr(39) * places.count(0)}{''.join(loops)}-{self._mapping.kernel}"

    # --- operands

    def _slice(self, name: Tensor) -> Part:
        """What the kernel gets of a tensor."""
        problem = self._problem
        indices = problem.contraction.indices_of(name)
        own = [index for index in indices if index in self._mapping.indices]
        return Part(
            name,
            {index: problem.extents[index] for index in own},
            {index: problem.stride(name, index) for index in own},
            {loop: problem.stride(name, loop) for loop in self._loops if loop in indices},
        )

    def _needs_copy(self, name: Tensor) -> bool:
        part = self._whole[name]
        return len(part.strides) == 2 and part.rows_of_matrix() is None

    def _packed(self, name: Tensor) -> Part:
        return packed(f"copy of {name}", self._whole[name].extents)

    def _depth(self, name: Tensor) -> int:
        """Inside how many loops a part is copied."""
        moving = [depth for depth, loop in enumerate(self._loops, 1) if loop in self._whole[name].moves]
        return max(moving, default=0)

    # --- results

    @property
    def _can_overwrite(self) -> bool:
        """Whether the kernel can write a new result: axpy and ger only add to one."""
        return self._mapping.kernel in ("gemm", "gemv", "dot")

    @property
    def _is_revisited(self) -> bool:
        """Whether the copy of C is made more than once of the same part."""
        return "C" in self._copies and bool(self._contracted & set(self._loops[: self._depth("C")]))

    def _cleared(self) -> tuple[Row, ...]:
        """What sets C to zero, where everything is added to it."""
        if self._is_revisited or not (self._can_overwrite or "C" in self._copies):
            indices = self._problem.contraction.C
            extents = {index: self._problem.extents[index] for index in indices}
            return clearing(Part("C", extents, {index: self._problem.stride("C", index) for index in indices}))
        return ()

    # --- the nest

    def _body(self, depth: int) -> tuple[Row, ...]:
        before: list[Row] = []
        for name in self._copies:
            if self._depth(name) == depth:
                if name != "C" or self._is_revisited:
                    before += copying(self._whole[name], self._copies[name])
                elif not self._can_overwrite:
                    before += clearing(self._copies[name])
        after = (
            copying(self._copies["C"], self._whole["C"]) if "C" in self._copies and self._depth("C") == depth else ()
        )
        return (*before, self._inner(depth), *after)

    def _inner(self, depth: int) -> Row:
        if depth == len(self._loops):
            return self._step()
        loop = self._loops[depth]
        adds = loop in self._contracted and self._can_overwrite and not self._is_revisited
        return Loop(loop, self._problem.extents[loop], self._body(depth + 1), adds)

    def _step(self) -> Step:
        mapping = self._mapping
        match mapping.kernel:
            case "gemm":
                return self._gemm()
            case "gemv":
                return self._gemv()
            case "ger":
                return self._ger()
            case "axpy":
                return self._axpy()
        A, B, C = (self._parts[name] for name in TENSORS)
        k = mapping.contracted
        call = bind(self._kernel, A.vector(k), B.vector(k), C.scalar)
        assert self._kernel.returns is not None
        return Step(call, {"x": A.moves, "y": B.moves, self._kernel.returns.name: C.moves}, adds=True)

    def _gemm(self) -> Step:
        mapping, C = self._mapping, self._parts["C"]
        rows = C.rows_of_matrix()
        first, second = self._owners(str(rows))
        first_rows, second_rows = first.rows_of_matrix(), second.rows_of_matrix()
        call = bind(
            self._kernel,
            "N" if first_rows == rows else "T",
            "N" if second_rows == mapping.contracted else "T",
            *(1, first.matrix(str(first_rows)), second.matrix(str(second_rows))),
            *(self._beta, C.matrix(str(rows))),
        )
        return Step(call, {"A": first.moves, "B": second.moves, "C": C.moves}, adds=self._adds)

    def _gemv(self) -> Step:
        mapping, C = self._mapping, self._parts["C"]
        free = mapping.of_A or mapping.of_B
        matrix, vector = self._owners(free)
        rows = str(matrix.rows_of_matrix())
        call = bind(
            self._kernel,
            *("N" if rows == free else "T", 1, matrix.matrix(rows), vector.vector(mapping.contracted)),
            *(self._beta, C.vector(free)),
        )
        return Step(call, {"A": matrix.moves, "x": vector.moves, "y": C.moves}, adds=self._adds)

    def _ger(self) -> Step:
        mapping, C = self._mapping, self._parts["C"]
        rows = str(C.rows_of_matrix())
        (columns,) = {mapping.of_A, mapping.of_B} - {rows}
        first, second = self._owners(rows)
        call = bind(self._kernel, 1, first.vector(rows), second.vector(columns), C.matrix(rows))
        return Step(call, {"x": first.moves, "y": second.moves, "A": C.moves})

    def _axpy(self) -> Step:
        free = self._mapping.of_A or self._mapping.of_B
        vector, factor = self._owners(free)
        C = self._parts["C"]
        call = bind(self._kernel, 0.5, vector.vector(free), C.vector(free))
        return Step(call, {"alpha": factor.moves, "x": vector.moves, "y": C.moves}, {"alpha": factor.scalar})

    def _owners(self, free: str) -> tuple[Part, Part]:
        """The operand that has a free index, and the other one."""
        A, B = self._parts["A"], self._parts["B"]
        return (A, B) if free in self._problem.contraction.A else (B, A)

    @property
    def _adds(self) -> bool:
        """Whether beta depends on what loops have passed."""
        return not self._is_revisited and bool(self._contracted & set(self._loops))

    @property
    def _beta(self) -> int:
        return 1 if self._is_revisited else 0
