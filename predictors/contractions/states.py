"""States: what was accessed before a micro-benchmark, so that its operands are where an algorithm leaves them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2, prod

import numpy as np

from blascast.sampler.call import View
from blascast.sampler.nest import Loop, Nest, Row
from blascast.sampler.precondition import Foreign
from blascast.sampler.program import Buffer, Flush, Operation, Repeat, Run, Touch
from blascast.sampler.setup import Cache, Setup

from .distances import Operand, operands_of
from .footprints import Region
from .memory import OwnMemory

LEAST_DISTANCE = 4096  # bytes: nearer operands are in the first cache
MEMORY_BYTES_PER_SECOND, LAST_CACHE_BYTES_PER_SECOND = 2e10, 5e10
BEYOND_LAST_CACHE = 0.75  # of its size: what was accessed longer ago is in no cache; 1.25 and 0.5 predict worse


@dataclass(frozen=True, slots=True, eq=False)
class Benchmark:
    """Rows of a nest, timed as one after accesses that leave their operands as an algorithm does.

    Parameters
    ----------
    nest : Nest
        On operands of its own.
    preamble : tuple of Operation
        What is done before.
    buffers : tuple of Buffer
    key : str
        What tells it from others, for a data type.
    fetching : float
        Seconds, roughly, that it takes to fetch operands from beyond the second-largest cache.
    """

    nest: Nest
    preamble: tuple[Operation, ...]
    buffers: tuple[Buffer, ...]
    key: str
    fetching: float = 0.0


@dataclass(frozen=True, slots=True)
class Machine:
    """What matters about a machine.

    Parameters
    ----------
    caches : tuple of Cache
        The smallest first.
    item_bytes : int
    """

    caches: tuple[Cache, ...]
    item_bytes: int

    @classmethod
    def of(cls, setup: Setup) -> "Machine":
        """That of a setup."""
        return cls(tuple(setup.machine.caches), setup.item_bytes)

    def bytes_per_second(self, distance: int | None) -> float:
        """How fast, roughly, what was accessed so long ago is fetched: infinitely from the second-largest cache."""
        if distance is None:
            return MEMORY_BYTES_PER_SECOND
        near = distance <= max((cache.bytes for cache in self.caches[:-1]), default=0)
        return float("inf") if near else LAST_CACHE_BYTES_PER_SECOND

    def typical(self, distance: int) -> int | None:
        """A distance of much the same effect, one of few: 0 for the nearest, None beyond the last cache."""
        if distance < LEAST_DISTANCE:
            return 0
        if distance > BEYOND_LAST_CACHE * max((cache.bytes for cache in self.caches), default=0):
            return None
        return round(2 ** (round(4 * log2(distance)) / 4))


def repeated(own: OwnMemory) -> Benchmark:
    """The rows again and again: everything is cached."""
    return Benchmark(Nest(own.rows), _calls(own), own.buffers, f"{_text(own.rows)}; repeated")


def prepared(
    own: OwnMemory, distances: Mapping[str, int], machine: Machine, brought: Sequence[Operand] = ()
) -> Benchmark:
    """The rows after accesses that leave their operands as far away as they are in an algorithm.

    Parameters
    ----------
    own : OwnMemory
    distances : mapping
        By name of an own buffer, bytes that were accessed since.
    machine : Machine
    brought : sequence of Operand
        Parts of own operands that were brought in last.
    """
    regions = regions_of(own.rows, machine.item_bytes)
    typical = {name: machine.typical(distances[name]) for name in regions}
    near = [operand.region(machine.item_bytes) for operand in brought]
    accesses = [*_accesses(regions, typical, sum(region.bytes for region in near)), *near]
    far = [regions[name] for name, distance in typical.items() if distance != 0]
    preamble = [*_calls(own), *(operation for region in far for operation in _over(region, Flush))]
    for access in accesses:
        preamble += [Touch(access.view)] if isinstance(access, Foreign) else _over(access, Touch)
    words = ", ".join(_region_text(access) if isinstance(access, Region) else str(access) for access in accesses)
    fetching = sum(regions[name].bytes / machine.bytes_per_second(distance) for name, distance in typical.items())
    return Benchmark(Nest(own.rows), tuple(preamble), own.buffers, f"{_text(own.rows)}; touched {words}", fetching)


def _calls(own: OwnMemory) -> tuple[Operation, ...]:
    """Each call once: its code is in the caches, and what a single one accesses."""
    return tuple(Run(step.call) for _, step in Nest(own.rows).steps())


def regions_of(rows: Sequence[Row], item_bytes: int) -> dict[str, Region]:
    """By buffer, the largest region that rows access."""
    largest: dict[str, Region] = {}
    for loops, step in Nest(tuple(rows)).steps():
        for operand in operands_of(step):
            region = operand.region(item_bytes, loops)
            if region.buffer not in largest or region.bytes > largest[region.buffer].bytes:
                largest[region.buffer] = region
    return largest


def _accesses(
    regions: Mapping[str, Region], distances: Mapping[str, int | None], ahead: int
) -> Iterator[Region | Foreign]:
    """Regions from the farthest to the nearest, with foreign memory between; `ahead` bytes follow."""
    known = {name: distance for name, distance in distances.items() if distance is not None}
    far = sorted(known, key=lambda name: -known[name])
    for place, name in enumerate(far, 1):
        yield regions[name]
        following = ahead if place == len(far) else known[far[place]] + regions[far[place]].bytes
        if (foreign := known[name] - following) >= LEAST_DISTANCE:
            yield Foreign(foreign)


def _over(region: Region, operation: type[Touch] | type[Flush]) -> list[Operation]:
    """A region, touched or flushed: in two dimensions at a time."""
    run, further = region.runs
    columns, ld = max(further, default=(1, run))
    rest = [axis for axis in further if axis != (columns, ld)]
    if not rest:
        return [operation(View(region.buffer, 0, 0, run, columns, ld))]
    offsets = np.zeros(1, dtype=np.int64)
    for count, stride in rest:
        offsets = np.add.outer(offsets, stride * np.arange(count)).ravel()
    view = View(region.buffer, offsets, 0, run, columns, ld)
    return [Repeat((operation(view),), prod(count for count, _ in rest))]


# --- keys


def _region_text(region: Region) -> str:
    run, further = region.runs
    return f"{region.buffer}[{run}{''.join(f' x{count} by {stride}' for count, stride in further)}]"


def _text(rows: Sequence[Row], loops: tuple[str, ...] = ()) -> str:
    """Rows with their calls' shapes, and how loops move them; the names of loops mean nothing."""
    return " ".join(_row_text(row, loops) for row in rows)


def _row_text(row: Row, loops: tuple[str, ...]) -> str:
    if isinstance(row, Loop):
        return f"{row.count}{'+' if row.adds else ''}({_text(row.body, (*loops, row.name))})"
    operands = []
    for name, view in {**row.call.views, **row.factors}.items():
        moves = [str(row.moves.get(name, {}).get(loop, 0)) for loop in loops]
        operands.append(f"{view.buffer} {view.rows}x{view.columns} ld {view.ld} by {','.join(moves)}")
    case = f"{row.call.kernel.name} {row.call.case}{' adds' if row.adds else ''}"
    return f"{case} {'; '.join(operands)}"
