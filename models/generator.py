"""What a model generator is: it says which points it wants sampled, is given their observations, and goes on."""

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from .piecewise import Piece
from .summary import FloatArray

Point: TypeAlias = tuple[int, ...]


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


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """The calls of one kernel case that a question will replay.

    Parameters
    ----------
    sizes : integer array of shape (n_calls, d)
    owner : integer array of shape (n_calls,)
        The configuration that each call belongs to.
    configurations : int
    """

    sizes: npt.NDArray[np.int64]
    owner: npt.NDArray[np.int64]
    configurations: int


@dataclass(frozen=True, slots=True, eq=False)
class Refined:
    """What a generator ended with.

    Parameters
    ----------
    pieces : tuple of Piece
    stopped : str
        Why it ended.
    """

    pieces: tuple[Piece, ...]
    stopped: str


class Generator(Protocol):
    """Generates the pieces of one kernel case.

    Attributes
    ----------
    wanted : list of points
        To be sampled next.
    stopped : str or None
        Why it ended.
    """

    wanted: list[Point]
    stopped: str | None

    def observe(self, observations: dict[Point, Observation]) -> None:
        """Takes observations, of the wanted points at least, and fits."""

    def advance(self) -> None:
        """Decides what is wanted next, or that it ends."""

    def result(self) -> Refined:
        """The pieces so far."""
