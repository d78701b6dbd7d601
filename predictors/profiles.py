"""Profiles: what each call takes in an algorithm, beside what it takes alone, warm and cold, and what models say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from blascast.algorithms import scalar_calls
from blascast.models.piecewise import Model
from blascast.models.sampling import case_of_call
from blascast.models.summary import LEAST_SECONDS, MEDIAN, standard_error
from blascast.sampler.batch.sample import Measurement, State
from blascast.sampler.call import Call
from blascast.sampler.job import Job, job_of, sequence_job
from blascast.sampler.nest import Nest, Step
from blascast.sampler.precondition import WARM, Cold
from blascast.sampler.sampler import OnProgress, Sampler, no_progress

from .configurations import Configuration, described
from .contexts.aware import aware_jobs
from .prediction import FloatArray

REPETITIONS = 20
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
    alone : mapping
        By state, arrays of shape (n_calls,), medians: ``"warm"``, ``"cold"`` and, where asked for, ``"aware"``:
        after the calls since their operands' last use.
    alone_errors : mapping
        Standard errors of these medians.
    model : array of shape (n_calls,)
        Medians that models of warm calls tell.
    totals, plain : arrays of shape (2,)
        Of whole runs, by pass: the calls added up, and without time stamps between them.
    """

    configuration: Configuration
    calls: tuple[Call, ...]
    passes: FloatArray
    alone: Mapping[str, FloatArray]
    alone_errors: Mapping[str, FloatArray]
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
        return tuple(call.label for call in self.calls)

    @property
    def noise(self) -> FloatArray:
        """Relative difference of the passes, of each call."""
        return np.asarray(np.abs(self.passes[0] - self.passes[1]) / np.maximum(self.inside, LEAST_SECONDS))

    def beside(self, state: str) -> npt.NDArray[np.int64]:
        """Whether each call takes less (-1) or more (1) than alone in a state, or neither can be told (0).

        What differs by no more than the passes do, and two standard errors of what is alone, cannot be told.
        """
        slack = np.abs(self.passes[0] - self.passes[1]) + 2 * self.alone_errors[state]
        further = self.inside - self.alone[state]
        return np.where(np.abs(further) > slack, np.sign(further), 0).astype(np.int64)

    def bracketed(self) -> npt.NDArray[np.bool_]:
        """Whether each call takes no less than the one of warm and cold, and no more than the other."""
        warm, cold = self.beside("warm"), self.beside("cold")
        return np.asarray(warm * cold <= 0)


def profile(
    sampler: Sampler,
    configuration: Configuration,
    models: Sequence[Model],
    state: State,
    *,
    aware: bool = False,
    repetitions: int = REPETITIONS,
    on_progress: OnProgress = no_progress,
) -> Profile:
    """Runs an algorithm with time stamps between its calls, and each of them alone, all of it interleaved.

    Parameters
    ----------
    sampler : Sampler
    configuration : Configuration
    models : sequence of Model
        Of its calls; what has none is left unknown.
    state : str
        Of the core that the models are of.
    aware : bool
        Whether calls are timed after those since their operands' last use as well.
    repetitions : int
        Of the algorithm: half of them for each of two passes.
    on_progress : callable

    Raises
    ------
    KernelFailed
        If a routine fails.
    """
    label = f" of {configuration.variant.operation}, {described(configuration.sizes)}"
    calls = scalar_calls(configuration.variant, configuration.sizes, configuration.b or 1, sampler.setup.dtype, label)
    with_stamps = sequence_job(calls)
    without = replace(with_stamps, calls=(Nest(tuple(Step(call, {}) for call in calls)),))
    distinct = {_key(call): _on_its_own(call) for call in reversed(calls)}
    alone: dict[str, list[Job]] = {
        "warm": [job_of(call, WARM) for call in distinct.values()],
        "cold": [job_of(call, Cold()) for call in distinct.values()],
        **({"aware": aware_jobs(calls)} if aware else {}),
    }
    jobs = [with_stamps, without, *(job for of_state in alone.values() for job in of_state)]
    wanted = [repetitions] * 2 + [ALONE_REPETITIONS] * (len(jobs) - 2)
    batch = sampler.measure(jobs, wanted, state=state, label="running and timing", on_progress=on_progress)
    stamped, plain = (_halves(measurement) for measurement in batch.measurements[:2])
    pairs = iter([(np.median(m.seconds), standard_error(m.seconds, MEDIAN)) for m in batch.measurements[2:]])
    places = {key: place for place, key in enumerate(distinct)}
    place = [places[_key(call)] for call in calls]
    found = {
        of_state: np.array([next(pairs) for _ in own])[place if of_state != "aware" else slice(None)]
        for of_state, own in alone.items()
    }
    return Profile(
        configuration,
        tuple(calls),
        np.array([np.median(part, axis=0) for part in stamped]),
        {of_state: own[:, 0] for of_state, own in found.items()},
        {of_state: own[:, 1] for of_state, own in found.items()},
        estimates_of(calls, models),
        np.array([np.median(part.sum(axis=1)) for part in stamped]),
        np.array([np.median(part) for part in plain]),
    )


def _halves(measurement: Measurement) -> tuple[FloatArray, FloatArray]:
    """Samples in two interleaved passes, each of shape (n_samples, n_calls)."""
    samples = measurement.accepted or measurement.samples
    times = np.array([sample.times for sample in samples])
    return times[::2], times[1::2] if len(times) > 1 else times[::2]


def _on_its_own(call: Call) -> Call:
    """The call on operands of its own, as far apart as in the algorithm: those there hold what other calls left."""
    return case_of_call(call).call(tuple(call.sizes.values()), max(view.ld for view in call.views.values()))


def _key(call: Call) -> object:
    return call.label, tuple(call.sizes.values())


def estimates_of(calls: Sequence[Call], models: Sequence[Model]) -> FloatArray:
    """Medians that models tell of calls; NaN of those that there is no model of."""
    by_label = {str(model.key): model for model in models}
    seconds = np.full(len(calls), np.nan)
    groups: dict[str, list[int]] = {}
    for index, call in enumerate(calls):
        groups.setdefault(call.label, []).append(index)
    for label in groups.keys() & by_label.keys():
        sizes = np.array([list(calls[index].sizes.values()) for index in groups[label]])
        seconds[groups[label]] = by_label[label].evaluate(sizes).statistics[:, MEDIAN]
    return seconds
