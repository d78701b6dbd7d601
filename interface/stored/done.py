"""Done: what a verb did with models."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blascast.models.piecewise import ModelKey
from blascast.sampler.setup import Setup

from ..report import Column, Report, setup_json
from .selection import SHORT, named, setup_lines


@dataclass(frozen=True, eq=False, repr=False)
class Done(Report):
    """What was done, model by model.

    Parameters
    ----------
    sentence : str
        What was done in all.
    place : Path
        The store or the file that it was done to.
    rows : tuple of (Setup, ModelKey, str)
        What was done to each.
    """

    sentence: str
    place: Path
    rows: tuple[tuple[Setup, ModelKey, str], ...] = ()

    @property
    def title(self) -> str:
        """What was done in all."""
        return self.sentence

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        return [
            Column("setup", text=True),
            Column("kernel", text=True, whole=True),
            Column("ld"),
            Column("done", text=True),
        ]

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [[setup.fingerprint[:SHORT], named(setup, key), str(key.ld), done] for setup, key, done in self.rows]

    @property
    def remarks(self) -> list[str]:
        """What the fingerprints stand for."""
        return setup_lines(setup for setup, _, _ in self.rows)

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        rows = [
            {
                "setup": setup_json(setup),
                "kernel": key.kernel,
                "case": key.case,
                "ld": key.ld,
                "precondition": key.precondition,
                "done": done,
            }
            for setup, key, done in self.rows
        ]
        return {"done": self.sentence, "place": str(self.place), "rows": rows}
