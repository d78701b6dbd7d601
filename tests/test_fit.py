"""Fits: exact where they can be, and honest about points left out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from modelling import PARABOLA, TRSM, bases_of, polynomial

from blascast.models.fitting.basis import design_matrix
from blascast.models.fitting.fit import fit, fit_statistics
from blascast.models.summary import MEDIAN, STATISTICS, STD


def scattered(seed: int, count: int = 12, noise: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """Monomials of a parabola at points, and times near one."""
    random = np.random.default_rng(seed)
    sizes = np.sort(random.choice(np.arange(8, 500, 8), count, replace=False))[:, None]
    seconds = (1e-6 + 1e-9 * sizes[:, 0] ** 2) * (1 + noise * random.standard_normal(count))
    return design_matrix(sizes, PARABOLA, np.array([500.0])), seconds


def refit_without(matrix: np.ndarray, seconds: np.ndarray, left_out: int, weights: np.ndarray) -> float:
    """Relative error at a point that a fit by another route has not seen."""
    kept = np.arange(len(seconds)) != left_out
    relative, squares = matrix[kept] / seconds[kept, None], weights[kept] ** 2
    coefficients = np.linalg.solve((relative.T * squares) @ relative, relative.T @ squares)
    return float(matrix[left_out] @ coefficients / seconds[left_out] - 1)


@given(st.integers(0, 10_000))
def test_held_out_errors_are_those_of_true_refits(seed: int) -> None:
    matrix, seconds = scattered(seed)
    weights = np.random.default_rng(seed).uniform(0.2, 1.0, len(seconds))
    for found, used in ((fit(matrix, seconds), np.ones(len(seconds))), (fit(matrix, seconds, weights), weights)):
        for i in range(len(seconds)):
            free = found.residuals[i] / found.held_out[i]  # 1 - leverage, bounded where a point stands alone
            if free > 0.06:
                assert found.held_out[i] == pytest.approx(refit_without(matrix, seconds, i, used), rel=1e-6, abs=1e-9)


def test_held_out_errors_exceed_fitted_ones() -> None:
    found = fit(*scattered(0))
    assert np.all(np.abs(found.held_out) > np.abs(found.residuals))


def test_a_point_that_stands_alone_has_a_finite_error() -> None:
    """The only point of a monomial is fitted exactly, and nothing is known about how well."""
    matrix = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    found = fit(matrix, np.array([1.0, 1.1, 0.9, 5.0]))
    assert np.isfinite(found.held_out).all()
    assert found.residuals[3] == pytest.approx(0, abs=1e-12)
    assert not found.tested
    assert fit(np.repeat(matrix, 2, axis=0), np.array([1.0, 1.1, 1.2, 1.0, 0.9, 1.0, 5.0, 5.1])).tested


def test_errors_are_relative() -> None:
    """The sum of squares of p(x) / y - 1 is the least there is."""
    matrix, seconds = scattered(1)
    best = fit(matrix, seconds)
    np.testing.assert_allclose(best.residuals, matrix @ best.coefficients / seconds - 1, atol=1e-12)
    random = np.random.default_rng(0)
    for _ in range(50):
        other = best.coefficients * (1 + 0.01 * random.standard_normal(3))
        assert np.sum((matrix @ other / seconds - 1) ** 2) > np.sum(best.residuals**2)


def test_exact_on_polynomials() -> None:
    (exponents,) = bases_of(TRSM, 0)
    cost = polynomial(exponents)
    sizes = np.random.default_rng(0).integers(8, 500, (20, 2))
    seconds = np.array([cost(*row) for row in sizes.tolist()])
    found = fit(design_matrix(sizes, exponents, np.array([500.0, 500.0])), seconds)
    assert np.abs(found.residuals).max() < 1e-10
    assert np.abs(found.held_out).max() < 1e-8
    others = np.random.default_rng(1).integers(8, 500, (50, 2))
    predicted = design_matrix(others, exponents, np.array([500.0, 500.0])) @ found.coefficients
    np.testing.assert_allclose(predicted, [cost(*row) for row in others.tolist()], rtol=1e-9)


def test_points_on_a_line_determine_what_is_on_the_line() -> None:
    """Only m = 64 was sampled: powers of m cannot be told apart, estimates there can."""
    (exponents,) = bases_of(TRSM, 0)
    cost = polynomial(exponents)
    sizes = np.array([[64, n] for n in range(8, 200, 8)])
    scale = np.array([64.0, 200.0])
    found = fit(design_matrix(sizes, exponents, scale), np.array([cost(*row) for row in sizes.tolist()]))
    assert np.isfinite(found.coefficients).all()
    assert np.abs(found.residuals).max() < 1e-9
    between = np.array([[64, 13], [64, 111]])
    predicted = design_matrix(between, exponents, scale) @ found.coefficients
    np.testing.assert_allclose(predicted, [cost(*row) for row in between.tolist()], rtol=1e-8)
    leverages = found.leverages(design_matrix(sizes, exponents, scale))
    assert leverages.sum() == pytest.approx(2)  # its rank: a line in n


def test_fewer_points_than_monomials() -> None:
    matrix = design_matrix(np.array([[8], [64]]), PARABOLA, np.array([64.0]))
    found = fit(matrix, np.array([1.0, 2.0]))
    assert np.isfinite(found.coefficients).all()
    np.testing.assert_allclose(matrix @ found.coefficients, [1.0, 2.0])


@pytest.mark.parametrize("unit", [1e-12, 1e-9, 1e6])
def test_the_unit_of_time_does_not_matter(unit: float) -> None:
    matrix, seconds = scattered(2)
    one, other = fit(matrix, seconds), fit(matrix, unit * seconds)
    np.testing.assert_allclose(other.coefficients, unit * one.coefficients, rtol=1e-9)
    np.testing.assert_allclose(other.residuals, one.residuals, atol=1e-12)
    np.testing.assert_allclose(other.held_out, one.held_out, atol=1e-12)
    np.testing.assert_allclose(other.leverages(matrix), one.leverages(matrix), rtol=1e-9)


def test_leverages_sum_to_the_number_of_monomials() -> None:
    sizes = np.arange(8, 200, 8)[:, None]
    matrix = design_matrix(sizes, PARABOLA, np.array([200.0]))
    found = fit(matrix, 1e-6 + 1e-9 * sizes[:, 0] ** 2)
    assert found.leverages(matrix).sum() == pytest.approx(3)
    assert (found.leverages(matrix) > 0).all()


def test_leverages_are_the_variances_of_estimates() -> None:
    """Of many fits to noisy times, the relative variances at other points are noise^2 times the leverages."""
    sizes, noise = np.arange(8, 200, 8)[:, None], 0.01
    matrix = design_matrix(sizes, PARABOLA, np.array([200.0]))
    others = design_matrix(np.array([[8], [100], [200], [300]]), PARABOLA, np.array([200.0]))
    seconds = 1e-6 + 1e-9 * sizes[:, 0] ** 2
    random = np.random.default_rng(0)
    estimates = [
        others @ fit(matrix, seconds * (1 + noise * random.standard_normal(len(sizes)))).coefficients
        for _ in range(3000)
    ]
    deviations = np.std(estimates, axis=0) / np.mean(estimates, axis=0)
    np.testing.assert_allclose(deviations, noise * np.sqrt(fit(matrix, seconds).leverages(others)), rtol=0.08)


def test_each_statistic_has_coefficients_of_its_own() -> None:
    matrix, _ = scattered(0)
    random = np.random.default_rng(0)
    true = random.uniform(1, 2, (3, len(STATISTICS)))
    found = fit_statistics(matrix, matrix @ true)
    np.testing.assert_allclose(found, true, rtol=1e-7)


def test_a_deviation_may_vanish() -> None:
    matrix, seconds = scattered(0)
    statistics = np.repeat(seconds[:, None], len(STATISTICS), axis=1)
    statistics[:, STD] = 0.0
    found = fit_statistics(matrix, statistics)
    assert np.all(found[:, STD] == 0)
    np.testing.assert_allclose(found[:, MEDIAN], fit(matrix, seconds).coefficients, rtol=1e-6)
