"""Halving, as the dissertation has it: exact on polynomials, until the bound or the minimum width."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from modelling import (
    GEMM,
    PARABOLA,
    POTF2,
    TRSM,
    assert_covered,
    bases_of,
    drive,
    medians,
    polynomial,
    rough,
    trsm_seconds,
)

from blascast.models.fitting.basis import degrees
from blascast.models.generation.generator import pieces_of
from blascast.models.generation.halving import Halving, halves
from blascast.models.parameters import PEISE2017
from blascast.models.sampling import Case
from blascast.models.sizes.domain import STEP, Domain
from blascast.models.sizes.grid import GRIDS, grid_points
from blascast.models.sizes.lattice import Lattice
from blascast.sampler.simulated import KINK

BOUNDS = st.tuples(st.integers(1, 500), st.integers(0, 500)).map(lambda t: (t[0], t[0] + t[1]))
BOXES = st.lists(BOUNDS, min_size=1, max_size=3).map(
    lambda bounds: Domain(tuple(b[0] for b in bounds), tuple(b[1] for b in bounds))
)
DOMAIN = Domain((8, 8), (1032, 264))


# --- where


def test_the_dissertations_point_of_division() -> None:
    middle = 8 * ((24 + 4152 + 8) // 16)
    assert halves(Domain((24, 24), (536, 4152)), 32) == (
        Domain((24, 24), (536, middle)),
        Domain((24, middle), (536, 4152)),
    )


def test_the_size_with_the_largest_ratio_is_halved() -> None:
    first, _ = halves(Domain((8, 100), (64, 500)), 8) or (None, None)  # 8 against 5
    assert first == Domain((8, 100), (40, 500))
    first, _ = halves(Domain((8, 100), (64, 500)), 32) or (None, None)  # but its halves would be too narrow
    assert first == Domain((8, 100), (64, 304))


def test_halving_ends_at_the_minimum_width() -> None:
    assert halves(Domain((24, 24), (87, 80)), 32) is None
    assert halves(Domain((24, 24), (88, 80)), 32) is not None


@given(BOXES, st.integers(STEP, 100))
def test_halves_meet_in_the_middle_and_make_the_whole(domain: Domain, width: int) -> None:
    found = halves(domain, width)
    if found is None:
        assert all(high - low < 2 * width for low, high in zip(domain.lower, domain.upper, strict=True))
        return
    low, high = found
    (size,) = [i for i in range(len(domain.lower)) if low.upper[i] != domain.upper[i]]
    assert low.upper[size] == high.lower[size] == STEP * ((domain.lower[size] + domain.upper[size] + STEP) // 16)
    assert domain.upper[size] - domain.lower[size] >= 2 * width
    assert_covered(domain, [low, high])


def test_halves_meet_on_the_lattice() -> None:
    thin = Lattice((np.array([8, 100, 1000]),))
    assert halves(Domain((8,), (1000,)), 32, thin) == (Domain((8,), (100,)), Domain((100,), (1000,)))
    assert halves(Domain((8,), (1000,)), 32, Lattice((np.array([8, 1000]),))) is None


# --- the generator


def halving(case: Case, domain: Domain, **changes: object) -> Halving:
    parameters = replace(PEISE2017, **changes)
    exponents = bases_of(case, parameters.overfitting_for(case.kernel.sizes))[-1]
    return Halving([domain], exponents, parameters, parameters.minimum_width_for(case.kernel.sizes, 1))


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("case", [TRSM, GEMM, POTF2], ids=lambda case: case.kernel.name)
def test_exact_on_polynomials_of_its_degree(case: Case, grid: str) -> None:
    d = len(case.kernel.sizes)
    exponents = bases_of(case, PEISE2017.overfitting_for(case.kernel.sizes))[-1]
    cost, domain = polynomial(exponents), Domain((24,) * d, (1000,) * d)
    generator = halving(case, domain, grid=grid)
    assert drive(generator, cost) == 1
    assert generator.stopped == "bound"
    (piece,) = pieces_of(generator, exponents)
    assert piece.domain == domain
    sizes = np.random.default_rng(0).integers(24, 1001, (50, d))
    found = medians(piece, sizes, exponents)
    np.testing.assert_allclose(found, [cost(*row) for row in sizes.tolist()], rtol=1e-8)


def test_it_halves_until_the_bound() -> None:
    generator = halving(TRSM, DOMAIN, overfitting=1, bound=0.005)
    drive(generator, trsm_seconds)
    assert generator.stopped == "bound"
    assert len(generator.parts) > 2
    assert_covered(DOMAIN, [part.domain for part in generator.parts])
    for part in generator.parts:
        assert np.abs(part.fit.residuals).max() <= 0.005
    sizes = np.array([[m, n] for m in range(8, 1033, 8) for n in (8, 64, 264)])
    for row in sizes.tolist():
        part = next(part for part in generator.parts if part.domain.contains(np.array([row]))[0])
        assert part.seconds(np.array([row]))[0] == pytest.approx(trsm_seconds(*row), rel=0.015)


def test_pieces_are_narrow_where_the_kink_is() -> None:
    generator = halving(TRSM, DOMAIN, overfitting=1, bound=0.003)
    drive(generator, trsm_seconds)
    widths = {part.domain: part.domain.upper[0] - part.domain.lower[0] for part in generator.parts}
    around = [width for domain, width in widths.items() if domain.lower[0] <= KINK <= domain.upper[0]]
    assert max(around) < max(widths.values())


def test_it_ends_at_the_minimum_width() -> None:
    width = 128
    generator = halving(POTF2, Domain((8,), (1032,)), minimum_width=width)
    drive(generator, rough(0.5))
    assert generator.stopped == "minimum width" == generator.obstacle
    widths = [part.domain.upper[0] - part.domain.lower[0] for part in generator.parts]
    assert min(widths) >= width
    worst = max(generator.parts, key=lambda part: np.abs(part.fit.residuals).max())
    assert np.abs(worst.fit.residuals).max() > PEISE2017.bound
    assert worst.domain.upper[0] - worst.domain.lower[0] < 2 * width


@pytest.mark.parametrize("measure", ["mean", "p90", "max"])
def test_the_error_measure_decides(measure: str) -> None:
    """One point in ten is off by 20 %: its maximum shows it, not what the others agree on."""

    def spiked(m: int) -> float:
        return 1.2 if m == 264 else 1.0

    grid = {"grid": "cartesian", "overfitting": 0, "oversampling": 7}
    generator = Halving([Domain((8,), (520,))], ((0,),), replace(PEISE2017, error_measure=measure, **grid), 512)
    drive(generator, spiked)
    errors = np.abs(generator.parts[0].fit.residuals)
    expected = {"mean": errors.mean(), "p90": np.percentile(errors, 90), "max": errors.max()}[measure]
    assert generator.stopped == ("bound" if expected <= PEISE2017.bound else "minimum width")


def test_every_piece_has_a_grid_of_its_own() -> None:
    """No samples of an enclosing domain serve a part of it, but where its own grid has the same point."""
    generator = halving(TRSM, DOMAIN, overfitting=1, bound=0.005)
    counts = [degree + 1 + PEISE2017.oversampling for degree in degrees(bases_of(TRSM, 1)[-1])]
    drive(generator, trsm_seconds)
    for part in generator.parts:
        grid = grid_points(part.domain, counts, PEISE2017.grid)
        assert list(map(tuple, part.observed.sizes.tolist())) == grid


def test_nothing_is_wanted_twice() -> None:
    generator = halving(POTF2, Domain((8,), (520,)))
    cost = rough(0.5)
    asked: list[tuple[int, ...]] = []
    while generator.stopped is None:
        asked += generator.wanted
        drive(generator, cost, rounds=1)
    assert len(asked) == len(set(asked))


def test_what_matters_to_a_question_does_not_matter() -> None:
    for_all, for_none = (halving(TRSM, DOMAIN, overfitting=1) for _ in range(2))
    drive(for_all, trsm_seconds)
    drive(for_none, trsm_seconds, importance=lambda parts: np.zeros(len(parts)))
    assert [p.domain for p in for_none.parts] == [p.domain for p in for_all.parts]
    assert for_none.can_gain() == [False] * len(for_none.parts)


def test_domains_are_covered_side_by_side() -> None:
    domains = [Domain((8,), (100,)), Domain((100,), (1000,))]
    generator = Halving(domains, PARABOLA, PEISE2017, 32)
    drive(generator, polynomial(PARABOLA))
    assert [part.domain for part in generator.parts] == domains
