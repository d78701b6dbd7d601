"""Which CPUs share a core or a NUMA node, and whether a hypervisor is beneath."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .files import parse_int, read_cpus, read_fields, read_text

_SYSTEM = "sys/devices/system"
_HYPERVISOR_NAMES = ("sys/hypervisor/type", "sys/class/dmi/id/sys_vendor", "proc/device-tree/hypervisor/compatible")


@dataclass(frozen=True, slots=True)
class Topology:
    """Where CPUs lie.

    Parameters
    ----------
    cores : tuple of tuple of int
        For each core that one of the CPUs belongs to, all its CPUs; empty if not told.
    nodes : dict
        CPUs of every NUMA node of the machine, by number; empty if not told.
    virtual : bool, optional
        Whether the processor says that a hypervisor is beneath.
    hypervisor : str, optional
        What is told of its name.
    """

    cores: tuple[tuple[int, ...], ...]
    nodes: dict[int, tuple[int, ...]]
    virtual: bool | None
    hypervisor: str | None


def read_topology(cpus: Sequence[int], root: Path) -> Topology:
    """Reads the topology of these CPUs."""
    cores = {core for cpu in cpus if (core := _core_of(cpu, root))}
    hypervisor = next((name for file in _HYPERVISOR_NAMES if (name := read_text(root / file))), None)
    return Topology(tuple(sorted(cores)), _nodes(root), _virtual(root), hypervisor)


def _core_of(cpu: int, root: Path) -> tuple[int, ...] | None:
    folder = root / _SYSTEM / "cpu" / f"cpu{cpu}" / "topology"
    newer = read_cpus(folder / "core_cpus_list")
    return newer if newer is not None else read_cpus(folder / "thread_siblings_list")


def _nodes(root: Path) -> dict[int, tuple[int, ...]]:
    nodes = {}
    for folder in (root / _SYSTEM / "node").glob("node[0-9]*"):
        number, cpus = parse_int(folder.name.removeprefix("node")), read_cpus(folder / "cpulist")
        if number is not None and cpus is not None:
            nodes[number] = cpus
    return dict(sorted(nodes.items()))


def _virtual(root: Path) -> bool | None:
    """By the flag that hypervisors set on x86; elsewhere only where the device tree names one."""
    flags = read_fields(root / "proc/cpuinfo").get("flags")
    if flags is not None:
        return "hypervisor" in flags.split()
    return True if (root / "proc/device-tree/hypervisor").exists() else None
