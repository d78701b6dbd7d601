"""What is installed is what is in the folders."""

import sys
import tomllib
from pathlib import Path

import pytest

import blascast

ROOT = Path(__file__).parent.parent
CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text())
FOLDERS = {"interface": "blascast"} | {
    room: f"blascast.{room}" for room in ("sampler", "models", "predictors", "algorithms")
}


def test_every_package_is_listed() -> None:
    packages = set()
    for folder, package in FOLDERS.items():
        for marker in (ROOT / folder).rglob("__init__.py"):
            inner = marker.parent.relative_to(ROOT / folder).parts
            packages.add(".".join([package, *inner]))
    assert packages == set(CONFIGURATION["tool"]["setuptools"]["packages"])


@pytest.mark.parametrize("extension", CONFIGURATION["tool"]["setuptools"]["ext-modules"], ids=lambda e: e["name"])
def test_every_source_of_an_extension_is_listed(extension: dict) -> None:
    folder = ROOT / Path(extension["sources"][0]).parent
    listed = {Path(name).name for name in extension["sources"] + extension["depends"]}
    present = {path.name for path in folder.glob("*.[ch]")}
    wrapper = "_" + extension["name"].rpartition("._")[2] + "_cffi.c"
    assert present <= listed
    assert listed - present <= {wrapper}


def test_the_text_of_exported_headers_is_installed() -> None:
    installed = CONFIGURATION["tool"]["setuptools"]["package-data"]["blascast.models.evaluation"]
    assert {Path(name).name for name in installed} == {"evaluate.h", "model.h"}
    assert all((ROOT / "models" / "evaluation" / name).exists() for name in installed)


def test_type_checkers_see_every_module() -> None:
    links = {path.name for path in (ROOT / ".typing" / "blascast").iterdir()}
    interface = {path.name for path in (ROOT / "interface").iterdir() if path.name != "__pycache__"}
    assert links == interface | (set(FOLDERS) - {"interface"})


def test_no_room_is_imported_under_a_second_name() -> None:
    assert not {"sampler", "models", "predictors", "algorithms", "interface"} & set(sys.modules)


def test_version() -> None:
    assert blascast.__version__ == CONFIGURATION["project"]["version"]


def test_public_names_exist() -> None:
    for name in blascast.__all__:
        assert callable(getattr(blascast, name))
