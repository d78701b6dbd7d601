"""Figures of the studies."""

from typing import TYPE_CHECKING

import numpy as np

from .pieces import PiecesReport
from .report import StudiedSetup, StudyReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLES = {  # marker and color
    "peise2017": ("s", "C1"),
    "default": ("o", "C3"),
    "fast": ("v", "C4"),
    "accurate": ("^", "C5"),
    "cubic": ("P", "C6"),
    "flops": ("X", "C8"),
}
_WIDTH, _HEIGHT = 6.4, 4.8


def plot_study(report: StudyReport) -> "Figure":
    """Error against cost of all configurations, one panel a library.

    The front of those that no other beats is a line, presets and baselines are marked, the noise floor is
    dashed.
    """
    figure, panels = _panels(len(report.setups))
    for panel, setup in zip(panels, report.setups, strict=True):
        _plot_setup(panel, setup, report.pruning.survivors)
    return figure


def _plot_setup(axes: "Axes", setup: StudiedSetup, survivors: tuple[int, ...]) -> None:
    costs = np.array([found.seconds for found in setup.outcomes])
    errors = 100 * np.array([found.error for found in setup.outcomes])
    axes.loglog(costs, errors, ".", color="0.75", markersize=3, label=f"{len(costs)} configurations")
    left = list(survivors)
    axes.loglog(costs[left], errors[left], ".", color="C2", markersize=5, label=f"{len(left)} after pruning")
    axes.loglog(costs[setup.front], errors[setup.front], "-", color="C0", linewidth=1, label="their front")
    axes.axhline(100 * setup.noise_floor, color="black", linestyle="--", linewidth=0.8, label="noise floor")
    for found in (*setup.presets, *setup.baselines):
        marker, color = _STYLES.get(found.name, ("D", "C7"))
        place = [found.seconds], [100 * found.error]
        axes.loglog(*place, marker, color=color, markersize=8, markeredgecolor="black", label=found.name, zorder=3)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
    axes.set_xlabel("cost of the samples [s]")
    axes.set_ylabel("mean error [%]")
    axes.set_title(f"dtrsm LLNN, {setup.library}, {' x '.join(map(str, setup.counts))} points")
    axes.legend(fontsize="small")


def plot_pieces(report: PiecesReport) -> "Figure":
    """Performance over the size: measured as points, fitted as lines; halving on the left, fitted cuts on the right."""
    figure, panels = _panels(2)
    measured = report.flops_per_second(report.measured) / 1e9
    for panel, cuts in zip(panels, ("halves", "fitted"), strict=True):
        panel.plot(report.sizes, measured, ".", color="0.4", label="measured")
        for each in (each for each in report.found if each.cuts == cuts):
            error = 100 * each.errors(report.sizes, report.measured).mean()
            count = len(each.parts)
            label = f"{count} piece{'s' * (count > 1)}, mean error {error:.2f} %"
            (line,) = panel.plot(
                report.sizes, report.flops_per_second(each.seconds(report.sizes)) / 1e9, linewidth=1, label=label
            )
            for bound in each.bounds:
                panel.axvline(bound, color=line.get_color(), linewidth=0.6, linestyle="--")
        panel.set_xlabel("size m = n")
        panel.set_ylabel("performance [GFLOP/s]")
        panel.set_title(f"dtrsm LLNN, {report.setup.library.name}, {cuts}")
        panel.legend(fontsize="small")
    return figure


def _panels(count: int) -> "tuple[Figure, list[Axes]]":
    """A row of panels."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(
        1, count, figsize=(count * _WIDTH, _HEIGHT), layout="constrained", squeeze=False, sharey=True
    )
    return figure, list(panels[0])
