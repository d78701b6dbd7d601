"""blascast libraries."""

import click

from .options import json_option
from .output import show


@click.command()
@click.argument("name", required=False)
@json_option
def libraries(name: str | None, as_json: bool) -> None:
    """List the BLAS and LAPACK libraries of this machine, or what the one called NAME has.

    NAME is one that is listed, a path, or LAPACK+BLAS: the LAPACK of the first on the BLAS of the
    second.

    \b
    Examples:
      blascast libraries
      blascast libraries scipy
      blascast libraries reference+blis-openmp --json
    """
    from ..inventory import describe_library
    from ..inventory import libraries as answer

    show(answer() if name is None else describe_library(name), as_json)
