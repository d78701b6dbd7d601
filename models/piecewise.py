"""Models: piecewise polynomials of a kernel's run time."""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from blascast.sampler.batch.sample import State
from blascast.sampler.errors import UsageError
from blascast.sampler.kernel import Kernel
from blascast.sampler.kernels import find_kernel
from blascast.sampler.precondition import WARM

from .evaluation.collection import ModelSet
from .evaluation.estimates import Estimates, as_sizes
from .evaluation.outside import Outside
from .evaluation.tables import Tables
from .fitting.basis import Exponents
from .parameters import Parameters
from .sizes.domain import Domain, uncovered
from .summary import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A polynomial for each statistic, valid on a domain.

    Parameters
    ----------
    domain : Domain
    coefficients : array of shape (n_monomials, 5)
        Of the monomials in sizes / domain.upper, seconds.
    error : float
        Relative error of the median at points left out of the fit, root mean square, or `noise` if
        that is larger.
    noise : float
        Standard error of the samples' medians, relative, root mean square.
    points : int
        Points it was fitted to.
    """

    domain: Domain
    coefficients: FloatArray
    error: float
    noise: float
    points: int


@dataclass(frozen=True, slots=True)
class ModelKey:
    """What a model, or a sample, is of.

    Parameters
    ----------
    kernel, case : str
    ld : int
    precondition : str
        Where the operands lay, as in `sampler.precondition`; or what else samples are kept as.
    """

    kernel: str
    case: str
    ld: int
    precondition: str = str(WARM)

    @property
    def described(self) -> str:
        """Case and precondition, warm ones apart."""
        if self.precondition == str(WARM):
            return self.case
        return f"{self.case} ({self.precondition})" if self.case else f"({self.precondition})"

    def __str__(self) -> str:
        return f"{self.kernel} {self.described}".strip()


@dataclass(frozen=True, slots=True)
class Ripple:
    """How run times differ at sizes that are no multiples of 8.

    Libraries work on tiles and pay for the padding of the last one. A size n that is no multiple of 8
    counts as n + padding * (the next multiple - n).

    Parameters
    ----------
    padding : tuple of float
        For each size, 0 (only what n is) to about 1 (as much as the next multiple).
    error : float
        Relative error that is left at such sizes, root mean square.
    points : int
        Points that it was learnt from.
    """

    padding: tuple[float, ...]
    error: float
    points: int


@dataclass(frozen=True, eq=False)
class Model:
    """A piecewise polynomial of one case of a kernel.

    Parameters
    ----------
    key : ModelKey
    exponents : monomials
    pieces : tuple of Piece
    state : str
        Of the core while it was sampled.
    stopped : str
        Why refinement ended.
    seconds : float
        What sampling cost.
    parameters : Parameters
    samples : int
        How many it rests on.
    taken : float
        When the last of them was taken, seconds since 1970.
    ripple : Ripple, optional
        How sizes that are no multiples of 8 differ, if that was examined.
    origin : str
        Empty for a model made here; else ``"imported DAY from FILE"``.
    """

    key: ModelKey
    exponents: Exponents
    pieces: tuple[Piece, ...]
    state: State
    stopped: str
    seconds: float
    parameters: Parameters
    samples: int = 0
    taken: float = 0.0
    ripple: Ripple | None = None
    origin: str = ""

    @property
    def domains(self) -> list[Domain]:
        """The domains of its pieces."""
        return [piece.domain for piece in self.pieces]

    @property
    def error(self) -> float:
        """Median over the pieces of their relative errors."""
        return float(np.median([piece.error for piece in self.pieces]))

    @property
    def worst_error(self) -> float:
        """Largest of the relative errors of its pieces."""
        return max(piece.error for piece in self.pieces)

    def joined(self, other: "Model") -> "Model":
        """This model with the other's pieces wherever this one has none.

        They only join when they are alike: same state, parameters and monomials; else this one remains.
        """
        alike = (self.state, self.parameters, self.exponents) == (other.state, other.parameters, other.exponents)
        if not alike:
            return self
        more = tuple(piece for piece in other.pieces if uncovered(piece.domain, self.domains))
        ripple = self.ripple or other.ripple
        if not more:
            return replace(self, ripple=ripple)
        return replace(
            self,
            pieces=self.pieces + more,
            seconds=self.seconds + other.seconds,
            samples=self.samples + other.samples,
            ripple=ripple,
            origin=self.origin or other.origin,
        )

    def covers(self, sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Which rows of an (n, d) array lie inside a piece: array of shape (n,)."""
        return self.piece_of(sizes) >= 0

    @property
    def kernel(self) -> Kernel:
        """The kernel that it is a model of.

        Raises
        ------
        UsageError
            If no such kernel is known, or it has other sizes.
        """
        kernel = find_kernel(self.key.kernel)
        if len(kernel.sizes) != self.tables.sizes:
            raise UsageError(
                f"the kernel {kernel.name} has {len(kernel.sizes)} sizes, this model of {self.key} has "
                f"{self.tables.sizes}; it is of another declaration: generate it anew"
            )
        return kernel

    def piece_of(self, sizes: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Index of the first piece that contains each point of an array of shape (..., d), -1 if none does.

        Raises
        ------
        UsageError
            If the sizes are no integers, or of another shape.
        """
        return self._alone.locate(as_sizes(sizes, self.tables.sizes))

    def evaluate(self, sizes: npt.ArrayLike, outside: Outside = "error") -> Estimates:
        """Estimates of run times.

        Parameters
        ----------
        sizes : integer array of shape (..., d)
        outside : str
            What becomes of sizes that no piece contains: ``"error"`` refuses them; ``"clamp"`` takes
            the estimate at the nearest point of the nearest piece, by the sum of the absolute
            log(size / nearest size); ``"extrapolate"`` multiplies that by the ratio of flops, widens
            its error with the distance, and warns.

        Returns
        -------
        Estimates
            Arrays of shape (..., 5) and (...).

        Raises
        ------
        UsageError
            If sizes are no positive integers or of another shape, or lie outside and may not.

        Warns
        -----
        ExtrapolationWarning
            If some are extrapolated: how many and how far.
        """
        return self._alone.estimate(None, as_sizes(sizes, self.tables.sizes), outside)

    @cached_property
    def tables(self) -> Tables:
        """What it is evaluated by.

        Raises
        ------
        UsageError
            If the evaluator cannot do it: it has no pieces, or too many sizes.
        """
        return Tables.of(self)

    @cached_property
    def _alone(self) -> ModelSet:
        return ModelSet([self])

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and pickled: the fields, not C's memory."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
