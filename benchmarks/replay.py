"""How fast are predictions? Whole sweeps replayed from stored models.

    python benchmarks/replay.py

The models are of the simulated machine, in a store of its own: what an evaluation takes does not depend
on what it says. Rows:

cholesky grid      variant 3, 65 sizes from 56 to 4152, 65 block sizes from 24 to 536; in one process
in context         the same by the cache model, between warm and cold models; corrected by timed steps
call by call       the same, each call bound and estimated alone: some configurations, scaled to all
sylvester          all complete algorithms, 65 sizes from 56 to 4152, b = 64
rank trinv         `blascast rank trinv --n 100:4000:100`, a whole process, from start to end
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import replace

import click
import numpy as np

import blascast
from blascast.algorithms import OPERATIONS, find_variant, scalar_calls, trace
from blascast.predictors.caching.mixing import levels_of
from blascast.predictors.configurations import Configuration
from blascast.predictors.contexts.cached import between
from blascast.predictors.contexts.correction import corrected, corrections, observations
from blascast.predictors.contexts.observing import Observer, windows_for
from blascast.predictors.judging import within
from blascast.predictors.replay import by_models, needs_of, replay
from blascast.sampler.precondition import Cold
from blascast.session import Session

SIZES, BLOCK_SIZES = range(56, 4153, 64), range(24, 537, 8)
ALONE = 30  # configurations that are replayed call by call
RANK = ["rank", "trinv", "--n", "100:4000:100", "--library", "simulated", "--json"]


@click.command(help=__doc__.split("\n")[0])
def main():
    with tempfile.TemporaryDirectory() as home:
        os.environ["BLASCAST_HOME"] = home
        click.echo(f"blascast {blascast.__version__}; seconds, best of 3")
        n, b = (grid.ravel() for grid in np.meshgrid(SIZES, BLOCK_SIZES))
        cholesky = find_variant("cholesky", 3)
        with Session(library="simulated") as session:
            models = session.provide(needs_of([trace(cholesky, {"n": n}, b)]), within(0.02))
            grid = best(lambda: replay(trace(cholesky, {"n": n}, b), by_models(models)))
            for name, told in in_context(session, cholesky, n, b, models).items():
                took = best(lambda told=told: told(trace(cholesky, {"n": n}, b)))
                click.echo(f"  {name}: {took:.3f}, {took / grid:.1f} times a plain prediction (target 5)")
            alone = call_by_call(cholesky, models, list(zip(n.tolist(), b.tolist(), strict=True)))
            show("cholesky grid", grid, 0.5)
            show("call by call", alone, None)
            click.echo(f"  {alone / grid:.0f} times faster (target 100)")
            variants = [v for name, v in OPERATIONS["sylvester"].variants.items() if v.block_sizes == 2]
            sizes = {"m": list(SIZES), "n": list(SIZES)}
            models = session.provide(needs_of([trace(variant, sizes, 64) for variant in variants]), within(0.02))
            took = best(lambda: [replay(trace(variant, sizes, 64), by_models(models)) for variant in variants])
            show(f"sylvester, {len(variants)} algorithms", took, 5.0)
        subprocess.run([sys.executable, "-m", "blascast", *RANK], check=True, stdout=subprocess.DEVNULL)
        asked = [sys.executable, "-m", "blascast", *RANK]
        show("rank trinv", best(lambda: subprocess.run(asked, check=True, stdout=subprocess.DEVNULL)), 2.0)


def in_context(session, variant, n, b, models) -> dict:
    """What predicts a sequence in each context, from models and observations that are there."""
    warm, levels = by_models(models), levels_of(session.setup.machine)
    needs = needs_of([trace(variant, {"n": n}, b)])
    cold = by_models(session.provide([replace(need, precondition=Cold()) for need in needs], within(0.02)))
    some = [Configuration(variant, {"n": size}, width) for size in (500, 2000, 4000) for width in (32, 96, 256)]
    timed = Observer(session.sampler, session.store).times(windows_for(some, "d"), "free")
    found = corrections(observations(timed, models))
    return {
        "cache": lambda own: replay(own, between(own, warm, cold, session.setup.item_bytes, levels)),
        "algorithm": lambda own: replay(own, corrected(own, warm, found)),
    }


def best(function) -> float:
    """Seconds that it takes, the least of three times."""
    times = []
    for _ in range(3):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return min(times)


def call_by_call(variant, models, configurations) -> float:
    """Seconds that all configurations would take, from some of them."""
    by_case = {(key.kernel, key.case): model for key, model in models.items()}
    some = random.Random(1).sample(configurations, ALONE)
    began = time.perf_counter()
    for n, b in some:
        for call in scalar_calls(variant, {"n": n}, b):
            by_case[call.kernel.name, call.case].evaluate(np.array([list(call.sizes.values())]))
    return (time.perf_counter() - began) * len(configurations) / ALONE


def show(name: str, seconds: float, target: float | None) -> None:
    """One line."""
    verdict = "" if target is None else f"  (target {target}: {'met' if seconds <= target else 'missed'})"
    click.echo(f"{name:30}{seconds:10.3f}{verdict}")


if __name__ == "__main__":
    main()
