"""What else could be done with the same samples, and with the same time? Held against what is built in.

    python -m pip install -e ".[rivals]"
    python benchmarks/rivals.py
    python benchmarks/rivals.py --simulated

Fits: our default generator builds a model of each kernel, without a question. The samples that it took
are given to other ways to make a model of them, and so are samples at random points (half of them spread
evenly, half by their logarithms) that took as many seconds of calls.

Points: a dense lattice is recorded, and rules that choose points are replayed on it. Each gets as many
seconds of calls as our default generator takes on the same lattice, and four times that, and more only
where its first grid takes more; what it chose is fitted by our fitted cuts. Errors are means over some
replays with other draws of the samples, the worst is the worst of all.

All are judged at the random points of `generators.py`: against two passes over them, before and after
all else, or against the truth on the simulated machine. Columns:

mean, median, p90, worst    |error| of the median, per cent
fit                         what making the model took, milliseconds
evaluate                    what 10^5 estimates took, milliseconds
calls                       of the samples, seconds
"""

import importlib.util
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path

import click
import numpy as np
import pandas as pd
from generators import BUILDS_AT_MOST, KERNELS, Validation, medians, problem
from regressors import DEFAULT, RIVALS, Estimate, Training, fitted_cuts
from replays import RULES, Recording, record, replay, replay_default
from threadpoolctl import threadpool_limits

from blascast.cli.options import json_option, one_library_option
from blascast.cli.output import progress_bar
from blascast.models.generation.builder import ModelBuilder
from blascast.models.generation.generator import CALLS_PER_SAMPLE, observe
from blascast.models.generation.need import Need
from blascast.models.kept.store import Store
from blascast.models.sampling import Case
from blascast.models.sizes.domain import STEP, Domain
from blascast.models.sizes.lattice import IntArray
from blascast.models.summary import FloatArray
from blascast.sampler.backends import open_backend
from blascast.sampler.batch.sample import State
from blascast.sampler.job import warm_job
from blascast.sampler.sampler import OnProgress, Sampler
from blascast.sampler.setup import SetupRequest
from blascast.sampler.simulated import QUIET, SimulatedBackend

ESTIMATES = 100_000
BUDGETS = {"the same": 1.0, "4 times": 4.0}  # relative to what our default generator takes
REPLAYS = 5
NAMES = [name for name, _, _ in KERNELS]


@dataclass(frozen=True)
class FitLine:
    """One line of the table of fits: errors in per cent, times in milliseconds."""

    kernel: str
    samples: str
    fit: str
    points: int
    mean: float | None = None
    median: float | None = None
    p90: float | None = None
    worst: float | None = None
    fit_ms: float | None = None
    evaluate_ms: float | None = None


@dataclass(frozen=True)
class RuleLine:
    """One line of the table of rules that choose points: errors in per cent."""

    kernel: str
    budget: str
    rule: str
    calls_seconds: float
    points: float
    mean: float
    median: float
    p90: float
    worst: float


@dataclass(frozen=True)
class Taken:
    """All that is sampled for one kernel."""

    validation: Validation
    own: Training
    random: Training
    recording: Recording

    @property
    def kernel(self) -> str:
        """The case's name."""
        return f"{self.own.case.kernel.name} {self.own.case.name}".strip()

    def errors(self, estimate: Estimate) -> dict[str, float]:
        """Of estimates at the points that are judged at, per cent."""
        return _statistics(estimate(self.validation.points), self.validation.times)


def _statistics(seconds: FloatArray, truth: FloatArray) -> dict[str, float]:
    errors = 100 * np.abs(seconds / truth - 1)
    return {
        "mean": float(errors.mean()),
        "median": float(np.median(errors)),
        "p90": float(np.percentile(errors, 90)),
        "worst": float(errors.max()),
    }


@click.command(help=__doc__.split("\n")[0])
@click.argument("kernels", nargs=-1, type=click.Choice(NAMES))
@one_library_option
@click.option("--simulated", is_flag=True, help="The simulated machine, disturbed; its truth is known.")
@json_option
def main(kernels, library, simulated, as_json):
    if importlib.util.find_spec("sklearn") is None:
        raise click.UsageError('some rivals are of scikit-learn: python -m pip install -e ".[rivals]"')
    request = SetupRequest("simulated" if simulated else library, "d", 1)
    fits: list[FitLine] = []
    rules: list[RuleLine] = []
    sampler = Sampler(open_backend(request))
    with progress_bar() as on_progress:
        for kernel in KERNELS:
            if not kernels or kernel[0] in kernels:
                taken = take(sampler, kernel, simulated, on_progress)
                found = list(fit_lines(taken)), list(rule_lines(taken))
                fits += found[0]
                rules += found[1]
                if not as_json:
                    show(*found)
    sampler.backend.close()
    if as_json:
        click.echo(json.dumps({"fits": list(map(asdict, fits)), "rules": list(map(asdict, rules))}, indent=2))
    else:
        click.echo(f"{date.today()}, {sampler.setup}")


def show(*tables: list) -> None:
    """The tables of a kernel, as they come."""
    for lines in tables:
        click.echo(pd.DataFrame(lines).to_string(index=False, float_format=lambda value: f"{value:.3g}", na_rep=""))


# --- samples


def take(sampler: Sampler, kernel, simulated: bool, on_progress: OnProgress) -> Taken:
    """Samples everything, between the two passes over the points that are judged at."""
    case, domain, points = problem(kernel)
    state: State = "free"
    if simulated:
        first = true_seconds(case, domain, points)
    else:
        first, state = medians(sampler, case, points, domain, on_progress)
    for _ in range(BUILDS_AT_MOST):
        own, own_state = own_design(sampler, case, domain, on_progress)
        if own_state == state:
            break
    random = random_design(sampler, own, state, on_progress)
    recording = record(sampler, case, domain, state, on_progress)
    second = first if simulated else medians(sampler, case, points, domain, on_progress, state)[0]
    return Taken(Validation(case, points, np.stack([first, second])), own, random, recording)


def true_seconds(case: Case, domain: Domain, points: IntArray) -> FloatArray:
    """What calls take on the simulated machine, undisturbed."""
    backend = SimulatedBackend(disturbances=QUIET)
    return np.array([backend.warm_seconds(case.call(tuple(point), case.ld(domain.upper))) for point in points.tolist()])


def own_design(sampler: Sampler, case: Case, domain: Domain, on_progress: OnProgress) -> tuple[Training, State]:
    """What our default generator takes, and the state of the core that it is of."""
    need = Need(case, (domain,))
    with tempfile.TemporaryDirectory() as home:
        store = Store(Path(home))
        model = ModelBuilder(sampler, store, DEFAULT, on_progress).provide([need])[need.key]
        found = store.load_samples(sampler.setup, need.key, model.state)
        store.close()
    seconds = {point: np.array([sample.seconds for sample in taken]) for point, taken in found.items()}
    pieces = {point: taken for point, taken in seconds.items() if all(size % STEP == 0 for size in point)}
    return training_of(case, domain, pieces), model.state


def random_design(sampler: Sampler, own: Training, state: State, on_progress: OnProgress) -> Training:
    """Random points whose samples take as many seconds of calls."""
    random = np.random.default_rng(0)
    low, high = (np.array(bound, dtype=float) for bound in (own.domain.lower, own.domain.upper))
    shares = random.random((100 * len(own.points), len(low)))
    evenly, by_logarithm = low + (high - low) * shares, low * (high / low) ** shares
    mixed = np.where(np.arange(len(shares))[:, None] % 2, evenly, by_logarithm)
    candidates = np.array(list(dict.fromkeys(map(tuple, (STEP * np.rint(mixed / STEP)).astype(np.int64).tolist()))))
    repetitions = np.mean([observation.samples for observation in own.observations.values()])
    spent = np.cumsum(CALLS_PER_SAMPLE * repetitions * fitted_cuts(own)(candidates))
    points = candidates[: max(1, int(np.searchsorted(spent, own.spent)))]
    jobs = [warm_job(own.case.call(tuple(point), own.case.ld(own.domain.upper))) for point in points.tolist()]
    batch = sampler.measure(jobs, DEFAULT.repetitions(), state=state, label="random points", on_progress=on_progress)
    seconds = {tuple(p): m.seconds for p, m in zip(points.tolist(), batch.measurements, strict=True)}
    return training_of(own.case, own.domain, seconds)


def training_of(case: Case, domain: Domain, seconds: dict[tuple[int, ...], FloatArray]) -> Training:
    """Samples as observations."""
    observations = {
        point: observe(taken, DEFAULT.reference, CALLS_PER_SAMPLE * float(taken.sum()))
        for point, taken in seconds.items()
    }
    return Training(case, domain, observations)


# --- fits


def fit_lines(taken: Taken) -> Iterator[FitLine]:
    """A line for each rival and design, after the noise floor."""
    first, second = taken.validation.passes
    if (first != second).any():
        points = len(taken.validation.points)
        yield FitLine(taken.kernel, "", "pass against pass", points, **_statistics(second, first))
    for samples, training in (("our points", taken.own), ("random points", taken.random)):
        for rival in RIVALS:
            with threadpool_limits(1):
                yield fit_line(FitLine(taken.kernel, samples, rival, len(training.points)), training, taken)


def fit_line(line: FitLine, training: Training, taken: Taken) -> FitLine:
    """The line with its figures; without any where there are too few points."""
    began = time.perf_counter()
    estimate = RIVALS[line.fit](training)
    seconds = time.perf_counter() - began
    if estimate is None:
        return line
    evaluating = seconds_of_estimates(training.domain, estimate)
    return replace(line, **taken.errors(estimate), fit_ms=1e3 * seconds, evaluate_ms=1e3 * evaluating)


def seconds_of_estimates(domain: Domain, estimate: Estimate) -> float:
    """What ESTIMATES take, at random sizes that are multiples of 8."""
    low, high = np.array(domain.lower) // STEP, np.array(domain.upper) // STEP
    sizes = STEP * np.random.default_rng(0).integers(low, high + 1, (ESTIMATES, len(low)))
    began = time.perf_counter()
    estimate(sizes)
    return time.perf_counter() - began


# --- rules that choose points


def rule_lines(taken: Taken) -> Iterator[RuleLine]:
    """A line for each rule and budget, after that of our generator."""
    ours = [replay_default(taken.recording, seed) for seed in range(REPLAYS)]
    budget = float(np.mean([training.spent for training in ours]))
    yield rule_line(taken, "", "default, until it stops", ours)
    for name, times in BUDGETS.items():
        for rule, (grid, choose) in RULES.items():
            found = [replay(taken.recording, grid, choose, times * budget, seed) for seed in range(REPLAYS)]
            yield rule_line(taken, name, rule, found)


def rule_line(taken: Taken, budget: str, rule: str, found: list[Training]) -> RuleLine:
    """What replays of a rule achieve."""
    errors = pd.DataFrame([taken.errors(fitted_cuts(training)) for training in found])
    return RuleLine(
        taken.kernel,
        budget,
        rule,
        calls_seconds=float(np.mean([training.spent for training in found])),
        points=float(np.mean([len(training.points) for training in found])),
        **{**errors.mean(), "worst": errors["worst"].max()},
    )


if __name__ == "__main__":
    main()
