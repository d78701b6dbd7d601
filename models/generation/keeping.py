"""Measures batches and keeps them in the store, whatever happens."""

from collections.abc import Sequence

import numpy as np

from blascast.sampler.batch.repetitions import Repetitions
from blascast.sampler.batch.sample import Batch, State
from blascast.sampler.job import Job
from blascast.sampler.sampler import OnProgress, Sampler, no_progress

from ..kept.store import Name, Store


def measure_and_keep(
    sampler: Sampler,
    store: Store,
    jobs: Sequence[Job],
    repetitions: Sequence[int | Repetitions],
    names: Sequence[Name],
    *,
    state: State | None = None,
    label: str = "sampling",
    on_progress: OnProgress = no_progress,
) -> Batch:
    """Measures and saves a batch; after a failure or an interrupt, what was measured before.

    Parameters
    ----------
    sampler, store, jobs, repetitions, state, label, on_progress
        As in `Sampler.measure`.
    names : sequence of (key, point), one for each job

    Raises
    ------
    KernelFailed
        If a routine fails.
    StoreError
        If the store fails.
    """
    with store.journal(sampler.setup, names) as journal:
        try:
            batch = sampler.measure(
                jobs, repetitions, state=state, label=label, on_progress=on_progress, journal=journal
            )
        except BaseException:
            if sampler.unfinished is not None:
                store.save_samples(sampler.unfinished, names)
            raise
        store.save_samples(batch, names)
    return batch


def facts_of(batch: Batch) -> dict[str, float]:
    """What a batch teaches about its setup, as far as it does."""
    facts = {"probe_floor": batch.floor, "noise_floor": batch.noise_floor}
    return {name: value for name, value in facts.items() if value is not None and np.isfinite(value)}
