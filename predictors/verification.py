"""Measures whole algorithms, interleaved, to hold predictions against."""

from collections.abc import Sequence
from dataclasses import dataclass

from blascast.algorithms import Variant, scalar_calls
from blascast.models.sampling import fitting_ld
from blascast.models.summary import summarize
from blascast.sampler.batch.sample import Batch, State
from blascast.sampler.job import sequence_job
from blascast.sampler.sampler import OnProgress, Sampler, no_progress

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
    jobs = [sequence_job(scalar_calls(variant, n, b, fitting_ld(n), f"A {n}")) for variant, n, b in configurations]
    batch = sampler.measure(jobs, repetitions, state=state, label="verifying", on_progress=on_progress)
    return Verified(tuple(Times.of(summarize(m.seconds)) for m in batch.measurements), batch)
