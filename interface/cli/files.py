"""Files that verbs write: checked before anything is measured for them."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from blascast.sampler.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

F = TypeVar("F", bound=Callable[..., Any])
FORMATS = (".pdf", ".png", ".svg")
_DOTS_PER_INCH = 150


class NewFile(click.ParamType[Path]):
    """The path of a file to be written, in a folder that exists."""

    name = "path"
    what = "a file"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Path:
        """The path, or a usage error."""
        path = Path(value)
        if not path.parent.is_dir():
            raise UsageError(f"{self.what} needs a folder that exists, got {str(value)!r}")
        if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
            raise UsageError(f"{self.what} cannot be written as {str(value)!r}; choose another path")
        return path


class NewFigure(NewFile):
    """The same, of a figure, whose format its name tells."""

    what = "a figure"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Path:
        """The path, or a usage error."""
        if Path(value).suffix.lower() not in FORMATS:
            raise UsageError(f"a figure must end in {', '.join(FORMATS)}, got {str(value)!r}")
        return super().convert(value, parameter, context)


def figure_option(function: F) -> F:
    """--output."""
    option: Callable[[F], F] = click.option(
        "--output", type=NewFigure(), help=f"A file for the figure ({', '.join(FORMATS)})."
    )
    return option(function)


def save(figure: "Figure", path: Path) -> None:
    """Writes a figure to a file."""
    figure.savefig(path, dpi=_DOTS_PER_INCH)
