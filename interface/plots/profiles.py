"""Plots of profiles: the calls of an algorithm in order."""

from typing import TYPE_CHECKING

import numpy as np

from ..answers.profiling import ALL, ProfileReport

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_KERNELS = 6  # the costliest


def draw_profile(report: ProfileReport) -> "Figure":
    """A figure of a profile: for each kernel its calls, in the algorithm as points, alone and by the model as lines."""
    from matplotlib.figure import Figure

    profile = report.profile
    kernels = [row.kernel for row in report.rows if row.kernel != ALL][:MOST_KERNELS]
    columns = min(len(kernels), 3)
    rows = -(-len(kernels) // columns)
    figure = Figure(figsize=(5.0 * columns, 3.6 * rows + 0.4), layout="constrained")
    labels = np.array(profile.labels)
    for axes, kernel in zip(figure.subplots(rows, columns, squeeze=False).ravel(), kernels, strict=False):
        (places,) = np.nonzero(labels == kernel)
        for times, style, name in (
            (profile.alone["cold"], "C0-", "cold, alone"),
            (profile.alone["warm"], "C3-", "warm, alone"),
            (profile.model, "k--", "model"),
        ):
            axes.plot(places + 1, 1e6 * times[places], style, linewidth=1, label=name)
        axes.plot(places + 1, 1e6 * profile.inside[places], "C1o", markersize=3, label="in the algorithm")
        axes.set(title=kernel, xlabel="number of the call", ylabel="time [µs]", ylim=(0, None))
    for axes in figure.axes[len(kernels) :]:
        axes.set_axis_off()
    figure.axes[0].legend()
    figure.suptitle(report.title, size="medium")
    return figure
