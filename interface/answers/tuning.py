"""export blocksizes: block sizes for LAPACK's own algorithms, as a table and as C source that overrides ILAENV."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from blascast.algorithms import find_operation, find_variant
from blascast.predictors.blocksize import Curve
from blascast.predictors.configurations import USUAL_B, own_block_size
from blascast.predictors.tuning import Step, steps_of
from blascast.sampler.errors import UsageError

from ..opening import AnswerOptions
from ..report import Column, Report, percent
from .blocksizes import BlocksizeReport, blocksize
from .evidence import Evidence
from .ilaenv import override

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
    """

    name: str
    operation: str
    steps: tuple[Step, ...]
    usual: int
    curves: tuple[Curve, ...]

    def gain(self, n: int) -> float:
        """By how much LAPACK's own block size takes longer at a size of the sweep, relative."""
        curve = next(curve for curve in self.curves if curve.problem["n"] == n)
        return curve.at(self.usual) / curve.at(next(step.b for step in self.steps if step.last >= n)) - 1


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
            [routine.name, str(step.first), str(step.last), str(step.b), str(routine.usual), percent(step.gain)]
            for routine in self.routines
            for step in routine.steps
        ]

    @property
    def remarks(self) -> list[str]:
        """Sentences below the table."""
        has_qr = any(routine.operation == "qr" for routine in self.routines)
        return [
            "Each block size is predicted to be within 1 % of the best over its range; LAPACK's own is kept where it "
            "is. A block size of n means unblocked. Other sizes, and other data types, are left to LAPACK.",
            *(
                ["geqrf: such predictions were too optimistic, and measured block sizes lost (docs/answers.md)."]
                * has_qr
            ),
            *self.evidence[-1].sentences,
        ]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "rows": [
                {
                    "routine": routine.name,
                    "operation": routine.operation,
                    **{"n_from": step.first, "n_to": step.last, "b": step.b, "usual": routine.usual, "gain": step.gain},
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
    chosen = list(dict.fromkeys(operations)) if operations else [name for name in ROUTINES if name != "qr"]
    for name in chosen:
        if find_operation(name).name not in ROUTINES:
            raise UsageError(f"ILAENV is overridden for {', '.join(ROUTINES)}, got {name!r}")
    sizes = sorted(set(n))
    reports = {name: blocksize(name, "lapack", sizes, **options) for name in chosen}
    routines = tuple(_tuned(name, report) for name, report in reports.items())
    return TuningReport(routines, tuple(report.evidence for report in reports.values()))


def _tuned(operation: str, report: BlocksizeReport) -> TunedRoutine:
    usual = own_block_size(find_variant(operation, "lapack"), {"n": USUAL_B, "m": USUAL_B}, "d")
    own = usual[0] if isinstance(usual, tuple) else usual or USUAL_B
    curves = [row.curve for row in report.rows]
    return TunedRoutine(
        ROUTINES[operation], operation, tuple(steps_of(curves, [own] * len(curves))), own, tuple(curves)
    )
