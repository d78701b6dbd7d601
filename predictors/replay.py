"""Replays call sequences against models: the run times of whole algorithms, for whole sweeps at once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from blascast.algorithms import CallArray, Sequence
from blascast.models.evaluation.outside import Outside
from blascast.models.generation.need import Need
from blascast.models.generation.workload import Workload
from blascast.models.piecewise import Model, ModelKey
from blascast.models.sampling import case_of_call
from blascast.models.sizes.domain import STEP, Domain, merged
from blascast.models.summary import MEDIAN, STD

from .configurations import round_up
from .prediction import FloatArray, add_calls, total

# What estimates calls of a sequence: statistics of shape (n_calls, 5) in seconds, the relative error of each
# call's median, and a label that calls with a common cause of error share.
Estimated: TypeAlias = tuple[FloatArray, FloatArray, npt.NDArray[np.int64]]
Estimate: TypeAlias = Callable[[CallArray], Estimated]


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """What one statement of an algorithm contributes, by configuration.

    Parameters
    ----------
    label : str
        Kernel and case.
    calls : integer array of shape (n_configurations,)
    seconds : array of shape (n_configurations,)
        Median.
    flops : array of shape (n_configurations,)
    """

    label: str
    calls: npt.NDArray[np.int64]
    seconds: FloatArray
    flops: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """Predicted run times of a sequence.

    Parameters
    ----------
    sequence : Sequence
    statistics : array of shape (n_configurations, 5), seconds
    error : array of shape (n_configurations,)
        Standard error of the median, seconds, from the models' errors.
    shares : tuple of Share, one for each statement
    """

    sequence: Sequence
    statistics: FloatArray
    error: FloatArray
    shares: tuple[Share, ...]


def replay(sequence: Sequence, estimate: Estimate) -> Replay:
    """Predicts all configurations of a sequence.

    Errors of calls that one piece estimates are taken as one (they add), those of different pieces
    as independent (their squares add).
    """
    count = len(sequence.n)
    statistics, variances = np.zeros((count, 5)), np.zeros(count)
    shares = []
    for calls in sequence.calls:
        times, errors, causes = estimate(calls)
        statistics += add_calls(times, calls.times, calls.owner, count)
        variances += _variances(calls.times * times[:, MEDIAN] * errors, causes, calls.owner, count)
        shares.append(_share(calls, times, count))
    statistics[:, STD] = np.sqrt(statistics[:, STD])
    return Replay(sequence, statistics, np.sqrt(variances), tuple(shares))


def _variances(
    errors: FloatArray, causes: npt.NDArray[np.int64], owner: npt.NDArray[np.int64], count: int
) -> FloatArray:
    """Squares of the sums of errors with a common cause, summed over causes."""
    labels = causes - causes.min(initial=0)
    width = int(labels.max(initial=0)) + 1
    sums = np.bincount(owner * width + labels, weights=errors, minlength=count * width)
    return np.asarray((sums.reshape(count, width) ** 2).sum(axis=1))


def _share(calls: CallArray, times: FloatArray, count: int) -> Share:
    return Share(
        calls.label,
        total(calls.owner, calls.times, count).astype(np.int64),
        total(calls.owner, calls.times * times[:, MEDIAN], count),
        total(calls.owner, calls.times * calls.flops, count),
    )


def by_models(models: Mapping[ModelKey, Model], outside: Outside = "error") -> Estimate:
    """Estimates calls by kernel models, of which some may lie outside their domains; see `Model.evaluate`."""
    by_case = {(key.kernel, key.case): model for key, model in models.items()}

    def estimate(calls: CallArray) -> Estimated:
        if not len(calls.sizes):
            return np.zeros((0, 5)), np.zeros(0), np.zeros(0, dtype=np.int64)
        model = by_case[calls.kernel.name, calls.case]
        found = model.evaluate(calls.sizes, outside)
        return found.statistics, found.errors, found.pieces

    return estimate


def needs_of(sequences: list[Sequence]) -> list[Need]:
    """What sequences call for: for each case the domains and the calls."""
    first = np.cumsum([0, *(len(sequence.n) for sequence in sequences)])
    statements: dict[tuple[str, str], list[tuple[CallArray, int]]] = {}
    for sequence, offset in zip(sequences, first[:-1], strict=True):
        for calls in sequence.calls:
            if len(calls.sizes):
                statements.setdefault((calls.kernel.name, calls.case), []).append((calls, int(offset)))
    return [_need(group, int(first[-1])) for group in statements.values()]


def _need(statements: list[tuple[CallArray, int]], configurations: int) -> Need:
    sizes = np.concatenate([calls.sizes for calls, _ in statements])
    owner = np.concatenate([calls.owner + offset for calls, offset in statements])
    times = np.concatenate([calls.times for calls, _ in statements])
    domains = tuple(merged(_domain(calls.sizes) for calls, _ in statements))
    return Need(case_of_call(statements[0][0].call), domains, Workload(sizes, owner, configurations, times))


def _domain(sizes: npt.NDArray[np.int64]) -> Domain:
    """A box around sizes, widened to round bounds so that the next question finds it in the store."""
    lower = tuple(STEP if low >= STEP else 1 for low in sizes.min(axis=0))
    return Domain(lower, tuple(max(2 * STEP, round_up(int(high))) for high in sizes.max(axis=0)))
