"""blascast models build."""

from typing import Any

import click

from ..options import Ranges, building_options, presets_table
from ..output import progress_bar, show


@click.command(epilog=presets_table())
@click.argument("kernel")
@click.argument("cases", metavar="[CASE]...", nargs=-1)
@click.option(
    "--sizes",
    type=Ranges(),
    required=True,
    help="For each size of the kernel its lowest and highest value, both included, or a single one.",
)
@click.option(
    "--precondition", default="warm", show_default=True, help="Where operands lie, such as 'cold by flush', 'A cold'."
)
@building_options
def build(kernel: str, cases: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Build models of KERNEL (gemm, trsm, ...) on given sizes, without a question.

    A CASE is a kernel's flags and the classes of its scalars, such as 'LLNN 1' for trsm, in quotes;
    without one the usual case is meant: the first letter of every flag, factors of 1. What was
    measured is kept, also after an interrupt: the same command goes on. Bounds are rounded outwards
    to multiples of 8. Questions use models of their own --preset and --set alone.

    \b
    Examples:
      blascast models build trsm --sizes m=24:536,n=24:4152
      blascast models build trsm 'LLNN 1' 'RLTN 1' --sizes m=24:536,n=64 --threads 2
      blascast models build gemm --sizes m=8:512,n=8:512,k=8:512 --preset fast --set reference=min
      blascast models build trsm --sizes m=64,n=24:4152 --precondition 'A cold'
    """
    from ...building import build as answer

    with progress_bar() as on_progress:
        report = answer(kernel, *cases, on_progress=on_progress, **options)
    show(report, as_json)
