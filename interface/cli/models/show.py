"""blascast models show."""

from typing import Any

import click

from ..output import show
from .naming import model_names


@click.command("show")
@model_names(required=True)
def show_(as_json: bool, **names: Any) -> None:
    """Show one model in full: its pieces, and how it was made.

    KERNEL comes with the letter of a data type or without; CASE may be the words it begins with. A
    CASE with -1 needs quotes. As JSON come the polynomials, too.

    \b
    Examples:
      blascast models show dtrsm LLNN 1
      blascast models show gemm 'NN -1 1' --library scipy --ld 1032
      blascast models show potf2 --json | jq '.rows[].coefficients'
    """
    from ...stored import show_model as answer

    show(answer(**names), as_json)
