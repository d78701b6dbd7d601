"""blascast models plot."""

from pathlib import Path
from typing import Any

import click

from ..files import FORMATS, NewFigure, save
from ..options import Sizes
from ..output import show
from .naming import model_names


@click.command()
@model_names(required=True)
@click.option("--output", type=NewFigure(), required=True, help=f"The file to be made ({', '.join(FORMATS)}).")
@click.option(
    "--kind",
    "kinds",
    type=click.Choice(["map", "scatter", "heat"]),
    multiple=True,
    show_default="all",
    help="What to draw; may be repeated.",
)
@click.option(
    "--at",
    type=Sizes(),
    show_default="smallest, middle, largest",
    help="Of models in three sizes, values of the third at which to draw the first two.",
)
def plot(output: Path, kinds: tuple[str, ...], at: tuple[int, ...] | None, as_json: bool, **names: Any) -> None:
    """Draw one model: its pieces with their errors, and how its estimates compare to the samples.

    \b
    map      the pieces over the sizes, coloured by their error, with the sampled points;
             of one size, the performance
    scatter  predicted against measured run times, and the error of each
    heat     the error at the sampled points, over the sizes

    A model that was imported has no samples here: of it, only the map can be drawn.

    \b
    Examples:
      blascast models plot dtrsm LLNN 1 --output trsm.png
      blascast models plot gemm NN 1 1 --kind map --at 64,256 --output gemm.pdf
    """
    from ...plots import draw_model, drawable
    from ...stored import show_model
    from ...stored.done import Done

    found = show_model(**names)
    chosen = kinds or drawable(found.setup, found.model)
    save(draw_model(found.setup, found.model, chosen, at=at), output)
    row = (found.setup, found.model.key, f"drawn: {', '.join(dict.fromkeys(chosen))}")
    show(Done(f"1 model drawn to {output}", output, (row,)), as_json)
