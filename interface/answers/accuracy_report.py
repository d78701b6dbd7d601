"""What accuracy reports: errors of every way to predict, beside the noise, and where a simpler one is as good."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from blascast.predictors.accuracy.comparison import compare
from blascast.predictors.accuracy.errors import relative_errors
from blascast.predictors.accuracy.ladder import RUNGS
from blascast.predictors.prediction import FloatArray

from ..report import Column, Report, percent
from .evidence import Evidence
from .trial import FIRST, SECOND

if TYPE_CHECKING:
    import pandas as pd

AGAIN = "measured again"  # the noise floor as if it were a way to predict: the first pass predicts the second


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
        One row a configuration: setup, operation, variant, sizes, b, flops, two measured passes, the
        prediction of each rung of the ladder, seconds; and the relative errors of all (RE, ARE).
    rows : tuple of AccuracyRow
    evidence : tuple of Evidence
    left_out : tuple of str
        Sentences about what was asked and not compared.
    """

    points: "pd.DataFrame"
    rows: tuple[AccuracyRow, ...]
    evidence: tuple[Evidence, ...]
    left_out: tuple[str, ...] = ()

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
        remarks += [*self.left_out, *verdicts(self.points)]
        for evidence in self.evidence:
            remarks += evidence.sentences
        return remarks

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "rows": [row.to_json() for row in self.rows],
            "points": self.points.astype(object).where(self.points.notna(), None).to_dict(orient="records"),
            "left_out": list(self.left_out),
            "evidence": [evidence.to_json() for evidence in self.evidence],
        }


def with_errors(points: "pd.DataFrame") -> "pd.DataFrame":
    """Points with the relative error, and its absolute value, of every way to predict them."""
    added: dict[str, FloatArray] = {}
    for way, (predicted, measured) in ways_to_predict(points).items():
        errors = relative_errors(predicted, measured)
        added |= {f"RE, {way}": errors, f"ARE, {way}": np.abs(errors)}
    return points.assign(**added)


def ways_to_predict(points: "pd.DataFrame") -> dict[str, tuple[FloatArray, FloatArray]]:
    """What each rung predicts and what was measured; and the second pass as predicted by the first."""
    passes = points[[FIRST, SECOND]]
    measured = passes.mean(axis=1).to_numpy()
    ways = {name: (points[name].to_numpy(), measured) for name in RUNGS}
    return {**ways, AGAIN: (points[FIRST].to_numpy(), points[SECOND].to_numpy())}


def verdicts(points: "pd.DataFrame") -> list[str]:
    """The simplest way that is as good as the corrected models, or better: up to half the noise floor worse."""
    said = []
    several_setups = points["setup"].nunique() > 1
    for (setup, operation), own in points.groupby(["setup", "operation"], sort=False):
        errors = {way: relative_errors(*pair) for way, pair in ways_to_predict(own).items()}
        medians = {way: float(np.median(np.abs(values))) for way, values in errors.items()}
        for name in RUNGS[:-1]:
            shift, least = compare(errors[name], errors[RUNGS[-1]]).shift, medians[AGAIN] / 2
            if shift < least:
                is_what = "better than" if shift < -least else "as good as"
                where = f"{operation} ({setup})" if several_setups else operation
                said.append(
                    f"{where}: {name} is {is_what} the corrected models ({percent(medians[name])} against "
                    f"{percent(medians[RUNGS[-1]])} %, noise floor {percent(medians[AGAIN])} %)."
                )
                break
    return said
