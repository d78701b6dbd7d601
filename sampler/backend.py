"""What a back end can do: run a program and report its times."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from .counters import Counters
from .kernel import Kernel
from .program import Buffer, Operation, Records
from .raw import Shape
from .setup import Setup


@dataclass(frozen=True, slots=True)
class Overhead:
    """What timing an empty routine reports, seconds.

    Parameters
    ----------
    subtracted : float
        Median of many empty calls: taken off every time.
    low, median, high : float
        10th percentile, median and 90th percentile of as many others, after the subtraction.
    """

    subtracted: float
    low: float
    median: float
    high: float


class Backend(Protocol):
    """A machine with a library, real or simulated."""

    @property
    def setup(self) -> Setup:
        """What is in force."""
        ...

    @property
    def cpus(self) -> tuple[int, ...]:
        """The CPUs that programs run on."""
        ...

    @property
    def allowed_cpus(self) -> tuple[int, ...]:
        """The CPUs that they might run on."""
        ...

    @property
    def overhead(self) -> Overhead:
        """What timing itself costs."""
        ...

    @property
    def ticks_per_second(self) -> float:
        """Rate of the clock."""
        ...

    @property
    def clock_name(self) -> str:
        """Which clock it is."""
        ...

    def allocate(self, buffers: Sequence[Buffer], keep: bool = False) -> None:
        """Replaces all operands by new ones; with `keep`, those that are there already stay as they are."""
        ...

    def lacks(self, kernels: Iterable[Kernel]) -> list[str]:
        """Those of the kernels' routines that the library has not."""
        ...

    def check(self, operation: Operation) -> None:
        """Makes sure that an operation can be run.

        Raises
        ------
        UsageError
            If a view is not inside its operand, or there are more lanes than CPUs.
        LibraryError
            If the library lacks a routine.
        """
        ...

    def run(self, operations: Sequence[Operation], left_in: Path | None = None) -> Records:
        """Runs a program.

        Parameters
        ----------
        operations : sequence of Operation
        left_in : Path, optional
            A file in which the engine leaves its records as it goes, so that they outlive this process.

        Raises
        ------
        KernelFailed
            If a routine crashes, hangs, ends its process or reports an illegal value; the error's
            `records` holds what was timed before, its `call` the call.
        """
        ...

    def raw_shape(self, operations: int) -> Shape:
        """What is needed to read the records of so many operations from the file they were left in."""
        ...

    def count(self, counters: Counters) -> None:
        """Counts these events from now on, in every timed call.

        Raises
        ------
        UsageError
            If the machine cannot count one of them.
        """
        ...

    @property
    def counter_shares(self) -> dict[str, float]:
        """The share of the time that each event was counted: below 1 where events take turns."""
        ...

    def write(self, buffer: str, values: npt.NDArray[np.floating]) -> None:
        """Sets the contents of an operand (rows x columns)."""
        ...

    def read(self, buffer: str) -> npt.NDArray[np.floating]:
        """The contents of an operand (rows x columns)."""
        ...

    def triad_bytes_per_second(self, cpus: Sequence[int], memory_bytes: int) -> float:
        """Memory bandwidth by the triad a := b + s c of STREAM, one thread on each of the given CPUs.

        Parameters
        ----------
        cpus : sequence of int
        memory_bytes : int
            Of the three arrays together.

        Returns
        -------
        float
            Bytes read and written for a second, the best of several runs; what a processor reads of `a`
            before it writes is not counted.
        """
        ...

    def close(self) -> None:
        """Ends whatever the back end keeps running."""
        ...
