"""Workloads: where in models the time and the error of a question's calls arise."""

from dataclasses import replace

import numpy as np
import pytest
from modelling import LD, TRSM, bases_of, drive, noisy, trsm_seconds

from blascast.models.generation.generator import pieces_of
from blascast.models.generation.need import Need
from blascast.models.generation.refinement import Refinement
from blascast.models.generation.task import Task
from blascast.models.generation.workload import Workload, by_model, by_parts, importance
from blascast.models.parameters import Parameters
from blascast.models.piecewise import Model, ModelKey
from blascast.models.sizes.domain import Domain

DOMAIN = Domain((8, 8), (768, 264))
CONFIGURATIONS = 5


@pytest.fixture
def generator() -> Refinement:
    """Several parts, of samples that scatter."""
    generator = Refinement([DOMAIN], bases_of(TRSM, 1), Parameters(), 8)
    drive(generator, trsm_seconds, noise=0.003)
    assert len(generator.parts) > 1
    return generator


def calls(seed: int = 0, count: int = 200) -> Workload:
    random = np.random.default_rng(seed)
    sizes = np.stack([random.integers(8, upper + 1, count) for upper in DOMAIN.upper], axis=1)
    return Workload(sizes, random.integers(0, CONFIGURATIONS, count), CONFIGURATIONS)


def model_of(generator: Refinement) -> Model:
    exponents = bases_of(TRSM, 1)[-1]
    pieces = pieces_of(generator, exponents)
    return Model(ModelKey("trsm", TRSM.name, LD), exponents, pieces, "free", "bound", 0.0, Parameters())


def test_parts_contribute_what_the_finished_model_does(generator: Refinement) -> None:
    workload, model = calls(), model_of(generator)
    parts, pieces = by_parts(workload, generator.parts), by_model(workload, model)
    np.testing.assert_allclose(parts.seconds, pieces.seconds, rtol=1e-6)
    np.testing.assert_allclose(parts.errors, pieces.errors, rtol=1e-6)
    assert parts.seconds.shape == (CONFIGURATIONS, len(generator.parts))


def test_contributions_add_up_to_the_run_time(generator: Refinement) -> None:
    """The calls of one part err as one: its errors add."""
    workload, model = calls(), model_of(generator)
    found = model.evaluate(workload.sizes)
    contributed = by_model(workload, model)
    for configuration in range(CONFIGURATIONS):
        own = workload.owner == configuration
        assert contributed.seconds[configuration].sum() == pytest.approx(found.statistics[own, 1].sum())
        expected = (found.statistics[own, 1] * found.errors[own]).sum()
        assert contributed.errors[configuration].sum() == pytest.approx(expected)


def test_calls_that_a_model_does_not_cover_are_left_to_others(generator: Refinement) -> None:
    workload, model = calls(), model_of(generator)
    first = replace(model, pieces=model.pieces[:1])
    inside = first.covers(workload.sizes)
    assert 0 < inside.sum() < len(inside)
    some = by_model(workload, first)
    np.testing.assert_allclose(some.seconds, by_model(workload.chosen(inside), first).seconds)
    np.testing.assert_allclose(some.seconds[:, 0], by_model(workload, model).seconds[:, 0])


def test_calls_on_the_bound_of_a_model_count_once() -> None:
    """A model up to m = 400 is there, what is beyond is in the making; both contain m = 400."""
    low, high = DOMAIN.cut(0, 400)
    made, making = (Refinement([part], bases_of(TRSM, 1), Parameters(), 8) for part in (low, high))
    drive(made, trsm_seconds)
    workload = Workload(np.array([[400, n] for n in range(8, 265, 8)]), np.zeros(33, dtype=np.int64), 1)
    task = Task(Need(TRSM, (DOMAIN,), workload), Parameters(), threads=1)
    task.model = model_of(made)
    assert task.missing() == [high]
    task.begin([high], {})
    observe = noisy(trsm_seconds, 0.0)
    task.generator_.observe({point: observe(point) for point in task.generator_.wanted})
    contributed = task.contributions()
    assert contributed.seconds.shape == (1, task.width)
    truth = sum(trsm_seconds(*row) for row in workload.sizes.tolist())
    assert contributed.seconds.sum() == pytest.approx(truth, rel=0.02)
    assert making.wanted


def test_a_configuration_without_calls_takes_no_time(generator: Refinement) -> None:
    workload = Workload(np.array([[64, 64]]), np.array([1]), 3)
    for contributed in (by_parts(workload, generator.parts), by_model(workload, model_of(generator))):
        assert contributed.seconds.sum(axis=1).tolist()[::2] == [0, 0]
        assert contributed.seconds[1].sum() > 0


def test_importance_is_the_largest_share_of_a_squared_error() -> None:
    errors = np.array([[3.0, 4.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 9.0]])
    everything, first = np.array([True, True, False]), np.array([True, False, False])
    assert importance(errors, everything) == pytest.approx([1.0, 16 / 25, 0.0])
    assert importance(errors, first) == pytest.approx([9 / 25, 16 / 25, 0.0])
    assert importance(np.zeros((2, 3)), np.array([True, True])).tolist() == [0, 0, 0]
