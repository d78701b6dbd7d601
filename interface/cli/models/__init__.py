"""blascast models: what is kept, one module a verb."""

import click

from .build import build
from .compare import compare
from .estimate import estimate
from .export import export
from .import_ import import_
from .list import list_
from .pieces import pieces
from .plot import plot
from .remove import remove
from .show import show_
from .study import study
from .verify import verify


@click.group()
def models() -> None:
    """Make, look at, check and hand on kernel models.

    \b
    Examples:
      blascast models build trsm 'LLNN 1' --sizes m=24:536,n=24:4152
      blascast models verify
      blascast models list
      blascast models study --library simulated --minutes 1
      blascast models show dtrsm LLNN 1
      blascast models plot dtrsm LLNN 1 --output trsm.png
      blascast models export --output models.json
    """


for _verb in (build, verify, estimate, list_, show_, plot, compare, export, import_, remove, study, pieces):
    models.add_command(_verb)
