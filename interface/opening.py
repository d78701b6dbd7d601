"""Opens what a question gets its models from."""

from itertools import product
from typing import Any, Unpack

from blascast.models.evaluation.outside import Outside
from blascast.predictors.configurations import several
from blascast.predictors.contexts import DEFAULT, Context
from blascast.sampler.errors import UsageError

from .archive import Archive
from .session import CommonOptions, Session, SessionOptions
from .source import Source


class AnswerOptions(SessionOptions, total=False):
    """What a question about an algorithm may add: also the parameters of `Archive`."""

    context: Context
    models: str | None
    outside: Outside | None


class ContestOptions(CommonOptions, total=False):
    """The same, of a question about several libraries or numbers of threads."""

    context: Context
    models: str | None
    outside: Outside | None


def setups_of(library: object, threads: object) -> list[dict[str, Any]]:
    """The combinations of libraries and threads, each once; what is None is left out.

    Raises
    ------
    UsageError
        If there is none.

    Examples
    --------
    >>> setups_of("scipy", [1, 2])
    [{'library': 'scipy', 'threads': 1}, {'library': 'scipy', 'threads': 2}]
    """
    named = {"library": library, "threads": threads}
    given = {name: list(dict.fromkeys(several(value))) for name, value in named.items() if value is not None}
    if not all(given.values()):
        raise UsageError("library and threads must hold at least one each")
    return [dict(zip(given, values, strict=True)) for values in product(*given.values())]


def open_source(
    models: str | None = None,
    outside: Outside | None = None,
    context: Context | None = None,
    **options: Unpack[SessionOptions],
) -> Source:
    """A session with a library; or, given the fingerprint of a setup, its stored models as they are.

    Parameters
    ----------
    models : str, optional
        Fingerprint of a setup, or its first digits.
    outside : str, optional
        Only with `models`: what becomes of calls outside their domains, by default ``"error"``.
    context : str, optional
        What state of the caches calls are estimated in; by default that of `Session`, or ``"warm"`` with `models`.
    **options
        The parameters of `Session`. With `models` only `home` means anything.

    Raises
    ------
    UsageError, LibraryError, StoreError
        If the options contradict each other, or the source cannot be had.
    """
    if models is None:
        if outside is not None:
            raise UsageError("outside is about the stored models of a setup; name that by models, or leave outside out")
        return Session(**options, context=context or DEFAULT)
    chosen = [name for name in ("library", "dtype", "threads", "parameters") if options.get(name) is not None]
    if chosen:
        raise UsageError(
            f"the models of a setup answer as they are stored, {chosen[0]} cannot be chosen; leave out {chosen[0]}, "
            "or models"
        )
    return Archive(models, outside or "error", options.get("home"), context or "warm")
