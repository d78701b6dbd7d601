"""What does the instrument itself cost?

    python benchmarks/engine.py

overhead    what timing an empty routine reports, after the subtraction, of calls other than those
            that the subtraction was learnt from
no-op       calls of dgemm with m = 0 through one program: each timed, with its record; a second of
            the engine alone, and with building the program and fetching the records
building    a program of 10^5 calls in Python until the engine could start: one call repeated, calls
            on operands that move (array-valued), and calls bound one by one
"""

import json
import time
from collections.abc import Callable
from datetime import date

import click
import numpy as np

from blascast.cli.options import setup_options
from blascast.sampler.backends import open_backend
from blascast.sampler.call import Call, View, bind
from blascast.sampler.host.backend import WorkerBackend
from blascast.sampler.kernels import find_kernel
from blascast.sampler.program import Operation, Repeat, Time, buffers_for
from blascast.sampler.setup import SetupRequest

NOOPS = 1_000_000
CALLS = 100_000
ROUNDS = 5


@click.command()
@setup_options
def main(as_json, **setup):
    backend = open_backend(SetupRequest(**setup))
    try:
        overhead = backend.overhead
        figures = {
            "overhead p10, seconds": overhead.low,
            "overhead median, seconds": overhead.median,
            "overhead p90, seconds": overhead.high,
            "subtracted, seconds": overhead.subtracted,
            **noops(backend),
            **building(backend),
        }
        heading = f"{date.today()}, {backend.setup}"
    finally:
        backend.close()
    if as_json:
        click.echo(json.dumps(figures, indent=2))
        return
    click.echo(heading)
    for name, value in figures.items():
        click.echo(f"{name:46} {1e9 * value:12.1f} ns" if value < 1e-6 else f"{name:46} {value:12.4g}")


def noops(backend: WorkerBackend) -> dict[str, float]:
    """Calls a second, the best of some rounds."""
    call = multiply(0, 8, 8, 0)
    backend.allocate(buffers_for([call]))
    program = [Repeat((Time(call),), NOOPS)]
    engine, whole = [], []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        records = backend.run(program)
        whole.append(time.perf_counter() - began)
        engine.append(records.start[-1] - records.start[0])
    return {"no-op calls a second, engine": NOOPS / min(engine), "no-op calls a second, all": NOOPS / min(whole)}


def building(backend: WorkerBackend) -> dict[str, float]:
    """Seconds until the engine could start, the best of some rounds."""

    def repeated() -> list[Operation]:
        return [Time(multiply(8, 8, 8, 0))] * CALLS

    def moving() -> list[Operation]:
        return [Time(multiply(8, 8, 8, 8 * np.arange(CALLS)))]

    def bound() -> list[Operation]:
        return [Time(multiply(8, 8, 8, 8 * i)) for i in range(CALLS)]

    backend.allocate(buffers_for([multiply(8, 8, 8, 8 * CALLS)]))
    return {
        "building 10^5 calls, one repeated, seconds": shortest(backend, repeated, ROUNDS),
        "building 10^5 calls, moving, seconds": shortest(backend, moving, ROUNDS),
        "building 10^5 calls, bound one by one, seconds": shortest(backend, bound, 1),
    }


def shortest(backend: WorkerBackend, build: Callable[[], list[Operation]], rounds: int) -> float:
    seconds = []
    for _ in range(rounds):
        began = time.perf_counter()
        backend.prepare(build())
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def multiply(m, n: int, k: int, column) -> Call:
    views = [View("A", 0, column, m, k, 8), View("B", 0, 0, k, n, 8), View("C", 0, column, m, n, 8)]
    return bind(find_kernel("gemm"), "N", "N", 1, *views[:2], 1, views[2])


if __name__ == "__main__":
    main()
