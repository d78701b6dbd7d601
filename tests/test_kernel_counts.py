"""Flop formulas against textbook algorithms that count their own operations."""

from itertools import product
from typing import Any

import pytest
from kernels.cases import LARGE, calls_of
from kernels.counting import ALGORITHMS, count

from blascast.sampler.kernel import Flag, Kernel, Option
from blascast.sampler.kernels import KERNELS

# LAWN 41 counts, or those of panels: what a reflector costs beside its application is a convention
HIGHEST_TERMS = "geqr2 geqrf geqrt2 geqrt orgqr ormqr sytd2 sytrd latrd gebd2 gebrd labrd gehd2 gehrd"
NOTHING_COMPUTED = "swap copy iamax laswp lacpy laset lacgv shift zero transpose"
NOT_COUNTED = {
    NOTHING_COMPUTED: "they compute nothing",
    "rscal cabs1": "they exist for complex types only, where one of their operations counts as a quarter",
    "trcon": "its iterations depend on the matrix",
}
UNCOUNTED = {name for names in NOT_COUNTED for name in names.split()}
SIZES = [
    {"m": 5, "n": 4, "k": 3, "nrhs": 2, "kl": 1, "ku": 2},
    {"m": 4, "n": 6, "k": 2, "nrhs": 3, "kl": 2, "ku": 0},
    {"m": 7, "n": 3, "k": 1, "nrhs": 1, "kl": 0, "ku": 1},
]
TALL = {"m": 4, "n": 3, "k": 2, "nb": 1}
WIDE = {"m": 3, "n": 4, "k": 2, "nb": 1}


def choices(kernel: Kernel) -> list[dict[str, Any]]:
    """All combinations of those flags and options that the count depends on."""
    known = {
        a.name: a.letters if isinstance(a, Flag) else a.values for a in kernel.bound if isinstance(a, Flag | Option)
    }
    relevant = [name for name in ("side", "norm", "itype") if name in known]
    return [dict(zip(relevant, values, strict=True)) for values in product(*(known[name] for name in relevant))]


@pytest.mark.parametrize("name", sorted(ALGORITHMS.keys() - set(HIGHEST_TERMS.split())))
def test_the_count_is_exact(name: str) -> None:
    kernel = KERNELS[name]
    for flags, given in product(choices(kernel), SIZES):
        sizes = {size: given[size] for size in kernel.sizes}
        assert kernel.flop_count({**flags, **sizes}) == pytest.approx(count(name, {**sizes, **flags}), abs=1e-9)


@pytest.mark.parametrize("name", HIGHEST_TERMS.split())
def test_the_count_has_the_right_highest_terms(name: str) -> None:
    """Along a ray of sizes a count is a cubic: its third difference is its highest term alone."""
    kernel = KERNELS[name]
    rays = [TALL] if name in ("geqrt2", "orgqr") else [TALL, WIDE]  # those need m >= n
    for flags, ray in product(choices(kernel), rays):
        formula, counted = [], []
        for scale in range(2, 6):
            sizes = {size: scale * ray[size] for size in kernel.sizes}
            formula.append(kernel.flop_count({**flags, **sizes}))
            counted.append(count(name, {**sizes, **flags}))
        assert third_difference(formula) == pytest.approx(third_difference(counted), rel=1e-12)
        assert abs(formula[-1] - counted[-1]) <= 6 * (5 * max(ray.values())) ** 2  # lower terms are small


def third_difference(values: list[float]) -> float:
    return values[3] - 3 * values[2] + 3 * values[1] - values[0]


def test_every_kernel_is_counted_or_there_is_a_reason() -> None:
    assert ALGORITHMS.keys() | UNCOUNTED == KERNELS.keys()
    assert not ALGORITHMS.keys() & UNCOUNTED


@pytest.mark.parametrize("name", NOTHING_COMPUTED.split())
def test_what_computes_nothing_counts_nothing(name: str) -> None:
    assert KERNELS[name].flops == "0"


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_words_are_those_of_the_operands(name: str) -> None:
    """Once what is read or written, twice what is both; a quarter of it at least: a triangle, a panel written."""
    kernel = KERNELS[name]
    for call in calls_of(kernel, kernel.types[0], LARGE):
        whole = integers = 0
        for data in kernel.data:
            view = call.views[data.name]
            is_number = data.rows == data.columns == "1" and kernel.sizes
            if data.kind == "integer":
                integers += view.rows * view.columns
            elif not is_number:
                whole += view.rows * view.columns * (2 if data.access == "inout" else 1)
        words = call.byte_count("d") / 8
        assert 0.25 * whole <= words <= whole + integers + 1
