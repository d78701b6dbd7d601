"""Profiles: what each call takes in an algorithm, beside what it takes alone, warm and cold, and what models say."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from blascast.algorithms import scalar_calls
from blascast.models.piecewise import Model
from blascast.models.summary import MEDIAN
from blascast.sampler.batch.sample import Measurement, State
from blascast.sampler.call import Call
from blascast.sampler.job import Job, job_of, sequence_job
from blascast.sampler.nest import Nest, Step
from blascast.sampler.precondition import WARM, Cold
from blascast.sampler.sampler import OnProgress, Sampler

from .configurations import Configuration, described
from .prediction import FloatArray

REPETITIONS = 20  # of the algorithm: half of them for each of two passes
ALONE_REPETITIONS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Times of an algorithm's calls, seconds.

    Parameters
    ----------
    configuration : Configuration
    calls : tuple of Call
        In order.
    passes : array of shape (2, n_calls)
        In the algorithm, medians of two interleaved passes.
    warm, cold : arrays of shape (n_calls,)
        Alone, medians.
    model : array of shape (n_calls,)
        Medians that models of warm calls tell.
    totals, plain : arrays of shape (2,)
        Of whole runs, by pass: the calls added up, and without time stamps between them.
    """

    configuration: Configuration
    calls: tuple[Call, ...]
    passes: FloatArray
    warm: FloatArray
    cold: FloatArray
    model: FloatArray
    totals: FloatArray
    plain: FloatArray

    @property
    def inside(self) -> FloatArray:
        """In the algorithm, of both passes."""
        return np.asarray(self.passes.mean(axis=0))

    @property
    def labels(self) -> tuple[str, ...]:
        """Kernel and case of each call."""
        return tuple(label_of(call) for call in self.calls)

    def bracketed(self) -> npt.NDArray[np.bool_]:
        """Whether each call takes no less than warm and no more than cold, up to the passes' difference."""
        slack = np.abs(self.passes[0] - self.passes[1])
        low, high = np.minimum(self.warm, self.cold) - slack, np.maximum(self.warm, self.cold) + slack
        return np.asarray((self.inside >= low) & (self.inside <= high))


def label_of(call: Call) -> str:
    """Kernel and case."""
    return f"{call.kernel.name} {call.case}".strip()


def profile(
    sampler: Sampler, configuration: Configuration, models: Sequence[Model], state: State, on_progress: OnProgress
) -> Profile:
    """Runs an algorithm with time stamps between its calls, and each of them alone.

    Parameters
    ----------
    sampler : Sampler
    configuration : Configuration
    models : sequence of Model
        Of all its calls.
    state : str
        Of the core that the models are of.
    on_progress : callable

    Raises
    ------
    KernelFailed
        If a routine fails.
    """
    label = f" of {configuration.variant.operation}, {described(configuration.sizes)}"
    calls = scalar_calls(configuration.variant, configuration.sizes, configuration.b or 1, sampler.setup.dtype, label)
    with_stamps = sequence_job(calls)
    without = Job(with_stamps.preamble, (Nest(tuple(Step(call, {}) for call in calls)),), precondition="in sequence")
    batch = sampler.measure(
        [with_stamps, without], REPETITIONS, state=state, label="running the algorithm", on_progress=on_progress
    )
    stamped, plain = (_halves(measurement) for measurement in batch.measurements)
    passes = np.array([np.median(part, axis=0) for part in stamped])
    warm, cold = _alone(sampler, calls, state, on_progress)
    return Profile(
        configuration,
        tuple(calls),
        passes,
        warm,
        cold,
        estimates_of(calls, models),
        np.array([np.median(part.sum(axis=1)) for part in stamped]),
        np.array([np.median(part) for part in plain]),
    )


def _halves(measurement: Measurement) -> tuple[FloatArray, FloatArray]:
    """Samples in two interleaved passes, each of shape (n_samples, n_calls)."""
    samples = measurement.accepted or measurement.samples
    times = np.array([sample.parts or (sample.seconds,) for sample in samples])
    return times[::2], times[1::2] if len(times) > 1 else times[::2]


def _alone(
    sampler: Sampler, calls: Sequence[Call], state: State, on_progress: OnProgress
) -> tuple[FloatArray, FloatArray]:
    """What calls take alone, warm and cold; those of one case and sizes are timed once."""
    distinct: dict[object, Call] = {}
    for call in calls:
        distinct.setdefault(_key(call), call)
    jobs = [job_of(call, precondition) for precondition in (WARM, Cold()) for call in distinct.values()]
    batch = sampler.measure(jobs, ALONE_REPETITIONS, state=state, label="timing calls alone", on_progress=on_progress)
    medians = np.array([np.median(measurement.seconds) for measurement in batch.measurements]).reshape(2, -1)
    place = {key: index for index, key in enumerate(distinct)}
    found = medians[:, [place[_key(call)] for call in calls]]
    return found[0], found[1]


def _key(call: Call) -> object:
    return label_of(call), tuple(call.sizes.values())


def estimates_of(calls: Sequence[Call], models: Sequence[Model]) -> FloatArray:
    """Medians that models tell of calls; 0 of those that do nothing."""
    by_case = {(model.key.kernel, model.key.case): model for model in models}
    seconds = np.zeros(len(calls))
    groups: dict[tuple[str, str], list[int]] = {}
    for index, call in enumerate(calls):
        if min(call.sizes.values(), default=1) > 0:
            groups.setdefault((call.kernel.name, call.case), []).append(index)
    for key, indices in groups.items():
        sizes = np.array([list(calls[index].sizes.values()) for index in indices])
        seconds[indices] = by_case[key].evaluate(sizes).statistics[:, MEDIAN]
    return seconds
