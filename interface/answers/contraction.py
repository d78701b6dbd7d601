"""contract: which algorithm of a tensor contraction is fastest."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Unpack

import numpy as np

from blascast.algorithms.contractions import (
    KERNELS,
    Candidate,
    Problem,
    candidates,
    check_extents,
    counts,
    fused,
    parse_contraction,
    source_of,
)
from blascast.algorithms.contractions.problem import Order
from blascast.predictors.contractions.choice import Estimate, estimates, run_estimates
from blascast.predictors.contractions.measuring import Measurer, timing_of
from blascast.predictors.contractions.states import Machine
from blascast.predictors.ranking import noise_or_assumed, tie_classes
from blascast.sampler.batch.sample import Batch, State
from blascast.sampler.errors import UsageError, unknown
from blascast.sampler.job import Job
from blascast.sampler.kernel import ITEM_BYTES, flop_factor
from blascast.sampler.resources import available_memory
from blascast.sampler.setup import SetupRequest

from ..report import efficiency
from ..session import Session, SessionOptions
from .contraction_report import MOST_RUN, ContractionReport, ContractionRow
from .evidence import Evidence
from .opponents import measure_opponents

REPETITIONS = 5
LEAST_VERIFIED = 3
VERIFY_SECONDS = 10.0
MOST_ALGORITHMS = 20_000
MATRIX_PRODUCTS = frozenset(["gemm", "ttgt"])


def rank_contraction(
    contraction: str,
    sizes: Mapping[str, int],
    *,
    kernels: Sequence[str] | None = None,
    order: Order = "F",
    verify: bool = False,
    measure: bool = False,
    budget: float = VERIFY_SECONDS,
    **options: Unpack[SessionOptions],
) -> ContractionReport:
    """Ranks the algorithms of a contraction by predicted run time.

    Parameters
    ----------
    contraction : str
        Such as ``"abc=ai,ibc"`` or ``"ai,ibc->abc"``.
    sizes : mapping
        By index.
    kernels : sequence of str, optional
        By default all: dot, axpy, gemv, ger, gemm, and ttgt (one gemm on transposed copies).
    order : str
        Whether the first (``"F"``) or the last index (``"C"``) of the tensors is contiguous.
    verify : bool
        Whether the fastest are measured as well, interleaved, and NumPy and opt_einsum beside them.
    measure : bool
        Whether the most promising are run instead of predicted, which takes less for small contractions.
    budget : float
        Seconds for verifying: as many algorithms are measured, the fastest first, but at least three; and once
        more for each opponent.
    **options
        Library, data type, threads and so on: the parameters of `Session`.

    Returns
    -------
    ContractionReport

    Raises
    ------
    UsageError
        If a name or number is not valid.
    BlascastError
        If the library, a routine or the store fails.
    """
    parsed = parse_contraction(contraction)
    problem = Problem.contiguous(parsed, check_extents(parsed, sizes), _checked(order))
    check_memory(problem, ITEM_BYTES[SetupRequest(dtype=options.get("dtype", "d")).dtype])
    return rank_problem(problem, kernels, verify, measure, budget, **options)


def rank_problem(
    problem: Problem,
    kernels: Sequence[str] | None = None,
    verify: bool = False,
    measure: bool = False,
    budget: float = VERIFY_SECONDS,
    **options: Unpack[SessionOptions],
) -> ContractionReport:
    """The same for tensors of any layout; see `rank_contraction`."""
    if not isinstance(budget, int | float) or not 0 < budget < np.inf:
        raise UsageError(f"a budget must be a positive number of seconds, got {budget}")
    check_kernels(kernels)
    began = time.perf_counter()
    with Session(**options) as session:
        setup = session.setup
        if verify or measure:
            check_memory(problem, setup.item_bytes)
        found = found_candidates(problem, setup.dtype, kernels)
        measurer = Measurer(session.sampler, session.store, session.on_progress)
        machine = Machine.of(setup)
        if measure:
            run = partial(_run, session, measurer)
            known = run_estimates(found, machine, measurer, run, MOST_RUN)
        else:
            known = estimates(found, machine, measurer)
        session.account(measurer.batches)
        cost = time.perf_counter() - began
        chosen = _within(budget, known) if verify else []
        measured = _verify(session, measurer.state, chosen) if chosen else []
        opponents = measure_opponents(problem, setup.dtype, setup.threads, REPETITIONS, budget) if verify else ()
        evidence = Evidence.of(session, measurer.state)
    others = tuple(estimate for estimate in known if estimate.basis == "repeated calls")
    rows = _rows(problem, known, measured, evidence)
    return ContractionReport(problem, rows, others, opponents, cost, REPETITIONS, evidence)


def contraction_source(
    contraction: str, sizes: Mapping[str, int], algorithm: str, *, order: Order = "F", dtype: str = "d"
) -> str:
    """An algorithm as loops and as a C function.

    Parameters
    ----------
    contraction, sizes, order
        As of `rank_contraction`.
    algorithm : str
        Its name.
    dtype : str

    Raises
    ------
    UsageError
        If a name or number is not valid.
    """
    parsed = parse_contraction(contraction)
    problem = Problem.contiguous(parsed, check_extents(parsed, sizes), _checked(order))
    found = {candidate.name: candidate for candidate in found_candidates(problem, dtype, None)}
    if algorithm not in found:
        raise unknown(f"algorithm of {parsed}", algorithm, sorted(found))
    return source_of(found[algorithm])


def _checked(order: object) -> Order:
    """Which index is contiguous.

    Raises
    ------
    UsageError
        If that is not told.
    """
    if order == "F" or order == "C":
        return "F" if order == "F" else "C"
    raise UsageError(f"the order must be 'F' (the first index is contiguous) or 'C' (the last), got {order!r}")


def check_kernels(kernels: Sequence[str] | None) -> None:
    """Refuses names of no kernel.

    Raises
    ------
    UsageError
        If one is.
    """
    if isinstance(kernels, str) or not all(isinstance(kernel, str) for kernel in kernels or ()):
        raise UsageError(f"kernels must be a sequence of names, such as ['gemm', 'ttgt'], got {kernels!r}")
    for kernel in sorted(set(kernels or ()) - set(KERNELS)):
        raise unknown("kernel of contractions", kernel, KERNELS)


def found_candidates(problem: Problem, dtype: str, kernels: Sequence[str] | None) -> list[Candidate]:
    """The algorithms of a problem; where there are too many to look at, those on fused indices, or of gemm.

    Raises
    ------
    UsageError
        If there are none with these kernels, or too many all the same.
    """
    chosen = frozenset(KERNELS if kernels is None else kernels)
    if _count(problem, chosen) > MOST_ALGORITHMS:
        problem = fused(problem)
        if (count := _count(problem, chosen)) > MOST_ALGORITHMS and kernels is None:
            few = list(islice(candidates(problem, dtype, MATRIX_PRODUCTS), MOST_ALGORITHMS))
            return few or list(islice(candidates(problem, dtype), MOST_ALGORITHMS))
        if count > MOST_ALGORITHMS:
            raise UsageError(
                f"{problem.contraction} has {count} algorithms with the kernels {', '.join(sorted(chosen))}, up to "
                f"{MOST_ALGORITHMS} are looked at; name fewer kernels, such as gemm or ttgt"
            )
    found = list(candidates(problem, dtype, chosen))
    if not found:
        raise UsageError(
            f"{problem.contraction} has no algorithm with the kernels {', '.join(sorted(chosen)) or '(none)'}: it "
            "lacks the indices that they need, or needs no copies; name others"
        )
    return found


def _count(problem: Problem, kernels: frozenset[str]) -> int:
    """How many algorithms there are, without listing them."""
    return sum(number for kernel, number in counts(problem.contraction).items() if kernel in kernels)


def _within(budget: float, known: Sequence[Estimate]) -> list[Candidate]:
    """The fastest, as many as can be run in a budget; none that takes longer at once."""
    settled = [own for own in known if own.basis != "repeated calls" and own.seconds <= budget]
    spent = np.cumsum([REPETITIONS * estimate.seconds for estimate in settled])
    count = max(LEAST_VERIFIED, int(np.searchsorted(spent, budget, side="right")))
    return [estimate.candidate for estimate in settled[:count]]


def _rows(
    problem: Problem, known: Sequence[Estimate], measured: Sequence[float], evidence: Evidence
) -> tuple[ContractionRow, ...]:
    settled = [estimate for estimate in known if estimate.basis != "repeated calls"]
    noise = noise_or_assumed(evidence.noise_floor)
    classes = tie_classes([e.seconds for e in settled], [e.error for e in settled], noise)
    flops = problem.flops * flop_factor(evidence.setup.dtype)
    return tuple(
        ContractionRow(
            estimate,
            flops / estimate.seconds,
            efficiency(flops / estimate.seconds, evidence.peak),
            tie_class,
            measured[place] if place < len(measured) else None,
        )
        for place, (estimate, tie_class) in enumerate(zip(settled, classes, strict=True))
    )


def check_memory(problem: Problem, item_bytes: int) -> None:
    """Refuses tensors that would not fit into memory.

    Raises
    ------
    UsageError
        If they would not.
    """
    needed = item_bytes * sum(problem.span(name) for name in ("A", "B", "C"))
    if needed > available_memory():
        raise UsageError(
            f"{problem.contraction} needs {needed / 1e9:.3g} GB for its tensors, {available_memory() / 1e9:.3g} GB of "
            "memory are available; choose smaller sizes"
        )


def _run(session: Session, measurer: Measurer, chosen: Sequence[Candidate]) -> list[tuple[float, float]]:
    """Medians of whole runs, and their standard errors."""
    batch = _whole_runs(session, measurer.state, "measuring", chosen)
    session.account([batch])
    timings = [timing_of(measurement.seconds) for measurement in batch.measurements]
    return [(timing.times.median, timing.error) for timing in timings]


def _verify(session: Session, state: State, chosen: Sequence[Candidate]) -> list[float]:
    """Medians of whole runs."""
    batch = _whole_runs(session, state, "verifying", chosen)
    session.account_verification(batch)
    return [float(np.median(measurement.seconds)) for measurement in batch.measurements]


def _whole_runs(session: Session, state: State, label: str, chosen: Sequence[Candidate]) -> Batch:
    """Algorithms run on memory of their shapes, interleaved."""
    nests = [candidate.nest for candidate in chosen]
    jobs = [Job((), (nest.nest,), precondition="in sequence", buffers=nest.buffers) for nest in nests]
    return session.sampler.measure(jobs, REPETITIONS, state=state, label=label, on_progress=session.on_progress)
