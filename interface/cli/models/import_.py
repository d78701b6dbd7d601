"""blascast models import."""

from pathlib import Path

import click

from ..options import json_option
from ..output import show


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--replace", "replacing", is_flag=True, help="Replace models that were made here, too.")
@json_option
def import_(files: tuple[Path, ...], replacing: bool, as_json: bool) -> None:
    """Take models from FILES that 'models export' wrote, here or elsewhere, into the store.

    They are marked with the day and the name of the file. All are taken, or none if something is
    wrong with one. Models imported earlier are replaced; own ones only with --replace.

    \b
    Examples:
      blascast models import openblas.json
      blascast models import node1.json node2.json --replace
    """
    from ...stored import import_models as answer

    show(answer(files, replacing=replacing), as_json)
