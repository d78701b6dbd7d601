"""Plots: measured as points, predicted as lines, axes with units."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from blascast.models.domain import STEP
from blascast.models.piecewise import Model
from blascast.models.store import Store
from blascast.models.summary import MEDIAN
from blascast.predictors.blocksize import curve
from blascast.predictors.configurations import IntArray
from blascast.predictors.prediction import FloatArray
from blascast.sampler.call import flags_of_case
from blascast.sampler.errors import UsageError
from blascast.sampler.setup import Setup

from .blocksizes import BlocksizeReport
from .ranking import RankReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_rank(report: RankReport, axes: "Axes | None" = None) -> "Axes":
    """Predicted performance of the ranked variants as bars with their uncertainty, measured as points."""
    axes = axes or _new_axes()
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
    axes = axes or _new_axes()
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


def plot_model(setup: Setup, model: Model, axes: "Axes | None" = None, home: Path | None = None) -> "Axes":
    """Performance of a kernel along its first size: medians of the samples as points, the model as a line.

    Other sizes are held where most samples are; dashed lines are the bounds of pieces.
    """
    axes = axes or _new_axes()
    kernel = model.kernel
    points, seconds, others = _samples_along_first_size(setup, model, home)
    sizes = np.array([[size, *others] for size in range(points.min(), points.max() + 1, STEP)])
    sizes = sizes[model.piece_of(sizes) >= 0]
    axes.plot(points, _flops(model, points, others) / seconds / 1e9, "o", color="C1", label="measured")
    predicted = model.evaluate(sizes).statistics[:, MEDIAN]
    axes.plot(sizes[:, 0], _flops(model, sizes[:, 0], others) / predicted / 1e9, color="C0", label="predicted")
    for bound in {d.upper[0] for d in model.domains if bool(d.contains(np.array([[d.upper[0], *others]]))[0])}:
        axes.axvline(bound, color="gray", linewidth=0.5, linestyle="--")
    held = ", ".join(f"{name} = {value}" for name, value in zip(kernel.sizes[1:], others, strict=True))
    axes.set_xlabel(f"size {kernel.sizes[0]}")
    axes.set_ylabel("performance [GFLOP/s]")
    axes.set_title(f"{setup.dtype}{model.key}" + (f", {held}" if held else ""))
    axes.legend()
    return axes


def _samples_along_first_size(
    setup: Setup, model: Model, home: Path | None
) -> tuple[IntArray, FloatArray, tuple[int, ...]]:
    """First sizes, medians in seconds, and the values of the other sizes."""
    store = Store(home)
    try:
        samples = store.load_samples(setup, model.key, model.state)
    finally:
        store.close()
    if not samples:
        raise UsageError(f"the store holds no samples of {model.key}")
    others = Counter(point[1:] for point in samples).most_common(1)[0][0]
    along = sorted(point for point in samples if point[1:] == others)
    seconds = [float(np.median([sample.seconds for sample in samples[point]])) for point in along]
    return np.array([point[0] for point in along]), np.array(seconds), others


def _flops(model: Model, first: IntArray, others: tuple[int, ...]) -> FloatArray:
    sizes = dict(zip(model.kernel.sizes, (first, *others), strict=True))
    return np.asarray(model.kernel.flop_count({**flags_of_case(model.kernel, model.key.case), **sizes}))


def _new_axes() -> "Axes":
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]
