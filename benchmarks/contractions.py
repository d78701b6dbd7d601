"""Contractions: errors of micro-benchmarks stage by stage, and what the predicted best costs against the best.

The dissertation's three contractions (sections 23 and 24) at several sizes: every algorithm with the chosen
kernels is run in two interleaved passes, and predicted from single calls, stage by stage. The noise floor
is the first pass as a predictor of the second. Small contractions are predicted worst: see docs/contractions.md.

Usage: python benchmarks/contractions.py [--library NAME] [--kernels gemv,ger,gemm]
"""

import time
from collections.abc import Sequence

import click
import numpy as np

from blascast.algorithms.contractions import ContractionNest, Problem, candidates, check_extents, parse_contraction
from blascast.cli.options import parse_names
from blascast.predictors.contractions.benchmarks import occurrences
from blascast.predictors.contractions.choice import total
from blascast.predictors.contractions.measuring import Measurer
from blascast.predictors.contractions.stages import Stage
from blascast.sampler.job import Job
from blascast.session import Session

QUESTIONS = [
    *(("abc=ai,ibc", {"a": n, "b": n, "c": n, "i": 8}) for n in (64, 128, 192, 256, 384, 512)),
    *(("a=iaj,ji", {"a": n, "i": 64, "j": 64}) for n in (64, 256, 1024)),
    *(("abc=ija,jbic", {"a": n, "b": n, "c": n, "i": 8, "j": 8}) for n in (32, 64, 128)),
]
REPETITIONS = 5
MOST_SECONDS = 0.3  # predicted: algorithms that take longer are left out


@click.command(help=__doc__)
@click.option("--library", default="scipy", show_default=True)
@click.option("--kernels", default="gemv,ger,gemm", show_default=True)
def main(library: str, kernels: str) -> None:
    heading = f"{'contraction':14} {'sizes':24} {'algorithms':>10} {'noise [%]':>9}"
    print(
        heading,
        *(f"{stage.name.lower():>12}" for stage in Stage),
        f"{'chosen':>12} {'loss [%]':>8} {'cost [s]':>8} {'best [ms]':>9}",
    )
    with Session(library=library) as session:
        for text, sizes in QUESTIONS:
            contraction = parse_contraction(text)
            problem = Problem.contiguous(contraction, check_extents(contraction, sizes))
            own = [c for c in candidates(problem, "d", frozenset(parse_names(kernels))) if c.family == "loops"]
            print(row(session, text, sizes, [candidate.nest("d") for candidate in own]), flush=True)
    print("Of each stage: mean of |predicted / measured - 1|, per cent. Loss: of the predicted best against the best.")


def row(session: Session, text: str, sizes: dict[str, int], nests: list[ContractionNest]) -> str:
    """One line of the table."""
    measurer = Measurer(session.sampler, session.store)
    by_stage = []
    began = time.perf_counter()
    for stage in Stage:
        found = [occurrences(nest.nest, session.setup.machine.caches, 8, stage) for nest in nests]
        timings = measurer.timings(one.benchmark for own in found for one in own)
        by_stage.append(np.array([total(own, timings)[0] for own in found]))
    cost = time.perf_counter() - began
    kept = np.flatnonzero(by_stage[-1] < MOST_SECONDS)
    first, second = (measured(session, [nests[i] for i in kept]) for _ in range(2))
    mean = (first + second) / 2
    errors = [100 * np.mean(np.abs(predicted[kept] / mean - 1)) for predicted in by_stage]
    chosen = int(np.argmin(by_stage[-1][kept]))
    noise = 100 * np.mean(np.abs(first / second - 1))
    shown = ",".join(f"{index}={size}" for index, size in sizes.items())
    line = f"{text:14} {shown:24} {len(kept):10} {noise:9.1f} " + " ".join(f"{error:12.1f}" for error in errors)
    loss = 100 * (mean[chosen] / mean.min() - 1)
    return f"{line} {nests[kept[chosen]].name:>12} {loss:8.1f} {cost:8.1f} {1e3 * mean.min():9.3f}"


def measured(session: Session, nests: Sequence[ContractionNest]) -> "np.typing.NDArray[np.float64]":
    """Medians of whole runs, interleaved."""
    jobs = [Job((), (nest.nest,), buffers=nest.buffers) for nest in nests]
    batch = session.sampler.measure(jobs, REPETITIONS, state="free")
    return np.array([np.median(measurement.seconds) for measurement in batch.measurements])


if __name__ == "__main__":
    main()
