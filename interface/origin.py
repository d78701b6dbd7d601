"""Where the models of an answer come from, if not from samples of this machine."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from blascast.models.evaluation.outside import Outside
from blascast.models.piecewise import Model
from blascast.sampler.setup import Setup


@dataclass(frozen=True, slots=True)
class Origin:
    """Where models come from.

    Parameters
    ----------
    setup : Setup
    as_stored : bool
        Whether they were taken from the store as they are, without the setup's machine and library.
    imported : tuple of str
        When and from where those that were not made here were imported: ``"imported DAY from FILE"``.
    calls, outside : int
        How many calls there are to estimate, and how many of them lie outside the models' domains.
    how : str
        What became of these.
    """

    setup: Setup
    as_stored: bool = False
    imported: tuple[str, ...] = ()
    calls: int = 0
    outside: int = 0
    how: Outside = "error"

    def of(self, models: Iterable[Model]) -> "Origin":
        """The origin of given models."""
        return replace(self, imported=tuple(sorted({model.origin for model in models if model.origin})))

    @property
    def sentences(self) -> list[str]:
        """What there is to say of it."""
        said = []
        imported = "; ".join(self.imported)
        if self.as_stored:
            said.append(
                f"From the stored models of setup {self.setup.fingerprint} ({self.setup})"
                f"{', ' + imported if self.imported else ''}; nothing was measured here."
            )
        elif self.imported:
            said.append(f"Uses models of setup {self.setup.fingerprint} that were {imported}.")
        if self.outside:
            how = {"clamp": "the nearest sizes inside stand for them", "extrapolate": "they are extrapolated"}[self.how]
            said.append(f"{self.outside} of {self.calls} calls are outside the models' domains: {how}.")
        return said

    def to_json(self) -> dict[str, Any] | None:
        """As plain JSON values; None if all was sampled here."""
        if not (self.as_stored or self.imported):
            return None
        return {
            "setup": self.setup.fingerprint,
            "imported": list(self.imported),
            "calls": self.calls,
            "outside": self.outside,
            "how": self.how,
        }
