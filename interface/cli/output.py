"""What a verb prints: progress on the error stream, a table or JSON on the output."""

import io
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from blascast.sampler.sampler import OnProgress
from blascast.sampler.sampler import Progress as Step

from ..report import Report


def show(report: Report, as_json: bool) -> None:
    """Prints a report for people, or as JSON."""
    if not _can_print():
        return
    if as_json:
        click.echo(as_text(report))
    elif sys.stdout.isatty():
        report.print(Console())
    else:
        click.echo(str(report))


def as_text(report: Report) -> str:
    """A report as JSON."""
    return json.dumps(report.to_json(), indent=2, allow_nan=False)


def show_lines(lines: Iterable[str]) -> None:
    """Prints lines at once."""
    text = "".join(f"{line}\n" for line in lines)
    if text and _can_print():
        sys.stdout.write(text)
        sys.stdout.flush()


def _can_print() -> bool:
    """Whether there is an output, which then shows another character for one that it lacks."""
    if sys.stdout is None:  # closed by whoever started us
        return False
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return True


@contextmanager
def progress_bar() -> Iterator[OnProgress]:
    """Shows a bar with the time that remains, on a terminal; quiet when piped."""
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f} {task.fields[unit]}, {task.fields[left]} left,"),
        TimeElapsedColumn(),
        TextColumn("so far"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task("starting", total=None, left="?", unit="samples", visible=False)

        def on_progress(step: Step) -> None:
            left, unit = f"{step.seconds_left:.0f} s", step.unit
            done, total = step.done, step.total
            bar.update(task, description=step.label, completed=done, total=total, left=left, unit=unit, visible=True)

        yield on_progress
