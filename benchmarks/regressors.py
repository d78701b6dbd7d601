"""Other ways to make a model of the same samples, for `rivals.py`.

Each takes what was observed of a kernel case at some points and returns a function that estimates
seconds at any sizes, or None if there are too few points for it.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from blascast.models.fitting.basis import Exponents, design_matrix, monomials, of_total_degree, raised_singly
from blascast.models.fitting.fit import fit
from blascast.models.fitting.part import Observed, Part, fitted_part
from blascast.models.fitting.partition import partition
from blascast.models.generation.generator import Observation, Point
from blascast.models.generation.halving import halves
from blascast.models.generation.need import Need
from blascast.models.generation.task import Task
from blascast.models.parameters import Parameters
from blascast.models.sampling import Case
from blascast.models.sizes.domain import Domain
from blascast.models.sizes.lattice import EVEN, IntArray, Lattice
from blascast.models.summary import MEDIAN, FloatArray

DEFAULT = Parameters()
HUBER = 1.345  # times the scale: 95 % as efficient as least squares where errors are normal
NORMAL = 1.4826  # standard deviation of normal errors over the median of their absolute values
REWEIGHTINGS = 30
LEAST_WEIGHED = 1e-3  # standard errors below it count as that
DEGREE_OF_LOGARITHMS = 3
MOST_LEARNT = 300  # points of a Gaussian process, whose fit takes their cube
SECOND, CUBIC = 1.0, 3
CHUNK = 10_000

Estimate = Callable[[IntArray], FloatArray]  # seconds at sizes of shape (n, d)


@dataclass(frozen=True)
class Training:
    """What was observed of a kernel case, by point."""

    case: Case
    domain: Domain
    observations: dict[Point, Observation]

    @cached_property
    def points(self) -> IntArray:
        """Sizes: array of shape (n, d)."""
        return np.array(list(self.observations))

    @cached_property
    def seconds(self) -> FloatArray:
        """Medians."""
        return np.array([observation.reference for observation in self.observations.values()])

    @cached_property
    def noise(self) -> FloatArray:
        """Standard errors, relative."""
        return np.array([observation.standard_error for observation in self.observations.values()])

    @cached_property
    def rates(self) -> FloatArray:
        """Flops per second."""
        return self.flops(self.points) / self.seconds

    @property
    def spent(self) -> float:
        """Seconds of calls that it took."""
        return sum(observation.seconds for observation in self.observations.values())

    def flops(self, sizes: IntArray) -> FloatArray:
        """Floating-point operations at sizes."""
        values = dict(zip(self.case.kernel.sizes, sizes.astype(float).T, strict=True))
        return np.asarray(self.case.kernel.flop_count({**self.case.flags, **values}), dtype=float)

    def basis(self, overfitting: int) -> Exponents:
        """All monomials of the flop count, raised."""
        return monomials(self.case.kernel, self.case.flags, overfitting)

    def matrix(self, sizes: IntArray, exponents: Exponents) -> FloatArray:
        """Monomials at sizes."""
        return design_matrix(sizes, exponents, np.array(self.domain.upper, dtype=float))

    def task(self, lattice: Lattice = EVEN) -> Task:
        """Our default generator, fitted to the observations."""
        task = Task(Need(self.case, (self.domain,)), DEFAULT, threads=1)
        task.begin([self.domain], self.observations, lattice)
        task.generator_.observe({})
        return task


Rival = Callable[[Training], Estimate | None]


# --- what is built in, and what else could be done with pieces


def fitted_cuts(training: Training) -> Estimate:
    """What is built in: cut where the samples fit best."""
    model = training.task().completed("free", "budget", 0.0)
    return lambda sizes: model.evaluate(sizes).statistics[:, MEDIAN]


def fitted_cuts_alike(training: Training) -> Estimate:
    """The same, with points that all count alike, however much they scatter."""
    highest = DEFAULT.overfitting_for(training.case.kernel.sizes)
    bases = [raised_singly(training.basis(i), training.basis(0)) for i in range(highest + 1)]
    observed = Observed.alike(training.points, training.seconds, training.noise)
    width = DEFAULT.minimum_width_for(training.case.kernel.sizes, 1)
    parts, _ = partition(training.domain, observed, bases, width, EVEN)
    return _by_parts(parts)


def halved(training: Training) -> Estimate:
    """Halves as long as the error exceeds the bound and the points suffice for both."""
    exponents = training.basis(0)
    observed = Observed.alike(training.points, training.seconds, training.noise)
    return _by_parts(_halved(fitted_part(training.domain, observed, exponents), len(exponents)))


def _by_parts(parts: list[Part]) -> Estimate:
    def estimate(sizes: IntArray) -> FloatArray:
        seconds = np.zeros(len(sizes))
        for part in parts:
            here = part.domain.contains(sizes)
            seconds[here] = part.seconds(sizes[here])
        return seconds

    return estimate


def _halved(part: Part, fewest: int) -> list[Part]:
    pair = halves(part.domain, DEFAULT.minimum_width)
    if pair is None or np.percentile(np.abs(part.fit.held_out), 90) <= DEFAULT.bound:
        return [part]
    observed = [part.observed.inside(half) for half in pair]
    if min(len(inside.seconds) for inside in observed) <= fewest:
        return [part]
    parts = [fitted_part(half, inside, part.exponents) for half, inside in zip(pair, observed, strict=True)]
    return [piece for half in parts for piece in _halved(half, fewest)]


# --- one polynomial on the whole domain


def one_polynomial(training: Training, overfitting: int) -> Estimate | None:
    """Least squares of the relative error; monomials raised in all sizes."""
    return _linear(training, training.basis(overfitting), _least_squares)


def cubic_of_a_second(training: Training) -> Estimate | None:
    """All monomials up to degree 3, from as many of the points, at random, as took a second: the baseline to beat."""
    seconds = np.array([observation.seconds for observation in training.observations.values()])
    order = np.random.default_rng(0).permutation(len(seconds))
    taken = order[: 1 + int(np.searchsorted(np.cumsum(seconds[order]), SECOND))]
    points = list(training.observations.items())
    some = Training(training.case, training.domain, dict(points[i] for i in taken))
    return _linear(some, of_total_degree(len(training.domain.lower), CUBIC), _least_squares)


def raised(training: Training) -> Estimate | None:
    """The same, raised in one size at a time."""
    return _linear(training, _raised(training), _least_squares)


def weighted(training: Training) -> Estimate | None:
    """The same, each point weighted by its standard error."""
    weights = 1 / np.maximum(training.noise, LEAST_WEIGHED)
    return _linear(training, _raised(training), lambda relative: _least_squares(relative, weights))


def robust(training: Training) -> Estimate | None:
    """Huber's estimator, by least squares that are weighted again and again."""
    return _linear(training, _raised(training), _huber)


def _raised(training: Training) -> Exponents:
    return raised_singly(training.basis(1), training.basis(0))


def _linear(training: Training, exponents: Exponents, solve: Callable[[FloatArray], FloatArray]) -> Estimate | None:
    """What `solve` makes of monomials relative to the time, which should sum to 1."""
    if len(training.points) <= len(exponents):
        return None
    coefficients = solve(training.matrix(training.points, exponents) / training.seconds[:, None])
    return lambda sizes: training.matrix(sizes, exponents) @ coefficients


def _least_squares(relative: FloatArray, weights: FloatArray | float = 1.0) -> FloatArray:
    weights = weights * np.ones(len(relative))
    return np.linalg.lstsq(relative * weights[:, None], weights, rcond=None)[0]


def _huber(relative: FloatArray) -> FloatArray:
    coefficients = _least_squares(relative)
    for _ in range(REWEIGHTINGS):
        errors = np.abs(relative @ coefficients - 1) + np.finfo(float).tiny
        scale = HUBER * NORMAL * np.median(errors)
        coefficients = _least_squares(relative, np.sqrt(np.minimum(1.0, scale / errors)))
    return coefficients


# --- of something else than the time


def rate(training: Training) -> Estimate | None:
    """A polynomial of logarithms of the sizes for the rate, by least squares of its relative error."""
    matrix = _logarithmic(training.domain, training.points)
    if len(matrix) <= matrix.shape[1]:
        return None
    coefficients = fit(matrix, training.rates).coefficients
    return lambda sizes: training.flops(sizes) / (_logarithmic(training.domain, sizes) @ coefficients)


def log_time(training: Training) -> Estimate | None:
    """The same polynomial for the logarithm of the time."""
    matrix = _logarithmic(training.domain, training.points)
    if len(matrix) <= matrix.shape[1]:
        return None
    coefficients = np.linalg.lstsq(matrix, np.log(training.seconds), rcond=None)[0]
    return lambda sizes: np.exp(_logarithmic(training.domain, sizes) @ coefficients)


def _logarithmic(domain: Domain, sizes: IntArray) -> FloatArray:
    """Monomials of logarithms of the sizes, of total degree DEGREE_OF_LOGARITHMS at most."""
    places = domain.places(sizes)
    powers = np.indices((DEGREE_OF_LOGARITHMS + 1,) * places.shape[1]).reshape(places.shape[1], -1).T
    kept = powers[powers.sum(axis=1) <= DEGREE_OF_LOGARITHMS]
    return np.prod(places[:, None, :] ** kept[None], axis=2)


def one_rate(training: Training) -> Estimate:
    """The flop count at one rate, by least squares of the relative error."""
    per_second = float((training.rates**2).sum() / training.rates.sum())
    return lambda sizes: training.flops(sizes) / per_second


# --- of scikit-learn


def boosted_trees(training: Training) -> Estimate:
    """Gradient-boosted trees for the logarithm of the rate."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    trees = HistGradientBoostingRegressor(max_iter=300, min_samples_leaf=3, random_state=0)
    trees.fit(training.domain.places(training.points), np.log(training.rates))
    return lambda sizes: training.flops(sizes) / np.exp(trees.predict(training.domain.places(sizes)))


def gaussian_process(training: Training) -> Estimate:
    """A Gaussian process for the logarithm of the rate."""
    process = process_of(training)

    def estimate(sizes: IntArray) -> FloatArray:
        chunks = np.array_split(training.domain.places(sizes), -(-len(sizes) // CHUNK))
        return training.flops(sizes) / np.exp(np.concatenate([process.predict(chunk) for chunk in chunks]))

    return estimate


def process_of(training: Training):
    """The process, fitted to so many points at most: a length for each size, and white noise."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    lengths = np.ones(training.points.shape[1])
    kernel = ConstantKernel(1.0, (1e-3, 1e4)) * Matern(lengths, (1e-2, 1e2), nu=2.5)
    process = GaussianProcessRegressor(
        kernel + WhiteKernel(1e-3, (1e-9, 1.0)), normalize_y=True, n_restarts_optimizer=1, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        chosen = np.random.default_rng(0).permutation(len(training.points))[:MOST_LEARNT]
        return process.fit(training.domain.places(training.points[chosen]), np.log(training.rates[chosen]))


RIVALS: dict[str, Rival] = {
    "fitted cuts (built in)": fitted_cuts,
    "fitted cuts, points alike": fitted_cuts_alike,
    "halving": halved,
    "one cubic, one second": cubic_of_a_second,
    "one polynomial, overfitting 0": partial(one_polynomial, overfitting=0),
    "one polynomial, overfitting 1": partial(one_polynomial, overfitting=1),
    "one polynomial, overfitting 2": partial(one_polynomial, overfitting=2),
    "one polynomial, 1 in one size": raised,
    "the same, weighted": weighted,
    "the same, robust": robust,
    "cubic in logarithms, rate": rate,
    "cubic in logarithms, log time": log_time,
    "boosted trees, log rate": boosted_trees,
    "Gaussian process, log rate": gaussian_process,
    "flops / one rate": one_rate,
}
