"""Every failure a person may meet: one line that gives the rule, what came, and the way out."""

from collections.abc import Iterable
from difflib import get_close_matches

_MOST_LISTED, _FEW = 24, 6


class BlascastError(Exception):
    """A failure that is explained in one line; the command line exits with status 1."""


class UsageError(BlascastError):
    """A request that cannot be met as it was worded; the command line exits with status 2."""


class LibraryError(BlascastError):
    """A library that cannot be opened, or that lacks what was asked of it."""


class StoreError(BlascastError):
    """A store that cannot be read or written."""


def unknown(kind: str, name: object, known: Iterable[object]) -> UsageError:
    """The error for a name that is not in a registry, with the names that are (the closest, if they are many)."""
    names = [str(item) for item in known]
    if len(names) > _MOST_LISTED:
        close = get_close_matches(str(name), names, cutoff=0.5) or names[:_FEW]
        names = [*close, f"... ({len(names)} in all)"]
    return UsageError(f"unknown {kind} {str(name)!r}; known: {', '.join(names)}")
