"""How often must a short call be made before it is timed? After long calls, once is not enough.

    python benchmarks/settling.py

Short calls are timed among their like, and each after two products of hundreds of rows; called once before,
and as `settle` has it (up to sixteen times). Medians; relative to short calls among their like, called once:

again           the same measured again: the noise floor
settled         among their like, called as `settle` has it
after long      after two long calls, called once
long, settled   after two long calls, called as `settle` has it
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import click
import numpy as np
import pandas as pd

from blascast.cli.options import one_library_option
from blascast.models.sampling import case_named
from blascast.sampler.backends import open_backend
from blascast.sampler.call import Call
from blascast.sampler.job import Job, warm_job
from blascast.sampler.kernels import find_kernel
from blascast.sampler.program import Operation, Restore, Run
from blascast.sampler.sampler import Sampler
from blascast.sampler.setup import SetupRequest

LD = 1032
REPETITIONS = 15
SYRK = case_named(find_kernel("syrk"), "LN -1 1", "d")
POTF2 = case_named(find_kernel("potf2"), "L", "d")
GEMM = case_named(find_kernel("gemm"), "NN -1 1", "d")


@click.command(help=__doc__.split("\n")[0])
@one_library_option
def main(library):
    short = [SYRK.call(sizes, LD) for sizes in ((8, 8), (16, 8), (24, 16), (40, 8), (8, 64))]
    short += [POTF2.call((n,), LD) for n in (8, 16, 24, 32, 48)]
    sampler = Sampler(open_backend(SetupRequest(library, "d", 1)))
    once = [called_once(call) for call in short]
    settled = [warm_job(call) for call in short]
    medians(sampler, after_long_calls(once))  # a processor that was idle is slow at first
    alone = medians(sampler, once)
    ways = {
        "again": once,
        "settled": settled,
        "after long": after_long_calls(once),
        "long, settled": after_long_calls(settled),
    }
    table = pd.DataFrame({"call": [text(call) for call in short], "alone [us]": 1e6 * alone})
    for name, jobs in ways.items():
        table[name] = medians(sampler, jobs) / alone
    click.echo(f"{date.today()}, {sampler.setup}")
    click.echo(table.to_string(index=False, float_format=lambda value: f"{value:.2f}"))
    sampler.backend.close()


def medians(sampler: Sampler, jobs: Sequence[Job]) -> np.ndarray:
    """Of a batch of them."""
    batch = sampler.measure(jobs, REPETITIONS)
    return np.array([np.median(measurement.seconds) for measurement in batch.measurements])


def called_once(call: Call) -> Job:
    """Warm as by one call before."""
    restore: list[Operation] = [Restore(view) for view in call.overwritten]
    return Job((*restore, Run(call), *restore), (call,))


def after_long_calls(jobs: Sequence[Job]) -> list[Job]:
    """Each after two products of random sizes."""
    random = np.random.default_rng(0)
    sizes = 8 * random.integers(50, LD // 8 + 1, (len(jobs), 2, 3))
    return [
        replace(job, preamble=(*(Run(GEMM.call(tuple(map(int, own)), LD)) for own in pair), *job.preamble))
        for job, pair in zip(jobs, sizes, strict=True)
    ]


def text(call: Call) -> str:
    """Kernel, case and sizes."""
    return f"{call.label}, {' x '.join(map(str, call.sizes.values()))}"


if __name__ == "__main__":
    main()
