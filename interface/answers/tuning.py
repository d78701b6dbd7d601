"""export blocksizes: block sizes for LAPACK's own algorithms, as a table and as C source that overrides ILAENV."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from blascast.algorithms import find_operation, find_variant
from blascast.models.summary import MEDIAN
from blascast.predictors.blocksize import Curve
from blascast.predictors.configurations import (
    USUAL_B,
    Configuration,
    check_size,
    own_block_size,
    problems_of,
    several,
)
from blascast.predictors.ranking import noise_or_assumed
from blascast.predictors.tuning import OWN, Step, chosen_block_sizes, steps_of
from blascast.sampler.batch.sample import State
from blascast.sampler.errors import UsageError

from ..opening import AnswerOptions, open_source
from ..report import Column, Report, percent
from ..source import Source
from .blocksizes import compare_block_sizes
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


OPTIMISTIC = (
    "geqrf: such predictions were too optimistic, and measured block sizes lost (docs/answers.md); see --verify."
)
VERIFIED = (
    "Measured: LAPACK's own block size beside ours, at every size, interleaved. Where ours was not faster by more than "
    "the noise floor, LAPACK's own is kept."
)


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
    evidence : Evidence
    verified : bool
        Whether block sizes were measured beside LAPACK's own.
    """

    routines: tuple[TunedRoutine, ...]
    evidence: Evidence
    verified: bool = False

    @property
    def title(self) -> str:
        """What was asked."""
        return f"block sizes for LAPACK's routines: {self.evidence.setup}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        columns = [Column("routine", text=True), Column("n from"), Column("n to"), Column("b")]
        columns += [Column("LAPACK's b"), Column("gain [%]")]
        return columns + [Column("measured [%]")] * self.verified

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [
            [
                *(routine.name, str(step.first), str(step.last), _shown(step), str(routine.usual), percent(step.gain)),
                *[percent(step.measured)] * self.verified,
            ]
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
            *[VERIFIED] * self.verified,
            *[OPTIMISTIC] * (has_qr and not self.verified),
            *self.evidence.sentences,
        ]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "rows": [
                {
                    "routine": routine.name,
                    "operation": routine.operation,
                    **{"n_from": step.first, "n_to": step.last, "usual": routine.usual, "gain": step.gain},
                    "measured": step.measured,
                    "b": None if step.b == OWN else step.b,
                }
                for routine in self.routines
                for step in routine.steps
            ],
            "evidence": [self.evidence.to_json()],
        }

    def to_csv(self) -> str:
        """The rows as comma-separated values."""
        return str(self.to_frame().to_csv(index=False))

    def to_c(self) -> str:
        """C source of an ILAENV with these block sizes; all else is left to the one it overrides."""
        tables = {
            routine.name: [(step.first, step.last, step.b) for step in routine.steps] for routine in self.routines
        }
        return override(tables, self.evidence.setup)


def export_blocksizes(
    n: Sequence[int],
    operations: Sequence[str] | None = None,
    *,
    verify: bool = False,
    **options: Unpack[AnswerOptions],
) -> TuningReport:
    """Block sizes for LAPACK's own algorithms over a sweep of sizes.

    Parameters
    ----------
    n : sequence of int
        Matrix sizes. The block size for one in between is that of the next larger one.
    operations : sequence of str, optional
        Of cholesky, trinv, lauum, sygst, lu and qr; by default all but qr, for which predictions are
        too optimistic: measured, its block sizes lost.
    verify : bool
        Whether each block size is measured beside LAPACK's own, interleaved; where it is not faster by more than
        the noise floor, LAPACK's own is kept.
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
    with open_source(**options) as source:
        tuned = [_tuned(source, name, sizes, verify) for name in chosen]
        states = {state for _, state in tuned}
        state: State = states.pop() if len(states) == 1 else "mixed"
        return TuningReport(tuple(routine for routine, _ in tuned), Evidence.of_replay(source, state), verify)


def _tuned(source: Source, operation: str, sizes: Sequence[int], verify: bool) -> tuple[TunedRoutine, State]:
    """The block sizes of one routine, and the state of the core that they are for."""
    variant, dtype = find_variant(operation, "lapack"), source.setup.dtype
    problems = problems_of(find_operation(operation), sizes)
    own = [Configuration(variant, problem, own_block_size(variant, problem, dtype)) for problem in problems]
    found, replay, state = compare_block_sizes(source, variant, problems, own)
    own_seconds = replay.statistics[-len(own) :, MEDIAN].tolist()
    chosen = chosen_block_sizes(found, own_seconds)
    measured = _measured(source, own, chosen, state) if verify else {}
    noise = noise_or_assumed(source.noise_floor)
    kept = [OWN if i in measured and measured[i] <= noise else b for i, b in enumerate(chosen)]
    steps = steps_of(found, own_seconds, kept, measured)
    usual = own[-1].b
    b = usual[0] if isinstance(usual, tuple) else usual or USUAL_B
    return TunedRoutine(ROUTINES[operation], operation, tuple(steps), b, tuple(found), tuple(own_seconds)), state


def _measured(source: Source, own: Sequence[Configuration], chosen: Sequence[int], state: State) -> dict[int, float]:
    """By how much LAPACK's own block size takes longer, by the index of the size; runs of one size are interleaved."""
    gains = {}
    for index, (usual, b) in enumerate(zip(own, chosen, strict=True)):
        if b != OWN:
            times = source.verify([usual, replace(usual, b=b)], state).times
            gains[index] = times[0].median / times[1].median - 1
    return gains


def _shown(step: Step) -> str:
    return "LAPACK's" if step.b == OWN else str(step.b)


def _errors(routines: Sequence[TunedRoutine]) -> str:
    """How exact the models' times are, at their best block sizes."""
    errors = [curve.errors[curve.best] / curve.seconds[curve.best] for own in routines for curve in own.curves]
    median, most = percent(float(np.median(errors))), percent(float(max(errors)))
    return f"Standard errors of the predicted times: {median} % (median), at most {most} %."
