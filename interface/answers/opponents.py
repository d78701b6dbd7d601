"""Opponents: what NumPy and others take for the same contraction, in this process and with their own BLAS."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from blascast.algorithms.contractions import TENSORS, Problem

Array: TypeAlias = npt.NDArray[Any]
_TYPES = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}


@dataclass(frozen=True, slots=True)
class Opponent:
    """Another implementation.

    Parameters
    ----------
    name : str
    seconds : float
        Median.
    """

    name: str
    seconds: float


def measure_opponents(
    problem: Problem, dtype: str, threads: int, repetitions: int, budget_seconds: float
) -> tuple[Opponent, ...]:
    """Run times of numpy.einsum, numpy.tensordot, and opt_einsum if it is installed.

    Each writes into the memory of C. Once before, and then as often as asked, or as a budget allows.

    Parameters
    ----------
    problem : Problem
    dtype : str
    threads : int
    repetitions : int
    budget_seconds : float
        For each.
    """
    A, B, C = (_array(problem, name, dtype) for name in TENSORS)
    found = []
    with threadpool_limits(threads):
        for name, run in _implementations(problem, A, B, C):
            times = [_seconds(run)]
            if times[0] * (repetitions + 1) < budget_seconds:
                times = [_seconds(run) for _ in range(repetitions)]
            found.append(Opponent(name, float(np.median(times))))
    return tuple(found)


def _seconds(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _array(problem: Problem, name: Any, dtype: str) -> Array:
    """A tensor with the problem's strides."""
    memory = np.random.default_rng(0).random(problem.span(name)).astype(_TYPES[dtype])
    strides = [memory.itemsize * problem.stride(name, index) for index in problem.contraction.indices_of(name)]
    return np.lib.stride_tricks.as_strided(memory, problem.shape(name), strides)


def _implementations(problem: Problem, A: Array, B: Array, C: Array) -> Iterator[tuple[str, Callable[[], object]]]:
    contraction = problem.contraction
    text = "{},{}->{}".format(*("".join(contraction.indices_of(name)) for name in TENSORS))
    yield "numpy.einsum", lambda: np.einsum(text, A, B, out=C, optimize=True)
    if not contraction.batch:
        axes = tuple([own.index(i) for i in contraction.contracted] for own in (contraction.A, contraction.B))
        rest = [index for index in (*contraction.A, *contraction.B) if index not in contraction.contracted]
        order = [rest.index(index) for index in contraction.C]

        def tensordot() -> None:
            C[...] = np.tensordot(A, B, (axes[0], axes[1])).transpose(order)

        yield "numpy.tensordot", tensordot
    try:
        import opt_einsum
    except ImportError:
        return

    def optimized() -> None:
        C[...] = opt_einsum.contract(text, A, B)

    yield "opt_einsum", optimized
