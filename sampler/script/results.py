"""What comes out of a stream."""

from dataclasses import dataclass
from typing import Any, TypeAlias

from ..errors import BlascastError
from ..setup import Setup


@dataclass(frozen=True, slots=True)
class Opened:
    """A library was opened for a data type.

    Parameters
    ----------
    setup : Setup
    clock : str
    ticks_per_second : float
    """

    setup: Setup
    clock: str
    ticks_per_second: float


@dataclass(frozen=True, slots=True)
class Result:
    """One timed call, or one parallel region.

    Parameters
    ----------
    line : int
        Where the call stands in the stream.
    repetition : int
        From 0 on.
    routine : str
        ``"parallel"`` for a region.
    ticks : int
        Of the back end's clock.
    seconds : float
    probe : float or None
        The ratio of the probes as last read before the call: the higher, the more a neighbour shares the core.
    counters : dict
        Counts by event.
    """

    line: int
    repetition: int
    routine: str
    ticks: int
    seconds: float
    probe: float | None
    counters: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Printed:
    """A text that the stream asked for."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Shares:
    """The share of the time that events which take turns were counted; their counts are estimates."""

    shares: dict[str, float]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a line yields nothing."""

    line: int
    error: BlascastError

    def __str__(self) -> str:
        return f"line {self.line}: {self.error}"


Output: TypeAlias = Opened | Result | Printed | Shares | Failure
