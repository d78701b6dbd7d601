"""Algorithms as text: their loops to be read, and a C function to be compiled."""

import re
from collections.abc import Iterator, Sequence

from blascast.sampler.call import View
from blascast.sampler.kernel import Data, Flag, Inc, Kernel, Ld, Scalar, Size
from blascast.sampler.nest import Loop, Row, Step

from .candidates import Candidate
from .notation import TENSORS
from .problem import Problem

_TYPES = {"s": "float", "d": "double", "c": "float _Complex", "z": "double _Complex"}
_COPYING = ("copy", "transpose", "zero")
_INDENT = "    "
_OWN = {
    "zero": """static void zero(int m, int n, T *A, int ldA)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            A[i + (size_t)j * ldA] = 0;
}
""",
    "transpose": """static void transpose(int m, int n, const T *A, int ldA, T *B, int ldB)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            B[j + (size_t)i * ldB] = A[i + (size_t)j * ldA];
}
""",
    "dotu": """static T dotu(int n, const T *x, int incx, const T *y, int incy)
{
    T sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[(size_t)i * incx] * y[(size_t)i * incy];
    return sum;
}
""",
}


def loops_of(candidate: Candidate) -> str:
    """An algorithm as loops, in the notation of its contraction.

    Examples
    --------
    >>> from blascast.algorithms.contractions import Problem, candidates, check_extents, parse_contraction
    >>> contraction = parse_contraction("abc=ai,ibc")
    >>> problem = Problem.contiguous(contraction, check_extents(contraction, dict(a=4, b=3, c=2, i=8)))
    >>> print(loops_of(next(own for own in candidates(problem, "d") if own.name == "cb-gemv")))
    for c in 0..1:
        for b in 0..2:
            C[:,b,c] += A[:,:] B[:,b,c]    (gemv)
    """
    return "\n".join(_pseudo(candidate.nest.nest.body, candidate, ()))


def source_of(candidate: Candidate) -> str:
    """An algorithm as a C function that calls BLAS as from Fortran, its loops above it.

    It returns 0, or 1 if there was no memory for copies.
    """
    nest = candidate.nest
    kernels = {step.call.kernel.name: step.call.kernel for _, step in nest.nest.steps()}
    copies = nest.buffers[len(TENSORS) :]
    names = [_variable(buffer.name) for buffer in copies]
    lines = [
        f"/* {_described(candidate)}",
        " *",
        *(f" *     {line}" for line in loops_of(candidate).splitlines()),
        " */",
    ]
    lines += ["#include <complex.h>", "#include <stdlib.h>", "", f"typedef {_TYPES[candidate.dtype]} T;", ""]
    lines += [_declaration(kernel, candidate.dtype) for kernel in kernels.values()]
    lines += ["", "int contraction(const T *A, const T *B, T *C)", "{"]
    for name, buffer in zip(names, copies, strict=True):
        lines.append(f"{_INDENT}T *{name} = malloc({buffer.elements} * sizeof(T));")
    if names:
        freed = " ".join(f"free({name});" for name in names)
        lines += [f"{_INDENT}if ({' || '.join(f'!{name}' for name in names)}) {{ {freed} return 1; }}"]
    lines += _code(nest.nest.body, candidate.dtype, ())
    lines += [*(f"{_INDENT}free({name});" for name in names), f"{_INDENT}return 0;", "}"]
    return "\n".join(lines) + "\n"


def _described(candidate: Candidate) -> str:
    problem = candidate.problem
    sizes = ", ".join(f"{index} = {extent}" for index, extent in problem.extents.items())
    strides = ", ".join(f"{name} by {problem.strides[name]}" for name in TENSORS)
    return f"{candidate.nest.name} of {problem.contraction}, {sizes};\n * strides in elements: {strides}"


# --- loops


def _pseudo(rows: Sequence[Row], candidate: Candidate, loops: tuple[str, ...]) -> Iterator[str]:
    for row in rows:
        if isinstance(row, Loop) and row.name in candidate.problem.contraction.indices:
            yield f"{_INDENT * len(loops)}for {row.name} in 0..{row.count - 1}:"
            yield from _pseudo(row.body, candidate, (*loops, row.name))
        else:
            yield f"{_INDENT * len(loops)}{_statement(row, candidate.problem, loops)}"


def _statement(row: Row, problem: Problem, loops: tuple[str, ...]) -> str:
    """What a call does, or loops that copy."""
    while isinstance(row, Loop):
        row = row.body[0]
    kernel = row.call.kernel
    buffers = [view.buffer for view in (*row.factors.values(), *row.call.views.values())]
    if kernel.name == "zero":
        return f"{_sliced(buffers[0], problem, loops)} = 0"
    if kernel.name in _COPYING:
        return f"{_sliced(buffers[1], problem, loops)} = {_sliced(buffers[0], problem, loops)}    (copy)"
    parts = {name: next(b for b in buffers if b in (name, f"copy of {name}")) for name in TENSORS}
    texts = {name: _sliced(buffer, problem, loops) for name, buffer in parts.items()}
    return f"{texts['C']} += {texts['A']} {texts['B']}    ({kernel.name})"


def _sliced(buffer: str, problem: Problem, loops: tuple[str, ...]) -> str:
    """A tensor with the indices that loops fix, or a copy as a whole."""
    if buffer not in TENSORS:
        return f"{buffer.removeprefix('copy of ')}'"
    indices = problem.contraction.indices_of(next(name for name in TENSORS if name == buffer))
    return f"{buffer}[{','.join(index if index in loops else ':' for index in indices)}]"


# --- C


def _code(rows: Sequence[Row], dtype: str, loops: tuple[Loop, ...]) -> list[str]:
    indent = _INDENT * (len(loops) + 1)
    lines = []
    for row in rows:
        if isinstance(row, Loop):
            name = _counter(row)
            lines.append(f"{indent}for (size_t {name} = 0; {name} < {row.count}; {name}++) {{")
            lines += [*_code(row.body, dtype, (*loops, row)), f"{indent}}}"]
        else:
            lines.append(f"{indent}{_call(row, dtype, loops)}")
    return lines


def _call(step: Step, dtype: str, loops: Sequence[Loop]) -> str:
    kernel = step.call.kernel
    values = dict(zip((a.name for a in kernel.bound), step.call.values, strict=True))
    arguments = [_argument(a, step, values, loops) for a in kernel.arguments_for(dtype)]
    called = f"{_routine(kernel, dtype)}({', '.join(arguments)});"
    if kernel.returns is None:
        return called
    result = f"*({_pointer(step.call.views[kernel.returns.name], step, kernel.returns.name, loops)})"
    first = _first(loops)
    return f"{result} = ({first} ? 0 : {result}) + {called}" if first else f"{result} = {called}"


def _argument(argument: object, step: Step, values: dict[str, object], loops: Sequence[Loop]) -> str:
    by_value = _is_own(step.call.kernel)
    match argument:
        case Flag(name):
            return f'"{values[name]}"'
        case Scalar(name) if name in step.factors:
            return _pointer(step.factors[name], step, name, loops)
        case Scalar("beta") if step.adds and (first := _first(loops)):
            return f"&(T){{{first} ? 0 : 1}}"
        case Scalar(name):
            return f"&(T){{{values[name]}}}"
        case Data(name):
            return _pointer(step.call.views[name], step, name, loops)
    number = _number(argument, step)
    return str(number) if by_value else f"&(int){{{number}}}"


def _number(argument: object, step: Step) -> int:
    match argument:
        case Size(name):
            return int(step.call.sizes[name])
        case Ld(_, of):
            return max(1, step.call.views[of].ld)
        case Inc(_, of):
            return max(1, step.call.views[of].increment)
    raise AssertionError(f"kernels of contractions have no {argument}")


def _first(loops: Sequence[Loop]) -> str:
    """Whether all loops that add to a result are in their first iteration; empty if none does."""
    return " && ".join(f"{_counter(loop)} == 0" for loop in loops if loop.adds)


def _pointer(view: View, step: Step, argument: str, loops: Sequence[Loop]) -> str:
    moves = step.moves.get(argument, {})
    terms = [f"{moves[loop.name]} * {_counter(loop)}" for loop in loops if moves.get(loop.name)]
    return " + ".join([_variable(view.buffer), *terms])


def _counter(loop: Loop) -> str:
    """The variable of a loop: no index spells it, and no keyword."""
    return f"at_{_variable(loop.name)}"


def _variable(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_")


def _is_own(kernel: Kernel) -> bool:
    """Whether C code of it is written out: BLAS lacks it, or compilers differ in how it returns complex values."""
    return kernel.name in _OWN


def _routine(kernel: Kernel, dtype: str) -> str:
    return kernel.name if _is_own(kernel) else f"{dtype}{kernel.name}_"


def _declaration(kernel: Kernel, dtype: str) -> str:
    if _is_own(kernel):
        return _OWN[kernel.name]
    types = [_parameter(argument) for argument in kernel.arguments_for(dtype)]
    result = "void" if kernel.returns is None else "T"
    return f"{result} {_routine(kernel, dtype)}({', '.join(types)});"


def _parameter(argument: object) -> str:
    match argument:
        case Flag():
            return "const char *"
        case Data(access="in") | Scalar():
            return "const T *"
        case Data():
            return "T *"
    return "const int *"
