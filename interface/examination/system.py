"""Findings about the system that measurements run on: what its files tell, and what that does to timings."""

from collections.abc import Iterator

from blascast.sampler.backend import Backend
from blascast.sampler.environment import Environment
from blascast.sampler.environment.cgroup import Limits
from blascast.sampler.environment.frequency import Frequency
from blascast.sampler.environment.memory import Memory
from blascast.sampler.environment.topology import Topology
from blascast.sampler.libraries import found_libraries
from blascast.sampler.setup import Setup

from .finding import NOT_TOLD, Finding, gigabytes, listed

UNJUDGED = "cannot be judged"
LITTLE_MEMORY_BYTES = 1 << 30
IDLE_LOAD = 0.5  # a CPU
BINDING = ("GOMP_CPU_AFFINITY", "KMP_AFFINITY", "OMP_PLACES", "OMP_PROC_BIND", "BLIS_CPU_AFFINITY")
KERNEL_CHOICE = ("OPENBLAS_CORETYPE", "MKL_ENABLE_INSTRUCTIONS", "MKL_DEBUG_CPU_TYPE", "MKL_CBWR", "BLIS_ARCH_TYPE")


def processor_findings(setup: Setup, backend: Backend) -> Iterator[Finding]:
    """Processor, caches and CPUs, of a real machine or the simulated one."""
    machine = setup.machine
    yield Finding("processor", machine.cpu, f"architecture: {machine.architecture}")
    caches = ", ".join(f"L{cache.level} {_cache_size(cache.bytes)}" for cache in machine.caches)
    yield Finding("caches", caches or NOT_TOLD, "as one CPU sees them" if caches else UNJUDGED)
    cpus = backend.allowed_cpus
    verdict = f"up to {len(cpus)} threads can be timed; this setup is pinned to {listed(backend.cpus)}"
    yield Finding("allowed CPUs", f"{len(cpus)} ({listed(cpus)})", verdict)


def system_findings(environment: Environment, threads: int) -> Iterator[Finding]:
    """What the real machine's system tells."""
    yield virtualisation(environment.topology)
    yield governor(environment.frequency)
    yield turbo(environment.frequency)
    yield siblings(environment.topology, environment.cpus)
    yield numa_nodes(environment.topology, environment.cpus)
    yield cpu_quota(environment.limits, threads)
    yield memory_limit(environment.limits)
    yield memory(environment.memory)
    yield swap(environment.memory)
    yield huge_pages(environment.memory)
    yield address_randomisation(environment.memory)
    yield library_variables(environment.variables)
    yield load(environment.conditions.load, environment.cpus)
    yield libraries()


def virtualisation(topology: Topology) -> Finding:
    """Whether a hypervisor is beneath."""
    if topology.virtual is None:
        return Finding("virtualisation", NOT_TOLD, UNJUDGED)
    if not topology.virtual:
        return Finding("virtualisation", "none", "no other machine shares the processor")
    name = f"a hypervisor ({topology.hypervisor})" if topology.hypervisor else "a hypervisor"
    return Finding("virtualisation", name, "neighbours may share a core unseen: the probes and the steal time tell")


def governor(frequency: Frequency) -> Finding:
    """Who sets the clock frequency."""
    if not frequency.governors:
        return Finding("frequency governor", NOT_TOLD, "the probes follow the clock frequency")
    value = f"{', '.join(frequency.governors)} ({frequency.driver or 'driver not told'}"
    if frequency.lowest_hertz is not None and frequency.highest_hertz is not None:
        value += f", {frequency.lowest_hertz / 1e9:.1f} .. {frequency.highest_hertz / 1e9:.1f} GHz"
    value += ")"
    if frequency.governors == ("performance",):
        return Finding("frequency governor", value, "the clock is kept high")
    verdict = "the clock follows the load: the first moments of work are slower"
    return Finding("frequency governor", value, verdict, "sudo cpupower frequency-set -g performance")


def turbo(frequency: Frequency) -> Finding:
    """Whether the clock may exceed its nominal frequency."""
    if frequency.turbo is None:
        return Finding("turbo", NOT_TOLD, UNJUDGED)
    if not frequency.turbo:
        return Finding("turbo", "off", "the clock does not depend on heat and on other cores")
    remedy = f"echo {frequency.turbo_off} | sudo tee {frequency.turbo_file}"
    return Finding("turbo", "on", "the clock depends on heat and on what other cores do", remedy)


def siblings(topology: Topology, cpus: tuple[int, ...]) -> Finding:
    """Other hardware threads of the cores that are timed."""
    if not topology.cores:
        return Finding("SMT siblings", NOT_TOLD, UNJUDGED)
    if len(topology.cores) < len(cpus):
        shared = next(core for core in topology.cores if len(set(core) & set(cpus)) > 1)
        chosen = ",".join(str(min(set(core) & set(cpus))) for core in topology.cores)
        return Finding(
            "SMT siblings",
            f"{listed(tuple(sorted(set(shared) & set(cpus))))} are one core",
            "threads of one setup compete for a core",
            f"taskset -c {chosen} blascast ... --threads {len(topology.cores)}",
        )
    others = tuple(sorted({cpu for core in topology.cores for cpu in core} - set(cpus)))
    if others:
        verdict = "leave them idle while measuring: work there slows the timed CPUs down"
        return Finding("SMT siblings", f"{listed(others)} of {listed(cpus)}", verdict)
    verdict = "each a core of its own"
    if topology.virtual:
        verdict += ", as the hypervisor tells it"
    return Finding("SMT siblings", f"none of {listed(cpus)}", verdict)


def numa_nodes(topology: Topology, cpus: tuple[int, ...]) -> Finding:
    """Nodes that the timed CPUs belong to."""
    if not topology.nodes:
        return Finding("NUMA nodes", NOT_TOLD, UNJUDGED)
    used = [node for node, members in topology.nodes.items() if set(members) & set(cpus)]
    value = f"{len(topology.nodes)}, in use: {listed(tuple(used))}"
    if len(used) > 1:
        remedy = f"numactl --cpunodebind={used[0]} --membind={used[0]} blascast ..."
        return Finding("NUMA nodes", value, "threads reach each other's memory more slowly than their own", remedy)
    return Finding("NUMA nodes", value, "all timed CPUs have their memory near")


def cpu_quota(limits: Limits, threads: int) -> Finding:
    """CPU time that the control group allows."""
    if limits.version is None:
        return Finding("CPU quota", NOT_TOLD, UNJUDGED)
    if limits.cpu_quota is None:
        return Finding("CPU quota", f"none (cgroup v{limits.version})", "the CPUs may be used all the time")
    halted = f", halted {limits.throttled_count} times so far" if limits.throttled_count else ""
    value = f"{limits.cpu_quota:g} CPUs (cgroup v{limits.version}){halted}"
    if limits.cpu_quota < threads + 1:  # the parent needs some as well
        verdict = f"{threads} thread(s) and their parent will be halted in the middle of measurements"
        remedy = f"raise the container's limit to {threads + 1} CPUs or more (docker run --cpus, cpu.max)"
        return Finding("CPU quota", value, verdict, remedy)
    return Finding("CPU quota", value, f"enough for {threads} thread(s)")


def memory_limit(limits: Limits) -> Finding:
    """Memory that the control group allows."""
    if limits.version is None:
        return Finding("memory limit", NOT_TOLD, UNJUDGED)
    if limits.memory_bytes is None or limits.memory_left_bytes is None:
        return Finding("memory limit", f"none (cgroup v{limits.version})", "all memory may be used")
    value = f"{gigabytes(limits.memory_bytes)}, {gigabytes(limits.memory_left_bytes)} left (cgroup v{limits.version})"
    if limits.memory_left_bytes < LITTLE_MEMORY_BYTES:
        remedy = "raise the container's limit (docker run --memory, memory.max)"
        return Finding("memory limit", value, "large operands are refused, or end the worker", remedy)
    return Finding("memory limit", value, "operands that would exceed it are refused")


def memory(found: Memory) -> Finding:
    """Memory of the machine."""
    if found.total_bytes is None or found.available_bytes is None:
        return Finding("memory", NOT_TOLD, UNJUDGED)
    value = f"{gigabytes(found.available_bytes)} of {gigabytes(found.total_bytes)} available"
    if found.available_bytes < LITTLE_MEMORY_BYTES:
        return Finding("memory", value, "large operands will be refused", "end what `top -o %MEM` shows first")
    return Finding("memory", value, f"room for matrices up to n = {int((found.available_bytes / 48) ** 0.5)}")


def swap(found: Memory) -> Finding:
    """Memory that was moved to disk."""
    if found.swap_bytes is None or found.swap_used_bytes is None:
        return Finding("swap", NOT_TOLD, UNJUDGED)
    if found.swap_bytes == 0:
        return Finding("swap", "none", "operands stay in memory")
    value = f"{gigabytes(found.swap_used_bytes)} of {gigabytes(found.swap_bytes)} in use"
    if found.swap_used_bytes > LITTLE_MEMORY_BYTES:
        return Finding("swap", value, "memory has been short: operands may be moved to disk", "sudo swapoff -a")
    return Finding("swap", value, "hardly in use")


def huge_pages(found: Memory) -> Finding:
    """Transparent huge pages."""
    verdicts = {
        "always": "large operands lie in large pages: few TLB misses",
        "madvise": "operands lie in small pages: kernels on large ones pay for TLB misses",
        "never": "operands lie in small pages: kernels on large ones pay for TLB misses",
    }
    return Finding("huge pages", found.huge_pages or NOT_TOLD, verdicts.get(found.huge_pages or "", UNJUDGED))


def address_randomisation(found: Memory) -> Finding:
    """Whether every worker has other addresses."""
    if found.randomisation is None:
        return Finding("address layout", NOT_TOLD, UNJUDGED)
    if found.randomisation == 2:
        return Finding("address layout", "random", "an unlucky layout shows as a difference between workers")
    verdict = "every worker has the same: an unlucky one goes unnoticed"
    remedy = "sudo sysctl kernel.randomize_va_space=2"
    return Finding("address layout", "fixed" if found.randomisation == 0 else "random in part", verdict, remedy)


def library_variables(variables: dict[str, str]) -> Finding:
    """Variables in force that change what libraries do."""
    if not variables:
        return Finding("library variables", "none", "libraries choose kernels and places by themselves")
    value = ", ".join(f"{name}={text}" for name, text in variables.items())
    for names, verdict in (
        (KERNEL_CHOICE, "sets what kernels are used: timings are of those"),
        (BINDING, "binds threads: it works against the pinning of the worker, and may leave a library one thread"),
        (("LD_PRELOAD",), "puts another library before the one that is timed"),
    ):
        if doubtful := [name for name in names if name in variables]:
            return Finding("library variables", value, f"{doubtful[0]} {verdict}", f"unset {' '.join(doubtful)}")
    return Finding("library variables", value, "the number of threads is set by the worker all the same")


def load(mean: float | None, cpus: tuple[int, ...]) -> Finding:
    """Other processes."""
    if mean is None:
        return Finding("load", NOT_TOLD, UNJUDGED)
    if mean < IDLE_LOAD * max(1, len(cpus)):
        return Finding("load", f"{mean:.2f}", "idle enough")
    verdict = "other processes compete for the CPUs; expect repeated measurements"
    return Finding("load", f"{mean:.2f}", verdict, "end what `top` shows first, or wait")


def libraries() -> Finding:
    """Libraries that are here."""
    listing = ", ".join(found_libraries())
    if not listing:
        return Finding("libraries", "none", "none is known by name", "pip install scipy, or give --library PATH")
    return Finding("libraries", listing, "any can be named with --library, as can a path")


def _cache_size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB"
