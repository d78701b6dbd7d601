"""export blocksizes: block sizes for LAPACK's own algorithms, as a table and as C source that overrides ILAENV."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Unpack

import numpy as np

from blascast.algorithms import find_operation, find_variant
from blascast.models.summary import MEDIAN
from blascast.predictors.blocksize import Curve
from blascast.predictors.configurations import (
    LARGEST_B,
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
from ..source import Source, common_state
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
    "Measured: LAPACK's own block size twice beside ours, interleaved, at every size where these differ, and again "
    "where ours won. It is kept where it was faster both times, by more than LAPACK's own differed from itself and "
    "than the noise floor; the gain is that of the second time."
)


@dataclass(frozen=True, slots=True)
class Tried:
    """A block size that was measured beside LAPACK's own.

    Parameters
    ----------
    n, b : int
    gain : float
        By how much LAPACK's own takes longer, relative; of the second time, if there was one.
    noise : float
        What it had to exceed.
    kept : bool
    """

    n: int
    b: int
    gain: float
    noise: float
    kept: bool


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
    tried : tuple of Tried
        What was measured; empty if nothing was.
    """

    name: str
    operation: str
    steps: tuple[Step, ...]
    usual: int
    curves: tuple[Curve, ...]
    own: tuple[float, ...]
    tried: tuple[Tried, ...] = ()


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
            "Block sizes are predicted to be within 1 % of the best over their range; where LAPACK's own is, it is "
            "kept. A block size of n means unblocked. A size in between gets the next larger one's; beyond the sweep, "
            "and for other data types, LAPACK has its own.",
            _errors(self.routines),
            *[VERIFIED] * self.verified,
            *self._rejected(),
            *self._largest(),
            *[OPTIMISTIC] * (has_qr and not self.verified),
            *self.evidence.sentences,
        ]

    def _rejected(self) -> list[str]:
        lost = {own.name: [str(tried.n) for tried in own.tried if not tried.kept] for own in self.routines}
        said = "; ".join(f"{name} at n = {', '.join(sizes)}" for name, sizes in lost.items() if sizes)
        return [f"Block sizes that did not win, and are left to LAPACK: {said}."] if said else []

    def _largest(self) -> list[str]:
        names = [own.name for own in self.routines if any(s.b == LARGEST_B < s.last for s in own.steps)]
        return [f"{', '.join(names)}: the largest block size that was compared; larger may be better."] if names else []

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "verified": self.verified,
            "tried": [{"routine": own.name, **asdict(tried)} for own in self.routines for tried in own.tried],
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
        Whether the block size of each size is measured beside LAPACK's own, interleaved, and again if it wins; where
        it is not faster both times, by more than noise, LAPACK's own is kept.
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
        evidence = Evidence.of_replay(source, common_state(state for _, state in tuned))
        return TuningReport(tuple(routine for routine, _ in tuned), evidence, verify)


def _tuned(source: Source, operation: str, sizes: Sequence[int], verify: bool) -> tuple[TunedRoutine, State]:
    """The block sizes of one routine, and the state of the core that they are for."""
    variant, dtype = find_variant(operation, "lapack"), source.setup.dtype
    problems = problems_of(find_operation(operation), sizes)
    own = [Configuration(variant, problem, own_block_size(variant, problem, dtype)) for problem in problems]
    found, replay, state = compare_block_sizes(source, variant, problems, own)
    own_seconds = replay.statistics[-len(own) :, MEDIAN].tolist()
    chosen = chosen_block_sizes(found, own_seconds)
    tried = _tried(source, own, chosen, state) if verify else {}
    kept = [OWN if i in tried and not tried[i].kept else b for i, b in enumerate(chosen)]
    steps = steps_of(found, own_seconds, kept, {i: one.gain for i, one in tried.items()})
    usual = own[-1].b
    b = usual[0] if isinstance(usual, tuple) else usual or USUAL_B
    name, measured = ROUTINES[operation], tuple(tried.values())
    return TunedRoutine(name, operation, tuple(steps), b, tuple(found), tuple(own_seconds), measured), state


def _tried(source: Source, own: Sequence[Configuration], chosen: Sequence[int], state: State) -> dict[int, Tried]:
    """What was measured, by the index of the size: all block sizes once, and those again that won."""
    found = {}
    for index, (usual, b) in enumerate(zip(own, chosen, strict=True)):
        if b != OWN:
            gain, noise = _measured(source, usual, b, state)
            if gain > noise:
                gain, noise = _measured(source, usual, b, state)
            found[index] = Tried(usual.sizes["n"], b, gain, noise, gain > noise)
    return found


def _measured(source: Source, usual: Configuration, b: int, state: State) -> tuple[float, float]:
    """By how much LAPACK's own block size takes longer, and what that must exceed to count; runs are interleaved."""
    verified = source.verify([usual, replace(usual, b=b), usual], state)
    first, ours, again = (times.median for times in verified.times)
    noise = max(abs(first / again - 1), noise_or_assumed(verified.batch.noise_floor))
    return (first + again) / 2 / ours - 1, noise


def _shown(step: Step) -> str:
    return "LAPACK's" if step.b == OWN else str(step.b)


def _errors(routines: Sequence[TunedRoutine]) -> str:
    """How exact the models' times are, at their best block sizes."""
    errors = [curve.errors[curve.best] / curve.seconds[curve.best] for own in routines for curve in own.curves]
    median, most = percent(float(np.median(errors))), percent(float(max(errors)))
    return f"Standard errors of the predicted times: {median} % (median), at most {most} %."
