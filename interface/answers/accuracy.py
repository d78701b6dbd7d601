"""accuracy: predictions held against measurements, beside the noise and simpler ways to predict the same."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from blascast.algorithms import Operation, Variant, find_operation
from blascast.predictors.accuracy.choices import best_found, kendall_tau, yield_of_choice
from blascast.predictors.accuracy.comparison import Comparison, compare, holm
from blascast.predictors.accuracy.errors import bootstrap_interval, relative_errors, symmetric_factors
from blascast.predictors.accuracy.ladder import RUNGS
from blascast.predictors.configurations import (
    Configuration,
    Problem,
    given_block_size,
    own_block_size,
    problems_of,
)
from blascast.predictors.prediction import FloatArray
from blascast.sampler.batch.sample import State
from blascast.sampler.errors import UsageError

from ..report import Column, Report, percent
from ..session import CommonOptions, Session
from .evidence import Evidence
from .trial import FIRST, SECOND, Trial

if TYPE_CHECKING:
    import pandas as pd

AGAIN = "measured again"  # the noise floor as if it were a way to predict: the first pass predicts the second
PASS_REPETITIONS = 5
POOLED, MACRO = "all, pooled", "all, each operation one vote"


@dataclass(frozen=True, slots=True)
class AccuracyRow:
    """How good one way to predict is, for one operation or all.

    Parameters
    ----------
    setup : str
    operation, predictor : str
    points : int
    cost : float or None
        Seconds of measurement.
    median, low, high : float
        Median of |relative error| and its 95 % interval.
    mean, p90 : float
        Of the same.
    factor, factor_p90 : float
        Median and 90th percentile of the symmetric factor.
    bias : float
        Median of the relative error.
    best : float or None
        Share of points at which the predicted best variant is of the measured best tie class.
    tau : float or None
        Mean of Kendall's tau-b of the variants' order, over untied pairs.
    yield_ : float or None
        Mean yield of the chosen block size.
    shift, p : float or None
        Hodges-Lehmann estimate of the difference of |relative error| to the simpler way above, and P (Wilcoxon, Holm).
    """

    setup: str
    operation: str
    predictor: str
    points: int
    cost: float | None
    median: float
    low: float
    high: float
    mean: float
    p90: float
    factor: float
    factor_p90: float
    bias: float
    best: float | None
    tau: float | None
    yield_: float | None
    shift: float | None = None
    p: float | None = None

    def to_json(self) -> dict[str, Any]:
        """By name; ``yield`` without the underscore."""
        return {name.rstrip("_"): value for name, value in asdict(self).items()}


@dataclass(frozen=True, eq=False, repr=False)
class AccuracyReport(Report):
    """Predictions held against measurements.

    Parameters
    ----------
    points : DataFrame
        One row a configuration: setup, operation, variant, sizes, b, flops, two measured passes, and the
        prediction of each rung of the ladder, seconds.
    rows : tuple of AccuracyRow
    evidence : tuple of Evidence
    """

    points: "pd.DataFrame"
    rows: tuple[AccuracyRow, ...]
    evidence: tuple[Evidence, ...]

    @property
    def title(self) -> str:
        """What was asked."""
        operations = ", ".join(self.points["operation"].unique())
        setups = "; ".join(str(evidence.setup) for evidence in self.evidence)
        return f"accuracy of predictions of {operations}: {setups}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        columns = [Column("setup", text=True)] * (len(self.evidence) > 1)
        columns += [Column("operation", text=True), Column("predicted by", text=True, whole=True), Column("points")]
        columns += [Column("cost [s]"), Column("ARE [%]"), Column("95 % of it", whole=True), Column("mean [%]")]
        columns += [
            Column("p90 [%]"),
            Column("factor"),
            Column("its p90"),
            Column("bias [%]"),
            Column("best found [%]"),
        ]
        return [*columns, Column("tau"), Column("yield [%]"), Column("shift [%]"), Column("P")]

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [self._cells(row) for row in self.rows]

    def _cells(self, row: AccuracyRow) -> list[str]:
        cells = [row.setup] * (len(self.evidence) > 1)
        cells += [row.operation, row.predictor, str(row.points), "–" if row.cost is None else f"{row.cost:.1f}"]
        cells += [percent(row.median), f"{percent(row.low)}..{percent(row.high)}", percent(row.mean), percent(row.p90)]
        cells += [f"{row.factor:.3f}", f"{row.factor_p90:.3f}", f"{100 * row.bias:+.1f}", percent(row.best, 0)]
        cells += ["–" if row.tau is None else f"{row.tau:.2f}", percent(row.yield_)]
        if row.shift is None or row.p is None:
            return [*cells, "–", "–"]
        return [*cells, f"{100 * row.shift:+.1f}", "< 0.001" if row.p < 0.001 else f"{row.p:.3f}"]

    @property
    def remarks(self) -> list[str]:
        """Sentences below the table."""
        remarks = [
            f"ARE: median of |predicted - measured| / measured. '{AGAIN}' is the noise floor: the first pass predicts "
            "the second. Best found: the predicted best variant is of the measured best tie class. Yield: performance "
            "at the chosen block size over that at the best. Shift and P: against the line above, paired "
            "(Hodges-Lehmann; Wilcoxon, Holm); points of one size are not independent, so P flatters."
        ]
        remarks += verdicts(self.rows)
        for evidence in self.evidence:
            remarks += evidence.sentences
        return remarks

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "rows": [row.to_json() for row in self.rows],
            "points": self.points.astype(object).where(self.points.notna(), None).to_dict(orient="records"),
            "evidence": [evidence.to_json() for evidence in self.evidence],
        }


def verdicts(rows: Sequence[AccuracyRow]) -> list[str]:
    """Where a simpler way is as good as the models."""
    said = []
    for setup, operation in dict.fromkeys((row.setup, row.operation) for row in rows):
        own = {row.predictor: row for row in rows if (row.setup, row.operation) == (setup, operation)}
        models, noise = own[RUNGS[-1]], own[AGAIN].median
        as_good = [name for name in RUNGS[:-1] if own[name].median <= models.median + max(noise, 0.0) / 2]
        if as_good:
            said.append(
                f"{operation}: {as_good[0]} is as good as the models ({percent(own[as_good[0]].median)} against "
                f"{percent(models.median)} %, noise floor {percent(noise)} %)."
            )
    return said


def accuracy(
    operations: Sequence[str],
    n: Sequence[int],
    b: Sequence[int],
    *,
    m: int | None = None,
    variants: Sequence[int | str] | None = None,
    repetitions: int = PASS_REPETITIONS,
    library: str | Sequence[str] = "scipy",
    threads: int | Sequence[int] = 1,
    **options: Unpack[CommonOptions],
) -> AccuracyReport:
    """Holds predictions against measurements, over all variants, sizes and block sizes given.

    Parameters
    ----------
    operations : sequence of str
    n, b : sequences of int
        Matrix sizes, and block sizes; those larger than a matrix are left out.
    m : int, optional
        Rows of operations on rectangular matrices; by default as n.
    variants : sequence of int or str, optional
        By default all that have a block size, where an operation has them.
    repetitions : int
        Of every run, in each of two passes.
    library, threads : one or several
    **options
        Data type and so on: the parameters of `Session`.

    Returns
    -------
    AccuracyReport

    Raises
    ------
    UsageError
        If a name or number is not valid.
    BlascastError
        If the library, a routine or the store fails.
    """
    import pandas as pd

    chosen = [find_operation(name) for name in dict.fromkeys(operations)]
    if not chosen or not len(b):
        raise UsageError("accuracy needs at least one operation and one block size")
    frames, rows, evidence = [], [], []
    for name in [library] if isinstance(library, str) else library:
        for count in [threads] if isinstance(threads, int) else threads:
            with Session(library=name, threads=count, **options) as session:
                asked = [_configurations(session, operation, n, b, m, variants) for operation in chosen]
                parts = [Trial(session, configurations).frame(repetitions) for configurations in asked]
                states: set[State] = {part.attrs["state"] for part in parts}
                proof = Evidence.of(session, states.pop() if len(states) == 1 else "mixed")
            label = f"{proof.setup.library.name}, {count} thread{'s' * (count != 1)}"
            costs = {part["operation"].iloc[0]: part.attrs["costs"] for part in parts}
            frame = pd.concat(parts, ignore_index=True)
            frame.insert(0, "setup", label)
            rows += _rows(frame, label, costs)
            frames.append(frame)
            evidence.append(proof)
    return AccuracyReport(pd.concat(frames, ignore_index=True), tuple(rows), tuple(evidence))


def _configurations(
    session: Session,
    operation: Operation,
    n: Sequence[int],
    b: Sequence[int],
    m: int | None,
    variants: Sequence[int | str] | None,
) -> list[Configuration]:
    """All that are asked about."""
    dtype = session.setup.dtype
    operation.check_type(dtype)
    problems = problems_of(operation, n, m if "m" in operation.sizes else None)
    session.check_sizes(operation, problems)
    wanted = None if variants is None else set(map(str, variants))
    chosen = [
        variant
        for variant in operation.variants.values()
        if variant.block_sizes and (wanted is None or variant.name in wanted) and not session.lacking(variant)
    ]
    found = [c for variant in chosen for problem in problems for c in _at(variant, problem, b, dtype)]
    if not found:
        raise UsageError(
            f"nothing of {operation.name} is left to compare: no variant that is named and that the library has "
            "routines for, or no block size that fits; choose others"
        )
    return found


def _at(variant: Variant, problem: Problem, b: Sequence[int], dtype: str) -> list[Configuration]:
    if variant.usual is not None:
        return [Configuration(variant, problem, own_block_size(variant, problem, dtype))]
    limit = min(problem.values())
    return [Configuration(variant, problem, given_block_size(variant, problem, size)) for size in b if size <= limit]


def _rows(frame: "pd.DataFrame", setup: str, costs: dict[str, dict[str, float]]) -> list[AccuracyRow]:
    """Rows of every operation, and of all together where there are several."""
    found = []
    for operation, group in frame.groupby("operation", sort=False):
        found += _ladder(group, setup, str(operation), costs[str(operation)])
    if len(costs) > 1:
        total = {name: sum(cost[name] for cost in costs.values()) for name in RUNGS}
        found += _ladder(frame, setup, POOLED, total)
        found += [_macro(found, setup, name) for name in (*RUNGS, AGAIN)]
    return found


def _ladder(group: "pd.DataFrame", setup: str, operation: str, costs: dict[str, float]) -> list[AccuracyRow]:
    """Rows of the rungs, each against the one before, and of the noise floor."""
    measured = group[[FIRST, SECOND]].mean(axis=1).to_numpy()
    errors = [relative_errors(group[name].to_numpy(), measured) for name in RUNGS]
    comparisons = [compare(after, before) for before, after in pairwise(errors)]
    adjusted = holm([comparison.p for comparison in comparisons])
    against = [None, *(Comparison(c.shift, p) for c, p in zip(comparisons, adjusted, strict=True))]
    rows = [
        _row(group, setup, operation, name, name, measured, costs[name], comparison)
        for name, comparison in zip(RUNGS, against, strict=True)
    ]
    second = group[SECOND].to_numpy()
    return [*rows, _row(group, setup, operation, AGAIN, FIRST, second, None, None)]


def _row(
    group: "pd.DataFrame",
    setup: str,
    operation: str,
    predictor: str,
    column: str,
    measured: FloatArray,
    cost: float | None,
    comparison: Comparison | None,
) -> AccuracyRow:
    predicted = group[column].to_numpy()
    errors = relative_errors(predicted, measured)
    sizes = np.unique(group["n"], return_inverse=True)[1]
    low, high = bootstrap_interval(
        np.abs(errors), sizes, lambda values: float(np.median(values)), np.random.default_rng(0)
    )
    factors = symmetric_factors(predicted, measured)
    best, tau, chosen = _choices(group.assign(_predicted=predicted, _measured=measured))
    return AccuracyRow(
        setup,
        operation,
        predictor,
        len(group),
        cost,
        float(np.median(np.abs(errors))),
        low,
        high,
        float(np.mean(np.abs(errors))),
        float(np.percentile(np.abs(errors), 90)),
        float(np.median(factors)),
        float(np.percentile(factors, 90)),
        float(np.median(errors)),
        best,
        tau,
        chosen,
        comparison.shift if comparison else None,
        comparison.p if comparison else None,
    )


def _choices(group: "pd.DataFrame") -> tuple[float | None, float | None, float | None]:
    """Share of best variants found, mean tau, and mean yield of block sizes."""
    noise = float(np.median(np.abs(group[FIRST] / group[SECOND] - 1)))
    found, taus, yields = [], [], []
    for _, same in group.groupby(["operation", "n", "b"]):
        if len(same) > 1:
            spread = (same[FIRST] - same[SECOND]).abs().to_numpy() / 2
            predicted, measured = same["_predicted"].to_numpy(), same["_measured"].to_numpy()
            found.append(best_found(predicted, measured, spread, noise))
            taus.append(kendall_tau(predicted, measured, noise))
    for _, same in group.groupby(["operation", "variant", "n"]):
        if len(same) > 1:
            yields.append(yield_of_choice(same["_predicted"].to_numpy(), same["_measured"].to_numpy()))
    known = [tau for tau in taus if tau is not None]
    return _mean(found), _mean(known), _mean(yields)


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _macro(rows: list[AccuracyRow], setup: str, predictor: str) -> AccuracyRow:
    """Means over the operations, each one vote."""
    own = [row for row in rows if row.predictor == predictor and row.operation != POOLED]

    def mean(name: str) -> float | None:
        return _mean([value for row in own if (value := getattr(row, name)) is not None])

    names = ("cost", "median", "low", "high", "mean", "p90", "factor", "factor_p90", "bias", "best", "tau", "yield_")
    values = {name: mean(name) for name in names}
    return AccuracyRow(setup, MACRO, predictor, sum(row.points for row in own), **values)  # type: ignore[arg-type]
