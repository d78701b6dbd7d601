"""What a cache holds that replaces what was used least recently."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blascast.sampler.call import View
from blascast.sampler.recency import Recency


def view(buffer: str, row: int, column: int, rows: int, columns: int) -> View:
    return View(buffer, row, column, rows, columns, 100)


def test_what_is_new_misses_and_what_was_used_is_there() -> None:
    cache = Recency(1000.0)
    assert cache.access(view("A", 0, 0, 10, 10), 100.0) == 100
    assert cache.access(view("A", 0, 0, 10, 10), 100.0) == 0
    assert cache.access(view("A", 5, 5, 5, 10), 50.0) == 25


def test_the_least_recently_used_makes_room() -> None:
    cache = Recency(100.0)
    cache.access(view("A", 0, 0, 10, 6), 60.0)
    cache.access(view("B", 0, 0, 10, 6), 60.0)
    assert cache.access(view("A", 0, 0, 10, 6), 60.0) == pytest.approx(20)
    assert cache.access(view("B", 0, 0, 10, 6), 60.0) == pytest.approx(20)
    cache.access(view("C", 0, 0, 10, 20), 200.0)
    assert cache.access(view("A", 0, 0, 10, 6), 60.0) == pytest.approx(60)
    assert cache.access(view("C", 0, 0, 10, 20), 200.0) == pytest.approx(160)  # but for what of it fits


def test_flushed_parts_miss_until_they_are_used() -> None:
    cache = Recency(1000.0)
    cache.access(view("A", 0, 0, 10, 10), 100.0)
    cache.flush(view("A", 0, 0, 10, 4))
    cache.access(view("A", 0, 0, 10, 1), 10.0)
    assert cache.access(view("A", 0, 0, 10, 10), 100.0) == pytest.approx(30)
    assert cache.access(view("A", 0, 0, 10, 10), 100.0) == 0


def test_other_buffers_are_forgotten() -> None:
    cache = Recency(1000.0)
    for name in "AB":
        cache.access(view(name, 0, 0, 10, 10), 100.0)
    cache.keep({"B"})
    assert cache.access(view("A", 0, 0, 10, 10), 100.0) == 100
    assert cache.access(view("B", 0, 0, 10, 10), 100.0) == 0


regions = st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(0, 5), st.integers(0, 5))


@given(st.lists(st.tuples(st.sampled_from("AB"), regions, st.booleans()), max_size=25))
def test_entry_by_entry(uses: list[tuple[str, tuple[int, int, int, int], bool]]) -> None:
    """Where all fits, what was used and not flushed since is there."""
    cache = Recency(1e9)
    there = {name: np.zeros((12, 12), dtype=np.bool_) for name in "AB"}
    for name, (row, column, rows, columns), flushes in uses:
        part = there[name][row : row + rows, column : column + columns]
        own = view(name, row, column, rows, columns)
        if flushes:
            cache.flush(own)
        else:
            assert cache.access(own, float(rows * columns)) == pytest.approx(np.sum(~part), abs=1e-9)
        part[:] = not flushes


def test_what_is_used_again_makes_no_room_again() -> None:
    cache = Recency(1000.0)
    cache.access(view("A", 0, 0, 20, 20), 400.0)
    for _ in range(3):
        cache.access(view("B", 0, 0, 20, 20), 400.0)
    assert cache.access(view("A", 0, 0, 20, 20), 400.0) == 0
    for row in range(20):
        cache.access(view("B", row, 0, 1, 20), 20.0)
    assert cache.access(view("A", 0, 0, 20, 20), 400.0) == 0


def test_rows_that_much_lies_between_are_apart() -> None:
    cache = Recency(100.0)
    cache.access(view("A", 0, 0, 1, 10), 10.0)
    cache.access(view("B", 0, 0, 10, 50), 500.0)
    cache.access(view("A", 1, 0, 1, 10), 10.0)
    assert cache.access(view("A", 0, 0, 1, 10), 10.0) == 10
    assert cache.access(view("A", 1, 0, 1, 10), 10.0) == 0


@given(st.lists(st.integers(0, 5), max_size=40))
def test_whole_operands_by_what_others_were_used_since(order: list[int]) -> None:
    """Against a stack: what others of them were used since, each once."""
    sizes = [10.0, 20.0, 30.0, 40.0, 50.0, 150.0]
    cache, stack = Recency(100.0), []
    for number in order:
        room = 100.0
        if number in stack:
            room -= sum(sizes[other] for other in stack[stack.index(number) + 1 :])
            stack.remove(number)
        else:
            room = 0.0
        expected = sizes[number] - min(max(room, 0.0), sizes[number])
        assert cache.access(view(str(number), 0, 0, 10, 10), sizes[number]) == pytest.approx(expected, abs=1e-9)
        stack.append(number)
