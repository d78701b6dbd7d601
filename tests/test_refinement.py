"""Refinement: few samples, further ones where they buy most, and always an end."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modelling import (
    GEMM,
    LINE,
    MOST_ROUNDS,
    PARABOLA,
    POTF2,
    TRSM,
    assert_covered,
    bases_of,
    drive,
    medians,
    noisy,
    observation,
    polynomial,
    rough,
    trsm_seconds,
)

from blascast.models.fitting.part import Part
from blascast.models.generation.generator import Observation, Point, pieces_of
from blascast.models.generation.refinement import Refinement
from blascast.models.parameters import Parameters
from blascast.models.sampling import Case
from blascast.models.sizes.domain import STEP, Domain
from blascast.models.sizes.grid import GRIDS
from blascast.models.sizes.lattice import EVEN, Lattice
from blascast.sampler.simulated import KINK

BOUND = 0.005
DOMAIN = Domain((8, 8), (1032, 264))
LINE_DOMAIN = Domain((8,), (1000,))
ENDS = ("bound", "noise", "no gain", "minimum width")


def refinement(case: Case, *domains: Domain, width: int = 8, **parameters: object) -> Refinement:
    return Refinement(domains, bases_of(case, 1), Parameters(**{"bound": BOUND, **parameters}), width)


def of_lines(*domains: Domain, bound: float = BOUND) -> Refinement:
    """Of one size, with straight lines: whatever is no line must be cut."""
    return Refinement(domains, [LINE], Parameters(bound=bound, oversampling=4), 8)


def jump(m: int) -> float:
    return 1e-6 * m * (1.3 if m > 500 else 1.0)


# --- how exact


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("case", [TRSM, GEMM, POTF2], ids=lambda case: case.kernel.name)
def test_exact_on_polynomials(case: Case, grid: str) -> None:
    """From one grid where they have no more monomials than the flops have; from a few rounds where they have."""
    d, bases = len(case.kernel.sizes), bases_of(case, 1)
    for exponents, rounds in zip(bases, (1, 8), strict=True):
        cost, domain = polynomial(exponents), Domain((24,) * d, (1000,) * d)
        generator = refinement(case, domain, grid=grid, bound=1e-3)
        assert drive(generator, cost) <= rounds
        assert generator.stopped == "bound"
        (piece,) = pieces_of(generator, bases[-1])
        assert piece.domain == domain
        sizes = np.random.default_rng(0).integers(24, 1001, (50, d))
        found = medians(piece, sizes, bases[-1])
        np.testing.assert_allclose(found, [cost(*row) for row in sizes.tolist()], rtol=1e-7)


def test_it_finds_the_kink() -> None:
    """Without more monomials than a smooth cost has, it must cut there."""
    generator = Refinement([DOMAIN], bases_of(TRSM, 0), Parameters(bound=BOUND), 8)
    drive(generator, trsm_seconds)
    assert_covered(DOMAIN, [part.domain for part in generator.parts])
    assert any(abs(part.domain.upper[0] - KINK) <= 2 * STEP for part in generator.parts)
    sizes = np.array([[m, n] for m in range(8, 1033, 8) for n in (8, 64, 264)])
    truth = np.array([trsm_seconds(*row) for row in sizes.tolist()])
    found = np.zeros(len(sizes))
    for part in generator.parts:
        inside = part.domain.contains(sizes)
        found[inside] = part.seconds(sizes[inside])
    errors = np.abs(found / truth - 1)
    assert np.median(errors) < BOUND
    assert errors.max() < 5 * BOUND


@pytest.mark.parametrize("upper", [1000, 4000])
def test_it_closes_in_on_a_jump(upper: int) -> None:
    """Until it does not matter any more where between two samples it is."""
    generator = of_lines(Domain((8,), (upper,)))
    drive(generator, jump)
    assert generator.stopped == "bound"
    points = np.array(sorted(generator.observed)).ravel()
    below, above = points[points <= 500].max(), points[points > 500].min()
    assert 0.3 * (above - below) / upper < 1.5 * BOUND
    assert any(below <= part.domain.upper[0] <= above for part in generator.parts)
    assert len(points) < 40


# --- where it goes


def around(part_sizes: Callable[[Part], bool]) -> Callable[[Sequence[Part]], np.ndarray]:
    """Importance 1 for the parts that are meant, 0 for others."""
    return lambda parts: np.array([float(part_sizes(part)) for part in parts])


@pytest.mark.parametrize("low_matters", [True, False])
def test_it_goes_where_errors_matter(low_matters: bool) -> None:
    """Costs are rough on both sides of a jump; only one side matters."""
    uneven = rough(0.02)

    def switched(m: int) -> float:
        return uneven(m) * (3.0 if m > 200 else 1.0)

    generator = of_lines(LINE_DOMAIN)
    drive(generator, switched, rounds=3)
    assert len(generator.parts) > 1
    before = set(generator.observed)
    importance = around(lambda part: (part.domain.upper[0] <= 240) == low_matters)
    for _ in range(3):
        drive(generator, switched, importance=importance, rounds=1)
    drive(generator, switched, importance=around(lambda part: False), rounds=1)
    new = np.array(sorted(set(generator.observed) - before)).ravel()
    low, high = np.count_nonzero(new <= 200), np.count_nonzero(new > 240)
    assert (low > high) == low_matters
    assert max(low, high) > 5


def test_nothing_is_wanted_where_nothing_matters() -> None:
    generator = refinement(TRSM, DOMAIN)
    drive(generator, rough(0.2), importance=lambda parts: np.zeros(len(parts)))
    assert (generator.wanted, generator.stopped) == ([], None)
    assert any(generator.can_gain())
    drive(generator, rough(0.2), importance=lambda parts: np.ones(len(parts)), rounds=1)
    assert generator.wanted or generator.stopped


def test_it_goes_where_calls_are_quick_rather_than_slow() -> None:
    """Of the points that it adds on its own, most are below the middle, where they cost less."""
    generator = refinement(POTF2, LINE_DOMAIN)
    drive(generator, rough(0.2), rounds=1)
    new = np.array(generator.wanted).ravel()
    assert np.median(new) < (8 + 1000) / 2


# --- when it stops


def test_within_the_bound() -> None:
    generator = refinement(TRSM, DOMAIN, bound=0.2)
    assert drive(generator, rough(0.01)) == 1
    assert generator.stopped == "bound"


def test_it_does_not_chase_noise() -> None:
    for seed in range(3):
        generator = refinement(TRSM, DOMAIN)
        rounds = drive(generator, polynomial(bases_of(TRSM, 0)[0]), noise=0.05, seed=seed)
        assert generator.stopped in ("noise", "bound", "no gain")
        assert rounds < 12
    assert len(generator.parts) <= 2


def test_noise_is_named() -> None:
    """All errors are explained by the scatter of the samples, and are above the bound."""
    generator = refinement(TRSM, DOMAIN, bound=1e-4)
    random, cost = np.random.default_rng(0), polynomial(bases_of(TRSM, 0)[0])
    points = {(m, n) for m in range(24, 1001, 72) for n in range(24, 1001, 72)} | set(generator.wanted)
    generator.observe(
        {point: observation(cost(*point) * (1 + 0.05 * random.standard_normal()), 0.05) for point in points}
    )
    generator.advance()
    assert generator.stopped == "noise" == generator.obstacle
    assert generator.can_gain() == [False]


def test_what_does_not_help_ends() -> None:
    generator = refinement(TRSM, DOMAIN, bound=1e-4, seconds=1e-6)  # else it goes on, as its calls are so quick
    rounds = drive(generator, rough(0.1))
    assert generator.stopped == "no gain"
    assert rounds < 30
    assert generator.wanted == []


def test_small_domains_are_exhausted() -> None:
    """Five sizes are on the lattice, and all are in the first grid."""
    generator = Refinement([Domain((8,), (40,))], [((0,),)], Parameters(bound=1e-4, oversampling=4), 8)
    drive(generator, rough(0.1))
    assert generator.stopped == "minimum width" == generator.obstacle
    assert sorted(generator.observed) == [(8,), (16,), (24,), (32,), (40,)]


def test_rounds_in_which_others_are_sampled_are_not_without_gain() -> None:
    """While another kernel matters more, nothing is wanted here; when this one does, it is refined."""
    generator = refinement(TRSM, DOMAIN)
    cost = rough(0.05)
    for _ in range(10):
        generator.observe({point: observation(cost(*point)) for point in generator.wanted})
        generator.advance(np.zeros(len(generator.parts)))
    generator.advance(np.ones(len(generator.parts)))
    assert generator.stopped is None
    assert generator.wanted


@st.composite
def boxes(draw: st.DrawFn) -> Domain:
    bounds = [
        (low := draw(st.integers(1, 100)), low + draw(st.integers(0, 500))) for _ in range(draw(st.integers(1, 2)))
    ]
    return Domain(tuple(low for low, _ in bounds), tuple(high for _, high in bounds))


@settings(max_examples=40)
@given(boxes(), st.integers(0, 1000), st.sampled_from([1e-3, 0.1, 0.9]), st.sampled_from([0.0, 0.02]), st.booleans())
def test_it_ends_whatever_the_costs(
    domain: Domain, seed: int, roughness: float, noise: float, importance: bool
) -> None:
    """With pieces that cover the domain, from points of the lattice that are each sampled once."""
    case = POTF2 if len(domain.lower) == 1 else TRSM
    generator = refinement(case, domain)
    observe = noisy(rough(roughness, seed), noise, seed)
    axes = EVEN.across(domain)
    for _ in range(MOST_ROUNDS):
        assert not set(generator.wanted) & set(generator.observed)
        assert all(value in axis for point in generator.wanted for value, axis in zip(point, axes, strict=True))
        generator.observe({point: observe(point) for point in generator.wanted})
        assert_covered(domain, [part.domain for part in generator.parts])
        generator.advance(np.ones(len(generator.parts)) if importance else None)
        if generator.stopped is not None or not generator.wanted:
            break
    assert generator.wanted == []
    assert generator.stopped in (*ENDS, None) if importance else generator.stopped in ENDS


# --- what is known


def known(points: Sequence[Point], cost: Callable[..., float]) -> dict[Point, Observation]:
    return {point: observation(cost(*point)) for point in points}


def test_known_observations_are_used() -> None:
    """Nothing is wanted of a grid that is known, and the model is the same."""
    first = refinement(TRSM, DOMAIN)
    drive(first, trsm_seconds)
    again = Refinement([DOMAIN], bases_of(TRSM, 1), Parameters(bound=BOUND), 8, first.observed)
    assert again.wanted == []
    again.observe({})
    assert [part.domain for part in again.parts] == [part.domain for part in first.parts]
    again.advance()
    assert not set(again.wanted) & set(first.observed)


def test_points_that_are_known_are_not_wanted() -> None:
    everything = refinement(TRSM, DOMAIN).wanted
    some = known(everything[::2], trsm_seconds)
    generator = Refinement([DOMAIN], bases_of(TRSM, 1), Parameters(bound=BOUND), 8, some)
    assert generator.wanted == sorted(set(everything) - set(some))


def test_known_points_outside_do_not_matter() -> None:
    far = known([(2000, n) for n in (8, 64, 256)], lambda m, n: 1e9)
    with_far, without = (
        Refinement([DOMAIN], bases_of(TRSM, 1), Parameters(bound=BOUND), 8, observed) for observed in (far, {})
    )
    drive(with_far, trsm_seconds)
    drive(without, trsm_seconds)
    assert [part.domain for part in with_far.parts] == [part.domain for part in without.parts]
    assert all(part.observed.sizes.max() <= 1032 for part in with_far.parts)


def test_domains_share_their_points() -> None:
    """As where a question needs pieces on several sides of those that are there."""
    low, high = DOMAIN.cut(0, 520)
    generator = refinement(TRSM, low, high)
    drive(generator, polynomial(bases_of(TRSM, 0)[0]))
    assert [part.domain for part in generator.parts] == [low, high]
    assert len(generator.wanted) == 0
    on_both = {point for point in generator.observed if point[0] == 520}
    for part in generator.parts:
        assert on_both <= set(map(tuple, part.observed.sizes.tolist()))


def test_samples_are_taken_on_the_lattice() -> None:
    axis = np.array([8, 100, 200, 300, 450, 600, 800])
    generator = Refinement([LINE_DOMAIN], [PARABOLA], Parameters(bound=1e-4), 8, lattice=Lattice((axis,)))
    drive(generator, rough(0.3))
    assert {m for (m,) in generator.observed} <= {*axis.tolist(), 1000}


def test_a_narrow_part_of_a_wide_domain_has_the_lattice_of_the_domain() -> None:
    """A step at 52: between 48 and 56 nothing is sampled, as run times there may be others altogether."""

    def stepped(m: int) -> float:
        return 1e-6 * m * (1.2 if m > 52 else 1.0)

    generator = refinement(POTF2, LINE_DOMAIN)
    drive(generator, stepped, noise=0.002)
    assert all(m % STEP == 0 for (m,) in generator.observed)
    assert all(part.domain.upper[0] % STEP == 0 for part in generator.parts)
