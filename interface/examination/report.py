"""The findings as a report."""

from dataclasses import dataclass
from typing import Any

from blascast.sampler.setup import Setup

from ..report import Column, Report, setup_json
from .finding import Finding

MARKS = {True: "", False: "!"}


@dataclass(frozen=True, eq=False, repr=False)
class DoctorReport(Report):
    """The findings.

    Parameters
    ----------
    setup : Setup
    findings : tuple of Finding
    figures : dict
        The raw numbers behind them, units in their names.
    """

    setup: Setup
    findings: tuple[Finding, ...]
    figures: dict[str, Any]

    @property
    def title(self) -> str:
        """What was examined."""
        return f"{self.setup.machine.cpu}, for timing with {self.setup.library}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        return [Column("", text=True), *(Column(heading, text=True) for heading in ("", "found", "verdict"))]

    def cells(self) -> list[list[str]]:
        """The printed rows; doubtful ones are marked."""
        return [[MARKS[one.good], one.name, one.value, one.verdict] for one in self.findings]

    @property
    def remarks(self) -> list[str]:
        """What to do about the doubtful findings."""
        doubts: dict[str, list[str]] = {}
        for finding in self.findings:
            if not finding.good:
                doubts.setdefault(finding.remedy, []).append(finding.name)
        if not doubts:
            return ["All is well."]
        helps = [f"  {', '.join(names)}: {remedy}" for remedy, names in doubts.items()]
        return ["To look at (!), and what helps:", *helps]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "setup": setup_json(self.setup),
            "rows": [finding.to_json() for finding in self.findings],
            "figures": self.figures,
        }
