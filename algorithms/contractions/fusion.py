"""Indices that can be one: neighbours in every tensor that has them, evenly apart."""

from collections.abc import Iterable

from .notation import TENSORS, Contraction, Tensor
from .problem import Problem


def fused(problem: Problem) -> Problem:
    """The problem with runs of indices as one, named in parentheses; the same one if there is none.

    Examples
    --------
    >>> from blascast.algorithms.contractions.notation import parse_contraction
    >>> problem = Problem.contiguous(parse_contraction("abc=ai,ibc"), {"a": 2, "b": 3, "c": 4, "i": 5})
    >>> fused(problem).contraction.C, fused(problem).extents
    (('a', '(bc)'), {'a': 2, '(bc)': 12, 'i': 5})
    """
    groups = _runs(problem)
    if all(len(group) == 1 for group in groups):
        return problem
    names = {group[0]: group[0] if len(group) == 1 else f"({''.join(group)})" for group in groups}
    extents: dict[str, int] = {}
    for group in groups:
        extents[names[group[0]]] = 1
        for index in group:
            extents[names[group[0]]] *= problem.extents[index]
    kept = {name: [index for index in problem.contraction.indices_of(name) if index in names] for name in TENSORS}
    contraction = Contraction(*(tuple(names[index] for index in kept[name]) for name in TENSORS))
    strides: dict[Tensor, tuple[int, ...]] = {
        name: tuple(problem.stride(name, index) for index in kept[name]) for name in TENSORS
    }
    return Problem(contraction, {index: extents[index] for index in contraction.indices}, strides)


def is_fused(indices: Iterable[str]) -> bool:
    """Whether one of them stands for several."""
    return any(index.startswith("(") for index in indices)


def _runs(problem: Problem) -> list[tuple[str, ...]]:
    """The indices in groups, each from its fastest to its slowest."""
    runs: list[tuple[str, ...]] = [(index,) for index in problem.contraction.indices]
    while pair := next(((a, b) for a in runs for b in runs if a != b and _follows(problem, a[-1], b[0])), None):
        first, second = pair
        runs[runs.index(first)] = first + second
        runs.remove(second)
    return runs


def _follows(problem: Problem, before: str, after: str) -> bool:
    """Whether an index goes on where another one ends, in every tensor that has either."""
    tensors = problem.contraction.tensors_with(before)
    return tensors == problem.contraction.tensors_with(after) and all(
        problem.stride(name, after) == problem.stride(name, before) * problem.extents[before] for name in tensors
    )
