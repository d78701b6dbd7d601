"""A cache that replaces what was used least recently: what of a view it holds, by how much was used since.

As section 18.3 of the dissertation has it: fully associative, and found part by part. A part counts with
how much was accessed since its last use, all accesses counted, whether or not of the same bytes: where some
are repeated, more is replaced than by a cache that is strict.
"""

from collections import deque
from collections.abc import Container
from typing import NamedTuple, TypeAlias

from .call import View

Region: TypeAlias = tuple[int, int, int, int]  # of a buffer: top, bottom, left, right; bottom and right are not in it


SHORT = 1 / 64  # of the capacity: rows or columns between whose accesses no more was accessed are one use


class _Use(NamedTuple):
    """A region that was accessed from one time to another, evenly, or flushed; times are bytes accessed in all."""

    region: Region
    begin: float
    end: float
    flushed: bool


class Recency:
    """What a cache holds.

    Parameters
    ----------
    capacity : float
        Bytes.
    """

    def __init__(self, capacity: float) -> None:
        self._capacity = capacity
        self._accessed = 0.0
        self._uses: dict[str, deque[_Use]] = {}

    def access(self, view: View, size: float) -> float:
        """The bytes of a view, of so many, that are not held; from now on all of it is, as far as it fits."""
        region = _region_of(view)
        entries = _entries(region)
        missing = size * (1 - self._held(view.buffer, region) / entries) if entries else 0.0
        self._accessed += size
        self._note(view.buffer, _Use(region, self._accessed - size, self._accessed, flushed=False))
        return missing

    def flush(self, view: View) -> None:
        """Forgets what is held of a view."""
        self._note(view.buffer, _Use(_region_of(view), self._accessed, self._accessed, flushed=True))

    def keep(self, buffers: Container[str]) -> None:
        """Forgets what is held of all other buffers."""
        self._uses = {buffer: uses for buffer, uses in self._uses.items() if buffer in buffers}

    def _held(self, buffer: str, region: Region) -> float:
        """Entries of a region that are held: each as its last use tells."""
        left, held = [region], 0.0
        for use in reversed(self._uses.get(buffer, ())):
            if not _meet(region, use.region):
                continue
            rest: list[Region] = []
            for piece in left:
                if _meet(piece, use.region):
                    common = _common(piece, use.region)
                    held += _entries(common) * self._share(use)
                    rest += _without(piece, common)
                else:
                    rest.append(piece)
            left = rest
            if not left:
                break
        return held

    def _share(self, use: _Use) -> float:
        """Of a use, what was not replaced since: its end is, last."""
        if use.flushed or use.begin == use.end:
            return 0.0
        room = self._capacity - (self._accessed - use.end)
        return min(max(room / (use.end - use.begin), 0.0), 1.0)

    def _note(self, buffer: str, own: _Use) -> None:
        """Adds a use, and drops those just before it that it covers, and the oldest, of which nothing is left.

        Rows or columns that are accessed shortly one after the other are one use.
        """
        uses = self._uses.setdefault(buffer, deque())
        while uses and _common(uses[-1].region, own.region) == uses[-1].region:
            uses.pop()
        if uses and self._continues(own, uses[-1]):
            last = uses.pop()
            region = last.region[0], own.region[1], last.region[2], own.region[3]
            own = _Use(region, last.begin, own.end, flushed=False)
        while uses and uses[0].end <= self._accessed - self._capacity:
            uses.popleft()
        uses.append(own)

    def _continues(self, own: _Use, last: _Use) -> bool:
        """Whether a use goes on with the next row or column of the last one."""
        soon = own.begin - last.end <= SHORT * self._capacity
        return soon and not (own.flushed or last.flushed) and _follows(own.region, last.region)


def _region_of(view: View) -> Region:
    row, column = int(view.row), int(view.column)
    return row, row + int(view.rows), column, column + int(view.columns)


def _entries(region: Region) -> int:
    top, bottom, left, right = region
    return (bottom - top) * (right - left)


def _meet(one: Region, other: Region) -> bool:
    """Whether they have entries in common."""
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def _follows(one: Region, other: Region) -> bool:
    """Whether it is the same columns below, or the same rows on the right."""
    below, beside = one[0] == other[1], one[2] == other[3]
    return (below and one[2:] == other[2:]) or (beside and one[:2] == other[:2])


def _common(one: Region, other: Region) -> Region:
    return max(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), min(one[3], other[3])


def _without(region: Region, common: Region) -> list[Region]:
    """What is left when a part of it is taken away: columns on both sides, rows above and below."""
    top, bottom, left, right = region
    upper, lower, first, end = common
    pieces = [(top, bottom, left, first), (top, bottom, end, right)]
    pieces += [(top, upper, first, end), (lower, bottom, first, end)]
    return [piece for piece in pieces if piece[0] < piece[1] and piece[2] < piece[3]]
