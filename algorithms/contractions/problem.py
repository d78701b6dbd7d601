"""Problems: a contraction with the sizes and the layout of its tensors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Literal, TypeAlias

from blascast.sampler.errors import UsageError

from .notation import TENSORS, Contraction, Tensor

Order: TypeAlias = Literal["F", "C"]  # first, or last, index contiguous


@dataclass(frozen=True, eq=False)
class Problem:
    """A contraction, how large its indices are, and where its tensors' entries lie.

    Parameters
    ----------
    contraction : Contraction
    extents : mapping
        By index.
    strides : mapping
        By tensor: elements between neighbours along each of its dimensions, all positive.
    """

    contraction: Contraction
    extents: Mapping[str, int]
    strides: Mapping[Tensor, tuple[int, ...]]

    def __post_init__(self) -> None:
        for name in TENSORS:
            if any(stride < 1 for stride in self.strides[name]):
                raise UsageError(f"the strides of {name} must be positive, got {self.strides[name]}; copy the array")

    @classmethod
    def contiguous(cls, contraction: Contraction, extents: Mapping[str, int], order: Order = "F") -> "Problem":
        """With tensors without gaps, the first (Fortran) or the last index (C) contiguous."""
        shapes = {name: [extents[index] for index in contraction.indices_of(name)] for name in TENSORS}
        return cls(contraction, extents, {name: contiguous_strides(shape, order) for name, shape in shapes.items()})

    def stride(self, tensor: Tensor, index: str) -> int:
        """Elements between neighbours along an index; 0 where the tensor has it not."""
        return self._strides[tensor].get(index, 0)

    @cached_property
    def _strides(self) -> dict[Tensor, dict[str, int]]:
        named = {name: self.contraction.indices_of(name) for name in TENSORS}
        return {name: dict(zip(indices, self.strides[name], strict=True)) for name, indices in named.items()}

    def shape(self, tensor: Tensor) -> tuple[int, ...]:
        """The extents of a tensor's dimensions."""
        return tuple(self.extents[index] for index in self.contraction.indices_of(tensor))

    def span(self, tensor: Tensor) -> int:
        """Elements from a tensor's first entry to its last, both included."""
        return 1 + sum((e - 1) * s for e, s in zip(self.shape(tensor), self.strides[tensor], strict=True))

    def elements(self, tensor: Tensor) -> int:
        """How many entries a tensor has."""
        return prod(self.shape(tensor))

    @property
    def flops(self) -> float:
        """Of the real types."""
        return self.contraction.flops(self.extents)

    @cached_property
    def key(self) -> tuple[object, ...]:
        """What tells problems apart."""
        return (str(self.contraction), tuple(self.extents.items()), tuple(self.strides[name] for name in TENSORS))


def contiguous_strides(shape: Sequence[int], order: Order) -> tuple[int, ...]:
    """Strides of a tensor without gaps, in elements.

    Examples
    --------
    >>> contiguous_strides((2, 3, 4), "F"), contiguous_strides((2, 3, 4), "C")
    ((1, 2, 6), (12, 4, 1))
    """
    strides, step = [], 1
    for extent in shape if order == "F" else reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(strides if order == "F" else reversed(strides))
