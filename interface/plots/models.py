"""Plots of stored models: their pieces, their curves, and how they compare to the samples."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from blascast.models.piecewise import Model, Piece
from blascast.models.sizes.domain import STEP
from blascast.models.summary import MEDIAN
from blascast.predictors.prediction import FloatArray
from blascast.sampler.call import flags_of_case
from blascast.sampler.kernel import flop_factor
from blascast.sampler.kernels import find_kernel
from blascast.sampler.setup import Setup

from ..report import counted
from ..stored.selection import titled
from ..stored.showing import size_names
from .axes import marker_size, new_axes, new_figure, scale_sizes
from .observed import Observed, observed_points
from .slices import Slice, slices_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import FigureBase

_CURVE = 1000  # sizes that a curve is drawn through, at most
_DARKEST = 0.5  # of a range of colours on which black points can be seen
_LEAST_PERCENT = 1.0  # that colours reach to: what is a small error looks like one


def plot_model(setup: Setup, model: Model, axes: "Axes | None" = None, home: Path | None = None) -> "Axes":
    """Performance of a kernel along its first size: medians of the samples as points, the model as a line.

    Other sizes are held where most samples are. Pieces are shaded, the darker the larger their error.
    Where nothing is computed, the bandwidth is shown instead.
    """
    axes = axes or new_axes()
    observed = observed_points(setup, model, home)
    others = observed.common_others(model)
    domains = [domain for domain in model.domains if Slice(others, first=1).cuts(domain)]
    low, high = min(domain.lower[0] for domain in domains), max(domain.upper[0] for domain in domains)
    step = STEP if model.ripple else 1
    even = step * np.round(np.geomspace(low, high, _CURVE) / step)
    along = np.unique(np.clip(even, low, high)).astype(np.int64)
    sizes = np.array([[size, *others] for size in along])
    covered = model.piece_of(sizes) >= 0
    predicted = np.full(len(sizes), np.nan)
    predicted[covered] = model.evaluate(sizes[covered]).statistics[:, MEDIAN]
    amounts, label = _amounts(setup, model, sizes)
    here = observed.with_others(others)
    if len(here.points):
        axes.plot(
            here.points[:, 0], _amounts(setup, model, here.points)[0] / here.seconds, "o", color="C1", label="measured"
        )
    axes.plot(along, amounts / predicted, color="C0", label="predicted")
    for piece, colour in _coloured_pieces(model):
        if Slice(others, first=1).cuts(piece.domain):
            axes.axvspan(piece.domain.lower[0], piece.domain.upper[0], facecolor=colour, zorder=0)
    names = size_names(model)
    scale_sizes(axes.xaxis, names[0], (low, high), _logarithmic(model))
    held = ", ".join(f"{name} = {value}" for name, value in zip(names[1:], others, strict=True))
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    axes.set_title(titled(setup, model) + (f", {held}" if held else ""))
    axes.legend()
    return axes


def plot_model_map(
    setup: Setup,
    model: Model,
    figure: "FigureBase | None" = None,
    home: Path | None = None,
    at: Sequence[int] | None = None,
) -> "list[Axes]":
    """The pieces of a model over its first two sizes, coloured by their errors; sampled points as dots.

    Of one size, its performance (`plot_model`).

    Parameters
    ----------
    setup : Setup
    model : Model
    figure : Figure or SubFigure, optional
        Where to draw, by default a new one.
    home : Path, optional
        The store's folder.
    at : sequence of int, optional
        Of three sizes, values of the third: one plot each. By default its smallest, middle and largest.

    Raises
    ------
    UsageError
        If the model does not cover such a value.
    """
    figure = figure or new_figure()
    slices = slices_of(model, at)
    panels = list(figure.subplots(1, len(slices), squeeze=False)[0])
    if len(model.exponents[0]) == 1:
        plot_model(setup, model, panels[0], home)
    else:
        observed = observed_points(setup, model, home)
        for axes, slice_, points in zip(panels, slices, observed.dealt(slices), strict=True):
            _draw_boxes(axes, model, slice_)
            size = marker_size(len(points.points), 2.5)
            axes.plot(*points.points[:, :2].T, "o", color="black", markersize=size, markeredgewidth=0)
            content = (counted(len(model.pieces), "piece"), counted(len(points.points), "sampled point"))
            axes.set_title(axes.get_title() or ", ".join(content))
    figure.colorbar(_error_colours(model), ax=panels, label="error of a piece [%]")
    return panels


def plot_model_scatter(
    setup: Setup, model: Model, figure: "FigureBase | None" = None, home: Path | None = None
) -> "list[Axes]":
    """Predicted against measured medians of run times, with the line on which they are the same; errors below.

    Raises
    ------
    UsageError
        If the store has no samples of the model.
    """
    figure = figure or new_figure()
    observed = observed_points(setup, model, home).needed(model)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
    ends, size = [observed.seconds.min(), observed.seconds.max()], marker_size(len(observed.points), 4)
    points: dict[str, Any] = {"color": "C1", "markersize": size, "markeredgewidth": 0}
    above.loglog(observed.seconds, observed.predicted, "o", label="sampled points", **points)
    above.loglog(ends, ends, color="C0", label="predicted = measured")
    above.set_ylabel("predicted [s]")
    above.legend()
    below.axhline(0, color="C0")
    below.plot(observed.seconds, 100 * observed.errors, "o", **points)
    below.set_xlabel("measured [s]")
    below.set_ylabel("error [%]")
    absolute = np.abs(observed.errors)
    above.set_title(
        f"error: median {100 * np.median(absolute):.2g} %, 90th percentile {100 * np.quantile(absolute, 0.9):.2g} %"
    )
    return [above, below]


def plot_model_errors(
    setup: Setup,
    model: Model,
    figure: "FigureBase | None" = None,
    home: Path | None = None,
    at: Sequence[int] | None = None,
) -> "list[Axes]":
    """The error (predicted - measured) / measured at the sampled points, over the first two sizes, or the only one.

    Parameters
    ----------
    setup, model, figure, home, at
        See `plot_model_map`.

    Raises
    ------
    UsageError
        If the store has no samples of the model, or the model does not cover such a value.
    """
    figure = figure or new_figure()
    observed, slices = observed_points(setup, model, home).needed(model), slices_of(model, at)
    panels = list(figure.subplots(1, len(slices), squeeze=False)[0])
    if len(model.exponents[0]) == 1:
        _draw_errors_along(panels[0], model, observed)
        return panels
    colours = _signed_colours(observed.errors)
    for axes, slice_, points in zip(panels, slices, observed.dealt(slices), strict=True):
        _draw_boxes(axes, model, slice_, filled=False)
        faces = colours.to_rgba(100 * points.errors)
        size = marker_size(len(points.points), 6)
        axes.scatter(*points.points[:, :2].T, c=faces, marker="s", s=size**2, edgecolors="gray", linewidths=size / 15)
        axes.set_title(axes.get_title() or "error at sampled points")
    figure.colorbar(colours, ax=panels, label="predicted above measured [%]", extend="both")
    return panels


def _draw_boxes(axes: "Axes", model: Model, slice_: Slice, filled: bool = True) -> None:
    """The pieces that a slice cuts, the first one on top."""
    from matplotlib.patches import Rectangle

    for piece, colour in reversed(_coloured_pieces(model)):
        if slice_.cuts(piece.domain):
            (left, low), (right, high) = piece.domain.lower[:2], piece.domain.upper[:2]
            face = colour if filled else "none"
            axes.add_patch(Rectangle((left, low), right - left, high - low, facecolor=face, edgecolor="gray"))
    names = size_names(model)
    scale_sizes(axes.xaxis, names[0], _bounds(model, 0), _logarithmic(model))
    scale_sizes(axes.yaxis, names[1], _bounds(model, 1), _logarithmic(model))
    axes.set_title(", ".join(f"{name} = {value}" for name, value in zip(names[2:], slice_.held, strict=True)))


def _draw_errors_along(axes: "Axes", model: Model, observed: Observed) -> None:
    for piece in model.pieces:
        ends, error = [piece.domain.lower[0], piece.domain.upper[0]], 100 * piece.error
        axes.fill_between(ends, -error, error, color="C0", alpha=0.2, linewidth=0)
    axes.axhline(0, color="C0", label="predicted, ± error of a piece")
    axes.plot(observed.points[:, 0], 100 * observed.errors, "o", color="C1", label="sampled points")
    scale_sizes(axes.xaxis, size_names(model)[0], _bounds(model, 0), _logarithmic(model))
    axes.set_ylabel("predicted above measured [%]")
    axes.legend()


def _bounds(model: Model, size: int) -> list[int]:
    """Lower and upper bounds of all pieces along a size."""
    return [bound for domain in model.domains for bound in (domain.lower[size], domain.upper[size])]


def _logarithmic(model: Model) -> bool:
    """Whether it was sampled by ratios of sizes, rather than differences."""
    return model.parameters.grid == "geometric"


def _error_colours(model: Model) -> "ScalarMappable":
    """Colours of the pieces' errors, per cent."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    lighter = ListedColormap(colormaps["PuRd"](np.linspace(0, _DARKEST, 256)))
    return ScalarMappable(Normalize(0, max(100 * model.worst_error, _LEAST_PERCENT)), lighter)


def _coloured_pieces(model: Model) -> list[tuple[Piece, FloatArray]]:
    """The pieces with the colours of their errors."""
    colours = _error_colours(model).to_rgba(100 * np.array([piece.error for piece in model.pieces]))
    return list(zip(model.pieces, colours, strict=True))


def _signed_colours(errors: FloatArray) -> "ScalarMappable":
    """Colours of errors of either sign, per cent; a few large ones do not hide the others."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    most = 100 * float(np.quantile(np.abs(errors), 0.95)) or 1
    return ScalarMappable(Normalize(-most, most), "RdBu_r")


def _amounts(setup: Setup, model: Model, sizes: npt.NDArray[np.int64]) -> tuple[FloatArray, str]:
    """What calls compute, in units of 1e9 flops, or move, in GB; and what it is per second."""
    kernel = find_kernel(model.key.kernel)
    values = {**flags_of_case(kernel, model.key.case), **dict(zip(kernel.sizes, sizes.T, strict=True))}
    flops = flop_factor(setup.dtype) * np.broadcast_to(kernel.flop_count(values), len(sizes))
    if (flops > 0).any():
        return flops / 1e9, "performance [GFLOP/s]"
    return np.broadcast_to(kernel.byte_count(values, setup.dtype), len(sizes)) / 1e9, "bandwidth [GB/s]"
