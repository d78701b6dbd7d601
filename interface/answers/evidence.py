"""Evidence: what an answer rests on."""

from dataclasses import dataclass
from typing import Any

from blascast.predictors.contexts import Context
from blascast.sampler.batch.sample import State
from blascast.sampler.setup import Setup

from ..effort import Spent, Tally
from ..origin import Origin
from ..report import core_sentence, effort_sentences, noise_sentence, setup_json
from ..source import Source

_WORDS: dict[Context, str] = {
    "warm": "warm",
    "cold": "cold",
    "cache": "between warm and cold, by the cache model",
    "algorithm": "as steps of the algorithms have shown",
}


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What an answer rests on.

    Parameters
    ----------
    setup : Setup
    state : str
        Of the core that the times are for.
    noise_floor : float or None
        Relative difference between two measurements of the same thing, as last seen.
    peak : float or None
        Flops per second, if known.
    tally : Tally
    spent : Spent
    origin : Origin
        Of the models.
    context : str
        What state of the caches calls were estimated in.
    """

    setup: Setup
    state: State
    noise_floor: float | None
    peak: float | None
    tally: Tally
    spent: Spent
    origin: Origin
    context: Context

    @classmethod
    def of(cls, source: Source, state: State) -> "Evidence":
        """What a source has spent and knows by now."""
        peak = source.peak
        return cls(
            *(source.setup, state, source.noise_floor, peak, source.tally, source.spent, source.origin),
            source.context,
        )

    @property
    def sentences(self) -> list[str]:
        """What there is to say of it below an answer."""
        conditions = f"{noise_sentence(self.noise_floor)} {core_sentence(self.state)}"
        return [
            conditions,
            f"Calls are estimated {_WORDS[self.context]}.",
            *self.origin.sentences,
            *effort_sentences(self.tally, self.spent),
        ]

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "setup": setup_json(self.setup),
            "state": self.state,
            "noise_floor": self.noise_floor,
            "peak_gflops": None if self.peak is None else self.peak / 1e9,
            "samples": self.tally.to_json(),
            "seconds": self.spent.to_json(),
            "origin": self.origin.to_json(),
            "context": self.context,
        }
