"""estimate: run times of calls of a kernel from stored models alone."""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from blascast.models.evaluation.outside import Outside, check_outside
from blascast.models.generation.need import Need
from blascast.models.kept.shelf import Shelf
from blascast.models.piecewise import Model
from blascast.models.sampling import case_named, usual_case
from blascast.models.sizes.domain import Domain
from blascast.models.sizes.places import bounding_box
from blascast.predictors.configurations import check_size, several
from blascast.predictors.prediction import FloatArray, Times
from blascast.sampler.errors import UsageError
from blascast.sampler.kernel import Kernel, flop_factor
from blascast.sampler.kernels import find_kernel
from blascast.sampler.precondition import precondition_of
from blascast.sampler.setup import Setup

from .building import check_names
from .opening import open_source
from .origin import Origin
from .report import Column, Report, core_sentence, milliseconds, percent, setup_json
from .session import SessionOptions

MOST_POINTS = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class EstimateReport(Report):
    """Estimates of a kernel's run time.

    Parameters
    ----------
    setup : Setup
    model : Model
    points : integer array of shape (n, d)
        The sizes.
    names : tuple of str
        Of the sizes.
    statistics : array of shape (n, 5), seconds
    errors : array of shape (n,)
        Standard error of the median, relative.
    flops : array of shape (n,)
    origin : Origin
    """

    setup: Setup
    model: Model
    names: tuple[str, ...]
    points: npt.NDArray[np.int64]
    statistics: FloatArray
    errors: FloatArray
    flops: FloatArray
    origin: Origin

    @property
    def title(self) -> str:
        """What was asked."""
        return f"{self.model.key}: {self.setup}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        return [
            *map(Column, self.names),
            *(Column("median [ms]"), Column("± [%]"), Column("min [ms]"), Column("mean [ms]"), Column("max [ms]")),
            *(Column("deviation [ms]"), Column("GFLOP/s"), Column("", text=True)),
        ]

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        cells = []
        for row in self.to_json()["rows"]:
            time = row["time"]
            cells.append(
                [
                    *map(str, row["sizes"].values()),
                    *(milliseconds(time["median"]), percent(row["error"])),
                    *(milliseconds(time[name]) for name in ("min", "mean", "max", "std")),
                    "–" if row["gflops"] is None else f"{row['gflops']:.2f}",
                    "" if row["inside"] else "outside",
                ]
            )
        return cells

    @property
    def remarks(self) -> list[str]:
        """Sentences below the table."""
        return [
            f"The model is of sizes within {bounding_box(self.model)}, leading dimension {self.model.key.ld}; "
            "±: standard error of the median.",
            core_sentence(self.model.state),
            *self.origin.sentences,
        ]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values, times in seconds; the error is relative."""
        inside = self.model.covers(self.points)
        return {
            "kernel": self.model.key.kernel,
            "case": self.model.key.case,
            "ld": self.model.key.ld,
            "precondition": self.model.key.precondition,
            "setup": setup_json(self.setup),
            "rows": [
                {
                    "sizes": dict(zip(self.names, point, strict=True)),
                    "time": Times.of(self.statistics[i]).to_json(),
                    "error": float(self.errors[i]),
                    "gflops": _gflops(float(self.flops[i]), float(self.statistics[i, 1])),
                    "inside": bool(inside[i]),
                }
                for i, point in enumerate(self.points.tolist())
            ],
            "state": self.model.state,
            "origin": self.origin.to_json(),
        }


def _gflops(flops: float, seconds: float) -> float | None:
    """None where nothing is computed."""
    return flops / seconds / 1e9 if flops > 0 else None


def estimate(
    kernel: str,
    case: str | None = None,
    *,
    sizes: Mapping[str, int | Sequence[int]],
    precondition: str = "warm",
    outside: Outside = "error",
    models: str | None = None,
    **options: Unpack[SessionOptions],
) -> EstimateReport:
    """Estimates run times of calls of a kernel from its stored model; nothing is sampled.

    Parameters
    ----------
    kernel : str
    case : str, optional
        Such as ``"LLNN 1"``; by default the usual one: first letters of all flags, factors of 1.
    sizes : mapping
        For each of the kernel's sizes one value or several; all combinations are estimated.
    precondition : str
        Where the operands lie; see `build`.
    outside : str
        What becomes of sizes that the model was not built for: ``"error"``, ``"clamp"`` or ``"extrapolate"``.
    models : str, optional
        Fingerprint of the setup whose models answer, or its first digits; by default this machine's
        with the library.
    **options
        Library, data type, threads and so on: the parameters of `Session`.

    Returns
    -------
    EstimateReport

    Raises
    ------
    UsageError
        If a name or number is not valid, there is no model, or sizes are outside and may not be.
    BlascastError
        If the library or the store fails.

    Examples
    --------
    >>> import blascast
    >>> built = blascast.build("trsm", sizes={"m": (24, 152), "n": (24, 152)}, library="simulated")
    >>> report = blascast.estimate("trsm", sizes={"m": [64, 128], "n": 100}, library="simulated")
    >>> len(report.to_frame())
    2
    """
    check_outside(outside)
    chosen = find_kernel(kernel)
    with open_source(models=models, **options) as source:
        shelf = Shelf.named(source.store, source.setup.fingerprint)
    dtype = shelf.setup.dtype
    named = usual_case(chosen, dtype) if case is None else case_named(chosen, case, dtype)
    points = _points(chosen, sizes)
    box = Domain(tuple(points.min(axis=0).tolist()), tuple(points.max(axis=0).tolist()))
    need = Need(named, (box,), precondition=precondition_of(precondition))
    model = shelf.closest(need.key, points)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is extrapolated, the report says
        found = model.evaluate(points, outside)
    missed = int(np.sum(~model.covers(points)))
    origin = replace(Origin(shelf.setup, as_stored=True, how=outside).of([model]), calls=len(points), outside=missed)
    values = {**named.flags, **dict(zip(chosen.sizes, points.T, strict=True))}
    flops = np.broadcast_to(flop_factor(dtype) * chosen.flop_count(values), len(points))
    return EstimateReport(
        shelf.setup, model, chosen.sizes, points, found.statistics, found.errors, flops.astype(float), origin
    )


def _points(kernel: Kernel, sizes: Mapping[str, int | Sequence[int]]) -> npt.NDArray[np.int64]:
    """All combinations of the sizes' values: array of shape (n, d)."""
    check_names(kernel, sizes)
    axes = [[check_size(name, value) for value in several(sizes[name])] for name in kernel.sizes]
    if not all(axes):
        raise UsageError("sizes must hold at least one value each")
    if math.prod(map(len, axes)) > MOST_POINTS:
        raise UsageError(f"at most {MOST_POINTS} combinations of sizes can be estimated, got more; choose fewer values")
    return np.array(list(product(*axes)), dtype=np.int64)
