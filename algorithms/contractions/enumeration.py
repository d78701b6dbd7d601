"""All algorithms of a contraction: one BLAS kernel inside loops (dissertation, section 22).

A kernel gets one index of each class that its pattern asks for, all others become loops, in any
order. Every choice of indices and every order of loops is an algorithm.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from math import factorial

from .notation import Contraction

# Kernel: how many contracted indices, free indices of A, and of B, in each pattern that it has.
PATTERNS: dict[str, tuple[tuple[int, int, int], ...]] = {
    "dot": ((1, 0, 0),),
    "axpy": ((0, 1, 0), (0, 0, 1)),
    "gemv": ((1, 1, 0), (1, 0, 1)),
    "ger": ((0, 1, 1),),
    "gemm": ((1, 1, 1),),
}


@dataclass(frozen=True)
class Mapping:
    """Which indices a kernel gets.

    Parameters
    ----------
    kernel : str
    contracted, of_A, of_B : str
        A contracted index, a free one of A and one of B; "" where the kernel takes none.
    """

    kernel: str
    contracted: str
    of_A: str
    of_B: str

    @cached_property
    def indices(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(index for index in (self.contracted, self.of_A, self.of_B) if index)


@dataclass(frozen=True, slots=True)
class LoopAlgorithm:
    """Loops around one kernel.

    Parameters
    ----------
    contraction : Contraction
    mapping : Mapping
    loops : tuple of str
        The other indices, outermost first.
    """

    contraction: Contraction
    mapping: Mapping
    loops: tuple[str, ...]


def mappings(contraction: Contraction) -> Iterator[Mapping]:
    """All ways to give a kernel its indices."""
    for kernel, patterns in PATTERNS.items():
        for takes in patterns:
            classes = (contraction.contracted, contraction.free_of_A, contraction.free_of_B)
            choices = [own if count else ("",) for own, count in zip(classes, takes, strict=True)]
            for contracted, of_A, of_B in product(*choices):
                yield Mapping(kernel, contracted, of_A, of_B)


def loop_algorithms(contraction: Contraction, kernels: frozenset[str] = frozenset(PATTERNS)) -> Iterator[LoopAlgorithm]:
    """All loops around one of some kernels.

    Examples
    --------
    >>> from blascast.algorithms.contractions.notation import parse_contraction
    >>> len(list(loop_algorithms(parse_contraction("abc=ai,ibc"))))
    36
    """
    for mapping in mappings(contraction):
        if mapping.kernel in kernels:
            taken = mapping.indices
            for loops in permutations(index for index in contraction.indices if index not in taken):
                yield LoopAlgorithm(contraction, mapping, loops)


def counts(contraction: Contraction) -> dict[str, int]:
    """How many algorithms each kernel has, without listing them.

    Examples
    --------
    >>> from blascast.algorithms.contractions.notation import parse_contraction
    >>> counts(parse_contraction("abc=ija,jbic"))
    {'dot': 48, 'axpy': 72, 'gemv': 36, 'ger': 12, 'gemm': 8}
    """
    sizes = [len(own) for own in (contraction.contracted, contraction.free_of_A, contraction.free_of_B)]
    found = {}
    for kernel, patterns in PATTERNS.items():
        found[kernel] = 0
        for takes in patterns:
            choices = 1
            for size, count in zip(sizes, takes, strict=True):
                choices *= size if count else 1
            if choices:
                found[kernel] += choices * factorial(len(contraction.indices) - sum(takes))
    return found
