"""blascast models verify."""

from typing import Any

import click

from ..options import Size, setup_options
from ..output import progress_bar, show


@click.command()
@click.argument("kernel", required=False)
@click.argument("case", required=False)
@click.option("--points", type=Size(), default=20, show_default=True, help="Random points of each model.")
@click.option("--any-size", is_flag=True, help="Also at sizes that are no multiples of 8.")
@setup_options
def verify(as_json: bool, **options: Any) -> None:
    """Measure kernels at fresh random points, and say how far their models are off.

    All models of the setup, or those of KERNEL, or of one CASE of it. Every point is measured twice:
    the difference is the noise floor. A model is stale when its errors are clearly beyond what it
    states, the clock runs at another frequency, or its samples are older than 90 days; models of
    a library that has changed since are listed. The samples are not kept: models must not be fitted
    to the points they are judged by.

    \b
    Examples:
      blascast models verify
      blascast models verify trsm 'LLNN 1' --points 50 --any-size
    """
    from ...checking import verify_models as answer

    with progress_bar() as on_progress:
        report = answer(on_progress=on_progress, **options)
    show(report, as_json)
