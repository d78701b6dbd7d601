"""Every example in a docstring holds."""

import doctest
import importlib
import pkgutil

import pytest

import blascast

MODULES = ["blascast"] + [
    module.name
    for module in pkgutil.walk_packages(blascast.__path__, "blascast.")
    if not module.name.endswith(("__main__", "_build", "worker"))
]
ROOMS = [
    module.name
    for room in ("sampler", "models", "predictors", "algorithms")
    for module in pkgutil.walk_packages(importlib.import_module(f"blascast.{room}").__path__, f"blascast.{room}.")
    if ".worker" not in module.name and not module.name.endswith("_build")
]


@pytest.mark.parametrize("name", sorted({*MODULES, *ROOMS}))
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples() -> None:
    found = [doctest.DocTestFinder().find(importlib.import_module(name)) for name in ROOMS]
    assert sum(bool(test.examples) for tests in found for test in tests) >= 10
