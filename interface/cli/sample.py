"""blascast sample."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click

from blascast.sampler.errors import UsageError

from .options import library_options
from .output import show_lines

EXIT_FAILURE, EXIT_INTERRUPTED = 1, 130


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--kernels", multiple=True, type=click.Path(), help="Declarations of more kernels; may be repeated.")
@click.option("--keep-going", is_flag=True, help="Pass over lines that are wrong instead of stopping at the first.")
@library_options
def sample(
    file: Path | None, kernels: tuple[str, ...], keep_going: bool, library: str, threads: int, as_json: bool
) -> None:
    """Time the calls that FILE, or the standard input, lists line by line.

    Calls are written as in Fortran. They wait until a line 'go', or the end of the input, runs them
    one behind the other; then comes a line for each: ticks, seconds, the ratio of the probes (a
    neighbour on the core raises it) and counters, separated by tabs. docs/sample.md has the whole
    language, and its form in JSON.

    Exit status: 0 well, 1 if a call failed in the library, 2 if a line is wrong (the stream stops
    there; what was measured before has been printed).

    \b
    Example:
      blascast sample <<'END'
      allocate A d 1000 1000
      allocate B d 1000 1000
      allocate C d 1000 1000
      precondition warm
      dgemm N N 1000 1000 1000 1.0 A 1000 B 1000 0.0 C 1000
      dtrsm L L N N 1000 1000 1.0 A 1000 B 1000
      go 5
      END
    """
    from blascast.sampler.script import Failure

    from ..sampling import outputs
    from .lines import TextLines, json_lines

    lines = json_lines if as_json else TextLines()
    failed = False
    try:
        with _opened(file) as stream:
            for batch in outputs(stream, library, threads, kernels, keep_going):
                for failure in (output for output in batch if isinstance(output, Failure)):
                    failed = True
                    click.echo(f"blascast: {failure}", err=True)
                show_lines(line for output in batch for line in lines(output))
    except KeyboardInterrupt:
        click.echo("blascast: interrupted; what was measured until the last go is printed", err=True)
        raise click.exceptions.Exit(EXIT_INTERRUPTED) from None
    if failed:
        raise click.exceptions.Exit(EXIT_FAILURE)


@contextmanager
def _opened(file: Path | None) -> Iterator[IO[bytes]]:
    """The file, or the standard input."""
    if file is None or str(file) == "-":
        if sys.stdin is None:
            raise UsageError("there is no standard input; name a file")
        yield sys.stdin.buffer
        return
    try:
        stream = file.open("rb")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    with stream:
        yield stream
