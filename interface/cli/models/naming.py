"""How verbs are told which stored models: KERNEL, CASE and filters."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ..options import Size, setup_filters

F = TypeVar("F", bound=Callable[..., Any])


def model_names(required: bool) -> Callable[[F], F]:
    """KERNEL (which may be required), CASE, --library, --dtype, --threads, --ld, --precondition, --setup and --json."""

    def decorated(function: F) -> F:
        for option in (
            click.option("--setup", metavar="FINGERPRINT", show_default="all", help="A setup, by its first digits."),
            click.option("--ld", type=Size(), show_default="all", help="Leading dimension that was sampled with."),
            click.option("--precondition", show_default="all", help="Where operands lay, such as 'warm'."),
            setup_filters,
            click.argument("case", nargs=-1, callback=_one_text),
            click.argument("kernel", required=required),
        ):
            function = option(function)
        return function

    return decorated


def _one_text(context: click.Context, parameter: click.Parameter, words: tuple[str, ...]) -> str | None:
    return " ".join(words) or None
