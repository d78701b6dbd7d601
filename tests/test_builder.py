"""The builder on the simulated machine: few samples, no disturbed ones, none twice."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from modelling import GEMM, POTF2, SYRK, TRSM

from blascast.models.fitting.basis import monomials
from blascast.models.generation.builder import ModelBuilder
from blascast.models.generation.generator import Point
from blascast.models.generation.need import Need
from blascast.models.generation.workload import Judge, Workload
from blascast.models.kept.store import Store
from blascast.models.parameters import PEISE2017, PRESETS, Parameters, preset_name
from blascast.models.piecewise import Model, Piece
from blascast.models.sampling import Case
from blascast.models.sizes.domain import Domain
from blascast.models.summary import MEDIAN, MIN
from blascast.predictors.judging import ranking, within
from blascast.sampler.errors import StoreError
from blascast.sampler.failure import KernelFailed
from blascast.sampler.sampler import Budget, Sampler
from blascast.sampler.setup import Setup
from blascast.sampler.simulated import QUIET, Disturbances, SimulatedBackend

JITTER = Disturbances(jitter=0.005)
DOMAIN = Domain((8, 8), (768, 256))
TO_HALF_A_PER_CENT = Parameters(bound=0.005)


def calls_in(domain: Domain, count: int = 200, seed: int = 1) -> np.ndarray:
    """Random sizes, multiples of 8."""
    random = np.random.default_rng(seed)
    bounds = zip(domain.lower, domain.upper, strict=True)
    return np.stack([8 * random.integers(-(-low // 8), high // 8 + 1, count) for low, high in bounds], axis=1)


def need_of(case: Case = TRSM, domain: Domain = DOMAIN) -> Need:
    sizes = calls_in(domain)
    return Need(case, (domain,), Workload(sizes, np.zeros(len(sizes), dtype=np.int64), 1))


def provide(
    home: Path,
    backend: SimulatedBackend | None = None,
    parameters: Parameters | None = None,
    judge: Judge | None = None,
    need: Need | None = None,
    budget: Budget | None = None,
) -> tuple[ModelBuilder, Model]:
    """One model, from a builder and a store of their own."""
    sampler = Sampler(backend or SimulatedBackend(disturbances=QUIET), budget=budget)
    builder = ModelBuilder(sampler, Store(home), parameters)
    (model,) = builder.provide([need or need_of()], judge).values()
    return builder, model


def accepted(builder: ModelBuilder) -> int:
    return sum(batch.accepted for batch in builder.batches)


def truth(backend: SimulatedBackend, model: Model, case: Case, sizes: np.ndarray) -> np.ndarray:
    return np.array([backend.warm_seconds(case.call(tuple(row), model.key.ld)) for row in sizes.tolist()])


def errors_of(backend: SimulatedBackend, model: Model, case: Case = TRSM, domain: Domain = DOMAIN) -> np.ndarray:
    """Relative errors of the estimates of random calls."""
    sizes = calls_in(domain)
    return np.asarray(model.evaluate(sizes).statistics[:, MEDIAN] / truth(backend, model, case, sizes) - 1)


def samples_of(home: Path, model: Model, setup: Setup | None = None) -> dict[Point, list[Any]]:
    return Store(home).load_samples(setup or SimulatedBackend().setup, model.key, model.state)


# --- how good


@pytest.mark.parametrize("judge", [None, within(0.005)], ids=["models", "answer"])
def test_the_kink_of_trsm(home: Path, judge: Judge | None) -> None:
    backend = SimulatedBackend(disturbances=JITTER)
    builder, model = provide(home, backend, judge=judge)
    errors = np.abs(errors_of(backend, model))
    assert np.median(errors) < 0.01
    assert errors.max() < 0.05
    assert builder.stopped == model.stopped
    assert accepted(builder) == sum(map(len, samples_of(home, model).values())) == model.samples


@pytest.mark.parametrize("seed", range(2))
def test_level_switches_and_outliers_do_not_reach_a_model(home: Path, seed: int) -> None:
    disturbed = Disturbances(jitter=0.005, outliers=0.02, free_seconds=0.05, busy_seconds=0.05, slow_down=1.5)
    backend = SimulatedBackend(disturbances=disturbed, seed=seed)
    builder, model = provide(home, backend, judge=within(0.005), budget=Budget(1.0, 1.0))
    spoilt = sum((batch.verdicts for batch in builder.batches), Counter())
    assert spoilt["preempted"] > 0
    assert spoilt["other state"] > 10
    assert model.state == "free"
    errors = np.abs(errors_of(backend, model))
    assert np.median(errors) < 0.01
    assert np.percentile(errors, 90) < 0.03


@pytest.mark.parametrize(
    ("case", "domain"),
    [
        (TRSM, DOMAIN),
        (SYRK, DOMAIN),
        (GEMM, Domain((8, 8, 8), (512, 256, 256))),
        (POTF2, Domain((8,), (256,))),
    ],
    ids=["trsm", "syrk", "gemm", "potf2"],
)
@pytest.mark.parametrize("judge", [None, within(0.01)], ids=["models", "answer"])
def test_predicted_errors_are_honest(tmp_path: Path, case: Case, domain: Domain, judge: Judge | None) -> None:
    """Of random calls, four of five at least lie within two of the standard errors that models say of themselves."""
    close = []
    for seed in range(6):
        backend = SimulatedBackend(seed=seed)  # with ordinary disturbances
        _, model = provide(tmp_path / str(seed), backend, judge=judge, need=need_of(case, domain))
        sizes = calls_in(domain, 100, seed)
        found = model.evaluate(sizes)
        errors = np.abs(found.statistics[:, MEDIAN] / truth(backend, model, case, sizes) - 1)
        close += (errors < 2 * found.errors).tolist()
        assert (found.errors < 0.05).all()
    assert np.mean(close) >= 0.8


# --- how few


def test_the_second_question_costs_nothing(home: Path) -> None:
    first, model = provide(home, judge=within(0.01))
    second, again = provide(home, judge=within(0.01))
    assert first.batches
    assert not second.batches
    assert second.stopped is None
    assert again.domains == model.domains


def test_a_question_that_wants_more_refines_the_model(home: Path, tmp_path: Path) -> None:
    """With what is there: it takes few samples more, and far fewer than from nothing."""
    backend = SimulatedBackend(disturbances=JITTER)
    _, coarse = provide(home, backend, judge=within(0.05))
    refining, fine = provide(home, SimulatedBackend(disturbances=JITTER, seed=1), judge=within(0.004))
    anew, _ = provide(tmp_path / "new", SimulatedBackend(disturbances=JITTER, seed=1), judge=within(0.004))
    assert fine.samples > coarse.samples
    assert 0 < accepted(refining) < accepted(anew)
    assert fine.evaluate(calls_in(DOMAIN)).errors.mean() < coarse.evaluate(calls_in(DOMAIN)).errors.mean()
    assert Store(home).load_model(backend.setup, fine.key).samples == fine.samples  # type: ignore[union-attr]


def test_a_question_that_wants_less_costs_nothing(home: Path) -> None:
    provide(home, judge=within(0.004))
    builder, _ = provide(home, judge=within(0.05))
    assert not builder.batches


def test_a_larger_question_adds_pieces(home: Path) -> None:
    _, model = provide(home)
    _, larger = provide(home, need=Need(TRSM, (Domain((8, 8), (1024, 256)),)))
    assert len(larger.pieces) > len(model.pieces)
    for old, new in zip(model.pieces, larger.pieces, strict=False):
        assert new.domain == old.domain
        np.testing.assert_array_equal(new.coefficients, old.coefficients)
    assert all(domain.lower[0] >= 768 for domain in larger.domains[len(model.domains) :])
    assert larger.seconds > model.seconds
    assert larger.samples == sum(map(len, samples_of(home, larger).values()))  # none counts twice
    assert not provide(home)[0].batches


def test_operands_of_another_leading_dimension_have_a_model_of_their_own(home: Path) -> None:
    _, model = provide(home)
    builder, other = provide(home, need=need_of(domain=Domain((8, 8), (1040, 256))))
    assert builder.batches
    assert other.key.ld > model.key.ld
    assert len(Store(home).all_models()) == 2


def test_a_point_is_sampled_once_for_all_pieces(home: Path) -> None:
    """Also where a later question's pieces meet the earlier ones."""
    parameters = Parameters(least_repetitions=4, most_repetitions=4)
    provide(home, parameters=parameters)
    _, model = provide(home, parameters=parameters, need=Need(TRSM, (Domain((8, 8), (768, 400)),)))
    assert {len(samples) for samples in samples_of(home, model).values()} == {4}


def test_calls_that_scatter_get_more_samples(home: Path) -> None:
    class Uneven(SimulatedBackend):
        """Calls with fewer than 64 columns scatter by 3 %."""

        def _call_seconds(self, call: Any) -> float:
            noise = 0.03 if call.sizes["n"] < 64 else 0.0003
            return super()._call_seconds(call) * float(np.exp(noise * self._random.standard_normal()))

    _, model = provide(home, Uneven(disturbances=QUIET), Parameters(bound=0.02))
    counts = {point: len(samples) for point, samples in samples_of(home, model).items()}
    scattering = [count for (_, n), count in counts.items() if n < 64]
    even = [count for (_, n), count in counts.items() if n >= 64]
    assert min(counts.values()) >= Parameters().least_repetitions
    assert np.mean(scattering) > 3 * np.mean(even)


# --- when it stops


def test_time_is_up(home: Path) -> None:
    builder, model = provide(home, parameters=Parameters(seconds=1e-9, bound=1e-9))
    assert len(builder.batches) == 1
    assert builder.stopped == model.stopped == "budget"


def test_a_moment_is_enough_for_a_model_that_can_be_used(home: Path) -> None:
    backend = SimulatedBackend(disturbances=JITTER)
    builder, model = provide(home, backend, Parameters(seconds=0.01), within(1e-6))
    assert builder.stopped == "budget"
    found = model.evaluate(calls_in(DOMAIN))
    assert (found.statistics[:, :4] > 0).all()
    assert np.isfinite(found.errors).all()
    assert np.median(np.abs(errors_of(backend, model))) < 0.3


def test_what_time_cut_short_goes_on_when_asked_again(home: Path) -> None:
    seeds = iter(range(100))

    def ask(seconds: float) -> tuple[ModelBuilder, Model]:
        backend = SimulatedBackend(disturbances=JITTER, seed=next(seeds))
        return provide(home, backend, Parameters(seconds=seconds), within(0.004))

    hurried, rough = ask(1e-9)
    patient, fine = ask(60.0)
    assert (hurried.stopped, rough.stopped) == ("budget", "budget")
    assert patient.stopped != "budget"
    assert accepted(patient) > 0
    assert fine.samples == accepted(hurried) + accepted(patient)


def test_a_decision_ends_sampling(home: Path, tmp_path: Path) -> None:
    """Two variants, one with twice the calls of the other: that is known long before the run times are."""
    sizes = np.concatenate([calls_in(DOMAIN, 50)] * 3)
    need = Need(TRSM, (DOMAIN,), Workload(sizes, np.repeat([0, 1, 1], 50), 2))
    judge = ranking(np.zeros(2, dtype=int), np.array([0, 1]), 1e-4, 0.0)
    decided, model = provide(home, SimulatedBackend(disturbances=JITTER), None, judge, need)
    computed, _ = provide(tmp_path / "new", SimulatedBackend(disturbances=JITTER), None, within(1e-4), need)
    assert decided.stopped == model.stopped == "decision"
    assert accepted(decided) < accepted(computed)


def test_errors_within_the_bound_end_sampling(home: Path) -> None:
    builder, model = provide(home, SimulatedBackend(disturbances=JITTER), judge=within(0.02))
    assert builder.stopped == model.stopped == "bound"
    workload = need_of().workload
    assert workload is not None
    found = model.evaluate(workload.sizes)
    seconds, errors = found.statistics[:, MEDIAN], found.errors * found.statistics[:, MEDIAN]
    by_piece = [errors[found.pieces == piece].sum() for piece in range(len(model.pieces))]
    assert np.linalg.norm(by_piece) < 0.021 * seconds.sum()


def test_what_cannot_be_had_is_named(home: Path) -> None:
    builder, model = provide(home, SimulatedBackend(disturbances=Disturbances(jitter=0.05)), judge=within(1e-6))
    assert builder.stopped in ("noise", "no gain", "minimum width")
    assert model.stopped in ("noise", "no gain", "minimum width")
    again, _ = provide(home, judge=within(1e-6))
    assert not again.batches  # it would be in vain


# --- several kernels at once


def test_samples_go_to_the_kernel_that_matters(home: Path) -> None:
    """One call of gemm and a thousand of trsm: gemm's first grid will do."""
    gemm_domain = Domain((8, 8, 8), (128, 128, 128))
    sizes = calls_in(DOMAIN, 1000)
    needs = [
        Need(GEMM, (gemm_domain,), Workload(np.array([[64, 64, 64]]), np.array([0]), 1)),
        Need(TRSM, (DOMAIN,), Workload(sizes, np.zeros(1000, dtype=np.int64), 1)),
    ]
    builder = ModelBuilder(Sampler(SimulatedBackend(disturbances=JITTER)), Store(home))
    models = builder.provide(needs, within(0.003))
    assert set(models) == {need.key for need in needs}
    points = {key.kernel: len(samples_of(home, model)) for key, model in models.items()}
    alone, model = provide(
        home / "alone", SimulatedBackend(disturbances=JITTER), Parameters(seconds=1e-9), None, needs[0]
    )
    assert points["gemm"] == len(samples_of(home / "alone", model))
    assert points["trsm"] > points["gemm"] / 2
    assert len(builder.batches) > len(alone.batches)


def test_calls_of_all_kernels_are_sampled_side_by_side(home: Path) -> None:
    needs = [need_of(TRSM), need_of(SYRK)]
    builder = ModelBuilder(Sampler(SimulatedBackend(disturbances=QUIET)), Store(home))
    builder.provide(needs)
    kernels = [{m.job.calls[0].kernel.name for m in batch.measurements} for batch in builder.batches]
    assert kernels[0] == {"trsm", "syrk"}


# --- disturbances and interruptions


def test_models_of_a_state_that_few_samples_are_of_are_used(home: Path) -> None:
    """As when the core was its own for most of the sampling, and shared when it ended."""
    _, model = provide(home)
    for path in (home / "models").glob("*/*.json"):
        path.unlink()
    Store(home).save_model(SimulatedBackend(disturbances=QUIET).setup, replace(model, state="busy"))
    second, again = provide(home)
    assert not second.batches
    assert again.state == "busy"


class Shared(SimulatedBackend):
    """A neighbour comes to stay, or goes, with some batches."""

    batches = 0
    shared: Callable[[int], bool]

    def allocate(self, buffers: Sequence[Any], keep: bool = False) -> None:
        super().allocate(buffers, keep)
        self.batches += 1
        self._shared, self._state_ends = self.shared(self.batches), float("inf")


def test_a_lasting_change_of_state_does_not_reach_a_model(home: Path) -> None:
    """After the first round a neighbour comes to stay: the model is of the busy core throughout."""
    backend = Shared(disturbances=QUIET)
    backend.shared = lambda batches: batches >= 2
    builder = ModelBuilder(Sampler(backend, budget=Budget(1.0, 0.01)), Store(home), TO_HALF_A_PER_CENT)
    (model,) = builder.provide([need_of()]).values()
    assert [batch.state for batch in builder.batches[:2]] == ["free", "busy"]
    assert model.state == "busy"
    np.testing.assert_allclose(errors_of(backend, model), QUIET.slow_down - 1, atol=0.05)


def test_a_state_that_keeps_changing_is_named_mixed(home: Path) -> None:
    backend = Shared(disturbances=QUIET)
    backend.shared = lambda batches: batches % 2 == 0
    builder = ModelBuilder(Sampler(backend, budget=Budget(1.0, 0.01)), Store(home), TO_HALF_A_PER_CENT)
    (model,) = builder.provide([need_of()]).values()
    assert {"free", "busy"} <= {batch.state for batch in builder.batches}
    assert model.state == "mixed"
    errors = errors_of(backend, model)
    assert errors.min() > -0.1
    assert errors.max() < QUIET.slow_down - 1 + 0.05


def test_a_partly_measured_point_is_completed(home: Path) -> None:
    """An interrupt after some repetitions: only the missing ones are measured."""
    parameters = Parameters(least_repetitions=8, most_repetitions=8)

    class Interrupted(SimulatedBackend):
        programs = 0

        def run(self, operations: Any, *rest: Any) -> Any:
            self.programs += 1
            if self.programs == 3:
                raise KeyboardInterrupt
            return super().run(operations, *rest)

    need = need_of()
    with pytest.raises(KeyboardInterrupt):
        ModelBuilder(Sampler(Interrupted(disturbances=QUIET)), Store(home), parameters).provide([need])
    kept = Store(home).load_samples(SimulatedBackend().setup, need.key, "free")
    count = sum(map(len, kept.values()))
    assert count > 10
    assert min(map(len, kept.values())) < 8
    builder, _ = provide(home, parameters=parameters)
    whole, _ = provide(home / "other", parameters=parameters)
    assert builder.batches[0].accepted == whole.batches[0].accepted - count


def test_samples_of_a_killed_build_are_used(home: Path) -> None:
    """Models are removed as if the build had been killed before saving them; the samples remain."""
    first, model = provide(home)
    for path in (home / "models").glob("*/*.json"):
        path.unlink()
    second, again = provide(home)
    assert first.batches
    assert not second.batches
    assert again.domains == model.domains
    assert again.samples == model.samples


def test_what_was_sampled_before_a_failure_is_kept(home: Path) -> None:
    class Failing(SimulatedBackend):
        """Crashes in its third program, half way."""

        programs = 0

        def run(self, operations: Any, *rest: Any) -> Any:
            self.programs += 1
            records = super().run(operations, *rest)
            if self.programs == 3:
                raise KernelFailed("dtrsm crashed", records.part(0, len(operations) // 2))
            return records

    need, parameters = need_of(), Parameters(least_repetitions=8, most_repetitions=8)
    with pytest.raises(KernelFailed, match="dtrsm crashed"):
        ModelBuilder(Sampler(Failing(disturbances=QUIET)), Store(home), parameters).provide([need])
    store = Store(home)
    kept = store.load_samples(SimulatedBackend().setup, need.key, "free")
    assert sum(map(len, kept.values())) > 10
    assert store.all_models() == []
    assert provide(home)[1].pieces


def test_a_store_that_fails_is_told(home: Path) -> None:
    sampler = Sampler(SimulatedBackend(disturbances=QUIET))
    builder = ModelBuilder(sampler, Store(home))
    need = need_of()
    (home / "models" / sampler.setup.fingerprint).mkdir()
    (home / "models" / sampler.setup.fingerprint / f"trsm-{need.key.case.replace(' ', '_')}-{need.key.ld}.json").mkdir()
    with pytest.raises(StoreError, match="cannot be used"):
        builder.provide([need])


def test_calls_that_are_always_preempted_are_uncertain(home: Path) -> None:
    """Those of more than 2 ms, as on a crowded machine: what is known of them is used, and said to be uncertain."""

    class Crowded(SimulatedBackend):
        def _call_seconds(self, call: Any) -> float:
            seconds = super()._call_seconds(call)
            if seconds > 2e-3:
                self._switches += 1
            return seconds

    backend = Crowded(disturbances=QUIET)
    need = need_of(domain=Domain((8, 8), (768, 512)))
    sampler = Sampler(backend, budget=Budget(1.0, 0.01))
    (model,) = ModelBuilder(sampler, Store(home)).provide([need]).values()
    large = model.evaluate(np.array([[768, 512]]))
    assert truth(backend, model, TRSM, np.array([[768, 512]]))[0] > 2e-3
    assert large.errors[0] > 0.01
    assert large.statistics[0, MEDIAN] == pytest.approx(truth(backend, model, TRSM, np.array([[768, 512]]))[0], rel=0.5)


def test_calls_that_take_no_time(home: Path) -> None:
    """Where the clock shows no more than what timing itself takes."""

    class Coarse(SimulatedBackend):
        def _call_seconds(self, call: Any) -> float:
            return max(0.0, super()._call_seconds(call) - 2e-6)

    for reference in (0.0, 0.5):
        parameters = Parameters(reference=reference, bound=0.05)
        need = need_of(POTF2, Domain((8,), (128,)))
        _, model = provide(home, Coarse(disturbances=JITTER), parameters, need=need)
        found = model.evaluate(np.arange(8, 129, 8)[:, None])
        assert (found.statistics[:, MEDIAN] > 0).all()
        assert np.isfinite(found.errors).all()
        assert found.statistics[-1, MEDIAN] == pytest.approx(1 / 3 * 128**3 / 2.5e9, rel=0.2)


# --- other parameters


def test_a_model_remembers_what_it_was_made_with(home: Path) -> None:
    for name in ("fast", "peise2017"):
        provide(home / name, parameters=PRESETS[name], need=need_of(POTF2, Domain((8,), (256,))))
        ((_, model),) = Store(home / name).all_models()
        assert model.parameters == PRESETS[name]
        assert preset_name(model.parameters) == name


def test_other_parameters_make_a_model_anew(home: Path) -> None:
    """From the samples that are there, as far as they serve."""
    first, _ = provide(home)
    again, model = provide(home, parameters=Parameters(bound=0.05, oversampling=2))
    assert model.parameters.oversampling == 2
    assert accepted(again) < accepted(first)
    same, _ = provide(home, parameters=Parameters(bound=0.05, oversampling=2, seconds=5.0, answer_bound=0.5))
    assert not same.batches


def test_a_model_of_other_monomials_is_made_anew(home: Path) -> None:
    """As after a change of the kernel's flop count."""
    _, model = provide(home)
    constant = Piece(model.pieces[0].domain, np.ones((1, 5)), 0.1, 0.1, 1)
    setup = SimulatedBackend(disturbances=QUIET).setup
    Store(home).save_model(setup, replace(model, exponents=((0, 0),), pieces=(constant,)))
    _, again = provide(home)
    assert again.exponents == model.exponents
    assert again.domains == model.domains


def test_threads_have_models_of_their_own(home: Path) -> None:
    one = SimulatedBackend(disturbances=QUIET, threads=1)
    two = SimulatedBackend(disturbances=QUIET, threads=2)
    first, slower = provide(home, one)
    second, faster = provide(home, two)
    assert first.batches
    assert second.batches
    assert len({setup.fingerprint for setup, _ in Store(home).all_models()}) == 2
    large = np.array([[768, 256]])
    gain = slower.evaluate(large).statistics[0, MEDIAN] / faster.evaluate(large).statistics[0, MEDIAN]
    assert gain == pytest.approx(2**0.9, rel=0.05)
    assert not provide(home, SimulatedBackend(disturbances=QUIET, threads=2))[0].batches


class Bimodal(SimulatedBackend):
    """About 60 % of the samples take up to half as long again, by how much depends on the sizes without a pattern."""

    def _call_seconds(self, call: Any) -> float:
        slow = 1 + 0.5 * (sum(31 * i * size for i, size in enumerate(call.sizes.values(), 1)) // 8 % 7) / 7
        return super()._call_seconds(call) * (slow if self._random.random() < 0.6 else 1.0)


def test_other_statistics_may_decide(home: Path) -> None:
    """The minimum and a low quantile are smooth where the median is not."""
    errors = {}
    for reference, seconds in ((0.0, 60.0), (0.25, 60.0), (0.5, 1.0)):  # the last would go on for long
        parameters = Parameters(least_repetitions=31, most_repetitions=31, bound=0.01, seconds=seconds)
        backend = Bimodal(disturbances=QUIET)
        folder = home / str(reference)
        builder, model = provide(folder, backend, replace(parameters, reference=reference), need=need_of(SYRK))
        errors[reference] = model.worst_error
        assert model.parameters.reference == reference
        if reference < 0.5:
            assert builder.stopped != "budget"
            found = model.evaluate(calls_in(DOMAIN)).statistics[:, MIN]
            np.testing.assert_allclose(found, truth(backend, model, SYRK, calls_in(DOMAIN)), rtol=0.01)
    assert errors[0.5] > 1.5 * max(errors[0.0], errors[0.25])


# --- the dissertation's


def test_the_dissertations_models(home: Path, tmp_path: Path) -> None:
    """Ten samples of every point, pieces by halving, whatever a question wants."""
    need = need_of(domain=Domain((8, 8), (400, 136)))
    builder, model = provide(home, parameters=PEISE2017, judge=within(0.5), need=need)
    assert model.exponents == monomials(TRSM.kernel, dict(TRSM.flags), 2)
    assert {len(samples) for samples in samples_of(home, model).values()} == {10}
    assert builder.stopped in ("bound", "minimum width")
    backend, sizes = SimulatedBackend(disturbances=QUIET), calls_in(need.domains[0])
    errors = np.abs(model.evaluate(sizes).statistics[:, MIN] / truth(backend, model, TRSM, sizes) - 1)
    assert np.percentile(errors, 90) < 0.01
    assert not provide(home, parameters=PEISE2017, judge=within(0.001), need=need)[0].batches
    _, unasked = provide(tmp_path / "new", parameters=PEISE2017, need=need)
    assert unasked.domains == model.domains
