"""Plots of predictions held against measurements."""

from typing import TYPE_CHECKING

import numpy as np

from blascast.predictors.accuracy.choices import yield_of_choice
from blascast.predictors.accuracy.ladder import RUNGS

from ..answers.accuracy import AGAIN, AccuracyReport
from ..answers.trial import FIRST, SECOND

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_VARIANTS = 10


def draw_accuracy(report: AccuracyReport) -> "Figure":
    """A row of plots for each setup and operation: performance, errors, block sizes, and the ladder."""
    from matplotlib.figure import Figure

    groups = list(report.points.groupby(["setup", "operation"], sort=False))
    figure = Figure(figsize=(19.0, 4.0 * len(groups)), layout="constrained")
    grid = figure.subplots(len(groups), 4, squeeze=False)
    for (performance, errors, choices, ladder), ((setup, operation), group) in zip(grid, groups, strict=True):
        plot_performance(group, performance)
        plot_errors(group, errors)
        plot_choices(group, choices)
        plot_ladder(report, str(setup), str(operation), ladder)
        performance.set_title(f"{operation}, {setup}")
    return figure


def plot_performance(group: "pd.DataFrame", axes: "Axes") -> None:
    """Of each variant at its predicted best block size against n: predicted as lines, measured as points."""
    for i, (variant, own) in enumerate(_fastest(group)):
        best = own.loc[own.groupby("n")[RUNGS[-1]].idxmin()]
        (line,) = axes.plot(best["n"], best["flops"] / best[RUNGS[-1]] / 1e9, color=f"C{i}", label=variant)
        axes.plot(best["n"], best["flops"] / _measured(best) / 1e9, "o", color=line.get_color(), markersize=4)
    axes.set(xlabel="matrix size n", ylabel="performance [GFLOP/s]")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize="small", title="variant", ncols=2)


def plot_errors(group: "pd.DataFrame", axes: "Axes") -> None:
    """Relative errors against n, one point a configuration, and the noise floor as a band."""
    measured = _measured(group)
    noise = 100 * float(np.median(np.abs(group[FIRST] / group[SECOND] - 1)))
    axes.axhspan(-noise, noise, color="0.85", label=f"noise floor {noise:.1f} %")
    for i, (variant, own) in enumerate(_fastest(group)):
        errors = 100 * (own[RUNGS[-1]] / measured[own.index] - 1)
        axes.plot(own["n"], errors, "o", color=f"C{i}", markersize=3, label=variant)
    axes.axhline(0.0, color="0.3", linewidth=0.8)
    axes.set(xlabel="matrix size n", ylabel="(predicted - measured) / measured [%]")
    axes.legend(fontsize="small", ncols=2)


def plot_choices(group: "pd.DataFrame", axes: "Axes") -> None:
    """The yield of the predicted best block size against n, one line a variant."""
    for i, (variant, own) in enumerate(_fastest(group)):
        yields = {
            int(same["n"].iloc[0]): 100 * yield_of_choice(same[RUNGS[-1]].to_numpy(), _measured(same).to_numpy())
            for _, same in own.groupby("n")
            if len(same) > 1
        }
        axes.plot(list(yields), list(yields.values()), "o-", color=f"C{i}", markersize=3, label=variant)
    axes.set(xlabel="matrix size n", ylabel="yield of the predicted block size [%]")
    axes.set_ylim(top=100.5)


def plot_ladder(report: AccuracyReport, setup: str, operation: str, axes: "Axes") -> None:
    """The error of each way to predict against what it cost to measure; the noise floor as a line."""
    rows = [row for row in report.rows if (row.setup, row.operation) == (setup, operation)]
    for row in rows:
        if row.predictor == AGAIN:
            axes.axhline(100 * row.median, color="0.5", linestyle=":", label="noise floor")
        elif row.cost is not None:
            bars = [[100 * (row.median - row.low)], [100 * (row.high - row.median)]]
            axes.errorbar(
                [max(row.cost, 1e-3)], [100 * row.median], yerr=np.abs(bars), fmt="o", capsize=3, label=row.predictor
            )
    axes.set(xscale="log", yscale="log", xlabel="cost of measurement [s]", ylabel="median |relative error| [%]")
    axes.legend(fontsize="small")


def _fastest(group: "pd.DataFrame") -> "list[tuple[str, pd.DataFrame]]":
    """The variants that are fastest when measured, and their points."""
    medians = {str(variant): own for variant, own in group.groupby("variant", sort=False)}
    order = sorted(
        medians, key=lambda variant: float((_measured(medians[variant]) / medians[variant]["flops"]).median())
    )
    return [(variant, medians[variant]) for variant in order[:MOST_VARIANTS]]


def _measured(group: "pd.DataFrame") -> "pd.Series":
    return group[[FIRST, SECOND]].mean(axis=1)
