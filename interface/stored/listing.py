"""list_models: what is kept in the store."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Unpack

from blascast.models.kept.store import Store
from blascast.models.parameters import preset_name
from blascast.models.piecewise import Model
from blascast.sampler.setup import Setup

from ..report import Column, Report, core_sentence, counted, percent, setup_json
from .selection import SHORT, Entry, Filters, Selection, named, setup_lines


@dataclass(frozen=True, eq=False, repr=False)
class ModelsReport(Report):
    """Models in a store.

    Parameters
    ----------
    home : Path
        Its folder.
    entries : tuple of (Setup, Model)
    why_none : str
        If there are none, why.
    """

    home: Path
    entries: tuple[Entry, ...]
    why_none: str = ""

    @property
    def title(self) -> str:
        """Where they are."""
        return f"{counted(len(self.entries), 'model')} in {self.home}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        return [column for column, _ in self._table()]

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [list(row) for row in zip(*(cells for _, cells in self._table()), strict=True)]

    def _table(self) -> list[tuple[Column, list[str]]]:
        """Columns with their cells; those that tell nothing are left out."""
        models = [model for _, model in self.entries]
        states, presets = [model.state for model in models], [preset_name(model.parameters) for model in models]
        ripples = [percent(model.ripple.error) if model.ripple else "" for model in models]
        return [
            (Column("setup", text=True), [f"{s.fingerprint[:SHORT]}{'*' * bool(m.origin)}" for s, m in self.entries]),
            (Column("kernel", text=True, whole=True), [named(setup, model.key) for setup, model in self.entries]),
            (Column("sizes\nup to", text=True), [largest(model) for model in models]),
            (Column("ld"), [str(model.key.ld) for model in models]),
            (Column("pieces"), [str(len(model.pieces)) for model in models]),
            (Column("error\n[%]"), [percent(model.error) for model in models]),
            (Column("worst\n[%]"), [percent(model.worst_error) for model in models]),
            *([(Column("ripple\n[%]"), ripples)] if any(ripples) else []),
            (Column("samples"), [str(model.samples) for model in models]),
            (Column("cost\n[s]"), [f"{model.seconds:.1f}" for model in models]),
            *([(Column("core", text=True), list(map(str, states)))] if len(set(states)) > 1 else []),
            (Column("stopped\nby", text=True), [model.stopped for model in models]),
            *([(Column("preset", text=True), presets)] if len(set(presets)) > 1 else []),
            (Column("taken", text=True), [day(model.taken) for model in models]),
        ]

    @property
    def remarks(self) -> list[str]:
        """What the fingerprints stand for, and what is left to say of the columns."""
        if not self.entries:
            return [f"{self.why_none[:1].upper()}{self.why_none[1:]}."]
        models = [model for _, model in self.entries]
        states, presets, origins = (
            list(dict.fromkeys(values))
            for values in (
                (model.state for model in models),
                (preset_name(model.parameters) for model in models),
                (model.origin for model in models if model.origin),
            )
        )
        ripple = "; ripple: at sizes that are no multiples of 8" if any(model.ripple for model in models) else ""
        return [
            *setup_lines(setup for setup, _ in self.entries),
            f"Error: of points left out of the fit, median and worst of the pieces{ripple}.",
            *([f"* {', '.join(origins)}."] if origins else []),
            *([f"Preset: {presets[0]}."] if len(presets) == 1 else []),
            *([core_sentence(states[0])] if len(states) == 1 else []),
            f"Cost of sampling in all: {sum(model.seconds for model in models):.1f} s.",
        ]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {"home": str(self.home), "rows": [model_json(setup, model) for setup, model in self.entries]}


def list_models(
    kernel: str | None = None, case: str | None = None, *, home: Path | None = None, **filters: Unpack[Filters]
) -> ModelsReport:
    """Lists the models in the store.

    Parameters
    ----------
    kernel, case : str, optional
        List only those; see `Selection`.
    library, dtype, threads, ld, setup : optional
        List only those of such setups; see `Filters`.
    home : Path, optional
        The store's folder.

    Raises
    ------
    UsageError
        If a filter makes no sense.
    StoreError
        If the store, or a file in it, cannot be read.
    """
    selection, store = Selection(kernel, case, **filters), Store(home)
    entries = selection.find(store)
    return ModelsReport(store.home, tuple(entries), "" if entries else selection.why_none(store))


def model_json(setup: Setup, model: Model) -> dict[str, Any]:
    """What is told of a model, as plain JSON values."""
    ripple = model.ripple
    return {
        "setup": setup_json(setup),
        "kernel": model.key.kernel,
        "case": model.key.case,
        "ld": model.key.ld,
        "precondition": model.key.precondition,
        "domains": [[list(d.lower), list(d.upper)] for d in model.domains],
        "pieces": len(model.pieces),
        "error": model.error,
        "worst": model.worst_error,
        "noise": _noise(model),
        "ripple": {"padding": list(ripple.padding), "error": ripple.error, "points": ripple.points} if ripple else None,
        "samples": model.samples,
        "cost": model.seconds,
        "state": model.state,
        "stopped": model.stopped,
        "preset": preset_name(model.parameters),
        "taken": model.taken,
        "origin": model.origin,
    }


def day(seconds: float) -> str:
    """The day of a time in seconds since 1970, in UTC; a dash if it is not known."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d") if seconds else "–"


def largest(model: Model) -> str:
    """The largest sizes that a model covers."""
    return "x".join(str(max(uppers)) for uppers in zip(*(domain.upper for domain in model.domains), strict=True))


def _noise(model: Model) -> float:
    return sorted(piece.noise for piece in model.pieces)[len(model.pieces) // 2]
