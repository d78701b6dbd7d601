"""blascast doctor."""

from typing import Any

import click

from .options import setup_options
from .output import progress_bar, show


@click.command()
@setup_options
def doctor(as_json: bool, **setup: Any) -> None:
    """Examine this machine: processor, limits, clock, libraries, peak, memory, noise.

    Takes about twenty seconds. Doubtful findings are marked, and come with what helps.

    \b
    Examples:
      blascast doctor
      blascast doctor --library numpy --threads 2
    """
    from ..examination import doctor as answer

    with progress_bar() as on_progress:
        report = answer(on_progress=on_progress, **setup)
    show(report, as_json)
