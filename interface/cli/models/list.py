"""blascast models list."""

from typing import Any

import click

from ..output import show
from .naming import model_names


@click.command("list")
@model_names(required=False)
def list_(as_json: bool, **names: Any) -> None:
    """List the kernel models that are kept: setup, pieces, error, cost.

    All of them, or those of a KERNEL (with the letter of a data type or without), a CASE (or the
    words it begins with), a library, data type, number of threads or setup.

    \b
    Examples:
      blascast models list
      blascast models list dtrsm
      blascast models list --library scipy --threads 2
      blascast models list --json | jq '.rows[].kernel'
    """
    from ...stored import list_models as answer

    show(answer(**names), as_json)
