"""blascast accuracy."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .files import NewFile, figure_option, save
from .options import Names, Size, Sizes, contest_building_options
from .output import progress_bar, show

if TYPE_CHECKING:
    import pandas as pd


def writer(path: Path) -> "Callable[[pd.DataFrame], None]":
    """Writes points to a file, anew at first: should anything fail later, they are not lost."""
    begun = False

    def write(points: "pd.DataFrame") -> None:
        nonlocal begun
        points.to_csv(path, index=False, mode="a" if begun else "w", header=not begun)
        begun = True

    return write


@click.command()
@click.argument("operations", nargs=-1, required=True)
@click.option("--n", type=Sizes(), default="200:2000:300", show_default=True, help="Matrix sizes.")
@click.option("--b", type=Sizes(), default="32,64,96,128,192", show_default=True, help="Block sizes.")
@click.option("--m", type=Size(), show_default="as n", help="Rows, where an operation is on rectangular matrices.")
@click.option("--variants", type=Names(), show_default="all", help="Some of them: 1,2,lapack.")
@click.option("--repetitions", type=Size(), default=5, show_default=True, help="Runs of each, in each of two passes.")
@click.option("--csv", type=NewFile(), help="A file for all points, written as they come.")
@figure_option
@contest_building_options
def accuracy(
    operations: tuple[str, ...],
    n: tuple[int, ...],
    b: tuple[int, ...],
    csv: Path | None,
    output: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Hold predictions of OPERATIONS against measurements, beside simpler ways to predict the same.

    Every variant is predicted and then run in two passes, at all sizes and block sizes. The ladder
    of predictors, each with what it cost to measure: the flop count at the peak, at one rate, a power
    law through small runs, one polynomial per kernel, the models, and the models corrected by steps of
    the algorithms (what answers use). 'measured again' is the noise floor: the first pass predicts the
    second.

    \b
    Examples:
      blascast accuracy cholesky trinv
      blascast accuracy lu --n 400:2000:400 --threads 1,2 --output lu.pdf --csv lu.csv
    """
    from ..answers.accuracy import accuracy as answer

    with progress_bar() as on_progress:
        report = answer(operations, n, b, on_points=writer(csv) if csv else None, on_progress=on_progress, **options)
    show(report, as_json)
    if output:
        from ..plots import draw_accuracy

        save(draw_accuracy(report), output)
