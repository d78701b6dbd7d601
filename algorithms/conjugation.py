"""Algorithms for complex types, from those for real ones: transposes become conjugate transposes."""

from collections.abc import Iterable, Iterator

from blascast.sampler.call import Call, bind
from blascast.sampler.kernel import COMPLEX
from blascast.sampler.kernels import find_kernel

_HERMITIAN = {"syrk": "herk", "syr2k": "her2k", "symm": "hemm"}


def of_type(calls: Iterable[Call], dtype: str) -> Iterator[Call]:
    """The calls for a data type; of real ones nothing is conjugated."""
    if dtype in COMPLEX:
        return map(conjugated, calls)
    return (call for call in calls if call.kernel.name != "lacgv")


def conjugated(call: Call) -> Call:
    """The call that takes its place: flag T becomes C, symmetric becomes Hermitian."""
    kernel = find_kernel(_HERMITIAN.get(call.kernel.name, call.kernel.name))
    transposing = {"trans", "transA", "transB"}
    values = [
        "C" if argument.name in transposing and value == "T" else value
        for argument, value in zip(call.kernel.bound, call.values, strict=True)
    ]
    if kernel is call.kernel and values == list(call.values):
        return call
    return bind(kernel, *values)
