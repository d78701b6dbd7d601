"""Bundles: files that hand models on, from one store to another.

    {"format": "blascast bundle", "version": 1, "models": [...]}

Each of the models is what its model file holds, with format, version and setup of its own. Samples stay
where they were taken.
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from blascast.sampler.errors import StoreError
from blascast.sampler.setup import Setup

from ..piecewise import Model
from .model_file import FORMAT as MODEL_FORMAT
from .model_file import check_version, explained, model_from_values, model_to_values

FORMAT = "blascast bundle"
VERSION = 1
_REMEDY = "have it exported anew"


def bundle_to_json(entries: Sequence[tuple[Setup, Model]]) -> str:
    """The text of a bundle of models, each with its setup."""
    models = [model_to_values(setup, model) for setup, model in entries]
    return json.dumps({"format": FORMAT, "version": VERSION, "models": models}, indent=1, allow_nan=False)


def entries_from_json(text: str, label: str) -> list[tuple[Setup, Model]]:
    """The setups and models in the text of a bundle, or of a single model file.

    Parameters
    ----------
    text : str
    label : str
        What an error calls the file.

    Raises
    ------
    StoreError
        If the text is neither, or of a later version, or holds no model or one twice.
    """
    values = explained(label, _REMEDY, lambda: json.loads(text))
    kind = values.get("format") if isinstance(values, dict) else None
    if kind == MODEL_FORMAT:
        return [model_from_values(values, label, _REMEDY)]
    if kind != FORMAT:
        raise StoreError(f"{label} holds no models of blascast; name a file that 'blascast models export' wrote")
    models = explained(label, _REMEDY, lambda: _models(values, label))
    named = [(f"model {i} of {label}", one) for i, one in enumerate(models, start=1)]
    entries = [model_from_values(one, name, _REMEDY) for name, one in named]
    check_distinct(entries, label)
    return entries


def _models(values: dict[str, Any], label: str) -> list[Any]:
    check_version(values["version"], VERSION, label, _REMEDY)
    if not isinstance(values["models"], list) or not values["models"]:
        raise ValueError("no models")
    return values["models"]


def check_distinct(entries: Sequence[tuple[Setup, Model]], label: str) -> None:
    """Refuses two models of one setup and case.

    Raises
    ------
    StoreError
        That names the first of them.
    """
    ((_, key), most) = Counter((setup.fingerprint, model.key) for setup, model in entries).most_common(1)[0]
    if most > 1:
        raise StoreError(f"{label} holds {most} models of {key} (ld {key.ld}) of the same setup; leave one of them")
