"""How accurate are the predictions? Holds them against runs of the algorithms themselves.

    python benchmarks/accuracy.py cholesky trinv

Every (variant, n, b) is predicted from kernel models and then run in two passes, all runs of one n
interleaved. Beside each error stand the noise floor (the two passes against each other) and a simple
baseline: the flop count at one rate, the median rate of all runs of that n (it may look at the
measurements, the models may not). The models are those that `blascast` makes by default. Columns:

ARE         median of |predicted - measured| / measured
p90         90th percentile of the same
factor      90th percentile of max(predicted / measured, measured / predicted)
bias        median of (predicted - measured) / measured
noise       median relative difference between the two passes
baseline    median ARE of the baseline
best        share of (n, b) at which the predicted best variant is of the measured best tie class
yield       performance at the predicted best b over that at the best measured b, mean over variants
yield 64    the same for b = 64
"""

import operator
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path

import click
import numpy as np
import pandas as pd

from blascast.algorithms import Variant, find_operation, trace
from blascast.cli.options import Size, Sizes, setup_options
from blascast.cli.output import progress_bar
from blascast.predictors.accuracy import relative_errors, symmetric_factors, yield_of_choice
from blascast.predictors.ranking import tie_classes
from blascast.predictors.verification import verify
from blascast.session import Session


@dataclass(frozen=True)
class Accuracy:
    """One line of the table, in per cent but for `factor`."""

    ARE: float
    p90: float
    factor: float
    bias: float
    noise: float
    baseline: float
    best: float
    yield_: float
    yield_64: float


@click.command()
@click.argument("operations", nargs=-1, required=True)
@click.option("--n", type=Sizes(), default="200:2000:200", show_default=True)
@click.option("--b", type=Sizes(), default="32:256:32", show_default=True)
@click.option("--repetitions", type=Size(), default=5, show_default=True, help="Runs a pass.")
@click.option("--output", type=click.Path(path_type=Path), help="CSV file for all predictions and measurements.")
@setup_options
def main(operations, n, b, repetitions, output, as_json, **setup):
    with progress_bar() as on_progress:
        session = Session(**setup, on_progress=on_progress)
        with session:
            frames = [compare(session, operation, n, b, repetitions) for operation in operations]
    everything = pd.concat(frames, ignore_index=True)
    if output:
        everything.to_csv(output, index=False)
    table = summary(everything)
    if as_json:
        click.echo(table.reset_index().to_json(orient="records", indent=2))
    else:
        click.echo(f"{date.today()}, {session.sampler.setup}; sampling took {session.spent.sampling:.0f} s")
        click.echo(table.to_string(float_format=lambda value: f"{value:.1f}"))
        for line in verdicts(everything):
            click.echo(line)


def compare(session: Session, operation: str, sizes, block_sizes, repetitions: int) -> pd.DataFrame:
    """Predicted and measured medians (two passes) of all variants at all n and b, seconds."""
    grid = [(n, b) for n in sizes for b in block_sizes if b <= n]
    variants = list(find_operation(operation).variants.values())
    replays, state = session.replay([trace(variant, *np.transpose(grid)) for variant in variants])
    rows = [
        {"operation": operation, "variant": variant.number, "n": n, "b": b, "predicted": replay.statistics[i, 1]}
        for variant, replay in zip(variants, replays, strict=True)
        for i, (n, b) in enumerate(grid)
    ]
    frame = pd.DataFrame(rows)
    frame["flops"] = find_operation(operation).flop_count(frame["n"])
    for number in (1, 2):
        frame[f"pass {number}"] = measured(session, variants, frame, state, repetitions)
    frame["measured"] = frame[["pass 1", "pass 2"]].mean(axis=1)
    return frame


def measured(session: Session, variants: list[Variant], frame: pd.DataFrame, state, repetitions: int) -> pd.Series:
    """Medians of one pass, the runs of one n interleaved."""
    by_number = {variant.number: variant for variant in variants}
    medians = pd.Series(0.0, index=frame.index)
    for _, group in frame.groupby("n"):
        runs = [(by_number[row.variant], row.n, row.b) for row in group.itertuples()]
        verified = verify(session.sampler, runs, state=state, repetitions=repetitions, on_progress=session.on_progress)
        medians[group.index] = [times.median for times in verified.times]
    return medians


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """One line for each operation and n, and one over all n from 400 on."""
    lines = {(op, str(n)): accuracy(group) for (op, n), group in frame.groupby(["operation", "n"])}
    for operation, group in frame[frame["n"] >= 400].groupby("operation"):
        lines[operation, ">= 400"] = accuracy(group)
    names = [field.name for field in fields(Accuracy)]
    table = pd.DataFrame([[getattr(line, name) for name in names] for line in lines.values()], columns=names)
    table.index = pd.MultiIndex.from_tuples(lines, names=["operation", "n"])
    return table.rename(columns={"yield_": "yield", "yield_64": "yield 64"})


def verdicts(frame: pd.DataFrame) -> list[str]:
    """The targets, and whether they are met."""
    targets = [
        ("best variant found [%]", accuracy(frame).best, ">=", 95.0),
        ("mean yield of the chosen b [%]", accuracy(frame).yield_, ">=", 97.0),
    ]
    for name, part, least, times in (
        ("n >= 400", frame["n"] >= 400, 3.0, 1.5),
        ("n < 400", frame["n"] < 400, 6.0, 2.0),
    ):
        if part.any():
            found = accuracy(frame[part])
            targets.append((f"median ARE for {name} [%]", found.ARE, "<=", max(least, times * found.noise)))
    met = {"<=": operator.le, ">=": operator.ge}
    return [
        f"{name}: {value:.1f}, target {sign} {target:.1f}: {'met' if met[sign](value, target) else 'missed'}"
        for name, value, sign, target in targets
    ]


def accuracy(group: pd.DataFrame) -> Accuracy:
    """The figures of one line."""
    predicted, real = group["predicted"].to_numpy(), group["measured"].to_numpy()
    errors = relative_errors(predicted, real)
    noise = float(np.median(np.abs(group["pass 1"] / group["pass 2"] - 1)))
    baseline = np.concatenate([baseline_errors(sub) for _, sub in group.groupby(["operation", "n"])])
    choices = [sub for _, sub in group.groupby(["operation", "variant", "n"])]
    yields = [yield_of_choice(sub["predicted"].to_numpy(), sub["measured"].to_numpy()) for sub in choices]
    usual = [
        sub["measured"].min() / sub.loc[sub["b"] == 64, "measured"].mean() for sub in choices if 64 in sub["b"].values
    ]
    return Accuracy(
        ARE=100 * float(np.median(np.abs(errors))),
        p90=100 * float(np.percentile(np.abs(errors), 90)),
        factor=float(np.percentile(symmetric_factors(predicted, real), 90)),
        bias=100 * float(np.median(errors)),
        noise=100 * noise,
        baseline=100 * float(np.median(np.abs(baseline))),
        best=100 * float(np.mean([best_found(sub, noise) for _, sub in group.groupby(["operation", "n", "b"])])),
        yield_=100 * float(np.mean(yields)),
        yield_64=100 * float(np.mean(usual)),
    )


def baseline_errors(group: pd.DataFrame) -> np.ndarray:
    """Relative errors of the flop count at the median measured rate."""
    rate = np.median(group["flops"] / group["measured"])
    return relative_errors((group["flops"] / rate).to_numpy(), group["measured"].to_numpy())


def best_found(group: pd.DataFrame, noise: float) -> bool:
    """Whether the predicted best variant is of the measured best tie class."""
    ordered = group.sort_values("measured")
    errors = (ordered["pass 1"] - ordered["pass 2"]).abs() / 2
    classes = tie_classes(ordered["measured"].tolist(), errors.tolist(), noise)
    return classes[int(np.argmin(ordered["predicted"]))] == 1


if __name__ == "__main__":
    main()
