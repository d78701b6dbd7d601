"""Several models, evaluated together."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from blascast.sampler.errors import UsageError

from ..sizes.domain import Domain
from ..summary import STATISTICS
from ._evaluator import ffi, lib
from .estimates import Estimates, as_sizes, not_positive
from .outside import OUTSIDE_ERROR, ExtrapolationWarning, Outside, check_outside, distances, work_ratios

if TYPE_CHECKING:
    from ..piecewise import Model

IntArray = npt.NDArray[np.int64]
_CALLER = 4  # levels from the warning to who called `evaluate`


class ModelSet:
    """Models that are evaluated together, whatever the mix of their calls.

    Parameters
    ----------
    models : sequence of Model

    Attributes
    ----------
    models : tuple of Model
    width : int
        The largest number of sizes that one of them has.

    Raises
    ------
    UsageError
        If there are none, or the evaluator cannot do one.
    """

    def __init__(self, models: "Sequence[Model]") -> None:
        if not models:
            raise UsageError("a set of models needs one at least, got none")
        self.models = tuple(models)
        self._sizes = np.array([model.tables.sizes for model in self.models])
        self.width = int(self._sizes.max())
        self._in_c = ffi.new("bc_model[]", [model.tables.in_c for model in self.models])

    def evaluate(self, cases: npt.ArrayLike, sizes: npt.ArrayLike, outside: Outside = "error") -> Estimates:
        """Estimates of the run times of calls of several models.

        Parameters
        ----------
        cases : integer array of shape (...)
            Index of each call's model.
        sizes : integer array of shape (..., width)
            A model with fewer sizes reads the first ones; fill up with ones.
        outside : str
            As of `Model.evaluate`.

        Raises
        ------
        UsageError
            If there is no such model, or as of `Model.evaluate`.
        """
        points = as_sizes(sizes, self.width)
        return self.estimate(self._indices(cases, points.shape[:-1]), points, outside)

    def _indices(self, cases: npt.ArrayLike, shape: tuple[int, ...]) -> IntArray:
        array = np.asarray(cases)
        if array.shape != shape or array.dtype.kind not in "iu":
            raise UsageError(
                f"cases must be an integer array of shape {shape}, as the sizes are, "
                f"got one of shape {array.shape} and type {array.dtype}"
            )
        if array.size and not 0 <= array.min() <= array.max() < len(self.models):
            raise UsageError(
                f"cases must be indices of {len(self.models)} models, 0 to {len(self.models) - 1}, "
                f"got {array.min()} to {array.max()}"
            )
        return np.ascontiguousarray(array, dtype=np.int64)

    def estimate(self, cases: IntArray | None, sizes: IntArray, outside: Outside) -> Estimates:
        """The same for arrays that were checked; without cases, all calls are of the first model."""
        check_outside(outside)
        found, missed = self._run(cases, sizes)
        if missed:
            self._beyond(found, cases, sizes, outside)
        return found

    def locate(self, sizes: IntArray) -> IntArray:
        """The first model's piece for every point, -1 where there is none: array of shape (...)."""
        pieces = np.empty(sizes.shape[:-1], dtype=np.int64)
        lib.bc_locate(self._in_c, ffi.NULL, _integers(sizes), self.width, pieces.size, _integers(pieces))
        return pieces

    def _run(self, cases: IntArray | None, sizes: IntArray) -> tuple[Estimates, int]:
        """Estimates, and how many calls are in no piece: their statistics and errors are undefined."""
        shape = sizes.shape[:-1]
        statistics, errors = np.empty((*shape, len(STATISTICS))), np.empty(shape)
        pieces = np.empty(shape, dtype=np.int64)
        missed = lib.bc_evaluate(
            self._in_c,
            ffi.NULL if cases is None else _integers(cases),
            _integers(sizes),
            self.width,
            pieces.size,
            ffi.from_buffer("double[]", statistics),
            ffi.from_buffer("double[]", errors),
            _integers(pieces),
        )
        return Estimates(statistics, errors, pieces), missed

    def _beyond(self, found: Estimates, cases: IntArray | None, sizes: IntArray, outside: Outside) -> None:
        """Refuses the calls that are in no piece, or fills their estimates in."""
        (where,) = np.nonzero(found.pieces.ravel() < 0)
        points = sizes.reshape(-1, self.width)[where]
        own = np.zeros(len(where), dtype=np.int64) if cases is None else cases.ravel()[where]
        read = np.arange(self.width) < self._sizes[own][:, None]
        if (points[read] < 1).any():
            raise not_positive(points[read].min())
        if outside == "error":
            raise self._refusal(own, points)
        nearest = points.copy()
        lib.bc_clamp(self._in_c, _integers(own), _integers(nearest), self.width, len(nearest))
        estimates, _ = self._run(own, nearest)
        if outside == "extrapolate":
            estimates, distance = self._extrapolated(estimates, own, points, nearest)
            warnings.warn(
                f"{len(where)} of {found.pieces.size} calls lie outside their models' domains, by a factor of up to "
                f"{np.exp(distance):.3g}: extrapolated by their flops",
                ExtrapolationWarning,
                stacklevel=_CALLER,
            )
        found.statistics.reshape(-1, len(STATISTICS))[where] = estimates.statistics
        found.errors.reshape(-1)[where] = estimates.errors
        found.pieces.reshape(-1)[where] = estimates.pieces

    def _refusal(self, cases: IntArray, points: IntArray) -> UsageError:
        model = self.models[cases[0]]
        sizes = " x ".join(map(str, points[0, : model.tables.sizes]))
        others = f" (the first of {len(points)} such calls)" if len(points) > 1 else ""
        whole = Domain(model.tables.locator.lower, model.tables.locator.upper)
        return UsageError(
            f"the sizes {sizes}{others} lie outside the model of {model.key}, which covers {whole}; build a "
            "model of them, or say what stands for them: outside (--outside) clamp or extrapolate"
        )

    def _extrapolated(
        self, estimates: Estimates, cases: IntArray, points: IntArray, nearest: IntArray
    ) -> tuple[Estimates, float]:
        """Estimates at points from those at the nearest ones; the farthest distance."""
        ratios, away = np.empty(len(points)), np.empty(len(points))
        for index in np.unique(cases):
            model, rows = self.models[index], cases == index
            there, here = (array[rows, : model.tables.sizes] for array in (points, nearest))
            ratios[rows] = work_ratios(model.kernel, model.key.case, there, here)
            away[rows] = distances(there, here)
        errors = np.hypot(estimates.errors, OUTSIDE_ERROR * away)
        scaled = replace(estimates, statistics=estimates.statistics * ratios[:, None], errors=errors)
        return scaled, float(away.max())


def _integers(array: IntArray) -> object:
    return ffi.from_buffer("int64_t[]", array)
