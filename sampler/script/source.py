"""Bytes -> numbered lines."""

from collections.abc import Iterator
from typing import IO

from ..errors import UsageError

LONGEST = 1 << 16


def numbered(stream: IO[bytes]) -> Iterator[tuple[int, str | UsageError]]:
    """The lines of a stream with their numbers from 1 on, or why one is none; they come as soon as they are there."""
    number = 0
    while line := stream.readline(LONGEST + 1):
        number += 1
        yield number, _text(line)
        while len(line) > LONGEST and not line.endswith(b"\n"):  # the rest of it, if anybody goes on
            line = stream.readline(LONGEST + 1)


def _text(line: bytes) -> str | UsageError:
    if len(line) > LONGEST:
        return UsageError(f"a line may have {LONGEST} bytes, this one has more")
    if b"\0" in line:
        return UsageError("a line may not hold a null byte; is this a file of text?")
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        return UsageError(f"a line must be UTF-8, byte {error.start + 1} of this one is not")
