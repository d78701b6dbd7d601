"""build: models of a kernel on given sizes, without a question."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Unpack

import numpy as np

from blascast.models.generation.feasibility import check_operands, check_points, check_widths, rounded
from blascast.models.generation.need import Need
from blascast.models.generation.ripple import surcharge
from blascast.models.parameters import Parameters, preset_name
from blascast.models.piecewise import Model
from blascast.models.sampling import Case, case_named, usual_case
from blascast.models.sizes.domain import Domain
from blascast.models.sizes.places import bounding_box
from blascast.predictors.configurations import check_size
from blascast.sampler.errors import UsageError
from blascast.sampler.kernel import Kernel
from blascast.sampler.kernels import find_kernel
from blascast.sampler.precondition import precondition_of
from blascast.sampler.resources import available_memory
from blascast.sampler.setup import Setup, SetupRequest

from .effort import Spent, Tally
from .origin import Origin
from .report import Column, Report, core_sentence, counted, effort_sentences, percent, setup_json
from .session import Session, SessionOptions

NOTICEABLE = 0.001  # what sizes off the multiples of 8 must cost to be spoken of


@dataclass(frozen=True, eq=False, repr=False)
class BuildReport(Report):
    """Models that were built, or were there.

    Parameters
    ----------
    setup : Setup
    models : tuple of Model
    parameters : Parameters
        What they were generated with.
    tally : Tally
    spent : Spent
    origin : Origin
    """

    setup: Setup
    models: tuple[Model, ...]
    parameters: Parameters
    tally: Tally
    spent: Spent
    origin: Origin

    @property
    def title(self) -> str:
        """What was asked."""
        built = counted(len(self.models), "model")
        return f"{built} of {self.models[0].key.kernel}, parameters {preset_name(self.parameters)}: {self.setup}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        return [
            *(Column("case", text=True), Column("sizes", text=True), Column("ld"), Column("pieces")),
            *(Column("error [%]"), Column("worst [%]"), Column("noise [%]"), Column("off 8s [%]")),
            *(Column("samples"), Column("points"), Column("cost [s]"), Column("stopped by", text=True)),
        ]

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [self._cells(model) for model in self.models]

    def _cells(self, model: Model) -> list[str]:
        return [
            *(model.key.described, _sizes(model), str(model.key.ld), str(len(model.pieces))),
            *(percent(model.error), percent(model.worst_error), percent(_noise(model))),
            percent(_error_off(model) if model.ripple else None),
            *(str(model.samples), str(_points(model)), f"{model.seconds:.1f}", model.stopped),
        ]

    @property
    def remarks(self) -> list[str]:
        """Sentences below the table."""
        return [
            "Error: of points left out of the fit, median and worst of the pieces; noise: of the samples themselves; "
            "off 8s: the error at sizes that are no multiples of 8.",
            *(_ripple_sentence(model) for model in self.models if model.ripple is not None),
            core_sentence(self.models[0].state),
            *self.origin.sentences,
            *effort_sentences(self._one_reason, self.spent),
        ]

    @property
    def _one_reason(self) -> Tally:
        """The tally; where models stopped for several reasons, the table alone tells them."""
        alike = len({model.stopped for model in self.models}) == 1
        return self.tally if alike else replace(self.tally, stopped=None)

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values, sizes as [lowest, highest]."""
        finite = {name: value if value != float("inf") else None for name, value in asdict(self.parameters).items()}
        return {
            "setup": setup_json(self.setup),
            "preset": preset_name(self.parameters),
            "parameters": finite,
            "rows": [_row(model) for model in self.models],
            "samples": self.tally.to_json(),
            "seconds": self.spent.to_json(),
        }


def _row(model: Model) -> dict[str, Any]:
    box = bounding_box(model)
    names = find_kernel(model.key.kernel).sizes
    return {
        "kernel": model.key.kernel,
        "case": model.key.case,
        "ld": model.key.ld,
        "precondition": model.key.precondition,
        "sizes": {name: [low, high] for name, low, high in zip(names, box.lower, box.upper, strict=True)},
        "pieces": len(model.pieces),
        "error": model.error,
        "worst": model.worst_error,
        "noise": _noise(model),
        "samples": model.samples,
        "points": _points(model),
        "cost": model.seconds,
        "state": model.state,
        "stopped": model.stopped,
        "ripple": asdict(model.ripple) | {"surcharge": surcharge(model)[1]} if model.ripple else None,
        "origin": model.origin or None,
    }


def _sizes(model: Model) -> str:
    box = bounding_box(model)
    names = find_kernel(model.key.kernel).sizes
    return ", ".join(f"{n}={low}..{high}" for n, low, high in zip(names, box.lower, box.upper, strict=True))


def _noise(model: Model) -> float:
    return float(np.median([piece.noise for piece in model.pieces]))


def _points(model: Model) -> int:
    return sum(piece.points for piece in model.pieces)


def _error_off(model: Model) -> float:
    """Its error at sizes that are no multiples of 8."""
    assert model.ripple is not None
    return float(np.hypot(model.error, model.ripple.error))


def _ripple_sentence(model: Model) -> str:
    """How large the ripple is, and how well it is modelled."""
    assert model.ripple is not None
    point, more = surcharge(model)
    carried = f"the model carries it to {percent(_error_off(model))} %"
    if more < NOTICEABLE:
        return f"{model.key}: sizes off the multiples of 8 cost no more than others; {carried}."
    where = " x ".join(map(str, point))
    return f"{model.key}: sizes off the multiples of 8 cost up to {percent(more)} % more (at {where}); {carried}."


def build(
    kernel: str,
    *cases: str,
    sizes: Mapping[str, int | tuple[int, int]],
    precondition: str = "warm",
    **options: Unpack[SessionOptions],
) -> BuildReport:
    """Builds models of cases of a kernel on a domain, or completes those that are there.

    They are refined until their errors are within the parameters' bound or nothing more can be won, for
    the parameters' `seconds` a case at most. After an interrupt the same call goes on where it ended.
    Finally sizes that are no multiples of 8 are examined.

    Parameters
    ----------
    kernel : str
        Such as ``"trsm"``.
    *cases : str
        Such as ``"LLNN 1"``; by default the usual one: first letters of all flags, factors of 1.
    sizes : mapping
        For each of the kernel's sizes the lowest and the highest value, both included, or a single
        one: ``{"m": (24, 536), "n": 64}``. Bounds are rounded outwards to multiples of 8 where they
        are at least 16 apart.
    precondition : str
        Where the operands lie: ``"warm"``, ``"cold by flush"``, ``"A, B cold"``,
        ``"touched A, 64KiB, B"``; see docs/sample.md.
    **options
        Library, data type, threads, parameters and so on: the parameters of `Session`.

    Returns
    -------
    BuildReport

    Raises
    ------
    UsageError
        If a name or number is not valid, the operands would not fit into memory, or parameters do not
        fit the domain.
    BlascastError
        If the library, a routine or the store fails.

    Examples
    --------
    >>> report = build("trsm", "LLNN 1", sizes={"m": (24, 152), "n": 64}, library="simulated")
    >>> report.to_frame()["sizes_m"].tolist()
    [[24, 152]]
    """
    parameters = options.get("parameters") or Parameters()
    request = SetupRequest(options.get("library", "scipy"), options.get("dtype", "d"), options.get("threads", 1))
    chosen = find_kernel(kernel)
    named = _cases(chosen, cases, request.dtype)
    state = precondition_of(precondition)
    domain = rounded(domain_of(chosen, sizes))
    for case in named:
        check_points(case, domain, parameters)
        check_widths(case, domain, parameters, request.threads)
    options["parameters"] = replace(parameters, seconds=len(named) * parameters.seconds)
    with Session(**options) as session:
        needs = [Need(case, (domain,), precondition=state) for case in named]
        for need in needs:
            check_operands(need, session.setup.item_bytes, available_memory())
        models = session.provide(needs)
        found = tuple(models[need.key] for need in needs)
        return BuildReport(session.setup, found, parameters, session.tally, session.spent, session.origin)


def _cases(kernel: Kernel, names: tuple[str, ...], dtype: str) -> list[Case]:
    """The cases, each once; the usual one if none is named."""
    found = [case_named(kernel, name, dtype) for name in names] or [usual_case(kernel, dtype)]
    return list({case.name: case for case in found}.values())


def domain_of(kernel: Kernel, sizes: Mapping[str, int | tuple[int, int]]) -> Domain:
    """The domain of lowest and highest values by the names of a kernel's sizes.

    Raises
    ------
    UsageError
        If a size is missing, unknown, or not LOWEST:HIGHEST.
    """
    check_names(kernel, sizes)
    bounds = [_bounds(name, sizes[name]) for name in kernel.sizes]
    return Domain(tuple(low for low, _ in bounds), tuple(high for _, high in bounds))


def check_names(kernel: Kernel, sizes: Mapping[str, Any]) -> None:
    """Refuses names that are not those of the kernel's sizes."""
    if set(sizes) != set(kernel.sizes):
        raise UsageError(
            f"{kernel.name} has the sizes {', '.join(kernel.sizes)}, got {', '.join(sizes) or 'none'}; "
            "give each of them"
        )


def _bounds(name: str, value: int | tuple[int, int]) -> tuple[int, int]:
    low, high = value if isinstance(value, tuple | list) and len(value) == 2 else (value, value)
    low, high = check_size(name, low), check_size(name, high)
    if low > high:
        raise UsageError(f"{name} must be LOWEST:HIGHEST, got {low}:{high}; did you mean {high}:{low}?")
    return low, high
