"""profile: what each kernel takes in an algorithm, beside what it takes alone and what its model tells."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from blascast.models.summary import LEAST_SECONDS
from blascast.predictors.configurations import BlockSize, traced
from blascast.predictors.judging import within
from blascast.predictors.profiles import Profile
from blascast.predictors.profiles import profile as measure_profile
from blascast.predictors.replay import needs_of
from blascast.sampler.errors import UsageError

from ..report import Column, Report, milliseconds, percent
from ..session import Session, SessionOptions
from ..source import common_state
from .asked import asked_configuration
from .evidence import Evidence

if TYPE_CHECKING:
    import pandas as pd

ALL = "all calls"


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """The calls of one kernel case, or all of them; seconds.

    Parameters
    ----------
    kernel : str
    calls : int
    inside : float
        In the algorithm.
    alone : dict
        Of the calls alone, by state.
    model : float
    noise : float
        Relative difference of two passes.
    bracketed : float
        The share of the calls that take no less than warm and no more than cold.
    share : float
        Of the run time.
    """

    kernel: str
    calls: int
    inside: float
    alone: dict[str, float]
    model: float
    noise: float
    bracketed: float
    share: float


@dataclass(frozen=True, eq=False, repr=False)
class ProfileReport(Report):
    """A profile.

    Parameters
    ----------
    profile : Profile
    rows : tuple of ProfileRow
        By kernel case, the costliest first, and all together.
    evidence : Evidence
    """

    profile: Profile
    rows: tuple[ProfileRow, ...]
    evidence: Evidence

    @property
    def title(self) -> str:
        """What was asked."""
        return f"{self.profile.configuration}: {self.evidence.setup}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        columns = [Column("kernel", text=True), Column("calls"), Column("in the algorithm [ms]"), Column("share [%]")]
        columns += [Column("noise [%]"), *(Column(f"{state} [%]") for state in self.profile.alone)]
        return [*columns, Column("model [%]"), Column("between warm and cold [%]")]

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [
            [
                *(row.kernel, str(row.calls), milliseconds(row.inside), percent(row.share), percent(row.noise)),
                *(_difference(own, row.inside) for own in (*row.alone.values(), row.model)),
                percent(row.bracketed),
            ]
            for row in self.rows
        ]

    @property
    def remarks(self) -> list[str]:
        """Sentences below the table."""
        totals, plain = self.profile.totals, self.profile.plain
        stamps = totals.mean() / plain.mean() - 1
        noise = float(np.max(np.abs([totals[0] / totals[1] - 1, plain[0] / plain[1] - 1])))
        return [
            "Warm, cold and model: the sums of what calls take alone, cached and not, and of what models of warm calls "
            "tell, relative to the time in the algorithm. Noise: between two passes. Between: calls that take no less "
            "than warm and no more than cold, up to noise and two standard errors.",
            *(
                ["Aware: each call after those that the algorithm makes since its operands' last use."]
                if "aware" in self.profile.alone
                else []
            ),
            f"A run without time stamps takes {milliseconds(float(plain.mean()))} ms; with them its calls add up to "
            f"{milliseconds(float(totals.mean()))} ms, {100 * stamps:+.1f} % (noise floor of both {percent(noise)} %).",
            *self.evidence.sentences,
        ]

    def calls_frame(self) -> "pd.DataFrame":
        """The calls in order, one a row, times in seconds."""
        import pandas as pd

        profile = self.profile
        frame = pd.DataFrame(
            {
                "kernel": profile.labels,
                "sizes": ["x".join(map(str, call.sizes.values())) for call in profile.calls],
                "inside": profile.inside,
                "noise": profile.noise,
                "model": profile.model,
                "between": profile.bracketed(),
            }
        )
        return frame.assign(**profile.alone)

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        profile = self.profile
        names = ("kernel", "calls", "inside", "share", "noise", "model", "bracketed")
        return {
            **profile.configuration.to_json(),
            "plain": profile.plain.tolist(),
            "totals": profile.totals.tolist(),
            "rows": [_plain({name: getattr(row, name) for name in names} | row.alone) for row in self.rows],
            "calls": [_plain(call) for call in self.calls_frame().to_dict("records")],
            "evidence": [self.evidence.to_json()],
        }


def profile(
    operation: str,
    variant: int | str,
    n: int,
    b: BlockSize | None = None,
    *,
    m: int | None = None,
    aware: bool = False,
    **options: Unpack[SessionOptions],
) -> ProfileReport:
    """Runs a variant with time stamps between its calls, and each of them alone, warm and cold.

    Parameters
    ----------
    operation : str
    variant : int or str
    n : int
        Matrix size.
    b : int or pair of int, optional
        Block size; must be given unless the variant has its own.
    m : int, optional
        Rows of an operation on rectangular matrices; by default as n.
    aware : bool
        Whether calls are timed after those since their operands' last use as well, which takes long.
    **options
        Library, data type, threads and so on: the parameters of `Session`.

    Returns
    -------
    ProfileReport

    Raises
    ------
    UsageError
        If a name or number is not valid.
    BlascastError
        If the library, a routine or the store fails.
    """
    with Session(**options) as session:
        configuration = asked_configuration(session, operation, variant, n, b, m)
        if configuration.variant.block_sizes == 0:
            raise UsageError(f"{configuration.variant} is one call; profile a variant that makes several")
        needs = needs_of([traced([configuration], session.setup.dtype)])
        models = list(session.provide(needs, within(session.parameters.answer_bound)).values())
        state = common_state(model.state for model in models)
        found = measure_profile(
            session.sampler, configuration, models, state, aware=aware, on_progress=session.on_progress
        )
        return ProfileReport(found, _rows(found), Evidence.of(session, state))


def _difference(seconds: float, inside: float) -> str:
    """Relative, in per cent."""
    known = np.isfinite(seconds) and inside > 0
    return f"{100 * (seconds / inside - 1):+.1f}" if known else "–"


def _plain(values: dict[Any, Any]) -> dict[str, Any]:
    """For JSON: None where a number is not known."""
    return {
        str(name): None if isinstance(value, float) and not np.isfinite(value) else value
        for name, value in values.items()
    }


def _rows(found: Profile) -> tuple[ProfileRow, ...]:
    labels = np.array(found.labels)
    rows = [_row(found, label, labels == label) for label in dict.fromkeys(found.labels)]
    rows.sort(key=lambda row: row.inside, reverse=True)
    return (*rows, _row(found, ALL, np.ones(len(labels), dtype=np.bool_)))


def _row(found: Profile, label: str, own: npt.NDArray[np.bool_]) -> ProfileRow:
    first, second = (float(one[own].sum()) for one in found.passes)
    inside = (first + second) / 2
    return ProfileRow(
        label,
        int(own.sum()),
        inside,
        {state: float(times[own].sum()) for state, times in found.alone.items()},
        float(found.model[own].sum()),
        abs(first - second) / max(inside, LEAST_SECONDS),
        float(found.bracketed()[own].mean()),
        inside / max(float(found.inside.sum()), LEAST_SECONDS),
    )
