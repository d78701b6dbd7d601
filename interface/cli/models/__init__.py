"""blascast models: what is kept, one module a verb."""

import click

from .build import build
from .estimate import estimate
from .list import list_
from .verify import verify


@click.group()
def models() -> None:
    """Make, look at, check and hand on kernel models.

    \b
    Examples:
      blascast models build trsm 'LLNN 1' --sizes m=24:536,n=24:4152
      blascast models verify
      blascast models list
    """


for _verb in (build, verify, estimate, list_):
    models.add_command(_verb)
