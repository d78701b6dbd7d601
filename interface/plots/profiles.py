"""Plots of profiles: the calls of an algorithm in order."""

from typing import TYPE_CHECKING

import numpy as np

from ..answers.profiling import ALL, ProfileReport

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_KERNELS = 12  # the costliest


STYLES = {"warm": "C3-", "cold": "C0-", "aware": "C2-"}
LABELS = {"warm": "warm, alone", "cold": "cold, alone", "aware": "after the calls since the last use"}


def draw_profile(report: ProfileReport) -> "Figure":
    """A figure of a profile: for each kernel its calls, in the algorithm as points (of two passes), else as lines."""
    from matplotlib.figure import Figure

    profile = report.profile
    kernels = [row.kernel for row in report.rows if row.kernel != ALL][:MOST_KERNELS]
    columns = min(len(kernels), 3)
    rows = -(-len(kernels) // columns)
    figure = Figure(figsize=(5.0 * columns, 3.6 * rows + 0.4), layout="constrained")
    labels = np.array(profile.labels)
    for axes, kernel in zip(figure.subplots(rows, columns, squeeze=False).ravel(), kernels, strict=False):
        (places,) = np.nonzero(labels == kernel)
        lines = [(times, STYLES[state], LABELS[state]) for state, times in profile.alone.items()]
        for times, style, name in (*lines, (profile.model, "k--", "model")):
            axes.plot(places + 1, 1e6 * times[places], style, linewidth=1, label=name)
        for times, style, name in zip(profile.passes, ("C1o", "C1x"), ("in the algorithm", "again"), strict=True):
            axes.plot(places + 1, 1e6 * times[places], style, markersize=3, label=name)
        axes.set(title=kernel, xlabel="number of the call", ylabel="time [µs]", ylim=(0, None))
    for axes in figure.axes[len(kernels) :]:
        axes.set_axis_off()
    figure.axes[0].legend()
    figure.suptitle(report.title, size="medium")
    return figure
