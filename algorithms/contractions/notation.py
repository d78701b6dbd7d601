"""Contractions of two tensors: as text, as classes of indices, and the sizes of their tensors.

Einstein's notation: ``abc=ai,ibc`` (the dissertation's) and ``ai,ibc->abc`` (einsum's) are the same.
Indices that occur in both operands and not in the result are contracted, those of one operand and the
result are free, those of all three are batch indices.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from blascast.sampler.errors import UsageError

Tensor: TypeAlias = Literal["A", "B", "C"]
TENSORS: tuple[Tensor, ...] = ("A", "B", "C")
MOST_INDICES = 16
LARGEST_EXTENT = (1 << 31) - 1  # as most libraries take
_PUBLISHED = re.compile(r"([A-Za-z]*)=([A-Za-z]*),([A-Za-z]*)")
_EINSUM = re.compile(r"([A-Za-z]*),([A-Za-z]*)(?:->([A-Za-z]*))?")
_FORMS = "write 'abc=ai,ibc' or 'ai,ibc->abc', an index a letter"


@dataclass(frozen=True)
class Contraction:
    """C := A B, summed over the indices that C has not.

    Parameters
    ----------
    A, B, C : tuple of str
        Names of indices, in the order of the tensors' dimensions.

    Raises
    ------
    UsageError
        If an index is repeated in a tensor, summed in one operand only, or in C alone.

    Examples
    --------
    >>> contraction = Contraction(("a", "i"), ("i", "b", "c"), ("a", "b", "c"))
    >>> contraction.contracted, contraction.free_of_A, contraction.free_of_B, contraction.batch
    (('i',), ('a',), ('b', 'c'), ())
    >>> str(contraction)
    'abc=ai,ibc'
    """

    A: tuple[str, ...]
    B: tuple[str, ...]
    C: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in TENSORS:
            indices = self.indices_of(name)
            if repeated := [index for index in indices if indices.count(index) > 1]:
                raise UsageError(
                    f"{name} = {''.join(indices)} has the index {repeated[0]!r} twice: diagonals are no contractions; "
                    "take the diagonal first (numpy.einsum)"
                )
        for index in self.C:
            if index not in self.A and index not in self.B:
                raise UsageError(f"the index {index!r} of C is in neither operand; give it to one, or leave it out")
        for name, own, other in (("A", self.A, self.B), ("B", self.B, self.A)):
            if alone := [index for index in own if index not in other and index not in self.C]:
                raise UsageError(
                    f"the index {alone[0]!r} is summed in {name} alone, which is no contraction; "
                    f"sum it first (numpy.sum over that axis of {name})"
                )
        if len(self.indices) > MOST_INDICES:
            raise UsageError(f"a contraction may have {MOST_INDICES} indices, this one has {len(self.indices)}")

    def indices_of(self, tensor: Tensor) -> tuple[str, ...]:
        """The indices of a tensor."""
        return {"A": self.A, "B": self.B, "C": self.C}[tensor]

    @cached_property
    def indices(self) -> tuple[str, ...]:
        """All of them: those of C, then the contracted ones."""
        return (*self.C, *self.contracted)

    @cached_property
    def contracted(self) -> tuple[str, ...]:
        """In A and B, not in C."""
        return tuple(index for index in self.A if index in self.B and index not in self.C)

    @cached_property
    def free_of_A(self) -> tuple[str, ...]:
        """In A and C, not in B."""
        return tuple(index for index in self.A if index not in self.B)

    @cached_property
    def free_of_B(self) -> tuple[str, ...]:
        """In B and C, not in A."""
        return tuple(index for index in self.B if index not in self.A)

    @cached_property
    def batch(self) -> tuple[str, ...]:
        """In all three."""
        return tuple(index for index in self.A if index in self.B and index in self.C)

    def tensors_with(self, index: str) -> tuple[Tensor, ...]:
        """The tensors that have an index."""
        return tuple(name for name in TENSORS if index in self.indices_of(name))

    def flops(self, extents: Mapping[str, int]) -> float:
        """Multiplications and additions, of the real types."""
        return 2.0 * float(np.prod([float(extents[index]) for index in self.indices]))

    def __str__(self) -> str:
        return f"{''.join(self.C)}={''.join(self.A)},{''.join(self.B)}"


def parse_contraction(text: str) -> Contraction:
    """A contraction from text.

    Without a result, as in ``ij,jk``, it is einsum's: the indices that occur once, in the order of the alphabet.

    Raises
    ------
    UsageError
        If the text is in neither form, or it is no contraction.

    Examples
    --------
    >>> str(parse_contraction("ai,ibc->abc")), str(parse_contraction("abc = ai, ibc")), str(parse_contraction("ij,jk"))
    ('abc=ai,ibc', 'abc=ai,ibc', 'ik=ij,jk')
    """
    if not isinstance(text, str):
        raise UsageError(f"a contraction is a text, got {text!r}; {_FORMS}")
    compact = "".join(text.split())
    if published := _PUBLISHED.fullmatch(compact):
        result, left, right = published.groups()
    elif einsum := _EINSUM.fullmatch(compact):
        left, right, result = einsum.groups()
        if result is None:
            result = "".join(sorted(index for index in set(left + right) if (left + right).count(index) == 1))
    else:
        raise UsageError(f"{text!r} is no contraction of two tensors; {_FORMS}")
    return Contraction(tuple(left), tuple(right), tuple(result))


def check_extents(contraction: Contraction, sizes: Mapping[str, object]) -> dict[str, int]:
    """The extents of all indices, in the order of `Contraction.indices`.

    Raises
    ------
    UsageError
        If one is missing, none of an index, or no positive integer.
    """
    for index in sizes:
        if index not in contraction.indices:
            raise UsageError(f"{contraction} has no index {index!r}; it has {', '.join(contraction.indices) or 'none'}")
    extents = {}
    for index in contraction.indices:
        if index not in sizes:
            raise UsageError(
                f"the size of the index {index!r} is missing; give all of {', '.join(contraction.indices)}"
            )
        size = sizes[index]
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or not 0 < size <= LARGEST_EXTENT:
            raise UsageError(
                f"the size of the index {index!r} must be a positive integer up to {LARGEST_EXTENT}, got {size!r}"
            )
        extents[index] = int(size)
    return extents


def extents_of_shapes(contraction: Contraction, shapes: Mapping[Tensor, Sequence[int]]) -> dict[str, int]:
    """The extents that arrays tell.

    Raises
    ------
    UsageError
        If an array has another number of dimensions than its tensor, or two disagree.
    """
    found: dict[str, tuple[int, Tensor]] = {}
    for name, shape in shapes.items():
        indices = contraction.indices_of(name)
        if len(shape) != len(indices):
            raise UsageError(
                f"{name} = {''.join(indices)} has {len(indices)} dimensions, the array {len(shape)}; "
                "give an array with one for each index"
            )
        for index, extent in zip(indices, shape, strict=True):
            size, other = found.setdefault(index, (int(extent), name))
            if size != extent:
                raise UsageError(
                    f"the index {index!r} has the size {size} in {other} and {extent} in {name}; they must agree"
                )
    return {index: size for index, (size, _) in found.items()}
