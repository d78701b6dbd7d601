"""The environment: what the system tells about itself, read from /proc and /sys below a root folder.

files       text, numbers and lists of CPUs from files that may be missing
frequency   clock frequency: governor, driver, turbo
topology    CPUs that share a core, NUMA nodes, hypervisor
cgroup      limits on CPU time and memory of the group this process is in
memory      memory, swap, huge pages, address randomisation
conditions  load, and the time that the host took away
variables   environment variables that libraries heed

None stands for what the system does not tell.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .cgroup import Limits, read_limits
from .conditions import Conditions
from .frequency import Frequency, read_frequency
from .memory import Memory, read_memory
from .topology import Topology, read_topology
from .variables import library_variables


@dataclass(frozen=True, slots=True)
class Environment:
    """What surrounds a measurement on the given CPUs."""

    cpus: tuple[int, ...]
    frequency: Frequency
    topology: Topology
    limits: Limits
    memory: Memory
    conditions: Conditions
    variables: dict[str, str]


def read_environment(cpus: Sequence[int], root: Path = Path("/")) -> Environment:
    """Reads the environment of these CPUs.

    Parameters
    ----------
    cpus : sequence of int
        Those that measurements run on.
    root : Path
        The folder that proc/ and sys/ are in.
    """
    return Environment(
        tuple(cpus),
        read_frequency(cpus, root),
        read_topology(cpus, root),
        read_limits(root),
        read_memory(root),
        Conditions.now(root),
        library_variables(os.environ),
    )
