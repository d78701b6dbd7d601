"""Selections: how stored models are named, by every verb alike."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias, TypedDict

from blascast.models.kept.store import Store
from blascast.models.piecewise import Model, ModelKey
from blascast.sampler.errors import BlascastError, UsageError
from blascast.sampler.kernel import TYPES
from blascast.sampler.kernels import KERNELS
from blascast.sampler.libraries import library_files
from blascast.sampler.precondition import WARM, precondition_of
from blascast.sampler.setup import Library, Setup

Entry: TypeAlias = tuple[Setup, Model]
Test: TypeAlias = Callable[[Setup, ModelKey], bool]
Told: TypeAlias = Callable[[Setup, ModelKey], str]

SHORT = 6  # digits of a fingerprint that people are shown
_MOST_LISTED = 12
_DIGITS = re.compile("[0-9a-f]{1,12}")


class Filters(TypedDict, total=False):
    """What every verb about stored models may add to a kernel and a case.

    Parameters
    ----------
    library : str
        The name or path of a library that is here; or any part of name, version or file name of one
        that is not.
    dtype : str
    threads : int
    ld : int
        The leading dimension that a model was sampled with.
    precondition : str
        Where the operands lay, such as ``"warm"`` or ``"cold by flush"``.
    setup : str
        A setup's fingerprint, or how it begins.
    """

    library: str | None
    dtype: str | None
    threads: int | None
    ld: int | None
    precondition: str | None
    setup: str | None


@dataclass(frozen=True)
class Selection:
    """Stored models: of a kernel, of a case, and of setups, as far as these are given.

    Parameters
    ----------
    kernel : str, optional
        With the letter of a data type or without: ``"trsm"``, ``"dtrsm"``.
    case : str, optional
        A case or the words it begins with: ``"LLNN 1"``, ``"LLNN"``.
    library, dtype, threads, ld, precondition, setup : optional
        See `Filters`.

    Raises
    ------
    UsageError
        If one of them makes no sense.
    """

    kernel: str | None = None
    case: str | None = None
    library: str | None = None
    dtype: str | None = None
    threads: int | None = None
    ld: int | None = None
    precondition: str | None = None
    setup: str | None = None

    def __post_init__(self) -> None:
        for name in ("kernel", "case", "library", "precondition", "setup"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise UsageError(f"the {name} must be given as text, got {value!r}")
        if self.precondition is not None:
            precondition_of(self.precondition)
        if self.dtype is not None and self.dtype not in TYPES:
            raise UsageError(f"the data type must be one of {', '.join(TYPES)}, got {self.dtype!r}")
        for name, value in (("number of threads", self.threads), ("leading dimension", self.ld)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise UsageError(f"the {name} must be a positive integer, got {value!r}")
        if self.setup is not None and not _DIGITS.fullmatch(self.setup.casefold()):
            raise UsageError(
                f"a setup is named by the first digits of its fingerprint (0 to 9, a to f), got {self.setup!r}"
            )

    @property
    def everything(self) -> bool:
        """Whether nothing is chosen."""
        return self == Selection()

    @cached_property
    def _tests(self) -> list[tuple[str, Test, Told]]:
        """What a model must be: in words, the test of it, and what to say of others."""
        given = [(rule, getattr(self, rule.name)) for rule in _RULES]
        return [
            (f"the {rule.called} {value!r}", rule.test(value), rule.told) for rule, value in given if value is not None
        ]

    def fits(self, setup: Setup, key: ModelKey) -> bool:
        """Whether a model of that setup and case belongs to it."""
        return all(test(setup, key) for _, test, _ in self._tests)

    def find(self, store: Store) -> list[Entry]:
        """The models, none perhaps; only files of that kernel and setup are opened."""
        beginning = (self.setup or "").casefold()
        kernels: Sequence[str | None] = [None] if self.kernel is None else _kernels(self.kernel)
        entries = [entry for kernel in kernels for entry in store.all_models(kernel, beginning)]
        return [(setup, model) for setup, model in entries if self.fits(setup, model.key)]

    def some(self, store: Store) -> list[Entry]:
        """The models.

        Raises
        ------
        UsageError
            If there are none.
        """
        if entries := self.find(store):
            return entries
        raise UsageError(self.why_none(store))

    def one(self, store: Store) -> Entry:
        """The only model.

        Raises
        ------
        UsageError
            If there is none, or more than one.
        """
        entries = self.some(store)
        if self.precondition is None:  # warm ones are meant, where there are such
            entries = [entry for entry in entries if entry[1].key.precondition == str(WARM)] or entries
        if len(entries) > 1:
            names = told_apart(entries)
            raise UsageError(
                f"one model is needed, {len(entries)} are meant; choose by case, ld, precondition, setup, "
                f"library, dtype or threads among: {listed(names, '; ')}"
            )
        return entries[0]

    def why_none(self, store: Store) -> str:
        """Why no model belongs to it: the first of its rules that none fulfils, and what there is instead."""
        left = store.all_models()
        if not left:
            return f"no models are stored in {store.home}; a question makes some: blascast rank cholesky --n 1000"
        met: list[str] = []
        for wanted, test, told in self._tests:
            there = list(dict.fromkeys(told(setup, model.key) for setup, model in left))
            left = [(setup, model) for setup, model in left if test(setup, model.key)]
            if not left:
                break
            met.append(wanted)
        among = f" with {', '.join(met)}" if met else ""
        return f"no stored model{among} has {wanted}; they have {listed(there, ', ')}"


def routine_of(setup: Setup, key: ModelKey) -> str:
    """The routine that a model is of: ``"dgemm"``."""
    kernel = KERNELS.get(key.kernel)
    known = kernel is not None and setup.dtype in kernel.types
    return kernel.routine(setup.dtype) if kernel is not None and known else setup.dtype + key.kernel


def named(setup: Setup, key: ModelKey) -> str:
    """Routine and case: ``"dgemm NN 1 1"``."""
    return f"{routine_of(setup, key)} {key.described}".strip()


def titled(setup: Setup, model: Model) -> str:
    """Routine and case, and where an imported model came from."""
    return named(setup, model.key) + (f", {model.origin}" if model.origin else "")


def told_apart(entries: Sequence[Entry]) -> list[str]:
    """Names of models with what tells them apart."""
    several_lds = len({model.key.ld for _, model in entries}) > 1
    several_setups = len({setup for setup, _ in entries}) > 1
    return [
        named(setup, model.key)
        + (f", ld {model.key.ld}" if several_lds else "")
        + (f", setup {setup.fingerprint[:SHORT]} ({setup})" if several_setups else "")
        for setup, model in entries
    ]


def setup_lines(setups: Iterable[Setup]) -> list[str]:
    """What fingerprints stand for, each once."""
    return [f"{setup.fingerprint[:SHORT]}: {setup}" for setup in dict.fromkeys(setups)]


def listed(names: Sequence[str], separator: str) -> str:
    """Names one behind the other, of many the first ones."""
    more = [f"... ({len(names)} in all)"] if len(names) > _MOST_LISTED else []
    return separator.join([*names[:_MOST_LISTED], *more])


def _kernels(name: str) -> list[str]:
    """The kernels that a name may stand for: that of a kernel, or of a routine, known here or not."""
    spelled = _spelled(name)
    known = [kernel.name for kernel in KERNELS.values() if not spelled.isdisjoint(map(kernel.routine, kernel.types))]
    return list(dict.fromkeys([*spelled, *known, *(one[1:] for one in spelled if one[:1] in TYPES)]))


def _is_kernel(name: str) -> Test:
    return lambda setup, key: not _spelled(name).isdisjoint((key.kernel, routine_of(setup, key)))


def _spelled(name: str) -> set[str]:
    """A name as it was given, and in small letters."""
    return {name, name.casefold()}


def _is_case(text: str) -> Test:
    words = text.casefold().split()
    return lambda setup, key: key.case.casefold().split()[: len(words)] == words


def _is_library(name: str) -> Test:
    """Of a name known here, that library; of another one, whatever is named alike."""
    if name == "simulated":
        return lambda setup, key: setup.library.name == name
    try:
        files = library_files(name).file_names
    except BlascastError:
        return lambda setup, key: name.casefold() in _names_of(setup.library).casefold()
    return lambda setup, key: setup.library.file_names == files


def _names_of(library: Library) -> str:
    return " ".join((str(library), *library.file_names))


class _Rule(NamedTuple):
    """One thing that a selection may ask for.

    Parameters
    ----------
    name, called : str
        Of the selection's attribute; for people.
    test : callable
        Makes the test from its value.
    told : callable
        What a model has instead.
    """

    name: str
    called: str
    test: Callable[[Any], Test]
    told: Told


_RULES = (
    _Rule("kernel", "kernel", _is_kernel, lambda setup, key: key.kernel),
    _Rule("case", "case", _is_case, lambda setup, key: repr(key.case)),
    _Rule("ld", "leading dimension", lambda ld: lambda setup, key: key.ld == ld, lambda setup, key: str(key.ld)),
    _Rule(
        "precondition",
        "precondition",
        lambda text: lambda setup, key: key.precondition == str(precondition_of(text)),
        lambda setup, key: key.precondition,
    ),
    _Rule(
        "setup",
        "setup",
        lambda digits: lambda setup, key: setup.fingerprint.startswith(digits.casefold()),
        lambda setup, key: f"{setup.fingerprint[:SHORT]} ({setup})",
    ),
    _Rule("library", "library", _is_library, lambda setup, key: str(setup.library)),
    _Rule("dtype", "data type", lambda dtype: lambda setup, key: setup.dtype == dtype, lambda setup, key: setup.dtype),
    _Rule(
        "threads",
        "number of threads",
        lambda threads: lambda setup, key: setup.threads == threads,
        lambda setup, key: str(setup.threads),
    ),
)
