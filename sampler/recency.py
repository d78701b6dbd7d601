"""A cache that replaces what was used least recently: what of a view it holds, region by region.

Fully associative: what was used before as many other bytes as fit is there (stack distances, Mattson and
others 1970). A region that has no longer its whole place holds that share of it, all over.
"""

from collections.abc import Container
from dataclasses import dataclass
from typing import TypeAlias

from .call import View

Region: TypeAlias = tuple[int, int, int, int]  # of a buffer: top, bottom, left, right; bottom and right are not in it


@dataclass(slots=True, eq=False)
class _Use:
    """A region that was accessed, or flushed: how many bytes of it were not used again since, and of each entry."""

    buffer: str
    region: Region
    size: float
    entry_size: float  # 0: flushed


class Recency:
    """What a cache holds.

    Parameters
    ----------
    capacity : float
        Bytes.
    """

    def __init__(self, capacity: float) -> None:
        self._capacity = capacity
        self._uses: list[_Use] = []  # the latest last

    def access(self, view: View, size: float) -> float:
        """The bytes of a view, of so many, that are not held; from now on all of it is, as far as it fits."""
        region = _region_of(view)
        if not _entries(region):
            return 0.0
        held = self._taken_out(view.buffer, region)
        self._uses.append(_Use(view.buffer, region, size, size / _entries(region)))
        return size * (1 - held / _entries(region))

    def flush(self, view: View) -> None:
        """Forgets what is held of a view."""
        region = _region_of(view)
        if _entries(region):
            self._taken_out(view.buffer, region)
            self._uses.append(_Use(view.buffer, region, 0.0, 0.0))

    def keep(self, buffers: Container[str]) -> None:
        """Forgets what is held of all other buffers."""
        self._uses = [use for use in self._uses if use.buffer in buffers]

    def _taken_out(self, buffer: str, region: Region) -> float:
        """Entries of a region that are held, each as its last use tells; they no longer count as of that use."""
        left, held, newer = [region], 0.0, 0.0
        for index in range(len(self._uses) - 1, -1, -1):
            use = self._uses[index]
            if use.buffer == buffer and _meet(region, use.region):
                left, taken = _without_all(left, use.region)
                if use.size > 0:
                    held += taken * min((self._capacity - newer) / use.size, 1.0)
                use.size = max(use.size - taken * use.entry_size, 0.0)
                if _common(region, use.region) == use.region:
                    del self._uses[index]
            newer += use.size
            if newer >= self._capacity:
                del self._uses[:index]
                break
            if not left:
                break
        return held


def _region_of(view: View) -> Region:
    row, column = int(view.row), int(view.column)
    return row, row + int(view.rows), column, column + int(view.columns)


def _entries(region: Region) -> int:
    top, bottom, left, right = region
    return (bottom - top) * (right - left)


def _meet(one: Region, other: Region) -> bool:
    """Whether they have entries in common."""
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def _common(one: Region, other: Region) -> Region:
    return max(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), min(one[3], other[3])


def _without_all(pieces: list[Region], taken: Region) -> tuple[list[Region], int]:
    """What is left of pieces when a region is taken away, and how many entries that takes."""
    rest: list[Region] = []
    count = 0
    for piece in pieces:
        if _meet(piece, taken):
            common = _common(piece, taken)
            count += _entries(common)
            rest += _without(piece, common)
        else:
            rest.append(piece)
    return rest, count


def _without(region: Region, common: Region) -> list[Region]:
    """What is left when a part of it is taken away: columns on both sides, rows above and below."""
    top, bottom, left, right = region
    upper, lower, first, end = common
    pieces = [(top, bottom, left, first), (top, bottom, end, right)]
    pieces += [(top, upper, first, end), (lower, bottom, first, end)]
    return [piece for piece in pieces if piece[0] < piece[1] and piece[2] < piece[3]]
