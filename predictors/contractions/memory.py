"""Memory of micro-benchmarks: parts of nests on operands of their own, with large strides shortened.

Tensors may be larger than is worth allocating, and their names are nothing to a call. What counts are
the places in cache sets and pages, so that strides are shortened by multiples of some pages.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from blascast.sampler.call import View
from blascast.sampler.nest import Loop, Nest, Row
from blascast.sampler.program import Buffer

LARGEST_STRIDE = 1 << 12  # elements: larger ones are shortened
_KEPT = 1 << 11  # elements by which strides may be shortened: places in cache sets and pages stay


@dataclass(frozen=True, slots=True, eq=False)
class OwnMemory:
    """Rows of a nest on operands of their own.

    Parameters
    ----------
    rows : tuple of Row
    buffers : tuple of Buffer
    names : mapping
        By buffer of the original, that of its own operand.
    """

    rows: tuple[Row, ...]
    buffers: tuple[Buffer, ...]
    names: Mapping[str, str]


def in_own_memory(rows: tuple[Row, ...]) -> OwnMemory:
    """The same rows on operands of their own."""
    axes: dict[str, dict[int, int]] = defaultdict(dict)
    for view, sweeps in _sweeps(rows):
        for count, stride in ((int(view.rows), 1), (int(view.columns), view.ld), *sweeps):
            if count > 1:
                axes[view.buffer][stride] = max(count, axes[view.buffer].get(stride, 1))
    names = _names(rows)
    strides = {buffer: shortened(axes[buffer]) for buffer in names}
    moved = tuple(_moved(row, strides, names) for row in rows)
    spans: dict[str, int] = defaultdict(int)
    for view, sweeps in _sweeps(moved):
        own = ((int(view.columns), view.ld), *sweeps)
        span = int(view.rows) + sum((count - 1) * stride for count, stride in own)
        spans[view.buffer] = max(spans[view.buffer], span)
    buffers = tuple(Buffer(name, span, 1, span, seed=seed) for seed, (name, span) in enumerate(spans.items()))
    return OwnMemory(moved, buffers, names)


def _names(rows: tuple[Row, ...]) -> dict[str, str]:
    """New names of all buffers: other benchmarks, which share them, read none that this one writes.

    What was set to zero would make an axpy return at once.
    """
    written = {view.buffer for _, step in Nest(rows).steps() for view in step.call.overwritten}
    names: dict[str, str] = {}
    for view, _ in _sweeps(rows):
        names.setdefault(view.buffer, f"{'result' if view.buffer in written else 'operand'} {len(names) + 1}")
    return names


def shortened(counts: Mapping[int, int]) -> dict[int, int]:
    """By stride, a shorter one of the same place in cache sets and pages, given how many entries each has.

    Examples
    --------
    >>> shortened({1: 100, 200: 10, 20000: 300, 6000000: 2})
    {1: 1, 200: 200, 20000: 3616, 6000000: 1084800}
    """
    strides: dict[int, int] = {}
    span = 1
    for stride in sorted(counts):
        own = stride
        if stride > LARGEST_STRIDE:
            least = max(span, _KEPT)
            own = min(stride, least + (stride - least) % _KEPT)
        strides[stride] = own
        span += (counts[stride] - 1) * own
    return strides


def _moved(row: Row, strides: Mapping[str, Mapping[int, int]], names: Mapping[str, str]) -> Row:
    if isinstance(row, Loop):
        return replace(row, body=tuple(_moved(inner, strides, names) for inner in row.body))

    def own(view: View) -> View:
        ld = strides[view.buffer].get(view.ld, view.ld)
        return View(names[view.buffer], 0, 0, view.rows, view.columns, ld if int(view.columns) > 1 else int(view.rows))

    places = {**row.call.views, **row.factors}
    moves = {
        name: {loop: strides[places[name].buffer].get(by, by) for loop, by in own_moves.items()}
        for name, own_moves in row.moves.items()
        if name in places
    }
    values = tuple(own(value) if isinstance(value, View) else value for value in row.call.values)
    factors = {name: own(view) for name, view in row.factors.items()}
    return replace(row, call=replace(row.call, values=values), moves=moves, factors=factors)


def _sweeps(rows: Sequence[Row]) -> Iterator[tuple[View, list[tuple[int, int]]]]:
    """Every operand and factor, with counts and strides of the loops that move it."""
    for loops, step in Nest(tuple(rows)).steps():
        for name, view in {**step.call.views, **step.factors}.items():
            moves = step.moves.get(name, {})
            yield view, [(loop.count, moves[loop.name]) for loop in loops if moves.get(loop.name)]
