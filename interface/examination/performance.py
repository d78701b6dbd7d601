"""Findings about what was measured: clock, peak, memory, first call, noise."""

from collections.abc import Iterator
from pathlib import Path

from blascast.sampler.backend import Overhead

from ..report import percent
from .finding import NOT_TOLD, Finding, gigabytes
from .measurements import Bandwidth, FirstCall, Measurements, Peak, Watch

HIGH_NOISE = 0.05
HIGH_OVERHEAD_SECONDS = 20e-9
COARSE_SECONDS = 100e-9
POOR_SCALING = 0.7
BEYOND_CACHE = 2.0
SLOW_FIRST_CALL = 2.0
MUCH_STOLEN = 0.01
MUCH_PREEMPTED = 0.05
UNSEEN_SHARE = 0.1
TOP = "end what `top` shows first, or wait"
UNCLEAR = "wait; if it stays so, the floor of the probes that the store knows is too low: use another BLASCAST_HOME"
ANOTHER_HOST = "measure at another hour, or on a machine with CPUs of its own"


def performance_findings(measured: Measurements) -> Iterator[Finding]:
    """What the measurements tell."""
    yield clock(measured.clock, measured.ticks_per_second)
    yield resolution(measured.watch.resolution_seconds)
    yield overhead(measured.overhead)
    yield peak(measured.peaks, measured.dtype)
    yield bandwidth(measured.bandwidths, measured.last_level_cache_bytes)
    yield first_calls(measured.first_calls, measured.dtype)
    yield noise_floor(measured.watch)
    yield core(measured.watch, measured.threads)
    yield levels(measured.watch)


def clock(name: str, ticks_per_second: float) -> Finding:
    """What times are read from."""
    return Finding("clock", f"{name}, {ticks_per_second / 1e9:.4f} GHz", "calibrated against the monotonic clock")


def resolution(seconds: float | None) -> Finding:
    """The step of the clock."""
    if seconds is None:
        return Finding("timer resolution", "unknown", "all times were the same")
    value = nanoseconds(seconds)
    if seconds > COARSE_SECONDS:
        return Finding("timer resolution", value, "coarse", "time calls of 100 us and more only")
    return Finding("timer resolution", value, "finer than any kernel")


def overhead(found: Overhead) -> Finding:
    """What timing itself costs."""
    spread = f"{nanoseconds(found.low)} .. {nanoseconds(found.median)} .. {nanoseconds(found.high)}"
    if max(abs(found.low), abs(found.high)) > HIGH_OVERHEAD_SECONDS:
        return Finding("timer overhead", spread, "uneven: calls below 1 us cannot be timed well", f"{TOP}; begin anew")
    verdict = f"of empty calls, after {nanoseconds(found.subtracted)} were subtracted: 10th percentile, median, 90th"
    return Finding("timer overhead", spread, verdict)


def peak(peaks: tuple[Peak, ...], dtype: str) -> Finding:
    """The rate of a large gemm, and what threads add to it."""
    value = ", ".join(f"{found.flops_per_second / 1e9:.1f}" for found in peaks)
    value += f" GFLOP/s ({', '.join(str(found.threads) for found in peaks)} thread(s))"
    one = peaks[0].flops_per_second / peaks[0].threads
    scaling = {found.threads: found.flops_per_second / (one * found.threads) for found in peaks}
    most = max(scaling)
    verdict = f"large {dtype}gemm, the best that was seen"
    if scaling[most] >= POOR_SCALING:
        return Finding("peak", value, verdict)
    well = max(threads for threads, share in scaling.items() if share >= POOR_SCALING)
    verdict += f"; {most} threads reach {percent(scaling[most], 0)} % of {most} times one"
    verdict += ": do they share cores, or were they busy?"
    return Finding("peak", value, verdict, f"use --threads {well}, or `taskset -c` with one CPU of every core")


def bandwidth(found: tuple[Bandwidth, ...], cache_bytes: int) -> Finding:
    """Of memory."""
    value = ", ".join(f"{one.bytes_per_second / 1e9:.1f}" for one in found)
    value += f" GB/s ({', '.join(str(one.threads) for one in found)} thread(s))"
    size = found[0].memory_bytes
    verdict = f"triad a := b + s c of the engine over {gigabytes(size)}"
    if cache_bytes == 0:
        return Finding(
            "memory bandwidth", value, f"{verdict}: the size of the caches is not told, it may be within them"
        )
    if size < BEYOND_CACHE * cache_bytes:
        verdict += f": not well beyond the last-level cache of {gigabytes(cache_bytes)}"
        return Finding("memory bandwidth", value, verdict, "free some memory and begin anew")
    return Finding("memory bandwidth", value, verdict)


def first_calls(found: tuple[FirstCall, ...], dtype: str) -> Finding:
    """What the first call in a process costs, by library."""
    factors = [one.first_seconds / one.later_seconds for one in found]
    value = ", ".join(
        f"{Path(one.library).name} {1e3 * one.first_seconds:.2f} ms ({factor:.1f} times)"
        for one, factor in zip(found, factors, strict=True)
    )
    what = f"{dtype}gemm of n = {found[0].size} in a fresh process, times a later one"
    if max(factors) > SLOW_FIRST_CALL:
        return Finding("first call", value, f"{what}: so a first call is never a sample")
    return Finding("first call", value, f"{what}: hardly more")


def noise_floor(watch: Watch) -> Finding:
    """How far the same work differs from itself."""
    spread = f"all samples: {watch.spread_low:.2f} .. {watch.spread_high:.2f} of the median"
    if watch.noise_floor is None:
        return Finding("noise floor", f"unknown ({spread})", "too few undisturbed samples", TOP)
    value = f"{percent(watch.noise_floor)} % ({spread})"
    span = f"{watch.samples} gemms in {watch.seconds:.0f} s"
    if watch.noise_floor > HIGH_NOISE:
        return Finding("noise floor", value, f"{span}: high, rankings will hold more ties", TOP)
    return Finding("noise floor", value, f"{span}: the same work measured twice differs by so much")


def core(watch: Watch, threads: int) -> Finding:
    """Whether the core was one's own."""
    shares = (percent(share, 0) for share in (watch.free_share, watch.busy_share, watch.preempted_share))
    value = "free in {} %, shared in {} %, preempted in {} % of samples".format(*shares)
    remark = "; the first thread's core: the others are not probed" if threads > 1 else ""
    if watch.preempted_share > MUCH_PREEMPTED:
        return Finding("core", value, f"other processes of this machine take it{remark}", TOP)
    if max(watch.free_share, watch.busy_share) <= 0.5:
        return Finding("core", value, f"neither one's own nor shared for long{remark}", UNCLEAR)
    if watch.free_share <= 0.5:
        return Finding("core", value, f"shared most of the time, by a neighbour{remark}", ANOTHER_HOST)
    return Finding("core", value, f"mostly one's own{remark}")


def levels(watch: Watch) -> Finding:
    """Between what speeds the machine changed."""
    if not watch.levels:
        return Finding("levels of speed", "none", "times scatter without any", TOP)
    fastest = watch.levels[0].value
    value = ", ".join(f"{level.value / fastest:.2f} ({percent(level.share, 0)} %)" for level in watch.levels)
    if len(watch.levels) == 1:
        return Finding("levels of speed", value, "one: times of different moments can be compared")
    verdict = "times relative to the fastest level, and shares"
    if watch.levels[0].share < watch.free_share - UNSEEN_SHARE:
        verdict += "; the probes do not see all of it: caches or memory are shared, or the clock changes"
        return Finding("levels of speed", value, verdict, ANOTHER_HOST)
    return Finding("levels of speed", value, f"{verdict}; samples of one state are kept together")


def steal_time(watch: Watch) -> Finding:
    """CPU time that a hypervisor gave to others."""
    if watch.stolen_share is None:
        return Finding("steal time", NOT_TOLD, "cannot be judged")
    value = f"{percent(watch.stolen_share)} %"
    if watch.stolen_share > MUCH_STOLEN:
        return Finding("steal time", value, "the host's CPUs are promised to too many machines", ANOTHER_HOST)
    return Finding("steal time", value, "of the CPUs' time while watching")


def nanoseconds(seconds: float) -> str:
    """Seconds as nanoseconds."""
    return f"{1e9 * seconds:.1f} ns"
