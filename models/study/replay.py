"""Generates models from an exhaustive set: a generator that asks for a point gets the samples there."""

from collections.abc import Sequence

import numpy as np

from blascast.sampler.batch.repetitions import Repetitions

from ..generation.generator import CALLS_PER_SAMPLE, Observation, Point, observe
from ..generation.need import Need
from ..generation.task import Task
from ..parameters import Parameters
from ..piecewise import Model
from ..summary import MEDIAN, FloatArray
from .exhaustive import ExhaustiveSet
from .outcome import Outcome, outcome
from .setting import CASE


def replay(name: str, parameters: Parameters, exhaustive: ExhaustiveSet) -> Outcome:
    """What a generator with these parameters achieves on the set."""
    model = generate(parameters, exhaustive)
    predicted = model.evaluate(exhaustive.points).statistics[:, MEDIAN]
    relative = predicted / exhaustive.measured
    return outcome(name, parameters, relative, model.seconds, model.samples, len(model.pieces))


def generate(parameters: Parameters, exhaustive: ExhaustiveSet) -> Model:
    """The model that `ModelBuilder` makes without a question, of samples of the set.

    The time of the samples' calls is what its budget limits.
    """
    task = Task(Need(CASE, (exhaustive.domain,)), parameters, threads=1)
    task.begin([exhaustive.domain], {}, exhaustive.lattice)
    generator, spent = task.generator_, 0.0
    while task.running:
        observations = _observations(parameters, exhaustive, generator.wanted)
        spent += sum(observation.seconds for observation in observations.values())
        generator.observe(observations)
        if spent > parameters.seconds:
            break
        generator.advance()
    return task.completed("free", "budget", 0.0)


def _observations(
    parameters: Parameters, exhaustive: ExhaustiveSet, points: Sequence[Point]
) -> dict[Point, Observation]:
    rows = exhaustive.seconds[exhaustive.rows(points)] if points else np.zeros((0, 0))
    return {point: _observation(parameters, row[np.isfinite(row)]) for point, row in zip(points, rows, strict=True)}


def _observation(parameters: Parameters, seconds: FloatArray) -> Observation:
    taken = seconds[: wanted_of(parameters.repetitions(), seconds)]
    return observe(taken, parameters.reference, CALLS_PER_SAMPLE * float(taken.sum()))


def wanted_of(repetitions: Repetitions, seconds: FloatArray) -> int:
    """How many of these samples would have been taken, in their order.

    Examples
    --------
    >>> wanted_of(Repetitions(3, 25, 0.02), np.ones(15)), wanted_of(Repetitions.fixed(10), np.ones(15))
    (3, 10)
    """
    count = min(repetitions.least, len(seconds))
    while count < len(seconds):
        interval = repetitions.interval(seconds[:count])
        if repetitions.reached(count, interval) is not None:
            break
        count = min(repetitions.more(count, interval), len(seconds))
    return count
