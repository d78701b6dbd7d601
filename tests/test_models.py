"""Models: exact on polynomials, refined where it matters, never chasing noise."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from blascast.models.builder import ModelBuilder, Need
from blascast.models.domain import Domain
from blascast.models.fit import fit, monomials
from blascast.models.parameters import PEISE2017, Parameters
from blascast.models.piecewise import Model, ModelKey, Piece
from blascast.models.refinement import Observation, Point, Refined, Refinement, Workload
from blascast.models.sampling import Case, case_of_call, model_ld
from blascast.models.store import Store
from blascast.models.summary import MEDIAN, STATISTICS, standard_error, summarize
from blascast.sampler.errors import UsageError
from blascast.sampler.failure import KernelFailed
from blascast.sampler.kernels import find_kernel
from blascast.sampler.sampler import Budget, Sampler
from blascast.sampler.simulated import KINK, QUIET, Disturbances, SimulatedBackend

TRSM_FLAGS = {"side": "L", "uplo": "L", "transA": "N", "diag": "N"}
TRSM = Case(find_kernel("trsm"), TRSM_FLAGS, {"alpha": 1})
GEMM = Case(find_kernel("gemm"), {"transA": "N", "transB": "N"}, {"alpha": 1, "beta": 1})
CLASSICAL = Parameters(targeted=False, noise_factor=0.0, error_measure="max", bound=0.005, reuse=False, split="middle")


def drive(refinement: Refinement, cost: Callable[..., float], noise: float = 0.0) -> Refined:
    """Refines against a cost function; every statistic is the cost."""
    random = np.random.default_rng(0)

    def observe(point: Point) -> Observation:
        value = cost(*point) * (1 + noise * random.standard_normal())
        return Observation(np.array([value, value, value, value, 0.0]), noise, 1e-3)

    while refinement.stopped is None:
        refinement.observe([observe(point) for point in refinement.wanted])
        totals = refinement.seconds_by_configuration() if refinement.targeted else None
        refinement.advance(totals)
    return refinement.result()


def modelled(refined: Refined, exponents: tuple, kernel: str = "trsm") -> Model:
    return Model(ModelKey(kernel, "", 5000), exponents, refined.pieces, "free", refined.stopped, 0.0, CLASSICAL)


def test_monomials_follow_the_flops() -> None:
    trsm = monomials(find_kernel("trsm"), TRSM_FLAGS, 0)  # m^2 n
    assert set(trsm) == {(i, j) for i in range(3) for j in range(2)}
    assert set(monomials(find_kernel("trsm"), {**TRSM_FLAGS, "side": "R"}, 0)) == {
        (i, j) for i in range(2) for j in range(3)
    }
    assert len(monomials(find_kernel("trsm"), TRSM_FLAGS, 2)) == 5 * 4
    assert len(monomials(find_kernel("gemm"), dict(GEMM.flags), 0)) == 8


@pytest.mark.parametrize("grid", ["chebyshev", "cartesian"])
@pytest.mark.parametrize("case", [TRSM, GEMM])
def test_exact_on_polynomials_of_their_degree(case: Case, grid: str) -> None:
    random = np.random.default_rng(3)
    d = len(case.kernel.sizes)
    exponents = monomials(case.kernel, dict(case.flags), 1)
    coefficients = random.uniform(0.5, 2, len(exponents))

    def cost(*sizes: float) -> float:
        terms = [
            c * np.prod([(s / 500) ** p for s, p in zip(sizes, e, strict=True)])
            for c, e in zip(coefficients, exponents, strict=True)
        ]
        return float(np.sum(terms))

    parameters = Parameters(targeted=False, noise_factor=0.0, grid=grid, oversampling=1)
    domain = Domain((24,) * d, (1000,) * d)
    refined = drive(Refinement([domain], exponents, parameters), cost)
    assert (len(refined.pieces), refined.stopped) == (1, "bound")
    sizes = random.integers(24, 1001, (50, d))
    found, _ = modelled(refined, exponents).evaluate(sizes)
    np.testing.assert_allclose(found[:, MEDIAN], [cost(*row) for row in sizes], rtol=1e-9)


def kinked(m: int, n: int) -> float:
    """trsm L on the simulated machine: a kink at m = KINK."""
    return SimulatedBackend(disturbances=QUIET).warm_seconds(TRSM.call((m, n), 5000))


def test_refinement_finds_the_kink() -> None:
    exponents = monomials(TRSM.kernel, TRSM_FLAGS, 1)
    domain = Domain((8, 8), (1032, 264))
    refined = drive(Refinement([domain], exponents, CLASSICAL), kinked)
    widths = {p.domain: p.domain.upper[0] - p.domain.lower[0] for p in refined.pieces}
    around = [w for d, w in widths.items() if d.lower[0] <= KINK <= d.upper[0]]
    assert len(refined.pieces) > 2
    assert max(around) < max(widths.values())
    sizes = np.array([[m, n] for m in range(8, 1033, 8) for n in (8, 64, 264)])
    found, _ = modelled(refined, exponents).evaluate(sizes)
    true = np.array([kinked(*row) for row in sizes.tolist()])
    assert np.max(np.abs(found[:, MEDIAN] / true - 1)) < 3 * CLASSICAL.bound


def test_without_the_noise_stop_refinement_chases_noise() -> None:
    exponents = monomials(TRSM.kernel, TRSM_FLAGS, 1)
    domain = Domain((8, 8), (1032, 264))

    def smooth(m: float, n: float) -> float:
        return m * m * n * 1e-11 + 1e-7

    chasing = drive(Refinement([domain], exponents, CLASSICAL), smooth, noise=0.05)
    stopping = drive(Refinement([domain], exponents, Parameters(targeted=False, noise_factor=1.5)), smooth, noise=0.05)
    assert len(chasing.pieces) > 20
    assert (len(stopping.pieces), stopping.stopped) == (1, "noise")


def test_refinement_goes_where_the_workload_spends_its_time() -> None:
    """The kink is at m = 256; the calls are all of small m, or all of large m."""
    exponents = monomials(TRSM.kernel, TRSM_FLAGS, 1)
    domain = Domain((8, 8), (1032, 264))

    def pieces(smallest: int, largest: int) -> int:
        sizes = np.array([[m, 128] for m in range(smallest, largest, 8)])
        workload = Workload(sizes, np.zeros(len(sizes), dtype=np.int64), 1)
        return len(drive(Refinement([domain], exponents, Parameters(noise_factor=0.0), workload), kinked).pieces)

    assert pieces(8, 16) < pieces(8, 1032)


def test_refinement_that_does_not_help_ends() -> None:
    exponents = monomials(TRSM.kernel, TRSM_FLAGS, 1)
    domain = Domain((8, 8), (1032, 1032))
    sizes = np.array([[m, n] for m in range(8, 1033, 32) for n in range(8, 1033, 32)])
    workload = Workload(sizes, np.zeros(len(sizes), dtype=np.int64), 1)

    def rough(m: float, n: float) -> float:  # 10 % up or down without any pattern
        return (m * m * n * 1e-11 + 1e-7) * (1.1 if hash((m, n)) % 2 else 0.9)

    refined = drive(Refinement([domain], exponents, Parameters(noise_factor=0.0), workload), rough)
    assert refined.stopped == "no gain"
    assert len(refined.pieces) < 40


def test_the_default_of_the_dissertation() -> None:
    assert (PEISE2017.overfitting, PEISE2017.oversampling, PEISE2017.grid) == (2, 4, "chebyshev")
    assert (PEISE2017.repetitions, PEISE2017.reference, PEISE2017.error_measure) == (10, "min", "max")
    assert (PEISE2017.bound, PEISE2017.minimum_width, PEISE2017.minimum_width_3d) == (0.01, 32, 64)
    exponents = monomials(TRSM.kernel, TRSM_FLAGS, PEISE2017.overfitting)
    refinement = Refinement([Domain((24, 24), (536, 4152))], exponents, PEISE2017)
    assert len(refinement.wanted) == 9 * 8  # (degree + 1 + oversampling) in each size


def test_held_out_errors_exceed_fitted_ones() -> None:
    random = np.random.default_rng(0)
    exponents = ((0,), (1,), (2,))
    sizes = np.arange(8, 88, 8).reshape(-1, 1)
    times = np.repeat(1 + 0.1 * random.standard_normal((10, 1)), 5, axis=1)
    result = fit(sizes, times, exponents, np.array([80.0]))
    assert np.all(np.abs(result.held_out) > np.abs(result.residuals[:, MEDIAN]))
    left_out = np.arange(10) != 4
    again = fit(sizes[left_out], times[left_out], exponents, np.array([80.0]))
    predicted = (np.array([[1.0, 0.5, 0.25]]) @ again.coefficients)[0, MEDIAN]
    assert result.held_out[4] == pytest.approx(predicted / times[4, MEDIAN] - 1, rel=1e-6)


def test_statistics_of_a_model_are_ordered() -> None:
    crossed = np.array([[3.0, 2.0, 9.0, 1.0, -1.0]])
    piece = Piece(Domain((8,), (80,)), crossed, 0.0, 0.0, 1)
    model = Model(ModelKey("potf2", "L", 5000), ((0,),), (piece,), "free", "bound", 0.0, Parameters())
    ((low, median, mean, high, deviation),), _ = model.evaluate(np.array([[16]]))
    assert 0 < low <= median <= high
    assert low <= mean <= high
    assert deviation == 0


def test_summary_and_standard_error() -> None:
    seconds = np.array([4.0, 1.0, 2.0, 3.0])
    assert dict(zip(STATISTICS, summarize(seconds), strict=True)) == pytest.approx(
        {"min": 1, "median": 2.5, "mean": 2.5, "max": 4, "std": np.sqrt(1.25)}
    )
    assert standard_error(np.array([3.0]), MEDIAN) == 3.0  # nothing is known: as uncertain as large
    random = np.random.default_rng(0)
    medians = np.median(random.standard_normal((4000, 25)), axis=1)
    estimates = [standard_error(random.standard_normal(25), MEDIAN) for _ in range(500)]
    assert np.mean(estimates) == pytest.approx(medians.std(), rel=0.1)


@pytest.mark.parametrize(
    "wrong", [{"grid": "random"}, {"overfitting": -1}, {"repetitions": 0}, {"bound": 0.0}, {"minimum_width": 0}]
)
def test_parameters_that_make_no_sense(wrong: dict) -> None:
    with pytest.raises(UsageError):
        Parameters(**wrong)


def test_a_case_makes_calls_on_buffers_that_all_cases_share() -> None:
    call = TRSM.call((64, 32), 5000)
    assert call.sizes == {"m": 64, "n": 32}
    assert {name: view.buffer for name, view in call.views.items()} == {
        "A": "triangular 0, ld 5000",
        "B": "general 0, ld 5000",
    }
    buffers = [view.buffer for view in GEMM.call((8, 8, 8), 520).views.values()]
    assert buffers == [f"general {i}, ld 520" for i in range(3)]
    assert case_of_call(call).name == TRSM.name == "LLNN 1"


def test_leading_dimensions() -> None:
    for size in (10, 5000, 5120, 7680, 8191):
        assert model_ld(size) >= size
        assert model_ld(size) % 8 == 0
        assert model_ld(size) % 256 != 0


# --- on the simulated machine


def build(home, disturbances: Disturbances, seed: int = 0, parameters: Parameters | None = None):  # type: ignore[no-untyped-def]
    backend = SimulatedBackend(disturbances=disturbances, seed=seed)
    builder = ModelBuilder(Sampler(backend), Store(home), parameters)
    sizes = np.array([[m, n] for m in range(8, 769, 8) for n in (32, 128, 256)])
    workload = Workload(sizes, np.zeros(len(sizes), dtype=np.int64), 1)
    need = Need(TRSM, (Domain((8, 8), (768, 256)),), workload)
    (model,) = builder.provide([need]).values()
    return backend, builder, model


def truth(backend: SimulatedBackend, sizes: np.ndarray) -> np.ndarray:
    return np.array([backend.warm_seconds(TRSM.call(tuple(row), 5000)) for row in sizes.tolist()])


@pytest.mark.parametrize("seed", range(3))
def test_level_switches_and_outliers_do_not_reach_a_model(home, seed: int) -> None:  # type: ignore[no-untyped-def]
    disturbed = Disturbances(jitter=0.005, outliers=0.005, free_seconds=0.2, busy_seconds=0.2, slow_down=1.5)
    backend, builder, model = build(home, disturbed, seed, Parameters(bound=0.005))
    assert sum(batch.requeued for batch in builder.batches) > 50
    assert model.state == "free"
    sizes = np.random.default_rng(1).integers(4, 33, (200, 2)) * 8
    found, _ = model.evaluate(sizes)
    errors = np.abs(found[:, MEDIAN] / truth(backend, sizes) - 1)
    assert np.median(errors) < 0.01
    assert np.percentile(errors, 90) < 0.05


def test_the_second_question_is_answered_from_the_store(home) -> None:  # type: ignore[no-untyped-def]
    _, first, model = build(home, QUIET)
    _, second, again = build(home, QUIET)
    assert first.batches
    assert not second.batches
    assert again.domains == model.domains


def test_models_of_a_state_that_few_samples_are_of_are_used(home) -> None:  # type: ignore[no-untyped-def]
    """As when the core was its own for most of the sampling, and shared when it ended."""
    _, _, model = build(home, QUIET)
    for path in (home / "models").glob("*/*.json"):
        path.unlink()
    Store(home).save_model(SimulatedBackend(disturbances=QUIET).setup, replace(model, state="busy"))
    _, second, again = build(home, QUIET)
    assert not second.batches
    assert again.state == "busy"


def test_a_larger_question_adds_pieces(home) -> None:  # type: ignore[no-untyped-def]
    _, _, model = build(home, QUIET)
    backend = SimulatedBackend(disturbances=QUIET)
    need = Need(TRSM, (Domain((8, 8), (1024, 256)),))
    builder = ModelBuilder(Sampler(backend), Store(home), Parameters())
    (larger,) = builder.provide([need]).values()
    assert len(larger.pieces) > len(model.pieces)
    for old, new in zip(model.pieces, larger.pieces, strict=False):
        assert new.domain == old.domain
        np.testing.assert_array_equal(new.coefficients, old.coefficients)
    assert all(domain.lower[0] >= 768 for domain in larger.domains[len(model.domains) :])
    assert larger.seconds > model.seconds


def test_other_parameters_make_a_model_anew(home) -> None:  # type: ignore[no-untyped-def]
    build(home, QUIET)
    _, builder, model = build(home, QUIET, parameters=Parameters(bound=0.05, repetitions=9))
    assert builder.batches
    assert model.parameters.bound == 0.05


def test_a_lasting_change_of_state_does_not_reach_a_model(home) -> None:  # type: ignore[no-untyped-def]
    """After the first round a neighbour comes to stay: the model is of the busy core throughout."""

    class Disturbed(SimulatedBackend):
        batches = 0

        def allocate(self, buffers):  # type: ignore[no-untyped-def]
            super().allocate(buffers)
            self.batches += 1
            if self.batches == 2:
                self._shared, self._state_ends = True, float("inf")

    backend = Disturbed(disturbances=QUIET)
    need = Need(TRSM, (Domain((8, 8), (768, 256)),))
    builder = ModelBuilder(Sampler(backend, budget=Budget(1.0, 0.01)), Store(home), Parameters(bound=0.005))
    (model,) = builder.provide([need]).values()
    assert [batch.state for batch in builder.batches[:2]] == ["free", "busy"]
    assert model.state == "busy"
    sizes = np.random.default_rng(1).integers(4, 33, (200, 2)) * 8
    found, _ = model.evaluate(sizes)
    np.testing.assert_allclose(found[:, MEDIAN], QUIET.slow_down * truth(backend, sizes), rtol=0.05)


def test_a_partly_measured_point_is_completed(home) -> None:  # type: ignore[no-untyped-def]
    """An interrupt after some repetitions: only the missing ones are measured."""
    need = Need(TRSM, (Domain((8, 8), (768, 256)),))

    class Interrupted(SimulatedBackend):
        programs = 0

        def run(self, operations, *rest):  # type: ignore[no-untyped-def]
            self.programs += 1
            if self.programs == 3:
                raise KeyboardInterrupt
            return super().run(operations, *rest)

    with pytest.raises(KeyboardInterrupt):
        ModelBuilder(Sampler(Interrupted(disturbances=QUIET)), Store(home)).provide([need])
    store = Store(home)
    kept = store.load_samples(SimulatedBackend(disturbances=QUIET).setup, need.key, "free")
    count = sum(len(samples) for samples in kept.values())
    assert count > 10
    builder = ModelBuilder(Sampler(SimulatedBackend(disturbances=QUIET)), store)
    builder.provide([need])
    whole = ModelBuilder(Sampler(SimulatedBackend(disturbances=QUIET)), Store(home / "other"))
    whole.provide([need])
    assert builder.batches[0].accepted == whole.batches[0].accepted - count


def test_samples_of_a_killed_build_are_used(home) -> None:  # type: ignore[no-untyped-def]
    """Models are removed as if the build had been killed before saving them; the samples remain."""
    _, first, model = build(home, QUIET)
    for path in (home / "models").glob("*/*.json"):
        path.unlink()
    _, second, again = build(home, QUIET)
    assert first.batches
    assert not second.batches
    assert again.domains == model.domains


def test_a_model_of_other_monomials_is_made_anew(home) -> None:  # type: ignore[no-untyped-def]
    """As after a change of the kernel's flop count."""
    _, _, model = build(home, QUIET)
    store = Store(home)
    constant = Piece(model.pieces[0].domain, np.ones((1, 5)), 0.1, 0.1, 1)
    setup = SimulatedBackend(disturbances=QUIET).setup
    store.save_model(setup, replace(model, exponents=((0, 0),), pieces=(constant,)))
    _, _, again = build(home, QUIET)
    assert again.exponents == model.exponents
    assert again.domains == model.domains


def test_what_was_sampled_before_a_failure_is_kept(home) -> None:  # type: ignore[no-untyped-def]
    class Failing(SimulatedBackend):
        """Crashes in its third program, half way."""

        programs = 0

        def run(self, operations, *rest):  # type: ignore[no-untyped-def]
            self.programs += 1
            records = super().run(operations, *rest)
            if self.programs == 3:
                raise KernelFailed("dtrsm crashed", records.part(0, len(operations) // 2))
            return records

    need = Need(TRSM, (Domain((8, 8), (768, 256)),))
    builder = ModelBuilder(Sampler(Failing(disturbances=QUIET)), Store(home))
    with pytest.raises(KernelFailed, match="dtrsm crashed"):
        builder.provide([need])
    store = Store(home)
    kept = store.load_samples(Failing(disturbances=QUIET).setup, need.key, "free")
    assert sum(len(samples) for samples in kept.values()) > 10
    assert store.all_models() == []
    (model,) = ModelBuilder(Sampler(SimulatedBackend(disturbances=QUIET)), store).provide([need]).values()
    assert model.pieces


def test_time_is_up(home) -> None:  # type: ignore[no-untyped-def]
    _, builder, model = build(home, QUIET, parameters=Parameters(seconds=0.0, bound=1e-9, noise_factor=0.0))
    assert len(builder.batches) == 1
    assert model.stopped == "time"
