"""blascast doctor."""

import click

from .options import setup_options
from .output import progress_bar, show


@click.command()
@setup_options
def doctor(library: str, dtype: str, threads: int, as_json: bool) -> None:
    """Examine this machine: processor, load, clock, libraries, peak, noise.

    \b
    Examples:
      blascast doctor
      blascast doctor --library numpy --threads 2
    """
    from ..examination import doctor as answer

    with progress_bar() as on_progress:
        report = answer(library=library, dtype=dtype, threads=threads, on_progress=on_progress)
    show(report, as_json)
