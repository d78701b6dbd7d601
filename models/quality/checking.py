"""Checks models against fresh samples at points that they were not fitted to."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blascast.sampler.batch.repetitions import Repetitions
from blascast.sampler.batch.sample import Batch, Measurement
from blascast.sampler.job import job_of
from blascast.sampler.precondition import precondition_of
from blascast.sampler.sampler import OnProgress, Sampler, no_progress

from ..piecewise import Model
from ..sampling import Case
from ..sizes.places import IntArray, random_points
from ..summary import LEAST_SECONDS, MEDIAN, FloatArray, rms

STANDARD_ERRORS = 2.0
PASSES = 2


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """A model beside fresh measurements.

    Parameters
    ----------
    model : Model
    case : Case
    points : array of shape (n_points, d)
    passes : array of shape (2, n_points), seconds
        Medians, measured twice.
    clock : float or None
        Time of the probes' arithmetic loop meanwhile, seconds.
    """

    model: Model
    case: Case
    points: IntArray
    passes: FloatArray
    clock: float | None

    @property
    def measured(self) -> FloatArray:
        """Geometric mean of the passes, seconds: array of shape (n_points,)."""
        return np.asarray(np.exp(np.log(self.passes).mean(axis=0)))

    @property
    def errors(self) -> FloatArray:
        """(model's median - measured) / measured: array of shape (n_points,)."""
        return np.asarray(self.model.evaluate(self.points).statistics[:, MEDIAN] / self.measured - 1)

    @property
    def noise(self) -> float:
        """Relative difference of the passes, median: the noise floor."""
        return float(np.median(np.abs(self.passes[0] / self.passes[1] - 1)))

    @property
    def stated(self) -> float:
        """What the model says its standard error is at the points, root mean square."""
        return rms(self.model.evaluate(self.points).errors)

    @property
    def coverage(self) -> float:
        """Share of the points that lie within 2 standard errors: of the model, and of the mean of the passes."""
        of_mean = rms(np.log(self.passes[0] / self.passes[1])) / PASSES
        expected = np.hypot(self.model.evaluate(self.points).errors, of_mean)
        return float(np.mean(np.abs(np.log1p(self.errors)) <= STANDARD_ERRORS * expected))

    @property
    def one_rate_errors(self) -> FloatArray:
        """Errors of the baseline: time = flops / rate, the rate fitted to these points; words, where flops are none."""
        values = {**self.case.flags, **dict(zip(self.case.kernel.sizes, self.points.T.astype(float), strict=True))}
        flops = np.broadcast_to(self.case.kernel.flop_count(values), len(self.points))
        work = flops if np.all(flops > 0) else self.case.kernel.byte_count(values, self.case.kernel.types[0])
        return np.asarray(work / np.median(work / self.measured) / self.measured - 1)


def check(
    sampler: Sampler,
    models: Sequence[tuple[Model, Case]],
    points: int,
    any_size: bool = False,
    random: np.random.Generator | None = None,
    on_progress: OnProgress = no_progress,
) -> tuple[list[Check], list[Batch]]:
    """Measures random points of models twice, all of them shuffled, each pass in an order of its own.

    The samples are not kept: points that models are to be judged by must never be fitted.

    Parameters
    ----------
    sampler : Sampler
    models : sequence of (Model, Case), at least one
    points : int
        For each model; fewer where its domain has fewer.
    any_size : bool
        Whether sizes may be no multiples of 8.
    random : Generator, optional
    on_progress : callable

    Raises
    ------
    KernelFailed
        If a routine fails.
    """
    random = random or np.random.default_rng()
    free = [np.full(len(case.kernel.sizes), any_size) for _, case in models]
    places = [random_points(m, case, points, own, random) for (m, case), own in zip(models, free, strict=True)]
    states = Counter(model.state for model, _ in models if model.state != "mixed").most_common(1)
    state = states[0][0] if states else None
    jobs, repetitions = [], []
    for (model, case), own in zip(models, places, strict=True):
        precondition = precondition_of(model.key.precondition)
        jobs += [job_of(case.call(tuple(point), model.key.ld), precondition) for point in own.tolist()]
        repetitions += [_repetitions(model)] * len(own)
    batches = [
        sampler.measure(jobs, repetitions, state=state, label=f"verifying, pass {number}", on_progress=on_progress)
        for number in range(1, PASSES + 1)
    ]
    ends = np.cumsum([len(own) for own in places])
    checks = []
    for (model, case), own, end in zip(models, places, ends.tolist(), strict=True):
        of_model = [batch.measurements[end - len(own) : end] for batch in batches]
        medians = np.array([[np.median(measurement.seconds) for measurement in taken] for taken in of_model])
        medians = np.maximum(medians, LEAST_SECONDS)
        checks.append(Check(model, case, own, medians, _clock([m for taken in of_model for m in taken])))
    return checks, batches


def _repetitions(model: Model) -> Repetitions:
    """As many as the model's own points had."""
    own = model.parameters
    return Repetitions(own.least_repetitions, own.most_repetitions, own.precision, quantile=own.reference)


def _clock(measurements: Sequence[Measurement]) -> float | None:
    known = [measurement.clock for measurement in measurements if measurement.clock is not None]
    return float(np.median(known)) if known else None
