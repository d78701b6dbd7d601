"""Footprints: how much of the caches a part of a tensor takes that some loops sweep over."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from blascast.sampler.call import View

LINE_BYTES = 64


@dataclass(frozen=True, slots=True)
class Region:
    """What an operand of a step refers to, as a window that loops may sweep over.

    Parameters
    ----------
    buffer : str
    item_bytes : int
    axes : tuple of (int, int)
        Count and stride in elements of everything that runs over it.
    """

    buffer: str
    item_bytes: int
    axes: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, view: View, item_bytes: int) -> "Region":
        """The window of a view itself."""
        return cls(view.buffer, item_bytes, ((int(view.rows), 1), (int(view.columns), view.ld)))

    def swept(self, sweeps: Iterable[tuple[int, int]]) -> "Region":
        """The union over loops that move it, given as counts and strides."""
        return Region(self.buffer, self.item_bytes, (*self.axes, *sweeps))

    @property
    def bytes(self) -> int:
        """In whole cache lines.

        Examples
        --------
        >>> Region("A", 8, ((8, 1), (100, 1000))).bytes  # a line of each of 100 columns
        6400
        >>> Region("A", 8, ((1, 1), (100, 1000))).bytes  # which one entry takes as well
        6400
        >>> Region("A", 8, ((1000, 1), (100, 1000))).bytes  # without gaps
        800000
        """
        run, further = self.runs
        return prod(count for count, _ in further) * LINE_BYTES * -(-run * self.item_bytes // LINE_BYTES)

    @property
    def is_contiguous(self) -> bool:
        """Whether it is one run of memory without gaps of a line or more."""
        return not self.runs[1]

    @property
    def run_bytes(self) -> int:
        """Length of the run of memory at its beginning."""
        return self.runs[0] * self.item_bytes

    @property
    def runs(self) -> tuple[int, tuple[tuple[int, int], ...]]:
        """Elements of the run of memory at its beginning, and counts and strides of the further ones."""
        run = 1
        further: list[tuple[int, int]] = []
        for count, stride in sorted(self.axes, key=lambda axis: axis[1]):
            if count == 1:
                continue
            if not further and (stride <= run or stride * self.item_bytes < LINE_BYTES):
                run += (count - 1) * stride
            else:
                further.append((count, stride))
        return run, tuple(further)


def volume(regions: Iterable[Region]) -> int:
    """Bytes of regions together; of those in one buffer the largest counts."""
    largest: dict[str, int] = {}
    for region in regions:
        largest[region.buffer] = max(largest.get(region.buffer, 0), region.bytes)
    return sum(largest.values())
