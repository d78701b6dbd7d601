"""The configuration of the model generator, and its presets by name."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from blascast.sampler.batch.repetitions import Repetitions
from blascast.sampler.errors import UsageError, unknown

from .sizes.domain import STEP
from .sizes.grid import GRIDS

ErrorMeasure = Literal["mean", "p90", "max"]
Cuts = Literal["fitted", "halves"]
NAMED_QUANTILES = {"min": 0.0, "median": 0.5, "max": 1.0}


@dataclass(frozen=True, slots=True)
class Parameters:
    """How models are generated.

    Parameters
    ----------
    cuts : str
        Where domains are cut into pieces: ``"fitted"``, wherever the samples fit best
        (`refinement.Refinement`), or ``"halves"``, as in the dissertation (`halving.Halving`).
    overfitting, overfitting_3d : int
        By how much the degree exceeds the flop polynomial's, in each size; for kernels with up to two
        sizes, and with three or more. Fitted pieces take what of it the samples support.
    oversampling : int
        Grid points along each size beyond degree + 1.
    grid : str
        ``"geometric"``, ``"chebyshev"`` or ``"cartesian"``.
    least_repetitions, most_repetitions : int
        Samples of each point; the same number twice is a fixed count.
    precision : float
        Between the two, samples are taken until the confidence interval of the reference statistic
        is so wide, relative to it.
    reference : float
        The statistic that decides about errors, as a quantile: 0 is the minimum, 0.5 the median.
    error_measure : str
        What of the relative errors at the points decides: ``"mean"``, ``"p90"`` or ``"max"``.
    bound : float
        The error of a piece to get below, relative, where no question tells what matters.
    minimum_width, minimum_width_3d : int
        Pieces are not cut narrower; for kernels with up to two sizes, and with three or more.
    minimum_width_threaded, minimum_width_3d_threaded : int
        The same for more than one thread.
    answer_bound : float
        The standard error of an answer's run time, relative, below which nothing more is sampled for it.
    seconds : float
        What sampling for one question may cost, about. Models that differ in these two alone are the same.

    Raises
    ------
    UsageError
        If they contradict each other or make no sense.
    """

    cuts: Cuts = "fitted"
    overfitting: int = 1
    overfitting_3d: int = 1
    oversampling: int = 1
    grid: str = "geometric"
    least_repetitions: int = 3
    most_repetitions: int = 25
    precision: float = 0.03
    reference: float = 0.5
    error_measure: ErrorMeasure = "p90"
    bound: float = 0.003
    minimum_width: int = 8
    minimum_width_3d: int = 16
    minimum_width_threaded: int = 16
    minimum_width_3d_threaded: int = 32
    answer_bound: float = field(default=0.01, compare=False)
    seconds: float = field(default=60.0, compare=False)

    def __post_init__(self) -> None:
        if self.grid not in GRIDS:
            raise UsageError(f"the grid must be one of {', '.join(GRIDS)}, got {self.grid!r}")
        if self.cuts not in ("fitted", "halves"):
            raise UsageError(f"cuts must be 'fitted' or 'halves', got {self.cuts!r}")
        if self.error_measure not in ("mean", "p90", "max"):
            raise UsageError(f"the error measure must be 'mean', 'p90' or 'max', got {self.error_measure!r}")
        if min(self.overfitting, self.overfitting_3d, self.oversampling) < 0:
            raise UsageError("overfitting and oversampling must not be negative: too few points for the degree")
        if not 1 <= self.least_repetitions <= self.most_repetitions:
            raise UsageError(
                "repetitions must be 1 <= least <= most, "
                f"got least {self.least_repetitions}, most {self.most_repetitions}"
            )
        if not 0 <= self.reference <= 1:
            raise UsageError(f"the reference must be a quantile from 0 to 1, got {self.reference}")
        for name in ("bound", "answer_bound", "precision", "seconds"):
            if not getattr(self, name) > 0:
                raise UsageError(f"{name} must be positive, got {getattr(self, name)}")
        if self.precision == float("inf"):
            raise UsageError(
                "precision must be finite, got inf; for a fixed count set least and most repetitions alike"
            )
        if min(self.minimum_widths) < STEP:
            raise UsageError(f"minimum widths must be at least {STEP}, got {min(self.minimum_widths)}")

    @property
    def minimum_widths(self) -> tuple[int, int, int, int]:
        """All four of them."""
        return (
            self.minimum_width,
            self.minimum_width_3d,
            self.minimum_width_threaded,
            self.minimum_width_3d_threaded,
        )

    def repetitions(self, have: int = 0) -> Repetitions:
        """Those that are wanted of a point of which so many samples are there."""
        least = self.least_repetitions - have
        most = max(least, self.most_repetitions - have)
        return Repetitions(least, most, self.precision, quantile=self.reference)

    def overfitting_for(self, sizes: Sequence[str]) -> int:
        """The overfitting for a kernel with such sizes."""
        return self.overfitting_3d if len(sizes) > 2 else self.overfitting

    def minimum_width_for(self, sizes: Sequence[str], threads: int) -> int:
        """The minimum width for a kernel with such sizes."""
        flat, deep, threaded_flat, threaded_deep = self.minimum_widths
        if threads > 1:
            flat, deep = threaded_flat, threaded_deep
        return deep if len(sizes) > 2 else flat


# The default of the dissertation's Table 3.3, with its variations for three sizes and for threads.
PEISE2017 = Parameters(
    cuts="halves",
    overfitting=2,
    overfitting_3d=0,
    oversampling=4,
    grid="chebyshev",
    least_repetitions=10,
    most_repetitions=10,
    reference=NAMED_QUANTILES["min"],
    error_measure="max",
    bound=0.01,
    minimum_width=32,
    minimum_width_3d=64,
    minimum_width_threaded=64,
    minimum_width_3d_threaded=256,
    seconds=float("inf"),
)

PRESETS = {
    "default": Parameters(),
    "fast": Parameters(bound=0.02, most_repetitions=9, precision=0.03, answer_bound=0.03, seconds=15.0),
    "accurate": Parameters(
        bound=0.001, least_repetitions=9, most_repetitions=81, precision=0.004, answer_bound=0.004, seconds=600.0
    ),
    "peise2017": PEISE2017,
}


def preset_name(parameters: Parameters) -> str:
    """The name of the preset that they equal, or ``"own"``."""
    return next((name for name, preset in PRESETS.items() if preset == parameters), "own")


def preset(name: str = "default", **changes: Any) -> Parameters:
    """The parameters of a preset, some of them changed.

    Parameters
    ----------
    name : str
        ``"default"``, ``"fast"``, ``"accurate"`` or ``"peise2017"``.
    **changes
        Fields of `Parameters`; numbers may be text. The reference may be ``"min"``, ``"median"`` or ``"max"``.

    Raises
    ------
    UsageError
        If the preset or a field is unknown, or a value makes no sense.

    Examples
    --------
    >>> preset("fast", reference="min", bound="0.01").bound
    0.01
    """
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    types = {field.name: field.type for field in fields(Parameters)}
    for changed in changes:
        if changed not in types:
            raise unknown("parameter", changed, types)
    return replace(PRESETS[name], **{key: _value(key, types[key], value) for key, value in changes.items()})


def _value(name: str, kind: Any, value: object) -> Any:
    """A value of the type of a field, from text or as it is."""
    if name == "reference" and isinstance(value, str) and value in NAMED_QUANTILES:
        return NAMED_QUANTILES[value]
    if kind not in (int, float):
        return value
    wanted = "an integer" if kind is int else "a number"
    if name == "reference":
        wanted = "min, median, max or a quantile from 0 to 1"
    try:
        number = kind(value)
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or isinstance(value, bool) or (not isinstance(value, str) and number != value):
        raise UsageError(f"{name} must be {wanted}, got {value!r}")
    return number
