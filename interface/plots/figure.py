"""All that there is to see of a model, in one figure."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from blascast.models.piecewise import Model
from blascast.sampler.errors import UsageError
from blascast.sampler.setup import Setup

from ..stored.selection import titled
from .models import plot_model_errors, plot_model_map, plot_model_scatter
from .observed import observed_points
from .slices import slices_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = ("map", "scatter", "heat")
Place: TypeAlias = tuple[int | slice, int | slice]

_WIDTH, _HEIGHT, _TITLE = 5.2, 4.4, 0.4  # of a plot, and of the title, inches


def draw_model(
    setup: Setup,
    model: Model,
    kinds: Sequence[str] | None = None,
    home: Path | None = None,
    at: Sequence[int] | None = None,
) -> "Figure":
    """A figure of a model.

    Parameters
    ----------
    setup : Setup
    model : Model
    kinds : sequence of str, optional
        ``"map"`` (`plot_model_map`), ``"scatter"`` (`plot_model_scatter`) and ``"heat"``
        (`plot_model_errors`). By default all; only the map where the store has no samples.
    home : Path, optional
        The store's folder.
    at : sequence of int, optional
        Of three sizes, values of the third.

    Raises
    ------
    UsageError
        If a kind is unknown or needs samples that are not there, or the model does not cover a value.
    """
    from matplotlib.figure import Figure

    chosen = drawable(setup, model, home) if kinds is None else tuple(dict.fromkeys(kinds))
    for kind in chosen:
        if kind not in KINDS:
            raise UsageError(f"a plot must be one of {', '.join(KINDS)}, got {kind!r}")
    places, rows, columns = _layout(chosen, len(slices_of(model, at)))
    figure = Figure(figsize=(_WIDTH * columns, _HEIGHT * rows + _TITLE), layout="constrained")
    figure.suptitle(f"{titled(setup, model)}, ld {model.key.ld}\n{setup}", size="medium")
    grid = figure.add_gridspec(rows, columns)
    for kind, place in places.items():
        part = figure.add_subfigure(grid[place])
        if kind == "map":
            plot_model_map(setup, model, part, home, at)
        elif kind == "scatter":
            plot_model_scatter(setup, model, part, home)
        else:
            plot_model_errors(setup, model, part, home, at)
    return figure


def _layout(kinds: Sequence[str], slices: int) -> tuple[dict[str, Place], int, int]:
    """Where the kinds are, and numbers of rows and columns: side by side, or a row for each that has several slices."""
    if slices == 1:
        return {kind: (0, i) for i, kind in enumerate(kinds)}, 1, len(kinds)
    sliced = [kind for kind in kinds if kind != "scatter"]
    places: dict[str, Place] = {kind: (i, slice(slices)) for i, kind in enumerate(sliced)}
    if "scatter" not in kinds:
        return places, len(sliced), slices
    if not sliced:
        return {"scatter": (0, 0)}, 1, 1
    return {**places, "scatter": (slice(None), slices)}, len(sliced), slices + 1


def drawable(setup: Setup, model: Model, home: Path | None = None) -> tuple[str, ...]:
    """The kinds that can be drawn: only the map, if the store has no samples."""
    return KINDS if len(observed_points(setup, model, home).points) else KINDS[:1]
