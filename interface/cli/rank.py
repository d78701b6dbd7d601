"""blascast rank."""

from pathlib import Path
from typing import Any

import click

from .files import figure_option, save
from .options import BlockSizeType, Names, Size, Sizes, contest_options
from .output import progress_bar, show


@click.command()
@click.argument("operation")
@click.option("--n", type=Sizes(), required=True, help="Matrix size; or sizes: N,N or FIRST:LAST:STEP.")
@click.option("--m", type=Size(), show_default="as n", help="Rows, where an operation is on rectangular matrices.")
@click.option("--b", type=BlockSizeType(), help="Block size for all; by default each variant has its own best.")
@click.option("--variants", type=Names(), show_default="all", help="Some of them: 1,2,lapack.")
@click.option("--verify", is_flag=True, help="Measure the ranked variants too, interleaved.")
@figure_option
@contest_options
def rank(operation: str, n: tuple[int, ...], output: Path | None, as_json: bool, **options: Any) -> None:
    """Rank the variants of OPERATION by predicted run time.

    Operations: cholesky, trinv, lu, lu-nopiv, lauum, sygst, sygst-product, qr, sylvester; those on
    triangles also with -upper. Besides the dissertation's variants, named by numbers, there are
    LAPACK's own algorithm with its block size (lapack), a recursive one, and the library's own
    routine (library).

    Variants of one class cannot be told apart: their difference is within model error and noise.
    The column ± is the standard error of the model and the scatter of the run time together.
    Over a sweep of sizes, the fastest at each, what is tied with it, and crossovers.

    \b
    Examples:
      blascast rank cholesky --n 1000
      blascast rank trinv --n 200:2000:200 --variants 1,3,5,7,library --output trinv.png
      blascast rank lu --n 800 --library scipy,mkl --threads 1,2
      blascast rank trinv --n 800 --b 96 --verify
      blascast rank cholesky --n 1000 --json | jq '.rows[0].b'
    """
    from ..answers.ranking import rank as answer

    with progress_bar() as on_progress:
        report = answer(operation, n[0] if len(n) == 1 else n, on_progress=on_progress, **options)
    show(report, as_json)
    if output:
        from ..plots import draw_rank

        save(draw_rank(report), output)
