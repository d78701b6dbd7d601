"""Reports: what a question returns. They print as a table, show as HTML, and turn into JSON or a frame."""

import html
import io
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, JustifyMethod
from rich.markup import escape
from rich.table import Table

from blascast.predictors.ranking import NOISE_IF_UNKNOWN
from blascast.sampler.setup import Setup

from .effort import Spent, Tally

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 140
STOPS = {
    "bound": "Sampling ended as the errors were within the bound.",
    "decision": "Sampling ended as more would not change the ranking: its classes are apart, or tied within noise.",
    "budget": "Sampling ended with its budget of time: what is left is in ±, and less if the question is asked again.",
    "noise": "Sampling ended as the errors left are no more than the samples' own noise.",
    "no gain": "Sampling ended as further samples did not lower the errors.",
    "minimum width": "Sampling ended as nothing was left to sample where errors are.",
}
GAP = 3  # between columns


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a printed table: its heading, whether it holds text (left) or numbers (right), and never wraps."""

    heading: str
    text: bool = False
    whole: bool = False

    def words(self, cell: str) -> list[str]:
        """The parts of a cell that are never wrapped."""
        return [cell] if self.whole else cell.split() or [""]


class Report(ABC):
    """What every report can do."""

    @property
    @abstractmethod
    def title(self) -> str:
        """One line above the table."""

    @property
    @abstractmethod
    def columns(self) -> list[Column]:
        """Of the printed table."""

    @abstractmethod
    def cells(self) -> list[list[str]]:
        """The printed rows, formatted."""

    @property
    @abstractmethod
    def remarks(self) -> list[str]:
        """Sentences below the table."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values, times in seconds."""

    def to_frame(self) -> "pd.DataFrame":
        """The rows as a data frame, times in seconds."""
        import pandas as pd

        return pd.json_normalize(self.to_json()["rows"], sep="_")

    def table(self) -> Table:
        """The table for a terminal; headings and texts wrap, words and numbers never do."""
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for column, width in zip(self.columns, self._longest_words(), strict=True):
            justify: JustifyMethod = "left" if column.text else "right"
            table.add_column(escape(column.heading), justify=justify, min_width=width)
        for row in self.cells():
            table.add_row(*map(escape, row))
        return table

    def _longest_words(self) -> list[int]:
        """Length of the longest word of each column."""
        columns = self.columns
        lines = [[column.words(cell) for column, cell in zip(columns, row, strict=True)] for row in self.cells()]
        headings = [column.heading.split() or [""] for column in columns]
        return [max(len(word) for words in column for word in words) for column in zip(headings, *lines, strict=True)]

    def print(self, console: Console) -> None:
        """Prints title, table and remarks, the table as wide as it must be."""
        width = console.width
        console.print(escape(self.title), style="bold", highlight=False)
        console.width = max(width, sum(self._longest_words()) + GAP * len(self.columns))
        console.print(self.table(), crop=False)
        console.width = width
        for remark in self.remarks:
            console.print(escape(remark), highlight=False)

    def __str__(self) -> str:
        # in a notebook rich would display what it is to write
        console = Console(file=io.StringIO(), width=WIDTH, no_color=True, force_jupyter=False)
        self.print(console)
        assert isinstance(console.file, io.StringIO)
        return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        heads = "".join(f"<th>{html.escape(column.heading)}</th>" for column in self.columns)
        aligns = ["left" if column.text else "right" for column in self.columns]
        rows = "".join(
            "<tr>"
            + "".join(f'<td style="text-align:{a}">{html.escape(c)}</td>' for a, c in zip(aligns, row, strict=True))
            + "</tr>"
            for row in self.cells()
        )
        below = "".join(f"<p>{html.escape(remark)}</p>" for remark in self.remarks)
        return (
            f"<table><caption>{html.escape(self.title)}</caption><thead><tr>{heads}</tr></thead>"
            f"<tbody>{rows}</tbody></table>{below}"
        )


def setup_json(setup: Setup) -> dict[str, Any]:
    """A setup with its fingerprint, as plain JSON values."""
    return {**setup.to_json(), "fingerprint": setup.fingerprint}


def efficiency(flops_per_second: float, peak: float | None) -> float | None:
    """The share of the peak, if that is known."""
    return None if peak is None else flops_per_second / peak


def counted(count: int, noun: str) -> str:
    """Such as ``1 model`` or ``2 models``."""
    return f"{count} {noun}{'s' * (count != 1)}"


def milliseconds(seconds: float) -> str:
    """Seconds as milliseconds, four digits."""
    return f"{1e3 * seconds:#.4g}"


def percent(fraction: float | None, digits: int = 1) -> str:
    """A fraction in per cent; a dash for one that is not known."""
    if fraction is None:
        return "–"
    return f"{100 * fraction:.{digits}f}"


def effort_sentences(tally: Tally, spent: Spent) -> list[str]:
    """What an answer took: samples, if any were taken, and time."""
    samples = (
        f"Samples: {tally.accepted} accepted, {tally.requeued} measured again, {tally.given_up} given up."
        if tally.accepted + tally.given_up
        else "Nothing had to be sampled."
    )
    parts = []
    for name, seconds in spent.to_json().items():
        if seconds > 0:
            parts.append(f"{name} {seconds:.1f} s" if seconds >= 0.1 else f"{name} {1e3 * seconds:.0f} ms")
    sentences = [f"{samples} Took: {', '.join(parts)}."]
    if tally.stopped is not None:
        sentences.insert(0, STOPS[tally.stopped])
    return sentences


def noise_sentence(noise_floor: float | None) -> str:
    """The noise floor, or that it is unknown."""
    if noise_floor is None:
        return f"Noise floor unknown, as samples are few; taken to be {percent(NOISE_IF_UNKNOWN)} %."
    return f"Noise floor {percent(noise_floor)} %."


def core_sentence(state: str) -> str:
    """What state of the core the times are for."""
    return {
        "free": "Times are for a core of one's own.",
        "busy": "Times are for a core that a neighbour shares: that is how it was while measuring.",
    }.get(state, "Times mix moments when a neighbour shared the core with others: no single state prevailed.")
