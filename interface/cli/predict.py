"""blascast predict."""

from typing import Any

import click

from .options import Size, answer_options
from .output import progress_bar, show


@click.command()
@click.argument("operation")
@click.option("--variant", type=Size(), required=True, help="Number of the variant.")
@click.option("--n", type=Size(), required=True, help="Matrix size.")
@click.option("--b", type=Size(), required=True, help="Block size.")
@click.option("--breakdown", is_flag=True, help="List what each kernel contributes.")
@answer_options
def predict(operation: str, variant: int, n: int, b: int, breakdown: bool, as_json: bool, **options: Any) -> None:
    """Predict the run time of one variant of OPERATION (cholesky, trinv).

    \b
    Examples:
      blascast predict trinv --variant 3 --n 2000 --b 96 --breakdown
      blascast predict cholesky --variant 2 --n 1000 --b 64 --json
    """
    from ..prediction import predict as answer

    with progress_bar() as on_progress:
        report = answer(operation, variant, n, b, breakdown=breakdown, on_progress=on_progress, **options)
    show(report, as_json)
