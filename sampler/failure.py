"""The failure of a routine under test."""

from .errors import BlascastError
from .program import Records


class KernelFailed(BlascastError):
    """A routine that crashed, hung, ended its process or reported an illegal value.

    Attributes
    ----------
    records : Records or None
        What the program had timed before it.
    """

    def __init__(self, message: str, records: Records | None = None) -> None:
        super().__init__(message)
        self.records = records
