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
    others : tuple of KernelFailed
        The other calls of the program that ran and failed.
    """

    def __init__(
        self,
        message: str,
        records: Records | None = None,
        call: Call | None = None,
        others: tuple["KernelFailed", ...] = (),
    ) -> None:
        super().__init__(message)
        self.records, self.call, self.others = records, call, others
