"""Options that verbs share, and sizes as text."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from blascast.predictors.configurations import check_size
from blascast.sampler.errors import UsageError
from blascast.sampler.kernel import TYPES

F = TypeVar("F", bound=Callable[..., Any])
MOST_SIZES = 10_000

_LIBRARIES = (
    "A name that 'blascast libraries' lists, a path, LAPACK+BLAS (reference+blis: the LAPACK of reference on the BLAS "
    "of blis), or simulated."
)


def library_options(function: F) -> F:
    """--library, --threads and --json."""
    return _decorated(
        function,
        click.option("--library", default="scipy", show_default=True, help=_LIBRARIES),
        click.option("--threads", type=Size(), default=1, show_default=True, help="Threads of the library."),
    )


def one_library_option(function: F) -> F:
    """--library."""
    option: Callable[[F], F] = click.option("--library", default="scipy", show_default=True, help=_LIBRARIES)
    return option(function)


def libraries_option(function: F) -> F:
    """--library, once or more."""
    text = f"{_LIBRARIES} May be given more than once."
    option: Callable[[F], F] = click.option(
        "--library", multiple=True, default=("scipy",), show_default=True, help=text
    )
    return option(function)


def setup_options(function: F) -> F:
    """--library, --dtype, --threads and --json."""
    return _decorated(
        function,
        click.option("--library", default="scipy", show_default=True, help=_LIBRARIES),
        click.option("--dtype", type=click.Choice(TYPES), default="d", show_default=True, help="Data type."),
        click.option("--threads", type=Size(), default=1, show_default=True, help="Threads of the library."),
    )


def setup_filters(function: F) -> F:
    """The same options, none of them chosen by default."""
    return _decorated(
        function,
        click.option("--library", show_default="all", help=_LIBRARIES),
        click.option("--dtype", type=click.Choice(TYPES), show_default="all", help="Data type."),
        click.option("--threads", type=Size(), show_default="all", help="Threads of the library."),
    )


def json_option(function: F) -> F:
    """--json."""
    option: Callable[[F], F] = click.option("--json", "as_json", is_flag=True, help="Print JSON, times in seconds.")
    return option(function)


def _decorated(function: F, *options: Callable[[F], F]) -> F:
    for option in (json_option, *reversed(options)):
        function = option(function)
    return function


class Size(click.ParamType[int]):
    """A positive integer."""

    name = "integer"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> int:
        """The integer, or a usage error."""
        return value if isinstance(value, int) else parse_size(str(value), _label(parameter))


class Sizes(click.ParamType[tuple[int, ...]]):
    """One or more positive integers: ``500``, ``500,1000`` or ``500:2000:500`` (the end included)."""

    name = "sizes"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> tuple[int, ...]:
        """The integers, or a usage error."""
        return value if isinstance(value, tuple) else parse_sizes(str(value), _label(parameter))


def _label(parameter: click.Parameter | None) -> str:
    return f"--{parameter.name}" if parameter is not None else "a size"


def parse_size(text: str, label: str = "a size") -> int:
    """A positive integer from text.

    Raises
    ------
    UsageError
        If the text is none.
    """
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 18):
        raise UsageError(f"{label} must be a positive integer, got {text!r}")
    return check_size(label, int(digits))


def parse_sizes(text: str, label: str = "sizes") -> tuple[int, ...]:
    """Positive integers from text, ascending, each once.

    Raises
    ------
    UsageError
        If the text is not in the form.

    Examples
    --------
    >>> parse_sizes("500:2000:500"), parse_sizes("64,8")
    ((500, 1000, 1500, 2000), (8, 64))
    """
    sizes: set[int] = set()
    for part in text.split(","):
        bounds = [parse_size(bound, label) for bound in part.split(":")]
        if len(bounds) == 1:
            sizes.add(bounds[0])
        elif len(bounds) == 3 and bounds[0] <= bounds[1]:
            if (bounds[1] - bounds[0]) // bounds[2] > MOST_SIZES:
                raise UsageError(f"{label} may hold {MOST_SIZES} sizes, {part!r} holds more")
            sizes.update(range(bounds[0], bounds[1] + 1, bounds[2]))
        else:
            raise UsageError(f"{label} must be N or FIRST:LAST:STEP with FIRST <= LAST, got {part!r}")
    return tuple(sorted(sizes))
