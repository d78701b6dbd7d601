"""blascast models study."""

from pathlib import Path

import click

from ..files import figure_option, save
from ..options import json_option, libraries_option
from ..output import progress_bar, show


@click.command()
@libraries_option
@click.option("--minutes", type=float, show_default="30; simulated: all sizes", help="Sampling time for each library.")
@figure_option
@json_option
def study(library: tuple[str, ...], minutes: float | None, output: Path | None, as_json: bool) -> None:
    """Study what accuracy costs: 2880 configurations of the generator.

    Repeats the dissertation's study (section 9.2) and adds our presets. dtrsm LLNN is measured on one
    thread at as many sizes as the time allows (m 24..536, n 24..4152), and all generators are replayed
    on the samples. These are kept: a study that was ended goes on, and one that is complete is not
    measured again. The figure shows error against cost.

    \b
    Examples:
      blascast models study --library simulated --minutes 1
      blascast models study --output study.png
      blascast models study --library scipy --library blis --json | jq '.majority'
    """
    from ...studies import study as answer

    with progress_bar() as on_progress:
        report = answer(library, minutes=minutes, on_progress=on_progress)
    if output is not None:
        from ...studies.figures import plot_study

        save(plot_study(report), output)
    show(report, as_json)
