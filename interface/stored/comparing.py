"""compare_models: how two sets of models differ."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from blascast.models.kept.store import Store
from blascast.models.parameters import preset_name
from blascast.models.quality.comparison import Comparison, compare
from blascast.sampler.errors import UsageError

from ..report import Column, Report, counted, percent, setup_json
from .importing import entries_in
from .listing import day
from .selection import SHORT, Entry, Selection, listed, setup_lines
from .showing import size_names

_P90 = 0.9


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonReport(Report):
    """Models of a second setup or time in relation to those of a first one, case by case.

    Parameters
    ----------
    first, second : tuple of (Setup, Model)
        All of either side.
    comparisons : tuple of Comparison
        Of the cases that both have on common sizes.
    """

    first: tuple[Entry, ...]
    second: tuple[Entry, ...]
    comparisons: tuple[Comparison, ...]

    @property
    def title(self) -> str:
        """What is compared."""
        return "run times by B over run times by A, on the sizes that both cover"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        return [
            *(Column("kernel", text=True, whole=True), Column("ld"), Column("sizes", text=True)),
            *(Column("lowest"), Column("median"), Column("90 %"), Column("highest"), Column("± [%]")),
            *(Column("differ most at", text=True), Column("ratio there")),
        ]

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [self._cells(one) for one in self.comparisons]

    def _cells(self, one: Comparison) -> list[str]:
        place = zip(self._sizes(one), one.points[one.most_different].tolist(), strict=True)
        return [
            *(str(one.key), str(one.key.ld), str(one.domain)),
            *(f"{value:.3f}" for value in _quantiles(one).values()),
            *(percent(one.error), ", ".join(f"{name} = {size}" for name, size in place)),
            f"{one.ratios[one.most_different]:.3f}",
        ]

    def _sizes(self, one: Comparison) -> list[str]:
        return size_names(next(model for _, model in self.first if model.key == one.key))

    @property
    def remarks(self) -> list[str]:
        """Who is who, how to read the ratios, and what only one side has."""
        compared = {one.key for one in self.comparisons}
        left = [
            f"Only {label}: {listed([str(model.key) for _, model in entries if model.key not in compared], ', ')}."
            for label, entries in (("A", self.first), ("B", self.second))
            if any(model.key not in compared for _, model in entries)
        ]
        return [
            *(f"{label}: {_side(entries)}" for label, entries in (("A", self.first), ("B", self.second))),
            "Below 1, B is faster. Sizes of even ratio count alike; 90 %: so many of the ratios are lower.",
            "±: the models' own errors, both together; ratios that are closer to 1 than that tell nothing.",
            *left,
        ]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "a": _side_json(self.first),
            "b": _side_json(self.second),
            "rows": [self._row(one) for one in self.comparisons],
        }

    def _row(self, one: Comparison) -> dict[str, Any]:
        at = one.most_different
        return {
            "kernel": one.key.kernel,
            "case": one.key.case,
            "ld": one.key.ld,
            "precondition": one.key.precondition,
            "lower": list(one.domain.lower),
            "upper": list(one.domain.upper),
            "points": len(one.points),
            "ratio": _quantiles(one),
            "error": one.error,
            "differ_most": {"sizes": one.points[at].tolist(), "ratio": float(one.ratios[at])},
        }


def compare_models(
    a: str | os.PathLike[str], b: str | os.PathLike[str], *, home: Path | None = None
) -> ComparisonReport:
    """Compares the models of two setups, or of two times.

    Parameters
    ----------
    a, b : str or path
        A setup in the store, by its fingerprint or how it begins; or a file with models of one setup.
    home : Path, optional
        The store's folder.

    Raises
    ------
    UsageError
        If one is neither, or of several setups, or they have no sizes of a case in common.
    StoreError
        If the store or a file is corrupt.
    """
    store = Store(home)
    first, second = (_entries(os.fspath(name), store) for name in (a, b))
    others = {model.key: model for _, model in second}
    pairs = [(model, others[model.key]) for _, model in first if model.key in others]
    comparisons = [found for one, other in pairs if (found := compare(one, other))]
    if not comparisons:
        cases = [listed([f"{model.key} (ld {model.key.ld})" for _, model in side], ", ") for side in (first, second)]
        raise UsageError(f"there is nothing to compare: {a} has {cases[0]}; {b} has {cases[1]}; on no common sizes")
    return ComparisonReport(tuple(first), tuple(second), tuple(comparisons))


def _entries(name: str, store: Store) -> list[Entry]:
    """The models of one setup: those in the store, or those in a file."""
    try:
        entries = Selection(setup=name).find(store)
    except UsageError:  # no fingerprint
        entries = []
    if not entries:
        if not Path(name).is_file():
            known = listed(setup_lines(setup for setup, _ in store.all_models()), "; ") or "none"
            raise UsageError(f"{name!r} is neither a file nor the setup of a stored model; setups: {known}")
        entries = entries_in(Path(name))
    setups = list(dict.fromkeys(setup for setup, _ in entries))
    if len(setups) > 1:
        raise UsageError(
            f"{name} stands for {len(setups)} setups, one is needed; name it by more digits, or export it alone: "
            f"{listed(setup_lines(setups), '; ')}"
        )
    return entries


def _quantiles(one: Comparison) -> dict[str, float]:
    values = {
        "lowest": one.ratios.min(),
        "median": np.median(one.ratios),
        "p90": np.quantile(one.ratios, _P90),
        "highest": one.ratios.max(),
    }
    return {name: float(value) for name, value in values.items()}


def _side_json(entries: Sequence[Entry]) -> dict[str, Any]:
    return {"setup": setup_json(entries[0][0]), "models": len(entries), "imported": _origins(entries)}


def _origins(entries: Sequence[Entry]) -> list[str]:
    """When and from where models were imported that were not made here."""
    return sorted({model.origin for _, model in entries if model.origin})


def _side(entries: Sequence[Entry]) -> str:
    """A side: its setup, how its models were made, and when."""
    setup, models = entries[0][0], [model for _, model in entries]
    presets = ", ".join(sorted({preset_name(model.parameters) for model in models}))
    return (
        f"{setup.fingerprint[:SHORT]}: {setup}; {counted(len(models), 'model')}, preset {presets}, "
        f"until {day(max(model.taken for model in models))}{''.join(f', {own}' for own in _origins(entries))}"
    )
