"""show_model: one stored model in full."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from blascast.models.fitting.basis import degrees
from blascast.models.kept.model_file import model_to_values
from blascast.models.kept.store import Store
from blascast.models.parameters import Parameters, preset_name
from blascast.models.piecewise import Model, Piece
from blascast.sampler.kernels import KERNELS
from blascast.sampler.setup import Setup

from ..report import STOPS, Column, Report, core_sentence, counted, percent
from .listing import day, model_json
from .selection import Filters, Selection, named


@dataclass(frozen=True, eq=False, repr=False)
class ModelReport(Report):
    """One model, piece by piece.

    Parameters
    ----------
    setup : Setup
    model : Model
    """

    setup: Setup
    model: Model

    @property
    def title(self) -> str:
        """What it is of."""
        return f"{named(self.setup, self.model.key)}, ld {self.model.key.ld}: {self.setup}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table: sizes, then what a piece is."""
        return [
            *(Column(name) for name in size_names(self.model)),
            *(Column("points"), Column("error [%]"), Column("noise [%]"), Column("degree"), Column("monomials")),
        ]

    def cells(self) -> list[list[str]]:
        """The printed rows, one a piece."""
        return [self._cells(piece) for piece in self.model.pieces]

    def _cells(self, piece: Piece) -> list[str]:
        used = self._monomials(piece)
        bounds = zip(piece.domain.lower, piece.domain.upper, strict=True)
        degree = ", ".join(map(str, degrees(tuple(used)))) if used else "–"
        return [
            *(f"{low}..{high}" for low, high in bounds),
            *(str(piece.points), percent(piece.error, 2), percent(piece.noise, 2), degree, str(len(used))),
        ]

    def _monomials(self, piece: Piece) -> list[tuple[int, ...]]:
        """Exponents of the monomials that a piece uses."""
        used = np.any(piece.coefficients != 0, axis=1)
        return [exponents for exponents, here in zip(self.model.exponents, used, strict=True) if here]

    @property
    def remarks(self) -> list[str]:
        """How it was made, in sentences."""
        model, setup = self.model, self.setup
        return [
            f"Setup {setup.fingerprint}: library file {setup.library.file or '–'}, "
            f"threads {'pinned' if setup.pinned else 'not pinned'}.",
            f"Parameters: {_parameters(model.parameters)}.",
            STOPS.get(model.stopped, f"Sampling ended by: {model.stopped}."),
            f"{counted(model.samples, 'sample')}, taken in {model.seconds:.1f} s, the last on {day(model.taken)}. "
            + core_sentence(model.state),
            *self._ripple(),
            *([f"Origin: {model.origin}."] if model.origin else []),
            "Error: of points left out of a piece's fit; noise: standard error of the samples' medians.",
        ]

    def _ripple(self) -> list[str]:
        """How sizes that are no multiples of 8 differ."""
        if (ripple := self.model.ripple) is None:
            return []
        pairs = [(name, f"{part:.2f}") for name, part in zip(size_names(self.model), ripple.padding, strict=True)]
        return [
            f"Ripple: sizes that are no multiples of 8 are padded to the next one by {_joined(pairs)} of the way; "
            f"error there {percent(ripple.error)} %, from {counted(ripple.points, 'point')}."
        ]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values: what the model file holds, one row a piece."""
        values = model_to_values(self.setup, self.model)
        rows = values.pop("pieces")
        return {**model_json(self.setup, self.model), **values, "fingerprint": self.setup.fingerprint, "rows": rows}


def show_model(
    kernel: str, case: str | None = None, *, home: Path | None = None, **filters: Unpack[Filters]
) -> ModelReport:
    """Shows one stored model in full.

    Parameters
    ----------
    kernel, case : str
        Which one; see `Selection`.
    library, dtype, threads, ld, setup : optional
        To tell it from others; see `Filters`.
    home : Path, optional
        The store's folder.

    Raises
    ------
    UsageError
        If there is none, or more than one.
    StoreError
        If the store, or a file in it, cannot be read.
    """
    return ModelReport(*Selection(kernel, case, **filters).one(Store(home)))


def size_names(model: Model) -> list[str]:
    """Names of a model's sizes; where its kernel is not known here, their numbers."""
    count, kernel = len(model.exponents[0]), KERNELS.get(model.key.kernel)
    known = kernel is not None and len(kernel.sizes) == count
    return list(kernel.sizes) if kernel is not None and known else [f"size {i}" for i in range(1, count + 1)]


def _parameters(parameters: Parameters) -> str:
    """A preset, or what differs from the default one."""
    if (name := preset_name(parameters)) != "own":
        return f"preset {name}"
    usual = Parameters()
    given = [(f.name, getattr(parameters, f.name)) for f in fields(Parameters) if f.compare]
    return f"the default ones but {_joined(pair for pair in given if pair[1] != getattr(usual, pair[0]))}"


def _joined(pairs: Any) -> str:
    return ", ".join(f"{name} {value}" for name, value in pairs)
