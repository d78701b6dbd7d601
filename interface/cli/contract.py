"""blascast contract."""

from typing import Any

import click

from blascast.algorithms.contractions import KERNELS

from .options import Names, parse_named, parse_size, setup_options
from .output import progress_bar, show


@click.command()
@click.argument("contraction")
@click.option("--size", "sizes", metavar="INDEX=N", multiple=True, required=True, help="Of an index; repeat it.")
@click.option("--kernels", type=Names(), show_default="all", help=f"Some of them: {', '.join(KERNELS)}.")
@click.option(
    "--order", type=click.Choice(["F", "C"]), default="F", show_default=True, help="Which index is contiguous."
)
@click.option("--verify", is_flag=True, help="Measure the fastest too, interleaved.")
@setup_options
def contract(contraction: str, sizes: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Rank the algorithms of a tensor CONTRACTION by predicted run time.

    All loops around one BLAS kernel are candidates (the dissertation's), those on runs of indices as
    one, and one matrix product on transposed copies (ttgt). Single calls are timed in the state of the
    caches that an algorithm leaves them in; no algorithm is run. An apostrophe in a name stands for a
    copy, made inside the loops before it.

    \b
    Examples:
      blascast contract "abc=ai,ibc" --size a=512 --size b=512 --size c=512 --size i=8
      blascast contract "ai,ibc->abc" --size a=512 --size b=512 --size c=512 --size i=8 --kernels gemm --verify
    """
    from ..answers.contraction import rank_contraction

    named = parse_named(sizes, "--size", "INDEX=N, such as a=512")
    extents = {index: parse_size(text, f"the size of the index {index!r}") for index, text in named.items()}
    with progress_bar() as on_progress:
        report = rank_contraction(contraction, extents, on_progress=on_progress, **options)
    show(report, as_json)
