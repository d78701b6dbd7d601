"""What is the noise guard worth? Three comparisons, each in one run, on a machine that is otherwise idle.

    python benchmarks/noise.py load     a competing process during part of a batch
    python benchmarks/noise.py states   dgemm on a core of one's own, on a shared one, and unguarded
    python benchmarks/noise.py timeit   against timeit on scipy.linalg.blas.dgemm

All of them time C := A B + C in double precision, one thread, warm, with the OpenBLAS of SciPy's wheel unless
--library names another. Processes that compete are started here, and ended here whatever happens. Columns:

load
    quiet            median of a guarded batch with nothing else running: the truth
    disturbed        share of the first repetitions of each call that the guard did not accept
    accepted         how many samples the guard accepted
    guarded          median of the accepted samples, and how far it is from the truth
    unguarded        median of the first repetitions, all accepted: what a batch without the guard yields
states
    guarded          samples that the guard accepts on a core of one's own
    free, busy, all  by the probes alone: a core of one's own, a shared one, everything
    p10, p90         percentiles relative to the group's own median
timeit
    ours, theirs     median of the rounds' medians
    spread           largest over smallest of the rounds' medians, less one
"""

import json
import math
import os
import subprocess
import sys
import time
import timeit
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import Path

import click
import numpy as np
import pandas as pd
from scipy.linalg.blas import dgemm
from threadpoolctl import threadpool_limits

from blascast.cli.options import Size, Sizes
from blascast.cli.output import progress_bar
from blascast.sampler.backends import open_backend
from blascast.sampler.batch.guard import longest_halts, prevailing_clocks
from blascast.sampler.batch.repetitions import Repetitions
from blascast.sampler.batch.sample import Batch, Measurement
from blascast.sampler.call import View, bind
from blascast.sampler.environment.topology import read_topology
from blascast.sampler.job import Job, warm_job
from blascast.sampler.kernels import find_kernel
from blascast.sampler.program import Probe
from blascast.sampler.resources import allowed_cpus
from blascast.sampler.sampler import Budget, OnProgress, Progress, Sampler
from blascast.sampler.setup import SetupRequest

COMPETITOR = """
import os, sys, time
import numpy as np
cpu, parent, burst = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
os.sched_setaffinity(0, {cpu})
a = np.ones((300, 300))
print("running", flush=True)
while os.getppid() == parent:
    a @ a
    if (time.monotonic() // burst) % 2:
        time.sleep(burst)
"""
COMPETES_FROM, COMPETES_TO = 0.1, 0.7  # of the first repetitions
TARGET_P10, TARGET_P90 = 0.95, 1.06
TARGET_SPREAD = 3.0
ENOUGH_FREE = 20
TIMEIT_SECONDS = 2e-3

library_option = click.option("--library", default="scipy", show_default=True, help="As for `blascast rank`.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(help=__doc__.split("\n")[0])
def main():
    pass


# --- a competing process during part of a batch


@main.command()
@click.option("--n", type=Sizes(), default="64,200,400,800", show_default=True)
@click.option("--repetitions", type=Size(), default=100, show_default=True)
@library_option
@json_option
def load(n, repetitions, library, as_json):
    """A competing process, on the measured CPU and on its sibling, during part of a batch."""
    jobs = [gemm_job(size) for size in n]
    frames, remarks = [], []
    with sampling(library, Budget(factor=5.0, least_seconds=20.0)) as (sampler, cpu, on_progress):
        for place, competing in ((f"CPU {cpu}, the measured one", cpu), sibling_of(cpu)):
            quiet = sampler.measure(jobs, repetitions, label="quiet", on_progress=on_progress)
            batch = measure_with_competitor(sampler, jobs, repetitions, competing, on_progress)
            rows = zip(n, quiet.measurements, batch.measurements, strict=True)
            frames.append(pd.DataFrame([{"competitor": place, **compared(*row, repetitions)} for row in rows]))
            remarks += [f"{place}: quiet: {quiet}", f"{place}: competing: {batch}"]
    table = pd.concat(frames, ignore_index=True)
    for place, group in table.groupby("competitor", sort=False):
        guarded, unguarded = (group[f"{name} off [%]"].abs().max() for name in ("guarded", "unguarded"))
        remarks.append(f"{place}: worst median: guarded {guarded:.1f} % off, unguarded {unguarded:.1f} % off")
    show(table, remarks, sampler, as_json)


def measure_with_competitor(
    sampler: Sampler, jobs: list[Job], repetitions: int, cpu: int, on_progress: OnProgress
) -> Batch:
    """A batch with a competitor from COMPETES_FROM to COMPETES_TO of its first repetitions."""
    first = repetitions * len(jobs)
    with ExitStack() as competition:
        waiting = True

        def on_step(progress: Progress) -> None:
            nonlocal waiting
            on_progress(progress)
            if not waiting and progress.done >= COMPETES_TO * first:
                competition.close()
            elif waiting and COMPETES_FROM * first <= progress.done < COMPETES_TO * first:
                waiting = False
                competition.enter_context(competitor(cpu))

        batch = sampler.measure(jobs, repetitions, label="competing", on_progress=on_step)
        if waiting:
            raise click.ClickException("the batch was over before the competitor could begin; use more repetitions")
        return batch


def compared(n: int, quiet: Measurement, competing: Measurement, repetitions: int) -> dict[str, float]:
    """One line of the table."""
    first = competing.samples[:repetitions]
    truth, guarded = np.median(quiet.seconds), np.median(competing.seconds)
    unguarded = np.median([sample.seconds for sample in first])
    disturbed = np.mean([competing.verdict(sample) != "ok" for sample in first])
    return {
        "n": n,
        "accepted": len(competing.accepted),
        "quiet [us]": 1e6 * truth,
        "disturbed [%]": 100 * disturbed,
        "guarded [us]": 1e6 * guarded,
        "guarded off [%]": 100 * (guarded / truth - 1),
        "unguarded [us]": 1e6 * unguarded,
        "unguarded off [%]": 100 * (unguarded / truth - 1),
    }


# --- free, busy, all


@main.command()
@click.option("--n", type=Sizes(), default="64,400,800", show_default=True)
@click.option("--seconds", type=Size(), default=90, show_default=True, help="To run.")
@library_option
@json_option
def states(n, seconds, library, as_json):
    """The spread of samples on a core of one's own, on a shared one, and of all."""
    jobs = [gemm_job(size) for size in n]
    with sampling(library, Budget(factor=0.0, least_seconds=0.0)) as (sampler, _, on_progress):
        batches, deadline = [], time.monotonic() + seconds
        while not batches or time.monotonic() < deadline:
            batches.append(sampler.measure(jobs, 20, label="sampling", on_progress=on_progress))
    samples = [[s for batch in batches for s in batch.measurements[i].samples] for i in range(len(n))]
    clocks, usual = prevailing_clocks(samples), sampler.usual_halt
    rows, remarks = [], []
    for size, of_job, clock, halt in zip(n, samples, clocks, longest_halts(samples, usual), strict=True):
        known = [(s, s.state(sampler.floor), s.verdict("free", sampler.floor, clock, halt)) for s in of_job]
        groups = {
            "guarded": [s.seconds for s, _, verdict in known if verdict == "ok"],
            "free": [s.seconds for s, state, _ in known if state == "free"],
            "busy": [s.seconds for s, state, _ in known if state == "busy"],
            "all": [s.seconds for s in of_job],
        }
        rows += [{"n": size, "group": name, **spread(times, len(of_job))} for name, times in groups.items()]
        remarks.append(judged(size, groups["guarded"]))
    show(pd.DataFrame(rows), remarks, sampler, as_json)


def spread(seconds: list[float], count: int) -> dict[str, float]:
    """Median of a group, and its percentiles relative to that."""
    low, median, high = np.percentile(seconds, [10, 50, 90]) if seconds else (math.nan,) * 3
    return {
        "share [%]": 100 * len(seconds) / count,
        "median [us]": 1e6 * median,
        "p10": low / median,
        "p90": high / median,
    }


def judged(n: int, guarded: list[float]) -> str:
    """Whether the guarded samples of a size are as close together as they should be."""
    if len(guarded) < ENOUGH_FREE:
        return f"n = {n}: no free window came ({len(guarded)} samples)"
    low, high = np.percentile(guarded, [10, 90]) / np.median(guarded)
    met = "met" if low >= TARGET_P10 and high <= TARGET_P90 else "missed"
    return f"n = {n}: guarded p10..p90 {low:.3f}..{high:.3f}, target {TARGET_P10}..{TARGET_P90}: {met}"


# --- against timeit


@main.command(name="timeit")
@click.option("--n", type=Sizes(), default="8,16,32,64,100,200,400,800,1000", show_default=True)
@click.option("--rounds", type=Size(), default=9, show_default=True, help="Medians of each.")
@click.option(
    "--repetitions",
    type=Size(),
    default=20,
    show_default=True,
    help="Samples of a median; ours may be ten times as many, until it is known to 1 %.",
)
@click.option(
    "--burst", type=float, default=0.7, show_default=True, help="Seconds that the competitor runs, and rests."
)
@json_option
def against_timeit(n, rounds, repetitions, burst, as_json):
    """Against timeit on scipy.linalg.blas.dgemm, the same calls, quiet and with a competitor in bursts."""
    jobs, wanted = [gemm_job(size) for size in n], Repetitions(repetitions, 10 * repetitions, width=0.01)
    frames, remarks = [], []
    with sampling("scipy", Budget(factor=2.0, least_seconds=5.0)) as (sampler, cpu, on_progress):
        for loaded in (False, True):
            ours, theirs = [], []
            with competitor(cpu, burst) if loaded else ExitStack():
                for _ in range(rounds):  # in turns
                    batch = sampler.measure(jobs, wanted, label="ours", on_progress=on_progress)
                    ours.append([np.median(measurement.seconds) for measurement in batch.measurements])
                    theirs.append([timeit_median(size, repetitions, cpu) for size in n])
            frames.append(rounds_table("competing" if loaded else "quiet", n, np.array(ours), np.array(theirs)))
    table = pd.concat(frames, ignore_index=True)
    under_load = table[table["load"] == "competing"]
    ratios = under_load["spread theirs [%]"] / under_load["spread ours [%]"]
    ratio = float(ratios.median())
    met = f"{'met' if ratio >= TARGET_SPREAD else 'missed'}, by {(ratios >= TARGET_SPREAD).sum()} of {len(n)} n alone"
    remarks.append(f"spread under load: {ratio:.1f} times smaller (median over n), target {TARGET_SPREAD:g}: {met}")
    show(table, remarks, sampler, as_json)


def timeit_median(n: int, repetitions: int, cpu: int) -> float:
    """Median seconds of a call as timeit sees it, on one CPU and thread."""
    random = np.random.default_rng(1)
    a, b, c = (np.asfortranarray(random.uniform(-1, 1, (n, n))) for _ in "abc")
    timer = timeit.Timer(lambda: dgemm(1.0, a, b, beta=1.0, c=c, overwrite_c=1))
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        with threadpool_limits(1):
            number = max(1, round(TIMEIT_SECONDS / min(timer.repeat(3, 1))))
            return float(np.median(timer.repeat(repetitions, number))) / number
    finally:
        os.sched_setaffinity(0, before)


def rounds_table(name: str, n: tuple[int, ...], ours: np.ndarray, theirs: np.ndarray) -> pd.DataFrame:
    """Medians and spreads over the rounds (rows) of each n (columns)."""
    medians = [np.median(times, axis=0) for times in (ours, theirs)]
    spreads = [100 * (times.max(axis=0) / times.min(axis=0) - 1) for times in (ours, theirs)]
    return pd.DataFrame(
        {
            "load": name,
            "n": n,
            "ours [us]": 1e6 * medians[0],
            "theirs [us]": 1e6 * medians[1],
            "theirs / ours": medians[1] / medians[0],
            "spread ours [%]": spreads[0],
            "spread theirs [%]": spreads[1],
        }
    )


# --- what they share


def gemm_job(n: int) -> Job:
    """C := A B + C, warm; the operands of each n are its own and dense, as SciPy has them."""
    A, B, C = (View(f"{name} {n}", 0, 0, n, n, n) for name in "ABC")
    return warm_job(bind(find_kernel("gemm"), "N", "N", 1, A, B, 1, C))


@contextmanager
def sampling(library: str, budget: Budget) -> Iterator[tuple[Sampler, int, OnProgress]]:
    """A sampler, the CPU that it measures on, and a progress bar."""
    backend = open_backend(SetupRequest(library))
    try:
        cpu = int(backend.run([Probe()]).cpu[0])
        with progress_bar() as on_progress:
            yield Sampler(backend, budget=budget), cpu, on_progress
    finally:
        backend.close()


def sibling_of(cpu: int) -> tuple[str, int]:
    """A CPU of the same core, in words and as a number; where the system tells of none, another allowed one."""
    siblings = {other for core in read_topology([cpu], Path("/")).cores for other in core} - {cpu}
    if siblings:
        return f"CPU {min(siblings)}, its sibling", min(siblings)
    others = [other for other in allowed_cpus() if other != cpu]
    if not others:
        raise click.ClickException("the machine has one CPU only: nothing can compete beside it")
    return f"CPU {others[0]} (the system tells of no sibling)", others[0]


@contextmanager
def competitor(cpu: int, burst: float = math.inf) -> Iterator[None]:
    """A process that multiplies matrices on a CPU, all the time or in bursts (seconds); it ends with this one."""
    command = [sys.executable, "-c", COMPETITOR, str(cpu), str(os.getpid()), str(burst)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield
        finally:
            process.kill()


def show(table: pd.DataFrame, remarks: list[str], sampler: Sampler, as_json: bool) -> None:
    """Prints the table and remarks, or JSON."""
    if as_json:
        rows = json.loads(table.to_json(orient="records"))
        click.echo(json.dumps({"setup": sampler.setup.to_json(), "rows": rows, "remarks": remarks}, indent=2))
        return
    click.echo(f"{date.today()}, {sampler.setup}")
    click.echo(table.to_string(index=False, float_format=lambda value: f"{value:.4g}"))
    for line in remarks:
        click.echo(line)


if __name__ == "__main__":
    main()
