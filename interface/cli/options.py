"""Options that verbs share, and sizes as text."""

from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import wraps
from typing import Any, TypeAlias, TypeVar, get_args

import click
from click.core import ParameterSource

from blascast.models.evaluation.outside import Outside
from blascast.models.parameters import PRESETS, Parameters
from blascast.models.parameters import preset as parameters_of
from blascast.predictors.configurations import check_size
from blascast.predictors.contexts import CONTEXTS, DEFAULT
from blascast.sampler.errors import UsageError
from blascast.sampler.kernel import TYPES

F = TypeVar("F", bound=Callable[..., Any])
Verb: TypeAlias = Callable[..., Any]
MOST_SIZES = 10_000

_OF_A_SOURCE = ("library", "dtype", "threads", "models", "outside")

_LIBRARIES = (
    "A name that 'blascast libraries' lists, a path, LAPACK+BLAS (reference+blis: the LAPACK of reference on the BLAS "
    "of blis), or simulated."
)


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


class BlockSizeType(click.ParamType[Any]):
    """A block size, or that of rows and that of columns: ``64`` or ``64x32``."""

    name = "integer[xinteger]"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """The integer or the pair, or a usage error."""
        return parse_block_size(value, _label(parameter)) if isinstance(value, str) else value


class Names(click.ParamType[tuple[str, ...]]):
    """Names with commas between."""

    name = "name,..."

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> tuple[str, ...]:
        """The names, or a usage error."""
        return parse_names(value, _label(parameter)) if isinstance(value, str) else value


_LIBRARY = click.option("--library", default="scipy", show_default=True, help=_LIBRARIES)
_DTYPE = click.option("--dtype", type=click.Choice(TYPES), default="d", show_default=True, help="Data type.")
_THREADS = click.option("--threads", type=Size(), default=1, show_default=True, help="Threads of the library.")
_SEVERAL_LIBRARIES = click.option(
    "--library", type=Names(), default="scipy", show_default=True, help=f"{_LIBRARIES} Several, with commas, compete."
)
_SEVERAL_THREADS = click.option(
    "--threads", type=Sizes(), default="1", show_default=True, help="Threads of the library; several compete."
)
_PRESET = click.option(
    "--preset",
    type=click.Choice(list(PRESETS)),
    show_default="default",
    help="Parameters of models; 'blascast models build --help' lists them.",
)
_SET = click.option("--set", "settings", metavar="NAME=VALUE", multiple=True, help="Another value of one of them.")
_MODELS = click.option("--models", metavar="FINGERPRINT", help="Answer from the stored models of that setup alone.")
_OUTSIDE = click.option(
    "--outside",
    type=click.Choice(get_args(Outside)),
    show_default="error",
    help="What becomes of sizes that stored models were not built for.",
)
_CONTEXT = click.option(
    "--context",
    type=click.Choice(CONTEXTS),
    show_default=DEFAULT,
    help="What caches hold before calls: docs/contexts.md.",
)


def library_options(function: F) -> F:
    """--library, --threads and --json."""
    return _decorated(function, _LIBRARY, _THREADS)


def one_library_option(function: F) -> F:
    """--library."""
    return _LIBRARY(function)


def libraries_option(function: F) -> F:
    """--library, once or more."""
    text = f"{_LIBRARIES} May be given more than once."
    option: Callable[[F], F] = click.option(
        "--library", multiple=True, default=("scipy",), show_default=True, help=text
    )
    return option(function)


def setup_options(function: F) -> F:
    """--library, --dtype, --threads and --json."""
    return _decorated(function, _LIBRARY, _DTYPE, _THREADS)


def building_options(function: Verb) -> Verb:
    """The same, and --preset and --set, which become `parameters`."""
    return _decorated(_with_parameters(function), _LIBRARY, _DTYPE, _THREADS, _PRESET, _SET)


def source_options(function: Verb) -> Verb:
    """The options of setups, or --models and --outside; only those that are given are passed on."""
    return _decorated(_only_given(function), _LIBRARY, _DTYPE, _THREADS, _MODELS, _OUTSIDE)


def answer_options(function: Verb) -> Verb:
    """All of these."""
    options = (_LIBRARY, _DTYPE, _THREADS, _PRESET, _SET, _CONTEXT, _MODELS, _OUTSIDE)
    return _decorated(_only_given(_with_parameters(function)), *options)


def contest_options(function: Verb) -> Verb:
    """The same, of several libraries and numbers of threads."""
    options = (_SEVERAL_LIBRARIES, _DTYPE, _SEVERAL_THREADS, _PRESET, _SET, _CONTEXT, _MODELS, _OUTSIDE)
    return _decorated(_only_given(_with_parameters(function)), *options)


def contest_building_options(function: Verb) -> Verb:
    """Those of several libraries and numbers of threads, without stored models."""
    options = (_SEVERAL_LIBRARIES, _DTYPE, _SEVERAL_THREADS, _PRESET, _SET)
    return _decorated(_with_parameters(function), *options)


def setup_filters(function: F) -> F:
    """The options of setups, none of them chosen by default."""
    return _decorated(
        function,
        click.option("--library", show_default="all", help=_LIBRARIES),
        click.option("--dtype", type=click.Choice(TYPES), show_default="all", help="Data type."),
        click.option("--threads", type=Size(), show_default="all", help="Threads of the library."),
    )


def _with_parameters(function: Verb) -> Verb:
    """With `parameters` instead of a preset and settings; None if neither is given."""

    @wraps(function)
    def verb(*arguments: Any, preset: str | None, settings: tuple[str, ...], **options: Any) -> Any:
        named = parse_named(settings, "--set", "NAME=VALUE")
        chosen = parameters_of(preset or "default", **named) if preset or settings else None
        return function(*arguments, parameters=chosen, **options)

    return verb


def _only_given(function: Verb) -> Verb:
    """Without the setup's options that have their default: stored models of a setup go with none of them."""

    @wraps(function)
    def verb(*arguments: Any, **options: Any) -> Any:
        source = click.get_current_context().get_parameter_source
        left = [name for name in _OF_A_SOURCE if source(name) is ParameterSource.DEFAULT]
        return function(*arguments, **{name: value for name, value in options.items() if name not in left})

    return verb


def json_option(function: F) -> F:
    """--json."""
    option: Callable[[F], F] = click.option("--json", "as_json", is_flag=True, help="Print JSON, times in seconds.")
    return option(function)


def _decorated(function: F, *options: Callable[[F], F]) -> F:
    """The function with options that are listed in this order, and --json."""
    for option in (json_option, *reversed(options)):
        function = option(function)
    return function


def presets_table() -> str:
    """All parameters of all presets, for the end of a help page."""
    cells = [["parameter", *PRESETS]]
    cells += [[field.name, *(_shown(getattr(p, field.name)) for p in PRESETS.values())] for field in fields(Parameters)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\b\nParameters and their presets:\n" + "\n".join(f"  {line}" for line in lines)


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


class Ranges(click.ParamType[dict[str, int | tuple[int, int]]]):
    """What a model is built for: ``m=24:536,n=64``, a range (both ends included) or a number for each size."""

    name = "NAME=LOWEST:HIGHEST,..."

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> dict[str, int | tuple[int, int]]:
        """Numbers by the names of sizes, or a usage error."""
        return value if isinstance(value, dict) else parse_ranges(str(value), _label(parameter))


class Points(click.ParamType[dict[str, tuple[int, ...]]]):
    """What is to be estimated: ``m=64,n=100:500:100``, a number or FIRST:LAST:STEP for each size."""

    name = "NAME=SIZES,..."

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> dict[str, tuple[int, ...]]:
        """Numbers by the names of sizes, or a usage error."""
        if isinstance(value, dict):
            return value
        named = parse_named(str(value).split(","), _label(parameter), "NAME=SIZES, with commas between")
        return {name: parse_sizes(sizes, name) for name, sizes in named.items()}


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


def parse_block_size(text: str, label: str = "a block size") -> int | tuple[int, int]:
    """A positive integer from text, or two.

    Raises
    ------
    UsageError
        If the text is not in the form.

    Examples
    --------
    >>> parse_block_size("64"), parse_block_size("64x32")
    (64, (64, 32))
    """
    parts = [parse_size(part, label) for part in text.lower().split("x")]
    if len(parts) > 2:
        raise UsageError(f"{label} must be B or ROWSxCOLUMNS, got {text!r}")
    return parts[0] if len(parts) == 1 else (parts[0], parts[1])


def parse_names(text: str, label: str = "names") -> tuple[str, ...]:
    """Names with commas between, each once.

    Raises
    ------
    UsageError
        If one is empty.
    """
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    if not all(names):
        raise UsageError(f"{label} must be names with commas between, got {text!r}")
    return names


def parse_ranges(text: str, label: str = "sizes") -> dict[str, int | tuple[int, int]]:
    """Lowest and highest values, or single ones, by name.

    Raises
    ------
    UsageError
        If the text is not in the form.

    Examples
    --------
    >>> parse_ranges("m=24:536,n=64")
    {'m': (24, 536), 'n': 64}
    """
    ranges: dict[str, int | tuple[int, int]] = {}
    for name, value in parse_named(text.split(","), label, "NAME=LOWEST:HIGHEST, with commas between").items():
        bounds = [parse_size(bound, name) for bound in value.split(":")]
        if len(bounds) > 2:
            raise UsageError(f"{name} must be LOWEST:HIGHEST or a single size, got {value!r}")
        ranges[name] = bounds[0] if len(bounds) == 1 else (bounds[0], bounds[1])
    return ranges


def parse_named(parts: Iterable[str], label: str, form: str) -> dict[str, str]:
    """What follows each name in texts such as ``name=value``.

    Raises
    ------
    UsageError
        If one is not in the form, or names something again.

    Examples
    --------
    >>> parse_named(["m=24:536", " n = 64"], "--sizes", "NAME=SIZE")
    {'m': '24:536', 'n': '64'}
    """
    named: dict[str, str] = {}
    for part in parts:
        name, _, value = (piece.strip() for piece in part.partition("="))
        if not (name and value):
            raise UsageError(f"{label} must be {form}, got {part!r}")
        if name in named:
            raise UsageError(f"{label} must give {name} once, got {named[name]} and {value}")
        named[name] = value
    return named
