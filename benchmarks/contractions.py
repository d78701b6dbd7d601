"""Contractions: errors of predictions stage by stage, what deciding costs, and choices over a published set.

stages      the dissertation's three contractions (section 23): errors of predictions, stage by stage
efficiency  what predicting costs beside running (section 24.4)
overhead    listing algorithms, and running a remembered plan
tccg        the 48 contractions of the TCCG set, scaled: choices against the best candidate and against NumPy

The noise floor is always the first of two interleaved passes as a predictor of the second.

Usage: python benchmarks/contractions.py stages|efficiency|overhead|tccg [--help]
"""

import csv
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

import blascast
from blascast.algorithms.contractions import Candidate, Problem, candidates, check_extents, counts, parse_contraction
from blascast.answers.contraction_report import MOST_RUN
from blascast.answers.opponents import measure_opponents
from blascast.cli.options import parse_names
from blascast.models.kept.store import Store
from blascast.predictors.contractions.benchmarks import occurrences
from blascast.predictors.contractions.choice import Estimate, estimates, run_estimates, total
from blascast.predictors.contractions.measuring import Measurer
from blascast.predictors.contractions.stages import Stage
from blascast.predictors.contractions.states import Machine
from blascast.sampler.job import Job
from blascast.sampler.nest import Loop, Nest
from blascast.session import Session

QUESTIONS = [
    *(("abc=ai,ibc", {"a": n, "b": n, "c": n, "i": 8}) for n in (64, 128, 192, 256, 384, 512)),
    *(("a=iaj,ji", {"a": n, "i": 64, "j": 64}) for n in (64, 256, 1024)),
    *(("abc=ija,jbic", {"a": n, "b": n, "c": n, "i": 8, "j": 8}) for n in (32, 64, 128)),
]
REPETITIONS = 5
MOST_SECONDS = 0.3  # predicted: algorithms that take longer are left out of the stages
SET = Path(__file__).parents[1] / "tests" / "tccg.csv"
FURTHER = 4  # algorithms that were not looked into are measured, too
CLOSE = 1.05  # of the best: as good as it

Floats = npt.NDArray[np.float64]


@click.group(help=__doc__)
def main() -> None:
    """The studies."""


def problem_of(text: str, sizes: dict[str, int]) -> Problem:
    """A contraction of Fortran arrays."""
    contraction = parse_contraction(text)
    return Problem.contiguous(contraction, check_extents(contraction, sizes))


def shown(sizes: dict[str, int]) -> str:
    """Sizes in short."""
    return ",".join(f"{index}={size}" for index, size in sizes.items())


def measured(session: Session, chosen: Sequence[Candidate], repetitions: int = REPETITIONS) -> Floats:
    """Medians of whole runs, interleaved."""
    jobs = [Job((), (own.nest.nest,), buffers=own.nest.buffers) for own in chosen]
    batch = session.sampler.measure(jobs, repetitions, state="free")
    return np.array([np.median(measurement.seconds) for measurement in batch.measurements])


# --- stages


@main.command()
@click.option("--library", default="scipy", show_default=True)
@click.option("--kernels", default="gemv,ger,gemm", show_default=True)
def stages(library: str, kernels: str) -> None:
    """Errors of predictions of all algorithms, stage by stage."""
    heading = f"{'contraction':14} {'sizes':24} {'algorithms':>10} {'noise [%]':>9}"
    print(
        heading,
        *(f"{stage.name.lower():>12}" for stage in Stage),
        f"{'chosen':>12} {'loss [%]':>8} {'cost [s]':>8} {'best [ms]':>9}",
    )
    with Session(library=library) as session:
        for text, sizes in QUESTIONS:
            found = candidates(problem_of(text, sizes), "d", frozenset(parse_names(kernels)))
            print(stages_row(session, text, sizes, [own for own in found if own.family == "loops"]), flush=True)
    print("Of each stage: mean of |predicted / measured - 1|, per cent. Loss: of the predicted best against the best.")


def stages_row(session: Session, text: str, sizes: dict[str, int], chosen: list[Candidate]) -> str:
    """One line of the table."""
    measurer, machine = Measurer(session.sampler, session.store), Machine.of(session.setup)
    by_stage = []
    began = time.perf_counter()
    for stage in Stage:
        found = [occurrences(own.nest.nest, machine, stage) for own in chosen]
        timings = measurer.timings(one.benchmark for own in found for one in own)
        by_stage.append(np.array([total(own, timings)[0] for own in found]))
    cost = time.perf_counter() - began
    kept = np.flatnonzero(by_stage[-1] < MOST_SECONDS)
    first, second = (measured(session, [chosen[i] for i in kept]) for _ in range(2))
    mean = (first + second) / 2
    errors = [100 * np.mean(np.abs(predicted[kept] / mean - 1)) for predicted in by_stage]
    best = int(np.argmin(by_stage[-1][kept]))
    noise = 100 * np.mean(np.abs(first / second - 1))
    line = f"{text:14} {shown(sizes):24} {len(kept):10} {noise:9.1f} " + " ".join(f"{error:12.1f}" for error in errors)
    loss = 100 * (mean[best] / mean.min() - 1)
    return f"{line} {chosen[kept[best]].name:>12} {loss:8.1f} {cost:8.1f} {1e3 * mean.min():9.3f}"


# --- efficiency


@main.command()
@click.option("--library", default="scipy", show_default=True)
@click.option("--n", default=512, show_default=True)
def efficiency(library: str, n: int) -> None:
    """Seconds that deciding and predicting take beside those of running, abc=ai,ibc with i = 8."""
    problem = problem_of("abc=ai,ibc", {"a": n, "b": n, "c": n, "i": 8})
    print(f"abc=ai,ibc, a = b = c = {n}, i = 8: an empty store, the sampler started")
    with tempfile.TemporaryDirectory() as home, Session(library=library, home=Path(home)) as session:
        machine = Machine.of(session.setup)
        measured(session, [tiny()])
        gemm = [own for own in candidates(problem, "d", frozenset(["gemm"])) if own.family == "loops"]
        began = time.perf_counter()
        known = estimates(gemm, machine, Measurer(session.sampler, session.store))
        deciding = time.perf_counter() - began
        running, again = (measured(session, gemm) for _ in range(2))
        print(f"deciding among {len(gemm)} gemm algorithms: {deciding:.3f} s, running each once: {running.sum():.3f} s")
        noise = np.mean(np.abs(running / again - 1))
        print(f"ratio {running.sum() / deciding:.1f}; chosen {known[0].candidate.name}; noise floor {noise:.1%}\n")
        heading = (
            f"{'algorithm':10} {'predicted [s]':>13} {'run [s]':>9} {'noise [%]':>9} {'cost [s]':>9} {'run / cost':>10}"
        )
        print(f"{heading} {'shared [s]':>10} {'run / shared':>12}  part run")
        shared = Measurer(session.sampler, session.store)
        for kernel in ("axpy", "dot"):
            for own in candidates(problem, "d", frozenset([kernel])):
                if own.family == "loops":
                    print(efficiency_row(session, machine, own, shared), flush=True)
    print("cost: on an empty store; shared: with what those above have measured. Run: a part, scaled to all of it.")


def tiny() -> Candidate:
    """An algorithm that takes no time, to start the sampler with."""
    return next(iter(candidates(problem_of("ab=ai,ib", {"a": 2, "b": 2, "i": 2}), "d", frozenset(["gemm"]))))


def efficiency_row(session: Session, machine: Machine, own: Candidate, shared: Measurer) -> str:
    """One algorithm: predicted on an empty store, and with what others have measured; and a part of it run."""
    with tempfile.TemporaryDirectory() as home:
        store = Store(Path(home))
        began = time.perf_counter()
        found = occurrences(own.nest.nest, machine)
        seconds, _ = total(found, Measurer(session.sampler, store).timings(one.benchmark for one in found))
        cost = time.perf_counter() - began
        store.close()
    began = time.perf_counter()
    total(found, shared.timings(one.benchmark for one in found))
    cost_shared = time.perf_counter() - began
    *before, loop = own.nest.nest.body
    assert isinstance(loop, Loop)
    count = int(np.clip(loop.count * 0.5 / seconds, 1, loop.count))
    part = Nest((*before, replace(loop, count=count)))
    batch = session.sampler.measure([Job((), (part,), buffers=own.nest.buffers)], 2, state="free")
    times = [sample.seconds for sample in batch.measurements[0].samples]
    run, noise = float(np.median(times)) * loop.count / count, abs(times[0] / times[-1] - 1)
    line = f"{own.name:10} {seconds:13.2f} {run:9.2f} {100 * noise:9.1f} {cost:9.4f} {run / cost:10.0f}"
    return f"{line} {cost_shared:10.4f} {run / cost_shared:12.0f}  {count}/{loop.count}"


# --- overhead


@main.command()
def overhead() -> None:
    """What listing all algorithms takes, and a remembered plan."""
    with SET.open() as file:
        texts = [row["contraction"] for row in csv.DictReader(file)]
    largest = max(texts, key=lambda text: sum(counts(parse_contraction(text)).values()))
    problem = problem_of(largest, dict.fromkeys(parse_contraction(largest).indices, 4))
    took, count = least(lambda: sum(1 for own in candidates(problem, "d") if own.family == "loops"))
    print(f"listing the {count} algorithms of {largest}: {took:.3f} s (target 0.2)")
    A, B = np.ones((2, 2)), np.ones((2, 2))
    plan = blascast.plan("ai,ib->ab", A, B)
    calls = range(10_000)
    remembered, _ = least(lambda: [blascast.contract("ai,ib->ab", A, B) for _ in calls])
    alone, _ = least(lambda: [plan.run_unchecked(A, B) for _ in calls])
    einsum, _ = least(lambda: [np.einsum("ai,ib->ab", A, B) for _ in calls])
    more, own, other = (1e6 * seconds / len(calls) for seconds in (remembered - alone, alone, einsum))
    print(
        f"2 x 2 matrices, per call: finding the plan {more:.1f} µs (target 20), running it {own:.1f}, "
        f"einsum {other:.1f}"
    )


def least(run: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that it takes, the least of three times, and what it returns."""
    times = []
    for _ in range(3):
        began = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - began)
    return min(times), result


# --- TCCG


@dataclass(frozen=True)
class Outcome:
    """How a choice turned out, seconds.

    Parameters
    ----------
    chosen, best, einsum : float
        Of the chosen algorithm, the best that was measured, and numpy.einsum(optimize=True).
    noise : float
        Relative.
    candidates : int
        How many algorithms were measured.
    choice : bool
        Whether there is one: the contraction is no single call on the tensors as they are.
    cost : float
        Of choosing.
    """

    name: str
    algorithm: str
    best_algorithm: str
    chosen: float
    best: float
    einsum: float
    noise: float
    candidates: int
    choice: bool
    cost: float

    @property
    def is_close(self) -> bool:
        """Whether the choice is as good as the best."""
        return bool(self.chosen < CLOSE * self.best)

    @property
    def loses(self) -> bool:
        """Whether numpy.einsum is faster, beyond noise."""
        return bool(self.chosen > (1 + self.noise) * self.einsum)

    def __str__(self) -> str:
        marks = f"{'' if self.is_close else ' missed: ' + self.best_algorithm}{' einsum is faster' * self.loses}"
        return (
            f"{self.name:10} {self.algorithm:26} {1e3 * self.chosen:9.3f} {1e3 * self.best:9.3f} "
            f"{1e3 * self.einsum:9.3f} {self.einsum / self.chosen:8.2f} {100 * self.noise:9.1f} {self.candidates:4} "
            f"{self.cost:8.2f}{marks}"
        )


@main.command()
@click.option("--library", default="scipy", show_default=True)
@click.option("--mebibytes", default=2.0, show_default=True, help="Of the largest tensor.")
@click.option("--ragged", is_flag=True, help="Sizes are primes.")
@click.option(
    "--most", default=24, show_default=True, help="Algorithms that are measured, the fastest predicted first."
)
@click.option("--rows", default=48, show_default=True, help="Of the set.")
@click.option("--measure", is_flag=True, help="Choose by running the most promising instead of predicting them.")
def tccg(library: str, mebibytes: float, ragged: bool, most: int, rows: int, measure: bool) -> None:
    """Choices over the TCCG set, scaled so that the largest tensor has so many MiB."""
    head = f"{'name':10} {'chosen':26} {'run [ms]':>9} {'best [ms]':>9} {'einsum':>9} {'speed-up':>8} {'noise [%]':>9}"
    print(f"{head} {'run':>4} {'cost [s]':>8}")
    outcomes = []
    with tempfile.TemporaryDirectory() as home, Session(library=library, home=Path(home)) as session:
        for name, text, sizes in list(scaled_set(mebibytes, ragged))[:rows]:
            outcomes.append(outcome(session, name, problem_of(text, sizes), most, CHOICES[measure]))
            print(outcomes[-1], flush=True)
    ratios = np.array([own.einsum / own.chosen for own in outcomes])
    print(f"within 5 % of the best measured candidate: {np.mean([own.is_close for own in outcomes]):.0%} of rows")
    print(f"not slower than numpy.einsum: {1 - np.mean([own.loses for own in outcomes]):.0%} of rows")
    print(f"geometric mean of the speed-up: {geometric_mean(ratios):.2f}")
    choice = np.array([own.choice for own in outcomes])
    print(f"the same over the {choice.sum()} rows that are no single call: {geometric_mean(ratios[choice]):.2f}")
    print(f"noise floor {np.mean([own.noise for own in outcomes]):.1%}")


def geometric_mean(ratios: Floats) -> float:
    """Of positive numbers."""
    return float(np.exp(np.mean(np.log(ratios))))


def predicted(session: Session, problem: Problem) -> list[Estimate]:
    """All algorithms, the fastest predicted first."""
    measurer = Measurer(session.sampler, session.store)
    return estimates(candidates(problem, "d"), Machine.of(session.setup), measurer)


def run(session: Session, problem: Problem) -> list[Estimate]:
    """All algorithms, the fastest of the most promising ones, which are run, first."""
    measurer = Measurer(session.sampler, session.store)

    def runner(chosen: Sequence[Candidate]) -> list[tuple[float, float]]:
        return [(float(seconds), 0.0) for seconds in measured(session, chosen)]

    return run_estimates(candidates(problem, "d"), Machine.of(session.setup), measurer, runner, MOST_RUN)


CHOICES = {False: predicted, True: run}


def outcome(
    session: Session, name: str, problem: Problem, most: int, choose: Callable[[Session, Problem], list[Estimate]]
) -> Outcome:
    """The choice for one contraction, and what it is worth: beside those looked into, and some that were not."""
    began = time.perf_counter()
    known = choose(session, problem)
    cost = time.perf_counter() - began
    kept = [own.candidate for own in known if own.basis != "repeated calls"][:most]
    kept += [own.candidate for own in known if own.basis == "repeated calls"][:FURTHER]
    passes, opponents = [], []
    for _ in range(2):
        passes.append(measured(session, kept))
        (einsum, *_) = measure_opponents(problem, "d", 1, REPETITIONS, 20.0)
        opponents.append(einsum.seconds)
    mean = np.mean(passes, axis=0)
    noise = float(np.mean(np.abs(passes[0] / passes[1] - 1)))
    best = int(np.argmin(mean))
    names = kept[0].name, kept[best].name
    choice = not any(own.candidate.name in ("-gemm", "-gemv", "-ger") for own in known)
    return Outcome(name, *names, mean[0], mean[best], float(np.mean(opponents)), noise, len(kept), choice, cost)


def scaled_set(mebibytes: float, ragged: bool) -> Iterator[tuple[str, str, dict[str, int]]]:
    """Name, contraction and sizes of each row."""
    with SET.open() as file:
        for row in csv.DictReader(file):
            contraction = parse_contraction(row["contraction"])
            sizes = {index: int(size) for index, size in re.findall(r"(\w):(\d+)", row["sizes"])}
            tensors = (contraction.A, contraction.B, contraction.C)
            largest = max(tensors, key=lambda tensor: prod(sizes[index] for index in tensor))
            ratio = mebibytes * 2**20 / 8 / prod(sizes[index] for index in largest)
            own = {index: max(2, round(size * ratio ** (1 / len(largest)))) for index, size in sizes.items()}
            yield row["name"], row["contraction"], {index: next_prime(n) if ragged else n for index, n in own.items()}


def next_prime(n: int) -> int:
    """The least prime above a number."""
    n += 1
    while any(n % divisor == 0 for divisor in range(2, int(n**0.5) + 1)):
        n += 1
    return n


if __name__ == "__main__":
    main()
