"""Plots of answers: rankings and block sizes."""

from typing import TYPE_CHECKING

from blascast.predictors.blocksize import curve

from ..blocksizes import BlocksizeReport
from ..ranking import RankReport
from .axes import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_rank(report: RankReport, axes: "Axes | None" = None) -> "Axes":
    """Predicted performance of the ranked variants as bars with their uncertainty, measured as points."""
    axes = axes or new_axes()
    names = [f"{row.candidate.variant.number}  (b = {row.candidate.b})" for row in report.rows]
    rates = [row.flops_per_second / 1e9 for row in report.rows]
    spread = [
        rate * row.candidate.error / row.candidate.times.median for rate, row in zip(rates, report.rows, strict=True)
    ]
    axes.bar(names, rates, yerr=spread, capsize=4, color="C0", alpha=0.6, label="predicted")
    if report.verified:
        measured = [
            rate * row.candidate.times.median / row.measured.median
            for rate, row in zip(rates, report.rows, strict=True)
            if row.measured
        ]
        axes.plot(names, measured, "o", color="C1", label="measured")
    axes.set_xlabel("variant")
    axes.set_ylabel("performance [GFLOP/s]")
    axes.set_title(f"{report.operation}, n = {report.n}")
    axes.legend()
    return axes


def plot_blocksize(report: BlocksizeReport, axes: "Axes | None" = None) -> "Axes":
    """Predicted run time against block size, relative to the best, one line a matrix size."""
    axes = axes or new_axes()
    for i, row in enumerate(report.rows):
        b, seconds = curve(report.replay, row.n)
        (line,) = axes.plot(b, 100 * (seconds / row.seconds - 1), label=f"n = {row.n}", color=f"C{i % 10}")
        axes.axvspan(row.low, row.high, color=line.get_color(), alpha=0.08)
        axes.plot([row.b], [0.0], "v", color=line.get_color())
    axes.set_xlabel("block size b")
    axes.set_ylabel("run time above the best [%]")
    axes.set_ylim(-0.5, 20)
    axes.set_title(str(report.replay.sequence.variant))
    axes.legend()
    return axes
