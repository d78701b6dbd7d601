"""Partitions: cut where the samples say so, and nowhere else."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modelling import LINE, PARABOLA, POTF2, TRSM, assert_covered, bases_of, observed, polynomial, rough

from blascast.models.fitting.basis import Exponents
from blascast.models.fitting.part import FARTHEST_REACH, Observed, Part, fitted_part
from blascast.models.fitting.partition import Cut, partition
from blascast.models.sizes.domain import STEP, Domain
from blascast.models.sizes.grid import grid_points
from blascast.models.sizes.lattice import Lattice

CUBIC: Exponents = ((0,), (1,), (2,), (3,))
FLAT: list[Exponents] = [((0, 0), (0, 1), (1, 0), (1, 1))]
WIDTH = 16
DOMAIN = Domain((8,), (1000,))


def kink(at: int) -> Callable[[int], float]:
    """The slope falls to a third there."""
    return lambda m: 1e-6 * (min(m, at) + max(0, m - at) / 3)


def jump(at: int) -> Callable[[int], float]:
    """A tenth more from there on."""
    return lambda m: 1e-6 * m * (1.1 if m >= at else 1.0)


def every(step: int, domain: Domain = DOMAIN) -> list[tuple[int, ...]]:
    return [(m,) for m in range(domain.lower[0], domain.upper[0] + 1, step)]


# --- where it cuts


def test_a_polynomial_is_not_cut() -> None:
    parts, cuts = partition(DOMAIN, observed(every(40), polynomial(PARABOLA)), [PARABOLA], WIDTH)
    assert ([part.domain for part in parts], cuts) == ([DOMAIN], [])
    assert parts[0].held_out < 1e-9
    assert parts[0].scattered


@pytest.mark.parametrize("at", [104, 312, 600, 904])
@pytest.mark.parametrize("shape", [kink, jump])
def test_it_cuts_where_a_kink_or_jump_is(shape: Callable[[int], Callable[[int], float]], at: int) -> None:
    """Between the samples on either side of it."""
    parts, (cut,) = partition(DOMAIN, observed(every(16), shape(at)), [LINE], WIDTH)
    assert cut.below <= at <= cut.above
    assert cut.above - cut.below == 16
    assert cut.below <= cut.at <= cut.above
    assert [part.domain for part in parts] == list(DOMAIN.cut(0, cut.at))


def test_a_kink_is_where_the_polynomials_meet() -> None:
    """Samples are far apart, what is between them follows from both sides."""
    points = [(m,) for m in (8, 16, 32, 64, 128, 192, 304, 400, 496, 712, 800, 904, 1000)]
    _, (cut,) = partition(DOMAIN, observed(points, kink(600)), [LINE], WIDTH)
    assert (cut.below, cut.at, cut.above) == (496, 600, 712)


def test_a_jump_is_told_from_a_kink() -> None:
    """By how far the polynomials of both sides are from each other."""
    _, (jumped,) = partition(DOMAIN, observed(every(16), jump(600)), [LINE], WIDTH)
    _, (bent,) = partition(DOMAIN, observed(every(16), kink(600)), [LINE], WIDTH)
    assert jumped.jump == pytest.approx(0.1, abs=0.02)
    assert bent.jump < 0.05


@pytest.mark.parametrize("size", [0, 1])
def test_it_cuts_along_whichever_size(size: int) -> None:
    """A library switches its code at 96 in one of two sizes."""
    domain, exponents = Domain((8, 8), (400, 400)), bases_of(TRSM, 0)
    smooth = polynomial(exponents[0])

    def switched(*sizes: int) -> float:
        return smooth(*sizes) * (1.3 if sizes[size] > 96 else 1.0)

    points = grid_points(domain, [16, 16], "geometric")
    parts, (cut,) = partition(domain, observed(points, switched), exponents, WIDTH)
    assert (cut.size, len(parts)) == (size, 2)
    assert cut.below <= 96 <= cut.above
    assert all(np.array(cut.points(cut.at))[:, size] == cut.at)
    assert domain.contains(np.array(cut.points(cut.at))).all()


def test_several_cuts() -> None:
    def stairs(m: int) -> float:
        return 1e-6 * m * (1 + 0.2 * (m > 300) + 0.3 * (m > 700))

    parts, cuts = partition(DOMAIN, observed(every(16), stairs), [LINE], WIDTH)
    assert {(296, 312), (696, 712)} <= {(cut.below, cut.above) for cut in cuts}
    assert_covered(DOMAIN, [part.domain for part in parts])


def test_a_point_that_carries_the_constant_alone_does_not_bar_the_right_polynomial() -> None:
    """Nothing is trusted there, neither few monomials nor more."""
    sizes = np.array([*range(8, 97, 8), 112, 128, 144, 160, 184, 208, 240, 304, 392, 496, 632, 808, 1024])
    seconds = sizes / 400 * (4e-7 + sizes**3.0 / 7.5e9)
    seen = Observed.alike(sizes[:, None], seconds, np.full(len(sizes), 1e-3))
    bases = [tuple((power,) for power in range(degree + 1)) for degree in (3, 4)]
    assert not fitted_part(Domain((8,), (1024,)), seen, bases[1]).trusted
    parts, _ = partition(Domain((8,), (1024,)), seen, bases, 8)
    assert [part.exponents for part in parts] == [bases[1]]


@pytest.mark.parametrize("width", [64, 120, 248])
def test_parts_are_not_narrower_where_polynomials_would_meet(width: int) -> None:
    domain, kink = Domain((200,), (1000,)), 256
    points = grid_points(domain, [60], "geometric")
    seen = observed(points, lambda n: 1e-6 * (n if n < kink else 2 * n - kink))
    parts, _ = partition(domain, seen, [LINE], width)
    assert len(parts) > 1
    assert min(part.domain.upper[0] - part.domain.lower[0] for part in parts) >= width


@pytest.mark.parametrize("noise", [0.002, 0.02, 0.1])
def test_what_scatter_explains_is_not_cut(noise: float) -> None:
    """But by rare chance: one in twenty, about."""
    points, seeds = grid_points(DOMAIN, [40], "geometric"), range(200)
    found = [partition(DOMAIN, observed(points, polynomial(LINE), noise, seed), [LINE], WIDTH) for seed in seeds]
    assert sum(len(parts) > 1 for parts, _ in found) <= 0.1 * len(seeds)


def test_what_scatter_does_not_explain_is_cut() -> None:
    for seed in range(10):
        _, cuts = partition(DOMAIN, observed(every(24), jump(600), 0.01, seed), [LINE], WIDTH)
        assert any(cut.below <= 600 <= cut.above for cut in cuts)
        assert len(cuts) <= 2


def test_parts_are_not_narrower_than_they_may_be() -> None:
    narrow, _ = partition(DOMAIN, observed(every(8), jump(48)), [LINE], 16)
    assert [part.domain.upper[0] - part.domain.lower[0] for part in narrow] == [32, 960]
    for width in (48, 200):
        wide, _ = partition(DOMAIN, observed(every(8), jump(48)), [LINE], width)
        assert min(part.domain.upper[0] - part.domain.lower[0] for part in wide) >= width


def test_cuts_are_on_the_lattice() -> None:
    """Sizes in between may take longer; where samples are neighbours on it, there is no place between them."""
    for at in range(100, 132, 4):
        _, (cut,) = partition(DOMAIN, observed(every(8), jump(at)), [LINE], WIDTH)
        assert cut.at % STEP == 0
    thin = Lattice((np.array([8, 100, 310, 1000]),))
    points = [(m,) for m in (8, 16, 32, 64, 128, 192, 264, 360, 400, 496, 600, 800, 1000)]
    _, (cut,) = partition(DOMAIN, observed(points, jump(300)), [LINE], WIDTH, thin)
    assert (cut.below, cut.at, cut.above) == (264, 310, 360)


# --- with which monomials


@pytest.mark.parametrize("noise", [1e-4, 0.01])
@pytest.mark.parametrize("needed", [LINE, PARABOLA, CUBIC], ids=len)
def test_no_more_monomials_than_are_needed(needed: Exponents, noise: float) -> None:
    def cost(m: int) -> float:
        return 1.0 + sum((m / 300.0) ** power for (power,) in needed)

    (part,), _ = partition(DOMAIN, observed(every(40), cost, noise), [LINE, PARABOLA, CUBIC], 1000)
    assert set(needed) <= set(part.exponents)
    assert len(part.exponents) <= len(needed) + 1


def test_no_more_monomials_than_the_samples_support() -> None:
    """Four points are on a cubic, whatever they are."""
    points = [(8,), (300,), (700,), (1000,)]
    (part,), _ = partition(DOMAIN, observed(points, rough(0.5)), [LINE, PARABOLA, CUBIC], 1000)
    assert len(part.exponents) < len(CUBIC)


def test_no_part_whose_errors_cannot_be_seen() -> None:
    """Beyond a jump are columns of samples at two places, and single ones at two others: a parabola takes them all."""
    domain, bases = Domain((8, 8), (1000, 256)), bases_of(TRSM, 0)
    smooth = polynomial(bases[0])

    def kinked(m: int, n: int) -> float:
        return smooth(m, n) if m < 400 else smooth(m, n) * (400 / m) ** 2

    below = [(m, n) for m in range(8, 200, 24) for n in (8, 64, 256)]
    above = [(m, n) for m in (304, 1000) for n in (8, 64, 256)] + [(500, 16), (700, 128)]
    assert not fitted_part(domain, observed(above, kinked), bases[0]).trusted
    parts, _ = partition(domain, observed([*below, *above], kinked), bases, WIDTH)
    assert all(part.trusted for part in parts) or len(parts) == 1
    worst = max(part.held_out for part in parts)
    assert worst > 0.01


def test_monomials_that_are_lost_between_samples_are_not_taken() -> None:
    """Three columns of samples: more monomials are no worse at these, and may be anything in between."""
    domain, bases = Domain((248, 8), (768, 256)), bases_of(TRSM, 1)
    columns = [(248, n) for n in (8, 24, 80, 256)] + [(768, n) for n in (8, 24, 80, 256)]
    points = [*columns, (320, 40), (344, 8), (432, 16), (432, 40), (432, 144), (552, 8), (568, 24)]
    assert fitted_part(domain, observed(points, polynomial(bases[0])), bases[1]).reach > FARTHEST_REACH
    for seed in range(20):
        (part,), _ = partition(domain, observed(points, polynomial(bases[0]), 0.005, seed), bases, 1000)
        assert part.reach < FARTHEST_REACH


# --- what a part says of itself


def test_reach_is_the_uncertainty_where_samples_are_lacking() -> None:
    cost = polynomial(LINE)
    near = fitted_part(DOMAIN, observed(every(40), cost), LINE)
    far = fitted_part(DOMAIN, observed([(m,) for m in range(8, 104, 8)], cost), LINE)
    assert near.reach < 1 < far.reach


def test_errors_are_those_that_estimates_have() -> None:
    """Fits to noisy samples of a parabola, by a parabola and (too few monomials) a line: errors against the truth."""
    cost, noise, points = polynomial(PARABOLA), 0.01, grid_points(DOMAIN, [20], "geometric")
    places = DOMAIN.spread(40)
    true = np.array([cost(*place) for place in places.tolist()])
    for exponents in (LINE, PARABOLA):
        said, made = [], []
        for seed in range(100):
            part = fitted_part(DOMAIN, observed(points, cost, noise, seed), exponents)
            said.append(part.error**2)
            made.append(np.mean((part.seconds(places) / true - 1) ** 2))
        assert np.sqrt(np.mean(said)) == pytest.approx(np.sqrt(np.mean(made)), rel=0.35)


def test_samples_without_scatter_are_still_no_more_exact_than_a_clock() -> None:
    part = fitted_part(DOMAIN, observed(every(40), polynomial(PARABOLA)), PARABOLA)
    assert 0 < part.error < part.noise < 0.001


def test_one_point_is_a_part() -> None:
    single = Domain((64, 64), (64, 64))
    (part,), _ = partition(single, observed([(64, 64)], lambda m, n: 2.5), FLAT, WIDTH)
    assert part.seconds(np.array([[64, 64]]))[0] == pytest.approx(2.5)


def test_observations_by_place() -> None:
    all_of_them = Observed.alike(np.array([[8], [16], [24]]), np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3]))
    some = all_of_them.inside(Domain((16,), (24,)))
    assert some.sizes.ravel().tolist() == [16, 24]
    assert some.seconds.tolist() == [2.0, 3.0]
    assert some.noise.tolist() == [0.2, 0.3]


def test_points_at_a_cut() -> None:
    others = np.array([[8], [64], [512], [100], [16]])
    cut = Cut(Domain((8, 8), (512, 512)), 0, 200, 300, 256, 0.1, others)
    assert cut.points(cut.at) == [(256, 8), (256, 64), (256, 512)]
    assert set(Cut(Domain((8,), (512,)), 0, 200, 300, 256, 0.1, np.empty((1, 0), dtype=int)).points(256)) == {(256,)}


# --- whatever the domain and the costs


@st.composite
def boxes(draw: st.DrawFn) -> Domain:
    bounds = [(low := draw(st.integers(1, 300)), low + draw(st.integers(STEP, 700))) for _ in range(draw(SIZES))]
    return Domain(tuple(low for low, _ in bounds), tuple(high for _, high in bounds))


SIZES = st.integers(1, 2)


def costs(seed: int, roughness: float, size: int) -> Callable[..., float]:
    """A polynomial with a switch at some place and some roughness."""
    random = np.random.default_rng(seed)
    at, height, uneven = random.integers(8, 600), random.uniform(0.5, 2.0), rough(roughness, seed)
    return lambda *sizes: uneven(*sizes) * (height if sizes[size] > at else 1.0)


@settings(max_examples=60)
@given(
    boxes(), st.integers(0, 1000), st.sampled_from([0.0, 0.01, 0.5]), st.integers(3, 9), st.sampled_from([8, 16, 64])
)
def test_parts_are_sound(domain: Domain, seed: int, roughness: float, count: int, width: int) -> None:
    d = len(domain.lower)
    bases = bases_of(POTF2 if d == 1 else TRSM, 1)
    points = grid_points(domain, [max(count, 5)] * d, "geometric")
    found = observed(points, costs(seed, roughness, seed % d))
    parts, cuts = partition(domain, found, bases, width)
    assert_covered(domain, [part.domain for part in parts])
    assert len(parts) == len(cuts) + 1
    assert sum(len(part.observed.seconds) for part in parts) == len(points)
    for part in parts:
        check_part(part, width, cut=len(parts) > 1)
    for cut in cuts:
        assert cut.domain.lower[cut.size] < cut.below <= cut.at <= cut.above < cut.domain.upper[cut.size]
        assert np.isfinite(cut.jump)


def check_part(part: Part, width: int, cut: bool) -> None:
    """It has points, all of them inside; if it was cut out, it is wide enough and no corner is out of reach."""
    assert len(part.observed.seconds) > 0
    assert part.domain.contains(part.observed.sizes).all()
    assert np.isfinite(part.error)
    assert part.error >= 0
    if cut:
        assert part.trusted
        assert part.reach < FARTHEST_REACH
        widths = np.array(part.domain.upper) - np.array(part.domain.lower)
        assert widths.max() >= width


def test_every_lattice_point_is_in_a_part() -> None:
    """By enumeration, where the domain is small."""
    domain = Domain((8, 8), (264, 136))
    smooth = polynomial(bases_of(TRSM, 0)[0])

    def switched(m: int, n: int) -> float:
        return smooth(m, n) * (1.5 if m > 96 else 1.0) * (1.3 if n > 64 else 1.0)

    points = grid_points(domain, [12, 12], "cartesian")
    parts, _ = partition(domain, observed(points, switched), bases_of(TRSM, 0), 8)
    assert len(parts) > 2
    everywhere = np.array(list(product(range(8, 265), range(8, 137))))
    assert np.any([part.domain.contains(everywhere) for part in parts], axis=0).all()
