"""blascast models estimate."""

from typing import Any

import click

from ..options import Points, source_options
from ..output import show


@click.command()
@click.argument("kernel")
@click.argument("case", nargs=-1)
@click.option("--sizes", type=Points(), required=True, help="For each size of the kernel N or FIRST:LAST:STEP.")
@click.option("--precondition", default="warm", show_default=True, help="Where operands lie, such as 'cold by flush'.")
@source_options
def estimate(kernel: str, case: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Estimate run times of calls of KERNEL from its stored model; nothing is sampled.

    All combinations of the sizes are estimated.

    \b
    Examples:
      blascast models estimate trsm LLNN 1 --sizes m=256,n=100:1000:100
      blascast models estimate gemm --sizes m=8,n=8,k=5000 --outside extrapolate --models 1f3a
    """
    from ...estimating import estimate as answer

    show(answer(kernel, " ".join(case) or None, **options), as_json)
