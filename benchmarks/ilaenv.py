"""What do block sizes that depend on the matrix size win? LAPACK with its own and with ours, interleaved.

    python benchmarks/ilaenv.py                       # Debian's reference LAPACK on BLIS
    python benchmarks/ilaenv.py --predicted           # without looking whether block sizes win
    python benchmarks/ilaenv.py --blas /path/to/a/blas.so

The block sizes are predicted from models of that pair (and verified, as call sequences of the engine),
exported as C source, compiled and preloaded into a process in which reference LAPACK calls the BLAS. There
every routine runs with the overriding ILAENV switched off, on, and off again, in shuffled turns. Columns:

own, ours       median run time, milliseconds; and as predicted
gain            by how much LAPACK's own block size takes longer, per cent; and as predicted
noise           by how much it takes longer the first time than again, per cent

The noise floor of a routine is the 95th percentile of |noise| over its sizes.
"""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click
import numpy as np
import pandas as pd

from blascast.answers.tuning import export_blocksizes
from blascast.cli.options import Sizes
from blascast.cli.output import progress_bar
from blascast.predictors.tuning import OWN
from blascast.sampler.libraries import library_files

ROUNDS = 15
CHILD = "--child"


@click.command(help=__doc__.split("\n")[0])
@click.option("--lapack", default="reference", show_default=True)
@click.option("--blas", default="blis", show_default=True)
@click.option("--n", type=Sizes(), default="100:2000:100", show_default=True)
@click.option("--operation", "operations", multiple=True, default=("lu", "qr", "cholesky", "trinv", "sygst"))
@click.option("--predicted", is_flag=True, help="Take predicted block sizes as they are.")
def main(lapack, blas, n, operations, predicted):
    with progress_bar() as on_progress:
        report = export_blocksizes(
            n, operations, verify=not predicted, library=f"{lapack}+{blas}", on_progress=on_progress
        )
    click.echo(str(report))
    files = library_files(f"{lapack}+{blas}")
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "blocksizes.c"), Path(folder, "libblocksizes.so")
        source.write_text(report.to_c())
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
        one = dict.fromkeys(("BLIS_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        preload = f"{library}:{files.blas}"
        asked = json.dumps({"lapack": str(files.lapack), "n": n, "routines": [r.name for r in report.routines]})
        child = [sys.executable, __file__, CHILD, asked]
        lines = subprocess.run(child, env={**os.environ, **one, "LD_PRELOAD": preload}, check=True, capture_output=True)
    frame = pd.DataFrame([json.loads(line) for line in lines.stdout.splitlines()])
    told = [predicted_at(report, row.routine, row.n) for row in frame.itertuples()]
    frame["own, predicted"], frame["ours, predicted"] = (1e3 * np.array(told)).T
    frame["gain, predicted"] = 100 * (frame["own, predicted"] / frame["ours, predicted"] - 1)
    click.echo(frame.to_string(index=False, float_format=lambda value: f"{value:.2f}"))
    for routine, own in frame.groupby("routine", sort=False):
        floor = float(np.percentile(own["noise"].abs(), 95))
        slower, off = own[own["gain"] < -floor], (own["gain"] - own["gain, predicted"]).abs()
        click.echo(
            f"{routine}: mean gain {own['gain'].mean():.1f} %, predicted {own['gain, predicted'].mean():.1f} %, "
            f"{off.median():.1f} points apart (median); noise floor {floor:.1f} %; slower than with LAPACK's own, "
            f"beyond it, at {', '.join(map(str, slower['n'])) or 'no size'}"
        )


def predicted_at(report, routine: str, n: int) -> tuple[float, float]:
    """The predicted run times at a size, seconds: with LAPACK's own block size, and with ours."""
    tuned = next(tuned for tuned in report.routines if tuned.name == routine)
    curve, own = next(pair for pair in zip(tuned.curves, tuned.own, strict=True) if pair[0].problem["n"] == n)
    b = next(step.b for step in tuned.steps if step.last >= n)
    return own, own if b == OWN else curve.at(b)


# --- in the process in which the override is preloaded


def child(asked: dict) -> None:
    """Times the routines and prints one line of JSON for each size."""
    lapack = ctypes.CDLL(asked["lapack"], mode=ctypes.RTLD_GLOBAL)
    switch = ctypes.c_int.in_dll(ctypes.CDLL(None), "blascast_blocksizes")
    random = np.random.default_rng(0)
    for name in asked["routines"]:
        for n in asked["n"]:
            times = {"own": [], "ours": [], "own again": []}
            run = prepared(lapack, name, n)
            run()
            for _ in range(ROUNDS):
                for which in random.permutation(list(times)).tolist():
                    switch.value = which == "ours"
                    times[which].append(run())
            first, ours, again = (1e3 * float(np.median(own)) for own in times.values())
            own = (first + again) / 2
            line = {"routine": name, "n": n, "own": own, "ours": ours}
            line |= {"gain": 100 * (own / ours - 1), "noise": 100 * (first / again - 1)}
            print(json.dumps(line), flush=True)


def prepared(lapack, name: str, n: int):
    """A function that restores the operands, calls the routine and returns its seconds."""
    random = np.random.default_rng(n)
    half = random.uniform(-1, 1, (n, n))
    matrix = {"getrf": half, "geqrf": half}.get(name, half @ half.T / n + 2 * np.eye(n))
    if name == "trtri":
        matrix = np.tril(half) / n + 2 * np.eye(n)
    original, A = np.asfortranarray(matrix), np.zeros((n, n), order="F")
    B = np.asfortranarray(np.tril(half) / n + 2 * np.eye(n))
    size, info, one = ctypes.c_int(n), ctypes.c_int(), ctypes.c_int(1)
    work, lwork = np.zeros(256 * n), ctypes.c_int(256 * n)
    extra = np.zeros(n)
    pivots = (ctypes.c_int * n)()
    a, b = (x.ctypes.data_as(ctypes.c_void_p) for x in (A, B))
    ref = ctypes.byref
    lower, diag, end = ctypes.c_char_p(b"L"), ctypes.c_char_p(b"N"), ctypes.c_size_t(1)
    arguments = {
        "getrf": (ref(size), ref(size), a, ref(size), pivots, ref(info)),
        "geqrf": (
            *(ref(size), ref(size), a, ref(size), extra.ctypes.data_as(ctypes.c_void_p)),
            *(work.ctypes.data_as(ctypes.c_void_p), ref(lwork), ref(info)),
        ),
        "potrf": (lower, ref(size), a, ref(size), ref(info), end),
        "lauum": (lower, ref(size), a, ref(size), ref(info), end),
        "trtri": (lower, diag, ref(size), a, ref(size), ref(info), end, end),
        "sygst": (ref(one), lower, ref(size), a, ref(size), b, ref(size), ref(info), end),
    }[name]
    routine = getattr(lapack, f"d{name}_")

    def run() -> float:
        np.copyto(A, original)
        began = time.perf_counter()
        routine(*arguments)
        took = time.perf_counter() - began
        assert info.value == 0, (name, n, info.value)
        return took

    return run


if __name__ == "__main__":
    if sys.argv[1:2] == [CHILD]:
        child(json.loads(sys.argv[2]))
    else:
        main()
