"""Micro-benchmarks of an algorithm: what is timed to predict it, and how often each occurs in it."""

from collections.abc import Iterator

from blascast.sampler.nest import Loop, Nest

from .singles import Occurrence, repeated_calls, single_calls
from .stages import LAST, Stage
from .states import Machine
from .trains import train_occurrences, trains


def occurrences(nest: Nest, machine: Machine, stage: Stage = LAST) -> list[Occurrence]:
    """The micro-benchmarks that predict a nest.

    Parameters
    ----------
    nest : Nest
    machine : Machine
    stage : Stage
        Up to which they are refined.
    """
    merged: dict[str, Occurrence] = {}
    for found in _all(nest, machine, stage):
        key = found.benchmark.key
        count = found.count + (merged[key].count if key in merged else 0.0)
        merged[key] = Occurrence(found.benchmark, count)
    return list(merged.values())


def _all(nest: Nest, machine: Machine, stage: Stage) -> Iterator[Occurrence]:
    if stage < Stage.TRAINS:
        for loops, step in nest.steps():
            if stage == Stage.REPEATED:
                yield from repeated_calls(loops, step, machine)
            else:
                yield from single_calls(nest, loops, step, machine, stage)
        return
    for loops, row in trains(nest.body, machine.item_bytes):
        if isinstance(row, Loop):
            yield from train_occurrences(nest, loops, row, machine)
        else:
            yield from single_calls(nest, loops, row, machine, stage)
