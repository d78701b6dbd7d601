"""Measures whole algorithms, interleaved, to hold predictions against."""

from collections.abc import Sequence
from dataclasses import dataclass

from blascast.algorithms import Variant, scalar_calls
from blascast.models.sampling import fitting_ld
from blascast.models.summary import summarize
from blascast.sampler.sample import State, noise_floor, sequence_job
from blascast.sampler.sampler import OnProgress, Sampler, no_progress

from .prediction import Times

REPETITIONS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Verified:
    """Measured run times.

    Parameters
    ----------
    times : tuple of Times, one for each configuration
    noise_floor : float
        The same thing measured twice; see `blascast.sampler.sample.noise_floor`.
    state : str
        Of the core.
    given_up : int
        Repetitions that could not be had undisturbed.
    """

    times: tuple[Times, ...]
    noise_floor: float
    state: State
    given_up: int


def verify(
    sampler: Sampler,
    configurations: Sequence[tuple[Variant, int, int]],
    *,
    state: State | None = None,
    repetitions: int = REPETITIONS,
    on_progress: OnProgress = no_progress,
) -> Verified:
    """Measures variants at (n, b), all repetitions shuffled.

    Parameters
    ----------
    configurations : sequence of (Variant, n, b)
    state : str, optional
        The state of the core that the models are of.

    Raises
    ------
    KernelFailed
        If a routine fails.
    """
    jobs = [sequence_job(scalar_calls(variant, n, b, fitting_ld(n))) for variant, n, b in configurations]
    batch = sampler.measure(jobs, repetitions, state=state, label="verifying", on_progress=on_progress)
    seconds = [measurement.seconds for measurement in batch.measurements]
    return Verified(
        tuple(Times.of(summarize(each)) for each in seconds),
        noise_floor(seconds),
        batch.state,
        batch.given_up,
    )
