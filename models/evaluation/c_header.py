"""Models as C: one header, without dependencies, that computes what `Model.evaluate` does."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files

import numpy as np

from blascast.sampler.errors import UsageError
from blascast.sampler.setup import Setup

from ..piecewise import Model
from ..sizes.domain import Domain
from ._evaluator import ffi

_USE = """\
Each model has two functions of its kernel's sizes. NAME(m, n) is the median of the run time in seconds, NAN where
the model tells nothing. NAME_statistics(m, n, statistics) puts minimum, median, mean, maximum and standard deviation
there and returns the index of the piece that told them, or -1.

Compiled with -ffp-contract=off, they are what blascast says to the last bit; else they differ by rounding, about
1e-15 of the sum of the magnitudes of a polynomial's terms."""
_LAST_SECOND = 253402300799  # of the year 9999


def c_header(setup: Setup, models: Sequence[Model]) -> str:
    """A C header that evaluates models, for C99 and C++.

    Parameters
    ----------
    setup : Setup
        The one that the models are of.
    models : sequence of Model

    Returns
    -------
    str
        The header. A function is named after routine and case, ``blascast_dtrsm_LLNN_1``, with the
        leading dimension behind, ``_ld520``, where two would have one name. It takes a C ``int`` for
        each of the kernel's sizes.

    Raises
    ------
    UsageError
        If there are no models, two of one kernel, case and leading dimension, or one that cannot be
        evaluated or whose kernel is unknown.
    """
    if not models:
        raise UsageError("a C header needs one model at least, got none; name a kernel whose models are stored")
    names = _names(setup, models)
    texts = [_model(setup, name, model) for name, model in zip(names, models, strict=True)]
    body = "\n\n".join([_evaluator(), *texts])
    guard = f"BLASCAST_MODELS_{hashlib.sha256(body.encode()).hexdigest()[:12]}_H"
    return f"{_preamble(setup)}\n#ifndef {guard}\n#define {guard}\n\n{body}\n\n#endif\n"


def _names(setup: Setup, models: Sequence[Model]) -> list[str]:
    """The models' functions: valid identifiers, each another one."""
    short = [_identifier(f"blascast {model.kernel.routine(setup.dtype)} {model.key.described}") for model in models]
    counts = Counter(short)
    names = [
        f"{name}_ld{model.key.ld}" if counts[name] > 1 else name for name, model in zip(short, models, strict=True)
    ]
    ((name, most),) = Counter([*names, *map(_with_statistics, names)]).most_common(1)
    if most > 1:
        raise UsageError(f"{most} models would be called {name} in C; export them one at a time")
    return names


def _identifier(text: str) -> str:
    return re.sub(r"[^0-9A-Za-z]+", "_", text.replace("-", "minus")).strip("_")


def _with_statistics(name: str) -> str:
    return f"{name}_statistics"


def _evaluator() -> str:
    """The text that Python's evaluator is compiled from, in one."""
    folder = files("blascast.models.evaluation") / "csrc"
    texts = {name: (folder / name).read_text(encoding="utf-8").strip() for name in ("model.h", "evaluate.h")}
    return texts["evaluate.h"].replace('#include "model.h"', texts["model.h"])


def _preamble(setup: Setup) -> str:
    rows = {
        "library": str(setup.library),
        "machine": f"{setup.machine.cpu}, {setup.machine.architecture}",
        "data type": setup.dtype,
        "threads": f"{setup.threads}, {'each on a CPU of its own' if setup.pinned else 'not pinned'}",
        "fingerprint": setup.fingerprint,
    }
    return _comment("Run times of BLAS and LAPACK kernels, estimated by models of blascast.", rows, _USE)


def _model(setup: Setup, name: str, model: Model) -> str:
    """A model's tables and functions."""
    tables = model.tables
    nodes = [f"{{{node.cut}, {node.dimension}, {{{node.below}, {node.above}}}}}" for node in tables.locator.nodes]
    arrays: dict[str, tuple[str, Sequence[Sequence[object]]]] = {
        "lower": ("int64_t", [tables.locator.lower]),
        "upper": ("int64_t", [tables.locator.upper]),
        "nodes": ("blascast_node", [[node] for node in nodes]),
        "scales": ("double", tables.scales.tolist()),
        "coefficients": ("double", np.concatenate(tables.coefficients).tolist()),
        "exponents": ("int32_t", tables.exponents),
        "padding": ("double", [tables.padding.tolist()]),
    }
    values = {
        "sizes": tables.sizes,
        "monomials": len(tables.exponents),
        "degree": tables.degree,
        "root": tables.locator.root,
        **{part: f"{name}_{part}" if rows else 0 for part, (_, rows) in arrays.items()},  # one piece has no nodes
    }
    fields = ", ".join(str(values[field]) for field, _ in ffi.typeof("blascast_model").fields)
    return "\n".join(
        [
            _comment(f"{model.kernel.routine(setup.dtype)} {model.key.described}", _facts(model)),
            *(_array(kind, f"{name}_{part}", rows) for part, (kind, rows) in arrays.items() if rows),
            f"static const blascast_model {name}_model = {{{fields}}};",
            _functions(name, model.kernel.sizes),
        ]
    )


def _array(kind: str, name: str, rows: Iterable[Iterable[object]]) -> str:
    lines = ",\n".join("    " + ", ".join(map(str, row)) for row in rows)  # floats as the shortest text that is exact
    return f"static const {kind} {name}[] = {{\n{lines}}};"


def _functions(name: str, sizes: Sequence[str]) -> str:
    arguments = ", ".join(f"int {size}" for size in sizes)
    return f"""
static inline double {name}({arguments}) {{
    const int64_t point[] = {{{", ".join(sizes)}}};
    return blascast_median(&{name}_model, point);
}}

static inline int {_with_statistics(name)}({arguments}, double statistics[5]) {{
    const int64_t point[] = {{{", ".join(sizes)}}};
    return blascast_statistics(&{name}_model, point, statistics);
}}"""


def _facts(model: Model) -> dict[str, str]:
    """What a reader of the header should know of a model."""
    whole, ripple = Domain(model.tables.locator.lower, model.tables.locator.upper), model.ripple
    paddings = ", ".join(f"{padding:.2f}" for padding in ripple.padding) if ripple else ""
    facts = {
        "domain": f"{whole} in {len(model.pieces)} pieces, leading dimension {model.key.ld}",
        "error": f"{100 * model.error:.2g} %, worst piece {100 * model.worst_error:.2g} %",
        "padding": f"{paddings}, error {100 * ripple.error:.2g} % more" if ripple else "none: sizes count as they are",
        "samples": f"{model.samples}, the last {_day(model.taken)}; core {model.state}",
    }
    return {**facts, "origin": model.origin} if model.origin else facts


def _day(seconds: float) -> str:
    known = 0 < seconds <= _LAST_SECOND
    return f"of {datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}" if known else "of an unknown day"


def _comment(title: str, rows: Mapping[str, str], text: str = "") -> str:
    """A comment: a title, a table and a text."""
    width = max(map(len, rows))
    table = [_harmless(f"{key:{width}}  {value}") for key, value in rows.items()]
    lines = [_harmless(title), *([""] if text else []), *table, *(["", *text.splitlines()] if text else [])]
    return "/* " + "\n * ".join(lines).replace(" \n", "\n") + " */"


def _harmless(text: str) -> str:
    """One line of plain text that neither begins nor ends a comment, whatever a stored model says."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return plain.encode("ascii", "replace").decode().replace("*/", "* /").replace("/*", "/ *")
