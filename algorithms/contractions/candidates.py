"""All algorithms of a problem: the dissertation's, and ours on fused indices and on transposed copies."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from blascast.sampler.kernel import Kernel

from .enumeration import PATTERNS, LoopAlgorithm, loop_algorithms
from .fusion import fused, is_fused
from .nests import ContractionNest, kernel_for, name_of, nest_of
from .problem import Problem
from .transposed import KERNEL as TTGT
from .transposed import transposed_nests

Family: TypeAlias = Literal["loops", "fused", "transposed"]
KERNELS = (*PATTERNS, TTGT)


@dataclass(frozen=True, eq=False)
class Candidate:
    """An algorithm for a problem, whose nest is built when it is asked for.

    Parameters
    ----------
    family : str
        ``"loops"`` are the dissertation's, ``"fused"`` the same on runs of indices as one, ``"transposed"``
        one matrix product on copies.
    problem : Problem
        The algorithm's own: with fused indices.
    algorithm : LoopAlgorithm or ContractionNest
    dtype : str
    """

    family: Family
    problem: Problem
    algorithm: LoopAlgorithm | ContractionNest
    dtype: str

    @property
    def kernel(self) -> str:
        """The kernel inside its loops."""
        return self.algorithm.mapping.kernel if isinstance(self.algorithm, LoopAlgorithm) else self.algorithm.kernel

    @property
    def routine(self) -> Kernel:
        """The same, as the data type has it."""
        return kernel_for("gemm" if self.kernel == TTGT else self.kernel, self.dtype)

    @property
    def name(self) -> str:
        """As `ContractionNest.name`."""
        if isinstance(self.algorithm, LoopAlgorithm):
            return name_of(self.algorithm, self.problem)
        return self.algorithm.name

    @cached_property
    def nest(self) -> ContractionNest:
        """Ready to be run."""
        if isinstance(self.algorithm, LoopAlgorithm):
            return nest_of(self.algorithm, self.problem, self.dtype)
        return self.algorithm


def candidates(problem: Problem, dtype: str, kernels: frozenset[str] = frozenset(KERNELS)) -> Iterator[Candidate]:
    """All algorithms of some kernels, those of the dissertation first.

    Fused indices bring further ones where a kernel gets one of them.
    """
    for algorithm in loop_algorithms(problem.contraction, kernels):
        yield Candidate("loops", problem, algorithm, dtype)
    shorter = fused(problem)
    if shorter is not problem:
        for algorithm in loop_algorithms(shorter.contraction, kernels):
            if is_fused(algorithm.mapping.indices):
                yield Candidate("fused", shorter, algorithm, dtype)
    if TTGT in kernels:
        for nest in transposed_nests(problem, dtype):
            yield Candidate("transposed", problem, nest, dtype)
