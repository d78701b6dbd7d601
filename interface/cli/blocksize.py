"""blascast blocksize."""

from pathlib import Path
from typing import Any

import click

from blascast.predictors.configurations import USUAL_B

from .files import figure_option, save
from .options import Size, Sizes, answer_options
from .output import progress_bar, show


@click.command()
@click.argument("operation")
@click.option("--variant", required=True, help="Number or name of the variant.")
@click.option("--n", type=Sizes(), required=True, help="Matrix sizes: N, N,N or FIRST:LAST:STEP.")
@click.option("--m", type=Size(), show_default="as n", help="Rows, where an operation is on rectangular matrices.")
@click.option("--fixed", type=Size(), default=USUAL_B, show_default=True, help="A block size to compare with.")
@click.option("--verify", is_flag=True, help="Measure the best block size and others too, interleaved.")
@figure_option
@answer_options
def blocksize(
    operation: str, variant: str, n: tuple[int, ...], output: Path | None, as_json: bool, **options: Any
) -> None:
    """Find the best block size of a variant of OPERATION.

    Prints for every n the best block size, the range within 1 % of it, and by how much a fixed one
    takes longer. The figure shows the run time against the block size and, for the largest n, the
    trade-off: the share of each kernel and its rate.

    \b
    Examples:
      blascast blocksize cholesky --variant 3 --n 500:2000:500
      blascast blocksize lu --variant lapack --n 1000 --verify --output blocksizes.png
      blascast blocksize trinv --variant 3 --n 800 --json
    """
    from ..answers.blocksizes import blocksize as answer

    with progress_bar() as on_progress:
        report = answer(operation, variant, n, on_progress=on_progress, **options)
    show(report, as_json)
    if output:
        from ..plots import draw_blocksize

        save(draw_blocksize(report), output)
