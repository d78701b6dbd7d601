"""Cases of kernels, and the calls that their models' points stand for."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from blascast.sampler.call import ORDINARY_SCALARS, Call, View, bind, case_of, fitting_ld
from blascast.sampler.errors import UsageError
from blascast.sampler.expression import parse
from blascast.sampler.kernel import COMPLEX, Flag, Kernel, Ld, Option, Scalar

SMALLEST_LD = 520
OTHER_SCALAR, OTHER_COMPLEX_SCALAR = 0.5, 0.5 - 0.25j
SCALAR_CLASSES = (*map(str, ORDINARY_SCALARS), "other")
INCREMENTS = {"1": 1, "other": SMALLEST_LD}
_INCREMENTS_FOLLOW = "inc"


def model_ld(largest_size: int) -> int:
    """The leading dimension that models are sampled with: one for each doubling of the sizes.

    It is 512 times a power of two, plus 8: a multiple of 8 and not of 256, and close to what the
    kernel's own operands need. Unblocked kernels are so sampled at 520, though an algorithm calls
    them on blocks of a larger matrix: columns that are far apart slow them down by up to some per cent.

    Examples
    --------
    >>> model_ld(100), model_ld(520), model_ld(521), model_ld(2000)
    (520, 520, 1032, 2056)
    """
    ld = SMALLEST_LD
    while ld < largest_size:
        ld = 2 * (ld - 8) + 8
    return ld


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A kernel with flags, options, scalars and increments, its sizes still open.

    Parameters
    ----------
    kernel : Kernel
    flags : mapping by argument name
        Flags and options.
    scalars : mapping by argument name
        What is of the class other is represented by any such value.
    increments : mapping by operand name
        1, or any other for a vector that is a row of a matrix: its increment is that matrix's leading
        dimension. 1 for those left out.

    Raises
    ------
    UsageError
        If the kernel has no sizes.
    """

    kernel: Kernel
    flags: Mapping[str, str | int]
    scalars: Mapping[str, complex]
    increments: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.kernel.sizes:
            raise UsageError(
                f"kernel {self.kernel.name} has no sizes: its time is a single number; "
                "measure it with 'blascast sample'"
            )

    @property
    def name(self) -> str:
        """Flags and options, classes of scalars and of increments, as in `Call.case`."""
        flags = {a.name: self.flags[a.name] for a in _flags(self.kernel)}
        scalars = {a.name: self.scalars[a.name] for a in _scalars(self.kernel)}
        return case_of(flags, scalars, [self.increments.get(name, 1) for name in _vectors(self.kernel)])

    def valid(self, points: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Which points the kernel takes: those whose sizes are as it requires.

        Parameters
        ----------
        points : integer array of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        return np.asarray(np.ones(len(points), dtype=np.bool_) & self.kernel.admits(self._values(points.T)))

    def ld(self, upper: tuple[int, ...]) -> int:
        """The leading dimension that a model of sizes up to `upper` is sampled with: `model_ld` of its matrices.

        Examples
        --------
        >>> from blascast.sampler.kernels import find_kernel
        >>> usual_case(find_kernel("gbmv"), "d").ld((500, 500, 300, 300))  # a band is as high as it is wide
        1032
        >>> usual_case(find_kernel("axpy"), "d").ld((100000,))
        520
        """
        return model_ld(max(self._heights(self._values(upper)), default=1))

    def call(self, point: tuple[int, ...], ld: int) -> Call:
        """The call of given sizes on operands of their own.

        Parameters
        ----------
        point : tuple of int
            The sizes, in the kernel's order.
        ld : int
            Leading dimension of its matrices; and of those that its vectors with other increments are
            rows of. (A vector of one entry has the increment 1.)

        Raises
        ------
        UsageError
            If the sizes are not as the kernel requires, or `ld` is less than a matrix has rows.
        """
        values = self._values(point)
        if not self.kernel.admits(values):
            came = ", ".join(f"{name} = {values[name]}" for name in self.kernel.sizes)
            raise UsageError(f"{self.kernel.name} needs {' and '.join(self.kernel.requires)}, got {came}")
        bound = {**values, **self.scalars, **self._operands(values, ld)}
        return bind(self.kernel, *(bound[argument.name] for argument in self.kernel.bound))

    def _values(self, sizes: Iterable[Any]) -> dict[str, Any]:
        """Flags and sizes by name."""
        return {**self.flags, **dict(zip(self.kernel.sizes, sizes, strict=True))}

    def _heights(self, values: Mapping[str, Any]) -> list[int]:
        """The rows of each matrix."""
        matrices = _matrices(self.kernel)
        return [int(parse(data.rows).evaluate(values)) for data in self.kernel.data if data.name in matrices]

    def _operands(self, values: Mapping[str, Any], ld: int) -> dict[str, View]:
        """Views of buffers that cases share: one for each structure, kind, place and leading dimension.

        Columns of any length lie apart from matrices, so that no buffer is as long as the one and as
        wide as the other. All begin at the origin but pivots, the last of as many as there are rows: each
        is that of an earlier row, and so they reach all rows, as those of a factorisation do.
        """
        matrices = _matrices(self.kernel)
        operands: dict[str, View] = {}
        places: Counter[str] = Counter()
        tallest = max(self._heights(values), default=0)
        for data in self.kernel.data:
            rows, columns = (int(parse(text).evaluate(values)) for text in (data.rows, data.columns))
            contents = data.structure if data.kind == "element" else f"{data.structure} {data.kind}"
            if data.access == "out":
                contents += " out"  # else one case would read what another one wrote: pivots of a larger matrix
            first = tallest - rows if data.structure == "pivots" else 0
            if self.increments.get(data.name, 1) != 1:
                rows, columns = 1, rows
            elif data.name not in matrices:
                contents = f"{contents} column"
            elif rows > ld:
                raise UsageError(
                    f"{self.kernel.name}: {data.name} has {rows} rows, which needs a leading dimension "
                    f"of {fitting_ld(rows)}, got {ld}"
                )
            operands[data.name] = View(f"{contents} {places[contents]}, ld {ld}", first, 0, rows, columns, ld)
            places[contents] += 1
        return operands


def case_of_call(call: Call) -> Case:
    """The case that a call belongs to.

    Raises
    ------
    UsageError
        If its kernel has no sizes.
    """
    increments = {name: call.views[name].increment for name in _vectors(call.kernel)}
    return Case(call.kernel, call.flags, call.scalars, increments)


def cases(kernel: Kernel, dtype: str) -> tuple[Case, ...]:
    """All cases of a kernel for a data type: every combination of flags, scalar classes and increments.

    Raises
    ------
    UsageError
        If the kernel does not exist for the type, or has no sizes.

    Examples
    --------
    >>> from blascast.sampler.kernels import find_kernel
    >>> [case.name for case in cases(find_kernel("swap"), "d")]
    ['inc 1,1', 'inc 1,other', 'inc other,1', 'inc other,other']
    """
    kernel.routine(dtype)
    flags = _combinations({a.name: _letters(a, dtype) for a in _flags(kernel)})
    scalars = _combinations({a.name: [_scalar(a, one, dtype) for one in SCALAR_CLASSES] for a in _scalars(kernel)})
    increments = _combinations({name: tuple(INCREMENTS.values()) for name in _vectors(kernel)})
    return tuple(Case(kernel, *chosen) for chosen in product(flags, scalars, increments))


def usual_case(kernel: Kernel, dtype: str) -> Case:
    """What is meant where only a kernel is named: the first letter of each flag, factors of 1, increments of 1.

    Where all operands are vectors, a factor is another number: there may be nothing to do for 1.

    Raises
    ------
    UsageError
        If the kernel does not exist for the type, or has no sizes.

    Examples
    --------
    >>> from blascast.sampler.kernels import find_kernel
    >>> [usual_case(find_kernel(name), "d").name for name in ("trsm", "axpy")]
    ['LLNN 1', 'other inc 1,1']
    """
    kernel.routine(dtype)
    only_vectors = all(data.name in kernel.vectors for data in kernel.data if data is not kernel.returns)
    factor = "other" if only_vectors else "1"
    return Case(
        kernel,
        {a.name: _letters(a, dtype)[0] for a in _flags(kernel)},
        {a.name: _scalar(a, factor, dtype) for a in _scalars(kernel)},
        dict.fromkeys(_vectors(kernel), 1),
    )


def case_named(kernel: Kernel, text: str, dtype: str) -> Case:
    """The case of that name, as `Case.name` has it; increments that are left out are 1.

    Raises
    ------
    UsageError
        If the kernel does not exist for the type or has no sizes, or the text is no case of it.

    Examples
    --------
    >>> from blascast.sampler.kernels import find_kernel
    >>> case_named(find_kernel("trsyl"), "NT-1", "d").flags
    {'transA': 'N', 'transB': 'T', 'isgn': -1}
    >>> case_named(find_kernel("gemv"), "T other 0", "z").scalars
    {'alpha': (0.5-0.25j), 'beta': 0}
    """
    kernel.routine(dtype)
    words = text.split()
    end = words.index(_INCREMENTS_FOLLOW) if _INCREMENTS_FOLLOW in words else len(words)
    first = 1 if _flags(kernel) else 0
    try:
        return Case(
            kernel,
            _read_flags(_flags(kernel), "".join(words[:end][:first]), dtype),
            _read_scalars(_scalars(kernel), words[first:end], dtype),
            _read_increments(_vectors(kernel), words[end + 1 :]) if words[end:] else {},
        )
    except _Unreadable as error:
        raise UsageError(f"{text!r} is no case of {kernel.routine(dtype)}: {error}; {_form(kernel, dtype)}") from None


class _Unreadable(Exception):
    """What is wrong with the name of a case."""


def _read_flags(flags: Sequence[Flag | Option], letters: str, dtype: str) -> dict[str, str | int]:
    found: dict[str, str | int] = {}
    rest = letters
    for argument in flags:
        known = {str(value): value for value in _letters(argument, dtype)}
        if not rest:
            raise _Unreadable(f"{argument.name} is missing (one of {', '.join(known)})")
        fitting = [value for value in known if rest.startswith(value)]
        if not fitting:
            raise _Unreadable(f"{argument.name} must be one of {', '.join(known)}, got {rest!r}")
        longest = max(fitting, key=len)
        found[argument.name], rest = known[longest], rest.removeprefix(longest)
    if rest:
        raise _Unreadable(f"{rest!r} is left over after {flags[-1].name}")
    return found


def _read_scalars(scalars: Sequence[Scalar], words: Sequence[str], dtype: str) -> dict[str, complex]:
    _check_classes("scalar", {scalar.name: SCALAR_CLASSES for scalar in scalars}, words)
    return {scalar.name: _scalar(scalar, word, dtype) for scalar, word in zip(scalars, words, strict=True)}


def _read_increments(vectors: Sequence[str], words: Sequence[str]) -> dict[str, int]:
    steps = "".join(words).split(",") if words else []
    _check_classes("increment", {f"inc{name}": tuple(INCREMENTS) for name in vectors}, steps)
    return {name: INCREMENTS[step] for name, step in zip(vectors, steps, strict=True)}


def _check_classes(what: str, known: Mapping[str, tuple[str, ...]], words: Sequence[str]) -> None:
    """Refuses another number of words than names, and a word that is no class of its name."""
    if len(words) != len(known):
        wanted = f"{len(known) or 'no'} {what}{'s' * (len(known) != 1)}"
        names = f" ({', '.join(known)})" if known else ""
        raise _Unreadable(f"it takes {wanted}{names}, got {' '.join(words) or 'none'}")
    for (name, classes), word in zip(known.items(), words, strict=True):
        if word not in classes:
            raise _Unreadable(f"{name} must be one of {', '.join(classes)}, got {word!r}")


def _form(kernel: Kernel, dtype: str) -> str:
    """How a case of the kernel is written."""
    parts = [argument.name for argument in (*_flags(kernel), *_scalars(kernel))]
    if vectors := _vectors(kernel):
        parts += [_INCREMENTS_FOLLOW, ",".join(vectors)]
    if not parts:
        return "it has a single case, named ''"
    return f"write {' '.join(parts)}, such as {usual_case(kernel, dtype).name!r}"


# --- what distinguishes the cases of a kernel


def _flags(kernel: Kernel) -> list[Flag | Option]:
    return [argument for argument in kernel.bound if isinstance(argument, Flag | Option)]


def _scalars(kernel: Kernel) -> list[Scalar]:
    return [argument for argument in kernel.bound if isinstance(argument, Scalar)]


def _vectors(kernel: Kernel) -> list[str]:
    return [data.name for data in kernel.data if data.name in kernel.vectors]


def _matrices(kernel: Kernel) -> set[str]:
    """Names of the operands that have a leading dimension."""
    return {argument.of for argument in kernel.arguments if isinstance(argument, Ld)}


def _letters(argument: Flag | Option, dtype: str) -> Sequence[str | int]:
    """The values that a flag or option may have."""
    return argument.letters_for(dtype) if isinstance(argument, Flag) else argument.values


def _scalar(argument: Scalar, one: str, dtype: str) -> complex:
    """A value of a class."""
    if one != "other":
        return int(one)
    return OTHER_COMPLEX_SCALAR if dtype in COMPLEX and argument.kind == "element" else OTHER_SCALAR


def _combinations(choices: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """All ways to choose a value for every name."""
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]
