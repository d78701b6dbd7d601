"""The outputs of a stream as lines of text or JSON."""

import json
from collections.abc import Iterator
from typing import Any

from blascast.sampler.script import Failure, Opened, Output, Printed, Result, Shares

COLUMNS = ("line", "repetition", "routine", "ticks", "seconds", "probe")


class TextLines:
    """Columns separated by tabs, with their names in a comment wherever they change."""

    def __init__(self) -> None:
        self._columns: tuple[str, ...] = ()

    def __call__(self, output: Output) -> Iterator[str]:
        """The lines; none of a failure."""
        match output:
            case Opened(setup, clock, rate):
                yield f"# {setup}; clock {clock}, {rate:.0f} ticks/s"
            case Printed(_, text):
                yield text
            case Shares(shares):
                yield f"# counted part of the time: {', '.join(f'{e} {share:.3f}' for e, share in shares.items())}"
            case Result():
                if self._columns != (columns := (*COLUMNS, *output.counters)):
                    self._columns = columns
                    yield "# " + "\t".join(columns)
                probe = "" if output.probe is None else f"{output.probe:.3f}"
                facts = (output.line, output.repetition, output.routine, output.ticks, f"{output.seconds:.9g}", probe)
                yield "\t".join(map(str, (*facts, *output.counters.values())))


def json_lines(output: Output) -> Iterator[str]:
    """An object; none of a failure."""
    value: dict[str, Any] | None = None
    match output:
        case Opened(setup, clock, rate):
            value = {"setup": setup.to_json(), "clock": clock, "ticks_per_second": rate}
        case Printed(line, text):
            value = {"line": line, "text": text}
        case Shares(shares):
            value = {"counter_shares": shares}
        case Result():
            value = output.to_json()
        case Failure():
            return
    yield json.dumps(value, allow_nan=False)
