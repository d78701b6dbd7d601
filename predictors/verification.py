"""Measures whole algorithms, interleaved, to hold predictions against."""

from collections.abc import Sequence
from dataclasses import dataclass

from blascast.algorithms import scalar_calls
from blascast.models.summary import summarize
from blascast.sampler.batch.sample import Batch, State
from blascast.sampler.call import Call
from blascast.sampler.job import sequence_job
from blascast.sampler.sampler import OnProgress, Sampler, no_progress

from .configurations import Configuration, described
from .prediction import Times

REPETITIONS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Verified:
    """Measured run times.

    Parameters
    ----------
    times : tuple of Times, one for each configuration
    batch : Batch
        Its state, counts and noise floor.
    """

    times: tuple[Times, ...]
    batch: Batch


def verify(
    sampler: Sampler,
    configurations: Sequence[Configuration],
    *,
    state: State | None = None,
    repetitions: int = REPETITIONS,
    on_progress: OnProgress = no_progress,
) -> Verified:
    """Measures configurations, all repetitions shuffled.

    Parameters
    ----------
    configurations : sequence of Configuration
    state : str, optional
        The state of the core that the models are of.

    Raises
    ------
    KernelFailed
        If a routine fails.
    """
    dtype = sampler.setup.dtype
    jobs = [sequence_job(_calls(configuration, dtype)) for configuration in configurations]
    batch = sampler.measure(jobs, repetitions, state=state, label="verifying", on_progress=on_progress)
    return Verified(tuple(Times.of(summarize(m.seconds)) for m in batch.measurements), batch)


def _calls(configuration: Configuration, dtype: str) -> list[Call]:
    """The calls of one run; the operands of all variants of a problem are the same."""
    label = f" of {configuration.variant.operation}, {described(configuration.sizes)}"
    return scalar_calls(configuration.variant, configuration.sizes, configuration.b or 1, dtype, label)
