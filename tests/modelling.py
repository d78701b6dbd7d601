"""What tests of models share: cases, cost functions, and generators that are driven by these."""

import zlib
from collections.abc import Callable, Sequence

import numpy as np

from blascast.models.fitting.basis import Exponents, design_matrix, monomials
from blascast.models.fitting.part import Observed, Part
from blascast.models.generation.generator import Generator, Observation, Point
from blascast.models.piecewise import Piece
from blascast.models.sampling import Case
from blascast.models.sizes.domain import Domain
from blascast.models.summary import MEDIAN, FloatArray
from blascast.sampler.kernels import find_kernel
from blascast.sampler.simulated import QUIET, SimulatedBackend

TRSM = Case(find_kernel("trsm"), {"side": "L", "uplo": "L", "transA": "N", "diag": "N"}, {"alpha": 1})
SYRK = Case(find_kernel("syrk"), {"uplo": "L", "trans": "N"}, {"alpha": -1, "beta": 1})
GEMM = Case(find_kernel("gemm"), {"transA": "N", "transB": "N"}, {"alpha": 1, "beta": 1})
POTF2 = Case(find_kernel("potf2"), {"uplo": "L"}, {})
LD = 5000
MOST_ROUNDS = 500

Cost = Callable[..., float]
LINE: Exponents = ((0,), (1,))
PARABOLA: Exponents = ((0,), (1,), (2,))


def bases_of(case: Case, overfitting: int) -> list[Exponents]:
    """The monomials that are tried for a case, from the fewest to the most."""
    return [monomials(case.kernel, dict(case.flags), i) for i in range(overfitting + 1)]


def polynomial(exponents: Exponents, seed: int = 3) -> Cost:
    """A positive polynomial of these monomials."""
    coefficients = np.random.default_rng(seed).uniform(0.5, 2, len(exponents))

    def cost(*sizes: int) -> float:
        terms = np.prod((np.array(sizes) / 500.0) ** np.array(exponents), axis=1)
        return float(coefficients @ terms)

    return cost


def trsm_seconds(m: int, n: int) -> float:
    """What the simulated machine charges: a kink at m = KINK."""
    return SimulatedBackend(disturbances=QUIET).warm_seconds(TRSM.call((m, n), LD))


def rough(roughness: float, seed: int = 0) -> Cost:
    """Costs that are up or down by so much without any pattern, the same each time."""

    def cost(*sizes: int) -> float:
        drawn = zlib.crc32(repr((seed, *map(int, sizes))).encode()) / 2**32
        return (1e-7 + 1e-9 * float(np.prod(sizes, dtype=float))) * (1 + roughness * (2 * drawn - 1))

    return cost


def observation(seconds: float, noise: float = 0.0) -> Observation:
    """An observation whose statistics are all the same."""
    return Observation(np.array([seconds] * 4 + [0.0]), seconds, noise, 1e-3, 3)


def noisy(cost: Cost, noise: float, seed: int = 0) -> Callable[[Point], Observation]:
    """Observes a cost function with normal noise, and says how large it is."""
    random = np.random.default_rng(seed)
    return lambda point: observation(cost(*point) * (1 + noise * random.standard_normal()), noise)


def drive(
    generator: Generator,
    cost: Cost,
    noise: float = 0.0,
    importance: Callable[[Sequence[Part]], FloatArray] | None = None,
    rounds: int = MOST_ROUNDS,
    seed: int = 0,
) -> int:
    """Generates until it stops, or wants nothing where importance is told; how many rounds it took."""
    observe = noisy(cost, noise, seed)
    for number in range(1, rounds + 1):
        generator.observe({point: observe(point) for point in generator.wanted})
        generator.advance(importance(generator.parts) if importance else None)
        if generator.stopped is not None or (importance and not generator.wanted):
            return number
    return rounds


def observed(points: Sequence[Point], cost: Cost, noise: float = 0.0, seed: int = 0) -> Observed:
    """Observations of points, as a partition takes them."""
    observe = noisy(cost, noise, seed)
    found = [observe(tuple(point)) for point in points]
    return Observed.alike(np.array(points), np.array([o.reference for o in found]), np.full(len(found), noise))


def assert_covered(domain: Domain, parts: Sequence[Domain]) -> None:
    """Parts lie in a domain, share nothing but their bounds, and add up to it."""
    lower, upper = (np.array([getattr(part, name) for part in parts]) for name in ("lower", "upper"))
    wide = np.array(domain.upper) > np.array(domain.lower)
    assert (lower >= domain.lower).all()
    assert (upper <= domain.upper).all()
    common = np.minimum(upper[:, None], upper) - np.maximum(lower[:, None], lower)
    overlapping = (common > 0)[..., wide].all(axis=2) & ~np.eye(len(parts), dtype=bool)
    assert not overlapping.any()
    whole = np.array(domain.upper) - np.array(domain.lower)
    assert np.prod((upper - lower)[:, wide], axis=1).sum() == np.prod(whole[wide])


def medians(piece: Piece, sizes: np.ndarray, exponents: Exponents) -> FloatArray:
    """The median of a piece's polynomials at sizes of shape (n, d), seconds."""
    scale = np.array(piece.domain.upper, dtype=float)
    return np.asarray((design_matrix(sizes, exponents, scale) @ piece.coefficients)[:, MEDIAN])
