"""export_models: stored models as one file, for blascast or for C."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Unpack, get_args

from blascast.models.evaluation.c_header import c_header
from blascast.models.kept.bundle import bundle_to_json
from blascast.models.kept.store import Store
from blascast.sampler.errors import UsageError

from ..report import counted
from .done import Done
from .selection import Entry, Filters, Selection, listed, setup_lines

Format = Literal["json", "c"]


def export_models(
    output: str | os.PathLike[str],
    kernel: str | None = None,
    case: str | None = None,
    *,
    format: Format = "json",
    home: Path | None = None,
    **filters: Unpack[Filters],
) -> Done:
    """Writes stored models to a file.

    Parameters
    ----------
    output : path
        The file; what is there is overwritten.
    kernel, case : str, optional
        Which models, by default all; see `Selection`.
    format : str
        ``"json"``: a bundle that `import_models` reads. ``"c"``: a C header that evaluates them.
    library, dtype, threads, ld, setup : optional
        Which setups; see `Filters`. A C header is of one.
    home : Path, optional
        The store's folder.

    Raises
    ------
    UsageError
        If there are no such models, the format is unknown, the file cannot be written, or models for C
        are of several setups.
    StoreError
        If the store, or a file in it, cannot be read.
    """
    if format not in get_args(Format):
        raise UsageError(f"the format must be one of {', '.join(get_args(Format))}, got {format!r}")
    entries = Selection(kernel, case, **filters).some(Store(home))
    text = bundle_to_json(entries) if format == "json" else _header(entries)
    path = Path(output)
    try:
        path.write_text(text)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; name another file") from None
    rows = [(setup, model.key, "written") for setup, model in entries]
    return Done(f"{counted(len(rows), 'model')} written to {path}", path, tuple(rows))


def _header(entries: Sequence[Entry]) -> str:
    setups = list(dict.fromkeys(setup for setup, _ in entries))
    if len(setups) > 1:
        raise UsageError(
            f"a C header is of one setup, these models are of {len(setups)}; choose with setup, library, dtype or "
            f"threads among: {listed(setup_lines(setups), '; ')}"
        )
    return c_header(setups[0], [model for _, model in entries])
