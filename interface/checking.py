"""verify_models: stored models against fresh measurements, and which of them are stale."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from blascast.models.piecewise import Model, ModelKey
from blascast.models.quality.checking import Check, check
from blascast.models.quality.staleness import is_successor, reasons, what_changed
from blascast.models.sampling import Case, case_named
from blascast.models.summary import FloatArray
from blascast.predictors.configurations import check_size
from blascast.sampler.batch.sample import State
from blascast.sampler.errors import UsageError
from blascast.sampler.kernels import KERNELS, find_kernel
from blascast.sampler.setup import Setup, SetupRequest

from .effort import Spent, Tally
from .report import Column, Report, counted, effort_sentences, percent, setup_json
from .session import Session, SessionOptions
from .source import common_state
from .stored.selection import named

POINTS = 20


@dataclass(frozen=True, slots=True, eq=False)
class CheckedRow:
    """A model that was checked.

    Parameters
    ----------
    check : Check
    age_seconds : float or None
        Since its last sample was taken.
    stale : tuple of str
        Why it should be built anew.
    """

    check: Check
    age_seconds: float | None
    stale: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As in the JSON of a verification."""
        key, errors = self.check.model.key, self.check.errors
        return {
            "kernel": key.kernel,
            "case": key.case,
            "ld": key.ld,
            "precondition": key.precondition,
            "origin": self.check.model.origin,
            "points": len(errors),
            "error": {"median": _median(errors), "p90": _p90(errors), "bias": float(np.median(errors))},
            "stated": self.check.stated,
            "noise": self.check.noise,
            "coverage": self.check.coverage,
            "one_rate": _median(self.check.one_rate_errors),
            "age_seconds": self.age_seconds,
            "stale": list(self.stale),
        }


@dataclass(frozen=True, eq=False, repr=False)
class VerifyReport(Report):
    """Models beside fresh measurements.

    Parameters
    ----------
    setup : Setup
    rows : tuple of CheckedRow
    outdated : tuple of (Setup, int)
        Setups that this one has taken the place of, and how many models there are of each.
    unknown : tuple of str
        Kernels of stored models that are not known here.
    state : str or None
        Of the core while it was measured.
    tally : Tally
    spent : Spent
    """

    setup: Setup
    rows: tuple[CheckedRow, ...]
    outdated: tuple[tuple[Setup, int], ...]
    unknown: tuple[str, ...]
    state: State | None
    tally: Tally
    spent: Spent

    @property
    def title(self) -> str:
        """What was verified."""
        return f"{counted(len(self.rows), 'model')} at fresh points: {self.setup}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        return [
            *(Column("kernel", text=True), Column("ld"), Column("points"), Column("error [%]"), Column("p90 [%]")),
            *(Column("bias [%]"), Column("stated [%]"), Column("noise [%]"), Column("within [%]")),
            *(Column("one rate [%]"), Column("age [d]"), Column("verdict", text=True)),
        ]

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [[self._name(row), *_cells(row)] for row in self.rows]

    def _name(self, row: CheckedRow) -> str:
        return named(self.setup, row.check.model.key)

    @property
    def remarks(self) -> list[str]:
        """Sentences below the table."""
        if not self.rows:
            return ["No models of this setup are there to verify.", *self._outdated()]
        return [
            "Error: of the model's median at random points, each measured twice; noise: between the two measurements; "
            "stated: the model's own standard error; within: points no further off than 2 standard errors of model and "
            "measurement; one rate: error of flops over one rate, fitted to these points.",
            *(
                f"{self._name(row)} was not made here: {row.check.model.origin}."
                for row in self.rows
                if row.check.model.origin
            ),
            *(f"{self._name(row)} is stale: {'; '.join(row.stale)}." for row in self.rows if row.stale),
            *self._other_states(),
            *self._outdated(),
            *effort_sentences(self.tally, self.spent),
        ]

    def _other_states(self) -> list[str]:
        others = sorted({row.check.model.state for row in self.rows} - {self.state})
        if not others:
            return []
        return [f"Measured on a core that was {self.state}; some models are of one that was {' or '.join(others)}."]

    def _outdated(self) -> list[str]:
        said = [
            f"{counted(count, 'model')} of setup {old.fingerprint}: {what_changed(self.setup, old)}."
            for old, count in self.outdated
        ]
        if self.unknown:
            said.append(f"Not verified, as the kernel is not known here: {', '.join(self.unknown)}.")
        return said

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "setup": setup_json(self.setup),
            "rows": [row.to_json() for row in self.rows],
            "outdated": [
                {"setup": setup_json(old), "models": count, "why": what_changed(self.setup, old)}
                for old, count in self.outdated
            ],
            "unknown": list(self.unknown),
            "state": self.state,
            "samples": self.tally.to_json(),
            "seconds": self.spent.to_json(),
        }


def _cells(row: CheckedRow) -> list[str]:
    check, errors = row.check, row.check.errors
    return [
        *(str(check.model.key.ld), str(len(errors))),
        *(percent(_median(errors)), percent(_p90(errors)), f"{100 * np.median(errors):+.1f}"),
        *(percent(check.stated), percent(check.noise), percent(check.coverage, 0)),
        percent(_median(check.one_rate_errors)),
        "–" if row.age_seconds is None else f"{row.age_seconds / 86400:.0f}",
        "stale" if row.stale else "good",
    ]


def _median(errors: FloatArray) -> float:
    return float(np.median(np.abs(errors)))


def _p90(errors: FloatArray) -> float:
    return float(np.percentile(np.abs(errors), 90))


def verify_models(
    kernel: str | None = None,
    case: str | None = None,
    *,
    points: int = POINTS,
    any_size: bool = False,
    seed: int | None = None,
    **options: Unpack[SessionOptions],
) -> VerifyReport:
    """Measures stored models' kernels at fresh random points, and says how far the models are off.

    The samples are not kept: models must not be fitted to the points they are judged by.

    Parameters
    ----------
    kernel, case : str, optional
        Verify only the models of a kernel, or of one case of it.
    points : int
        For each model.
    any_size : bool
        Whether sizes may be no multiples of 8.
    seed : int, optional
        Of the points; by default they are other ones each time.
    **options
        Library, data type, threads and so on: the parameters of `Session`.

    Returns
    -------
    VerifyReport

    Raises
    ------
    UsageError
        If a name or number is not valid.
    BlascastError
        If the library, a routine or the store fails.
    """
    points = check_size("points", points)
    request = SetupRequest(options.get("library", "scipy"), options.get("dtype", "d"), options.get("threads", 1))
    wanted = _wanted(kernel, case, request.dtype)
    with Session(**options) as session:
        stored = [(setup, model) for setup, model in session.store.all_models(kernel) if wanted(model.key)]
        own = [model for setup, model in stored if setup == session.setup]
        others = Counter(setup for setup, _ in stored if is_successor(session.setup, setup))
        models = [(model, _case_of(model, request.dtype)) for model in own if model.key.kernel in KERNELS]
        rows, state = _checked(session, models, points, any_size, seed) if models else ((), None)
        unknown = tuple(sorted({model.key.kernel for model in own} - set(KERNELS)))
        return VerifyReport(session.setup, rows, tuple(others.items()), unknown, state, session.tally, session.spent)


def _wanted(kernel: str | None, case: str | None, dtype: str) -> Callable[[ModelKey], bool]:
    """Whether a model is to be verified, by its key."""
    if kernel is None and case is None:
        return lambda key: True
    if kernel is None:
        raise UsageError(f"a case is one of a kernel; name the kernel of {case!r} too")
    chosen = find_kernel(kernel)
    name = case_named(chosen, case, dtype).name if case is not None else None
    return lambda key: key.kernel == kernel and name in (None, key.case)


def _case_of(model: Model, dtype: str) -> Case:
    return case_named(find_kernel(model.key.kernel), model.key.case, dtype)


def _checked(
    session: Session, models: list[tuple[Model, Case]], points: int, any_size: bool, seed: int | None
) -> tuple[tuple[CheckedRow, ...], State]:
    """The models beside fresh measurements, and the state of the core meanwhile."""
    began, now = time.perf_counter(), time.time()
    random = np.random.default_rng(seed)
    checks, batches = check(session.sampler, models, points, any_size, random, session.on_progress)
    for batch in batches:
        session.tally = session.tally.plus(batch)
    session.spent = replace(session.spent, verification=time.perf_counter() - began)
    rows = [
        CheckedRow(
            each,
            now - each.model.taken if each.model.taken else None,
            tuple(reasons(each, session.store.usual_clock(session.setup, each.model.key), now)),
        )
        for each in checks
    ]
    return tuple(rows), common_state(batch.state for batch in batches)
