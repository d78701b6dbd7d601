"""A finding: what was looked at, what was found, what that means, and what to do about it."""

from dataclasses import asdict, dataclass
from typing import Any

NOT_TOLD = "not told by the system"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of an examination.

    Parameters
    ----------
    name, value, verdict : str
    remedy : str
        What to type or do; empty where nothing is doubtful.
    """

    name: str
    value: str
    verdict: str
    remedy: str = ""

    @property
    def good(self) -> bool:
        """Whether nothing is doubtful."""
        return not self.remedy

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {**asdict(self), "good": self.good}


def gigabytes(count: float) -> str:
    """Bytes in units that suit memory."""
    return f"{count / 1e9:.1f} GB"


def listed(numbers: tuple[int, ...]) -> str:
    """Numbers, shortened where they are many."""
    return ", ".join(map(str, numbers[:8])) + (", ..." if len(numbers) > 8 else "")
