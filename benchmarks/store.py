"""How long does it take to load models?

    python benchmarks/store.py

A store of its own is filled with models of as many pieces, of a kernel with two sizes. Then all are loaded, as
`blascast models list` does, and one after the other, as a question does. The best of some rounds. The target is
100 ms for 50 models of 50 pieces.
"""

import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import click
import numpy as np

from blascast.cli.options import Size
from blascast.models.fitting.basis import monomials
from blascast.models.kept.store import Store
from blascast.models.parameters import Parameters
from blascast.models.piecewise import Model, ModelKey, Piece
from blascast.models.sizes.domain import Domain
from blascast.sampler.kernels import find_kernel
from blascast.sampler.setup import this_machine
from blascast.sampler.simulated import SimulatedBackend

ROUNDS = 10
WIDTH = 32
EXPONENTS = monomials(find_kernel("trsm"), {"side": "L"}, 1)


@click.command()
@click.option("--models", type=Size(), default=50, show_default=True)
@click.option("--pieces", type=Size(), default=50, show_default=True, help="Of each model.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, times in seconds.")
def main(models, pieces, as_json):
    setup = SimulatedBackend().setup
    made = model_of(pieces)
    keys = [replace(made.key, ld=made.key.ld + number) for number in range(models)]
    with tempfile.TemporaryDirectory() as home:
        for key in keys:
            Store(Path(home)).save_model(setup, replace(made, key=key))
        size = sum(path.stat().st_size for path in Path(home).glob("models/*/*.json"))
        figures = {
            "all models, seconds": best(lambda: Store(Path(home)).all_models()),
            "one after the other, seconds": best(lambda: [Store(Path(home)).load_model(setup, key) for key in keys]),
            "bytes of a model": size / models,
        }
    if as_json:
        click.echo(json.dumps(figures, indent=2))
        return
    click.echo(f"{date.today()}, {this_machine().cpu}: {models} models of {pieces} pieces")
    for name, value in figures.items():
        click.echo(f"{name:32} {value:12.4g}" if "bytes" in name else f"{name:32} {1e3 * value:12.1f} ms")


def model_of(pieces: int) -> Model:
    """A model of so many pieces in a row, whose numbers have all digits."""
    random = np.random.default_rng(0)
    domains = [Domain((low, 8), (low + WIDTH, 1000)) for low in range(8, 8 + WIDTH * pieces, WIDTH)]
    made = [Piece(domain, random.standard_normal((len(EXPONENTS), 5)), 0.01, 0.002, 20) for domain in domains]
    return Model(ModelKey("trsm", "LLNN 1", 520), EXPONENTS, tuple(made), "free", "bound", 1.0, Parameters())


def best(work: Callable[[], object]) -> float:
    """Seconds, the best of some rounds."""
    seconds = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


if __name__ == "__main__":
    main()
