"""What does a cold cache cost? Warm against cold, for operands inside and outside each level of cache.

    python benchmarks/preconditions.py

Each kernel is measured warm, cold by flushing, cold in fresh memory, and warm once more (the noise
floor), all in one batch, repetitions shuffled. Sizes are chosen so that the operands fill half of each
cache but the last, lie well between the last two (geometric mean: a virtual machine has its share of
the last one only), fill half of the last one, and a quarter more than it has. gemm and trsm are the
updates of a blocked algorithm: C := C + A B with an inner size of 64 at most, B := L^-1 B with as many
rows. Columns:

operands     bytes of all operands, and the smallest level that holds them
warm         median time, microseconds
flushed      median time cold by flush over the warm one
fresh        median time in fresh memory over the warm one
noise        the same warm measurement again over the first: what differs no more is no difference
traffic      bytes that must be read or written at least, over the flushed time, GB/s
"""

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date

import click
import numpy as np
import pandas as pd

from blascast.cli.options import setup_options
from blascast.cli.output import progress_bar
from blascast.sampler.call import Call, View, bind, fitting_ld
from blascast.sampler.job import job_of
from blascast.sampler.kernels import find_kernel
from blascast.sampler.precondition import WARM, Cold
from blascast.sampler.program import buffers_for
from blascast.session import Session

BLOCK = 64
LEAST = 4
BYTES_OF_A_LINE = 1 << 30  # of operands; flushing and restoring large ones takes its time
PRECONDITIONS = (WARM, Cold(), Cold("fresh memory"), WARM)


@dataclass(frozen=True)
class Line:
    """One line of the table: a call, and what the states cost."""

    kernel: str
    n: int
    operands_bytes: float
    place: str
    warm_seconds: float
    flushed: float
    fresh: float
    noise: float
    traffic_bytes_per_second: float


def matrix(name: str, rows: int, columns: int) -> View:
    return View(name, 0, 0, rows, columns, fitting_ld(rows))


def vector(name: str, n: int) -> View:
    return View(name, 0, 0, n, 1, n)


def axpy(n: int) -> Call:
    return bind(find_kernel("axpy"), 0.5, vector("x", n), vector("y", n))


def gemv(n: int) -> Call:
    return bind(find_kernel("gemv"), "N", 1, matrix("A", n, n), vector("x", n), 1, vector("y", n))


def trsm(n: int) -> Call:
    m = min(n, BLOCK)
    return bind(find_kernel("trsm"), "L", "L", "N", "N", 1, matrix("L", m, m), matrix("B", m, n))


def gemm(n: int) -> Call:
    k = min(n, BLOCK)
    return bind(find_kernel("gemm"), "N", "N", 1, matrix("A", n, k), matrix("B", k, n), 1, matrix("C", n, n))


@click.command()
@click.option(
    "--repetitions", type=click.IntRange(LEAST), default=15, show_default=True, help="Fewer of large operands."
)
@click.option("--largest", type=click.IntRange(1), default=2048, show_default=True, help="Largest operands, MiB.")
@setup_options
def main(repetitions, largest, as_json, **setup):
    with progress_bar() as on_progress, Session(**setup, on_progress=on_progress) as session:
        lines = []
        for place, room in places(session, largest << 20):
            calls = [make(size_of(make, room, session)) for make in (axpy, gemv, trsm, gemm)]
            lines += [line(session, call, place, repetitions) for call in calls]
        heading = f"{date.today()}, {session.sampler.setup}"
    if as_json:
        click.echo(json.dumps([asdict(line) for line in lines], indent=2))
    else:
        click.echo(heading)
        click.echo(table(lines).to_string(index=False))


def places(session: Session, largest: int) -> list[tuple[str, int]]:
    """Names of the levels, and bytes of operands that lie in them, as described above."""
    caches = sorted(session.sampler.setup.machine.caches, key=lambda cache: cache.bytes)
    found = [(f"L{cache.level}", cache.bytes // 2) for cache in caches]
    if len(caches) > 1:
        found.insert(-1, (f"L{caches[-1].level}", math.isqrt(caches[-2].bytes * caches[-1].bytes)))
    found.append(("memory", 5 * caches[-1].bytes // 4))
    return [(place, room) for place, room in found if room <= largest]


def size_of(make: Callable[[int], Call], room: int, session: Session) -> int:
    """The largest size, a multiple of 8, whose operands fit into so many bytes."""
    low, high = 1, room // 8
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bytes_of(make(8 * middle), session) <= room else (low, middle)
    return 8 * low


def bytes_of(call: Call, session: Session) -> int:
    return session.sampler.setup.item_bytes * sum(buffer.elements for buffer in buffers_for([call]))


def line(session: Session, call: Call, place: str, repetitions: int) -> Line:
    """Measures a call in all states, interleaved."""
    jobs = [job_of(call, precondition) for precondition in PRECONDITIONS]
    repetitions = int(np.clip(BYTES_OF_A_LINE / bytes_of(call, session), LEAST, repetitions))
    label = f"{call.kernel.name} in {place}"
    batch = session.sampler.measure(jobs, repetitions, label=label, on_progress=session.on_progress)
    warm, flushed, fresh, again = (float(np.median(measurement.seconds)) for measurement in batch.measurements)
    return Line(
        kernel=session.sampler.setup.dtype + call.kernel.name,
        n=max(call.sizes.values()),
        operands_bytes=bytes_of(call, session),
        place=place,
        warm_seconds=warm,
        flushed=flushed / warm,
        fresh=fresh / warm,
        noise=again / warm,
        traffic_bytes_per_second=call.byte_count(session.sampler.setup.dtype) / flushed,
    )


def table(lines: list[Line]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "kernel": [line.kernel for line in lines],
            "n": [line.n for line in lines],
            "operands": [f"{line.operands_bytes / 2**20:.2f} MiB" for line in lines],
            "within": [line.place for line in lines],
            "warm [us]": [f"{1e6 * line.warm_seconds:.2f}" for line in lines],
            "flushed / warm": [f"{line.flushed:.2f}" for line in lines],
            "fresh / warm": [f"{line.fresh:.2f}" for line in lines],
            "noise": [f"{line.noise:.2f}" for line in lines],
            "traffic [GB/s]": [f"{line.traffic_bytes_per_second / 1e9:.1f}" for line in lines],
        }
    )


if __name__ == "__main__":
    main()
