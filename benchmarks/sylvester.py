"""Do the best predicted of the 64 Sylvester algorithms hold a measured best one?

    python benchmarks/sylvester.py
    python benchmarks/sylvester.py --n 512,1024,1536 --b 96 --best 3

All algorithms are predicted, by models of calls alone and by corrected ones, then run in two passes, interleaved.
The measured best class holds what cannot be told from the fastest: standard errors of the two passes, and the noise
floor (median difference of the passes), as everywhere.
"""

import click
import numpy as np

import blascast
from blascast.cli.options import Size, Sizes
from blascast.cli.output import progress_bar
from blascast.predictors.accuracy.ladder import RUNGS
from blascast.predictors.ranking import tie_classes

WAYS = RUNGS[-2:]


@click.command(help=__doc__.split("\n")[0])
@click.option("--n", type=Sizes(), default="512,1024", show_default=True, help="Sizes, of rows and columns.")
@click.option("--b", type=Size(), default="64", show_default=True, help="Block size.")
@click.option("--best", type=Size(), default="5", show_default=True, help="How many of the best predicted.")
@click.option("--library", default="scipy", show_default=True)
def main(n, b, best, library):
    with progress_bar() as on_progress:
        report = blascast.accuracy("sylvester", n, b, library=library, on_progress=on_progress)
    for sentence in report.remarks[1:]:
        click.echo(sentence)
    for size, group in report.points.groupby("n"):
        passes = group[["pass 1", "pass 2"]].to_numpy()
        measured, noise = passes.mean(axis=1), float(np.median(np.abs(passes[:, 0] / passes[:, 1] - 1)))
        order = np.argsort(measured)
        errors = np.abs(passes[:, 0] - passes[:, 1]) / 2
        classes = np.empty(len(order), dtype=int)
        classes[order] = tie_classes(measured[order].tolist(), errors[order].tolist(), noise)
        names = group["variant"].to_numpy()
        in_best = classes == 1
        click.echo(
            f"\nn = {size}: {len(names)} algorithms, {1e3 * measured.min():.2f} to {1e3 * measured.max():.2f} ms, "
            f"noise floor {100 * noise:.1f} %; the measured best class has {in_best.sum()}, led by {names[order[0]]}"
        )
        for way in WAYS:
            told = group[way].to_numpy()
            first = np.argsort(told)[:best]
            error = float(np.median(np.abs(told / measured - 1)))
            listed = ", ".join(
                f"{names[i]}{'*' * bool(in_best[i])} {100 * (measured[i] / measured.min() - 1):+.1f} %" for i in first
            )
            click.echo(f"  {way} (ARE {100 * error:.1f} %): {listed}")
    click.echo("\n*: of the measured best class; per cent: above the fastest measured.")


if __name__ == "__main__":
    main()
