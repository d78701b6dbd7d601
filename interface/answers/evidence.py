"""Evidence: what an answer rests on."""

from dataclasses import dataclass, replace
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
    "cold": "cold: all operands in memory, as no run of an algorithm has them, measured ones included",
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
    context : str, optional
        What state of the caches calls of algorithms were estimated in.
    left_warm : tuple of str
        Variants whose calls were taken to be warm all the same.
    """

    setup: Setup
    state: State
    noise_floor: float | None
    peak: float | None
    tally: Tally
    spent: Spent
    origin: Origin
    context: Context | None = None
    left_warm: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: Source, state: State) -> "Evidence":
        """What a source has spent and knows by now."""
        known = (source.setup, state, source.noise_floor, source.peak, source.tally, source.spent, source.origin)
        return cls(*known)

    @classmethod
    def of_replay(cls, source: Source, state: State) -> "Evidence":
        """The same, of an answer by replaying algorithms."""
        return replace(cls.of(source, state), context=source.used_context, left_warm=source.left_warm)

    @property
    def sentences(self) -> list[str]:
        """What there is to say of it below an answer."""
        conditions = f"{noise_sentence(self.noise_floor)} {core_sentence(self.state)}"
        return [
            conditions,
            *self._context,
            *self.origin.sentences,
            *effort_sentences(self.tally, self.spent),
        ]

    @property
    def _context(self) -> list[str]:
        if self.context is None:
            return []
        others = f"; those of {', '.join(self.left_warm)} are taken to be warm" if self.left_warm else ""
        return [f"Calls are estimated {_WORDS[self.context]}{others}."]

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
