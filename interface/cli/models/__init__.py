"""blascast models: what is kept, one module a verb."""

import click

from .compare import compare
from .export import export
from .import_ import import_
from .list import list_
from .pieces import pieces
from .plot import plot
from .remove import remove
from .show import show_
from .study import study


@click.group()
def models() -> None:
    """Make, look at, check and hand on kernel models.

    \b
    Examples:
      blascast models list
      blascast models study --library simulated --minutes 1
      blascast models show dtrsm LLNN 1
      blascast models plot dtrsm LLNN 1 --output trsm.png
      blascast models export --output models.json
    """


for _verb in (list_, show_, plot, pieces, study, export, import_, compare, remove):
    models.add_command(_verb)
