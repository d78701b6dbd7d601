"""The failure of a routine under test."""

from .call import Call
from .errors import BlascastError
from .program import Records


class KernelFailed(BlascastError):
    """A routine that crashed, hung, ended its process or reported an illegal value.

    Attributes
    ----------
    records : Records or None
        What the program had timed before it.
    call : Call or None
        The call that failed, as it stands in the program, if that is known.
    """

    def __init__(self, message: str, records: Records | None = None, call: Call | None = None) -> None:
        super().__init__(message)
        self.records, self.call = records, call
