"""What a model generator is: it says which points it wants sampled, is given their observations, and goes on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from ..fitting.basis import Exponents
from ..fitting.fit import fit_statistics
from ..fitting.part import Part
from ..piecewise import Piece
from ..summary import MEDIAN, FloatArray, standard_error, summarize

Point: TypeAlias = tuple[int, ...]

CALLS_PER_SAMPLE = 2  # the first of which warms the operands up


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """What sampling found at one point.

    Parameters
    ----------
    statistics : array of shape (5,), seconds
    reference : float
        The reference statistic, seconds.
    standard_error : float
        Of the reference statistic, relative to it.
    seconds : float
        What taking the samples cost.
    samples : int
        How many there are.
    """

    statistics: FloatArray
    reference: float
    standard_error: float
    seconds: float
    samples: int


def observe(seconds: FloatArray, reference: float, spent: float) -> Observation:
    """What samples amount to.

    Parameters
    ----------
    seconds : array of shape (n_samples,)
    reference : float
        The reference statistic, as a quantile.
    spent : float
        What taking them cost, seconds.
    """
    value = float(np.quantile(seconds, reference))
    error = standard_error(seconds, MEDIAN) / value
    return Observation(summarize(seconds), value, error, spent, len(seconds))


class Generator(Protocol):
    """Generates the pieces of one kernel case.

    Attributes
    ----------
    wanted : list of points
        To be sampled next.
    parts : list of Part
        The pieces so far.
    stopped : str or None
        Why it ended.
    """

    wanted: list[Point]
    parts: list[Part]
    stopped: str | None
    observed: dict[Point, Observation]

    def observe(self, observations: dict[Point, Observation]) -> None:
        """Takes observations, of the wanted points at least, and fits."""

    def advance(self, importance: FloatArray | None = None) -> None:
        """Decides what is wanted next, or that it ends.

        Parameters
        ----------
        importance : array of shape (n_parts,), optional
            How much the error of each part matters to a question, 1 for the most important of all. With
            it, nothing may be wanted for now, without an end.
        """

    def can_gain(self) -> list[bool]:
        """Which parts further samples may improve."""

    @property
    def obstacle(self) -> str:
        """What further samples would run into: the stop, where nothing more is wanted."""


def pieces_of(generator: Generator, exponents: Exponents) -> tuple[Piece, ...]:
    """The parts as pieces of a model: all five statistics fitted, in terms of the model's monomials."""
    return tuple(_piece(part, generator.observed, exponents) for part in generator.parts)


def _piece(part: Part, observed: dict[Point, Observation], exponents: Sequence[tuple[int, ...]]) -> Piece:
    points = part.observed.sizes
    statistics = np.array([observed[tuple(point)].statistics for point in points.tolist()])
    fitted = fit_statistics(part.matrix(points), statistics, part.observed.weights)
    coefficients = np.zeros((len(exponents), fitted.shape[1]))
    coefficients[[exponents.index(monomial) for monomial in part.exponents]] = fitted
    return Piece(part.domain, coefficients, part.error, part.noise, len(points))
