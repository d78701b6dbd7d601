"""export blocksizes: block sizes for LAPACK's own algorithms, as a table and as C source that overrides ILAENV."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Unpack

import numpy as np

from blascast.algorithms import find_operation, find_variant
from blascast.predictors.blocksize import Curve
from blascast.predictors.configurations import USUAL_B, check_size, own_block_size, several
from blascast.predictors.tuning import OWN, Step, steps_of
from blascast.sampler.errors import UsageError

from ..effort import Spent, Tally
from ..opening import AnswerOptions
from ..report import Column, Report, percent
from .blocksizes import BlocksizeReport, blocksize
from .evidence import Evidence
from .ilaenv import override
from .ranking import rank
from .standings import SweepReport

ROUTINES = {
    "cholesky": "potrf",
    "trinv": "trtri",
    "lauum": "lauum",
    "sygst": "sygst",
    "lu": "getrf",
    "qr": "geqrf",
}


@dataclass(frozen=True, slots=True)
class TunedRoutine:
    """A routine of LAPACK and its block sizes.

    Parameters
    ----------
    name : str
        Without the letter of the data type.
    operation : str
    steps : tuple of Step
    usual : int
        Reference LAPACK's block size.
    curves : tuple of Curve
        Run time against block size, for all sizes.
    own : tuple of float
        Run time with LAPACK's own block size, and crossover, for each.
    """

    name: str
    operation: str
    steps: tuple[Step, ...]
    usual: int
    curves: tuple[Curve, ...]
    own: tuple[float, ...]

    def gain(self, n: int) -> float:
        """By how much LAPACK's own block size takes longer at a size of the sweep, relative."""
        curve, own = next(pair for pair in zip(self.curves, self.own, strict=True) if pair[0].problem["n"] == n)
        b = next(step.b for step in self.steps if step.last >= n)
        return 0.0 if b == OWN else own / curve.at(b) - 1


@dataclass(frozen=True, eq=False, repr=False)
class TuningReport(Report):
    """Block sizes for LAPACK's routines.

    Parameters
    ----------
    routines : tuple of TunedRoutine
    evidence : tuple of Evidence, one for each
    """

    routines: tuple[TunedRoutine, ...]
    evidence: tuple[Evidence, ...]

    @property
    def title(self) -> str:
        """What was asked."""
        return f"block sizes for LAPACK's routines: {self.evidence[0].setup}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        columns = [Column("routine", text=True), Column("n from"), Column("n to"), Column("b")]
        return [*columns, Column("LAPACK's b"), Column("gain [%]")]

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [
            [routine.name, str(step.first), str(step.last), _shown(step), str(routine.usual), percent(step.gain)]
            for routine in self.routines
            for step in routine.steps
        ]

    @property
    def remarks(self) -> list[str]:
        """Sentences below the table."""
        has_qr = any(routine.operation == "qr" for routine in self.routines)
        return [
            "Each block size is predicted to be within 1 % of the best over its range; where LAPACK's own is, it is "
            "kept. A block size of n means unblocked. Other sizes, and other data types, are left to LAPACK.",
            _errors(self.routines),
            *(
                ["geqrf: such predictions were too optimistic, and measured block sizes lost (docs/answers.md)."]
                * has_qr
            ),
            *_joined(self.evidence).sentences,
        ]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "rows": [
                {
                    "routine": routine.name,
                    "operation": routine.operation,
                    **{"n_from": step.first, "n_to": step.last, "usual": routine.usual, "gain": step.gain},
                    "b": None if step.b == OWN else step.b,
                }
                for routine in self.routines
                for step in routine.steps
            ],
            "evidence": [evidence.to_json() for evidence in self.evidence],
        }

    def to_csv(self) -> str:
        """The rows as comma-separated values."""
        return str(self.to_frame().to_csv(index=False))

    def to_c(self) -> str:
        """C source of an ILAENV with these block sizes; all else is left to the one it overrides."""
        tables = {
            routine.name: [(step.first, step.last, step.b) for step in routine.steps] for routine in self.routines
        }
        return override(tables, self.evidence[0].setup)


def export_blocksizes(
    n: Sequence[int], operations: Sequence[str] | None = None, **options: Unpack[AnswerOptions]
) -> TuningReport:
    """Block sizes for LAPACK's own algorithms over a sweep of sizes.

    Parameters
    ----------
    n : sequence of int
        Matrix sizes. The block size for one in between is that of the next larger one.
    operations : sequence of str, optional
        Of cholesky, trinv, lauum, sygst, lu and qr; by default all but qr, for which predictions are
        too optimistic: measured, its block sizes lost.
    **options
        Library, data type, threads and so on: as for `blocksize`.

    Returns
    -------
    TuningReport

    Raises
    ------
    UsageError
        If a name or number is not valid.
    BlascastError
        If the library, a routine or the store fails.
    """
    named = several(operations) if operations is not None else [name for name in ROUTINES if name != "qr"]
    chosen = list(dict.fromkeys(named))
    for name in chosen:
        if find_operation(name).name not in ROUTINES:
            raise UsageError(f"ILAENV is overridden for {', '.join(ROUTINES)}, got {name!r}")
    if not chosen:
        raise UsageError(f"operations must hold at least one of {', '.join(ROUTINES)}; leave it out for all but qr")
    sizes = sorted(check_size("n", size) for size in set(several(n)))
    routines, evidence = [], []
    for name in chosen:
        report = blocksize(name, "lapack", sizes, **options)
        own = rank(name, sizes, variants=["lapack"], **options)
        rankings = own.rankings if isinstance(own, SweepReport) else (own,)
        routines.append(_tuned(name, report, [ranking.rows[0].candidate.times.median for ranking in rankings]))
        evidence.append(report.evidence)
    return TuningReport(tuple(routines), tuple(evidence))


def _tuned(operation: str, report: BlocksizeReport, own: list[float]) -> TunedRoutine:
    usual = own_block_size(find_variant(operation, "lapack"), {"n": USUAL_B, "m": USUAL_B}, "d")
    b = usual[0] if isinstance(usual, tuple) else usual or USUAL_B
    curves = [row.curve for row in report.rows]
    steps = steps_of(curves, own)
    return TunedRoutine(ROUTINES[operation], operation, tuple(steps), b, tuple(curves), tuple(own))


def _shown(step: Step) -> str:
    return "LAPACK's" if step.b == OWN else str(step.b)


def _errors(routines: Sequence[TunedRoutine]) -> str:
    """How exact the models' times are, at their best block sizes."""
    errors = [curve.errors[curve.best] / curve.seconds[curve.best] for own in routines for curve in own.curves]
    median, most = percent(float(np.median(errors))), percent(float(max(errors)))
    return f"Standard errors of the predicted times: {median} % (median), at most {most} %."


def _joined(evidence: Sequence[Evidence]) -> Evidence:
    """What all routines took together."""
    last = evidence[-1]
    tally = Tally(*(sum(getattr(own.tally, name) for own in evidence) for name in ("accepted", "requeued", "given_up")))
    stopped = next((own.tally.stopped for own in evidence if own.tally.stopped), None)
    spent = Spent(*(sum(getattr(own.spent, part.name) for own in evidence) for part in fields(Spent)))
    return replace(last, tally=replace(tally, stopped=stopped), spent=spent)
