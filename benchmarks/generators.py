"""What do models cost, and how good are they? Our generator beside the dissertation's, on the same domains.

    python benchmarks/generators.py
    python benchmarks/generators.py --simulated

Models of four kernels are built without a question, by our presets (each several times, spread over the
run, as the speed of a machine wanders), by the preset `peise2017`, and as two baselines: one cubic
polynomial of a second of sampling, and the flop count at one rate (which may look at the validation).
All are judged on one set of random points that are measured in two passes, the first before and the
second after everything else. A model whose samples are of another state of the core (free, or shared with
a neighbour) than the validation is built again, as the two are not comparable, at most twice. On the
simulated machine the truth is known instead. Columns:

error       mean of |model's median / measured - 1|; median and p90 the same
bias        median of model's median / measured - 1: where the machine's speed has wandered in between,
            all of a model's errors are of one sign
shape       the error that is left when the bias is divided out
noise       mean difference of the two passes
within      share of points within two standard errors of model and measurement
seconds     of sampling, whole batches with what was disturbed and measured again
samples     that its pieces rest on
"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import click
import numpy as np
import pandas as pd

from blascast.cli.options import one_library_option
from blascast.cli.output import progress_bar
from blascast.models.generation.builder import ModelBuilder
from blascast.models.generation.need import Need
from blascast.models.kept.store import Store
from blascast.models.parameters import PRESETS, Parameters
from blascast.models.sampling import Case, case_named
from blascast.models.sizes.domain import STEP, Domain
from blascast.models.summary import MEDIAN
from blascast.predictors.accuracy.ladder import SINGLE
from blascast.sampler.backends import open_backend
from blascast.sampler.batch.sample import State
from blascast.sampler.job import warm_job
from blascast.sampler.kernels import find_kernel
from blascast.sampler.sampler import Sampler
from blascast.sampler.setup import SetupRequest
from blascast.sampler.simulated import ORDINARY, QUIET, Disturbances, SimulatedBackend

KERNELS = (
    ("trsm", "LLNN 1", Domain((24, 24), (536, 4152))),
    ("syrk", "LN -1 1", Domain((8, 8), (1032, 264))),
    ("gemm", "NN -1 1", Domain((8, 8, 8), (1032, 1032, 264))),
    ("potf2", "L", Domain((8,), (264,))),
)
POINTS = 150
REPETITIONS = 10
BUILDS_AT_MOST = 3
CLOCK = 0.01  # per cent: errors below it are none
# One polynomial; its repetitions are those that a second has room for.
CUBIC = replace(SINGLE, least_repetitions=1, most_repetitions=1)


@dataclass(frozen=True, eq=False)
class Validation:
    """Points of a case and their run times: two passes, or twice the truth."""

    case: Case
    points: np.ndarray
    passes: np.ndarray

    @property
    def times(self) -> np.ndarray:
        """Means of the passes."""
        return np.exp(np.log(self.passes).mean(axis=0))

    def errors(self, seconds: np.ndarray) -> dict[str, float]:
        """Statistics of the errors of estimates, per cent."""
        signed = 100 * (seconds / self.times - 1)
        errors = np.abs(signed)
        return {
            "error": errors.mean(),
            "median": np.median(errors),
            "p90": np.percentile(errors, 90),
            "bias": np.median(signed),
            "shape": 100 * np.abs((100 + signed) / (100 + np.median(signed)) - 1).mean(),
        }

    def noise(self) -> float:
        """Mean difference of the passes, per cent."""
        return float(100 * np.abs(self.passes[0] / self.passes[1] - 1).mean())


@click.command()
@one_library_option
@click.option("--simulated", is_flag=True, help="The simulated machine, undisturbed and disturbed.")
@click.option("--preset", "presets", multiple=True, default=("fast", "default", "accurate"), show_default=True)
@click.option("--kernel", "kernels", multiple=True, default=tuple(name for name, _, _ in KERNELS), show_default=True)
@click.option("--minutes", type=float, default=6.0, show_default=True, help="Most for a build.")
@click.option("--builds", type=int, default=3, show_default=True, help="Of each of our presets.")
def main(library, simulated, presets, kernels, minutes, builds):
    chosen = [kernel for kernel in KERNELS if kernel[0] in kernels]
    limited = {name: replace(p, seconds=min(p.seconds, 60 * minutes)) for name, p in PRESETS.items()}
    ours = [(name, limited[name]) for name in presets]
    order = [*ours, ("peise2017", limited["peise2017"]), *(ours * (builds - 1)), ("cubic", CUBIC)]
    print(date.today(), f"at most {minutes} minutes a build")
    if simulated:
        for name, disturbances in (("undisturbed", QUIET), ("disturbed", ORDINARY)):
            print(f"\nThe simulated machine, {name}")
            report(
                [simulated_row for kernel in chosen for simulated_row in simulate(kernel, order, disturbances)],
                10,
                1.2,
            )
    else:
        sampler = Sampler(open_backend(SetupRequest(library, "d", 1)))  # one: it learns what an undisturbed core is
        print(sampler.setup)
        with progress_bar() as on_progress:
            rows = [found for kernel in chosen for found in shown(measure(kernel, order, sampler, on_progress))]
        sampler.backend.close()
        report(rows, 5, 1.0)


def shown(rows: Iterator[dict]) -> list[dict]:
    """The rows of a kernel, printed as they come: all of them are some time in coming."""
    found = list(rows)
    print(pd.DataFrame(found).to_string(index=False, float_format=lambda value: f"{value:.3g}", na_rep="-"), flush=True)
    return found


def measure(kernel, order, sampler: Sampler, on_progress) -> Iterator[dict]:
    """Rows of a kernel on the real machine."""
    case, domain, points = problem(kernel)
    first, state = medians(sampler, case, points, domain, on_progress)
    built = []
    for name, parameters in order:
        chosen = within_a_second(sampler, case, domain, parameters) if name == "cubic" else parameters
        for _ in range(BUILDS_AT_MOST):
            model, seconds = build(sampler, case, domain, chosen, on_progress)
            if model.state == state:
                break
        built.append((name, model, seconds))
    second, _ = medians(sampler, case, points, domain, on_progress, state)
    validation = Validation(case, points, np.stack([first, second]))
    yield from (row(name, model, seconds, validation) for name, model, seconds in built)
    yield rate_row(validation)


def simulate(kernel, order, disturbances: Disturbances) -> Iterator[dict]:
    """Rows of a kernel on the simulated machine, where seconds are of its clock."""
    case, domain, points = problem(kernel)
    truth = SimulatedBackend(disturbances=QUIET)
    ld = case.ld(domain.upper)
    times = np.array([truth.warm_seconds(case.call(tuple(point), ld)) for point in points.tolist()])
    validation = Validation(case, points, np.stack([times, times]))
    for number, (name, parameters) in enumerate(order):
        sampler = Sampler(SimulatedBackend(disturbances=disturbances, seed=number))
        chosen = within_a_second(sampler, case, domain, parameters) if name == "cubic" else parameters
        began = sampler.backend.now
        model, _ = build(sampler, case, domain, chosen)
        yield row(name, model, sampler.backend.now - began, validation)
    yield rate_row(validation)


def problem(kernel) -> tuple[Case, Domain, np.ndarray]:
    """A case, its domain, and random points in it: half of them log-uniform, half uniform."""
    name, text, domain = kernel
    random = np.random.default_rng(2017)
    low, high = np.array(domain.lower), np.array(domain.upper)
    shares = random.random((2 * POINTS, len(low)))
    points = np.where(np.arange(2 * POINTS)[:, None] % 2, low * (high / low) ** shares, low + (high - low) * shares)
    points = np.unique(np.clip(8 * np.rint(points / 8).astype(np.int64), low, high), axis=0)
    return case_named(find_kernel(name), text, "d"), domain, random.permutation(points)[:POINTS]


def build(sampler, case, domain, parameters, on_progress=lambda step: None):
    """A model, in a store of its own, and the seconds that its batches took."""
    with tempfile.TemporaryDirectory() as home:
        store = Store(Path(home))
        builder = ModelBuilder(sampler, store, parameters, on_progress)
        (model,) = builder.provide([Need(case, (domain,))]).values()
        kept = store.load_samples(sampler.setup, model.key, model.state)
        store.close()
    samples = sum(len(taken) for point, taken in kept.items() if not any(size % STEP for size in point))
    return replace(model, samples=samples), sum(batch.seconds for batch in builder.batches)


def medians(sampler, case, points, domain, on_progress, state: State | None = None) -> tuple[np.ndarray, State]:
    """One pass over the validation points, and the state of the core that it is of."""
    jobs = [warm_job(case.call(tuple(point), case.ld(domain.upper))) for point in points.tolist()]
    batch = sampler.measure(jobs, REPETITIONS, state=state, label="validation", on_progress=on_progress)
    return np.array([np.median(measurement.seconds) for measurement in batch.measurements]), batch.state


def within_a_second(sampler, case, domain, parameters: Parameters) -> Parameters:
    """As many repetitions as a second has room for, at least one."""
    model, _ = build(sampler, case, domain, parameters)
    repetitions = max(1, int(1.0 / model.seconds))
    return replace(parameters, least_repetitions=repetitions, most_repetitions=repetitions)


def row(name: str, model, seconds: float, validation: Validation) -> dict:
    """What a model achieved."""
    found = model.evaluate(validation.points)
    uncertain = np.hypot(found.errors, validation.noise() / 100)
    within = np.abs(found.statistics[:, MEDIAN] / validation.times - 1) < 2 * uncertain
    return {
        "kernel": f"{model.key}",
        "generator": name,
        **validation.errors(found.statistics[:, MEDIAN]),
        "noise": validation.noise(),
        "within": 100 * within.mean(),
        "seconds": seconds,
        "samples": model.samples,
        "pieces": len(model.pieces),
        "stopped": model.stopped,
        "state": model.state,
    }


def rate_row(validation: Validation) -> dict:
    """The flop count at the median rate of the validation's points."""
    ld = int(validation.points.max()) + 8
    flops = np.array([validation.case.call(tuple(point), ld).flops for point in validation.points.tolist()])
    estimates = flops / np.median(flops / validation.times)
    key = f"{validation.case.kernel.name} {validation.case.name}"
    return {"kernel": key, "generator": "one rate", **validation.errors(estimates), "noise": validation.noise()}


def report(rows: list[dict], times_cheaper: float, times_error: float) -> None:
    """The table, means over builds, and whether the default reaches what it must."""
    frame = pd.DataFrame(rows)
    numbers = frame.select_dtypes("number").columns
    grouped = frame.groupby(["kernel", "generator"], sort=False)
    table = grouped[numbers].mean()
    for words in ("stopped", "state"):
        table = table.join(grouped[words].agg(lambda s: ", ".join(sorted(set(s.dropna())))))
    print(table.to_string(float_format=lambda value: f"{value:.3g}", na_rep="-"))
    cost = "samples" if times_cheaper > 5 else "seconds"
    for kernel, part in table.groupby(level=0, sort=False):
        if (kernel, "default") not in part.index:
            continue
        default, peise = part.loc[(kernel, "default")], part.loc[(kernel, "peise2017")]
        error = max(default["error"], CLOCK) / max(peise["error"], CLOCK)
        cheaper = peise[cost] / default[cost]
        met = error <= times_error and cheaper >= times_cheaper
        print(
            f"{kernel}: default has {error:.2f} times the error of peise2017 (target {times_error}) for {cheaper:.1f} "
            f"times fewer {cost} (target {times_cheaper}): {'met' if met else 'missed'}"
        )


if __name__ == "__main__":
    main()
