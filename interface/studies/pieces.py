"""pieces: what one, two and three cubic pieces achieve in one size."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from blascast.models.generation.feasibility import check_operands
from blascast.models.generation.need import Need
from blascast.models.sizes.domain import STEP
from blascast.models.study.collection import Collection
from blascast.models.study.segments import Segments, segments
from blascast.models.study.setting import CASE, DOMAIN, KEY, LD, VALIDATION_KEY
from blascast.models.summary import FloatArray
from blascast.sampler.resources import available_memory
from blascast.sampler.sampler import OnProgress
from blascast.sampler.setup import Setup

from ..effort import Spent, Tally
from ..report import Column, Report, effort_sentences, percent, setup_json
from ..session import Session

REPETITIONS = 50
VALIDATIONS = 20


@dataclass(frozen=True, eq=False, repr=False)
class PiecesReport(Report):
    """Polynomials in one size.

    Parameters
    ----------
    setup : Setup
    sizes : integer array of shape (n,)
        m and n alike.
    medians, measured : arrays of shape (n,), seconds
        Of the pass that the polynomials are fitted to, and of the one that they are judged on.
    found : tuple of Segments
        One, two and three pieces by halving, then by fitted cuts.
    tally : Tally
    spent : Spent
    """

    setup: Setup
    sizes: npt.NDArray[np.int64]
    medians: FloatArray
    measured: FloatArray
    found: tuple[Segments, ...]
    tally: Tally
    spent: Spent

    @property
    def noise_floor(self) -> float:
        """Mean relative difference between the medians of the two passes."""
        return float(np.mean(np.abs(self.medians / self.measured - 1)))

    @property
    def title(self) -> str:
        """What was fitted."""
        return f"cubic pieces, dtrsm LLNN, m = n = {self.sizes[0]}..{self.sizes[-1]}: {self.setup}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        return [
            *(Column("cuts", text=True), Column("pieces"), Column("at", text=True)),
            *(Column("mean error [%]"), Column("largest error [%]"), Column("noise floor [%]")),
        ]

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [self._cells(each) for each in self.found]

    def _cells(self, each: Segments) -> list[str]:
        errors = each.errors(self.sizes, self.measured)
        numbers = (float(errors.mean()), float(errors.max()), self.noise_floor)
        return [
            *(each.cuts, str(len(each.parts)), ", ".join(map(str, each.bounds))),
            *(percent(number, 2) for number in numbers),
        ]

    @property
    def remarks(self) -> list[str]:
        """Sentences below the table."""
        most = {cuts: max(len(each.parts) for each in self.found if each.cuts == cuts) for cuts in ("halves", "fitted")}
        sentences = ["Fitted to medians of one pass, errors against those of another."]
        if most["fitted"] < most["halves"]:
            sentences.append(f"With fitted cuts, more than {most['fitted']} would gain nothing.")
        return [*sentences, *effort_sentences(self.tally, self.spent)]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values, times in seconds."""
        return {
            "kernel": "dtrsm LLNN 1",
            "setup": setup_json(self.setup),
            "sizes": self.sizes.tolist(),
            "median": self.medians.tolist(),
            "measured": self.measured.tolist(),
            "noise_floor": self.noise_floor,
            "rows": [
                {
                    "cuts": each.cuts,
                    "pieces": len(each.parts),
                    "bounds": each.bounds,
                    "error": float(each.errors(self.sizes, self.measured).mean()),
                    "largest_error": float(each.errors(self.sizes, self.measured).max()),
                }
                for each in self.found
            ],
            "samples": self.tally.to_json(),
            "seconds": self.spent.to_json(),
        }

    def flops_per_second(self, seconds: FloatArray) -> FloatArray:
        """Of run times at the sizes."""
        return np.asarray(CASE.kernel.flop_count({**CASE.flags, "m": self.sizes, "n": self.sizes}) / seconds)


def pieces(library: str = "scipy", *, home: Path | None = None, on_progress: OnProgress | None = None) -> PiecesReport:
    """Fits one, two and three cubic polynomials to the run time of dtrsm (dissertation, section 7.5.2).

    B := A^-1 B with A lower triangular, both square, of size 24 to 536 in steps of 8, one thread. It takes
    about half a minute.

    Parameters
    ----------
    library : str
    home : Path, optional
        The store's folder.
    on_progress : callable, optional
        Called with a `Progress` meanwhile.

    Returns
    -------
    PiecesReport

    Raises
    ------
    UsageError, BlascastError
        If the library is unknown or not here, or the routine or the store fails.
    """
    sizes = np.arange(DOMAIN.lower[0], DOMAIN.upper[0] + 1, STEP)
    points = np.stack([sizes, sizes], axis=1)
    with Session(library=library, home=home, on_progress=on_progress) as session:
        check_operands(Need(CASE, (DOMAIN,)), session.setup.item_bytes, available_memory(), LD)
        collection = Collection(session.sampler, session.store, session.on_progress)
        collection.complete(points, REPETITIONS, KEY, "sampling")
        collection.complete(points, VALIDATIONS, VALIDATION_KEY, "sampling once more, for validation")
        samples = collection.seconds(points, REPETITIONS, KEY)
        measured = np.nanmedian(collection.seconds(points, VALIDATIONS, VALIDATION_KEY), axis=1)
        for batch in collection.batches:
            session.tally = session.tally.plus(batch)
        spent = Spent(sampling=sum(batch.seconds for batch in collection.batches))
        found = tuple(segments(sizes, samples))
        medians = np.nanmedian(samples, axis=1)
        return PiecesReport(session.sampler.setup, sizes, medians, measured, found, session.tally, spent)
