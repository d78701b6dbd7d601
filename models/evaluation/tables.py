"""Models as the C evaluator reads them (``csrc/model.h``)."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from blascast.sampler.errors import UsageError

from ..fitting.basis import Exponents, degrees
from ..summary import STATISTICS, FloatArray
from ._evaluator import ffi, lib
from .locator import Locator

if TYPE_CHECKING:
    from ..piecewise import Model


@dataclass(frozen=True, eq=False)
class Tables:
    """A model as tables.

    Parameters
    ----------
    locator : Locator
    exponents : monomials
    bounds : integer array of shape (n_pieces, 2, d)
        Lower and upper bounds of the pieces, both included.
    scales : array of shape (n_pieces, d)
        What sizes are divided by.
    coefficients : array of shape (n_pieces, n_monomials, 5), seconds
    padding : array of shape (d,)
        Of the way to the next multiple of 8, how much counts.
    errors : array of shape (n_pieces, 2)
        Relative standard error of the median at sizes that are all multiples of 8, and at others.
    """

    locator: Locator
    exponents: Exponents
    bounds: npt.NDArray[np.int64]
    scales: FloatArray
    coefficients: FloatArray
    padding: FloatArray
    errors: FloatArray

    @classmethod
    def of(cls, model: "Model") -> "Tables":
        """The tables of a model.

        Raises
        ------
        UsageError
            If it has no pieces, contradicts itself, or has more sizes or higher powers than the evaluator can do.
        """
        _check(model)
        ripple, domains = model.ripple, model.domains
        bounds = np.array([(domain.lower, domain.upper) for domain in domains])
        errors = np.array([piece.error for piece in model.pieces])
        elsewhere = np.hypot(errors, ripple.error) if ripple else errors
        return cls(
            Locator.of(domains),
            model.exponents,
            bounds,
            bounds[:, 1].astype(float),
            np.array([piece.coefficients for piece in model.pieces], dtype=float),
            np.array(ripple.padding if ripple else [0.0] * bounds.shape[2], dtype=float),
            np.stack([errors, elsewhere], axis=1),
        )

    @property
    def sizes(self) -> int:
        """How many sizes the model has."""
        return len(self.exponents[0])

    @property
    def degree(self) -> int:
        """The highest exponent."""
        return max(degrees(self.exponents))

    @cached_property
    def in_c(self) -> dict[str, Any]:
        """The fields of a ``bc_model``. The memory that it points to is theirs: they must outlive it."""
        nodes = [(node.cut, node.dimension, (node.below, node.above)) for node in self.locator.nodes]
        model = {
            "sizes": self.sizes,
            "monomials": len(self.exponents),
            "degree": self.degree,
            "root": self.locator.root,
            "lower": ffi.new("int64_t[]", self.locator.lower),
            "upper": ffi.new("int64_t[]", self.locator.upper),
            "nodes": ffi.new("blascast_node[]", nodes),
            "scales": _doubles(self.scales),
            "coefficients": _doubles(self.coefficients),
            "exponents": ffi.new("int32_t[]", np.ravel(self.exponents).tolist()),
            "padding": _doubles(self.padding),
        }
        bounds = ffi.new("int64_t[]", self.bounds.ravel().tolist())
        return {"model": model, "pieces": len(self.bounds), "bounds": bounds, "errors": _doubles(self.errors)}


def _doubles(values: FloatArray) -> Any:
    return ffi.new("double[]", values.ravel().tolist())


def _check(model: "Model") -> None:
    """Refuses what the evaluator cannot do: C trusts the tables."""
    if not model.pieces:
        raise UsageError(f"the model of {model.key} has no pieces; generate it anew")
    sizes, degree = len(model.exponents[0]), max(degrees(model.exponents))
    consistent = (
        min(map(min, model.exponents)) >= 0
        and all(len(domain.lower) == sizes for domain in model.domains)
        and all(piece.coefficients.shape == (len(model.exponents), len(STATISTICS)) for piece in model.pieces)
        and (model.ripple is None or len(model.ripple.padding) == sizes)
    )
    if not consistent:
        raise UsageError(
            f"the model of {model.key} contradicts itself: its monomials have {sizes} sizes and powers from 0 on, and "
            "so must its pieces and its ripple; generate it anew"
        )
    if sizes > lib.BLASCAST_MOST_SIZES or degree > lib.BLASCAST_HIGHEST_POWER:
        raise UsageError(
            f"a model may have {lib.BLASCAST_MOST_SIZES} sizes and powers up to {lib.BLASCAST_HIGHEST_POWER}, "
            f"that of {model.key} has {sizes} and {degree}; generate it with less overfitting"
        )
