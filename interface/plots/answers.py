"""Plots of answers: rankings and block sizes."""

from typing import TYPE_CHECKING

import numpy as np

from blascast.predictors.configurations import shown

from ..answers.blocksizes import BlocksizeReport
from ..answers.contraction_report import ContractionReport
from ..answers.standings import Contender, RankReport, SweepReport
from .axes import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ALGORITHMS = 20  # of a contraction
MOST_LOSS = 20.0  # per cent, that lines are drawn up to
MOST_LINES = 12  # in a plot of a sweep; what is never among the best so many is left out


def draw_rank(report: RankReport | SweepReport) -> "Figure":
    """A figure of a ranking, or of rankings over a sweep."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 4.8), layout="constrained")
    if isinstance(report, RankReport):
        plot_rank(report, figure.add_subplot())
    else:
        plot_sweep(report, figure.add_subplot())
    return figure


def draw_blocksize(report: BlocksizeReport) -> "Figure":
    """A figure of best block sizes: run times, and the trade-off at the largest size."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13.0, 4.4), layout="constrained")
    times, shares, rates = figure.subplots(1, 3)
    plot_blocksize(report, times)
    plot_tradeoff(report, shares, rates)
    return figure


def draw_contraction(report: ContractionReport) -> "Figure":
    """A figure of the algorithms of a contraction."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 4.8), layout="constrained")
    plot_contraction(report, figure.add_subplot())
    return figure


def plot_contraction(report: ContractionReport, axes: "Axes | None" = None) -> "Axes":
    """Predicted performance of algorithms as bars with their uncertainty, measured as points, opponents as lines."""
    axes = axes or new_axes()
    rows = report.rows[:MOST_ALGORITHMS]
    rates = np.array([row.flops_per_second / 1e9 for row in rows])
    spread = rates * [row.relative_error for row in rows]
    places = np.arange(len(rows))
    axes.barh(places, rates, xerr=spread, capsize=3, color="C0", alpha=0.6, label="predicted")
    if report.is_verified:
        measured = [report.flops / row.measured / 1e9 if row.measured else np.nan for row in rows]
        axes.plot(measured, places, "o", color="C1", label="measured")
    for i, opponent in enumerate(report.opponents):
        rate = report.flops / opponent.seconds / 1e9
        axes.axvline(rate, color=f"C{i + 2}", linestyle="--", label=f"{opponent.name}, measured")
    axes.set_yticks(places, [row.name for row in rows])
    axes.invert_yaxis()
    axes.set_ylabel("algorithm")
    axes.set_xlabel("performance [GFLOP/s]")
    sizes = ", ".join(f"{index} = {extent}" for index, extent in report.problem.extents.items())
    axes.set_title(f"{report.problem.contraction}, {sizes}")
    axes.legend()
    return axes


def plot_rank(report: RankReport, axes: "Axes | None" = None) -> "Axes":
    """Predicted performance of the ranked variants as bars with their uncertainty, measured as points."""
    axes = axes or new_axes()
    several = len(report.evidence) > 1
    names = [
        f"{row.contender.variant.name}{f' {row.contender.setup_label}' * several}"
        f"  (b = {shown(row.candidate.configuration.b)})"
        for row in report.rows
    ]
    rates = np.array([row.flops_per_second / 1e9 for row in report.rows])
    spread = rates * [row.candidate.error / row.candidate.times.median for row in report.rows]
    places = np.arange(len(names))
    axes.barh(places, rates, xerr=spread, capsize=3, color="C0", alpha=0.6, label="predicted")
    if report.verified:
        measured = [
            rate * row.candidate.times.median / row.measured.median if row.measured else np.nan
            for rate, row in zip(rates, report.rows, strict=True)
        ]
        axes.plot(measured, places, "o", color="C1", label="measured")
    axes.set_yticks(places, names, fontsize="small" if len(names) > MOST_LINES else None)
    axes.invert_yaxis()
    axes.set_ylabel("variant")
    axes.set_xlabel("performance [GFLOP/s]")
    axes.set_title(f"{report.operation.name}, {', '.join(f'{k} = {v}' for k, v in report.problem.items())}")
    axes.legend()
    return axes


def plot_sweep(report: SweepReport, axes: "Axes | None" = None) -> "Axes":
    """Predicted performance against n as lines, measured as points, with the peak as the top line."""
    axes = axes or new_axes()
    n = [ranking.problem["n"] for ranking in report.rankings]
    several = len(report.evidence) > 1
    for i, contender in enumerate(_shown_contenders(report)):
        rows = [next(row for row in ranking.rows if row.contender is contender) for ranking in report.rankings]
        rates = np.array([row.flops_per_second / 1e9 for row in rows])
        spread = rates * [row.candidate.error / row.candidate.times.median for row in rows]
        label = contender.variant.name + f" {contender.setup_label}" * several
        (line,) = axes.plot(n, rates, color=f"C{i % 10}", linestyle="-" if i < 10 else "--", label=label)
        axes.fill_between(n, rates - spread, rates + spread, color=line.get_color(), alpha=0.15, linewidth=0)
        measured = [
            rate * row.candidate.times.median / row.measured.median if row.measured else np.nan
            for rate, row in zip(rates, rows, strict=True)
        ]
        if not np.all(np.isnan(measured)):
            axes.plot(n, measured, "o", color=line.get_color(), markersize=4)
    for evidence in report.evidence:
        if evidence.peak is not None:
            name = f" {evidence.setup.library.name}, {evidence.setup.threads}" * several
            axes.axhline(evidence.peak / 1e9, color="0.3", linewidth=1, linestyle=":", label=f"peak{name}")
    title = report.rankings[0].operation.name
    if (left_out := len(report.rankings[0].rows) - MOST_LINES) > 0:
        title += f", the {MOST_LINES} best ({left_out} more are in the table)"
    axes.set(xlabel="matrix size n", ylabel="performance [GFLOP/s]", title=title)
    axes.set_ylim(bottom=0)
    axes.legend(fontsize="small", ncols=2)
    return axes


def _shown_contenders(report: SweepReport) -> list[Contender]:
    """The contenders that are best somewhere, or near it; in the order of their best places."""
    places: dict[Contender, int] = {}
    for ranking in report.rankings:
        for place, row in enumerate(ranking.rows):
            places[row.contender] = min(place, places.get(row.contender, place))
    return sorted(places, key=lambda contender: places[contender])[:MOST_LINES]


def plot_blocksize(report: BlocksizeReport, axes: "Axes | None" = None) -> "Axes":
    """Predicted run time against block size, relative to the best, one line a size; measured as points."""
    axes = axes or new_axes()
    worst_measured = 0.0
    for i, row in enumerate(report.rows):
        curve, (low, high) = row.curve, row.curve.plateau
        (line,) = axes.plot(
            curve.b, 100 * (curve.seconds / row.seconds - 1), label=f"n = {curve.problem['n']}", color=f"C{i % 10}"
        )
        axes.axvspan(low, high, color=line.get_color(), alpha=0.08)
        axes.plot([row.b], [0.0], "v", color=line.get_color())
        if row.measured is not None:
            measured = {b: 100 * (times.median / row.measured[row.b].median - 1) for b, times in row.measured.items()}
            axes.plot(list(measured), list(measured.values()), "o", color=line.get_color(), markersize=4)
            worst_measured = max(worst_measured, *map(float, measured.values()))
    axes.set_xlabel("block size b")
    axes.set_ylabel("run time above the best [%]")
    bottom, top = axes.get_ylim()
    axes.set_ylim(bottom, max(MOST_LOSS, 1.05 * worst_measured) if top > MOST_LOSS else top)
    axes.set_title(str(report.variant))
    axes.legend(fontsize="small")
    return axes


def plot_tradeoff(report: BlocksizeReport, shares: "Axes", rates: "Axes") -> None:
    """For the largest size, against the block size: each kernel's share of the run time, and its rate."""
    problem = max((row.curve.problem for row in report.rows), key=lambda problem: problem["n"])
    chosen = np.flatnonzero(np.all([report.replay.sequence.sizes[k] == v for k, v in problem.items()], axis=0))
    order = chosen[np.argsort(report.replay.sequence.b[chosen])]
    b, total = report.replay.sequence.b[order], report.replay.statistics[order, 1]
    kernels: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for share in report.replay.shares:
        seconds, flops = kernels.get(share.label, (np.zeros(len(b)), np.zeros(len(b))))
        kernels[share.label] = (seconds + share.seconds[order], flops + share.flops[order])
    labels = sorted(kernels, key=lambda label: -float(kernels[label][0].sum()))
    shares.stackplot(b, *(100 * kernels[label][0] / total for label in labels), labels=labels, alpha=0.7)
    for label in labels:
        seconds, flops = kernels[label]
        if flops.any():
            rates.plot(b, np.divide(flops, seconds, out=np.full(len(b), np.nan), where=seconds > 0) / 1e9, label=label)
    where = ", ".join(f"{name} = {size}" for name, size in problem.items())
    shares.set(xlabel="block size b", ylabel="share of the run time [%]", title=where, ylim=(0, 100))
    rates.set(xlabel="block size b", ylabel="performance of the kernel [GFLOP/s]", title=where)
    rates.set_ylim(bottom=0)
    for axes in (shares, rates):
        axes.legend(fontsize="small")
