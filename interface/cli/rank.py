"""blascast rank."""

from typing import Any

import click

from .options import Size, answer_options
from .output import progress_bar, show


@click.command()
@click.argument("operation")
@click.option("--n", type=Size(), required=True, help="Matrix size.")
@click.option("--b", type=Size(), help="Block size for all; by default each variant has its own best.")
@click.option("--verify", is_flag=True, help="Measure the ranked variants too, interleaved.")
@answer_options
def rank(operation: str, n: int, b: int | None, verify: bool, as_json: bool, **options: Any) -> None:
    """Rank the variants of OPERATION (cholesky, trinv) by predicted run time.

    Variants of one class cannot be told apart: their difference is within model error and noise.
    The column ± is the standard error of the model and the scatter of the run time together.

    \b
    Examples:
      blascast rank cholesky --n 1000
      blascast rank trinv --n 800 --b 96 --verify
      blascast rank cholesky --n 1000 --json | jq '.rows[0].b'
    """
    from ..ranking import rank as answer

    with progress_bar() as on_progress:
        report = answer(operation, n, b=b, verify=verify, on_progress=on_progress, **options)
    show(report, as_json)
