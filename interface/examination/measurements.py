"""What doctor measures: peak by threads, memory bandwidth, the first call, and ten seconds of noise."""

import contextlib
import os
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from blascast.models.generation.keeping import facts_of
from blascast.models.sampling import model_ld
from blascast.sampler.backend import Backend, Overhead
from blascast.sampler.backends import open_backend
from blascast.sampler.batch.levels import Level, levels_of
from blascast.sampler.batch.sample import Batch
from blascast.sampler.call import Call, View, bind
from blascast.sampler.errors import LibraryError
from blascast.sampler.job import warm_job
from blascast.sampler.kernels import find_kernel
from blascast.sampler.libraries import found_libraries
from blascast.sampler.program import Time, Touch, buffers_for
from blascast.sampler.resources import available_memory
from blascast.sampler.sampler import Budget, Progress, Sampler
from blascast.sampler.setup import SetupRequest
from blascast.sampler.simulated import SimulatedBackend

from ..session import Session, SessionOptions

SENTINEL_SIZES = (64, 200, 400)
TRIAL_REPETITIONS = 20
TRIAL_SECONDS = 1.0
WATCH_SECONDS = 10.0
LEVEL_TOLERANCE = 0.03
FIRST_CALL_SIZE = 200
LATER_CALLS = 20
CACHES = 3  # the triad's arrays are so many times the last-level cache
LEAST_TRIAD_BYTES = 256 << 20
MEMORY_PART = 0.25  # of what is available


@dataclass(frozen=True, slots=True)
class Peak:
    """Of a large gemm, for a number of threads."""

    threads: int
    flops_per_second: float


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Of memory, for a number of threads, by triads over so many bytes."""

    threads: int
    bytes_per_second: float
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class FirstCall:
    """What the first call of a gemm costs in a fresh process, and the median of later ones."""

    library: str
    size: int
    first_seconds: float
    later_seconds: float


@dataclass(frozen=True, slots=True)
class Watch:
    """What was seen while sentinels were timed over and over.

    Parameters
    ----------
    seconds : float
        How long it took.
    samples : int
    noise_floor : float, optional
        Relative difference of the same work measured twice, of undisturbed samples.
    spread_low, spread_high : float
        10th and 90th percentile of all samples, relative to the median of their kind.
    free_share, busy_share, preempted_share : float
        Of all samples.
    levels : tuple of Level
        Of the samples of middle size that were not preempted, relative to their median; the fastest first.
    resolution_seconds : float, optional
        The largest step of which all times are multiples; None if all are the same.
    stolen_share : float, optional
        Of all CPU time, what the hypervisor gave to others; None if not told.
    """

    seconds: float
    samples: int
    noise_floor: float | None
    spread_low: float
    spread_high: float
    free_share: float
    busy_share: float
    preempted_share: float
    levels: tuple[Level, ...]
    resolution_seconds: float | None
    stolen_share: float | None


@dataclass(frozen=True, slots=True)
class Measurements:
    """All that was measured."""

    dtype: str
    threads: int
    clock: str
    ticks_per_second: float
    overhead: Overhead
    peaks: tuple[Peak, ...]
    bandwidths: tuple[Bandwidth, ...]
    last_level_cache_bytes: int
    first_calls: tuple[FirstCall, ...]
    watch: Watch

    @property
    def peak(self) -> Peak:
        """That of the setup."""
        return next(peak for peak in self.peaks if peak.threads == self.threads)

    def figures(self) -> dict[str, Any]:
        """The numbers as plain JSON values."""
        values = asdict(self)
        values["overhead"] = {f"{name}_seconds": value for name, value in asdict(self.overhead).items()}
        return values | {"peak_flops_per_second": self.peak.flops_per_second}


def measure(session: Session, options: SessionOptions) -> Measurements:
    """Measures everything; facts about the setup are kept in the store.

    Parameters
    ----------
    session : Session
    options : SessionOptions
        What it was opened with.

    Raises
    ------
    LibraryError, KernelFailed
        If the library cannot be used.
    """
    setup, backend = session.sampler.setup, session.sampler.backend
    caches = setup.machine.caches
    cache_bytes = max((cache.bytes for cache in caches), default=0)
    return Measurements(
        setup.dtype,
        setup.threads,
        backend.clock_name,
        backend.ticks_per_second,
        backend.overhead,
        _peaks(session, options),
        _bandwidths(session, cache_bytes),
        cache_bytes,
        _first_calls(session, options.get("library", "scipy")),
        _watch(session),
    )


def thread_counts(threads: int, cpus: int) -> list[int]:
    """A few numbers of threads from 1 to all CPUs, the given one among them.

    Examples
    --------
    >>> thread_counts(1, 64), thread_counts(3, 4), thread_counts(1, 1)
    ([1, 2, 32, 64], [1, 2, 3, 4], [1])
    """
    return sorted(count for count in {1, 2, cpus // 2, cpus, threads} if 1 <= count <= cpus)


def _peaks(session: Session, options: SessionOptions) -> tuple[Peak, ...]:
    """For a few numbers of threads, as many as the library can have."""
    threads, cpus = session.sampler.setup.threads, len(session.sampler.backend.allowed_cpus)
    peaks = [Peak(threads, session.measure_peak())]
    for count in thread_counts(threads, cpus):
        if count != threads:
            others: SessionOptions = {**options, "threads": count, "home": session.store.home}
            try:
                with Session(**others) as other:
                    peaks.append(Peak(count, other.measure_peak()))
            except LibraryError:  # a library of one thread
                continue
    return tuple(sorted(peaks, key=lambda peak: peak.threads))


def _bandwidths(session: Session, cache_bytes: int) -> tuple[Bandwidth, ...]:
    """For one thread and for all CPUs."""
    backend = session.sampler.backend
    memory_bytes = int(min(max(LEAST_TRIAD_BYTES, CACHES * cache_bytes), MEMORY_PART * available_memory()))
    found: list[Bandwidth] = []
    cpus = backend.allowed_cpus
    for chosen in (backend.cpus[:1], cpus) if len(cpus) > 1 else (cpus,):
        session.on_progress(Progress("measuring the memory", len(found), 2, 2.0))
        rate = backend.triad_bytes_per_second(chosen, memory_bytes)
        found.append(Bandwidth(len(chosen), rate, memory_bytes))
    return tuple(found)


def _first_calls(session: Session, library: str) -> tuple[FirstCall, ...]:
    """Of the library that is examined, then of every other that can be opened so."""
    simulated = isinstance(session.sampler.backend, SimulatedBackend)
    found: list[FirstCall] = []
    for name in (library, *(() if simulated else (other for other in found_libraries() if other != library))):
        setup = session.sampler.setup
        with contextlib.suppress(LibraryError):
            found.append(_first_call(name, SetupRequest(name, setup.dtype, setup.threads)))
    return tuple(found)


def _first_call(library: str, request: SetupRequest) -> FirstCall:
    """In a worker of its own; the operands have been touched before."""
    call = _gemm(FIRST_CALL_SIZE)
    backend: Backend = open_backend(request)
    try:
        backend.allocate(buffers_for([call]))
        touches = [Touch(view) for view in call.views.values()]
        records = backend.run([*touches, *[Time(call)] * (1 + LATER_CALLS)])
    finally:
        backend.close()
    first, *later = records.seconds[len(touches) :]
    return FirstCall(library, FIRST_CALL_SIZE, float(first), float(np.median(later)))


def _watch(session: Session) -> Watch:
    """Times sentinels for ten seconds of the machine, whatever disturbs them."""
    jobs = [warm_job(_gemm(n)) for n in SENTINEL_SIZES]
    watcher = Sampler(session.sampler.backend, session.sampler.floor, budget=Budget(0.0, 0.0))
    repetitions = TRIAL_REPETITIONS
    for seconds in (TRIAL_SECONDS, WATCH_SECONDS):
        trial = watcher.measure(jobs, repetitions)
        repetitions = max(TRIAL_REPETITIONS, round(repetitions * seconds / _cost(trial)))
    batch = watcher.measure(jobs, repetitions, label="watching for noise", on_progress=session.on_progress)
    floor = facts_of(batch).get("probe_floor")  # not its noise floor: that of models has fewer repetitions
    if floor is not None:
        session.store.note_facts(session.sampler.setup, probe_floor=floor)
    simulated = isinstance(session.sampler.backend, SimulatedBackend)
    return _seen(batch, session.sampler.backend.ticks_per_second, None if simulated else _stolen_share(batch))


def _seen(batch: Batch, ticks_per_second: float, stolen: float | None) -> Watch:
    samples = [sample for measurement in batch.measurements for sample in measurement.samples]
    times = [np.array([sample.seconds for sample in measurement.samples]) for measurement in batch.measurements]
    low, high = np.percentile(np.concatenate([seconds / np.median(seconds) for seconds in times]), [10, 90])
    states = [sample.state(batch.floor) for sample in samples]
    middle = batch.measurements[len(times) // 2].samples
    whole = np.array([sample.seconds for sample in middle if sample.switches == 0] or times[len(times) // 2])
    found = levels_of(whole / np.median(whole), LEVEL_TOLERANCE)
    ticks = np.rint(np.concatenate(times) * ticks_per_second).astype(np.int64)
    step = int(np.gcd.reduce(ticks - ticks.min()))
    return Watch(
        seconds=_cost(batch),
        samples=len(samples),
        noise_floor=batch.noise_floor,
        spread_low=float(low),
        spread_high=float(high),
        free_share=states.count("free") / len(samples),
        busy_share=states.count("busy") / len(samples),
        preempted_share=float(np.mean([sample.switches > 0 for sample in samples])),
        levels=tuple(sorted(found, key=lambda level: level.value)),
        resolution_seconds=step / ticks_per_second if step else None,
        stolen_share=stolen,
    )


def _stolen_share(batch: Batch) -> float | None:
    stolen, cpus = batch.conditions.steal_seconds, os.cpu_count()
    return None if stolen is None or cpus is None else stolen / (batch.seconds * cpus)


def _cost(batch: Batch) -> float:
    return sum(measurement.cost for measurement in batch.measurements)


def _gemm(n: int) -> Call:
    A, B, C = (View(name, 0, 0, n, n, model_ld(n)) for name in ("A", "B", "C"))
    return bind(find_kernel("gemm"), "N", "N", 1, A, B, 1, C)
