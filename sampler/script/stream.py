"""Plays a stream: bytes in, results out."""

from collections.abc import Iterator
from typing import IO

from ..errors import BlascastError, UsageError
from .machine import Machine
from .reader import read
from .results import Failure, Output
from .source import numbered


def play(stream: IO[bytes], machine: Machine, keep_going: bool = False) -> Iterator[list[Output]]:
    """What comes out of a stream, in batches as soon as they are there.

    A call that fails in the library costs that call (a `Failure`), and the stream goes on.

    Parameters
    ----------
    stream : binary file
    machine : Machine
    keep_going : bool
        Whether a line that cannot be understood or executed is passed over (a `Failure`).

    Raises
    ------
    BlascastError
        At such a line otherwise; its message begins with ``line N:``. What was measured before has come out.
    """
    line = 0
    for line, text in numbered(stream):
        yield from _guarded(line, _execute(machine, line, text), keep_going)
    yield from _guarded(line, machine.finish(), keep_going)


def _execute(machine: Machine, line: int, text: str | UsageError) -> Iterator[list[Output]]:
    if isinstance(text, UsageError):
        raise text
    statement = read(text)
    if statement is not None:
        yield from machine.do(line, statement)


def _guarded(line: int, batches: Iterator[list[Output]], keep_going: bool) -> Iterator[list[Output]]:
    try:
        for batch in batches:
            for output in batch:
                if isinstance(output, Failure) and isinstance(output.error, UsageError) and not keep_going:
                    line = output.line
                    raise output.error
            yield batch
    except BlascastError as error:
        if not keep_going:
            raise type(error)(f"line {line}: {error}") from None
        yield [Failure(line, error)]
