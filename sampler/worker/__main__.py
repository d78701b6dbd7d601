"""``python -m blascast.sampler.worker``: started by the parent, ends with it."""

import contextlib
import json
import signal
import sys
from multiprocessing.connection import Connection

from .._engine import lib
from .refused import Refused
from .worker import Worker


def serve(connection: Connection, worker: Worker) -> None:
    """Answers requests until the parent closes the connection."""
    while True:
        request = json.loads(connection.recv_bytes())
        contents = connection.recv_bytes() if request["do"] == "write" else None
        try:
            arguments = (request,) if contents is None else (request, contents)
            answer = getattr(worker, request["do"])(*arguments)
            reply = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        except Refused as refusal:
            reply = json.dumps({"refused": str(refusal)}).encode()
        connection.send_bytes(reply)


def main(arguments: list[str]) -> None:
    """Entry point: descriptors of the connection, of the lifeline, and of the memory for records and programs."""
    connection, lifeline, records, program = map(int, arguments)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt ends
    lib.bc_exit_when_closed(lifeline)
    with contextlib.suppress(EOFError):
        serve(Connection(connection), Worker(records, program))


if __name__ == "__main__":
    main(sys.argv[1:])
