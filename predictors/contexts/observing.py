"""Observing: which windows tell most about a question, and what calls take in them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice

import numpy as np

from blascast.models.generation.keeping import measure_and_keep
from blascast.models.kept.store import Name, Store
from blascast.models.piecewise import ModelKey
from blascast.sampler.batch.sample import Batch, Sample, State
from blascast.sampler.sampler import OnProgress, Sampler, no_progress

from ..configurations import Configuration, own_block_size, round_up
from .windows import Window, window_of

MOST_WINDOWS = 12  # of a variant
REPETITIONS = 5
LEAST_SAMPLES = 3
GOLDEN = 0.618  # places of windows in their algorithms are in the largest gap between those before
KEPT_AS = "in the algorithm"


def windows_for(configurations: Sequence[Configuration], dtype: str) -> list[Window]:
    """Windows of a variant that stand for configurations of it; none if it is not a single loop.

    Sizes and block sizes are rounded, so that questions share windows; of these, the ones farthest from
    each other are taken, at places all over the algorithm.
    """
    rounded = {_numbers(own): own for own in (_rounded(own, dtype) for own in configurations)}
    found: dict[Name, Window] = {}
    for number, configuration in enumerate(islice(_spread(list(rounded.values())), MOST_WINDOWS)):
        window = window_of(configuration, dtype, (0.5 + number * GOLDEN) % 1.0)
        if window is None:
            return []
        found.setdefault(name_of(window), window)
    return list(found.values())


def name_of(window: Window) -> Name:
    """How a window's samples are named in the store: by operation and variant; sizes, block sizes and step."""
    variant = window.configuration.variant
    key = ModelKey(variant.operation, variant.name, 0, KEPT_AS)
    return key, (*_numbers(window.configuration), window.step + 1)


class Observer:
    """Times windows of one setup, each once: what the store has is not measured again.

    Parameters
    ----------
    sampler : Sampler
    store : Store
    on_progress : callable

    Attributes
    ----------
    batches : list of Batch
        What was measured.
    """

    def __init__(self, sampler: Sampler, store: Store, on_progress: OnProgress = no_progress) -> None:
        self._sampler, self._store, self._on_progress = sampler, store, on_progress
        self.batches: list[Batch] = []

    def times(self, windows: Iterable[Window], state: State) -> list[tuple[Window, list[float]]]:
        """Windows with the medians of their calls' times, seconds; those that are new are measured, interleaved.

        Raises
        ------
        KernelFailed
            If a routine fails.
        StoreError
            If the store fails.
        """
        wanted = {name_of(window): window for window in windows}
        stored = self._stored({key for key, _ in wanted}, state)
        missing = {name: window for name, window in wanted.items() if len(stored.get(name, ())) < LEAST_SAMPLES}
        if missing:
            batch = measure_and_keep(
                self._sampler,
                self._store,
                [window.job for window in missing.values()],
                [REPETITIONS] * len(missing),
                list(missing),
                state=state,
                label="timing steps of algorithms",
                on_progress=self._on_progress,
            )
            self.batches.append(batch)
            for name, measurement in zip(missing, batch.measurements, strict=True):
                stored[name] = list(measurement.accepted or measurement.samples)
        return [(window, _medians(stored[name])) for name, window in wanted.items()]

    def _stored(self, keys: Iterable[ModelKey], state: State) -> dict[Name, list[Sample]]:
        setup, store = self._sampler.setup, self._store
        return {
            (key, point): samples for key in keys for point, samples in store.load_samples(setup, key, state).items()
        }


def _medians(samples: Sequence[Sample]) -> list[float]:
    """Of each call."""
    times = np.array([sample.parts or (sample.seconds,) for sample in samples])
    return [float(median) for median in np.median(times, axis=0)]


def _numbers(configuration: Configuration) -> tuple[int, ...]:
    """Sizes and block sizes."""
    b = configuration.b
    return (*configuration.sizes.values(), *(b if isinstance(b, tuple) else (b or 1,)))


def _rounded(configuration: Configuration, dtype: str) -> Configuration:
    """With sizes and block sizes that questions share; within what models of the question cover."""
    variant, b = configuration.variant, configuration.b
    sizes = {name: round_up(size) for name, size in configuration.sizes.items()}
    if variant.usual is not None or b is None:
        return Configuration(variant, sizes, own_block_size(variant, sizes, dtype))
    rounded = (round_up(b[0]), round_up(b[1])) if isinstance(b, tuple) else round_up(b)
    return Configuration(variant, sizes, rounded)


def _spread(configurations: Sequence[Configuration]) -> Iterator[Configuration]:
    """Configurations by their distance from all before in the logarithms of sizes, largest first; again and again."""
    places = np.log(np.array([_numbers(own) for own in configurations], dtype=float))
    order = [int(np.argmax(places.sum(axis=1)))]
    while len(order) < len(configurations):
        distances = ((places[:, None] - places[order]) ** 2).sum(axis=2).min(axis=1)
        distances[order] = -1.0
        order.append(int(np.argmax(distances)))
    for number in count():
        yield configurations[order[number % len(order)]]
