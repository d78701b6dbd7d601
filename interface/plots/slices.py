"""Slices: of models in three or more sizes, the planes of the first two that are drawn."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blascast.models.piecewise import Model
from blascast.models.sizes.domain import STEP, Domain
from blascast.sampler.errors import UsageError

from ..stored.showing import size_names


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of the space of sizes in which all but the first ones are held.

    Parameters
    ----------
    held : tuple of int
        Their values.
    first : int
        How many are not held.
    """

    held: tuple[int, ...]
    first: int = 2

    def cuts(self, domain: Domain) -> bool:
        """Whether it cuts a domain."""
        bounds = zip(domain.lower[self.first :], self.held, domain.upper[self.first :], strict=True)
        return all(low <= value <= high for low, value, high in bounds)


def slices_of(model: Model, at: Sequence[int] | None = None) -> list[Slice]:
    """The slices of a model at values of its third size; one, if it has only two.

    Further sizes are held in the middle.

    Parameters
    ----------
    model : Model
    at : sequence of int, optional
        By default the smallest, middle and largest value that it covers.

    Raises
    ------
    UsageError
        If there is no third size, or the model does not cover such a value.
    """
    names = size_names(model)
    if len(names) < 3:
        if at is not None:
            raise UsageError(f"values of a third size were given, {model.key} has the sizes {', '.join(names)}")
        return [Slice(())] if len(names) == 2 else [Slice((), first=1)]
    ranges = [_range(model, i) for i in range(2, len(names))]
    low, high = ranges[0]
    for value in at or ():
        if not low <= value <= high:
            raise UsageError(f"{names[2]} must be from {low} to {high}, where {model.key} is modelled, got {value}")
    values = at if at is not None else dict.fromkeys((low, _middle(low, high), high))
    return [Slice((value, *(_middle(*bounds) for bounds in ranges[1:]))) for value in values]


def _range(model: Model, size: int) -> tuple[int, int]:
    return min(domain.lower[size] for domain in model.domains), max(domain.upper[size] for domain in model.domains)


def _middle(low: int, high: int) -> int:
    """Between them, by their ratio; a multiple of 8 if there is one about."""
    value = float(np.sqrt(low * high))
    rounded = STEP * round(value / STEP)
    return rounded if low <= rounded <= high else round(value)
