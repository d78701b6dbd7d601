"""How fast are estimates?

    python benchmarks/evaluation.py

Estimates of a model of trsm (two sizes, twelve monomials, fifty pieces) at 10^5 random sizes: the best of some rounds,
and as noise by how much the median round took longer; each beside NumPy doing the same, which compares every call with
every piece.

batch       all five statistics, errors and pieces, by `Model.evaluate`
mix         the same for calls of four such models, by `ModelSet.evaluate`
scalar      one call at a time
median      medians alone, by the function that `c_header` writes, in a loop that cc compiles with -O2
statistics  all five statistics by that header

Preparing is what the first estimate of a model costs in addition: its tables.
"""

import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path

import click
import numpy as np

from blascast.models.evaluation.c_header import c_header
from blascast.models.evaluation.collection import ModelSet
from blascast.models.fitting.basis import design_matrix
from blascast.models.generation.halving import halves
from blascast.models.parameters import PEISE2017
from blascast.models.piecewise import Model, ModelKey, Piece
from blascast.models.sizes.domain import Domain
from blascast.sampler.setup import this_machine
from blascast.sampler.simulated import SimulatedBackend

CALLS = 100_000
SCALARS = 1000
PIECES = 50
ROUNDS = 100
LONGEST = 3.0  # seconds for the rounds of one figure
LARGEST = 2056
EXPONENTS = tuple((i, j) for i in range(4) for j in range(3))
LOOP = """
#include "models.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
int main(void) {
    enum { CALLS = %(calls)d, ROUNDS = %(rounds)d };
    static int m[CALLS], n[CALLS];
    double statistics[5], sum = 0.0;
    for (int i = 0; i < CALLS; i++) {
        if (scanf("%%d %%d", m + i, n + i) != 2) return 1;
    }
    for (int round = 0; round < ROUNDS; round++) {
        const double began = now();
        for (int i = 0; i < CALLS; i++) sum += blascast_dtrsm_LLNN_1(m[i], n[i]);
        const double between = now();
        for (int i = 0; i < CALLS; i++) {
            blascast_dtrsm_LLNN_1_statistics(m[i], n[i], statistics);
            sum += statistics[0] + statistics[1] + statistics[2] + statistics[3] + statistics[4];
        }
        printf("%%.9f %%.9f\\n", between - began, now() - between);
    }
    fprintf(stderr, "%%g\\n", sum); /* else nothing would be computed */
    return 0;
}
"""


@dataclass(frozen=True)
class Rate:
    """Seconds of an estimate: in the best round, and by how much the median round took longer, relative."""

    seconds: float
    noise: float


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def main(as_json: bool) -> None:
    model = made_up()
    sizes = np.random.default_rng(0).integers(8, LARGEST + 1, (CALLS, 2))
    singles = sizes[:SCALARS].tolist()
    began = time.perf_counter()
    model.evaluate(sizes[0])
    prepared = time.perf_counter() - began
    alike = [replace(model, key=ModelKey("trsm", case, 520)) for case in ("LLNN 1", "LUNN 1", "LLTN 1", "LUTN 1")]
    together, cases = ModelSet(alike), np.random.default_rng(1).integers(0, len(alike), CALLS)
    median, statistics = compiled(model, sizes)
    batch_baseline = rate(lambda: with_numpy(model, sizes), CALLS)
    scalar_baseline = rate(lambda: [with_numpy(model, np.array([single])) for single in singles], SCALARS)
    lines = {
        "batch": (rate(lambda: model.evaluate(sizes), CALLS), batch_baseline),
        "mix": (rate(lambda: together.evaluate(cases, sizes), CALLS), batch_baseline),
        "scalar": (rate(lambda: [model.evaluate(single) for single in singles], SCALARS), scalar_baseline),
        "median, C header": (median, batch_baseline),
        "statistics, C header": (statistics, batch_baseline),
    }
    if as_json:
        figures = {name: {"estimate": asdict(ours), "numpy": asdict(numpy)} for name, (ours, numpy) in lines.items()}
        click.echo(json.dumps({**figures, "preparing": {"seconds": prepared}}, indent=2))
        return
    click.echo(f"{date.today()}, {this_machine().cpu}; {PIECES} pieces, {len(EXPONENTS)} monomials")
    heads = ("million a second", "ns each", "noise [%]", "NumPy [ns]", "noise [%]", "ratio")
    click.echo(
        "".join(f"{head:>{width}}" for head, width in zip(("", *heads), (22, 18, 10, 11, 12, 11, 8), strict=True))
    )
    for name, (ours, numpy) in lines.items():
        click.echo(
            f"{name:22}{1e-6 / ours.seconds:18.2f}{1e9 * ours.seconds:10.0f}{100 * ours.noise:11.0f}"
            f"{1e9 * numpy.seconds:12.0f}{100 * numpy.noise:11.0f}{numpy.seconds / ours.seconds:8.1f}"
        )
    click.echo(f"preparing: {1e3 * prepared:.1f} ms")


def made_up() -> Model:
    """A model of boxes that were halved in turn, with random coefficients."""
    boxes = [Domain((8, 8), (LARGEST, LARGEST))]
    while len(boxes) < PIECES:
        boxes += halves(boxes.pop(0), 8) or ()
    random = np.random.default_rng(0)
    pieces = tuple(Piece(box, random.uniform(0.5, 2.0, (len(EXPONENTS), 5)), 0.01, 0.01, 30) for box in boxes)
    return Model(ModelKey("trsm", "LLNN 1", 520), EXPONENTS, pieces, "free", "bound", 0.0, PEISE2017)


def with_numpy(model: Model, sizes: np.ndarray) -> np.ndarray:
    """The statistics, not yet put in order."""
    lower, upper = (np.array([getattr(domain, name) for domain in model.domains]) for name in ("lower", "upper"))
    inside = ((sizes[:, None] >= lower) & (sizes[:, None] <= upper)).all(axis=2)
    pieces = inside.argmax(axis=1)
    coefficients = np.stack([piece.coefficients for piece in model.pieces])
    matrix = design_matrix(sizes, model.exponents, upper[pieces].astype(float))
    return np.einsum("nk,nks->ns", matrix, coefficients[pieces])


def compiled(model: Model, sizes: np.ndarray) -> tuple[Rate, Rate]:
    """Medians alone and all statistics, in a loop in C."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "models.h").write_text(c_header(SimulatedBackend().setup, [model]))
        (folder / "loop.c").write_text(LOOP % {"calls": CALLS, "rounds": ROUNDS})
        subprocess.run(["cc", "-O2", "-o", folder / "loop", folder / "loop.c"], check=True)
        text = "\n".join(f"{m} {n}" for m, n in sizes.tolist())
        output = subprocess.run([folder / "loop"], input=text, check=True, capture_output=True, text=True).stdout
    median, statistics = np.array([line.split() for line in output.splitlines()], dtype=float).T
    return rate_of(median, CALLS), rate_of(statistics, CALLS)


def rate(work: Callable[[], object], estimates: int) -> Rate:
    seconds = []
    while len(seconds) < ROUNDS and sum(seconds) < LONGEST:
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return rate_of(np.array(seconds), estimates)


def rate_of(seconds: np.ndarray, estimates: int) -> Rate:
    return Rate(float(seconds.min() / estimates), float(np.median(seconds) / seconds.min() - 1))


if __name__ == "__main__":
    main()
