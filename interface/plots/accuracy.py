"""Plots of predictions held against measurements."""

from typing import TYPE_CHECKING

import numpy as np

from blascast.predictors.accuracy.choices import yield_of_choice
from blascast.predictors.accuracy.ladder import RUNGS

from ..answers.accuracy_report import AGAIN, AccuracyReport
from ..answers.trial import FIRST, SECOND

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PEAK, BEST = RUNGS[0], RUNGS[-1]  # what flops take at the peak; what answers say
MOST_VARIANTS = 10


def draw_accuracy(report: AccuracyReport) -> "Figure":
    """Two rows of plots for each setup and operation.

    Performance against n and against b, predictions against measurements, errors against n; errors over n and b,
    block sizes, their yields, and the ladder.
    """
    from matplotlib.figure import Figure

    groups = list(report.points.groupby(["setup", "operation"], sort=False))
    figure = Figure(figsize=(20.0, 8.0 * len(groups)), layout="constrained")
    grid = figure.subplots(2 * len(groups), 4, squeeze=False)
    for row, ((setup, operation), group) in enumerate(groups):
        first, second = grid[2 * row], grid[2 * row + 1]
        plot_performance(group, first[0])
        plot_against_block_size(group, first[1])
        plot_scatter(group, first[2])
        plot_errors(group, first[3])
        plot_error_map(group, second[0])
        plot_block_sizes(group, second[1])
        plot_yields(group, second[2])
        plot_ladder(report, str(setup), str(operation), second[3])
        first[0].set_title(f"{operation}, {setup}")
    return figure


def plot_performance(group: "pd.DataFrame", axes: "Axes") -> None:
    """Of each variant at its predicted best block size against n: predicted as lines, measured as points."""
    for i, (variant, own) in enumerate(_fastest(group)):
        best = own.loc[own.groupby("n")[BEST].idxmin()]
        _plot_rates(best, "n", i, variant, axes)
    _finish_rates(group, "matrix size n", axes)


def plot_against_block_size(group: "pd.DataFrame", axes: "Axes") -> None:
    """Of the fastest variant with several block sizes, for each n: predicted as lines, measured as points."""
    variant, own = _with_block_sizes(group)
    for i, (n, same) in enumerate(own.groupby("n")):
        _plot_rates(same.sort_values("b"), "b", i, f"n = {n}", axes)
    axes.set_title(f"variant {variant}")
    _finish_rates(own, "block size b", axes)


def _plot_rates(points: "pd.DataFrame", against: str, color: int, label: str, axes: "Axes") -> None:
    rates = points["flops"] / points[BEST] / 1e9
    (line,) = axes.plot(points[against], rates, color=f"C{color % 10}", label=label)
    axes.plot(points[against], points["flops"] / _measured(points) / 1e9, "o", color=line.get_color(), markersize=4)


def _finish_rates(points: "pd.DataFrame", label: str, axes: "Axes") -> None:
    peak = float((points["flops"] / points[PEAK]).iloc[0]) / 1e9
    axes.axhline(peak, color="0.3", linewidth=1, linestyle=":", label="peak")
    axes.set(xlabel=label, ylabel="performance [GFLOP/s]")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize="small", ncols=2)


def plot_scatter(group: "pd.DataFrame", axes: "Axes") -> None:
    """Predicted against measured run times."""
    measured = 1e3 * _measured(group)
    for i, (variant, own) in enumerate(_fastest(group)):
        axes.plot(measured[own.index], 1e3 * own[BEST], "o", color=f"C{i}", markersize=3, label=variant)
    ends = [float(measured.min()), float(measured.max())]
    axes.plot(ends, ends, color="0.3", linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlabel="measured run time [ms]", ylabel="predicted run time [ms]")
    axes.legend(fontsize="small", title="variant", ncols=2)


def plot_errors(group: "pd.DataFrame", axes: "Axes") -> None:
    """Relative errors against n, one point a configuration, and the noise floor as a band."""
    measured = _measured(group)
    noise = 100 * float(np.median(np.abs(group[FIRST] / group[SECOND] - 1)))
    axes.axhspan(-noise, noise, color="0.85", label=f"noise floor {noise:.1f} %")
    for i, (variant, own) in enumerate(_fastest(group)):
        errors = 100 * (own[BEST] / measured[own.index] - 1)
        axes.plot(own["n"], errors, "o", color=f"C{i}", markersize=3, label=variant)
    axes.axhline(0.0, color="0.3", linewidth=0.8)
    axes.set(xlabel="matrix size n", ylabel="(predicted - measured) / measured [%]")
    axes.legend(fontsize="small", ncols=2)


def plot_error_map(group: "pd.DataFrame", axes: "Axes") -> None:
    """Relative errors over n and b, of the fastest variant that is there with several block sizes."""
    variant, own = _with_block_sizes(group)
    errors = 100 * (own[BEST] / _measured(own) - 1)
    largest = max(float(np.abs(errors).max()), 0.1)
    points = axes.scatter(own["n"], own["b"], c=errors, cmap="RdBu_r", vmin=-largest, vmax=largest, marker="s", s=60)
    axes.figure.colorbar(points, ax=axes, label="(predicted - measured) / measured [%]")
    axes.set(xlabel="matrix size n", ylabel="block size b", title=f"variant {variant}")


def plot_block_sizes(group: "pd.DataFrame", axes: "Axes") -> None:
    """Block sizes against n, of those compared: the predicted best as lines, the measured best as points."""
    measured = _measured(group)
    for i, (variant, own) in enumerate(_fastest(group)):
        if own["b"].nunique() > 1:
            chosen = own.loc[own.groupby("n")[BEST].idxmin()]
            best = own.loc[measured[own.index].groupby(own["n"]).idxmin()]
            axes.plot(chosen["n"], chosen["b"], color=f"C{i}", label=variant)
            axes.plot(best["n"], best["b"], "o", color=f"C{i}", markersize=4)
    axes.set(xlabel="matrix size n", ylabel="best block size b")
    axes.set_ylim(bottom=0)
    _legend(axes)


def plot_yields(group: "pd.DataFrame", axes: "Axes") -> None:
    """The yield of the predicted best block size against n, one line a variant."""
    for i, (variant, own) in enumerate(_fastest(group)):
        yields = {
            int(same["n"].iloc[0]): 100 * yield_of_choice(same[BEST].to_numpy(), _measured(same).to_numpy())
            for _, same in own.groupby("n")
            if len(same) > 1
        }
        if yields:
            axes.plot(list(yields), list(yields.values()), "o-", color=f"C{i}", markersize=3, label=variant)
    axes.set(xlabel="matrix size n", ylabel="yield of the predicted block size [%]")
    axes.set_ylim(top=100.5)
    _legend(axes)


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


def _legend(axes: "Axes") -> None:
    if axes.lines:
        axes.legend(fontsize="small", title="variant", ncols=2)


def _fastest(group: "pd.DataFrame") -> "list[tuple[str, pd.DataFrame]]":
    """The variants that are fastest when measured, and their points."""
    own = {str(variant): points for variant, points in group.groupby("variant", sort=False)}
    order = sorted(own, key=lambda variant: float((_measured(own[variant]) / own[variant]["flops"]).median()))
    return [(variant, own[variant]) for variant in order[:MOST_VARIANTS]]


def _with_block_sizes(group: "pd.DataFrame") -> "tuple[str, pd.DataFrame]":
    """The fastest variant that is there with several block sizes, else the fastest."""
    fastest = _fastest(group)
    return next(((variant, own) for variant, own in fastest if own["b"].nunique() > 1), fastest[0])


def _measured(group: "pd.DataFrame") -> "pd.Series":
    return group[[FIRST, SECOND]].mean(axis=1)
