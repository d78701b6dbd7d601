"""blascast blocksize."""

from typing import Any

import click

from .options import Size, Sizes, answer_options
from .output import progress_bar, show


@click.command()
@click.argument("operation")
@click.option("--variant", type=Size(), required=True, help="Number of the variant.")
@click.option("--n", type=Sizes(), required=True, help="Matrix sizes: N, N,N or FIRST:LAST:STEP.")
@answer_options
def blocksize(operation: str, variant: int, n: tuple[int, ...], as_json: bool, **options: Any) -> None:
    """Find the best block size of a variant of OPERATION (cholesky, trinv).

    Prints for every n the best block size, the range within 1 % of it, and the gain over block
    size 64.

    \b
    Examples:
      blascast blocksize cholesky --variant 3 --n 500:2000:500
      blascast blocksize trinv --variant 3 --n 800 --json
    """
    from ..blocksizes import blocksize as answer

    with progress_bar() as on_progress:
        report = answer(operation, variant, n, on_progress=on_progress, **options)
    show(report, as_json)
