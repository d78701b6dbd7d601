"""import_models: models of another store, from files."""

import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from blascast.models.kept.bundle import check_distinct, entries_from_json
from blascast.models.kept.store import Store
from blascast.models.piecewise import ModelKey
from blascast.models.sampling import case_named
from blascast.sampler.errors import BlascastError, StoreError, UsageError
from blascast.sampler.kernels import find_kernel
from blascast.sampler.setup import Setup

from ..report import counted
from .done import Done
from .selection import Entry, listed, named


def import_models(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    replacing: bool = False,
    home: Path | None = None,
) -> Done:
    """Takes models from files into the store: all of them, or none if something is wrong with one.

    They are marked with the day and the file they came from, also those of a setup that is this machine's.
    Models that were imported earlier are replaced.

    Parameters
    ----------
    files : path, or several
        Bundles that `export_models` wrote, or files of a store's models.
    replacing : bool
        Whether models that were made here are replaced, too.
    home : Path, optional
        The store's folder.

    Raises
    ------
    UsageError
        If a file cannot be read, or the store has own models of these cases and may not replace them.
    StoreError
        If a file is corrupt, of a later version, or no model of a kernel that is known here.
    """
    paths = [Path(files)] if isinstance(files, str | os.PathLike) else [Path(file) for file in files]
    if not paths:
        raise UsageError("at least one file is needed; name some that blascast models export wrote")
    store = Store(home)
    entries = [entry for path in paths for entry in _marked(path)]
    check_distinct(entries, "together these files" if len(paths) > 1 else str(paths[0]))
    earlier = [store.load_model(setup, model.key) for setup, model in entries]
    own = [
        named(setup, model.key)
        for (setup, model), there in zip(entries, earlier, strict=True)
        if there is not None and not there.origin
    ]
    if own and not replacing:
        raise UsageError(
            f"{counted(len(own), 'model')} made here would be lost ({listed(own, ', ')}), so nothing was imported; "
            "--replace takes the imported ones instead"
        )
    rows = []
    for (setup, model), there in zip(entries, earlier, strict=True):
        store.replace_model(setup, model)
        done = "added" if there is None else f"replaced the {'imported' if there.origin else 'own'} one"
        rows.append((setup, model.key, done))
    return Done(f"{counted(len(rows), 'model')} imported into {store.home}", store.home, tuple(rows))


def entries_in(path: Path) -> list[Entry]:
    """The setups and models in a file.

    Raises
    ------
    UsageError
        If it cannot be read.
    StoreError
        If it holds no sound models.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; name another file") from None
    except ValueError:
        raise StoreError(f"{path} is no text; name a file that blascast models export wrote") from None
    return entries_from_json(text, str(path))


def _marked(path: Path) -> list[Entry]:
    """The models in a file with a mark of their origin, if they are of kernels that are known here."""
    name = "".join(letter if letter.isprintable() else "?" for letter in path.name)
    origin = f"imported {datetime.now(UTC):%Y-%m-%d} from {name}"
    entries = entries_in(path)
    for setup, model in entries:
        try:
            _check_kernel(setup, model.key, len(model.exponents[0]))
        except BlascastError as error:
            raise StoreError(f"{path} holds a model of {model.key}: {error}") from None
    return [(setup, replace(model, origin=origin)) for setup, model in entries]


def _check_kernel(setup: Setup, key: ModelKey, sizes: int) -> None:
    """Refuses a model of a kernel, case or number of sizes that are not known here."""
    kernel = find_kernel(key.kernel)
    if (name := case_named(kernel, key.case, setup.dtype).name) != key.case:
        raise UsageError(f"its case is written {name!r}")
    if len(kernel.sizes) != sizes:
        raise UsageError(f"the kernel has {counted(len(kernel.sizes), 'size')} here, the model {sizes}")
