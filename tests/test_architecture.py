"""The house: arrows between the rooms run one way."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = {  # folder -> the rooms it may import from
    "sampler": set(),
    "models": {"sampler"},
    "algorithms": {"sampler"},
    "predictors": {"models", "algorithms", "sampler"},
    "interface": {"predictors", "models", "algorithms", "sampler", "interface"},
}


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        modules = []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            modules = [node.module or ""]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        for module in modules:
            parts = module.split(".")
            if parts[0] == "blascast":
                rooms.add(parts[1] if len(parts) > 1 and parts[1] in ROOMS else "interface")
    return rooms


@pytest.mark.parametrize("room", ROOMS)
def test_arrows_run_one_way(room: str) -> None:
    files = list((ROOT / room).rglob("*.py"))
    assert files
    for path in files:
        backwards = imported_rooms(path) - ROOMS[room] - {room}
        assert not backwards, f"{path.relative_to(ROOT)} imports from {backwards}"


def test_relative_imports_stay_inside_a_room() -> None:
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            depth = len(path.relative_to(ROOT / room).parts)
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom):
                    assert node.level <= depth, f"{path.relative_to(ROOT)} reaches out of its room"


def test_the_worker_imports_no_numpy() -> None:
    code = "import blascast.sampler.worker.__main__, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-P", "-c", code]).returncode == 0


def test_files_stay_short() -> None:
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            assert len(path.read_text().splitlines()) <= 600, path
