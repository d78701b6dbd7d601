"""Other ways to choose points, for `rivals.py`: replayed on a dense set of recorded samples.

All rules get the same budget, in seconds of calls, and the same fit of what they chose: fitted cuts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from regressors import DEFAULT, Training, process_of

from blascast.models.fitting.basis import degrees, raised_singly
from blascast.models.fitting.part import Part
from blascast.models.generation.generator import CALLS_PER_SAMPLE, Observation, Point, observe
from blascast.models.generation.need import Need
from blascast.models.generation.refinement import GROWTH, farthest
from blascast.models.generation.task import Task
from blascast.models.sampling import Case
from blascast.models.sizes.domain import Domain
from blascast.models.sizes.grid import grid_points
from blascast.models.sizes.lattice import IntArray, Lattice
from blascast.models.study.replay import wanted_of
from blascast.models.summary import FloatArray
from blascast.sampler.batch.sample import State
from blascast.sampler.job import warm_job
from blascast.sampler.sampler import OnProgress, Sampler

RECORDED = 25  # samples of each point
COUNTS = {1: (33,), 2: (24, 24), 3: (11, 11, 8)}  # coordinates along each size, by number of sizes

# Chooses some of the candidates, at least one and so many about, given what is known and its parts.
Rule = Callable[[Training, list[Part], IntArray, int], list[Point]]


@dataclass(frozen=True)
class Recording:
    """Samples of all points of a lattice, seconds."""

    case: Case
    domain: Domain
    lattice: Lattice
    samples: dict[Point, FloatArray]

    def observed(self, point: Point, random: np.random.Generator) -> Observation:
        """What our generator would have seen there, drawn from the recorded samples."""
        seconds = random.permutation(self.samples[point])
        taken = seconds[: wanted_of(DEFAULT.repetitions(), seconds)]
        return observe(taken, DEFAULT.reference, CALLS_PER_SAMPLE * float(taken.sum()))

    def training(self, observations: dict[Point, Observation]) -> Training:
        """What was observed of it."""
        return Training(self.case, self.domain, observations)


def record(sampler: Sampler, case: Case, domain: Domain, state: State, on_progress: OnProgress) -> Recording:
    """Samples all points of a lattice whose coordinates are of even ratio."""
    points = grid_points(domain, COUNTS[len(domain.lower)], "geometric")
    axes = tuple(np.unique([point[i] for point in points]) for i in range(len(domain.lower)))
    jobs = [warm_job(case.call(point, case.ld(domain.upper))) for point in points]
    batch = sampler.measure(jobs, RECORDED, state=state, label="recording", on_progress=on_progress)
    samples = {point: taken.seconds for point, taken in zip(points, batch.measurements, strict=True)}
    return Recording(case, domain, Lattice(axes), samples)


def replay_default(recording: Recording, seed: int) -> Training:
    """What our generator takes until it stops."""
    random, domain = np.random.default_rng(seed), recording.domain
    task = Task(Need(recording.case, (domain,)), DEFAULT, threads=1)
    task.begin([domain], {}, recording.lattice)
    generator = task.generator_
    while task.running:
        generator.observe({point: recording.observed(point, random) for point in generator.wanted})
        generator.advance()
    return recording.training(generator.observed)


def replay(recording: Recording, grid: str, rule: Rule, budget: float, seed: int) -> Training:
    """What a rule takes: a first grid, then further points as long as the budget is not spent."""
    random = np.random.default_rng(seed)
    first = grid_points(recording.domain, _grid_counts(recording), grid, recording.lattice)
    observed = {point: recording.observed(point, random) for point in first}
    waiting: list[Point] = []
    while recording.training(observed).spent < budget and len(observed) < len(recording.samples):
        waiting = waiting or _chosen(recording, rule, observed)
        point = waiting.pop(0)
        observed[point] = recording.observed(point, random)
    return recording.training(observed)


def _grid_counts(recording: Recording) -> list[int]:
    """Points along each size of our generator's first grid."""
    training = recording.training({})
    highest = raised_singly(training.basis(DEFAULT.overfitting_for(recording.case.kernel.sizes)), training.basis(0))
    return [degree + 1 + DEFAULT.oversampling for degree in degrees(highest)]


def _chosen(recording: Recording, rule: Rule, observed: dict[Point, Observation]) -> list[Point]:
    """What a rule wants next, for parts that are fitted to what is known."""
    training = recording.training(dict(observed))
    parts = training.task(recording.lattice).generator_.parts
    others = np.array([point for point in recording.samples if point not in observed])
    return rule(training, parts, others, max(1, round(GROWTH * len(observed))))


# --- rules


def far(training: Training, parts: list[Part], candidates: IntArray, count: int, cost_power: float) -> list[Point]:
    """In every part, far from the points that are there, the less the longer a call takes."""
    chosen: list[Point] = []
    for part in parts:
        inside = candidates[part.domain.contains(candidates)]
        reluctance = np.maximum(part.seconds(inside), part.observed.seconds.min()) ** cost_power
        own = max(1, round(count * len(part.observed.seconds) / len(training.points)))
        chosen += farthest(part.domain, inside, part.observed.sizes, reluctance, own)
    return list(dict.fromkeys(chosen))


def uncertain(
    training: Training, parts: list[Part], candidates: IntArray, count: int, cost_power: float
) -> list[Point]:
    """Where a Gaussian process knows the rate least, the less the longer a call takes.

    What its deviation will be once some points are taken does not depend on what they yield.
    """
    process = process_of(training)
    reluctance = _seconds(parts, candidates) ** cost_power
    covariance = process.predict(training.domain.places(candidates), return_cov=True)[1]
    noise = float(np.mean(training.noise**2)) + np.finfo(float).eps
    chosen: list[Point] = []
    for _ in range(min(count, len(candidates))):
        best = int(np.argmax(np.sqrt(np.maximum(np.diag(covariance), 0.0)) / reluctance))
        chosen.append(tuple(candidates[best].tolist()))
        column = covariance[:, best]
        covariance = covariance - np.outer(column, column) / (column[best] + noise)
    return list(dict.fromkeys(chosen))


def _seconds(parts: list[Part], sizes: IntArray) -> FloatArray:
    """Positive estimates."""
    seconds = np.empty(len(sizes))
    for part in parts:
        here = part.domain.contains(sizes)
        seconds[here] = np.maximum(part.seconds(sizes[here]), part.observed.seconds.min())
    return seconds


# By name: the first grid, and the rule for further points.
RULES: dict[str, tuple[str, Rule]] = {
    "farthest, cost^0.25 (built in)": ("geometric", partial(far, cost_power=0.25)),
    "farthest, whatever the cost": ("geometric", partial(far, cost_power=0.0)),
    "farthest, cost^0.5": ("geometric", partial(far, cost_power=0.5)),
    "first grid Chebyshev": ("chebyshev", partial(far, cost_power=0.25)),
    "first grid Cartesian": ("cartesian", partial(far, cost_power=0.25)),
    "Gaussian process, cost^0.25": ("geometric", partial(uncertain, cost_power=0.25)),
    "Gaussian process, cost": ("geometric", partial(uncertain, cost_power=1.0)),
}
