"""blascast models: what is kept, one module a verb."""

import click

from .list import list_


@click.group()
def models() -> None:
    """Make, look at, check and hand on kernel models.

    \b
    Examples:
      blascast models list
    """


for _verb in (list_,):
    models.add_command(_verb)
