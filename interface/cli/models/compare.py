"""blascast models compare."""

import click

from ..options import json_option
from ..output import show


@click.command()
@click.argument("a")
@click.argument("b")
@json_option
def compare(a: str, b: str, as_json: bool) -> None:
    """Compare the models of B to those of A: the ratio of their run times, case by case.

    Each is a setup in the store, by the first digits of its fingerprint (see 'models list'), or a
    file that 'models export' wrote: two libraries, two machines, or one before and after an update.

    \b
    Examples:
      blascast models compare 1c2a 77e0
      blascast models compare before.json 1c2a
      blascast models compare laptop.json server.json --json
    """
    from ...stored import compare_models as answer

    show(answer(a, b), as_json)
