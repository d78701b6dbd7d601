"""A worker process as its parent sees it: started, asked, watched, ended."""

import contextlib
import json
import mmap
import os
import signal
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from socket import socketpair
from typing import IO, Any

POLL_SECONDS = 0.2
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


class Died(Exception):
    """The worker ended, or had to be ended; its text says how."""


_lifelines: set[int] = set()


def _close_lifelines() -> None:
    """A forked child must not keep its parent's workers alive."""
    for lifeline in _lifelines:
        os.close(lifeline)
    _lifelines.clear()


os.register_at_fork(after_in_child=_close_lifelines)


def _memory_file() -> IO[bytes]:
    """A file in memory, to share with a worker: a full disk cannot harm it."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("blascast"), "w+b")
    return tempfile.TemporaryFile()


class WorkerProcess:
    """One worker process and what connects it: a socket, a lifeline, and memory for programs and records."""

    def __init__(self, threads: int) -> None:
        ours, theirs = socketpair()
        lifeline_read, self.lifeline = os.pipe()
        _lifelines.add(self.lifeline)
        self.records, self.program, self.output = _memory_file(), _memory_file(), _memory_file()
        descriptors = (theirs.fileno(), lifeline_read, self.records.fileno(), self.program.fileno())
        with theirs:
            self.popen = subprocess.Popen(
                [sys.executable, "-P", "-m", "blascast.sampler.worker", *map(str, descriptors)],
                pass_fds=descriptors,
                stdin=subprocess.DEVNULL,
                stdout=self.output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))},
                start_new_session=True,
            )
        os.close(lifeline_read)
        self.connection = Connection(ours.detach())
        self._read_until = 0

    def ask(
        self, request: dict[str, Any], contents: bytes | None, progress: mmap.mmap | None, hang_seconds: float
    ) -> bytes:
        """Sends a request and waits for the answer, as long as operations advance.

        Raises
        ------
        Died
            If the worker ended or hung.
        """
        try:
            self.connection.send_bytes(json.dumps(request).encode())
            if contents is not None:
                self.connection.send_bytes(contents)
            self._wait(progress, hang_seconds)
            return self.connection.recv_bytes()
        except (EOFError, OSError):
            raise Died(self._how_it_ended()) from None

    def _wait(self, progress: mmap.mmap | None, hang_seconds: float) -> None:
        seen, since = b"", time.monotonic()
        while not self.connection.poll(POLL_SECONDS):
            now = progress[:8] if progress is not None else b""
            if now != seen:
                seen, since = now, time.monotonic()
            if time.monotonic() - since > hang_seconds:
                raise Died(f"did not return within {hang_seconds:.0f} s and was ended")

    def _how_it_ended(self) -> str:
        status = self.popen.wait()
        said = self.new_output().strip().splitlines()
        remark = f' (it said: "{said[-1][:200]}")' if said else ""
        if status == -signal.SIGKILL:
            return "was killed by the system, most likely because memory ran out" + remark
        if status < 0:
            return f"crashed ({signal.strsignal(-status)}){remark}"
        return f"ended its process with exit status {status}{remark}"

    def new_output(self) -> str:
        """What the library printed since this was last asked."""
        self.output.seek(self._read_until)
        text = self.output.read()
        self._read_until += len(text)
        return text.decode(errors="replace")

    def end(self) -> None:
        """Kills the process if need be and closes what connects it."""
        with contextlib.suppress(OSError):
            self.popen.kill()
        self.popen.wait()
        self.connection.close()
        _lifelines.discard(self.lifeline)
        with contextlib.suppress(OSError):
            os.close(self.lifeline)
        for file in (self.records, self.program, self.output):
            file.close()
