"""Contexts: what calls find in the caches inside blocked algorithms, and what it does to predictions.

steps     each call in its algorithm, beside what it takes alone, warm and cold, and the cache model
          between the two, refinement by refinement (section 18 of the dissertation)
methods   whole algorithms predicted from warm models, and corrected in several ways, with costs

Coefficients and corrections are never judged on what they were fitted to. The noise floor is the first
of two passes as a predictor of the second.

Usage: python benchmarks/contexts.py steps|methods [--help]
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import click
import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from blascast.algorithms import Sequence as CallSequence
from blascast.algorithms import find_operation, find_variant, scalar_calls
from blascast.cli.options import parse_names
from blascast.models.sampling import case_of_call
from blascast.models.summary import MEDIAN
from blascast.predictors.caching.accesses import Grid, grid_of_sequence
from blascast.predictors.caching.association import FITTED, Association, Sharp, Smooth
from blascast.predictors.caching.mixing import Level, levels_of
from blascast.predictors.caching.reuse import scan
from blascast.predictors.configurations import Configuration, problems_of, traced
from blascast.predictors.contexts.cached import between
from blascast.predictors.contexts.correction import Observation, corrected, corrections, observations
from blascast.predictors.contexts.observing import Observer, Timed, windows_for
from blascast.predictors.contexts.windows import Window
from blascast.predictors.judging import within
from blascast.predictors.profiles import Profile, profile
from blascast.predictors.replay import Estimate, by_models, needs_of, replay
from blascast.sampler.call import Call
from blascast.sampler.job import Job, job_of, sequence_job, warm_job
from blascast.sampler.precondition import Access, Cold, Foreign, Touched
from blascast.session import Session
from blascast.source import common_state

Floats = npt.NDArray[np.float64]


@click.group(help=__doc__)
def main() -> None:
    """The studies."""


# --- steps

STEPS = (("cholesky", 3), ("cholesky-upper", 3), ("trinv", 5), ("lu", 5), ("sygst", 4), ("qr", 1))
LARGEST_QR = 1400  # its copies, row by row, are calls: 30 000 of them
SIZES = (600, 1400, 2000, 2800)  # below, at and beyond a last cache of 32 MiB
BLOCKS = (32, 64, 128)
REPETITIONS = 10


@dataclass(frozen=True, eq=False)
class Case:
    """One algorithm's calls.

    Parameters
    ----------
    operation : str
    n, b : int
    profile : Profile
    parts : by whether results are split off: indices of calls, shares of what they access, access distances
    """

    operation: str
    n: int
    b: int
    profile: Profile
    parts: Mapping[bool, tuple[npt.NDArray[np.int64], Floats, Floats]]

    def between(self, levels: Sequence[Level], association: Association, splits: bool) -> Floats:
        """The cache model's estimates of all calls."""
        index, shares, distances = self.parts[splits]
        cached = np.zeros(len(self.profile.calls))
        for level in levels:
            weights = level.weight * shares * association.share(distances / level.bytes)
            cached += np.bincount(index, weights, minlength=len(cached))
        warm, cold = self.profile.alone["warm"], self.profile.alone["cold"]
        return np.asarray(warm + (1 - cached) * np.maximum(cold - warm, 0.0))

    def error(self, estimate: Floats) -> float:
        """Mean of the calls' relative errors, weighted by their times."""
        return float(np.abs(estimate - self.profile.inside).sum() / self.profile.inside.sum())

    def bias(self, estimate: Floats) -> float:
        """Relative error of the sum."""
        return float(estimate.sum() / self.profile.inside.sum() - 1)


@main.command()
@click.option("--library", default="scipy", show_default=True)
@click.option("--operations", default=",".join(name for name, _ in STEPS), show_default=True)
@click.option("--n", "sizes", default=",".join(map(str, SIZES)), show_default=True)
@click.option("--b", "blocks", default=",".join(map(str, BLOCKS)), show_default=True)
def steps(library: str, operations: str, sizes: str, blocks: str) -> None:
    """The cache model between warm and cold calls, refinement by refinement; no kernel models."""
    wanted = parse_names(operations)
    cases = []
    with Session(library=library) as session:
        levels = [Level(cache.bytes, 1 / 2) for cache in session.setup.machine.caches[-2:]]
        print(f"{session.setup}; caches: {', '.join(f'{level.bytes / 2**20:g} MiB' for level in levels)}")
        for (name, variant), n, b in product(STEPS, map(int, sizes.split(",")), map(int, blocks.split(","))):
            if (
                name in wanted
                and not (name == "qr" and n > LARGEST_QR)
                and (case := measured_case(session, name, variant, n, b))
            ):
                cases.append(case)
                print(f"  {name}, n = {n}, b = {b} measured", flush=True)
    families = {one.operation: one.operation.removesuffix("-upper") for one in cases}
    fits = {
        name: fitted([own for own in cases if families[own.operation] != family], [Level(levels[-1].bytes)])
        for name, family in families.items()
    }
    print_steps(cases, levels, fits)
    print_brackets(cases)
    print(f"fitted to all: {fitted(cases, [Level(levels[-1].bytes)])}")


def measured_case(session: Session, name: str, variant: int, n: int, b: int) -> Case | None:
    """One algorithm's calls, in it and alone; None if the library lacks one."""
    operation = find_operation(name)
    chosen = find_variant(name, variant)
    if session.lacking(chosen):
        return None
    (problem,) = problems_of(operation, [n])
    configuration = Configuration(chosen, problem, b)
    found = profile(session.sampler, configuration, [], "free", repetitions=REPETITIONS)
    return Case(name, n, b, found, {splits: parts_of(configuration, splits) for splits in (False, True)})


def parts_of(configuration: Configuration, splits: bool) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
    """What each call accesses, part by part: index of the call, share, access distance."""
    sequence = traced([configuration], "d")
    grid = grid_of_sequence(sequence, 8)
    assert grid is not None
    numbers = numbered(sequence.calls)
    index, shares, distances = [], [], []
    for statement, operands in enumerate(grid.statements):
        total = np.maximum(np.sum([own.bytes for own in operands], axis=0), 1.0)
        for operand in range(len(operands)):
            for found, distance in scan(grid, statement, operand, splits):
                for row in np.flatnonzero(found):
                    own = numbers[statement].get(int(row), range(0))
                    index += own
                    shares += [float(found[row] / total[row])] * len(own)
                    distances += [float(distance[row])] * len(own)
    return np.array(index, dtype=np.int64), np.array(shares), np.array(distances)


def numbered(statements: Sequence) -> list[dict[int, range]]:
    """For each statement, by entry, the numbers of its calls in the algorithm."""
    numbers: list[dict[int, range]] = [{} for _ in statements]
    times = [dict(zip(own.entries.tolist(), own.times.tolist(), strict=True)) for own in statements]
    first = 0
    for step in range(max(max(own, default=-1) for own in times) + 1):
        for statement, own in enumerate(times):
            if step in own:
                numbers[statement][step] = range(first, first + own[step])
                first += own[step]
    return numbers


def fitted(cases: Sequence[Case], levels: Sequence[Level]) -> Smooth:
    """The association's two coefficients, by least mean error."""

    def mean(logarithms: Floats) -> float:
        own = Smooth(*np.exp(np.clip(logarithms, -5, 5)))
        return float(np.mean([case.error(case.between(levels, own, splits=True)) for case in cases]))

    if not cases:
        return FITTED
    found = minimize(mean, np.log([FITTED.capacity, FITTED.sharpness]), method="Nelder-Mead")
    return Smooth(*map(float, np.exp(np.clip(found.x, -5, 5))))


def print_steps(cases: Sequence[Case], levels: Sequence[Level], fits: Mapping[str, Smooth]) -> None:
    """Errors by refinement."""
    ways: dict[str, Callable[[Case], Floats]] = {
        "warm": lambda case: case.profile.alone["warm"],
        "cold": lambda case: case.profile.alone["cold"],
        "sharp": lambda case: case.between([replace(levels[-1], weight=1.0)], Sharp(), False),
        "splitting": lambda case: case.between([replace(levels[-1], weight=1.0)], Sharp(), True),
        "two levels": lambda case: case.between(levels, Sharp(), True),
        "smooth": lambda case: case.between([replace(levels[-1], weight=1.0)], fits[case.operation], True),
    }
    print(f"\n{'operation':16} {'n':>5} {'b':>4} {'ms':>8} {'noise':>6}", *(f"{way:>15}" for way in ways))
    for case in cases:
        first, second = case.profile.passes
        noise = np.abs(first - second).sum() / case.profile.inside.sum()
        errors = (f"{100 * case.error(way(case)):7.1f} ({100 * case.bias(way(case)):+5.1f})" for way in ways.values())
        line = f"{case.operation:16} {case.n:5} {case.b:4} {1e3 * case.profile.inside.sum():8.2f} {100 * noise:6.1f}"
        print(line, *errors)
    for way, estimate in ways.items():
        errors = [case.error(estimate(case)) for case in cases]
        biases = [abs(case.bias(estimate(case))) for case in cases]
        print(f"{way:12} mean error of calls {100 * np.mean(errors):5.1f} %, of sums {100 * np.mean(biases):5.1f} %")
    print("Of each: mean relative error of calls, weighted by time, and in parentheses that of their sum, per cent.")
    print("smooth: coefficients fitted to the other operations (Cholesky's triangles are one).")


def print_brackets(cases: Sequence[Case]) -> None:
    """How often warm and cold times bracket those in the algorithm, by kernel."""
    shares: dict[str, list[tuple[int, int, int, int]]] = {}
    for case in cases:
        own, labels = case.profile, np.array(case.profile.labels)
        faster, slower = own.beside("warm") < 0, own.beside("cold") > 0
        for label in dict.fromkeys(labels.tolist()):
            of_kernel = labels == label
            count = (int(of_kernel.sum()), int((of_kernel & ~faster & ~slower).sum()))
            shares.setdefault(label, []).append(
                (*count, int((of_kernel & faster).sum()), int((of_kernel & slower).sum()))
            )
    print(f"\n{'kernel':24} {'calls':>7} {'between':>8} {'faster than warm':>17} {'slower than cold':>17}  [%]")
    for label, counts in sorted(shares.items()):
        total, between, faster, slower = map(sum, zip(*counts, strict=True))
        percents = (100 * between / total, 100 * faster / total, 100 * slower / total)
        print(f"{label:24} {total:7} {percents[0]:8.0f} {percents[1]:17.0f} {percents[2]:17.0f}")


# --- methods

VARIANTS = {
    "cholesky": (1, 2, 3, "recursive"),
    "trinv": (1, 3, 5, "recursive"),
    "lauum": (1, 3),
    "lu": (3, 4, 5, "recursive"),
    "sygst": (4, "lapack"),
    "qr": (1,),
}
GRID_N = (400, 800, 1200, 1600, 2000, 2400)
GRID_B = (32, 64, 128, 192)
SMALL = ((360, 64), (760, 64))  # runs that tell one ratio: of other sizes than the grid
ANCHORS = 12  # calls alone that are timed beside whole algorithms: whether the machine is as fast as it was
PASSES = 2
RUNS = 5


@dataclass(frozen=True, eq=False)
class Outcome:
    """One operation: what was measured, and what each way predicted.

    Parameters
    ----------
    passes : array of shape (2, n_configurations)
    levels : array of the same shape
        How much slower than models say anchors were in the same batch.
    predicted : by way, arrays of shape (n_configurations,)
    """

    operation: str
    configurations: list[Configuration]
    passes: Floats
    levels: Floats
    predicted: dict[str, Floats]


@main.command()
@click.option("--library", default="scipy", show_default=True)
@click.option("--operations", default=",".join(VARIANTS), show_default=True)
@click.option("--n", "sizes", default=",".join(map(str, GRID_N)), show_default=True)
@click.option("--b", "blocks", default=",".join(map(str, GRID_B)), show_default=True)
def methods(library: str, operations: str, sizes: str, blocks: str) -> None:
    """Whole algorithms, predicted from warm models and corrected in several ways."""
    with Session(library=library) as session:
        print(session.setup)
        asked = {
            name: grid(session, name, list(map(int, sizes.split(","))), list(map(int, blocks.split(","))))
            for name in parse_names(operations)
        }
        study = Study(session, {name: own for name, own in asked.items() if own})
        outcomes = [study.outcome(name) for name in study.asked]
    print_methods(outcomes)
    print(f"seconds of calls: {', '.join(f'{way} {seconds:.1f}' for way, seconds in study.costs.items())}")


def grid(session: Session, name: str, sizes: list[int], blocks: list[int]) -> list[list[Configuration]]:
    """The configurations of each variant."""
    operation = find_operation(name)
    variants = [find_variant(name, own) for own in VARIANTS[name]]
    problems = problems_of(operation, sizes)
    return [
        [Configuration(variant, problem, b) for problem in problems for b in blocks if variant.usual is None]
        or [Configuration(variant, problem, variant.usual(problem, "d")) for problem in problems if variant.usual]
        for variant in variants
        if not session.lacking(variant)
    ]


class Study:
    """Models of all operations, and what corrects them."""

    def __init__(self, session: Session, asked: dict[str, list[list[Configuration]]]) -> None:
        self.session, self.asked = session, asked
        self.costs: dict[str, float] = {}
        judge = within(session.parameters.answer_bound)
        self.sequences = {name: [traced(own, "d") for own in variants] for name, variants in asked.items()}
        self.models = {name: dict(session.provide(needs_of(own), judge)) for name, own in self.sequences.items()}
        every = {key: model for own in self.models.values() for key, model in own.items()}
        self.state = common_state(model.state for model in every.values())
        self.costs["warm"] = sum(model.seconds for model in every.values())
        cold = {
            name: session.provide([replace(need, precondition=Cold()) for need in needs_of(own)], judge)
            for name, own in self.sequences.items()
        }
        self.cold = {name: by_models(own) for name, own in cold.items()}
        self.costs["cold"] = sum(model.seconds for own in cold.values() for model in own.values())
        self.windows = {name: [windows_for(own, "d") for own in variants] for name, variants in asked.items()}
        self.observed = {name: self._observed(name) for name in asked}
        self.in_states = {name: self._in_states(name) for name in asked}
        self.small = {name: self._small(name) for name in asked}

    def _observed(self, name: str) -> list[list[Observation]]:
        """(b) Steps of the algorithms."""
        observer = Observer(self.session.sampler, self.session.store)
        timed = observer.times([window for own in self.windows[name] for window in own], self.state)
        self._spend("windows", sum(one.cost for one in timed))
        return [
            observations([one for one in timed if one.window in own], self.models[name]) for own in self.windows[name]
        ]

    def _in_states(self, name: str) -> list[list[Observation]]:
        """(a) The calls of the same steps, alone, after accesses that leave their operands as far away."""
        levels = levels_of(self.session.setup.machine)
        found = []
        for own in self.windows[name]:
            jobs = {
                (call.label, tuple(call.sizes.values()), window): in_state(call, accesses)
                for window in own
                for call, accesses in accessed(window, levels[-1].bytes)
            }
            if not jobs:
                found.append([])
                continue
            batch = self.session.sampler.measure(list(jobs.values()), RUNS, state=self.state)
            self._spend("states", sum(m.cost for m in batch.measurements))
            seconds: dict[Window, dict[tuple[str, tuple[int, ...]], float]] = {}
            for (label, sizes, window), measurement in zip(jobs, batch.measurements, strict=True):
                seconds.setdefault(window, {})[label, sizes] = float(np.median(measurement.seconds))
            pairs = [
                Timed(window, tuple(times.get((c.label, tuple(c.sizes.values())), 0.0) for c in window.calls), 0.0)
                for window, times in seconds.items()
            ]
            found.append(observations(pairs, self.models[name]))
        return found

    def _small(self, name: str) -> list[float]:
        """(c) One ratio for each variant, of small runs."""
        ratios = []
        for own in self.asked[name]:
            variant = own[0].variant
            runs = [
                Configuration(variant, problem, b if variant.usual is None else variant.usual(problem, "d"))
                for n, b in SMALL
                for problem in problems_of(find_operation(name), [n])
            ]
            took = self.session.verify(runs, self.state, RUNS)
            self._spend("runs", sum(m.cost for m in took.batch.measurements))
            told = self._medians(name, [traced(runs, "d")], [by_models(self.models[name], "clamp")])[0]
            ratios.append(float(np.mean([time.median for time in took.times] / told)))
        return ratios

    def _spend(self, way: str, seconds: float) -> None:
        self.costs[way] = self.costs.get(way, 0.0) + seconds

    @staticmethod
    def _medians(name: str, sequences: Sequence, estimates: Iterable[Estimate]) -> list[Floats]:
        return [
            replay(sequence, estimate).statistics[:, MEDIAN]
            for sequence, estimate in zip(sequences, estimates, strict=True)
        ]

    def outcome(self, name: str) -> Outcome:
        """Predictions, and then measurements."""
        sequences, warm = self.sequences[name], by_models(self.models[name])
        levels = levels_of(self.session.setup.machine)
        others = [o for other, own in self.observed.items() if other != name for each in own for o in each]
        ways: dict[str, list[Estimate]] = {
            "warm": [warm] * len(sequences),
            "cold": [self.cold[name]] * len(sequences),
            "(d) cache": [between_or(own, warm, self.cold[name], levels) for own in sequences],
            "(a) states": [self._corrected(*pair, warm) for pair in zip(sequences, self.in_states[name], strict=True)],
            "(b) windows": [self._corrected(*pair, warm) for pair in zip(sequences, self.observed[name], strict=True)],
            "(b) of others": [self._corrected(own, thinned(others), warm) for own in sequences],
        }
        predicted = {way: np.concatenate(self._medians(name, sequences, own)) for way, own in ways.items()}
        small = zip(self._medians(name, sequences, ways["warm"]), self.small[name], strict=True)
        predicted["(c) runs"] = np.concatenate([times * ratio for times, ratio in small])
        configurations = [configuration for own in self.asked[name] for configuration in own]
        passes, levels_met = zip(*(self._measured(name, configurations) for _ in range(PASSES)), strict=True)
        print(f"  {name}: {len(configurations)} configurations measured", flush=True)
        return Outcome(name, configurations, np.array(passes), np.array(levels_met), predicted)

    @staticmethod
    def _corrected(sequence: object, own: list[Observation], warm: Estimate) -> Estimate:
        return corrected(sequence, warm, corrections(own))  # type: ignore[arg-type]

    def _measured(self, name: str, configurations: list[Configuration]) -> tuple[Floats, Floats]:
        """Medians of one pass, and the level of anchors beside them: one size at a time."""
        times, levels = np.zeros(len(configurations)), np.ones(len(configurations))
        anchors = self._anchors(name)
        expected = np.array([told for _, told in anchors])
        for n in dict.fromkeys(own.sizes["n"] for own in configurations):
            own = [i for i, configuration in enumerate(configurations) if configuration.sizes["n"] == n]
            runs = [sequence_job(scalar(configurations[i])) for i in own]
            jobs = [*runs, *(job for job, _ in anchors)]
            batch = self.session.sampler.measure(jobs, [RUNS] * len(runs) + [3 * RUNS] * len(anchors), state=self.state)
            medians = np.array([np.median(measurement.seconds) for measurement in batch.measurements])
            times[own], levels[own] = medians[: len(own)], np.median(medians[len(own) :] / expected)
        return times, levels

    def _anchors(self, name: str) -> list[tuple[Job, float]]:
        """Calls of the operation alone and warm, with what models say."""
        random, found = np.random.default_rng(0), []
        needs = needs_of(self.sequences[name])
        for number in range(ANCHORS):
            need = needs[number % len(needs)]
            assert need.workload is not None
            sizes = need.workload.sizes
            moderate = sizes[(sizes >= 16).all(axis=1) & (sizes <= 512).all(axis=1)]
            chosen = moderate if len(moderate) else sizes
            point = tuple(map(int, chosen[random.integers(len(chosen))]))
            told = self.models[name][need.key].evaluate(np.array([point])).statistics[0, MEDIAN]
            found.append((warm_job(need.case.call(point, need.key.ld)), float(told)))
        return found


def between_or(sequence: CallSequence, warm: Estimate, cold: Estimate, levels: Sequence[Level]) -> Estimate:
    """The cache model's estimates; warm ones where it has none."""
    return between(sequence, warm, cold, 8, levels) or warm


def thinned(found: Sequence[Observation], most: int = 100) -> list[Observation]:
    """So many observations of each kernel and case, at random."""
    random, groups = np.random.default_rng(0), {}
    for own in found:
        groups.setdefault(own.label, []).append(own)
    return [group[i] for group in groups.values() for i in random.permutation(len(group))[:most]]


def scalar(configuration: Configuration) -> list[Call]:
    """The calls of one run."""
    label = f" of {configuration.variant.operation}, {configuration.sizes['n']}"
    return scalar_calls(configuration.variant, configuration.sizes, configuration.b, "d", label)


def accessed(window: Window, cache_bytes: int) -> Iterator[tuple[Call, list[tuple[str, float]]]]:
    """The calls of a step, with operands that were accessed at less than the cache's size and how long ago."""
    sequence = traced([window.configuration], "d")
    grid = grid_of_sequence(sequence, 8)
    if grid is None:  # no single loop
        return
    done = set()
    for call in window.calls:
        key = (call.label, tuple(call.sizes.values()))
        for statement, own in enumerate(sequence.calls):
            (place,) = np.nonzero(own.entries == window.step)
            same = own.label == call.label and len(place) and tuple(own.sizes[place[0]]) == key[1]
            if same and key not in done:
                done.add(key)
                yield call, distances(grid, statement, window.step, list(call.views), cache_bytes)


def distances(grid: Grid, statement: int, step: int, names: list[str], cache_bytes: int) -> list[tuple[str, float]]:
    """Operands by their mean access distances, those that are cached."""
    found = []
    for operand, name in enumerate(names):
        parts = [(float(b[step]), float(d[step])) for b, d in scan(grid, statement, operand, splits=True)]
        total = sum(part for part, _ in parts)
        mean = sum(part * distance for part, distance in parts) / total if total else float("inf")
        if mean <= cache_bytes:
            found.append((name, mean))
    return found


def in_state(call: Call, near: list[tuple[str, float]]) -> Job:
    """The call alone, after accesses to its cached operands, the farthest first, with other memory between."""
    own = case_of_call(call).call(tuple(call.sizes.values()), max(view.ld for view in call.views.values()))
    accesses: list[Access] = []
    ordered = sorted(near, key=lambda pair: -pair[1])
    for place, (name, distance) in enumerate(ordered):
        accesses.append(name)
        following = ordered[place + 1][1] if place + 1 < len(ordered) else 0.0
        size = 8 * own.views[name].rows * own.views[name].columns
        if (foreign := int(distance - following - size)) > 4096:
            accesses.append(Foreign(foreign))
    return job_of(own, Touched(tuple(accesses)) if accesses else Cold())


def print_methods(outcomes: Sequence[Outcome]) -> None:
    """Errors of all ways, by operation and pooled; choices."""
    ways = list(outcomes[0].predicted)
    print(f"\n{'operation':10} {'points':>6} {'noise':>12} {'level':>6}", *(f"{way:>20}" for way in ways))
    pooled: dict[str, list[Floats]] = {way: [] for way in ways}
    for one in outcomes:
        mean, level = one.passes.mean(axis=0), one.levels.mean(axis=0)
        noise = one.passes[0] / one.passes[1] - 1
        line = f"{one.operation:10} {len(mean):6} {described(noise)} {100 * (np.median(level) - 1):+6.1f}"
        cells = []
        for way in ways:
            raw, free = one.predicted[way] / mean - 1, one.predicted[way] * level / mean - 1
            cells.append(f"{described(raw)} {100 * np.median(np.abs(free)):7.1f}")
            if one.operation != "qr":
                pooled[way].append(np.stack([raw, free]))
        print(line, *cells)
    print(f"{'all but qr':10} {'':26}", *(pooled_cell(np.concatenate(own, axis=1)) for own in pooled.values()))
    print(
        "Median of |predicted / measured - 1|, its bias, and the former at the level of the anchors beside; per cent."
    )
    print("level: how much slower than models say anchors were, calls alone, in the same batches.\n")
    print(f"{'operation':10} {'best variant found / yield of the chosen block size [%]':20}")
    for one in outcomes:
        print(f"{one.operation:10}", *(f"{way}: {choices(one, one.predicted[way])}" for way in ways), sep="  ")


def described(errors: Floats) -> str:
    """Median of the absolute errors, and bias."""
    return f"{100 * np.median(np.abs(errors)):5.1f} {100 * np.median(errors):+6.1f}"


def pooled_cell(errors: Floats) -> str:
    return f"{described(errors[0])} {100 * np.median(np.abs(errors[1])):7.1f}"


def choices(one: Outcome, predicted: Floats) -> str:
    """How often the predicted best variant is within noise of the best, and the mean yield of block sizes."""
    mean = one.passes.mean(axis=0)
    noise = float(np.median(np.abs(one.passes[0] / one.passes[1] - 1)))
    found, yields = [], []
    for n in dict.fromkeys(own.sizes["n"] for own in one.configurations):
        own = [i for i, c in enumerate(one.configurations) if c.sizes["n"] == n]
        best = min(own, key=lambda i: predicted[i])
        variant = one.configurations[best].variant
        of_variant = min(mean[i] for i in own if one.configurations[i].variant is variant)
        found.append(of_variant <= (1 + 2 * noise) * min(mean[i] for i in own))
        for each in dict.fromkeys(one.configurations[i].variant for i in own):
            mine = [i for i in own if one.configurations[i].variant is each]
            yields.append(min(mean[i] for i in mine) / mean[min(mine, key=lambda i: predicted[i])])
    return f"{100 * np.mean(found):.0f} / {100 * np.mean(yields):.1f}"


if __name__ == "__main__":
    main()
