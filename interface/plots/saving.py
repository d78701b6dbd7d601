"""save_model_plot: a stored model as a picture in a file."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from blascast.models.store import Store
from blascast.sampler.errors import UsageError

from ..stored.done import Done
from ..stored.selection import Filters, Selection, named
from .figure import draw_model, kinds_of

SUFFIXES = (".png", ".pdf", ".svg")
_DPI = 150


def save_model_plot(
    output: str | os.PathLike[str],
    kernel: str,
    case: str | None = None,
    *,
    kinds: Sequence[str] | None = None,
    at: Sequence[int] | None = None,
    home: Path | None = None,
    **filters: Unpack[Filters],
) -> Done:
    """Draws one stored model into a file.

    Parameters
    ----------
    output : path
        The file, whose name ends with .png, .pdf or .svg; what is there is overwritten.
    kernel, case : str
        Which model; see `Selection`.
    kinds, at : optional
        See `draw_model`.
    library, dtype, threads, ld, setup : optional
        To tell it from others; see `Filters`.
    home : Path, optional
        The store's folder.

    Raises
    ------
    UsageError
        If there is no such model, or more than one; if it cannot be drawn so, or the file not written.
    StoreError
        If the store, or a file in it, cannot be read.
    """
    path = Path(output)
    if path.suffix.casefold() not in SUFFIXES:
        raise UsageError(f"the name of a plot's file must end with {', '.join(SUFFIXES)}, got {path.name!r}")
    setup, model = Selection(kernel, case, **filters).one(Store(home))
    chosen = kinds_of(setup, model, kinds, home)
    figure = draw_model(setup, model, chosen, home, at)
    try:
        figure.savefig(path, dpi=_DPI)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; name another file") from None
    return Done(
        f"{named(setup, model.key)} drawn to {path}", path, ((setup, model.key, f"drawn: {', '.join(chosen)}"),)
    )
