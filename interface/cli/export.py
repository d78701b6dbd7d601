"""blascast export."""

from pathlib import Path
from typing import Any

import click

from blascast.sampler.errors import UsageError

from .files import NewFile
from .options import Sizes, answer_options
from .output import as_text, progress_bar, show, show_lines

FORMATS = ("csv", "json", "c")


@click.group()
def export() -> None:
    """Write what was found for other programs to use."""


@export.command()
@click.argument("operations", nargs=-1)
@click.option("--n", type=Sizes(), default="64,96,128:2048:64", show_default=True, help="Matrix sizes.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Of the file; else that of its name, or a table.")
@click.option("--output", type=NewFile(), help="A file to write.")
@click.option("--verify", is_flag=True, help="Measure beside LAPACK's own block sizes; keep those that win.")
@answer_options
def blocksizes(
    operations: tuple[str, ...],
    n: tuple[int, ...],
    form: str | None,
    output: Path | None,
    verify: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Block sizes for LAPACK's own algorithms.

    OPERATIONS are some of cholesky, trinv, lauum, sygst, lu and qr, by default all but qr.

    As a table, or as C source: compiled to a shared library and preloaded, it takes the place of
    LAPACK's ILAENV, with block sizes that depend on the matrix size, and crossovers to unblocked
    algorithms.

    \b
    Examples:
      blascast export blocksizes lu qr --n 64:2048:64
      blascast export blocksizes --library reference+blis --verify --output blocksizes.c
      cc -O2 -shared -fPIC -o libblocksizes.so blocksizes.c -ldl
      LD_PRELOAD=./libblocksizes.so ./program
    """
    from ..answers.tuning import export_blocksizes

    kind = form or (output.suffix[1:].lower() if output else None)
    if kind is not None and kind not in FORMATS:
        raise UsageError(f"block sizes are written as {', '.join(FORMATS)}, got {str(output)!r}; see --format")
    if output and form and output.suffix[1:].lower() in {*FORMATS} - {form}:
        raise UsageError(f"--format {form} does not fit the name {str(output)!r}; leave one of them out")
    if as_json and output is None and kind in ("csv", "c"):
        raise UsageError(f"--json does not fit --format {kind}; leave one of them out, or write to a file (--output)")
    with progress_bar() as on_progress:
        report = export_blocksizes(n, operations or None, verify=verify, on_progress=on_progress, **options)
    if kind is None or (kind == "json" and output is None):
        show(report, as_json or kind == "json")
        return
    text = report.to_c() if kind == "c" else report.to_csv() if kind == "csv" else as_text(report)
    if output is None:
        show_lines(text.splitlines())
    else:
        output.write_text(text)
        show(report, as_json)
