"""contract: which algorithm of a tensor contraction is fastest."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from blascast.algorithms.contractions import KERNELS, Problem, candidates, check_extents, parse_contraction
from blascast.algorithms.contractions.problem import Order
from blascast.predictors.contractions.choice import Estimate, estimates
from blascast.predictors.contractions.measuring import Measurer
from blascast.predictors.ranking import noise_or_assumed, tie_classes
from blascast.sampler.batch.sample import State
from blascast.sampler.errors import UsageError, unknown
from blascast.sampler.job import Job
from blascast.sampler.kernel import flop_factor
from blascast.sampler.resources import available_memory

from ..report import Column, Report, efficiency, milliseconds, percent
from ..session import Session, SessionOptions
from .evidence import Evidence

MOST_SHOWN = 15
VERIFIED = 5
REPETITIONS = 5


@dataclass(frozen=True, slots=True)
class ContractionRow:
    """An algorithm in a ranking.

    Parameters
    ----------
    estimate : Estimate
    flops_per_second : float
        From the predicted median.
    efficiency : float or None
    tie_class : int
    measured : float or None
        Median of whole runs, seconds.
    """

    estimate: Estimate
    flops_per_second: float
    efficiency: float | None
    tie_class: int
    measured: float | None

    def to_json(self) -> dict[str, Any]:
        """As in the JSON of a ranking."""
        nest = self.estimate.nest
        return {
            "algorithm": nest.name,
            "family": self.estimate.family,
            "kernel": nest.kernel,
            "loops": list(nest.loops),
            "copied": list(nest.copied),
            "calls": nest.calls,
            "time": self.estimate.seconds,
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
        The rest, as if their calls were repeated.
    cost : float
        Seconds that the prediction took.
    evidence : Evidence
    """

    problem: Problem
    rows: tuple[ContractionRow, ...]
    others: tuple[Estimate, ...]
    cost: float
    evidence: Evidence

    @property
    def title(self) -> str:
        """What was asked."""
        sizes = ", ".join(f"{index} = {extent}" for index, extent in self.problem.extents.items())
        return f"{self.problem.contraction}, {sizes}: {self.evidence.setup}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        columns = [Column("class"), Column("algorithm", text=True, whole=True), Column("family", text=True)]
        columns += [Column("calls"), Column("time [ms]"), Column("± [%]"), Column("GFLOP/s"), Column("efficiency [%]")]
        return columns + [Column("measured [ms]"), Column("error [%]")] * self._is_verified

    @property
    def _is_verified(self) -> bool:
        return any(row.measured is not None for row in self.rows)

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [self._cells(row) for row in self.rows[:MOST_SHOWN]]

    def _cells(self, row: ContractionRow) -> list[str]:
        estimate = row.estimate
        cells = [str(row.tie_class), estimate.nest.name, estimate.family, str(estimate.nest.calls)]
        cells += [milliseconds(estimate.seconds), percent(estimate.error / estimate.seconds)]
        cells += [f"{row.flops_per_second / 1e9:.2f}", percent(row.efficiency)]
        if self._is_verified:
            cells += ["–", "–"] if row.measured is None else [
                milliseconds(row.measured), f"{100 * (estimate.seconds / row.measured - 1):+.1f}",
            ]  # fmt: skip
        return cells

    @property
    def remarks(self) -> list[str]:
        """Sentences below the table."""
        kernels = Counter(estimate.nest.kernel for estimate in self._all)
        counted = ", ".join(f"{kernels[kernel]} {kernel}" for kernel in KERNELS if kernels[kernel])
        median = float(np.median([estimate.seconds for estimate in self._all]))
        remarks = [f"{len(self._all)} algorithms: {counted}."]
        if len(self.rows) > MOST_SHOWN:
            remarks.append(f"{len(self.rows) - MOST_SHOWN} more were predicted (to_frame and --json have them).")
        if self.others:
            remarks.append(
                f"{len(self.others)} cannot be the fastest: their calls, repeated in the caches, take longer already."
            )
        remarks.append(
            f"The prediction took {self.cost:.1f} s; the best algorithm is to take "
            f"{milliseconds(self.rows[0].estimate.seconds)} ms, the median one {milliseconds(median)} ms."
        )
        if self.cost > sum(row.estimate.seconds for row in self.rows) * REPETITIONS:
            remarks.append("Running the algorithms of this table would have taken less than predicting them.")
        return [*remarks, *self.evidence.sentences]

    @property
    def _all(self) -> list[Estimate]:
        return [*(row.estimate for row in self.rows), *self.others]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "contraction": str(self.problem.contraction),
            "sizes": dict(self.problem.extents),
            "rows": [row.to_json() for row in self.rows],
            "others": [{"algorithm": other.nest.name, "repeated": other.seconds} for other in self.others],
            "cost": self.cost,
            "evidence": [self.evidence.to_json()],
        }


def rank_contraction(
    contraction: str,
    sizes: Mapping[str, int],
    *,
    kernels: Sequence[str] | None = None,
    order: Order = "F",
    verify: bool = False,
    **options: Unpack[SessionOptions],
) -> ContractionReport:
    """Ranks the algorithms of a contraction by predicted run time.

    Parameters
    ----------
    contraction : str
        Such as ``"abc=ai,ibc"`` or ``"ai,ibc->abc"``.
    sizes : mapping
        By index.
    kernels : sequence of str, optional
        By default all: dot, axpy, gemv, ger, gemm, and ttgt (one gemm on transposed copies).
    order : str
        Whether the first (``"F"``) or the last index (``"C"``) of the tensors is contiguous.
    verify : bool
        Whether the fastest are measured as well, interleaved.
    **options
        Library, data type, threads and so on: the parameters of `Session`.

    Returns
    -------
    ContractionReport

    Raises
    ------
    UsageError
        If a name or number is not valid.
    BlascastError
        If the library, a routine or the store fails.
    """
    parsed = parse_contraction(contraction)
    problem = Problem.contiguous(parsed, check_extents(parsed, sizes), order)
    return rank_problem(problem, kernels, verify, **options)


def rank_problem(
    problem: Problem, kernels: Sequence[str] | None = None, verify: bool = False, **options: Unpack[SessionOptions]
) -> ContractionReport:
    """The same for tensors of any layout; see `rank_contraction`."""
    chosen = frozenset(KERNELS if kernels is None else kernels)
    for kernel in sorted(chosen - set(KERNELS)):
        raise unknown("kernel of contractions", kernel, KERNELS)
    began = time.perf_counter()
    with Session(**options) as session:
        setup = session.setup
        check_memory(problem, setup.item_bytes)
        found = list(candidates(problem, setup.dtype, chosen))
        if not found:
            raise UsageError(
                f"{problem.contraction} has no algorithm with the kernels {', '.join(sorted(chosen)) or '(none)'}: it "
                "lacks the indices that they need; name others, or multiply elementwise (A * B)"
            )
        measurer = Measurer(session.sampler, session.store, session.on_progress)
        known = estimates(found, setup.dtype, setup.item_bytes, setup.machine.caches, measurer)
        session.account(measurer.batches)
        cost = time.perf_counter() - began
        finalists = [estimate for estimate in known if estimate.refined][:VERIFIED] if verify else []
        measured = _measured(session, finalists, measurer.state) if finalists else []
        evidence = Evidence.of(session, measurer.state)
    others = tuple(estimate for estimate in known if not estimate.refined)
    return ContractionReport(problem, _rows(problem, known, measured, evidence), others, cost, evidence)


def _rows(
    problem: Problem, known: Sequence[Estimate], measured: Sequence[float], evidence: Evidence
) -> tuple[ContractionRow, ...]:
    refined = [estimate for estimate in known if estimate.refined]
    noise = noise_or_assumed(evidence.noise_floor)
    classes = tie_classes([e.seconds for e in refined], [e.error for e in refined], noise)
    flops = problem.flops * flop_factor(evidence.setup.dtype)
    return tuple(
        ContractionRow(
            estimate,
            flops / estimate.seconds,
            efficiency(flops / estimate.seconds, evidence.peak),
            tie_class,
            measured[place] if place < len(measured) else None,
        )
        for place, (estimate, tie_class) in enumerate(zip(refined, classes, strict=True))
    )


def check_memory(problem: Problem, item_bytes: int) -> None:
    """Refuses tensors that would not fit into memory.

    Raises
    ------
    UsageError
        If they would not.
    """
    needed = item_bytes * sum(problem.span(name) for name in ("A", "B", "C"))
    if needed > available_memory():
        raise UsageError(
            f"{problem.contraction} needs {needed / 1e9:.3g} GB for its tensors, {available_memory() / 1e9:.3g} GB of "
            "memory are available; choose smaller sizes"
        )


def _measured(session: Session, finalists: Sequence[Estimate], state: State) -> list[float]:
    """Medians of whole runs, interleaved."""
    jobs = [Job((), (e.nest.nest,), precondition="in sequence", buffers=e.nest.buffers) for e in finalists]
    batch = session.sampler.measure(jobs, REPETITIONS, state=state, label="verifying", on_progress=session.on_progress)
    session.account_verification(batch)
    return [float(np.median(measurement.seconds)) for measurement in batch.measurements]
