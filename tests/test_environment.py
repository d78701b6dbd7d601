"""What the system tells, from made-up /proc and /sys."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blascast.sampler.environment import library_variables, read_environment
from blascast.sampler.environment.cgroup import read_limits
from blascast.sampler.environment.conditions import Conditions
from blascast.sampler.environment.files import parse_cpus, parse_int
from blascast.sampler.environment.frequency import read_frequency
from blascast.sampler.environment.memory import read_memory
from blascast.sampler.environment.topology import read_topology
from blascast.sampler.resources import available_memory

CPU = "sys/devices/system/cpu"


def plant(root: Path, files: dict[str, str]) -> Path:
    """Writes files below a root folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_a_laptop(tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        {
            f"{CPU}/cpu{n}/cpufreq/{name}": text
            for n in (0, 1)
            for name, text in {
                "scaling_governor": "powersave\n",
                "scaling_driver": "intel_pstate\n",
                "scaling_min_freq": "800000\n",
                "scaling_max_freq": f"{4 + n}000000\n",
            }.items()
        }
        | {f"{CPU}/intel_pstate/no_turbo": "0\n"},
    )
    found = read_frequency([0, 1], root)
    assert (found.governors, found.driver) == (("powersave",), "intel_pstate")
    assert (found.lowest_hertz, found.highest_hertz) == (0.8e9, 5e9)
    assert (found.turbo, found.turbo_file, found.turbo_off) == (True, f"/{CPU}/intel_pstate/no_turbo", "1")


@pytest.mark.parametrize(
    ("file", "text", "turbo", "off"),
    [
        ("intel_pstate/no_turbo", "1", False, "1"),
        ("cpufreq/boost", "1", True, "0"),
        ("cpufreq/boost", "0", False, "0"),
        ("cpu3/cpufreq/boost", "1", True, "0"),  # amd-pstate, one switch a CPU
        ("cpufreq/boost", "what?", None, ""),
    ],
)
def test_turbo(tmp_path: Path, file: str, text: str, turbo: bool | None, off: str) -> None:
    found = read_frequency([3], plant(tmp_path, {f"{CPU}/{file}": text}))
    assert (found.turbo, found.turbo_off) == (turbo, off)


def test_topology(tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        {
            f"{CPU}/cpu1/topology/core_cpus_list": "1,5",
            f"{CPU}/cpu2/topology/thread_siblings_list": "2-3",  # the older name
            "sys/devices/system/node/node0/cpulist": "0-3",
            "sys/devices/system/node/node10/cpulist": "4-7",
            "proc/cpuinfo": "processor : 0\nflags\t\t: fpu hypervisor avx2\n",
            "sys/class/dmi/id/sys_vendor": "QEMU\n",
        },
    )
    found = read_topology([1, 2], root)
    assert found.cores == ((1, 5), (2, 3))
    assert found.nodes == {0: (0, 1, 2, 3), 10: (4, 5, 6, 7)}
    assert (found.virtual, found.hypervisor) == (True, "QEMU")
    plant(tmp_path, {"proc/cpuinfo": "flags : fpu avx2"})
    assert read_topology([1], root).virtual is False


def test_cgroup_2_takes_the_tightest_limit_on_the_way_up(tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        {
            "proc/self/cgroup": "0::/outer/inner\n",
            "sys/fs/cgroup/cgroup.controllers": "cpu memory",
            "sys/fs/cgroup/outer/cpu.max": "150000 100000\n",
            "sys/fs/cgroup/outer/cpu.stat": "usage_usec 5\nnr_throttled 7\n",
            "sys/fs/cgroup/outer/inner/cpu.max": "max 100000\n",
            "sys/fs/cgroup/outer/inner/memory.max": "max\n",
            "sys/fs/cgroup/outer/memory.max": "1000\n",
            "sys/fs/cgroup/outer/memory.current": "700\n",
            "sys/fs/cgroup/outer/memory.stat": "anon 5\ninactive_file 200\n",
        },
    )
    found = read_limits(root)
    assert (found.version, found.cpu_quota, found.throttled_count) == (2, 1.5, 7)
    assert (found.memory_bytes, found.memory_left_bytes) == (1000, 500)


def test_cgroup_1_inside_a_container(tmp_path: Path) -> None:
    """The group has the host's name, which is not to be seen here: its files are at the mount."""
    root = plant(
        tmp_path,
        {
            "proc/self/cgroup": "5:cpu,cpuacct:/docker/1234\n4:memory:/docker/1234\n1:name=systemd:/x\n0::/\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "50000",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "4096",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "5000",
        },
    )
    found = read_limits(root)
    assert (found.version, found.cpu_quota) == (1, 0.5)
    assert (found.memory_bytes, found.memory_left_bytes) == (4096, 0)


def test_no_limits(tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        {
            "proc/self/cgroup": "5:cpu:/\n4:memory:/\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
        },
    )
    found = read_limits(root)
    assert (found.version, found.cpu_quota, found.memory_bytes, found.memory_left_bytes) == (1, None, None, None)


def test_operands_must_fit_into_the_control_group(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        {
            "proc/meminfo": "MemAvailable: 1000 kB\n",
            "sys/fs/cgroup/memory.max": "5000",
            "sys/fs/cgroup/memory.current": "2000",
        },
    )
    monkeypatch.setattr("blascast.sampler.resources.read_limits", lambda: read_limits(root))
    monkeypatch.setattr("blascast.sampler.resources.read_memory", lambda: read_memory(root))
    assert available_memory() == 3000
    (root / "sys/fs/cgroup/memory.max").unlink()
    assert available_memory() == 1000 * 1024
    (root / "proc/meminfo").unlink()
    assert available_memory() == float("inf")


def test_memory(tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        {
            "proc/meminfo": "MemTotal:  64 kB\nMemAvailable: 32 kB\nSwapTotal: 16 kB\nSwapFree: 12 kB\n",
            "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
            "proc/sys/kernel/randomize_va_space": "2\n",
        },
    )
    found = read_memory(root)
    assert (found.total_bytes, found.available_bytes) == (64 << 10, 32 << 10)
    assert (found.swap_bytes, found.swap_used_bytes) == (16 << 10, 4 << 10)
    assert (found.huge_pages, found.randomisation) == ("madvise", 2)


def test_variables() -> None:
    given = {"OMP_NUM_THREADS": "2", "OPENBLAS_CORETYPE": "Haswell", "MKL_VERBOSE": "1", "BLIS_IC_NT": "1", "PATH": "/"}
    assert library_variables(given) == {name: value for name, value in sorted(given.items()) if name != "PATH"}


def test_nothing_is_told(tmp_path: Path) -> None:
    found = read_environment([0, 1], tmp_path)
    assert found.cpus == (0, 1)
    assert found.frequency.governors == ()
    assert found.frequency.turbo is None
    assert (found.topology.cores, found.topology.nodes, found.topology.virtual) == ((), {}, None)
    assert found.limits.version is None
    assert found.memory.total_bytes is None
    assert found.conditions == Conditions(None, None)


FILES = (
    *("proc/cpuinfo", "proc/meminfo", "proc/stat", "proc/loadavg", "proc/self/cgroup"),
    *(f"{CPU}/cpu0/topology/core_cpus_list", f"{CPU}/cpufreq/boost", f"{CPU}/cpu0/cpufreq/scaling_max_freq"),
    *("sys/fs/cgroup/cpu.max", "sys/fs/cgroup/memory.max", "sys/fs/cgroup/cpu.stat"),
    *("sys/devices/system/node/node0/cpulist", "sys/kernel/mm/transparent_hugepage/enabled"),
)


@given(
    st.dictionaries(
        st.sampled_from(FILES), st.binary(max_size=30) | st.sampled_from([b"", b"cpu", b"1 0", b"0::/../.."])
    )
)
def test_no_contents_of_any_file_are_a_failure(
    tmp_path_factory: pytest.TempPathFactory, contents: dict[str, bytes]
) -> None:
    root = plant(tmp_path_factory.mktemp("root"), dict.fromkeys(contents, ""))
    for name, text in contents.items():
        (root / name).write_bytes(text)
    read_environment([0], root)


@given(st.text(max_size=12))
def test_any_text_is_a_list_of_cpus_or_none(text: str) -> None:
    found = parse_cpus(text)
    assert found is None or all(isinstance(cpu, int) for cpu in found)
    assert parse_cpus("0-999999999999") is None
    assert parse_int(text) is None or int(text) == parse_int(text)
