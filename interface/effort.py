"""What an answer took: time and repetitions."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from blascast.sampler.batch.sample import Batch


@dataclass(frozen=True, slots=True)
class Spent:
    """Where the time of an answer went, seconds."""

    sampling: float = 0.0
    modelling: float = 0.0
    prediction: float = 0.0
    verification: float = 0.0

    def to_json(self) -> dict[str, float]:
        """By name."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of the repetitions that an answer asked for.

    Parameters
    ----------
    accepted, requeued, given_up : int
        Samples that counted, repetitions measured again because they were disturbed, and those that
        could not be had undisturbed.
    stopped : str or None
        Why sampling for models ended; see `ModelBuilder`.
    """

    accepted: int = 0
    requeued: int = 0
    given_up: int = 0
    stopped: str | None = None

    def plus(self, batch: Batch) -> "Tally":
        """This tally and a batch's counts."""
        return replace(
            self,
            accepted=self.accepted + batch.accepted,
            requeued=self.requeued + batch.requeued,
            given_up=self.given_up + batch.given_up,
        )

    def to_json(self) -> dict[str, Any]:
        """By name."""
        return asdict(self)
