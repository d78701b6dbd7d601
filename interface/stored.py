"""list_models: what is kept in the store."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blascast.models.piecewise import Model
from blascast.models.store import Store
from blascast.sampler.libraries import library_files
from blascast.sampler.setup import Setup

from .report import Column, Report, percent, setup_json


@dataclass(frozen=True, eq=False, repr=False)
class ModelsReport(Report):
    """The models in a store.

    Parameters
    ----------
    home : Path
        Its folder.
    entries : tuple of (Setup, Model)
    """

    home: Path
    entries: tuple[tuple[Setup, Model], ...]

    @property
    def title(self) -> str:
        """Where they are."""
        return f"{len(self.entries)} models in {self.home}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        return [
            *(Column("setup"), Column("kernel", text=True), Column("sizes up to", text=True), Column("ld")),
            *(Column("pieces"), Column("error [%]"), Column("worst [%]"), Column("noise [%]"), Column("cost [s]")),
            *(Column("core", text=True), Column("stopped by", text=True)),
        ]

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [self._cells(setup, model) for setup, model in self.entries]

    def _cells(self, setup: Setup, model: Model) -> list[str]:
        noise = sorted(piece.noise for piece in model.pieces)[len(model.pieces) // 2]
        return [
            *(setup.fingerprint, f"{setup.dtype}{model.key}", _largest(model), str(model.key.ld)),
            *(
                str(len(model.pieces)),
                percent(model.error),
                percent(model.worst_error),
                percent(noise),
                f"{model.seconds:.1f}",
            ),
            *(model.state, model.stopped),
        ]

    @property
    def remarks(self) -> list[str]:
        """What the fingerprints stand for."""
        setups = {setup.fingerprint: setup for setup, _ in self.entries}
        total = sum(model.seconds for _, model in self.entries)
        named = [f"{fingerprint}: {setup}" for fingerprint, setup in setups.items()]
        return [
            *named,
            "Error: of points left out of the fit, median and worst of the pieces.",
            f"Cost of sampling in all: {total:.1f} s.",
        ]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "home": str(self.home),
            "rows": [
                {
                    "setup": setup_json(setup),
                    "kernel": model.key.kernel,
                    "case": model.key.case,
                    "ld": model.key.ld,
                    "domains": [[list(d.lower), list(d.upper)] for d in model.domains],
                    "pieces": len(model.pieces),
                    "error": model.error,
                    "worst": model.worst_error,
                    "cost": model.seconds,
                    "state": model.state,
                    "stopped": model.stopped,
                }
                for setup, model in self.entries
            ],
        }


def list_models(
    *, library: str | None = None, dtype: str | None = None, threads: int | None = None, home: Path | None = None
) -> ModelsReport:
    """Lists the models in the store.

    Parameters
    ----------
    library, dtype, threads : optional
        List only those of such setups.
    home : Path, optional
        The store's folder.

    Raises
    ------
    UsageError, LibraryError
        If the library is unknown or not here.
    StoreError
        If the store, or a file in it, cannot be read.
    """
    files = _files_of(library) if library is not None else None
    store = Store(home)
    try:
        entries = [
            (setup, model)
            for setup, model in store.all_models()
            if files in (None, setup.library.file_names)
            and dtype in (None, setup.dtype)
            and threads in (None, setup.threads)
        ]
        return ModelsReport(store.home, tuple(entries))
    finally:
        store.close()


def _files_of(library: str) -> tuple[str, str]:
    """What tells a library in the store: the names of its files, of which the simulated machine has none."""
    return ("", "") if library == "simulated" else library_files(library).file_names


def _largest(model: Model) -> str:
    upper = [max(domain.upper[i] for domain in model.domains) for i in range(len(model.domains[0].upper))]
    return " x ".join(map(str, upper))
