"""Which algorithm of a contraction is fastest: predicted one after another, as long as one may still be.

All algorithms are estimated from repeated calls first, which few micro-benchmarks tell, as algorithms share
them. Those are then predicted in the order of these estimates, with the cache state that they leave
their calls in, until the next one's estimate is clearly longer than the best prediction.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from blascast.algorithms.contractions import Candidate, ContractionNest
from blascast.sampler.setup import Cache

from .benchmarks import occurrences
from .measuring import Measurer, Timing
from .singles import Occurrence
from .stages import LAST, Stage

ROUND = 8  # algorithms that are predicted at a time
CLEARLY = 1.3  # by this factor must an estimate from repeated calls be longer: some calls are quicker in an algorithm


@dataclass(frozen=True, eq=False)
class Estimate:
    """The run time of an algorithm.

    Parameters
    ----------
    family : str
        As of `Candidate`.
    nest : ContractionNest
    seconds, error : float
        Median, and its standard error.
    refined : bool
        Whether the state of the caches is in it; else calls were repeated.
    """

    family: str
    nest: ContractionNest
    seconds: float
    error: float
    refined: bool


def estimates(
    candidates: Iterable[Candidate], dtype: str, item_bytes: int, caches: Sequence[Cache], measurer: Measurer
) -> list[Estimate]:
    """The run times of algorithms, the shortest first: those that may be the fastest are refined.

    Parameters
    ----------
    candidates : iterable of Candidate
    dtype : str
    item_bytes : int
    caches : sequence of Cache
        Of the machine.
    measurer : Measurer
    """
    chosen = list(candidates)
    nests = [candidate.nest(dtype) for candidate in chosen]

    def predict(indices: Sequence[int], stage: Stage) -> list[Estimate]:
        found = [occurrences(nests[i].nest, caches, item_bytes, stage) for i in indices]
        timings = measurer.timings(one.benchmark for own in found for one in own)
        return [
            Estimate(chosen[i].family, nests[i], *total(own, timings), stage == LAST)
            for i, own in zip(indices, found, strict=True)
        ]

    rough = predict(range(len(nests)), Stage.REPEATED)
    order = np.argsort([estimate.seconds for estimate in rough]).tolist()
    refined: dict[int, Estimate] = {}
    while len(refined) < len(order):
        best = min((estimate.seconds for estimate in refined.values()), default=np.inf)
        following = [i for i in order[len(refined) :][:ROUND] if rough[i].seconds < CLEARLY * best]
        if not following:
            break
        refined.update(zip(following, predict(following, LAST), strict=True))
    return sorted((refined.get(i, rough[i]) for i in order), key=lambda e: (not e.refined, e.seconds))


def total(found: Iterable[Occurrence], timings: Mapping[str, Timing]) -> tuple[float, float]:
    """Sum of medians, and the standard error of it: calls of one micro-benchmark err as one."""
    seconds = variance = 0.0
    for occurrence in found:
        timing = timings[occurrence.benchmark.key]
        seconds += occurrence.count * timing.times.median
        variance += (occurrence.count * timing.error) ** 2
    return seconds, variance**0.5
