"""blascast models: what is kept, one module a verb."""

import click

from .list import list_
from .pieces import pieces
from .study import study


@click.group()
def models() -> None:
    """Make, look at, check and hand on kernel models.

    \b
    Examples:
      blascast models list
      blascast models study --library simulated --minutes 1
    """


for _verb in (list_, pieces, study):
    models.add_command(_verb)
