"""What contract answers: the algorithms of a contraction, the fastest first."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from blascast.algorithms.contractions import KERNELS, Problem
from blascast.predictors.contractions.choice import Estimate

from ..report import Column, Report, efficiency, milliseconds, percent
from .evidence import Evidence
from .opponents import Opponent

MOST_SHOWN = 15
MOST_RUN = 12  # where the most promising are run instead of predicted


@dataclass(frozen=True, slots=True)
class ContractionRow:
    """An algorithm in a ranking.

    Parameters
    ----------
    estimate : Estimate
    flops_per_second : float
        From the median.
    efficiency : float or None
    tie_class : int
    measured : float or None
        Median of whole runs that verify it, seconds.
    """

    estimate: Estimate
    flops_per_second: float
    efficiency: float | None
    tie_class: int
    measured: float | None

    @property
    def name(self) -> str:
        """Of the algorithm."""
        return self.estimate.candidate.nest.name

    @property
    def seconds(self) -> float:
        """Median."""
        return self.estimate.seconds

    @property
    def relative_error(self) -> float:
        """Standard error over the median."""
        return self.estimate.error / self.estimate.seconds

    def to_json(self) -> dict[str, Any]:
        """As in the JSON of a ranking."""
        nest = self.estimate.candidate.nest
        return {
            "algorithm": nest.name,
            "family": self.estimate.candidate.family,
            "kernel": nest.kernel,
            "loops": list(nest.loops),
            "copied": list(nest.copied),
            "calls": nest.calls,
            "basis": self.estimate.basis,
            "time": self.seconds,
            "error": self.estimate.error,
            "gflops": self.flops_per_second / 1e9,
            "efficiency": self.efficiency,
            "class": self.tie_class,
            "measured": self.measured,
        }


@dataclass(frozen=True, eq=False, repr=False)
class ContractionReport(Report):
    """The algorithms of a contraction, the fastest first.

    Parameters
    ----------
    problem : Problem
    rows : tuple of ContractionRow
        Those that may be the fastest.
    others : tuple of Estimate
        The rest; lower bounds.
    opponents : tuple of Opponent
        Measured, if anything was.
    cost : float
        Seconds that the prediction took.
    repetitions : int
        How often algorithms are run where they are.
    evidence : Evidence
    """

    problem: Problem
    rows: tuple[ContractionRow, ...]
    others: tuple[Estimate, ...]
    opponents: tuple[Opponent, ...]
    cost: float
    repetitions: int
    evidence: Evidence

    @property
    def best(self) -> Estimate:
        """The first."""
        return self.rows[0].estimate

    @property
    def title(self) -> str:
        """What was asked."""
        sizes = ", ".join(f"{index} = {extent}" for index, extent in self.problem.extents.items())
        return f"{self.problem.contraction}, {sizes}: {self.evidence.setup}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        columns = [Column("class"), Column("algorithm", text=True, whole=True), Column("kernel", text=True)]
        columns += [Column("loops", text=True), Column("copies", text=True), Column("family", text=True)]
        columns += [Column("calls"), Column("time [ms]"), Column("± [%]"), Column("GFLOP/s"), Column("efficiency [%]")]
        return columns + [Column("measured [ms]"), Column("error [%]")] * self.is_verified

    @property
    def is_verified(self) -> bool:
        """Whether anything was measured beside its prediction."""
        return any(row.measured is not None for row in self.rows)

    def cells(self) -> list[list[str]]:
        """The printed rows; opponents last."""
        rows = [self._cells(row) for row in self.rows[:MOST_SHOWN]]
        return rows + [self._opponent_cells(opponent) for opponent in self.opponents]

    def _cells(self, row: ContractionRow) -> list[str]:
        nest = row.estimate.candidate.nest
        cells = [str(row.tie_class), nest.name, nest.kernel, " ".join(nest.loops) or "–", " ".join(nest.copied) or "–"]
        cells += [row.estimate.candidate.family, str(nest.calls), milliseconds(row.seconds)]
        cells += [percent(row.relative_error), f"{row.flops_per_second / 1e9:.2f}", percent(row.efficiency)]
        if self.is_verified:
            cells += ["–", "–"] if row.measured is None else [
                milliseconds(row.measured), f"{100 * (row.seconds / row.measured - 1):+.1f}",
            ]  # fmt: skip
        return cells

    def _opponent_cells(self, opponent: Opponent) -> list[str]:
        rate = self.flops / opponent.seconds
        cells = ["–", opponent.name, *["–"] * 3, "opponent", *["–"] * 3, f"{rate / 1e9:.2f}"]
        return [*cells, percent(efficiency(rate, self.evidence.peak)), milliseconds(opponent.seconds), "–"]

    @property
    def flops(self) -> float:
        """Floating-point operations of the contraction."""
        row = self.rows[0]
        return row.flops_per_second * row.seconds

    @property
    def remarks(self) -> list[str]:
        """Sentences below the table."""
        remarks = [self._counts]
        if len(self.rows) > MOST_SHOWN:
            remarks.append(f"{len(self.rows) - MOST_SHOWN} more were predicted (to_frame and --json have them).")
        if self.others:
            remarks.append(
                f"{len(self.others)} were left out: already their calls, repeated in the caches, or the memory that "
                "they access take clearly longer."
            )
        if self.best.basis == "runs":
            remarks.append("Times are medians of whole runs, interleaved: the most promising algorithms were run.")
        remarks.append(self._cost)
        running = self.repetitions * sum(row.seconds for row in self.rows[:MOST_RUN])
        if self.best.basis != "runs" and self.cost > running:
            remarks.append(
                "Running the most promising algorithms would have taken less than predicting them; --measure "
                "(measure=True) does that."
            )
        if self.opponents:
            remarks.append("Opponents ran in this process, with NumPy's own BLAS.")
        return [*remarks, *self.evidence.sentences]

    @property
    def _counts(self) -> str:
        kernels = Counter(estimate.candidate.kernel for estimate in self._all)
        counted = ", ".join(f"{kernels[kernel]} {kernel}" for kernel in KERNELS if kernels[kernel])
        return f"{len(self._all)} algorithms: {counted}."

    @property
    def _cost(self) -> str:
        median = float(np.median([estimate.seconds for estimate in self._all]))
        how = "Running them" if self.best.basis == "runs" else "The prediction"
        return (
            f"{how} took {self.cost:.1f} s; the best algorithm is to take {milliseconds(self.best.seconds)} ms, "
            f"the median one {'at least ' * bool(self.others)}{milliseconds(median)} ms."
        )

    @property
    def _all(self) -> list[Estimate]:
        return [*(row.estimate for row in self.rows), *self.others]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "contraction": str(self.problem.contraction),
            "sizes": dict(self.problem.extents),
            "rows": [row.to_json() for row in self.rows],
            "others": [{"algorithm": o.candidate.name, "at_least": o.seconds} for o in self.others],
            "opponents": [{"name": opponent.name, "measured": opponent.seconds} for opponent in self.opponents],
            "cost": self.cost,
            "evidence": [self.evidence.to_json()],
        }
