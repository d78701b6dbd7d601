"""doctor: examines a machine for timing with a library, one line a finding, each with a verdict in words.

report        the findings as a report
measurements  what is measured: peak, memory, first call, ten seconds of noise
system        findings about the system: processor, frequency, limits, memory, variables
performance   findings about what was measured
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Unpack

from blascast.sampler.environment import read_environment
from blascast.sampler.errors import StoreError
from blascast.sampler.simulated import SimulatedBackend

from ..session import Session, SessionOptions
from .finding import Finding
from .measurements import measure
from .performance import performance_findings, steal_time
from .report import DoctorReport
from .system import processor_findings, system_findings

__all__ = ["DoctorReport", "Finding", "doctor"]


def doctor(**options: Unpack[SessionOptions]) -> DoctorReport:
    """Examines this machine, or the simulated one: processor, limits, clock, libraries, peak, memory, noise.

    Takes about twenty seconds. A store that cannot be used is a finding, not a failure.

    Parameters
    ----------
    **options
        Library, data type, threads and so on: the parameters of `Session`.

    Raises
    ------
    UsageError, LibraryError
        If the library cannot be used, or not with that data type and number of threads.
    """
    with _session(options) as (session, store_finding):
        backend = session.sampler.backend
        environment = None if isinstance(backend, SimulatedBackend) else read_environment(backend.cpus)
        measurements = measure(session, options)
        findings = [*processor_findings(session.sampler.setup, backend)]
        if environment is not None:
            findings += system_findings(environment, session.sampler.setup.threads)
        findings += performance_findings(measurements)
        if environment is not None:
            findings.append(steal_time(measurements.watch))
        findings.append(store_finding)
        figures = measurements.figures() | {"environment": asdict(environment) if environment else None}
        return DoctorReport(session.sampler.setup, tuple(findings), figures)


@contextmanager
def _session(options: SessionOptions) -> Iterator[tuple[Session, Finding]]:
    """A session and the finding about its store; where that cannot be used, a session with one for the moment."""
    with ExitStack() as stack:
        try:
            session = stack.enter_context(Session(**options))
            session.store.note_facts(session.sampler.setup)  # shows whether it can be written
            count = len(session.store.all_models())
            finding = Finding("store", str(session.store.home), f"can be written; {count} models")
        except StoreError as error:
            stack.close()
            momentary: SessionOptions = {**options, "home": Path(stack.enter_context(TemporaryDirectory()))}
            session = stack.enter_context(Session(**momentary))
            finding = Finding("store", "cannot be used", str(error), "export BLASCAST_HOME=FOLDER")
        yield session, finding
