"""The ladder: simple ways to predict run times, each of which a better one must beat.

0   the flop count at the peak
1   the flop count at one rate, that of small runs of all variants
2   a power law in n, through small runs of the same variant at the same block size
3   one polynomial per kernel
4   the kernel models
5   the same, corrected by steps of the algorithms that were timed

The first three are here; small runs are of sizes below most of those asked about, and measured apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blascast.models.parameters import Parameters

from ..configurations import Configuration, IntArray, Problem, own_block_size
from ..prediction import FloatArray

RUNGS = (
    "flops at peak",
    "flops at one rate",
    "power law",
    "one polynomial",
    "models",
    "corrected models",
)
SMALL_RUNS = 4
SMALLEST = 64
LARGEST_SHARE = 0.3  # of the largest size: how large small runs are
_WIDEST = 1 << 30

# What rung 3 is generated with: a minimum width that leaves one piece of a domain.
SINGLE = Parameters(
    cuts="halves",
    overfitting=1,
    overfitting_3d=0,
    grid="chebyshev",
    minimum_width=_WIDEST,
    minimum_width_3d=_WIDEST,
    least_repetitions=3,
    most_repetitions=3,
)


@dataclass(frozen=True, slots=True, eq=False)
class SmallRuns:
    """Measured runs of small sizes.

    Parameters
    ----------
    configurations : sequence of Configuration
    seconds : array of shape (n_runs,)
        Medians.
    flops : array of the same shape
        Minimal counts of the operation.
    cost : float
        What measuring them took, seconds.
    """

    configurations: Sequence[Configuration]
    seconds: FloatArray
    flops: FloatArray
    cost: float

    def rate(self) -> float:
        """Flops per second: the geometric mean."""
        return float(np.exp(np.mean(np.log(self.flops / self.seconds))))

    def power_laws(self, asked: Sequence[Configuration]) -> FloatArray:
        """Seconds of configurations, each by the power law through the small runs of its variant and block size."""
        laws: dict[tuple[str, object], tuple[float, float]] = {}
        for configuration in asked:
            key = _algorithm(configuration)
            if key not in laws:
                own = [i for i, run in enumerate(self.configurations) if _algorithm(run) == key]
                n = np.array([self.configurations[i].sizes["n"] for i in own], dtype=float)
                laws[key] = power_law(n, self.seconds[own])
        fitted = [laws[_algorithm(configuration)] for configuration in asked]
        return np.array([factor * c.sizes["n"] ** power for (factor, power), c in zip(fitted, asked, strict=True)])


def power_law(n: FloatArray, seconds: FloatArray) -> tuple[float, float]:
    """Factor and exponent of the law that fits best in logarithms.

    Examples
    --------
    >>> import numpy as np
    >>> factor, power = power_law(np.array([100.0, 200.0, 400.0]), np.array([1.0, 8.0, 64.0]))
    >>> round(power, 6), round(factor * 800**power, 6)
    (3.0, 512.0)
    """
    power, intercept = np.polyfit(np.log(n), np.log(seconds), 1)
    return float(np.exp(intercept)), float(power)


def small_configurations(asked: Sequence[Configuration], dtype: str) -> list[Configuration]:
    """The small runs for configurations: some sizes for every variant and block size."""
    found: dict[tuple[str, object], list[Configuration]] = {}
    for configuration in asked:
        key = _algorithm(configuration)
        if key not in found:
            same = [c.sizes for c in asked if _algorithm(c) == key]
            b = max(configuration.b) if isinstance(configuration.b, tuple) else configuration.b or 1
            found[key] = [_small(configuration, problem, dtype) for problem in _small_problems(same, b)]
    return [configuration for own in found.values() for configuration in own]


def _algorithm(configuration: Configuration) -> tuple[str, object]:
    """Variant and block size; LAPACK's own, which may depend on the size, is one."""
    own = configuration.variant.usual is not None
    return configuration.variant.name, None if own else configuration.b


def _small(like: Configuration, problem: Problem, dtype: str) -> Configuration:
    own = like.variant.usual is not None
    return Configuration(like.variant, problem, own_block_size(like.variant, problem, dtype) if own else like.b)


def _small_problems(problems: Sequence[Problem], b: int) -> list[Problem]:
    """Sizes of even ratio, from one block to below most of those asked about, of the shape of the largest."""
    largest = max(problems, key=lambda problem: sum(problem.values()))
    low = max(SMALLEST, b)
    high = max(2 * low, round(LARGEST_SHARE * largest["n"]))
    sizes: IntArray = np.unique(8 * np.rint(np.geomspace(low, high, SMALL_RUNS) / 8).astype(np.int64))
    return [
        {name: max(8, 8 * round(size * n / largest["n"] / 8)) for name, size in largest.items()} for n in sizes.tolist()
    ]
