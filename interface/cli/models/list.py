"""blascast models list."""

from typing import Any

import click

from ..options import setup_filters
from ..output import show


@click.command("list")
@setup_filters
def list_(as_json: bool, **filters: Any) -> None:
    """List the kernel models that are kept: setup, pieces, error, cost.

    All of them, or those of a library, data type or number of threads.

    \b
    Examples:
      blascast models list
      blascast models list --library scipy --threads 2
      blascast models list --json | jq '.rows[].kernel'
    """
    from ...stored import list_models as answer

    show(answer(**filters), as_json)
