"""blascast models remove."""

import sys
from typing import Any

import click

from blascast.sampler.errors import UsageError

from ..output import show
from .naming import model_names


@click.command()
@model_names(required=False)
@click.option("--all", "everything", is_flag=True, help="All models.")
@click.option("--samples", is_flag=True, help="Their samples, too.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove(yes: bool, as_json: bool, **names: Any) -> None:
    """Remove models: those of a KERNEL, a CASE, a library, data type, number of threads or setup, or --all.

    Their samples stay, from which a model is soon made anew, unless --samples removes them, too.

    \b
    Examples:
      blascast models remove dtrsm LLNN 1
      blascast models remove --setup 1c2a --samples
      blascast models remove --all --yes
    """
    from ...stored import remove_models as answer

    show(answer(confirm=None if yes else _confirmed, **names), as_json)


def _confirmed(question: str) -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(f"{question} There is no terminal to ask on, so nothing was removed; --yes says yes")
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        return False
