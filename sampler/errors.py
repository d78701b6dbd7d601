"""Every failure a person may meet: one line that gives the rule, what came, and the way out."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .program import Records
    from .sample import Batch


class BlascastError(Exception):
    """A failure that is explained in one line; the command line exits with status 1."""


class UsageError(BlascastError):
    """A request that cannot be met as it was worded; the command line exits with status 2."""


class LibraryError(BlascastError):
    """A library that cannot be opened, or that lacks what was asked of it."""


class KernelFailed(BlascastError):
    """A routine that crashed, hung, ended its process or reported an illegal value.

    Attributes
    ----------
    records : Records or None
        What the program had timed before it.
    batch : Batch or None
        What the batch had measured before it.
    """

    def __init__(self, message: str, records: "Records | None" = None) -> None:
        super().__init__(message)
        self.records = records
        self.batch: Batch | None = None


class StoreError(BlascastError):
    """A store that cannot be read or written."""


def unknown(kind: str, name: object, known: Iterable[object]) -> UsageError:
    """The error for a name that is not in a registry, with the names that are."""
    return UsageError(f"unknown {kind} {str(name)!r}; known: {', '.join(str(item) for item in known)}")
