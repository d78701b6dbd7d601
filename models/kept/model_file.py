"""The model file format: JSON that begins with format, version and setup.

Version history: 1, the first; 2, parameters with adaptive repetitions, samples, taken, ripple, origin;
3, the precondition.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from blascast.sampler.errors import BlascastError, StoreError
from blascast.sampler.kernel import TYPES
from blascast.sampler.precondition import WARM, precondition_of
from blascast.sampler.setup import Setup, setup_from_json

from ..parameters import Parameters
from ..piecewise import Model, ModelKey, Piece, Ripple
from ..sizes.domain import Domain
from ..summary import FloatArray

FORMAT = "blascast model"
VERSION = 3
HIGHEST_POWER = 20
_STATES = ("free", "busy", "mixed")
_LARGEST_INTEGER = 2**53  # that a float holds
_LAST_SECOND = 253402300799  # of the year 9999
_REMEDY = "remove it"

Read = TypeVar("Read")


def model_to_json(setup: Setup, model: Model) -> str:
    """The text of a model file."""
    return json.dumps(model_to_values(setup, model), indent=1, allow_nan=False)


def model_to_values(setup: Setup, model: Model) -> dict[str, Any]:
    """What a model file holds, as plain JSON values."""
    parameters = {k: v if v != float("inf") else None for k, v in asdict(model.parameters).items()}
    return {
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
    return model_from_values(explained(str(path), _REMEDY, lambda: json.loads(text)), str(path), _REMEDY)


def model_from_values(values: Any, label: str, remedy: str) -> tuple[Setup, Model]:
    """The setup and model in what a model file holds.

    Parameters
    ----------
    values : JSON values
    label, remedy : str
        What an error calls them, and the way out that it names.

    Raises
    ------
    StoreError
        If they are no model, or one of a later version.
    """

    def read() -> tuple[Setup, Model]:
        if values["format"] != FORMAT:
            raise StoreError(f"{label} is no model file of blascast; {remedy}")
        check_version(values["version"], VERSION, label, remedy)
        for upgrade in _UPGRADES[values["version"] - 1 :]:
            upgrade(values)
        return _setup(values["setup"]), _model(values)

    return explained(label, remedy, read)


def explained(label: str, remedy: str, read: Callable[[], Read]) -> Read:
    """What `read` returns; what it stumbles over in JSON values is one line that says so."""
    try:
        return read()
    except StoreError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError, BlascastError) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise StoreError(f"{label} is corrupt ({reason}); {remedy}") from error


def check_version(version: Any, newest: int, label: str, remedy: str) -> None:
    """Refuses a version that this blascast does not read."""
    if type(version) is not int or not 1 <= version <= newest:
        known = "1" if newest == 1 else f"1 to {newest}"
        raise StoreError(f"{label} is of version {version}, this blascast reads {known}; update blascast, or {remedy}")


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


def _from_version_2(values: dict[str, Any]) -> None:
    """Models were of warm operands."""
    values["key"]["precondition"] = str(WARM)


# What brings the values of a file from the version of its index plus one to the next.
_UPGRADES = (_from_version_1, _from_version_2)


def _setup(values: dict[str, Any]) -> Setup:
    setup = setup_from_json(values)
    library = asdict(setup.library)
    lapack, bits = library.pop("lapack") or {}, library.pop("integer_bits")
    library["configuration"] = " ".join(setup.library.configuration.split())  # may have several lines
    for text in (setup.machine.cpu, setup.machine.architecture, *library.values(), *lapack.values()):
        _text(text)
    for number in (setup.threads, bits, *(value for cache in setup.machine.caches for value in asdict(cache).values())):
        _integer(number)
    if setup.dtype not in TYPES or setup.threads < 1 or type(setup.pinned) is not bool:
        raise ValueError(f"{setup.dtype!r}, {setup.threads!r} and {setup.pinned!r} are no type, threads and pinning")
    return setup


def _model(values: dict[str, Any]) -> Model:
    parameters: dict[str, Any] = {
        name: value if value is not None else float("inf") for name, value in values["parameters"].items()
    }
    exponents = tuple(tuple(_integer(power) for power in monomial) for monomial in values["exponents"])
    if values["state"] not in _STATES:
        raise ValueError(f"unknown state {values['state']!r}")
    if not values["pieces"] or not exponents:
        raise ValueError("no pieces")
    if not all(power <= HIGHEST_POWER for monomial in exponents for power in monomial):
        raise ValueError(f"exponents must be 0 to {HIGHEST_POWER}")
    if len(set(map(len, exponents))) > 1 or not exponents[0]:
        raise ValueError("monomials must be in the same sizes, one at least")
    return Model(
        _key(values["key"]),
        exponents,
        _pieces(values["pieces"], exponents),
        values["state"],
        _text(values["stopped"]),
        _number(values["seconds"]),
        Parameters(**parameters),
        _integer(values["samples"]),
        _number(values["taken"], _LAST_SECOND),
        _ripple(values["ripple"], len(exponents[0])),
        _text(values["origin"]),
    )


def _ripple(values: dict[str, Any] | None, sizes: int) -> Ripple | None:
    if values is None:
        return None
    padding = tuple(_number(value) for value in values["padding"])
    if len(padding) != sizes:
        raise ValueError(f"padding of {len(padding)} sizes for {sizes}")
    return Ripple(padding, _number(values["error"]), _integer(values["points"]))


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise TypeError(f"{value!r} is no printable text")
    return value


def _integer(value: Any) -> int:
    """An integer that is not negative."""
    if type(value) is not int or not 0 <= value <= _LARGEST_INTEGER:
        raise ValueError(f"{value!r} is no integer from 0 to 2^53")
    return value


def _number(value: Any, most: float = sys.float_info.max) -> float:
    """A finite number that is not negative."""
    number = float(value)
    if not 0 <= number <= most:
        raise ValueError(f"{value!r} is no finite number from 0 to {most:g}")
    return number


def _key(values: dict[str, Any]) -> ModelKey:
    key = ModelKey(**values)
    precondition_of(key.precondition)
    return ModelKey(_text(key.kernel), _text(key.case), _integer(key.ld), _text(key.precondition))


def _pieces(values: list[dict[str, Any]], exponents: tuple[tuple[int, ...], ...]) -> tuple[Piece, ...]:
    tables = [piece["coefficients"] for piece in values]
    lengths = {len(table) for table in tables}
    if lengths != {len(exponents)}:
        raise ValueError(f"coefficients of shape {min(lengths)} x 5 for {len(exponents)} monomials")
    coefficients = np.array(tables, dtype=float)  # at once: they are many
    if coefficients.shape != (len(values), len(exponents), 5) or not np.all(np.isfinite(coefficients)):
        raise ValueError(f"coefficients of shape {coefficients.shape[1:]} for {len(exponents)} monomials")
    return tuple(_piece(piece, own, len(exponents[0])) for piece, own in zip(values, coefficients, strict=True))


def _piece(values: dict[str, Any], coefficients: FloatArray, sizes: int) -> Piece:
    domain = Domain(tuple(map(_integer, values["lower"])), tuple(map(_integer, values["upper"])))
    if len(domain.lower) != sizes:
        raise ValueError(f"a domain of {len(domain.lower)} sizes for monomials in {sizes}")
    return Piece(domain, coefficients, _number(values["error"]), _number(values["noise"]), _integer(values["points"]))
