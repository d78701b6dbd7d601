"""rank: which variant of an operation is fastest, each at its best block size or all at one."""

import time
from dataclasses import dataclass, replace
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
from blascast.predictors.verification import Verified, verify
from blascast.sampler.batch.sample import State
from blascast.sampler.setup import Setup

from .report import Column, Report, core_sentence, effort_sentences, milliseconds, noise_sentence, percent, setup_json
from .session import Session, SessionOptions, Spent, Tally


@dataclass(frozen=True, slots=True)
class RankedRow:
    """A variant in a ranking.

    Parameters
    ----------
    candidate : Candidate
    flops_per_second, efficiency : float
        From the predicted median.
    tie_class : int
        1 for the fastest and all that do not differ from it, and so on.
    measured : Times or None
    """

    candidate: Candidate
    flops_per_second: float
    efficiency: float
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
        return [*remarks, *effort_sentences(self.tally, self.spent)]

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
        }


def rank(
    operation: str,
    n: int,
    *,
    b: int | None = None,
    verify: bool = False,
    **options: Unpack[SessionOptions],
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
        Library, data type, threads and so on: the parameters of `Session`.

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
    with Session(**options) as session:
        session.check_sizes([n])
        replays, state = _replays(session, [trace(variant, n, sizes) for variant in variants])
        candidates = rank_candidates([best_candidate(replay, n) for replay in replays])
        verified = _verify(session, candidates, state) if verify else None
        return _report(session, operation, candidates, state, verified, sought=b is None)


def _replays(session: Session, sequences: list[Sequence]) -> tuple[list[Replay], State]:
    """Replays of the variants, as exact as the ranking needs."""
    variant = np.repeat(np.arange(len(sequences)), [len(sequence.n) for sequence in sequences])
    return session.replay(sequences, ranking(variant, session.parameters.answer_bound, session.noise_floor or 0.0))


def _verify(session: Session, candidates: list[Candidate], state: State) -> Verified:
    began = time.perf_counter()
    configurations = [(candidate.variant, candidate.n, candidate.b) for candidate in candidates]
    verified = verify(session.sampler, configurations, state=state, on_progress=session.on_progress)
    session.spent = replace(session.spent, verification=time.perf_counter() - began)
    session.tally = session.tally.plus(verified.batch)
    return verified


def _report(
    session: Session,
    operation: str,
    candidates: list[Candidate],
    state: State,
    verified: Verified | None,
    sought: bool,
) -> RankReport:
    noise_floor = verified.batch.noise_floor if verified else session.noise_floor
    medians, errors = [c.times.median for c in candidates], [c.error for c in candidates]
    classes = tie_classes(medians, errors, noise_floor or 0.0)
    flops = find_operation(operation).flop_count(candidates[0].n)
    peak = session.peak
    rows = tuple(
        RankedRow(
            candidate,
            flops / candidate.times.median,
            flops / candidate.times.median / peak,
            tie_class,
            verified.times[i] if verified else None,
        )
        for i, (candidate, tie_class) in enumerate(zip(candidates, classes, strict=True))
    )
    return RankReport(
        operation,
        candidates[0].n,
        session.sampler.setup,
        rows,
        noise_floor,
        state,
        verified,
        session.tally,
        session.spent,
        sought,
    )
