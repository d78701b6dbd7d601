"""Boxes of sizes and the points sampled on them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blascast.models.domain import Domain, uncovered
from blascast.models.grid import grid_points
from blascast.sampler.errors import UsageError

BOUNDS = st.tuples(st.integers(1, 60), st.integers(0, 60)).map(lambda t: (t[0], t[0] + t[1]))
BOXES = st.lists(BOUNDS, min_size=2, max_size=2).map(
    lambda bounds: Domain(tuple(b[0] for b in bounds), tuple(b[1] for b in bounds))
)


def members(domain: Domain) -> set[tuple[int, int]]:
    return {
        (i, j) for i in range(domain.lower[0], domain.upper[0] + 1) for j in range(domain.lower[1], domain.upper[1] + 1)
    }


@given(BOXES, st.lists(BOXES, max_size=4))
def test_what_is_uncovered_and_what_covers_make_the_whole(wanted: Domain, covered: list[Domain]) -> None:
    parts = uncovered(wanted, covered)
    everything = set().union(*(members(part) for part in parts), *(members(box) & members(wanted) for box in covered))
    assert everything == members(wanted)
    for part in parts:  # only boundaries are shared
        inner = {
            p for p in members(part) if all(lo < x < hi for x, lo, hi in zip(p, part.lower, part.upper, strict=True))
        }
        assert not any(inner & members(box) for box in covered)


def test_the_dissertations_point_of_division() -> None:
    first, second = Domain((24, 24), (536, 4152)).halves(32) or (None, None)
    middle = 8 * ((24 + 4152 + 8) // 16)
    assert first == Domain((24, 24), (536, middle))
    assert second == Domain((24, middle), (536, 4152))


def test_geometric_division() -> None:
    assert Domain((8,), (1024,)).halves(32, "geometric") == (Domain((8,), (88,)), Domain((88,), (1024,)))


def test_division_ends_at_the_minimum_width() -> None:
    assert Domain((24, 24), (87, 80)).halves(32) is None
    assert Domain((24, 24), (88, 80)).halves(32) is not None


@given(BOXES, st.sampled_from(["middle", "geometric"]), st.integers(1, 40))
def test_halves_make_the_whole(domain: Domain, split: str, width: int) -> None:
    halves = domain.halves(width, split)  # type: ignore[arg-type]
    if halves:
        assert members(halves[0]) | members(halves[1]) == members(domain)


def test_containment_includes_both_bounds() -> None:
    sizes = np.array([[8, 8], [64, 32], [65, 8], [8, 7]])
    assert Domain((8, 8), (64, 32)).contains(sizes).tolist() == [True, True, False, False]


@pytest.mark.parametrize("bounds", [((0,), (8,)), ((9,), (8,)), ((1, 1), (2,)), ((), ())])
def test_boxes_that_are_none(bounds: tuple) -> None:
    with pytest.raises(UsageError, match="a domain needs"):
        Domain(*bounds)


def test_chebyshev_grid_by_hand() -> None:
    points = [p for (p,) in grid_points(Domain((24,), (536,)), [5], "chebyshev")]
    # 24 + 512 (1 - cos(i pi / 4)) / 2 = 24, 98.98, 280, 461.02, 536
    assert points == [24, 96, 280, 464, 536]


@pytest.mark.parametrize("grid", ["cartesian", "chebyshev"])
@given(bounds=BOUNDS, count=st.integers(2, 12))
def test_grids_hold_the_boundary_and_multiples_of_8(grid: str, bounds: tuple[int, int], count: int) -> None:
    domain = Domain((bounds[0],), (bounds[1],))
    points = [p for (p,) in grid_points(domain, [count], grid)]
    assert points == sorted(set(points))
    assert (points[0], points[-1]) == bounds
    assert len(points) <= count
    if bounds[1] - bounds[0] >= 16:
        assert all(p % 8 == 0 for p in points[1:-1])
