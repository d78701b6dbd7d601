"""rank: which variant of an operation is fastest, each at its best block size or all at one."""

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from blascast.algorithms import Sequence, find_operation, trace
from blascast.predictors.configurations import (
    LARGEST_B,
    candidate_block_sizes,
    check_block_size,
    check_size,
)
from blascast.predictors.judging import ranking
from blascast.predictors.prediction import Times
from blascast.predictors.ranking import Candidate, best_candidate, rank_candidates, tie_classes
from blascast.predictors.replay import Replay
from blascast.predictors.verification import Verified
from blascast.sampler.batch.sample import State
from blascast.sampler.setup import Setup

from .effort import Spent, Tally
from .opening import AnswerOptions, open_source
from .origin import Origin
from .report import (
    Column,
    Report,
    core_sentence,
    efficiency,
    effort_sentences,
    milliseconds,
    noise_sentence,
    percent,
    setup_json,
)
from .source import Source


@dataclass(frozen=True, slots=True)
class RankedRow:
    """A variant in a ranking.

    Parameters
    ----------
    candidate : Candidate
    flops_per_second : float
        From the predicted median.
    efficiency : float or None
        None if the peak is not known.
    tie_class : int
        1 for the fastest and all that do not differ from it, and so on.
    measured : Times or None
    """

    candidate: Candidate
    flops_per_second: float
    efficiency: float | None
    tie_class: int
    measured: Times | None

    def to_json(self) -> dict[str, Any]:
        """As in the JSON of a ranking."""
        return {
            "variant": self.candidate.variant.number,
            "name": self.candidate.variant.name,
            "b": self.candidate.b,
            "time": self.candidate.times.to_json(),
            "error": self.candidate.error,
            "gflops": self.flops_per_second / 1e9,
            "efficiency": self.efficiency,
            "class": self.tie_class,
            "measured": self.measured.to_json() if self.measured else None,
        }


@dataclass(frozen=True, eq=False, repr=False)
class RankReport(Report):
    """A ranking.

    Parameters
    ----------
    operation : str
    n : int
    setup : Setup
    rows : tuple of RankedRow, best first
    noise_floor : float or None
        Relative difference between two measurements of the same thing.
    state : str
        Of the core that the times are for.
    verified : Verified or None
    tally : Tally
    spent : Spent
    sought : bool
        Whether each variant is at its own best block size.
    origin : Origin
        Of the models.
    """

    operation: str
    n: int
    setup: Setup
    rows: tuple[RankedRow, ...]
    noise_floor: float | None
    state: State
    verified: Verified | None
    tally: Tally
    spent: Spent
    sought: bool
    origin: Origin

    @property
    def title(self) -> str:
        """What was asked."""
        how = "each at its best block size" if self.sought else f"at block size {self.rows[0].candidate.b}"
        formula = find_operation(self.operation).formula
        return f"{self.operation} ({formula}), n = {self.n}, variants {how}: {self.setup}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        columns = [
            *(Column("class"), Column("variant"), Column("name", text=True), Column("b"), Column("time [ms]")),
            *(Column("± [%]"), Column("GFLOP/s"), Column("efficiency [%]")),
        ]
        return columns + ([Column("measured [ms]"), Column("error [%]")] if self.verified else [])

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [self._cells(row) for row in self.rows]

    def _cells(self, row: RankedRow) -> list[str]:
        candidate, median = row.candidate, row.candidate.times.median
        spread = (candidate.error**2 + candidate.times.std**2) ** 0.5 / median
        cells = [
            *(str(row.tie_class), str(candidate.variant.number), candidate.variant.name, str(candidate.b)),
            *(milliseconds(median), percent(spread), f"{row.flops_per_second / 1e9:.2f}", percent(row.efficiency)),
        ]
        if row.measured is not None:
            cells += [milliseconds(row.measured.median), f"{100 * (median / row.measured.median - 1):+.1f}"]
        return cells

    @property
    def remarks(self) -> list[str]:
        """Sentences below the table."""
        tied = sum(row.tie_class == 1 for row in self.rows)
        best = self.rows[0].candidate
        winner = f"Fastest: variant {best.variant.number} ({best.variant.name}), b = {best.b}"
        remarks = [winner + (f"; {tied - 1} more cannot be told from it." if tied > 1 else ".")]
        if self.sought and best.b == LARGEST_B:
            remarks.append(f"Its block size is the largest that was tried ({LARGEST_B}).")
        remarks.append(f"{noise_sentence(self.noise_floor)} {core_sentence(self.state)}")
        if self.verified:
            remarks.append("Measured: whole runs on restored operands, their calls timed one by one and added up.")
        if self.verified and self.verified.batch.state != self.state:
            remarks.append(
                f"The measurements are of a core that was {self.verified.batch.state}, the models of one that was "
                f"{self.state}: the errors include that difference."
            )
        return [*remarks, *self.origin.sentences, *effort_sentences(self.tally, self.spent)]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "operation": self.operation,
            "n": self.n,
            "setup": setup_json(self.setup),
            "rows": [row.to_json() for row in self.rows],
            "noise_floor": self.noise_floor,
            "state": self.state,
            "samples": self.tally.to_json(),
            "seconds": self.spent.to_json(),
            "origin": self.origin.to_json(),
        }


def rank(
    operation: str,
    n: int,
    *,
    b: int | None = None,
    verify: bool = False,
    **options: Unpack[AnswerOptions],
) -> RankReport:
    """Ranks the variants of an operation by predicted run time.

    Parameters
    ----------
    operation : str
        ``"cholesky"`` or ``"trinv"``.
    n : int
        Matrix size.
    b : int, optional
        Block size; by default each variant has its own best one.
    verify : bool
        Whether the ranked variants are measured as well, interleaved.
    **options
        Library, data type, threads and so on: the parameters of `Session`; or a setup's stored models,
        by `models` and `outside`: those of `open_source`.

    Returns
    -------
    RankReport

    Raises
    ------
    UsageError
        If a name or number is not valid.
    BlascastError
        If the library, a routine or the store fails.
    """
    variants = find_operation(operation).variants.values()
    n = check_size("n", n)
    sizes = [check_block_size(b, n)] if b is not None else candidate_block_sizes(n)
    with open_source(**options) as source:
        source.check_sizes([n])
        replays, state = _replays(source, [trace(variant, n, sizes) for variant in variants])
        candidates = rank_candidates([best_candidate(replay, n) for replay in replays])
        configurations = [(candidate.variant, candidate.n, candidate.b) for candidate in candidates]
        verified = source.verify(configurations, state) if verify else None
        return _report(source, operation, candidates, state, verified, sought=b is None)


def _replays(source: Source, sequences: list[Sequence]) -> tuple[list[Replay], State]:
    """Replays of the variants, as exact as the ranking needs."""
    variant = np.repeat(np.arange(len(sequences)), [len(sequence.n) for sequence in sequences])
    return source.replay(sequences, ranking(variant, source.parameters.answer_bound, source.noise_floor or 0.0))


def _report(
    source: Source,
    operation: str,
    candidates: list[Candidate],
    state: State,
    verified: Verified | None,
    sought: bool,
) -> RankReport:
    noise_floor = verified.batch.noise_floor if verified else source.noise_floor
    medians, errors = [c.times.median for c in candidates], [c.error for c in candidates]
    classes = tie_classes(medians, errors, noise_floor or 0.0)
    flops = find_operation(operation).flop_count(candidates[0].n)
    peak, rates = source.peak, [flops / median for median in medians]
    rows = tuple(
        RankedRow(
            candidate,
            rates[i],
            efficiency(rates[i], peak),
            tie_class,
            verified.times[i] if verified else None,
        )
        for i, (candidate, tie_class) in enumerate(zip(candidates, classes, strict=True))
    )
    return RankReport(
        operation,
        candidates[0].n,
        source.setup,
        rows,
        noise_floor,
        state,
        verified,
        source.tally,
        source.spent,
        sought,
        source.origin,
    )
