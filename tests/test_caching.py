"""The cache model: access distances, associations, and shares that are missed."""

import numpy as np
import pytest

from blascast.algorithms import find_operation, find_variant, scalar_calls, trace
from blascast.predictors.caching.accesses import grid_of_calls, grid_of_sequence
from blascast.predictors.caching.association import Sharp, Smooth
from blascast.predictors.caching.mixing import Level, missed
from blascast.predictors.caching.reuse import scan
from blascast.sampler.call import Call, View, bind
from blascast.sampler.kernels import find_kernel

KIB = 1024


def gemm(A: View, B: View, C: View) -> Call:
    return bind(find_kernel("gemm"), "N", "N", 1, A, B, 1, C)


def matrix(name: str, rows: int, columns: int) -> View:
    return View(name, 0, 0, rows, columns, rows)


def parts_of(calls: list[Call], operand: str, splits: bool = False) -> list[tuple[float, float]]:
    """Bytes and distances of the last call's operand, those parts that are not empty."""
    grid = grid_of_calls(calls, 8)
    place = list(calls[-1].views).index(operand)
    found = [(float(own[-1]), float(distance[-1])) for own, distance in scan(grid, 0, place, splits)]
    return [part for part in found if part[0]]


# 64 x 64 doubles are 32 KiB
SMALL, OTHER, THIRD = matrix("A", 64, 64), matrix("B", 64, 64), matrix("C", 64, 64)


def test_a_distance_is_what_was_accessed_since_the_last_use_that_included() -> None:
    first = gemm(SMALL, OTHER, THIRD)
    unrelated = gemm(matrix("X", 64, 128), matrix("Y", 128, 64), matrix("Z", 64, 64))
    assert parts_of([first, first], "A") == [(32 * KIB, 96 * KIB)]
    assert parts_of([first, unrelated, first], "A") == [(32 * KIB, (160 + 96) * KIB)]


def test_what_was_never_used_was_used_by_a_run_before() -> None:
    """All operands are accessed between two runs."""
    other = gemm(matrix("X", 64, 64), matrix("Y", 64, 64), matrix("Z", 64, 64))
    assert parts_of([other, gemm(SMALL, OTHER, THIRD)], "B") == [(32 * KIB, 6 * 32 * KIB)]


def test_a_part_that_was_used_later_is_nearer() -> None:
    whole = matrix("A", 64, 64)
    upper = gemm(whole.part(0, 0, 32, 64), OTHER, matrix("X", 32, 64))
    # rows 0 to 31 of each column are 4 of 8 lines
    calls = [gemm(whole, OTHER, THIRD), upper, gemm(whole, OTHER, THIRD)]
    near, far = parts_of(calls, "A")
    assert near == (16 * KIB, (16 + 32 + 16) * KIB)
    assert far == (16 * KIB, (64 + 96) * KIB)


def test_a_small_result_of_large_inputs_stays_in_the_cache() -> None:
    narrow = gemm(matrix("A", 512, 512), matrix("B", 512, 8), matrix("C", 512, 8))
    after = gemm(matrix("C", 512, 8), matrix("D", 8, 8), matrix("E", 512, 8))
    total = (2048 + 32 + 32) * KIB
    assert parts_of([narrow, after], "A") == [(32 * KIB, total)]
    assert parts_of([narrow, after], "A", splits=True) == [(32 * KIB, 32 * KIB)]


def test_a_result_that_is_not_small_counts_with_all_else() -> None:
    first = gemm(SMALL, OTHER, THIRD)
    assert parts_of([first, first], "C", splits=True) == [(32 * KIB, 96 * KIB)]


def test_regions_of_several_columns_and_lines() -> None:
    """One row of a matrix takes a whole cache line in each column; a triangle half of its square."""
    row = View("A", 3, 0, 1, 100, 1000)
    call = bind(find_kernel("copy"), row, View("x", 0, 0, 100, 1, 100))
    assert parts_of([call, call], "x")[0][0] == 100 * 64
    solve = bind(find_kernel("trsm"), "L", "L", "N", "N", 1, SMALL, OTHER)
    assert parts_of([solve, solve], "A")[0][0] == 16 * KIB


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        *(("cholesky", 1), ("cholesky", 2), ("cholesky", 3), ("trinv", 1), ("trinv", 3), ("trinv", 5)),
        *(("lauum", 1), ("lu-nopiv", 1), ("lu-nopiv", 5), ("lu", 5)),
    ],
)
@pytest.mark.parametrize("splits", [False, True])
def test_arrays_say_what_single_calls_say(operation: str, name: int, splits: bool) -> None:
    variant, many = find_variant(operation, name), 1000
    cases = [(200, 32), (96, 32), (130, 64), (40, 64)]
    sizes = {size: [n for n, _ in cases] for size in find_operation(operation).sizes}
    sequence = trace(variant, sizes, [b for _, b in cases])
    grid = grid_of_sequence(sequence, 8, history=many)
    assert grid is not None
    levels, smooth = [Level(64 * KIB, 0.3), Level(256 * KIB, 0.7)], Smooth(0.8, 3.0)
    shares = [missed(grid, statement, levels, smooth, splits) for statement in range(len(grid.statements))]
    for owner, (n, b) in enumerate(cases):
        calls = scalar_calls(variant, dict.fromkeys(sizes, n), b)
        alone = missed(grid_of_calls(calls, 8, many), 0, levels, smooth, splits)
        found = [
            (*place, one)
            for array, share in zip(sequence.calls, shares, strict=True)
            for place, one, whose in zip(array.sizes.tolist(), share[array.entries], array.owner, strict=True)
            if whose == owner
        ]
        expected = [(*call.sizes.values(), one) for call, one in zip(calls, alone, strict=True)]
        for one, other in zip(sorted(found), sorted(expected), strict=True):
            assert one == pytest.approx(other)


def test_nested_loops_have_no_grid() -> None:
    variant = next(iter(find_operation("sylvester").variants.values()))
    sizes = {name: [100] for name in find_operation("sylvester").sizes}
    assert grid_of_sequence(trace(variant, sizes, 32), 8) is None


# --- associations


def test_associations() -> None:
    distances = np.array([0.0, 0.5, 1.0, 1.5, 100.0])
    assert Sharp().share(distances).tolist() == [1, 1, 1, 0, 0]
    smooth = Smooth(1.0, 4.0).share(distances)
    assert smooth[0] == 1.0
    assert smooth[2] == 0.5
    assert (np.diff(smooth) < 0).all()
    assert smooth[-1] == pytest.approx(0.0, abs=1e-6)
    near = np.array([0.9, 1.1])
    np.testing.assert_allclose(Smooth(1.0, 1000.0).share(near), Sharp().share(near), atol=1e-6)


def test_a_call_whose_operands_are_near_misses_nothing_and_one_whose_are_far_everything() -> None:
    first = gemm(SMALL, OTHER, THIRD)
    grid = grid_of_calls([first, first], 8)
    assert missed(grid, 0, [Level(256 * KIB)], Sharp())[-1] == 0.0
    assert missed(grid, 0, [Level(64 * KIB)], Sharp())[-1] == 1.0
    assert missed(grid, 0, [Level(64 * KIB, 0.25), Level(256 * KIB, 0.75)], Sharp())[-1] == 0.25
