"""accuracy: predictions held against measurements, beside the noise and simpler ways to predict the same."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Unpack

import numpy as np
import numpy.typing as npt

from blascast.algorithms import Operation, Variant, find_operation
from blascast.predictors.accuracy.choices import best_found, kendall_tau, yield_of_choice
from blascast.predictors.accuracy.comparison import Comparison, compare, holm
from blascast.predictors.accuracy.errors import (
    bootstrap_interval,
    interval,
    relative_errors,
    resampled,
    symmetric_factors,
)
from blascast.predictors.accuracy.ladder import RUNGS
from blascast.predictors.configurations import (
    Configuration,
    Problem,
    check_block_size,
    check_size,
    given_block_size,
    own_block_size,
    problems_of,
    several,
)
from blascast.predictors.prediction import FloatArray
from blascast.sampler.errors import UsageError, unknown

from ..opening import setups_of
from ..session import CommonOptions, Session
from ..source import common_state
from .accuracy_report import AGAIN, AccuracyReport, AccuracyRow, ways_to_predict, with_errors
from .evidence import Evidence
from .trial import FIRST, SECOND, Trial

if TYPE_CHECKING:
    import pandas as pd

PASS_REPETITIONS = 5
POOLED, MACRO = "all, pooled", "all, each operation one vote"


def accuracy(
    operations: str | Sequence[str],
    n: int | Sequence[int],
    b: int | Sequence[int],
    *,
    m: int | None = None,
    variants: Sequence[int | str] | None = None,
    repetitions: int = PASS_REPETITIONS,
    library: str | Sequence[str] = "scipy",
    threads: int | Sequence[int] = 1,
    on_points: "Callable[[pd.DataFrame], None] | None" = None,
    **options: Unpack[CommonOptions],
) -> AccuracyReport:
    """Holds predictions against measurements, over all variants, sizes and block sizes given.

    Parameters
    ----------
    operations : str or sequence of str
    n, b : int or sequences of int
        Matrix sizes, and block sizes; those larger than a matrix are left out.
    m : int, optional
        Rows of operations on rectangular matrices; by default as n.
    variants : sequence of int or str, optional
        By default all that have a block size, where an operation has them.
    repetitions : int
        Of every run, in each of two passes.
    library, threads : one or several
    on_points : callable, optional
        Is given the points of each setup and operation as soon as they are measured.
    **options
        Data type and so on: the parameters of `Session`.

    Returns
    -------
    AccuracyReport

    Raises
    ------
    UsageError
        If a name or number is not valid.
    BlascastError
        If the library, a routine or the store fails.
    """
    import pandas as pd

    chosen = [find_operation(name) for name in dict.fromkeys(several(operations))]
    sizes, blocks = several(n), several(b)
    if not chosen or not blocks:
        raise UsageError("accuracy needs at least one operation and one block size")
    named = None if variants is None else _named(chosen, variants)
    if not any("m" in operation.sizes for operation in chosen):
        problems_of(chosen[0], sizes, m)  # refuses an m
    frames: list[pd.DataFrame] = []
    rows: list[AccuracyRow] = []
    evidence: list[Evidence] = []
    for where in setups_of(library, threads):
        with Session(**where, **options) as session:
            asked = [_configurations(session, operation, sizes, blocks, m, named) for operation in chosen]
            parts = list(_parts(session, asked, repetitions, on_points))
            evidence.append(Evidence.of(session, common_state(part.attrs["state"] for part in parts)))
        costs = {part["operation"].iloc[0]: part.attrs["costs"] for part in parts}
        frames.append(pd.concat(parts, ignore_index=True))
        rows += _rows(frames[-1], parts[0]["setup"].iloc[0], costs)
    smallest = min(sizes if m is None else [*sizes, m])
    too_large = ", ".join(str(size) for size in blocks if size > smallest)
    left_out = (f"Block sizes larger than a matrix are left out there: {too_large}.",) if too_large else ()
    return AccuracyReport(pd.concat(frames, ignore_index=True), tuple(rows), tuple(evidence), left_out)


def _parts(
    session: Session,
    asked: Sequence[list[Configuration]],
    repetitions: int,
    on_points: "Callable[[pd.DataFrame], None] | None",
) -> Iterator["pd.DataFrame"]:
    """The points of each operation on one setup, measured."""
    setup = session.setup
    label = f"{setup.library.name}, {setup.threads} thread{'s' * (setup.threads != 1)}"
    for configurations in asked:
        part = Trial(session, configurations).frame(repetitions)
        part.insert(0, "setup", label)
        part = with_errors(part)
        if on_points:
            on_points(part)
        yield part


def _named(operations: Sequence[Operation], variants: object) -> set[str]:
    """The names of variants, each of which some operation has, with a block size."""
    known = {variant.name: variant for operation in operations for variant in operation.variants.values()}
    names = set(map(str, several(variants)))
    if not names:
        raise UsageError("variants must hold at least one; leave it out for all")
    for name in sorted(names):
        if name not in known:
            raise unknown(f"variant of {', '.join(o.name for o in operations)}", name, known)
        if not known[name].block_sizes:
            raise UsageError(f"{known[name]} has no block size, and is not compared here; see blascast rank")
    return names


def _configurations(
    session: Session,
    operation: Operation,
    n: Sequence[object],
    b: Sequence[object],
    m: int | None,
    named: set[str] | None,
) -> list[Configuration]:
    """All that are asked about."""
    dtype = session.setup.dtype
    problems = problems_of(operation, n, m if "m" in operation.sizes else None)
    session.check_sizes(operation, problems)
    blocks = [check_size("b", size) for size in b]
    largest = max(min(problem.values()) for problem in problems)
    check_block_size(min(blocks), largest)
    chosen = [
        variant
        for variant in operation.variants.values()
        if variant.block_sizes and (named is None or variant.name in named) and not session.lacking(variant)
    ]
    found = [c for variant in chosen for problem in problems for c in _at(variant, problem, blocks, dtype)]
    if not found:
        known = ", ".join(variant.name for variant in operation.variants.values() if variant.block_sizes)
        raise UsageError(
            f"nothing of {operation.name} is left to compare: it has none of the variants that are named, or the "
            f"library lacks their routines; choose among {known}"
        )
    return found


def _at(variant: Variant, problem: Problem, b: Sequence[int], dtype: str) -> list[Configuration]:
    if variant.usual is not None:
        return [Configuration(variant, problem, own_block_size(variant, problem, dtype))]
    limit = min(problem.values())
    return [Configuration(variant, problem, given_block_size(variant, problem, size)) for size in b if size <= limit]


def _rows(frame: "pd.DataFrame", setup: str, costs: dict[str, dict[str, float]]) -> list[AccuracyRow]:
    """Rows of every operation, and of all together where there are several."""
    found = []
    for operation, group in frame.groupby("operation", sort=False):
        found += _ladder(group, setup, str(operation), costs[str(operation)])
    if len(costs) > 1:
        total = {name: sum(cost[name] for cost in costs.values()) for name in RUNGS}
        found += _ladder(frame, setup, POOLED, total)
        found += [_macro(frame, found, setup, name) for name in (*RUNGS, AGAIN)]
    return found


def _ladder(group: "pd.DataFrame", setup: str, operation: str, costs: dict[str, float]) -> list[AccuracyRow]:
    """Rows of the rungs, each against the one before, and of the noise floor."""
    ways = ways_to_predict(group)
    errors = [relative_errors(*ways[name]) for name in RUNGS]
    comparisons = [compare(after, before) for before, after in pairwise(errors)]
    adjusted = holm([comparison.p for comparison in comparisons])
    against = [None, *(Comparison(c.shift, p) for c, p in zip(comparisons, adjusted, strict=True)), None]
    return [
        _row(group, setup, operation, name, *ways[name], costs.get(name), comparison)
        for name, comparison in zip(ways, against, strict=True)
    ]


def _row(
    group: "pd.DataFrame",
    setup: str,
    operation: str,
    predictor: str,
    predicted: FloatArray,
    measured: FloatArray,
    cost: float | None,
    comparison: Comparison | None,
) -> AccuracyRow:
    errors = relative_errors(predicted, measured)
    low, high = bootstrap_interval(np.abs(errors), _measured_together(group), _median, np.random.default_rng(0))
    factors = symmetric_factors(predicted, measured)
    best, tau, chosen = _choices(group.assign(_predicted=predicted, _measured=measured))
    return AccuracyRow(
        setup,
        operation,
        predictor,
        len(group),
        cost,
        float(np.median(np.abs(errors))),
        low,
        high,
        float(np.mean(np.abs(errors))),
        float(np.percentile(np.abs(errors), 90)),
        float(np.median(factors)),
        float(np.percentile(factors, 90)),
        float(np.median(errors)),
        best,
        tau,
        chosen,
        comparison.shift if comparison else None,
        comparison.p if comparison else None,
    )


def _measured_together(group: "pd.DataFrame") -> npt.NDArray[np.int64]:
    """A number for each point, the same for those whose runs were interleaved: of one operation and size."""
    return np.asarray(group.groupby(["operation", "n"]).ngroup(), dtype=np.int64)


def _median(values: FloatArray) -> float:
    return float(np.median(values))


def _choices(group: "pd.DataFrame") -> tuple[float | None, float | None, float | None]:
    """Share of best variants found, mean tau, and mean yield of block sizes."""
    noise = float(np.median(np.abs(group[FIRST] / group[SECOND] - 1)))
    found, taus, yields = [], [], []
    for _, same in group.groupby(["operation", "n", "b"]):
        if len(same) > 1:
            spread = (same[FIRST] - same[SECOND]).abs().to_numpy() / 2
            predicted, measured = same["_predicted"].to_numpy(), same["_measured"].to_numpy()
            found.append(best_found(predicted, measured, spread, noise))
            taus.append(kendall_tau(predicted, measured, noise))
    for _, same in group.groupby(["operation", "variant", "n"]):
        if len(same) > 1:
            yields.append(yield_of_choice(same["_predicted"].to_numpy(), same["_measured"].to_numpy()))
    known = [tau for tau in taus if tau is not None]
    return _mean(found), _mean(known), _mean(yields)


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _macro(frame: "pd.DataFrame", rows: list[AccuracyRow], setup: str, predictor: str) -> AccuracyRow:
    """Means over the operations, each one vote; the interval is that of the mean of medians."""
    own = [row for row in rows if row.predictor == predictor and row.operation != POOLED]

    def mean(name: str) -> float | None:
        return _mean([value for row in own if (value := getattr(row, name)) is not None])

    random = np.random.default_rng(0)
    draws = [
        resampled(
            np.abs(relative_errors(*ways_to_predict(group)[predictor])), _measured_together(group), _median, random
        )
        for _, group in frame.groupby("operation", sort=False)
    ]
    low, high = interval(np.mean(draws, axis=0))
    names = ("cost", "median", "mean", "p90", "factor", "factor_p90", "bias", "best", "tau", "yield_")
    values = {name: mean(name) for name in names}
    points = sum(row.points for row in own)
    return AccuracyRow(setup, MACRO, predictor, points, low=low, high=high, **values)  # type: ignore[arg-type]
