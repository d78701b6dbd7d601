"""rank: which variant of an operation is fastest, each at its best block size or all at one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from blascast.algorithms import Operation, Variant, find_operation, find_variant
from blascast.predictors.configurations import (
    BlockSize,
    Configuration,
    Problem,
    block_sizes,
    problems_of,
    several,
)
from blascast.predictors.crossovers import crossovers
from blascast.predictors.judging import ranking
from blascast.predictors.prediction import Times
from blascast.predictors.ranking import CONFIDENCE, Candidate, best_candidate, noise_or_assumed, tie_classes
from blascast.predictors.verification import Verified
from blascast.sampler.batch.sample import State
from blascast.sampler.errors import UsageError

from ..opening import ContestOptions, open_source, setups_of
from ..report import efficiency
from ..source import Source
from .evidence import Evidence
from .standings import Contender, RankedRow, RankReport, SweepReport


def rank(
    operation: str,
    n: int | Sequence[int],
    *,
    m: int | None = None,
    b: BlockSize | None = None,
    variants: Sequence[int | str] | None = None,
    verify: bool = False,
    library: str | Sequence[str] | None = None,
    threads: int | Sequence[int] | None = None,
    **options: Unpack[ContestOptions],
) -> RankReport | SweepReport:
    """Ranks the variants of an operation by predicted run time.

    Parameters
    ----------
    operation : str
        Such as ``"cholesky"``.
    n : int or sequence of int
        Matrix size, or sizes of a sweep.
    m : int, optional
        Rows of an operation on rectangular matrices; by default as n.
    b : int or pair of int, optional
        Block size; by default each variant has its own best one. LAPACK's own algorithms always have the
        block size that reference LAPACK gives them, and routines of the library theirs.
    variants : sequence of int or str, optional
        By default all that the library has the routines for.
    verify : bool
        Whether the ranked variants are measured as well, interleaved.
    library, threads : optional
        One or several: all of them compete.
    **options
        Data type and so on: the parameters of `Session`; or a setup's stored models, by `models` and
        `outside`: those of `open_source`.

    Returns
    -------
    RankReport or SweepReport
        For one size, or for several.

    Raises
    ------
    UsageError
        If a name or number is not valid.
    BlascastError
        If the library, a routine or the store fails.
    """
    chosen = find_operation(operation)
    problems = problems_of(chosen, several(n), m)
    named = [find_variant(operation, name) for name in variants] if variants is not None else None
    if named == []:
        raise UsageError("variants must hold at least one; leave it out for all")
    entries: list[_Entry] = []
    left_out: list[str] = []
    for where in setups_of(library, threads):
        with open_source(**{**options, **where}) as source:
            found, missing = _available(source, chosen, named)
            left_out += missing
            entries += _compete(source, found, problems, b, verify)
    rankings = [_ranking(chosen, problem, entries, b is None, tuple(left_out)) for problem in problems]
    return rankings[0] if several(n) == [n] else _sweep(rankings, entries)


@dataclass(frozen=True, eq=False)
class _Entry:
    """A contender with its best candidate for every problem, and what was measured of these."""

    contender: Contender
    candidates: list[Candidate]
    measured: list[Times | None]


def _available(source: Source, operation: Operation, named: list[Variant] | None) -> tuple[list[Variant], list[str]]:
    """The variants that the source can tell of, and sentences about the others."""
    found, missing = [], []
    for variant in named or operation.variants.values():
        if lacking := source.lacking(variant):
            missing.append(f"{variant}, as {lacking}")
        else:
            found.append(variant)
    if not found or (missing and named):
        raise UsageError(f"nothing is known of {missing[0]}. {source.remedy}")
    return found, [f"Left out: {what}." for what in missing]


def _compete(
    source: Source, variants: list[Variant], problems: list[Problem], b: BlockSize | None, verify: bool
) -> list[_Entry]:
    """The variants at their best block sizes on one setup."""
    source.check_sizes(find_operation(variants[0].operation), problems)
    dtype = source.setup.dtype
    asked = [
        [
            Configuration(variant, problem, size)
            for problem in problems
            for size in block_sizes(variant, problem, dtype, b)
        ]
        for variant in variants
    ]
    numbers = {tuple(problem.items()): number for number, problem in enumerate(problems)}
    problem_of = [[numbers[tuple(configuration.sizes.items())] for configuration in own] for own in asked]
    variant_of = np.repeat(np.arange(len(variants)), list(map(len, asked)))
    judge = ranking(
        np.concatenate(problem_of), variant_of, source.parameters.answer_bound, noise_or_assumed(source.noise_floor)
    )
    replays, state = source.replay(asked, judge)
    best = [
        [best_candidate(own, replay, np.flatnonzero(np.equal(of, i)).tolist()) for i in range(len(problems))]
        for own, replay, of in zip(asked, replays, problem_of, strict=True)
    ]
    nothing: list[list[Times | None]] = [[None] * len(problems)] * len(variants)
    measured = _measured(source, best, state) if verify else nothing
    evidence = Evidence.of_replay(source, state)
    return [
        _Entry(Contender(variant, evidence), candidates, times)
        for variant, candidates, times in zip(variants, best, measured, strict=True)
    ]


def _measured(source: Source, best: list[list[Candidate]], state: State) -> list[list[Times | None]]:
    """Measured times of candidates, those of one size interleaved."""
    columns: list[Verified] = [
        source.verify([candidate.configuration for candidate in candidates], state)
        for candidates in zip(*best, strict=True)
    ]
    return [list(times) for times in zip(*(verified.times for verified in columns), strict=True)]


def _ranking(
    operation: Operation, problem: Problem, entries: list[_Entry], sought: bool, left_out: tuple[str, ...]
) -> RankReport:
    index = [candidate.configuration.sizes for candidate in entries[0].candidates].index(problem)
    order = sorted(entries, key=lambda entry: entry.candidates[index].times.median)
    evidence = tuple(dict.fromkeys(entry.contender.evidence for entry in entries))
    candidates = [entry.candidates[index] for entry in order]
    noise = max(noise_or_assumed(e.noise_floor) for e in evidence)
    classes = tie_classes([c.times.median for c in candidates], [c.error for c in candidates], noise)
    flops = operation.flop_count(problem, evidence[0].setup.dtype)
    rows = []
    for entry, candidate, tie_class in zip(order, candidates, classes, strict=True):
        rate = float(flops) / candidate.times.median
        share = efficiency(rate, entry.contender.evidence.peak)
        rows.append(RankedRow(entry.contender, candidate, rate, share, tie_class, entry.measured[index]))
    return RankReport(operation, problem, tuple(rows), evidence, sought, left_out)


def _sweep(rankings: list[RankReport], entries: list[_Entry]) -> SweepReport:
    sizes = [ranking.problem["n"] for ranking in rankings]
    medians = np.array([[candidate.times.median for candidate in entry.candidates] for entry in entries]).T
    errors = np.array([[candidate.error for candidate in entry.candidates] for entry in entries]).T
    noise = max(noise_or_assumed(evidence.noise_floor) for evidence in rankings[0].evidence)
    order = np.argsort(sizes)
    found = crossovers(
        np.array(sizes)[order].tolist(),
        medians[order],
        np.hypot(errors, noise * medians / np.sqrt(2))[order],
        CONFIDENCE,
    )
    ordered = tuple(rankings[i] for i in order)
    return SweepReport(ordered, tuple(entry.contender for entry in entries), tuple(found))
