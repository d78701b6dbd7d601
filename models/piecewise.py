"""Models: piecewise polynomials of a kernel's run time."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from blascast.sampler.batch.sample import State
from blascast.sampler.errors import UsageError

from .basis import Exponents, design_matrix
from .domain import STEP, Domain, uncovered
from .outside import Outside
from .parameters import Parameters
from .summary import MAX, MEAN, MEDIAN, MIN, STD, FloatArray

_NEGLIGIBLE = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A polynomial for each statistic, valid on a domain.

    Parameters
    ----------
    domain : Domain
    coefficients : array of shape (n_monomials, 5)
        Of the monomials in sizes / domain.upper, seconds.
    error : float
        Relative error of the median at points left out of the fit, root mean square, or `noise` if
        that is larger.
    noise : float
        Standard error of the samples' medians, relative, root mean square.
    points : int
        Points it was fitted to.
    """

    domain: Domain
    coefficients: FloatArray
    error: float
    noise: float
    points: int

    def evaluate(self, sizes: npt.NDArray[np.int64], exponents: Exponents) -> FloatArray:
        """The five statistics at sizes of shape (n, d): array of shape (n, 5), seconds."""
        return design_matrix(sizes, exponents, np.array(self.domain.upper, dtype=float)) @ self.coefficients


@dataclass(frozen=True, slots=True)
class ModelKey:
    """What a model is of."""

    kernel: str
    case: str
    ld: int

    def __str__(self) -> str:
        return f"{self.kernel} {self.case}".strip()


@dataclass(frozen=True, slots=True)
class Ripple:
    """How run times differ at sizes that are no multiples of 8.

    Libraries work on tiles and pay for the padding of the last one. A size n that is no multiple of 8
    counts as n + padding * (the next multiple - n).

    Parameters
    ----------
    padding : tuple of float
        For each size, 0 (only what n is) to about 1 (as much as the next multiple).
    error : float
        Relative error that is left at such sizes, root mean square.
    points : int
        Points that it was learnt from.
    """

    padding: tuple[float, ...]
    error: float
    points: int


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """What a model says of calls.

    Parameters
    ----------
    statistics : array of shape (..., 5), seconds
        Ordered: 0 < min <= median <= max, and the mean between min and max.
    errors : array of shape (...)
        Standard error of the median, relative.
    pieces : integer array of shape (...)
        Index of the piece that each was computed by.
    """

    statistics: FloatArray
    errors: FloatArray
    pieces: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A piecewise polynomial of one case of a kernel.

    Parameters
    ----------
    key : ModelKey
    exponents : monomials
    pieces : tuple of Piece
    state : str
        Of the core while it was sampled.
    stopped : str
        Why refinement ended.
    seconds : float
        What sampling cost.
    parameters : Parameters
    samples : int
        How many it rests on.
    taken : float
        When the last of them was taken, seconds since 1970.
    ripple : Ripple, optional
        How sizes that are no multiples of 8 differ, if that was examined.
    origin : str
        Empty for a model made here; else where it was imported from, and when.
    """

    key: ModelKey
    exponents: Exponents
    pieces: tuple[Piece, ...]
    state: State
    stopped: str
    seconds: float
    parameters: Parameters
    samples: int = 0
    taken: float = 0.0
    ripple: Ripple | None = None
    origin: str = ""

    @property
    def domains(self) -> list[Domain]:
        """The domains of its pieces."""
        return [piece.domain for piece in self.pieces]

    @property
    def error(self) -> float:
        """Median over the pieces of their relative errors."""
        return float(np.median([piece.error for piece in self.pieces]))

    @property
    def worst_error(self) -> float:
        """Largest of the relative errors of its pieces."""
        return max(piece.error for piece in self.pieces)

    def joined(self, other: "Model") -> "Model":
        """This model with the other's pieces wherever this one has none.

        They only join when they are alike: same state, parameters and monomials; else this one remains.
        """
        alike = (self.state, self.parameters, self.exponents) == (other.state, other.parameters, other.exponents)
        if not alike:
            return self
        ripple = self.ripple or other.ripple
        more = tuple(piece for piece in other.pieces if uncovered(piece.domain, self.domains))
        if not more:
            return replace(self, ripple=ripple)
        return replace(
            self,
            pieces=self.pieces + more,
            seconds=self.seconds + other.seconds,
            samples=self.samples + other.samples,
            ripple=ripple,
            origin=self.origin or other.origin,
        )

    def covers(self, sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Which rows of an (n, d) array lie inside a piece: array of shape (n,)."""
        return self.piece_of(sizes) >= 0

    def piece_of(self, sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Index of the first piece that contains each row of an (n, d) array, -1 if none does."""
        lower = np.array([piece.domain.lower for piece in self.pieces])
        upper = np.array([piece.domain.upper for piece in self.pieces])
        inside = np.ones((len(sizes), len(self.pieces)), dtype=bool)
        for i in range(sizes.shape[1]):
            size = sizes[:, i, None]
            inside &= (size >= lower[:, i]) & (size <= upper[:, i])
        return np.where(inside.any(axis=1), inside.argmax(axis=1), -1)

    def evaluate(self, sizes: npt.NDArray[np.int64], outside: Outside = "error") -> Estimates:
        """Estimates of run times.

        Parameters
        ----------
        sizes : integer array of shape (n, d)
        outside : str
            What becomes of sizes that no piece contains.

        Raises
        ------
        UsageError
            If sizes lie outside and may not.
        """
        indices, clamped = self.piece_of(sizes), sizes
        missed = indices < 0
        if missed.any():
            if outside == "error":
                raise UsageError(f"the sizes {sizes[missed][0].tolist()} lie outside the model of {self.key}")
            bounds = np.array([(piece.domain.lower, piece.domain.upper) for piece in self.pieces])
            nearest = np.clip(sizes[missed, None], bounds[:, 0], bounds[:, 1])
            indices[missed] = np.abs(np.log(sizes[missed, None] / nearest)).sum(axis=2).argmin(axis=1)
            if outside == "clamp":
                clamped = sizes.copy()
                clamped[missed] = nearest[np.arange(missed.sum()), indices[missed]]
        scales = np.array([piece.domain.upper for piece in self.pieces], dtype=float)
        coefficients = np.stack([piece.coefficients for piece in self.pieces])
        padding = self.ripple.padding if self.ripple else np.zeros(sizes.shape[1])
        effective: npt.NDArray[Any] = clamped + padding * (-clamped % STEP)
        matrix = design_matrix(effective, self.exponents, scales[indices])
        statistics = np.einsum("nk,nks->ns", matrix, coefficients[indices])
        errors = np.array([piece.error for piece in self.pieces])[indices]
        if self.ripple:
            errors = np.where((sizes % STEP).any(axis=1), np.hypot(errors, self.ripple.error), errors)
        return Estimates(_ordered(statistics), errors, indices)


def _ordered(statistics: FloatArray) -> FloatArray:
    """Independent fits may cross by a hair, or dip below zero between points; times do neither."""
    median = np.maximum(statistics[:, MEDIAN], _NEGLIGIBLE * np.abs(statistics[:, MEDIAN]) + 1e-12)
    ordered = np.empty_like(statistics)
    ordered[:, MEDIAN] = median
    ordered[:, MIN] = np.clip(statistics[:, MIN], _NEGLIGIBLE * median, median)
    ordered[:, MAX] = np.maximum(statistics[:, MAX], median)
    ordered[:, MEAN] = np.clip(statistics[:, MEAN], ordered[:, MIN], ordered[:, MAX])
    ordered[:, STD] = np.maximum(statistics[:, STD], 0.0)
    return ordered
