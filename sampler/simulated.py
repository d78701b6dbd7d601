"""The simulated machine: a back end with known costs, for tests and for trying things out.

It computes nothing and has a clock of its own, so a second of its time passes in no time. What it
charges for a warm call (`warm_seconds`) has, by kernel:

- several sizes: a flop rate that ramps up with every size, an exact polynomial in the sizes;
- trsm and trmm besides: a kink, beyond KINK the triangle's rows cost a fraction of what they did;
- one size, such as potf2: a slow flop rate;
- trti2: memory-bound, an element is streamed for every two flops;
- what computes nothing, such as a copy: memory-bound, its words are streamed;
- alpha = 0: what is overwritten is streamed, and nothing computed.

Complex flops count four times. A vector that is a row costs a cache line an entry besides. What of
operands is not in its cache (`recency`) costs its traffic on top.
"""

import errno
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from . import program
from .backend import Overhead
from .call import Call, View
from .counters import SOFTWARE, Counters, refusal
from .errors import UsageError
from .expression import parse
from .kernel import Kernel, flop_factor
from .nest import Nest, times
from .program import Buffer, Operation, Records, lanes_of, unrolled
from .raw import Shape
from .recency import Recency
from .setup import Cache, Library, Machine, Setup

PEAK_FLOPS_PER_SECOND = 40e9
RAMP = 24.0
KINK = 256
BEYOND_KINK = 0.6
CALL_SECONDS = 4e-7
UNBLOCKED_FLOPS_PER_SECOND = 2.5e9
MEMORY_BYTES_PER_SECOND = 8e9
CACHE_LINE_BYTES = 64
CACHE_BYTES = 32 << 20
PAGE_BYTES = 4096
BRANCH_SECONDS = 3.4e-6
CLOCK_SECONDS = 2.3e-6
HALT_SECONDS = 1.3e-6
CHANGE_SECONDS = 4e-6
TICKS_PER_SECOND = 1e9
CPUS = 4


@dataclass(frozen=True, slots=True)
class Disturbances:
    """What spoils timings on the simulated machine.

    Parameters
    ----------
    jitter : float
        Standard deviation of the relative noise of every call.
    outliers : float
        Probability that a call is preempted (2 to 5 ms, and a context switch).
    free_seconds, busy_seconds : float
        Mean time that the core is its own, or shared with a neighbour; no sharing if the latter is 0.
    slow_down : float
        Factor on the time of calls while the core is shared.
    migrations : float
        Probability that a call is moved to another CPU.
    halts : float
        Probability that the frequency changes about a timed call: it takes 4 us longer, and a probe shows a halt.
    throttled_after : float
        When the clock frequency falls for good, seconds after the start.
    throttling : float
        Factor on all times from then on.
    """

    jitter: float = 0.0
    outliers: float = 0.0
    free_seconds: float = 3.0
    busy_seconds: float = 0.0
    slow_down: float = 1.3
    migrations: float = 0.0
    halts: float = 0.0
    throttled_after: float = float("inf")
    throttling: float = 1.0


QUIET = Disturbances()
ORDINARY = Disturbances(jitter=0.005, outliers=0.002, busy_seconds=1.5)


class _Row(NamedTuple):
    """The record of one operation, in the order of `Records`."""

    start: float
    seconds: float = -1.0
    branch: float = -1.0
    clock: float = -1.0
    halt: float = -1.0
    switches: int = -1
    faults: int = -1
    cpu: int = -1


class SimulatedBackend:
    """A back end whose every time is known.

    Parameters
    ----------
    disturbances : Disturbances
    seed : int

    Raises
    ------
    UsageError
        If more threads than its four CPUs are asked for.
    """

    allowed_cpus = tuple(range(CPUS))
    ticks_per_second = TICKS_PER_SECOND
    overhead = Overhead(0.0, 0.0, 0.0, 0.0)
    clock_name = "simulated"

    def __init__(
        self, dtype: str = "d", threads: int = 1, disturbances: Disturbances = ORDINARY, seed: int = 0
    ) -> None:
        if threads > CPUS:
            raise UsageError(f"{threads} threads need as many CPUs, the simulated machine has {CPUS}")
        machine = Machine("simulated processor", "none", (Cache(1, 32 << 10), Cache(2, CACHE_BYTES)))
        library = Library("simulated", "1", "", "", "", 32, "", "")
        self.setup = Setup(machine, library, dtype, threads, pinned=True)
        self.cpus = tuple(range(threads))
        self.now = 0.0
        self._disturbances = disturbances
        self._random = np.random.default_rng(seed)
        self._cache = Recency(CACHE_BYTES)
        self._counters = Counters()
        self._last_probe = -np.inf
        self._touched: set[str] = set()
        self._switches = 0
        self._faults = 0
        self._cpu = 0
        self._halt = 0.0
        self._shared = False
        free = disturbances.free_seconds if disturbances.busy_seconds else float("inf")
        self._state_ends = self._random.exponential(free)

    def allocate(self, buffers: Sequence[Buffer], keep: bool = False) -> None:
        """Forgets what was cached, and the pages, of operands that do not stay."""
        names = {buffer.name for buffer in buffers} if keep else set()
        self._cache.keep(names)
        self._touched &= names

    def lacks(self, kernels: Iterable[Kernel]) -> list[str]:
        """It has all of them."""
        return []

    def check(self, operation: Operation) -> None:
        """Makes sure that there are as many CPUs as an operation has lanes.

        Raises
        ------
        UsageError
            If there are not.
        """
        if lanes_of(operation) > CPUS:
            raise UsageError(f"{lanes_of(operation)} lanes need as many CPUs, the simulated machine has {CPUS}")

    def run(self, operations: Sequence[Operation], left_in: Path | None = None) -> Records:
        """Runs a program on the simulated clock; nothing is left in a file, as it takes no time."""
        rows: list[_Row] = []
        self._last_probe = -np.inf
        for operation in unrolled(operations):
            self._pass(0.0)
            rows.append(self._run_one(operation))
            rows += [_Row(self.now)] * (program.records_of(operation) - 1)
        counted = np.zeros((len(rows), len(self._counters.events)), dtype=np.int64)
        columns = np.array(rows, dtype=np.float64).reshape(-1, 8).T
        start, seconds, branch, clock, halt = columns[:5]
        switches, faults, cpu = columns[5:].astype(np.int64)
        return Records(start, seconds, branch, clock, halt, switches, faults, cpu, counted)

    def _run_one(self, operation: Operation) -> "_Row":
        row = _Row(self.now)
        match operation:
            case program.Run(call):
                self._pass(self._call_seconds(call))
            case program.Time(call):
                row = _Row(self.now, seconds=self._call_seconds(call) + self._frequency_change())
                self._pass(row.seconds)
            case program.Parallel(lanes):
                self.check(operation)
                row = _Row(self.now, seconds=max(sum(map(self._call_seconds, lane)) for lane in lanes))
                self._pass(row.seconds)
            case Nest():
                row = _Row(self.now, seconds=self._nest_seconds(operation))
                self._pass(row.seconds)
            case program.Probe(gap) if self.now - self._last_probe >= gap:
                row = self._probe()
                self._last_probe = self.now
            case program.Restore(view) | program.Touch(view):
                self._access(view)
            case program.Flush(view):
                self._cache.flush(view)
        return row

    def _probe(self) -> "_Row":
        branch = BRANCH_SECONDS * self._slowness * (2.0 if self._shared else 1.0)
        clock, halt, self._halt = CLOCK_SECONDS * self._slowness, self._halt, 0.0
        row = _Row(self.now, -1.0, branch, clock, halt, self._switches, self._faults, self._cpu)
        self._pass(branch + clock + halt)
        return row

    def raw_shape(self, operations: int) -> Shape:
        """What is needed to read records from a file."""
        return Shape(operations, len(self._counters.events), TICKS_PER_SECOND, 0)

    def count(self, counters: Counters) -> None:
        """Counts these events from now on: the operating system's, which never occur here.

        Raises
        ------
        UsageError
            If one is an event of a processor.
        """
        for index, event in enumerate(counters.events):
            if event not in SOFTWARE:
                raise refusal(counters, index, errno.ENOENT)
        self._counters = counters

    @property
    def counter_shares(self) -> dict[str, float]:
        """The share of the time that each event was counted."""
        return dict.fromkeys(self._counters.events, 1.0)

    def triad_bytes_per_second(self, cpus: Sequence[int], memory_bytes: int) -> float:
        """Its memory has one rate, however many threads ask."""
        self._pass(memory_bytes / MEMORY_BYTES_PER_SECOND)
        return MEMORY_BYTES_PER_SECOND

    def write(self, buffer: str, values: npt.NDArray[np.floating]) -> None:
        """Not possible: there are no contents."""
        raise UsageError("the simulated machine computes no results; choose another library to execute algorithms")

    def read(self, buffer: str) -> npt.NDArray[np.floating]:
        """Not possible: there are no contents."""
        raise UsageError("the simulated machine computes no results; choose another library to execute algorithms")

    def close(self) -> None:
        """Nothing is kept running."""

    def warm_seconds(self, call: Call) -> float:
        """The undisturbed time of a call whose operands are cached."""
        if min(call.sizes.values(), default=1) == 0:
            return CALL_SECONDS
        streamed = _streamed_bytes(call, self.setup)
        seconds = self._computing_seconds(call) if streamed is None else streamed / MEMORY_BYTES_PER_SECOND
        return float(CALL_SECONDS + seconds + CACHE_LINE_BYTES * _row_entries(call) / MEMORY_BYTES_PER_SECOND)

    def _computing_seconds(self, call: Call) -> float:
        """What the flops of a call take."""
        flops, sizes = call.flops * flop_factor(self.setup.dtype), call.sizes.values()
        if len(sizes) == 1:
            return float(flops / UNBLOCKED_FLOPS_PER_SECOND)
        speed = self.setup.threads**0.9 * (2.0 if self.setup.dtype in "sc" else 1.0)
        ramp = 1.0 + sum(RAMP / size for size in sizes)
        return float(flops * ramp * _kink(call) / (PEAK_FLOPS_PER_SECOND * speed))

    def _call_seconds(self, call: Call) -> float:
        disturbances = self._disturbances
        missing = sum(self._access(view) for view in call.views.values())
        seconds = (self.warm_seconds(call) + missing / MEMORY_BYTES_PER_SECOND) * self._slowness
        seconds *= float(np.exp(disturbances.jitter * self._random.standard_normal()))
        if self._shared:
            seconds *= disturbances.slow_down
        if self._random.random() < disturbances.outliers:
            self._switches += 1
            seconds += self._random.uniform(2e-3, 5e-3)
        if disturbances.migrations and self._random.random() < disturbances.migrations:
            self._cpu = (self._cpu + 1) % CPUS
        return seconds

    def _frequency_change(self) -> float:
        """What a change of the frequency adds to a timed call, now and then."""
        if self._disturbances.halts and self._random.random() < self._disturbances.halts:
            self._halt = HALT_SECONDS
            return CHANGE_SECONDS
        return 0.0

    def _nest_seconds(self, nest: Nest) -> float:
        """Each call of a nest as it finds its operands, and again as often as it is repeated."""
        seconds = 0.0
        for loops, step in nest.steps():
            seconds += self._call_seconds(step.call)
            if (further := times(loops) - 1) > 0:
                seconds += further * self._call_seconds(step.call)
        return seconds

    @property
    def _slowness(self) -> float:
        """Factor on all times: how low the clock frequency is."""
        return self._disturbances.throttling if self.now >= self._disturbances.throttled_after else 1.0

    def _access(self, view: View) -> float:
        """The bytes of a view that were not in the cache, and now are; its pages, if it is new."""
        size = float(int(view.rows) * int(view.columns) * self.setup.item_bytes)
        if view.buffer not in self._touched:
            self._touched.add(view.buffer)
            self._faults += -int(-size // PAGE_BYTES)
        return self._cache.access(view, size)

    def _pass(self, seconds: float) -> None:
        """Lets time pass, and the neighbour come and go."""
        self.now += seconds
        while self.now >= self._state_ends:
            self._shared = not self._shared
            mean = self._disturbances.busy_seconds if self._shared else self._disturbances.free_seconds
            self._state_ends += self._random.exponential(mean)


def _streamed_bytes(call: Call, setup: Setup) -> float | None:
    """What a call streams that memory limits; None if flops limit it."""
    if call.kernel.name == "trti2":
        return float(call.flops / 2 * setup.item_bytes)
    if not _computes(call.kernel.flops, call.kernel.sizes, tuple(call.flags.items())):
        return float(call.byte_count(setup.dtype))
    if call.scalars.get("alpha") == 0:
        return float(sum(int(view.rows) * int(view.columns) for view in call.overwritten) * setup.item_bytes)
    return None


@cache
def _computes(flops: str, sizes: tuple[str, ...], flags: tuple[tuple[str, str | int], ...]) -> bool:
    """Whether flops are counted in a case: at sizes that are large, and different, so that nothing cancels."""
    large = {name: 1000 + i for i, name in enumerate(sizes)}
    return bool(parse(flops).evaluate({**dict(flags), **large}))


def _row_entries(call: Call) -> int:
    """Entries of vectors that are rows of a matrix: no two of them share a cache line."""
    vectors = (call.views[name] for name in call.kernel.vectors)
    return sum(int(view.rows) * int(view.columns) for view in vectors if view.increment != 1)


def _kink(call: Call) -> float:
    """Mean cost of a row of the triangle: 1 up to KINK, BEYOND_KINK for every row after."""
    if call.kernel.name not in ("trsm", "trmm"):
        return 1.0
    triangle = int(call.views["A"].rows)
    return (min(triangle, KINK) + BEYOND_KINK * max(0, triangle - KINK)) / triangle
