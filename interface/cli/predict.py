"""blascast predict."""

from typing import Any

import click

from .options import BlockSizeType, Size, answer_options
from .output import progress_bar, show


@click.command()
@click.argument("operation")
@click.option("--variant", required=True, help="Number or name of the variant.")
@click.option("--n", type=Size(), required=True, help="Matrix size.")
@click.option("--m", type=Size(), show_default="as n", help="Rows, where an operation is on rectangular matrices.")
@click.option("--b", type=BlockSizeType(), help="Block size, or ROWSxCOLUMNS; some variants have their own.")
@click.option("--breakdown", is_flag=True, help="List what each kernel contributes.")
@answer_options
def predict(operation: str, variant: str, n: int, as_json: bool, **options: Any) -> None:
    """Predict the run time of one variant of OPERATION ('blascast rank --help' names them).

    \b
    Examples:
      blascast predict trinv --variant 3 --n 2000 --b 96 --breakdown
      blascast predict sylvester --variant m1n2 --n 500 --m 300 --b 64x32
      blascast predict cholesky --variant 2 --n 1000 --b 64 --json
    """
    from ..answers.prediction import predict as answer

    with progress_bar() as on_progress:
        report = answer(operation, variant, n, on_progress=on_progress, **options)
    show(report, as_json)
