"""blascast models export."""

from typing import Any

import click

from ..files import NewFile
from ..output import show
from .naming import model_names


@click.command()
@model_names(required=False)
@click.option("--output", type=NewFile(), required=True, help="File to be made.")
@click.option(
    "--format",
    type=click.Choice(["json", "c"]),
    default="json",
    show_default=True,
    help="A bundle that 'models import' reads, or a C header that evaluates the models.",
)
def export(as_json: bool, **names: Any) -> None:
    """Write models to a file, to be used elsewhere.

    All of them, or those of a KERNEL, a CASE, a library, data type, number of threads or setup. A C
    header is of one setup.

    \b
    Examples:
      blascast models export --output all.json
      blascast models export --library scipy --dtype d --output openblas.json
      blascast models export dtrsm --format c --output trsm.h
    """
    from ...stored import export_models as answer

    show(answer(**names), as_json)
