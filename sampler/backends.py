"""The back ends, by the name of the library."""

from .backend import Backend
from .host.backend import WorkerBackend
from .setup import SetupRequest
from .simulated import SimulatedBackend


def open_backend(request: SetupRequest) -> Backend:
    """The back end for a request: the simulated machine for the library ``"simulated"``, else a worker.

    Raises
    ------
    UsageError, LibraryError
        If the library is unknown or cannot be opened, or the threads exceed the allowed CPUs.
    """
    if request.library == "simulated":
        return SimulatedBackend(dtype=request.dtype, threads=request.threads)
    return WorkerBackend(request)
