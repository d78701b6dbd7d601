"""blascast contract."""

from pathlib import Path
from typing import Any

import click

from blascast.algorithms.contractions import KERNELS

from .files import figure_option, save
from .options import Names, parse_named, parse_size, setup_options
from .output import progress_bar, show, show_lines


@click.command()
@click.argument("contraction")
@click.option("--size", "sizes", metavar="INDEX=N", multiple=True, required=True, help="Of an index; repeat it.")
@click.option("--kernels", type=Names(), show_default="all", help=f"Some of them: {', '.join(KERNELS)}.")
@click.option(
    "--order", type=click.Choice(["F", "C"]), default="F", show_default=True, help="Which index is contiguous."
)
@click.option("--verify", is_flag=True, help="Measure the fastest too, interleaved, and NumPy beside them.")
@click.option("--measure", is_flag=True, help="Run the most promising instead of predicting them.")
@click.option(
    "--budget", type=float, default=10.0, show_default=True, help="Seconds for verifying; once more for each opponent."
)
@click.option("--show", "shown", metavar="ALGORITHM", help="Print an algorithm as loops and as C instead.")
@figure_option
@setup_options
def contract(
    contraction: str, sizes: tuple[str, ...], shown: str | None, output: Path | None, as_json: bool, **options: Any
) -> None:
    """Rank the algorithms of a tensor CONTRACTION by predicted run time.

    All loops around one BLAS kernel are candidates (the dissertation's), those on runs of indices as
    one, and one matrix product on transposed copies (ttgt). Calls are timed in the state of the
    caches that an algorithm leaves them in; no algorithm is run. An apostrophe in a name stands for a
    copy, made inside the loops before it.

    \b
    Examples:
      blascast contract "abc=ai,ibc" --size a=512 --size b=512 --size c=512 --size i=8
      blascast contract "ai,ibc->abc" --size a=512 --size b=512 --size c=512 --size i=8 --kernels gemm --verify
      blascast contract "abc=ai,ibc" --size a=512 --size b=512 --size c=512 --size i=8 --show c-gemm
    """
    named = parse_named(sizes, "--size", "INDEX=N, such as a=512")
    extents = {index: parse_size(text, f"the size of the index {index!r}") for index, text in named.items()}
    if shown is not None:
        from ..answers.contraction import contraction_source

        source = contraction_source(contraction, extents, shown, order=options["order"], dtype=options["dtype"])
        show_lines(source.splitlines())
        return
    from ..answers.contraction import rank_contraction

    with progress_bar() as on_progress:
        report = rank_contraction(contraction, extents, on_progress=on_progress, **options)
    show(report, as_json)
    if output:
        from ..plots import draw_contraction

        save(draw_contraction(report), output)
