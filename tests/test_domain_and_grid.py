"""Boxes of sizes, the lattice of sizes that are sampled, and the grids on it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blascast.models.sizes.domain import STEP, Domain, uncovered
from blascast.models.sizes.grid import GRIDS, grid_points
from blascast.models.sizes.lattice import EVEN, Lattice
from blascast.sampler.errors import UsageError

BOUNDS = st.tuples(st.integers(1, 60), st.integers(0, 60)).map(lambda t: (t[0], t[0] + t[1]))
BOXES = st.lists(BOUNDS, min_size=2, max_size=2).map(
    lambda bounds: Domain(tuple(b[0] for b in bounds), tuple(b[1] for b in bounds))
)
WIDE_BOUNDS = st.tuples(st.integers(1, 1000), st.integers(0, 1000)).map(lambda t: (t[0], t[0] + t[1]))


def members(domain: Domain) -> set[tuple[int, int]]:
    return {
        (i, j) for i in range(domain.lower[0], domain.upper[0] + 1) for j in range(domain.lower[1], domain.upper[1] + 1)
    }


# --- domains


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


@given(BOXES, st.integers(0, 1), st.floats(0, 1))
def test_the_parts_of_a_cut_share_where_it_is(domain: Domain, size: int, share: float) -> None:
    at = domain.lower[size] + int(share * (domain.upper[size] - domain.lower[size]))
    low, high = domain.cut(size, at)
    assert members(low) | members(high) == members(domain)
    assert {point[size] for point in members(low) & members(high)} == {at}


def test_containment_includes_both_bounds() -> None:
    sizes = np.array([[8, 8], [64, 32], [65, 8], [8, 7]])
    assert Domain((8, 8), (64, 32)).contains(sizes).tolist() == [True, True, False, False]


def test_places_are_even_in_ratio() -> None:
    domain = Domain((8, 16), (128, 16))
    places = domain.places(np.array([[8, 16], [32, 16], [128, 16]]))
    np.testing.assert_allclose(places, [[0, 0], [0.5, 0], [1, 0]])
    assert Domain((8, 8), (16, 64)).log_volume == pytest.approx(np.log(2) * np.log(8))


def test_points_spread_over_a_domain() -> None:
    assert Domain((8,), (128,)).spread(5).ravel().tolist() == [8, 16, 32, 64, 128]
    spread = Domain((8, 3), (100, 5)).spread(3)
    assert len(spread) == 9
    assert {(8, 3), (8, 5), (100, 3), (100, 5)} <= set(map(tuple, spread.tolist()))
    assert Domain((8, 3), (100, 5)).contains(spread).all()
    assert set(Domain((7,), (7,)).spread(2).ravel().tolist()) == {7}


@pytest.mark.parametrize("bounds", [((0,), (8,)), ((9,), (8,)), ((1, 1), (2,)), ((), ())])
def test_boxes_that_are_none(bounds: tuple) -> None:
    with pytest.raises(UsageError, match="a domain needs"):
        Domain(*bounds)


# --- the lattice


@given(WIDE_BOUNDS)
def test_the_lattice_has_the_bounds_and_multiples_of_8(bounds: tuple[int, int]) -> None:
    low, high = bounds
    axis = EVEN.between(0, low, high).tolist()
    assert (axis[0], axis[-1]) == bounds
    if high - low >= 2 * STEP:
        assert axis[1:-1] == [x for x in range(low + 1, high) if x % STEP == 0]
    else:  # too narrow for them
        assert axis == list(range(low, high + 1))


@given(WIDE_BOUNDS, st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_the_nearest_place_and_the_higher_one_in_a_tie(bounds: tuple[int, int], shares: list[float]) -> None:
    values = bounds[0] + np.array(shares) * (bounds[1] - bounds[0])
    axis = EVEN.between(0, *bounds).tolist()
    found = EVEN.nearest(0, *bounds, values).tolist()
    for value, place in zip(values.tolist(), found, strict=True):
        assert place == min(axis, key=lambda x: (abs(x - value), -x))


def test_a_lattice_that_was_given() -> None:
    thin = Lattice((np.array([1, 64, 100, 512]), np.array([4])))
    assert thin.between(0, 8, 400).tolist() == [64, 100]
    assert thin.between(1, 1, 16).tolist() == [4]
    assert thin.nearest(0, 8, 400, np.array([30.0, 81.0, 82.0, 399.0])).tolist() == [64, 64, 100, 100]


def test_the_points_of_a_lattice() -> None:
    random = np.random.default_rng(0)
    domain = Domain((8, 8), (32, 16))
    everything = {(m, n) for m in (8, 16, 24, 32) for n in range(8, 17)}
    assert set(map(tuple, EVEN.points(domain, domain, 36, random).tolist())) == everything
    few = EVEN.points(domain, domain, 10, random)
    assert len(few) == 10
    assert set(map(tuple, few.tolist())) <= everything
    thin = Lattice((np.array([24]), np.array([9])))
    assert thin.points(domain, domain, 100, random).tolist() == [[24, 9]]


def test_a_narrow_part_has_the_lattice_of_the_whole() -> None:
    random = np.random.default_rng(0)
    whole = Domain((1,), (400,))
    assert EVEN.points(Domain((96,), (104,)), whole, 100, random).ravel().tolist() == [96, 104]
    assert EVEN.points(Domain((1,), (8,)), whole, 100, random).ravel().tolist() == [1, 8]


# --- grids


def along(domain: tuple[int, int], count: int, grid: str, lattice: Lattice = EVEN) -> list[int]:
    return [point for (point,) in grid_points(Domain((domain[0],), (domain[1],)), [count], grid, lattice)]


def test_grids_by_hand() -> None:
    # 24 + 512 (1 - cos(i pi / 4)) / 2 = 24, 98.98, 280, 461.02, 536
    assert along((24, 536), 5, "chebyshev") == [24, 96, 280, 464, 536]
    # 8 * 4^i
    assert along((8, 2048), 5, "geometric") == [8, 32, 128, 512, 2048]
    # 24 + 128 i
    assert along((24, 536), 5, "cartesian") == [24, 152, 280, 408, 536]


@pytest.mark.parametrize("grid", GRIDS)
@given(bounds=WIDE_BOUNDS, count=st.integers(2, 12))
def test_grids_hold_the_boundary_and_lattice_points(grid: str, bounds: tuple[int, int], count: int) -> None:
    points = along(bounds, count, grid)
    assert all(one < other for one, other in pairwise(points))
    assert (points[0], points[-1]) == bounds
    assert len(points) <= count
    if grid == "cartesian" and bounds[1] - bounds[0] >= 2 * STEP * count:  # else neighbours may be rounded to one
        assert len(points) == count
    if bounds[1] - bounds[0] >= 2 * STEP:
        assert all(p % STEP == 0 for p in points[1:-1])


@pytest.mark.parametrize("grid", GRIDS)
def test_grids_are_products_over_the_sizes(grid: str) -> None:
    points = grid_points(Domain((8, 24), (800, 24)), [4, 3], grid)
    assert points == [(m, 24) for m in along((8, 800), 4, grid)]
    points = grid_points(Domain((8, 8), (800, 400)), [4, 3], grid)
    assert points == [(m, n) for m in along((8, 800), 4, grid) for n in along((8, 400), 3, grid)]


@pytest.mark.parametrize("grid", GRIDS)
def test_grids_are_thinned_where_the_lattice_is(grid: str) -> None:
    thin = Lattice((np.array([8, 512, 520]),))
    assert set(along((8, 1000), 9, grid, thin)) <= {8, 512, 520}
    assert along((8, 1000), 9, grid, Lattice((np.array([64]),))) == [64]
