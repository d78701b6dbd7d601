"""blocksize: the best block size of a variant for every size of a sweep."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from blascast.algorithms import Variant, find_operation, find_variant
from blascast.predictors.blocksize import Curve, curves
from blascast.predictors.configurations import (
    B_STEP,
    LARGEST_B,
    SMALLEST_B,
    USUAL_B,
    Configuration,
    Problem,
    candidate_block_sizes,
    check_size,
    problems_of,
    several,
)
from blascast.predictors.judging import block_sizes as judge_of
from blascast.predictors.prediction import Times
from blascast.predictors.replay import Replay
from blascast.sampler.batch.sample import State
from blascast.sampler.errors import UsageError

from ..opening import AnswerOptions, open_source
from ..report import Column, Report, milliseconds, percent
from ..source import Source
from .evidence import Evidence


@dataclass(frozen=True, slots=True, eq=False)
class BlocksizeRow:
    """The best block size for one problem.

    Parameters
    ----------
    curve : Curve
    fixed : int
        The block size that it is compared with.
    measured : mapping or None
        Measured times by block size: of the best, of the ends of the range within 1 % of it, and of the fixed one.
    """

    curve: Curve
    fixed: int
    measured: dict[int, Times] | None

    @property
    def b(self) -> int:
        """The best one."""
        return int(self.curve.b[self.curve.best])

    @property
    def seconds(self) -> float:
        """Predicted median at the best one."""
        return float(self.curve.seconds[self.curve.best])

    @property
    def measured_yield(self) -> float | None:
        """Performance at the predicted best one over that at the best one that was measured."""
        if self.measured is None:
            return None
        return min(times.median for times in self.measured.values()) / self.measured[self.b].median

    def to_json(self) -> dict[str, Any]:
        """As in the JSON of the report."""
        low, high = self.curve.plateau
        return {
            **self.curve.problem,
            **{"b": self.b, "low": low, "high": high, "time": self.seconds},
            "error": float(self.curve.errors[self.curve.best]),
            **{"fixed": self.fixed, "loss": self.curve.loss(self.fixed)},
            "measured": None
            if self.measured is None
            else {str(b): times.to_json() for b, times in sorted(self.measured.items())},
            "yield": self.measured_yield,
        }


@dataclass(frozen=True, eq=False, repr=False)
class BlocksizeReport(Report):
    """Best block sizes.

    Parameters
    ----------
    variant : Variant
    rows : tuple of BlocksizeRow, one for each problem
    replay : Replay
        All sizes and block sizes that were compared.
    evidence : Evidence
    """

    variant: Variant
    rows: tuple[BlocksizeRow, ...]
    replay: Replay
    evidence: Evidence

    @property
    def title(self) -> str:
        """What was asked."""
        return f"best block sizes of {self.variant}: {self.evidence.setup}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        columns = [Column(name) for name in self.rows[0].curve.problem]
        columns += [Column("best b"), Column("within 1 %"), Column("time [ms]"), Column("± [%]")]
        columns.append(Column(f"loss of {self.rows[0].fixed} [%]"))
        if self._verified:
            columns += [Column("measured [ms]"), Column("error [%]"), Column("measured loss [%]"), Column("yield [%]")]
        return columns

    @property
    def _verified(self) -> bool:
        return self.rows[0].measured is not None

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [self._cells(row) for row in self.rows]

    def _cells(self, row: BlocksizeRow) -> list[str]:
        low, high = row.curve.plateau
        error = float(row.curve.errors[row.curve.best]) / row.seconds
        cells = [*map(str, row.curve.problem.values()), str(row.b), f"{low}..{high}", milliseconds(row.seconds)]
        cells += [percent(error), percent(row.curve.loss(row.fixed))]
        if row.measured is not None:
            best, fixed = row.measured[row.b].median, row.measured[min(row.fixed, int(row.curve.b[-1]))].median
            cells += [milliseconds(best), f"{100 * (row.seconds / best - 1):+.1f}", percent(fixed / best - 1)]
            cells.append(percent(row.measured_yield))
        return cells

    @property
    def remarks(self) -> list[str]:
        """Sentences below the table."""
        errors = np.concatenate([row.curve.errors / row.curve.seconds for row in self.rows])
        remarks = [
            f"Block sizes compared: multiples of {B_STEP} from {SMALLEST_B} to {LARGEST_B}. "
            f"Model error {percent(float(np.median(errors)))} % (median): losses below it are none.",
        ]
        at_the_end = [row.curve.problem["n"] for row in self.rows if row.curve.b[row.curve.best] == LARGEST_B]
        if beyond := [n for n in at_the_end if n > LARGEST_B]:
            remarks.append(
                f"For n = {', '.join(map(str, beyond))} the best is the largest compared: larger may be better."
            )
        if unblocked := [n for row in self.rows if (n := row.curve.problem["n"]) < row.fixed]:
            remarks.append(f"For n = {', '.join(map(str, unblocked))} the fixed block size means unblocked.")
        if self._verified:
            remarks.append(
                "Measured: the best block size, the ends of its range, and the fixed one, interleaved; the yield is "
                "the performance at the predicted best over that at the best of these."
            )
        return [*remarks, *self.evidence.sentences]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "operation": self.variant.operation,
            "variant": self.variant.name,
            "rows": [row.to_json() for row in self.rows],
            "evidence": [self.evidence.to_json()],
        }


def blocksize(
    operation: str,
    variant: int | str,
    n: int | Sequence[int],
    *,
    m: int | None = None,
    fixed: int = USUAL_B,
    verify: bool = False,
    **options: Unpack[AnswerOptions],
) -> BlocksizeReport:
    """Finds the best block size of a variant.

    Parameters
    ----------
    operation : str
    variant : int or str
    n : int or sequence of int
        Matrix sizes.
    m : int, optional
        Rows of an operation on rectangular matrices; by default as n.
    fixed : int
        A block size to compare the best ones with.
    verify : bool
        Whether some block sizes are measured as well, interleaved.
    **options
        Library, data type, threads and so on: the parameters of `Session`; or a setup's stored models,
        by `models` and `outside`: those of `open_source`.

    Returns
    -------
    BlocksizeReport

    Raises
    ------
    UsageError
        If a name or number is not valid.
    BlascastError
        If the library, a routine or the store fails.
    """
    chosen = find_variant(operation, variant)
    if not chosen.block_sizes:
        raise UsageError(f"{chosen} has a block size of its own that cannot be chosen; name another variant")
    problems = problems_of(find_operation(operation), several(n), m)
    fixed = check_size("the fixed block size", fixed)
    with open_source(**options) as source:
        found, replay, state = compare_block_sizes(source, chosen, problems, fixed=fixed)
        measured = [_measured(source, chosen, curve, fixed, state) if verify else None for curve in found]
        rows = tuple(BlocksizeRow(curve, fixed, times) for curve, times in zip(found, measured, strict=True))
        return BlocksizeReport(chosen, rows, replay, Evidence.of_replay(source, state))


def compare_block_sizes(
    source: Source,
    variant: Variant,
    problems: Sequence[Problem],
    further: Sequence[Configuration] = (),
    fixed: int = USUAL_B,
) -> tuple[list[Curve], Replay, State]:
    """The curve of each problem; the replay that they are of, in which further configurations are last.

    Raises
    ------
    UsageError
        If the library lacks a routine, or a size is too large.
    """
    operation = find_operation(variant.operation)
    if lacking := source.lacking(variant):
        raise UsageError(f"{variant} cannot be predicted, as {lacking}. {source.remedy}")
    source.check_sizes(operation, problems)
    asked = [Configuration(variant, problem, b) for problem in problems for b in _compared(problem, fixed)]
    everything = [*asked, *further]
    numbers = {tuple(problem.items()): number for number, problem in enumerate(problems)}
    problem_of = np.array([numbers[tuple(configuration.sizes.items())] for configuration in everything])
    (replay,), state = source.replay([everything], judge_of(problem_of, source.parameters.answer_bound))
    return curves(asked, replay), replay, state


def _measured(source: Source, variant: Variant, curve: Curve, fixed: int, state: State) -> dict[int, Times]:
    """Times at the block sizes that matter."""
    block_sizes = sorted({int(curve.b[curve.best]), *curve.plateau, min(fixed, int(curve.b[-1]))})
    verified = source.verify([Configuration(variant, curve.problem, b) for b in block_sizes], state)
    return dict(zip(block_sizes, verified.times, strict=True))


def _compared(problem: Problem, fixed: int) -> list[int]:
    """The candidates, and the fixed block size to compare with."""
    limit = min(problem.values())
    return sorted({*candidate_block_sizes(limit).tolist(), min(fixed, limit)})
