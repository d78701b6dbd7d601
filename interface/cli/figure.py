"""--output: a figure beside the table."""

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


class FigurePath(click.ParamType[Path]):
    """The path of a figure, in a folder that exists."""

    name = "path"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Path:
        """The path, or a usage error: before anything is measured for it."""
        path = Path(value)
        if path.suffix.lower() not in FORMATS:
            raise UsageError(f"a figure must end in {', '.join(FORMATS)}, got {str(value)!r}")
        if not path.parent.is_dir():
            raise UsageError(f"a figure needs a folder that exists, got {str(value)!r}")
        return path


def figure_option(function: F) -> F:
    """--output."""
    option: Callable[[F], F] = click.option(
        "--output", type=FigurePath(), help=f"A file for the figure ({', '.join(FORMATS)})."
    )
    return option(function)


def save(figure: "Figure", path: Path) -> None:
    """Writes a figure to a file."""
    figure.savefig(path, dpi=_DOTS_PER_INCH)
