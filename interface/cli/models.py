"""blascast models."""

import click

from .options import setup_options
from .output import show


@click.command()
@setup_options
def models(library: str, dtype: str, threads: int, as_json: bool) -> None:
    """List the kernel models that are kept: setup, pieces, error, cost.

    \b
    Examples:
      blascast models
      blascast models --json | jq '.rows[].kernel'
    """
    from ..stored import list_models as answer

    show(answer(), as_json)
