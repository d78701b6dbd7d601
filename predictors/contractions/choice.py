"""Which algorithm of a contraction is fastest: predicted one after another, as long as one may still be.

Algorithms that differ in the order of their loops make the same calls: repeated again and again, these
bound all of them from below, copies left out. Groups whose bound is far above the best prediction are
never looked into. In the others each algorithm's own repeated calls, and what it takes to fetch operands
from beyond the second-largest cache, tell in which order they are predicted, and where to stop.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from blascast.algorithms.contractions import Candidate, LoopAlgorithm

from .benchmarks import occurrences
from .measuring import Measurer, Timing
from .singles import Occurrence, repeated_calls
from .stages import Stage
from .states import Machine

ROUND = 8  # algorithms that are predicted at a time
CLEARLY = 1.3  # by this factor must an estimate from repeated calls be longer: some calls are quicker in an algorithm
UNLIKELY = 1.5  # by this factor must one that includes memory be longer

Basis: TypeAlias = Literal["repeated calls", "micro-benchmarks", "runs"]
Runner: TypeAlias = Callable[[Sequence[Candidate]], Sequence[tuple[float, float]]]


@dataclass(frozen=True, eq=False)
class Estimate:
    """The run time of an algorithm.

    Parameters
    ----------
    candidate : Candidate
    seconds, error : float
        Median, and its standard error; from repeated calls, a lower bound.
    basis : str
        What it comes from.
    """

    candidate: Candidate
    seconds: float
    error: float
    basis: Basis


@dataclass(frozen=True, eq=False)
class _Rough:
    """An algorithm before it is predicted."""

    estimate: Estimate
    found: list[Occurrence]  # what predicts it
    expected: float  # seconds, with memory

    @property
    def seconds(self) -> float:
        return self.estimate.seconds


def estimates(candidates: Iterable[Candidate], machine: Machine, measurer: Measurer) -> list[Estimate]:
    """The run times of algorithms, predicted ones first, the shortest first.

    Parameters
    ----------
    candidates : iterable of Candidate
    machine : Machine
    measurer : Measurer
    """
    all_of_them = list(candidates)
    if len(all_of_them) <= ROUND:
        found = [occurrences(own.nest.nest, machine) for own in all_of_them]
        return sorted(_predicted(all_of_them, found, measurer), key=lambda estimate: estimate.seconds)
    search = _Search(all_of_them, machine, measurer)
    for following in search.rounds():
        chosen, found = [rough.estimate.candidate for rough in following], [rough.found for rough in following]
        for rough, estimate in zip(following, _predicted(chosen, found, measurer), strict=True):
            search.settle(rough, estimate)
    return search.result()


def _predicted(
    chosen: Sequence[Candidate], found: Sequence[Sequence[Occurrence]], measurer: Measurer
) -> list[Estimate]:
    """Algorithms by their micro-benchmarks."""
    timings = measurer.timings(one.benchmark for own in found for one in own)
    totals = [total(own, timings) for own in found]
    return [Estimate(own, *both, "micro-benchmarks") for own, both in zip(chosen, totals, strict=True)]


def run_estimates(
    candidates: Iterable[Candidate], machine: Machine, measurer: Measurer, run: Runner, most: int
) -> list[Estimate]:
    """The run times of the most promising algorithms, which are run: those first, the shortest first.

    Parameters
    ----------
    candidates, machine, measurer
        As of `estimates`.
    run : callable
        Returns medians and their standard errors.
    most : int
        How many are run.
    """
    search = _Search(candidates, machine, measurer)
    following = search.promising()[:most]
    times = run([rough.estimate.candidate for rough in following])
    for rough, (seconds, error) in zip(following, times, strict=True):
        search.settle(rough, Estimate(rough.estimate.candidate, seconds, error, "runs"))
    return search.result()


def total(found: Iterable[Occurrence], timings: Mapping[str, Timing]) -> tuple[float, float]:
    """Sum of medians, and the standard error of it: calls of one micro-benchmark err as one."""
    seconds = variance = 0.0
    for occurrence in found:
        timing = timings[occurrence.benchmark.key]
        seconds += occurrence.count * timing.times.median
        variance += (occurrence.count * timing.error) ** 2
    return seconds, variance**0.5


class _Search:
    """What is known of algorithms: bounds of groups, rough estimates of those looked into, settled ones."""

    def __init__(self, candidates: Iterable[Candidate], machine: Machine, measurer: Measurer) -> None:
        self._machine, self._measurer = machine, measurer
        self._groups = self._bounded(_grouped(candidates))
        self._waiting: list[_Rough] = []
        self._settled: dict[int, tuple[_Rough, Estimate]] = {}

    def rounds(self) -> Iterator[list[_Rough]]:
        """Algorithms to be predicted next, until none that is left may be the fastest."""
        while True:
            self._look_into_groups()
            following = [rough for rough in self._waiting if self._may_be_best(rough) or not self._settled][:ROUND]
            if not following:
                return
            self._waiting = [rough for rough in self._waiting if rough not in following]
            yield following

    def promising(self) -> list[_Rough]:
        """Algorithms of the groups with the lowest bounds, the shortest expected first."""
        self._look_into_groups()
        return [rough for rough in self._waiting if rough.seconds < CLEARLY * self._least_expected]

    def settle(self, rough: _Rough, estimate: Estimate) -> None:
        """Keeps an algorithm's run time."""
        self._settled[id(rough.estimate.candidate)] = rough, estimate

    def result(self) -> list[Estimate]:
        """All that is known, settled ones first."""
        settled = sorted((estimate for _, estimate in self._settled.values()), key=lambda e: e.seconds)
        looked_into = [r.estimate for r in self._waiting if id(r.estimate.candidate) not in self._settled]
        others = [replace(bound, candidate=own) for bound, group in self._groups for own in group]
        return [*settled, *sorted((*looked_into, *others), key=lambda e: e.seconds)]

    # --- bounds

    def _bounded(self, groups: list[list[Candidate]]) -> list[tuple[Estimate, list[Candidate]]]:
        """Groups with their bounds, the lowest first."""
        found = [list(self._calls_of(group[0])) for group in groups]
        timings = self._measurer.timings(one.benchmark for own in found for one in own)
        bounds = [
            Estimate(group[0], *total(own, timings), "repeated calls") for own, group in zip(found, groups, strict=True)
        ]
        order = np.argsort([bound.seconds for bound in bounds], kind="stable")
        return [(bounds[i], groups[i]) for i in order]

    def _calls_of(self, candidate: Candidate) -> Iterator[Occurrence]:
        """The calls that all of its group make."""
        for loops, step in candidate.nest.nest.steps():
            if step.call.kernel is candidate.routine:
                yield from repeated_calls(loops, step, self._machine)

    def _look_into_groups(self) -> None:
        """Adds the algorithms of groups that may hold the fastest."""
        while self._groups and (self._count < ROUND or self._groups[0][0].seconds < CLEARLY * self._level):
            new = [self._groups.pop(0)]
            while self._groups and self._groups[0][0].seconds < CLEARLY * new[0][0].seconds:
                new.append(self._groups.pop(0))
            members = [candidate for _, group in new for candidate in group]
            self._waiting = sorted((*self._waiting, *self._rough(members)), key=lambda rough: rough.expected)

    def _rough(self, members: Sequence[Candidate]) -> list[_Rough]:
        machine = self._machine
        repeated = [occurrences(own.nest.nest, machine, Stage.REPEATED) for own in members]
        timings = self._measurer.timings(one.benchmark for own in repeated for one in own)
        rough = []
        for candidate, calls in zip(members, repeated, strict=True):
            found = occurrences(candidate.nest.nest, machine)
            seconds, error = total(calls, timings)
            expected = seconds + sum(occurrence.count * occurrence.benchmark.fetching for occurrence in found)
            rough.append(_Rough(Estimate(candidate, seconds, error, "repeated calls"), found, expected))
        return rough

    # --- decisions

    @property
    def _count(self) -> int:
        """How many algorithms were looked into."""
        return len(self._waiting) + len(self._settled)

    @property
    def _level(self) -> float:
        """What a bound is held against: the best, or what is expected of it."""
        return self._best if self._settled else self._least_expected

    @property
    def _best(self) -> float:
        return min((estimate.seconds for _, estimate in self._settled.values()), default=np.inf)

    @property
    def _least_expected(self) -> float:
        known = [*self._waiting, *(rough for rough, _ in self._settled.values())]
        return min((rough.expected for rough in known), default=np.inf)

    def _may_be_best(self, rough: _Rough) -> bool:
        return rough.seconds < CLEARLY * self._best and rough.expected < UNLIKELY * self._least_expected


def _grouped(candidates: Iterable[Candidate]) -> list[list[Candidate]]:
    """Algorithms that make the same calls in another order."""
    groups: dict[object, list[Candidate]] = {}
    for candidate in candidates:
        own = candidate.algorithm
        key = (candidate.family, own.mapping) if isinstance(own, LoopAlgorithm) else candidate
        groups.setdefault(key, []).append(candidate)
    return list(groups.values())
