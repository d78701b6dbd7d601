"""Whether a model can be built: points for its polynomials, room for cuts, memory for its operands."""

import numpy as np

from blascast.sampler.errors import UsageError
from blascast.sampler.job import buffers_of, job_of

from ..fitting.basis import degrees, monomials
from ..parameters import PRESETS, Parameters
from ..sampling import Case
from ..sizes.domain import STEP, Domain
from ..sizes.lattice import EVEN, Lattice
from .need import Need

MOST_POINTS = 3000


def rounded(domain: Domain) -> Domain:
    """The domain with bounds at multiples of 8 around its own, along sizes for which it is wide enough to have some.

    Examples
    --------
    >>> rounded(Domain((1, 100, 30), (500, 1000, 40)))
    Domain(lower=(1, 96, 30), upper=(504, 1000, 40))
    """
    bounds = [_rounded(low, high) for low, high in zip(domain.lower, domain.upper, strict=True)]
    lower, upper = zip(*bounds, strict=True)
    return Domain(lower, upper)


def _rounded(low: int, high: int) -> tuple[int, int]:
    if high - low < 2 * STEP:
        return low, high
    return max(1, low // STEP * STEP), -(-high // STEP) * STEP


def check_points(case: Case, domain: Domain, parameters: Parameters) -> None:
    """Refuses a domain in which a size has too few values for the least polynomial; a single one needs none.

    Raises
    ------
    UsageError
        If it has.
    """
    for i, (name, degree) in enumerate(zip(case.kernel.sizes, _least_degrees(case, parameters), strict=True)):
        low, high = domain.lower[i], domain.upper[i]
        count = len(EVEN.between(i, low, high))
        if 1 < count <= degree:
            raise UsageError(
                f"{name} = {low}:{high} has {count} sizes to sample, too few for a polynomial of degree {degree} in "
                f"{name}; widen it, or give one size"
            )


def check_widths(case: Case, domain: Domain, parameters: Parameters, threads: int) -> None:
    """Refuses a minimum width that somebody chose and that leaves nothing to cut, or halves without enough points.

    Raises
    ------
    UsageError
        If it exceeds the domain's width along every size, or halves could be too narrow for their polynomials.
    """
    width = parameters.minimum_width_for(case.kernel.sizes, threads)
    alike = [preset for preset in PRESETS.values() if preset.cuts == parameters.cuts]
    usual = {preset.minimum_width_for(case.kernel.sizes, threads) for preset in alike}
    widest = max(high - low for low, high in zip(domain.lower, domain.upper, strict=True))
    if width > widest and width not in usual:
        raise UsageError(
            f"the minimum width {width} exceeds the domain's largest width {widest} ({domain}): nothing could be cut; "
            "choose a smaller one, or larger sizes"
        )
    degree = max(_least_degrees(case, parameters))
    if parameters.cuts == "halves" and width // STEP < degree and width not in usual:
        raise UsageError(
            f"a minimum width of {width} leaves {width // STEP + 1} sizes to sample in a piece, too few for a "
            f"polynomial of degree {degree}; choose at least {STEP * degree}, or less overfitting"
        )


def _least_degrees(case: Case, parameters: Parameters) -> tuple[int, ...]:
    """Degrees of the least polynomial, by size."""
    overfitting = parameters.overfitting_for(case.kernel.sizes) if parameters.cuts == "halves" else 0
    return tuple(degrees(monomials(case.kernel, dict(case.flags), overfitting)))


def check_operands(need: Need, item_bytes: int, available_bytes: float, ld: int | None = None) -> None:
    """Refuses domains whose largest operands, and the copies to restore them from, would not fit.

    Parameters
    ----------
    need : Need
    item_bytes : int
        Of an element.
    available_bytes : float
    ld : int, optional
        Leading dimension; by default that of the need's model.

    Raises
    ------
    UsageError
        If they would not.
    """
    case, ld = need.case, ld or need.key.ld
    for domain in need.domains:
        point = _largest(case, domain)
        buffers = buffers_of([job_of(case.call(point, ld), need.precondition)], 0)
        needed = 2 * item_bytes * sum(buffer.elements for buffer in buffers)
        if needed > available_bytes:
            sizes = ", ".join(f"{n} = {size}" for n, size in zip(case.kernel.sizes, point, strict=True))
            raise UsageError(
                f"{case.kernel.name} at {sizes} needs {needed / 1e9:.3g} GB for its operands (leading dimension {ld}), "
                f"{available_bytes / 1e9:.3g} GB of memory are available; choose smaller sizes"
            )


def _largest(case: Case, domain: Domain) -> tuple[int, ...]:
    """The largest sizes in a domain that the kernel takes, about.

    Raises
    ------
    UsageError
        If it takes none of them.
    """
    lattice = Lattice(valid=case.valid)
    points = lattice.product([np.array(bounds) for bounds in zip(domain.lower, domain.upper, strict=True)])
    if not len(points):
        points = lattice.points(domain, domain, MOST_POINTS, np.random.default_rng(0))
    if not len(points):
        required = " and ".join(case.kernel.requires)
        raise UsageError(f"{case.kernel.name} needs {required}, which no sizes of {domain} fulfil; choose others")
    return tuple(points[np.argmax(points.sum(axis=1))].tolist())
