"""The flags in the name of a case."""

import re

from blascast.sampler.errors import UsageError
from blascast.sampler.kernel import Flag, Kernel, Option

_VALUE = re.compile(r"-?\d|[A-Z]")


def flags_of(kernel: Kernel, case: str, dtype: str) -> dict[str, str | int]:
    """Flags and options of a case by argument name.

    Raises
    ------
    UsageError
        If the kernel has no such case, or does not exist for the data type.

    Examples
    --------
    >>> from blascast.sampler.kernels import find_kernel
    >>> flags_of(find_kernel("trsm"), "LLNN -1", "d")
    {'side': 'L', 'uplo': 'L', 'transA': 'N', 'diag': 'N'}
    """
    kernel.routine(dtype)
    choices = {
        a.name: {str(value): value for value in (a.values if isinstance(a, Option) else a.letters_for(dtype))}
        for a in kernel.bound
        if isinstance(a, Flag | Option)
    }
    word = case.split()[0] if choices and case.split() else ""
    given = _VALUE.findall(word)
    known = len(given) == len(choices) and all(map(dict.__contains__, choices.values(), given))
    if not known or "".join(given) != word:
        form = " ".join(choices) or "no flags"
        raise UsageError(f"{case!r} is no case of {kernel.routine(dtype)}, which begins with {form}")
    return {name: values[one] for (name, values), one in zip(choices.items(), given, strict=True)}
