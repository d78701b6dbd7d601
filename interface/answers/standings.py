"""Standings: contenders in the order of their predicted run times, for one problem or a sweep of sizes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from blascast.algorithms import Operation, Variant
from blascast.models.summary import MEDIAN_ERROR
from blascast.predictors.configurations import LARGEST_B, Problem, described, shown
from blascast.predictors.crossovers import Crossover
from blascast.predictors.prediction import Times
from blascast.predictors.ranking import Candidate, noise_or_assumed, tie_classes
from blascast.predictors.verification import REPETITIONS

from ..report import Column, Report, milliseconds, percent
from .evidence import Evidence

MEASURED = "Measured: whole runs on restored operands, their calls timed one by one and added up."


@dataclass(frozen=True, slots=True)
class Contender:
    """What competes: a variant on a setup.

    Parameters
    ----------
    variant : Variant
    evidence : Evidence
        What its times rest on.
    """

    variant: Variant
    evidence: Evidence

    @property
    def setup_label(self) -> str:
        """Library and threads, in short."""
        setup = self.evidence.setup
        return f"{setup.library.name}, {setup.threads} thread{'s' * (setup.threads != 1)}"


@dataclass(frozen=True, slots=True)
class RankedRow:
    """A contender in a ranking.

    Parameters
    ----------
    contender : Contender
    candidate : Candidate
    flops_per_second : float
        From the predicted median.
    efficiency : float or None
        None if the peak is not known.
    tie_class : int
        1 for the fastest and all that do not differ from it, and so on.
    measured : Times or None
    """

    contender: Contender
    candidate: Candidate
    flops_per_second: float
    efficiency: float | None
    tie_class: int
    measured: Times | None

    @property
    def spread(self) -> float:
        """Standard error of the model and scatter of the run time together, relative."""
        return float(np.hypot(self.candidate.error, self.candidate.times.std)) / self.candidate.times.median

    def to_json(self) -> dict[str, Any]:
        """As in the JSON of a ranking."""
        configuration, setup = self.candidate.configuration, self.contender.evidence.setup
        return {
            **configuration.to_json(),
            "name": configuration.variant.title,
            "library": setup.library.name,
            "threads": setup.threads,
            "time": self.candidate.times.to_json(),
            "error": self.candidate.error,
            "gflops": self.flops_per_second / 1e9,
            "efficiency": self.efficiency,
            "class": self.tie_class,
            "measured": self.measured.to_json() if self.measured else None,
        }


@dataclass(frozen=True, eq=False, repr=False)
class RankReport(Report):
    """A ranking for one problem.

    Parameters
    ----------
    operation : Operation
    problem : mapping
        Sizes by name.
    rows : tuple of RankedRow, best first
    evidence : tuple of Evidence, one for each setup
    sought : bool
        Whether each variant is at its own best block size.
    left_out : tuple of str
        What could not be ranked, and why.
    """

    operation: Operation
    problem: Problem
    rows: tuple[RankedRow, ...]
    evidence: tuple[Evidence, ...]
    sought: bool
    left_out: tuple[str, ...]

    @property
    def title(self) -> str:
        """What was asked."""
        return _title(self.operation, described(self.problem), self)

    @property
    def verified(self) -> bool:
        """Whether the contenders were measured too."""
        return any(row.measured for row in self.rows)

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        columns = [Column("class"), Column("variant", text=True), Column("name", text=True)]
        columns += [Column("setup", text=True)] * (len(self.evidence) > 1)
        columns += [Column("b"), Column("time [ms]"), Column("± [%]"), Column("GFLOP/s"), Column("efficiency [%]")]
        return columns + ([Column("measured [ms]"), Column("error [%]")] if self.verified else [])

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [self._cells(row) for row in self.rows]

    def _cells(self, row: RankedRow) -> list[str]:
        variant, median = row.contender.variant, row.candidate.times.median
        cells = [str(row.tie_class), variant.name, variant.title]
        cells += [row.contender.setup_label] * (len(self.evidence) > 1)
        cells += [shown(row.candidate.configuration.b), milliseconds(median), percent(row.spread)]
        cells += [f"{row.flops_per_second / 1e9:.2f}", percent(row.efficiency)]
        if row.measured is not None:
            cells += [milliseconds(row.measured.median), f"{100 * (median / row.measured.median - 1):+.1f}"]
        return cells

    @property
    def remarks(self) -> list[str]:
        """Sentences below the table."""
        tied = sum(row.tie_class == 1 for row in self.rows)
        best = self.rows[0]
        winner = f"Fastest: {_named(best, len(self.evidence) > 1)}"
        remarks = [winner + (f"; {tied - 1} more cannot be told from it." if tied > 1 else ".")]
        if self.sought and best.candidate.configuration.b == LARGEST_B:
            remarks.append(f"Its block size is the largest that was tried ({LARGEST_B}).")
        if self.verified:
            remarks.append(MEASURED)
        return [*remarks, *self.left_out, *_evidence_sentences(self.evidence)]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "operation": self.operation.name,
            **self.problem,
            "rows": [row.to_json() for row in self.rows],
            "left_out": list(self.left_out),
            "evidence": [evidence.to_json() for evidence in self.evidence],
        }


@dataclass(frozen=True, eq=False, repr=False)
class SweepReport(Report):
    """Rankings over a sweep of sizes.

    Parameters
    ----------
    rankings : tuple of RankReport, by size
    contenders : tuple of Contender
    crossovers : tuple of Crossover
        Between contenders, by their indices.
    """

    rankings: tuple[RankReport, ...]
    contenders: tuple[Contender, ...]
    crossovers: tuple[Crossover, ...]

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What all rankings rest on."""
        return self.rankings[0].evidence

    @property
    def title(self) -> str:
        """What was asked."""
        first, last = self.rankings[0].problem["n"], self.rankings[-1].problem["n"]
        return _title(self.rankings[0].operation, f"n = {first} .. {last}", self.rankings[0])

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        columns = [Column(name) for name in self.rankings[0].problem]
        columns += [Column("fastest", text=True), Column("b"), Column("time [ms]"), Column("± [%]"), Column("GFLOP/s")]
        columns += [Column("efficiency [%]"), Column("tied with", text=True), Column("next", text=True)]
        return columns + ([Column("error [%]"), Column("fastest measured", text=True)] if self._verified else [])

    @property
    def _verified(self) -> bool:
        return any(ranking.verified for ranking in self.rankings)

    def cells(self) -> list[list[str]]:
        """The printed rows, one for each size."""
        return [self._cells(ranking) for ranking in self.rankings]

    def _cells(self, ranking: RankReport) -> list[str]:
        best, several = ranking.rows[0], len(self.evidence) > 1
        median = best.candidate.times.median
        tied = [_label(row, several) for row in ranking.rows[1:] if row.tie_class == 1]
        slower = next((row for row in ranking.rows if row.tie_class > 1), None)
        cells = [*map(str, ranking.problem.values()), _label(best, several), shown(best.candidate.configuration.b)]
        cells += [milliseconds(median), percent(best.spread), f"{best.flops_per_second / 1e9:.2f}"]
        cells += [percent(best.efficiency), ", ".join(tied) or "–"]
        cells.append(
            f"{_label(slower, several)} +{percent(slower.candidate.times.median / median - 1)} %" if slower else "–"
        )
        if best.measured is not None:
            fastest = ", ".join(_label(row, several) for row in _fastest_measured(ranking))
            cells += [f"{100 * (median / best.measured.median - 1):+.1f}", fastest]
        return cells

    @property
    def remarks(self) -> list[str]:
        """Sentences below the table."""
        several = len(self.evidence) > 1
        remarks = [
            f"{_contender(self.contenders[c.before], several)} is the fastest, or tied with it, up to n = {c.low:.0f}; "
            f"from n = {c.high:.0f} on {_contender(self.contenders[c.after], several)} is faster for certain; "
            f"they are equal at about n = {c.at:.0f}."
            for c in self.crossovers
        ]
        if not self.crossovers:
            leader = _label(self.rankings[0].rows[0], several)
            remarks.append(f"No crossover: nothing is faster than {leader} for certain at any size.")
        if self._verified:
            remarks.append(MEASURED)
        return [*remarks, *self.rankings[0].left_out, *_evidence_sentences(self.evidence)]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "operation": self.rankings[0].operation.name,
            "rows": [row.to_json() for ranking in self.rankings for row in ranking.rows],
            "crossovers": [
                {
                    "before": self._identity(c.before),
                    "after": self._identity(c.after),
                    **{"at": c.at, "low": c.low, "high": c.high},
                }
                for c in self.crossovers
            ],
            "left_out": list(self.rankings[0].left_out),
            "evidence": [evidence.to_json() for evidence in self.evidence],
        }

    def _identity(self, index: int) -> dict[str, Any]:
        contender = self.contenders[index]
        setup = contender.evidence.setup
        return {"variant": contender.variant.name, "library": setup.library.name, "threads": setup.threads}


def _title(operation: Operation, sizes: str, report: RankReport) -> str:
    b = next((row.candidate.configuration.b for row in report.rows if row.contender.variant.usual is None), None)
    how = "each at its best block size" if report.sought else f"at block size {shown(b)}"
    setups = "; ".join(str(evidence.setup) for evidence in report.evidence)
    return f"{operation.name} ({operation.formula}), {sizes}, variants {how}: {setups}"


def _label(row: RankedRow, several: bool) -> str:
    return _contender(row.contender, several)


def _contender(contender: Contender, several: bool) -> str:
    return f"{contender.variant.name} ({contender.setup_label})" if several else contender.variant.name


def _named(row: RankedRow, several: bool) -> str:
    """A row in a sentence."""
    variant, b = row.contender.variant, row.candidate.configuration.b
    where = f" with {row.contender.setup_label}" if several else ""
    return f"variant {variant.name} ({variant.title}){where}" + ("" if b is None else f", b = {shown(b)}")


def _fastest_measured(ranking: RankReport) -> list[RankedRow]:
    """The rows whose measured times cannot be told from the shortest: standard errors of medians, and noise."""
    rows = sorted((row for row in ranking.rows if row.measured), key=_measured_median)
    medians = [_measured_median(row) for row in rows]
    errors = [MEDIAN_ERROR * row.measured.std / REPETITIONS**0.5 for row in rows if row.measured]
    noise = noise_or_assumed(min((e.noise_floor for e in ranking.evidence if e.noise_floor), default=None))
    classes = tie_classes(medians, errors, noise)
    return [row for row, tie_class in zip(rows, classes, strict=True) if tie_class == 1]


def _measured_median(row: RankedRow) -> float:
    assert row.measured is not None
    return row.measured.median


def _evidence_sentences(evidence: tuple[Evidence, ...]) -> list[str]:
    """What there is to say of each setup, named where there are several."""
    if len(evidence) == 1:
        return evidence[0].sentences
    return [f"{e.setup.library.name}, {e.setup.threads} thread(s): {' '.join(e.sentences)}" for e in evidence]
