"""The model file format: JSON that begins with format, version and setup.

Version history: 1, the first; 2, parameters with adaptive repetitions, samples, taken, ripple, origin.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from blascast.sampler.errors import BlascastError, StoreError
from blascast.sampler.setup import Setup, setup_from_json

from .domain import Domain
from .parameters import Parameters
from .piecewise import Model, ModelKey, Piece, Ripple

FORMAT = "blascast model"
VERSION = 2
HIGHEST_POWER = 20
_STATES = ("free", "busy", "mixed")


def model_to_json(setup: Setup, model: Model) -> str:
    """The text of a model file."""
    parameters = {k: v if v != float("inf") else None for k, v in asdict(model.parameters).items()}
    values = {
        "format": FORMAT,
        "version": VERSION,
        "setup": setup.to_json(),
        "key": asdict(model.key),
        "state": model.state,
        "stopped": model.stopped,
        "seconds": model.seconds,
        "samples": model.samples,
        "taken": model.taken,
        "ripple": asdict(model.ripple) if model.ripple else None,
        "origin": model.origin,
        "parameters": parameters,
        "exponents": model.exponents,
        "pieces": [_piece_to_json(piece) for piece in model.pieces],
    }
    return json.dumps(values, indent=1, allow_nan=False)


def _piece_to_json(piece: Piece) -> dict[str, Any]:
    return {
        "lower": piece.domain.lower,
        "upper": piece.domain.upper,
        "error": piece.error,
        "noise": piece.noise,
        "points": piece.points,
        "coefficients": piece.coefficients.tolist(),
    }


def model_from_json(text: str, path: Path) -> tuple[Setup, Model]:
    """The setup and model in the text of a file.

    Raises
    ------
    StoreError
        If the text is no model file, or one of a later version.
    """
    try:
        values = json.loads(text)
        if values["format"] != FORMAT:
            raise StoreError(f"{path} is no model file of blascast; remove it")
        version = values["version"]
        if type(version) is not int or not 1 <= version <= VERSION:
            raise StoreError(
                f"{path} is of version {version}, this blascast reads 1 to {VERSION}; update blascast, or remove it"
            )
        for upgrade in _UPGRADES[version - 1 :]:
            upgrade(values)
        return setup_from_json(values["setup"]), _model(values)
    except StoreError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError, BlascastError) as error:
        raise StoreError(f"{path} is corrupt ({type(error).__name__}: {error}); remove it") from error


def _from_version_1(values: dict[str, Any]) -> None:
    """The dissertation's generator was the only one, and repetitions depended on the flops."""
    old = values["parameters"]
    values["parameters"] = {
        **{name: old[name] for name in ("overfitting", "overfitting_3d", "oversampling", "grid", "error_measure")},
        **{name: old[name] for name in ("bound", "minimum_width", "minimum_width_3d", "seconds")},
        "answer_bound": old["bound"],
        "minimum_width_threaded": old["minimum_width"],
        "minimum_width_3d_threaded": old["minimum_width_3d"],
        "cuts": "halves",
        "least_repetitions": min(old["repetitions"], old["repetitions_large"]),
        "most_repetitions": max(old["repetitions"], old["repetitions_small"]),
        "reference": {"min": 0.0, "median": 0.5}[old["reference"]],
    }
    values.update(samples=0, taken=0.0, ripple=None, origin="")


# What brings the values of a file from the version of its index plus one to the next.
_UPGRADES = (_from_version_1,)


def _model(values: dict[str, Any]) -> Model:
    parameters: dict[str, Any] = {
        name: value if value is not None else float("inf") for name, value in values["parameters"].items()
    }
    exponents = tuple(tuple(int(power) for power in monomial) for monomial in values["exponents"])
    if values["state"] not in _STATES:
        raise ValueError(f"unknown state {values['state']!r}")
    if not values["pieces"] or not exponents:
        raise ValueError("no pieces")
    if not all(0 <= power <= HIGHEST_POWER for monomial in exponents for power in monomial):
        raise ValueError(f"exponents must be 0 to {HIGHEST_POWER}")
    if len(set(map(len, exponents))) > 1 or not exponents[0]:
        raise ValueError("monomials must be in the same sizes, one at least")
    return Model(
        _key(values["key"]),
        exponents,
        tuple(_piece(piece, exponents) for piece in values["pieces"]),
        values["state"],
        str(values["stopped"]),
        _number(values["seconds"]),
        Parameters(**parameters),
        int(_number(values["samples"])),
        _number(values["taken"]),
        _ripple(values["ripple"], len(exponents[0])),
        _text(values["origin"]),
    )


def _ripple(values: dict[str, Any] | None, sizes: int) -> Ripple | None:
    if values is None:
        return None
    padding = tuple(_number(value) for value in values["padding"])
    if len(padding) != sizes:
        raise ValueError(f"padding of {len(padding)} sizes for {sizes}")
    return Ripple(padding, _number(values["error"]), int(_number(values["points"])))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _number(value: Any) -> float:
    """A finite number that is not negative."""
    number = float(value)
    if not 0 <= number < float("inf"):
        raise ValueError(f"{value!r} is no finite number >= 0")
    return number


def _key(values: dict[str, Any]) -> ModelKey:
    key = ModelKey(**values)
    if not (isinstance(key.kernel, str) and isinstance(key.case, str) and type(key.ld) is int):
        raise ValueError(f"{values} is no key")
    return key


def _piece(values: dict[str, Any], exponents: tuple[tuple[int, ...], ...]) -> Piece:
    coefficients = np.array(values["coefficients"], dtype=float)
    if coefficients.shape != (len(exponents), 5) or not np.all(np.isfinite(coefficients)):
        raise ValueError(f"coefficients of shape {coefficients.shape} for {len(exponents)} monomials")
    domain = Domain(tuple(map(int, values["lower"])), tuple(map(int, values["upper"])))
    if len(domain.lower) != len(exponents[0]):
        raise ValueError(f"a domain of {len(domain.lower)} sizes for monomials in {len(exponents[0])}")
    return Piece(domain, coefficients, _number(values["error"]), _number(values["noise"]), int(values["points"]))
