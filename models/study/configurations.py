"""The configurations that are studied: Table 3 of the dissertation's section 9.2."""

from dataclasses import replace
from itertools import product
from typing import Any

from ..parameters import NAMED_QUANTILES, PEISE2017, Parameters

STUDIED: dict[str, tuple[Any, ...]] = {
    "overfitting": (0, 1, 2),
    "oversampling": tuple(range(1, 11)),
    "grid": ("cartesian", "chebyshev"),
    "repetitions": (5, 10, 15),
    "reference": (NAMED_QUANTILES["min"], NAMED_QUANTILES["median"]),
    "error_measure": ("p90", "max"),
    "bound": (0.01, 0.02),
    "minimum_width": (32, 64),
}


def configuration(repetitions: int, **values: Any) -> Parameters:
    """The dissertation's default with other values of what is studied.

    Examples
    --------
    >>> configuration(repetitions=10) == PEISE2017
    True
    """
    return replace(PEISE2017, least_repetitions=repetitions, most_repetitions=repetitions, **values)


def studied_value(parameters: Parameters, name: str) -> Any:
    """The value of what is studied under a name."""
    return getattr(parameters, "least_repetitions" if name == "repetitions" else name)


def configurations() -> tuple[Parameters, ...]:
    """All 2880 of them; those that share grids are neighbours."""
    return tuple(configuration(**dict(zip(STUDIED, values, strict=True))) for values in product(*STUDIED.values()))
