"""blascast models pieces."""

from pathlib import Path

import click

from ..files import figure_option, save
from ..options import json_option, one_library_option
from ..output import progress_bar, show


@click.command()
@one_library_option
@figure_option
@json_option
def pieces(library: str, output: Path | None, as_json: bool) -> None:
    """Fit one, two and three cubic pieces to dtrsm LLNN, m = n = 24..536.

    Repeats the dissertation's example (section 7.5.2) of why models are piecewise, by halving and by
    fitted cuts.

    \b
    Examples:
      blascast models pieces
      blascast models pieces --library simulated --output pieces.png
    """
    from ...studies.pieces import pieces as answer

    with progress_bar() as on_progress:
        report = answer(library, on_progress=on_progress)
    if output is not None:
        from ...studies.figures import plot_pieces

        save(plot_pieces(report), output)
    show(report, as_json)
