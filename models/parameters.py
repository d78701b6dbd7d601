"""The configuration of the model generator, and its presets by name."""

from dataclasses import dataclass, field
from typing import Literal

from blascast.sampler.errors import UsageError

from .domain import Split
from .grid import GRIDS

SMALL_FLOPS = 1e6
LARGE_FLOPS = 1e9
Reference = Literal["min", "median"]
ErrorMeasure = Literal["mean", "p90", "max"]


@dataclass(frozen=True, slots=True)
class Parameters:
    """How models are generated (dissertation, section 3.3).

    Parameters
    ----------
    overfitting : int
        By how much the degree exceeds the flop polynomial's, in each size.
    overfitting_3d : int
        The same for kernels with three sizes.
    oversampling : int
        Grid points along each size beyond degree + 1.
    grid : str
        ``"chebyshev"`` or ``"cartesian"``.
    repetitions : int
        Samples of each point.
    repetitions_small, repetitions_large : int
        The same for calls of less than SMALL_FLOPS, whose times scatter more and cost little, and of
        more than LARGE_FLOPS, whose times scatter less and cost much.
    reference : str
        The statistic whose error decides: ``"min"`` or ``"median"``.
    error_measure : str
        What of the relative errors at the points decides: ``"mean"``, ``"p90"`` or ``"max"``.
    bound : float
        The error to get below, relative.
    minimum_width, minimum_width_3d : int
        Domains are not halved below it; for kernels with up to two sizes, and with three.
    split : str
        Where domains are cut: ``"middle"``, or ``"geometric"`` (at the geometric mean of the bounds).
    noise_factor : float
        Halving stops when the error is below so many times the samples' own noise; 0: never.
    reuse : bool
        Whether samples taken for an enclosing domain serve a part of it too.
    targeted : bool
        Whether refinement goes where a question's calls spend their time.
    seconds : float
        Time after which no further round of sampling begins for one question; models that differ
        in it alone are the same.
    """

    overfitting: int = 1
    overfitting_3d: int = 0
    oversampling: int = 2
    grid: str = "chebyshev"
    repetitions: int = 8
    repetitions_small: int = 24
    repetitions_large: int = 4
    reference: Reference = "median"
    error_measure: ErrorMeasure = "p90"
    bound: float = 0.02
    minimum_width: int = 16
    minimum_width_3d: int = 32
    split: Split = "geometric"
    noise_factor: float = 1.5
    reuse: bool = True
    targeted: bool = True
    seconds: float = field(default=60.0, compare=False)

    def repetitions_for(self, flops: float) -> int:
        """Samples to take of a call with so many flops."""
        if flops < SMALL_FLOPS:
            return self.repetitions_small
        return self.repetitions_large if flops > LARGE_FLOPS else self.repetitions

    def __post_init__(self) -> None:
        if self.grid not in GRIDS:
            raise UsageError(f"the grid must be one of {', '.join(GRIDS)}, got {self.grid!r}")
        if min(self.overfitting, self.overfitting_3d, self.oversampling) < 0:
            raise UsageError("overfitting and oversampling must not be negative")
        counts = (self.repetitions, self.repetitions_small, self.repetitions_large)
        widths = (self.minimum_width, self.minimum_width_3d)
        if min(*counts, *widths) < 1 or self.bound <= 0:
            raise UsageError("repetitions, bound and minimum widths must be positive")


# The default of the dissertation's Table 3.3.
PEISE2017 = Parameters(
    overfitting=2,
    oversampling=4,
    repetitions=10,
    repetitions_small=10,
    repetitions_large=10,
    reference="min",
    error_measure="max",
    bound=0.01,
    minimum_width=32,
    minimum_width_3d=64,
    split="middle",
    noise_factor=0.0,
    reuse=False,
    targeted=False,
    seconds=float("inf"),
)
