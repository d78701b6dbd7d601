"""doctor: what it measures on the simulated machine, and what it makes of made-up systems."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import blascast
from blascast.cli import run
from blascast.examination import DoctorReport, Finding
from blascast.examination.measurements import Bandwidth, FirstCall, Peak, Watch, thread_counts
from blascast.examination.performance import (
    bandwidth,
    core,
    first_calls,
    levels,
    noise_floor,
    overhead,
    peak,
    resolution,
    steal_time,
)
from blascast.examination.system import (
    address_randomisation,
    cpu_quota,
    governor,
    huge_pages,
    library_variables,
    load,
    memory,
    memory_limit,
    numa_nodes,
    siblings,
    swap,
    system_findings,
    turbo,
    virtualisation,
)
from blascast.sampler.backend import Overhead
from blascast.sampler.batch.levels import Level
from blascast.sampler.environment import read_environment
from blascast.sampler.environment.cgroup import Limits
from blascast.sampler.environment.frequency import Frequency
from blascast.sampler.environment.memory import Memory
from blascast.sampler.environment.topology import Topology
from blascast.sampler.host.backend import WorkerBackend
from blascast.sampler.resources import allowed_cpus
from blascast.sampler.simulated import CPUS, MEMORY_BYTES_PER_SECOND, PEAK_FLOPS_PER_SECOND

OF_THE_SYSTEM = {"load", "libraries", "frequency governor", "turbo", "CPU quota", "memory", "swap", "steal time"}
OF_ANY_MACHINE = {
    *("processor", "caches", "allowed CPUs", "clock", "timer resolution", "timer overhead", "peak"),
    *("memory bandwidth", "first call", "noise floor", "core", "levels of speed", "store"),
}


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> DoctorReport:
    return blascast.doctor(library="simulated", home=tmp_path_factory.mktemp("home"))


def doubtful(finding: Finding, *words: str) -> bool:
    """Whether a finding is marked and every text is in it."""
    text = f"{finding.value}; {finding.verdict}; {finding.remedy}"
    assert all(word in text for word in words), text
    return not finding.good


# --- the whole


def test_the_simulated_machine_is_not_mixed_with_the_real_one(simulated: DoctorReport) -> None:
    assert {finding.name for finding in simulated.findings} == OF_ANY_MACHINE
    assert simulated.figures["environment"] is None
    assert simulated.figures["watch"]["stolen_share"] is None


def test_figures_of_the_simulated_machine(simulated: DoctorReport) -> None:
    figures = simulated.figures
    assert figures["peak_flops_per_second"] == pytest.approx(PEAK_FLOPS_PER_SECOND, rel=0.1)
    assert [found["threads"] for found in figures["peaks"]] == [1, 2, CPUS]
    rates = [found["flops_per_second"] for found in figures["peaks"]]
    assert rates[2] / rates[0] == pytest.approx(CPUS**0.9, rel=0.1)
    assert {found["bytes_per_second"] for found in figures["bandwidths"]} == {MEMORY_BYTES_PER_SECOND}
    assert [found["threads"] for found in figures["bandwidths"]] == [1, CPUS]
    (only,) = figures["first_calls"]
    assert only["first_seconds"] == pytest.approx(only["later_seconds"], rel=0.4)
    watch = figures["watch"]
    assert watch["seconds"] == pytest.approx(10, rel=0.5)
    assert 0.2 < watch["free_share"] < 1
    assert watch["free_share"] + watch["busy_share"] == pytest.approx(1, abs=0.05)
    fast, slow = watch["levels"]
    assert slow["value"] / fast["value"] == pytest.approx(1.3, rel=0.02)
    assert fast["share"] == pytest.approx(watch["free_share"], abs=0.1)


def test_json_has_every_finding_and_the_raw_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--library", "simulated", "--threads", "2", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["setup"]["fingerprint"]
    for row in result["rows"]:
        assert set(row) == {"name", "value", "verdict", "remedy", "good"}
        assert row["value"]
        assert row["verdict"]
        assert row["good"] == (not row["remedy"])
    assert "the others are not probed" in next(row for row in result["rows"] if row["name"] == "core")["verdict"]
    assert result["figures"]["threads"] == 2
    assert result["figures"]["overhead"]["subtracted_seconds"] == 0


def test_the_report_shows_remedies_below_the_table(simulated: DoctorReport) -> None:
    good, bad = Finding("clock", "fine", "steady"), Finding("load", "9", "high", "wait a while")
    worse, other = replace(bad, name="core"), Finding("turbo", "on", "heat", "switch it off")
    text = str(replace(simulated, findings=(good, bad, other, worse)))
    assert text.endswith("To look at (!), and what helps:\n  load, core: wait a while\n  turbo: switch it off")
    assert re.search(r"^ ?!\s+load", text, re.MULTILINE)
    assert "All is well." in str(replace(simulated, findings=(good,)))


def test_doctor_on_the_real_machine(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert {row["name"] for row in result["rows"]} > OF_ANY_MACHINE | OF_THE_SYSTEM
    assert "OpenBLAS" in result["setup"]["library"]["name"]
    figures = result["figures"]
    assert [found["threads"] for found in figures["peaks"]][-1] == len(allowed_cpus())
    assert all(1e8 < found["flops_per_second"] < 1e14 for found in figures["peaks"])
    assert all(1e8 < found["bytes_per_second"] < 1e13 for found in figures["bandwidths"])
    assert all(one["first_seconds"] > 0 for one in figures["first_calls"])
    assert {"scipy", "numpy"} <= {one["library"] for one in figures["first_calls"]}
    assert figures["environment"]["cpus"]
    assert 0 < figures["watch"]["resolution_seconds"] < 1e-6


def test_nothing_told_is_no_failure(tmp_path: Path) -> None:
    for finding in system_findings(read_environment([0], tmp_path), 1):
        if finding.name not in ("libraries", "library variables"):
            assert doubtful(finding, "not told by the system") is False


def test_a_store_that_cannot_be_used_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    report = blascast.doctor(library="simulated", home=tmp_path / "file")
    store = next(finding for finding in report.findings if finding.name == "store")
    assert doubtful(store, "cannot be used", str(tmp_path / "file"), "export BLASCAST_HOME=")
    assert (tmp_path / "file").read_text() == ""


def test_a_corrupt_model_is_a_finding(home: Path) -> None:
    folder = home / "models" / "0123456789ab"
    folder.mkdir(parents=True)
    (folder / "gemm-NN_1_1-5000.json").write_text("{")
    report = blascast.doctor(library="simulated")
    store = next(finding for finding in report.findings if finding.name == "store")
    assert doubtful(store, "gemm-NN_1_1-5000.json", "remove it")


def test_the_triad_of_the_engine(real: WorkerBackend) -> None:
    cpus = allowed_cpus()
    for chosen in (cpus[:1], cpus):
        assert 1e8 < real.triad_bytes_per_second(chosen, 3 << 20) < 1e13
    with pytest.raises(blascast.BlascastError, match=f"no memory or no threads for a triad on {len(cpus)} CPUs"):
        real.triad_bytes_per_second(cpus, 1 << 60)


def test_thread_counts() -> None:
    assert thread_counts(1, 2) == [1, 2]
    assert thread_counts(5, 128) == [1, 2, 5, 64, 128]


# --- judgements of the system

FREQUENCY = Frequency(("performance",), "acpi-cpufreq", 1e9, 3e9, False, "/sys/boost", "0")
MEMORY = Memory(64 << 30, 32 << 30, 0, 0, "always", 2)
LIMITS = Limits(2, None, 0, None, None)
TOPOLOGY = Topology(((0,), (1,)), {0: (0, 1)}, False, None)


def test_governor() -> None:
    assert not doubtful(governor(FREQUENCY), "performance (acpi-cpufreq, 1.0 .. 3.0 GHz)")
    slow = replace(FREQUENCY, governors=("ondemand", "performance"), driver=None, lowest_hertz=None)
    assert doubtful(governor(slow), "ondemand, performance (driver not told)", "cpupower frequency-set -g performance")


def test_turbo() -> None:
    assert not doubtful(turbo(FREQUENCY), "off")
    assert doubtful(turbo(replace(FREQUENCY, turbo=True)), "heat", "echo 0 | sudo tee /sys/boost")


def test_virtualisation() -> None:
    assert not doubtful(virtualisation(TOPOLOGY), "none")
    assert not doubtful(virtualisation(replace(TOPOLOGY, virtual=True, hypervisor="xen")), "(xen)", "steal time")
    assert not doubtful(virtualisation(replace(TOPOLOGY, virtual=True)), "a hypervisor;")


def test_siblings() -> None:
    assert not doubtful(siblings(TOPOLOGY, (0, 1)), "none of 0, 1", "each a core of its own")
    guest = replace(TOPOLOGY, virtual=True)
    assert not doubtful(siblings(guest, (0, 1)), "as the hypervisor tells it")
    threads = replace(TOPOLOGY, cores=((0, 4), (1, 5)))
    assert not doubtful(siblings(threads, (0, 1)), "4, 5 of 0, 1", "leave them idle")
    assert doubtful(siblings(threads, (0, 1, 4)), "0, 4 are one core", "taskset -c 0,1 blascast ... --threads 2")


def test_numa_nodes() -> None:
    assert not doubtful(numa_nodes(TOPOLOGY, (0, 1)), "1, in use: 0")
    two = replace(TOPOLOGY, nodes={0: (0,), 1: (1,)})
    assert not doubtful(numa_nodes(two, (1,)), "2, in use: 1")
    assert doubtful(numa_nodes(two, (0, 1)), "numactl --cpunodebind=0 --membind=0")


def test_cpu_quota() -> None:
    assert not doubtful(cpu_quota(LIMITS, 1), "none (cgroup v2)")
    assert not doubtful(cpu_quota(replace(LIMITS, cpu_quota=2.0), 1), "2 CPUs", "enough for 1 thread(s)")
    tight = replace(LIMITS, cpu_quota=1.5, throttled_count=9)
    assert doubtful(cpu_quota(tight, 1), "1.5 CPUs (cgroup v2), halted 9 times so far", "2 CPUs or more")


def test_memory_limit() -> None:
    assert not doubtful(memory_limit(LIMITS), "none")
    roomy = replace(LIMITS, memory_bytes=8 << 30, memory_left_bytes=4 << 30)
    assert not doubtful(memory_limit(roomy), "8.6 GB, 4.3 GB left")
    assert doubtful(memory_limit(replace(roomy, memory_left_bytes=1 << 20)), "docker run --memory")


def test_memory_and_swap() -> None:
    assert not doubtful(memory(MEMORY), "34.4 GB of 68.7 GB available", "n = 26754")
    assert doubtful(memory(replace(MEMORY, available_bytes=1 << 20)), "refused", "top")
    assert not doubtful(swap(MEMORY), "none")
    assert not doubtful(swap(replace(MEMORY, swap_bytes=8 << 30)), "hardly in use")
    assert doubtful(swap(replace(MEMORY, swap_bytes=8 << 30, swap_used_bytes=2 << 30)), "sudo swapoff -a")


def test_pages_and_addresses() -> None:
    assert not doubtful(huge_pages(MEMORY), "few TLB misses")
    assert not doubtful(huge_pages(replace(MEMORY, huge_pages="never")), "small pages")
    assert not doubtful(address_randomisation(MEMORY), "random;")
    assert doubtful(address_randomisation(replace(MEMORY, randomisation=0)), "fixed", "randomize_va_space=2")
    assert doubtful(address_randomisation(replace(MEMORY, randomisation=1)), "random in part")


@pytest.mark.parametrize(
    ("variables", "words", "bad"),
    [
        ({}, ("none",), False),
        ({"OMP_NUM_THREADS": "4"}, ("OMP_NUM_THREADS=4", "set by the worker"), False),
        ({"OPENBLAS_CORETYPE": "Haswell"}, ("OPENBLAS_CORETYPE sets what kernels", "unset OPENBLAS_CORETYPE"), True),
        ({"GOMP_CPU_AFFINITY": "0", "OMP_PLACES": "cores"}, ("unset GOMP_CPU_AFFINITY OMP_PLACES",), True),
        ({"LD_PRELOAD": "libx.so"}, ("LD_PRELOAD puts another library before", "unset LD_PRELOAD"), True),
    ],
)
def test_library_variables(variables: dict[str, str], words: tuple[str, ...], bad: bool) -> None:
    assert doubtful(library_variables(variables), *words) is bad


def test_load() -> None:
    assert not doubtful(load(0.3, (0,)), "0.30", "idle enough")
    assert doubtful(load(0.7, (0,)), "compete for the CPUs", "top")


# --- judgements of measurements

WATCH = Watch(10.0, 500, 0.004, 0.98, 1.03, 0.95, 0.02, 0.01, (Level(1.0, 1.0),), 1e-9, 0.0)


def watched(**changes: Any) -> Watch:
    return replace(WATCH, **changes)


def test_timer() -> None:
    assert not doubtful(resolution(1e-9), "1.0 ns")
    assert not doubtful(resolution(None), "unknown")
    assert doubtful(resolution(1e-6), "coarse", "100 us and more")
    assert not doubtful(overhead(Overhead(2e-8, -1e-9, 0.0, 1e-9)), "-1.0 ns .. 0.0 ns .. 1.0 ns", "20.0 ns")
    assert doubtful(overhead(Overhead(2e-8, -1e-9, 0.0, 3e-8)), "uneven", "begin anew")


def test_peak() -> None:
    assert not doubtful(peak((Peak(1, 5e10),), "d"), "50.0 GFLOP/s (1 thread(s))", "large dgemm")
    assert not doubtful(peak((Peak(1, 5e10), Peak(2, 9e10)), "s"), "50.0, 90.0 GFLOP/s (1, 2 thread(s))", "sgemm")
    shared = peak((Peak(1, 5e10), Peak(2, 9e10), Peak(4, 9e10)), "d")
    assert doubtful(
        shared, "4 threads reach 45 % of 4 times one: do they share cores, or were they busy?", "--threads 2"
    )


def test_bandwidth() -> None:
    found = (Bandwidth(1, 1e10, 2 * 10**9), Bandwidth(8, 5e10, 2 * 10**9))
    assert not doubtful(bandwidth(found, 10**9), "10.0, 50.0 GB/s (1, 8 thread(s))", "triad", "2.0 GB")
    assert doubtful(bandwidth(found, 2 * 10**9), "not well beyond the last-level cache of 2.0 GB", "free some memory")
    assert not doubtful(bandwidth(found, 0), "it may be within them")


def test_first_calls() -> None:
    slow, quick = FirstCall("scipy", 200, 5e-3, 1e-3), FirstCall("/lib/libx.so", 200, 1.1e-3, 1e-3)
    assert not doubtful(first_calls((slow, quick), "d"), "scipy 5.00 ms (5.0 times), libx.so 1.10", "never a sample")
    assert not doubtful(first_calls((quick,), "d"), "1.10 ms (1.1 times)", "hardly more")


def test_noise() -> None:
    assert not doubtful(
        noise_floor(WATCH), "0.4 % (all samples: 0.98 .. 1.03 of the median)", "500 gemms in 10 s: the same work"
    )
    assert doubtful(noise_floor(watched(noise_floor=0.06)), "rankings will hold more ties", "top")
    assert doubtful(noise_floor(watched(noise_floor=None)), "unknown", "too few undisturbed samples")


def test_core() -> None:
    assert not doubtful(core(WATCH, 1), "free in 95 %, shared in 2 %, preempted in 1 % of samples", "mostly one's own")
    assert doubtful(core(watched(free_share=0.3, busy_share=0.6), 1), "by a neighbour", "measure at another hour")
    assert doubtful(core(watched(free_share=0.1), 1), "neither one's own nor shared", "use another BLASCAST_HOME")
    assert doubtful(core(watched(preempted_share=0.3), 2), "other processes", "the others are not probed", "top")


def test_levels() -> None:
    assert not doubtful(levels(WATCH), "1.00 (100 %)", "one")
    assert doubtful(levels(watched(levels=())), "scatter", "top")
    two = (Level(0.8, 0.6), Level(1.04, 0.4))
    assert not doubtful(levels(watched(levels=two, free_share=0.6)), "1.00 (60 %), 1.30 (40 %)", "one state are kept")
    assert doubtful(levels(watched(levels=two)), "the probes do not see all of it", "another hour")


def test_steal_time() -> None:
    assert not doubtful(steal_time(WATCH), "0.0 %")
    assert not doubtful(steal_time(watched(stolen_share=None)), "not told by the system")
    assert doubtful(steal_time(watched(stolen_share=0.05)), "5.0 %", "promised to too many")
