"""Model files: they return what was saved, older ones are understood, and damaged ones refused in one line."""

import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from modelling import POTF2

from blascast.models.generation.builder import ModelBuilder
from blascast.models.generation.need import Need
from blascast.models.kept.model_file import model_from_json, model_to_json
from blascast.models.kept.store import Store
from blascast.models.parameters import PRESETS, Parameters
from blascast.models.piecewise import Model, ModelKey, Piece, Ripple
from blascast.models.sizes.domain import Domain
from blascast.sampler.errors import StoreError
from blascast.sampler.sampler import Sampler
from blascast.sampler.simulated import QUIET, SimulatedBackend

SETUP = SimulatedBackend(disturbances=QUIET).setup
KEY = ModelKey("potf2", "L", 520)
PATH = Path("file.json")


def piece(low: int, high: int, value: float = 1.0) -> Piece:
    return Piece(Domain((low,), (high,)), np.array([[value] * 5, [1 / 3] * 5]), 0.01, 0.02, 7)


MODEL = Model(
    KEY,
    ((0,), (1,)),
    (piece(8, 64), piece(64, 128, 3.25)),
    "free",
    "bound",
    1.5,
    Parameters(),
    samples=35,
    taken=1.75e9,
    ripple=Ripple((0.75,), 0.02, 12),
    origin="imported from elsewhere",
)
TEXT = model_to_json(SETUP, MODEL)


def read(text: str) -> Model:
    setup, model = model_from_json(text, PATH)
    assert setup == SETUP
    return model


# --- what returns


@pytest.mark.parametrize("parameters", PRESETS.values(), ids=PRESETS)
def test_a_model_returns_as_it_was_saved(parameters: Parameters) -> None:
    saved = replace(MODEL, parameters=parameters)
    loaded = read(model_to_json(SETUP, saved))
    for name in ("key", "exponents", "state", "stopped", "seconds", "samples", "taken", "ripple", "origin"):
        assert getattr(loaded, name) == getattr(saved, name), name
    assert (loaded.parameters, loaded.parameters.seconds) == (parameters, parameters.seconds)
    for one, other in zip(loaded.pieces, saved.pieces, strict=True):
        assert (one.domain, one.error, one.noise, one.points) == (other.domain, other.error, other.noise, other.points)
        np.testing.assert_array_equal(one.coefficients, other.coefficients)


def test_a_model_without_ripple() -> None:
    assert read(model_to_json(SETUP, replace(MODEL, ripple=None, origin=""))).ripple is None


def test_a_model_file_begins_with_format_version_and_setup() -> None:
    assert list(json.loads(TEXT))[:3] == ["format", "version", "setup"]
    assert json.loads(TEXT)["version"] == 3


# --- version 1

VERSION_1 = """{
 "format": "blascast model",
 "version": 1,
 "setup": {
  "machine": {"cpu": "simulated processor", "architecture": "none",
   "caches": [{"level": 1, "bytes": 32768}, {"level": 2, "bytes": 33554432}]},
  "library": {"name": "simulated", "version": "1", "core": "", "file": "", "build": "", "integer_bits": 32,
   "prefix": "", "suffix": "", "complex_results": "registers", "threading": "", "configuration": "", "lapack": null},
  "dtype": "d",
  "threads": 1,
  "pinned": true
 },
 "key": {"kernel": "potf2", "case": "L", "ld": 520},
 "state": "free",
 "stopped": "time",
 "seconds": 1.5,
 "parameters": {
  "overfitting": 1, "overfitting_3d": 0, "oversampling": 2, "grid": "chebyshev",
  "repetitions": 8, "repetitions_small": 24, "repetitions_large": 4,
  "reference": "median", "error_measure": "p90", "bound": 0.02,
  "minimum_width": 16, "minimum_width_3d": 32, "split": "geometric", "noise_factor": 1.5,
  "reuse": true, "targeted": true, "seconds": 60.0
 },
 "exponents": [[0], [1]],
 "pieces": [
  {"lower": [8], "upper": [64], "error": 0.01, "noise": 0.02, "points": 7,
   "coefficients": [[1.0, 1.0, 1.0, 1.0, 0.0], [0.5, 0.5, 0.5, 0.5, 0.0]]}
 ]
}"""


def test_a_file_of_version_1_is_understood() -> None:
    model = read(VERSION_1)
    assert (model.key, model.state, model.stopped, model.seconds) == (KEY, "free", "time", 1.5)
    assert (model.samples, model.taken, model.ripple, model.origin) == (0, 0.0, None, "")
    assert model.evaluate(np.array([[64]])).statistics[0].tolist() == [1.5, 1.5, 1.5, 1.5, 0.0]
    parameters = model.parameters
    assert (parameters.cuts, parameters.grid, parameters.oversampling) == ("halves", "chebyshev", 2)
    assert (parameters.least_repetitions, parameters.most_repetitions, parameters.reference) == (4, 24, 0.5)
    assert parameters.minimum_widths == (16, 32, 16, 32)
    assert (parameters.bound, parameters.answer_bound) == (0.02, 0.02)


def test_endless_time_and_the_minimum_in_version_1() -> None:
    """As its preset of the dissertation had them."""
    values = json.loads(VERSION_1)
    ten = dict.fromkeys(("repetitions", "repetitions_small", "repetitions_large"), 10)
    values["parameters"].update(seconds=None, reference="min", **ten)
    parameters = read(json.dumps(values)).parameters
    assert (parameters.seconds, parameters.reference) == (float("inf"), 0.0)
    assert (parameters.least_repetitions, parameters.most_repetitions) == (10, 10)


@pytest.mark.parametrize("name", ["repetitions", "reference", "bound", "seconds"])
def test_version_1_without_a_parameter(name: str) -> None:
    values = json.loads(VERSION_1)
    del values["parameters"][name]
    with pytest.raises(StoreError, match=f"is corrupt .*{name}.*remove it"):
        read(json.dumps(values))


def test_models_of_version_1_are_made_anew_and_saved_in_the_newest(home: Path) -> None:
    """They were made otherwise."""
    store = Store(home)
    store.save_model(SETUP, MODEL)
    (path,) = (home / "models").glob("*/*.json")
    path.write_text(VERSION_1)
    assert store.load_model(SETUP, KEY).stopped == "time"  # type: ignore[union-attr]
    assert len(store.all_models()) == 1
    builder = ModelBuilder(Sampler(SimulatedBackend(disturbances=QUIET)), store)
    (made,) = builder.provide([Need(POTF2, (Domain((8,), (128,)),))]).values()
    assert builder.batches
    assert json.loads(path.read_text())["version"] == 3
    assert made.parameters == Parameters()


# --- what is refused


def changed(**values: Any) -> str:
    return json.dumps({**json.loads(TEXT), **values})


def in_piece(**values: Any) -> str:
    pieces = json.loads(TEXT)["pieces"]
    return changed(pieces=[{**pieces[0], **values}, pieces[1]])


def in_parameters(**values: Any) -> str:
    return changed(parameters={**json.loads(TEXT)["parameters"], **values})


REFUSED = [
    ("", "is corrupt"),
    ("[1, 2]", "is corrupt"),
    ("{}", "is corrupt"),
    ("null", "is corrupt"),
    ("[" * 100_000, "is corrupt"),
    ('{"format": "something else"}', "is no model file"),
    (changed(version=4), "is of version 4, this blascast reads 1 to 3; update blascast"),
    (changed(version=0), "is of version 0, this blascast reads 1 to 3"),
    (changed(version="2"), "is of version 2, this blascast reads 1 to 3"),
    (changed(version=1), "is corrupt"),  # with the parameters of version 2
    (changed(state="asleep"), "unknown state"),
    (changed(setup={}), "is corrupt"),
    (changed(pieces=[]), "no pieces"),
    (changed(exponents=[]), "no pieces"),
    (changed(exponents=[[0], [1, 2]]), "is corrupt"),
    (changed(exponents=[[0], [99]]), "exponents must be 0 to"),
    (changed(seconds=float("inf")), "no finite number"),
    (changed(seconds=-1), "no finite number"),
    (changed(samples=-1), "is corrupt"),
    (changed(taken=float("nan")), "no finite number"),
    (changed(origin=5), "is corrupt"),
    (changed(ripple={"padding": [0.5, 0.5], "error": 0.1, "points": 3}), "padding of 2 sizes for 1"),
    (changed(ripple={"padding": [float("nan")], "error": 0.1, "points": 3}), "no finite number"),
    (changed(ripple=[]), "is corrupt"),
    (changed(key={"kernel": {"a": 1}, "case": "L", "ld": 520}), "is corrupt"),
    (changed(key={"kernel": "potf2", "case": "L", "ld": True}), "is corrupt"),
    (in_piece(error=float("nan")), "no finite number"),
    (in_piece(noise=-0.1), "no finite number"),
    (in_piece(lower=[1, 8]), "is corrupt"),
    (in_piece(lower=[100]), "is corrupt"),
    (in_piece(lower=[0]), "is corrupt"),
    (in_piece(lower=[8, 8], upper=[64, 64]), "a domain of 2 sizes"),
    (in_piece(coefficients=[[1.0] * 5]), "coefficients of shape"),
    (in_piece(coefficients=[[1.0] * 5, [1.0] * 4]), "is corrupt"),
    (in_piece(coefficients=[[1.0] * 5, [float("nan")] * 5]), "is corrupt"),
    (in_parameters(grid="random"), "is corrupt"),
    (in_parameters(bound=0), "is corrupt"),
    (in_parameters(least_repetitions="many"), "is corrupt"),
    (in_parameters(colour="red"), "is corrupt"),
    (TEXT[: len(TEXT) // 2], "is corrupt"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=range(len(REFUSED)))
def test_a_model_file_that_is_none(text: str, message: str) -> None:
    with pytest.raises(StoreError, match=message) as caught:
        model_from_json(text, PATH)
    assert str(caught.value).startswith("file.json")
    assert "remove it" in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FUZZ = settings(suppress_health_check=[HealthCheck.too_slow])


@FUZZ
@given(st.data(), st.sampled_from([TEXT, VERSION_1]))
def test_any_change_to_a_model_file_is_read_or_refused(data: st.DataObject, text: str) -> None:
    values = json.loads(text)
    place = data.draw(st.sampled_from(sorted(values)))
    if data.draw(st.booleans()):
        values[place] = data.draw(JSON)
    elif isinstance(values[place], dict):
        values[place][data.draw(st.sampled_from(sorted(values[place])))] = data.draw(JSON)
    else:
        inner = values["pieces"][0]
        inner[data.draw(st.sampled_from(sorted(inner)))] = data.draw(JSON)
    with contextlib.suppress(StoreError):
        model_from_json(json.dumps(values), PATH)


@FUZZ
@given(st.sampled_from([TEXT, VERSION_1]), st.floats(0, 1), st.integers(0, 30), st.text(max_size=5))
def test_any_damage_to_the_text_is_read_or_refused(text: str, share: float, length: int, instead: str) -> None:
    at = int(share * len(text))
    with contextlib.suppress(StoreError):
        model_from_json(text[:at] + instead + text[at + length :], PATH)
