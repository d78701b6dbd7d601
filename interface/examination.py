"""doctor: examines this machine, one line a finding, each with a verdict in words."""

import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Unpack

import numpy as np

from blascast.models.builder import facts_of
from blascast.models.sampling import model_ld
from blascast.sampler.backend import Overhead
from blascast.sampler.call import View, bind
from blascast.sampler.job import warm_job
from blascast.sampler.kernels import find_kernel
from blascast.sampler.libraries import found_libraries
from blascast.sampler.resources import allowed_cpus
from blascast.sampler.sample import Batch
from blascast.sampler.setup import Setup

from .report import Column, Report, setup_json
from .session import Session, SessionOptions

SENTINEL_SIZES = (64, 200, 400)
SENTINEL_REPETITIONS = 30
HIGH_NOISE = 0.05
HIGH_OVERHEAD_SECONDS = 20e-9


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: what was looked at, what was found, and whether that is well.

    Parameters
    ----------
    name, value, verdict : str
    good : bool
    """

    name: str
    value: str
    verdict: str
    good: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class DoctorReport(Report):
    """The findings.

    Parameters
    ----------
    setup : Setup
    findings : tuple of Finding
    figures : dict
        The measured numbers behind them, in seconds and flops per second.
    """

    setup: Setup
    findings: tuple[Finding, ...]
    figures: dict[str, float]

    @property
    def title(self) -> str:
        """What was examined."""
        return f"this machine, for timing with {self.setup.library}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        return [Column("", text=True), Column("found", text=True), Column("verdict", text=True)]

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [[finding.name, finding.value, finding.verdict] for finding in self.findings]

    @property
    def remarks(self) -> list[str]:
        """How many findings are doubtful."""
        doubts = [finding.name for finding in self.findings if not finding.good]
        return [f"To look at: {', '.join(doubts)}." if doubts else "All is well."]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "setup": setup_json(self.setup),
            "rows": [asdict(finding) for finding in self.findings],
            "figures": self.figures,
        }


def doctor(**options: Unpack[SessionOptions]) -> DoctorReport:
    """Examines this machine: processor, load, clock, libraries, peak, noise.

    Parameters
    ----------
    **options
        Library, data type, threads and so on: the parameters of `Session`.

    Raises
    ------
    BlascastError
        If the library or the store cannot be used.
    """
    with Session(**options) as session:
        peak = session.measure_peak()
        batch = _sentinels(session)
        facts = {"peak_flops_per_second": peak, **facts_of(batch)}
        session.store.note_facts(session.sampler.setup, **facts)
        overhead = session.sampler.backend.overhead
        figures = {**facts, **{f"overhead_{name}": value for name, value in asdict(overhead).items()}}
        findings = (
            *_processor(session.sampler.setup),
            _load(),
            *_clock(session, overhead),
            _libraries(),
            _peak(session.sampler.setup, peak),
            *_noise(batch),
            _store(session),
        )
        return DoctorReport(session.sampler.setup, findings, figures)


def _sentinels(session: Session) -> Batch:
    """A few gemms, measured often enough to see the noise."""
    jobs = []
    for n in SENTINEL_SIZES:
        A, B, C = (View(name, 0, 0, n, n, model_ld(n)) for name in ("A", "B", "C"))
        jobs.append(warm_job(bind(find_kernel("gemm"), "N", "N", 1, A, B, 1, C)))
    return session.sampler.measure(
        jobs, SENTINEL_REPETITIONS, label="measuring the noise", on_progress=session.on_progress
    )


def _processor(setup: Setup) -> Iterator[Finding]:
    machine = setup.machine
    yield Finding("processor", machine.cpu, f"{machine.architecture}, {sys.platform}")
    caches = ", ".join(f"L{cache.level} {_bytes(cache.bytes)}" for cache in machine.caches)
    yield Finding("caches", caches or "unknown", "as one CPU sees them" if caches else "not told by the system")
    cpus = allowed_cpus()
    names = ", ".join(map(str, cpus[:8])) + (", ..." if len(cpus) > 8 else "")
    enough = len(cpus) >= setup.threads
    yield Finding("allowed CPUs", f"{len(cpus)} ({names})", f"up to {len(cpus)} threads can be timed", enough)


def _load() -> Finding:
    load, cpus = os.getloadavg()[0], len(allowed_cpus())
    idle = load < 0.5 * cpus
    verdict = "idle enough" if idle else "other processes compete for the CPUs; expect repeated measurements"
    return Finding("load", f"{load:.2f} on {cpus} CPUs", verdict, idle)


def _clock(session: Session, overhead: Overhead) -> Iterator[Finding]:
    backend = session.sampler.backend
    yield Finding("clock", f"{backend.clock_name}, {backend.ticks_per_second / 1e9:.4f} GHz", "finer than any kernel")
    spread = f"{_ns(overhead.low)} .. {_ns(overhead.median)} .. {_ns(overhead.high)}"
    good = max(abs(overhead.low), abs(overhead.high)) <= HIGH_OVERHEAD_SECONDS
    verdict = (
        f"10 000 empty calls after {_ns(overhead.subtracted)} were subtracted: 10th percentile, median, 90th"
        if good
        else "uneven: calls below 1 us cannot be timed well"
    )
    yield Finding("timer overhead", spread, verdict, good)


def _libraries() -> Finding:
    found = found_libraries()
    listed = ", ".join(f"{name} ({library.file_names[0]})" for name, library in found.items())
    return Finding("libraries", listed or "none", "any can be named with --library", bool(found))


def _peak(setup: Setup, peak: float) -> Finding:
    return Finding("peak", f"{peak / 1e9:.1f} GFLOP/s", f"measured: large {setup.dtype}gemm, {setup.threads} thread(s)")


def _noise(batch: Batch) -> Iterator[Finding]:
    floor = batch.noise_floor
    quiet = floor is not None and floor < HIGH_NOISE
    verdict = "the same work measured twice differs by so much" if quiet else "high: rankings will hold more ties"
    yield Finding("noise floor", "unknown" if floor is None else f"{100 * floor:.1f} %", verdict, quiet)
    samples = [sample for measurement in batch.measurements for sample in measurement.samples]
    free = float(np.mean([sample.verdict("free", batch.floor) == "ok" for sample in samples]))
    preempted = float(np.mean([sample.switches > 0 for sample in samples]))
    alone = free > 0.5
    verdict = "mostly a core of one's own" if alone else "shared most of the time, by a neighbour or another process"
    if batch.setup.threads > 1:
        verdict += "; the first thread's core: the others are not probed"
    yield Finding(
        "core", f"free for {100 * free:.0f} %, preempted in {100 * preempted:.0f} % of samples", verdict, alone
    )


def _store(session: Session) -> Finding:
    count = len(session.store.all_models())
    return Finding("store", str(session.store.home), f"can be written; {count} models")


def _bytes(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB"


def _ns(seconds: float) -> str:
    return f"{1e9 * seconds:.1f} ns"
