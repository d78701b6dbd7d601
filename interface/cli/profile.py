"""blascast profile."""

from pathlib import Path
from typing import Any

import click

from .files import figure_option, save
from .options import BlockSizeType, Size, building_options
from .output import progress_bar, show


@click.command()
@click.argument("operation")
@click.option("--variant", required=True, help="Number or name of the variant.")
@click.option("--n", type=Size(), required=True, help="Matrix size.")
@click.option("--m", type=Size(), show_default="as n", help="Rows, where an operation is on rectangular matrices.")
@click.option("--b", type=BlockSizeType(), help="Block size, or ROWSxCOLUMNS; some variants have their own.")
@click.option("--aware", is_flag=True, help="Time calls after those since their operands' last use, too.")
@figure_option
@building_options
def profile(operation: str, variant: str, n: int, output: Path | None, as_json: bool, **options: Any) -> None:
    """Run one variant of OPERATION with time stamps between its calls, and each call alone.

    What a kernel takes in an algorithm depends on what the calls before it left in the caches: it lies
    between its times warm and cold, mostly. The table holds both against it, and what models of warm
    calls tell, by kernel; --json has every call, a figure shows them in order.

    \b
    Examples:
      blascast profile cholesky --variant 3 --n 1400 --b 64
      blascast profile trinv --variant 3 --n 1400 --b 64 --aware
      blascast profile lu --variant 5 --n 1400 --b 64 --output lu.png
    """
    from ..answers.profiling import profile as answer

    with progress_bar() as on_progress:
        report = answer(operation, variant, n, on_progress=on_progress, **options)
    show(report, as_json)
    if output:
        from ..plots import draw_profile

        save(draw_profile(report), output)
