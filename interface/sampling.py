"""sample: times the calls that a stream lists line by line (see docs/sample.md)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import IO, Any

from blascast.sampler.backends import open_backend
from blascast.sampler.declaration import read_kernels
from blascast.sampler.script import Failure, Machine, Opened, Output, Printed, Result, play
from blascast.sampler.setup import SetupRequest

from .report import Column, Report, setup_json


@dataclass(frozen=True, eq=False, repr=False)
class SampleReport(Report):
    """What a stream yielded.

    Parameters
    ----------
    opened : tuple of Opened
        The setups, one for each data type of the calls.
    results : tuple of Result
    failures : tuple of Failure
    texts : tuple of Printed
    """

    opened: tuple[Opened, ...]
    results: tuple[Result, ...]
    failures: tuple[Failure, ...]
    texts: tuple[Printed, ...]

    @property
    def title(self) -> str:
        """The setups."""
        return f"{len(self.results)} samples: {'; '.join(str(each.setup) for each in self.opened) or 'no calls'}"

    @property
    def columns(self) -> list[Column]:
        """One for each fact of a result."""
        headings = ["line", "repetition", "ticks", "time [µs]", "probe", *self._events]
        return [Column("routine", text=True), *map(Column, headings)]

    @property
    def _events(self) -> list[str]:
        return list(dict.fromkeys(event for result in self.results for event in result.counters))

    def cells(self) -> list[list[str]]:
        """A row for each result."""
        return [
            [
                *(r.routine, str(r.line), str(r.repetition), str(r.ticks), f"{1e6 * r.seconds:.3f}"),
                "" if r.probe is None else f"{r.probe:.3f}",
                *(str(r.counters.get(event, "")) for event in self._events),
            ]
            for r in self.results
        ]

    @property
    def remarks(self) -> list[str]:
        """What failed."""
        return [str(failure) for failure in self.failures]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values, times in seconds."""
        return {
            "setups": [setup_json(each.setup) for each in self.opened],
            "rows": [result.to_json() for result in self.results],
            "failures": [{"line": failure.line, "error": str(failure.error)} for failure in self.failures],
            "texts": [{"line": text.line, "text": text.text} for text in self.texts],
        }


def sample(
    lines: str | Iterable[str],
    library: str = "scipy",
    threads: int = 1,
    kernels: Sequence[str] = (),
    keep_going: bool = False,
) -> SampleReport:
    """Times the calls that lines list, in the language of ``blascast sample``.

    Parameters
    ----------
    lines : str or iterable of str
        Text, or its lines.
    library : str
    threads : int
    kernels : sequence of str
        Files with declarations of more kernels.
    keep_going : bool
        Whether to pass over lines that are wrong.

    Raises
    ------
    BlascastError
        At the first line that is wrong, unless `keep_going`; the message begins with its number. A call
        that fails in the library is among the report's `failures` instead.

    Examples
    --------
    >>> report = sample("allocate A d 64 64\\ndtrtri L N 64 A 64\\ngo 3", library="simulated")
    >>> report.to_frame()["routine"].tolist()
    ['dtrtri', 'dtrtri', 'dtrtri']
    """
    text = lines if isinstance(lines, str) else "\n".join(lines)
    stream = BytesIO(text.encode(errors="surrogatepass"))
    everything = [output for batch in outputs(stream, library, threads, kernels, keep_going) for output in batch]
    return SampleReport(
        tuple(each for each in everything if isinstance(each, Opened)),
        tuple(each for each in everything if isinstance(each, Result)),
        tuple(each for each in everything if isinstance(each, Failure)),
        tuple(each for each in everything if isinstance(each, Printed)),
    )


def outputs(
    stream: IO[bytes], library: str, threads: int, kernels: Sequence[str], keep_going: bool
) -> Iterator[list[Output]]:
    """What comes out of a stream, in batches as soon as they are there; see `sample`."""
    with Machine(lambda dtype: open_backend(SetupRequest(library, dtype, threads))) as machine:
        for path in kernels:
            machine.declare(*read_kernels(path))
        yield from play(stream, machine, keep_going)
