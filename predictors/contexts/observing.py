"""Observing: which windows tell most about a question, and what calls take in them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from blascast.algorithms import find_operation
from blascast.models.generation.keeping import measure_and_keep
from blascast.models.kept.store import Name, Store
from blascast.models.piecewise import ModelKey
from blascast.sampler.batch.sample import Batch, Sample, State
from blascast.sampler.sampler import OnProgress, Sampler, no_progress

from ..configurations import Configuration, own_block_size, round_up
from .windows import Window, window_of

MOST_WINDOWS, LEAST_WINDOWS = 12, 4  # of a variant
MOST_IN_ALL = 96  # of all variants of a question, unless these are more than have room for the least
MOST_RUNS = 2  # of the largest problem, that a variant's windows are as long as, with what is made before them
MOST_FLOPS = 1e10  # of a variant's windows, with what is made before them: some tenths of a second, REPETITIONS times
REPETITIONS = 5
LEAST_SAMPLES = 3
GOLDEN = 0.618  # places of windows in their algorithms are in the largest gap between those before
KEPT_AS = "in the algorithm"


def windows_for(configurations: Sequence[Configuration], dtype: str, most: int = MOST_WINDOWS) -> list[Window]:
    """Windows of a variant that stand for configurations of it; none if it makes a single step.

    Sizes and block sizes are rounded, so that questions share windows; of these, the ones farthest from
    each other are taken, at places all over the algorithm. All together have at most half of the flops of
    all of the algorithms, those of `MOST_RUNS`, and `MOST_FLOPS`. The first may have more than half of them,
    and more than `MOST_FLOPS` if its repetitions are no more than one run.
    """
    rounded = {_numbers(own): own for own in (_rounded(own, dtype) for own in configurations)}
    whole = [_flops(own) for own in rounded.values()]
    left = min(sum(whole) / 2, MOST_RUNS * max(whole), MOST_FLOPS)
    found: dict[Name, Window] = {}
    for number, configuration in enumerate(_spread(list(rounded.values()), most)):
        window = window_of(configuration, dtype, (0.5 + number * GOLDEN) % 1.0)
        if window and name_of(window) not in found:
            flops = window.share * _flops(configuration)
            if flops <= left or (not found and (flops <= MOST_FLOPS or window.share * REPETITIONS <= 1)):
                found[name_of(window)] = window
                left -= flops
    return list(found.values())


def _flops(configuration: Configuration) -> float:
    return float(find_operation(configuration.variant.operation).flop_count(configuration.sizes))


def name_of(window: Window) -> Name:
    """How a window's samples are named in the store: by operation and variant; sizes, block sizes and step."""
    variant = window.configuration.variant
    key = ModelKey(variant.operation, variant.name, 0, KEPT_AS)
    return key, (*_numbers(window.configuration), window.step + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Timed:
    """A window with what its calls took.

    Parameters
    ----------
    window : Window
    seconds : tuple of float
        Medians, one for each call.
    cost : float
        What taking them took in all, seconds, about.
    """

    window: Window
    seconds: tuple[float, ...]
    cost: float


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

    def times(self, windows: Iterable[Window], state: State) -> list[Timed]:
        """Windows with their times; those that are new are measured, those of one problem interleaved.

        What cannot be had in the given state of the core is left out.

        Raises
        ------
        KernelFailed
            If a routine fails.
        StoreError
            If the store fails.
        """
        wanted = {name_of(window): window for window in windows}
        found = self._stored(wanted, state)
        problems: dict[object, dict[Name, Window]] = {}
        for name in wanted.keys() - found.keys():
            sizes = wanted[name].configuration.sizes
            problems.setdefault(tuple(sorted(sizes.items())), {})[name] = wanted[name]
        for missing in problems.values():
            found |= self._measured(missing, state)
        return [_timed(window, found[name]) for name, window in wanted.items() if found.get(name)]

    def _measured(self, windows: Mapping[Name, Window], state: State) -> dict[Name, list[Sample]]:
        batch = measure_and_keep(
            self._sampler,
            self._store,
            [window.job for window in windows.values()],
            [REPETITIONS] * len(windows),
            list(windows),
            state=state,
            label="timing steps of algorithms",
            on_progress=self._on_progress,
        )
        self.batches.append(batch)
        if batch.state != state:
            return {}
        return {name: list(own.accepted) for name, own in zip(windows, batch.measurements, strict=True)}

    def _stored(self, windows: Mapping[Name, Window], state: State) -> dict[Name, list[Sample]]:
        """What the store has enough samples of, each with as many times as the window has calls."""
        found: dict[Name, list[Sample]] = {}
        for key in {key for key, _ in windows}:
            for point, samples in self._store.load_samples(self._sampler.setup, key, state).items():
                window = windows.get((key, point))
                if window is not None:
                    fitting = [sample for sample in samples if len(sample.times) == len(window.calls)]
                    if len(fitting) >= LEAST_SAMPLES:
                        found[key, point] = fitting
        return found


def _timed(window: Window, samples: Sequence[Sample]) -> Timed:
    times = np.array([sample.times for sample in samples])
    medians = tuple(float(median) for median in np.median(times, axis=0))
    made, timed = (max(sum(float(call.flops) for call in own), 1.0) for own in (window.before, window.calls))
    return Timed(window, medians, (1 + made / timed) * sum(sample.seconds for sample in samples))


def _numbers(configuration: Configuration) -> tuple[int, ...]:
    """Sizes and block sizes."""
    b = configuration.b
    return (*configuration.sizes.values(), *(b if isinstance(b, tuple) else (b or 1,)))


def _rounded(configuration: Configuration, dtype: str) -> Configuration:
    """With sizes and block sizes that questions share."""
    variant, b = configuration.variant, configuration.b
    sizes = {name: round_up(size) for name, size in configuration.sizes.items()}
    if variant.usual is not None or b is None:
        return Configuration(variant, sizes, own_block_size(variant, sizes, dtype))
    rounded = (round_up(b[0]), round_up(b[1])) if isinstance(b, tuple) else round_up(b)
    return Configuration(variant, sizes, rounded)


def _spread(configurations: Sequence[Configuration], most: int) -> list[Configuration]:
    """So many, by their distance from all before in the logarithms of sizes, the largest first; again and again."""
    places = np.log(np.array([_numbers(own) for own in configurations], dtype=float))
    order = [int(np.argmax(places.sum(axis=1)))]
    distances = ((places - places[order[0]]) ** 2).sum(axis=1)
    while len(order) < min(most, len(configurations)):
        order.append(int(np.argmax(distances)))
        distances = np.minimum(distances, ((places - places[order[-1]]) ** 2).sum(axis=1))
    return [configurations[order[number % len(order)]] for number in range(most)]
