"""remove_models: models, and their samples, out of the store."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias, Unpack

from blascast.models.kept.store import Store
from blascast.models.piecewise import ModelKey
from blascast.sampler.errors import UsageError
from blascast.sampler.setup import Setup

from ..report import counted
from .done import Done
from .selection import Filters, Selection, listed, named

Case: TypeAlias = tuple[Setup, ModelKey]


def remove_models(
    kernel: str | None = None,
    case: str | None = None,
    *,
    everything: bool = False,
    samples: bool = False,
    confirm: Callable[[str], bool] | None = None,
    home: Path | None = None,
    **filters: Unpack[Filters],
) -> Done:
    """Removes models from the store.

    Parameters
    ----------
    kernel, case : str, optional
        Which models; see `Selection`.
    everything : bool
        All models; needed where nothing chooses among them.
    samples : bool
        Their samples, too, and those of cases so named that have no model (any more). Without them, a
        model of the same sizes is made anew at little cost.
    confirm : callable, optional
        Given a question, tells whether to go on.
    library, dtype, threads, ld, setup : optional
        Which setups; see `Filters`.
    home : Path, optional
        The store's folder.

    Raises
    ------
    UsageError
        If nothing is chosen, or what is chosen is not there.
    StoreError
        If the store cannot be read or written.
    """
    selection = Selection(kernel, case, **filters)
    if selection.everything and not everything:
        raise UsageError(
            "what to remove must be named: a kernel, case, library, data type, number of threads, ld or setup; "
            "--all stands for everything"
        )
    store = Store(home)
    try:
        models = [(setup, model.key) for setup, model in selection.find(store)]
        sampled = [one for one in store.sampled() if selection.fits(*one)] if samples else []
        cases = list(dict.fromkeys([*models, *sampled]))
        if not cases:
            raise UsageError(selection.why_none(store))
        if confirm is not None and not confirm(_question(models, sampled, cases)):
            return Done("nothing was removed", store.home)
        rows = [(*one, _remove(store, one, one in models, samples)) for one in cases]
        return Done(f"removed from {store.home}: {_amount(models, sampled)}", store.home, tuple(rows))
    finally:
        store.close()


def _remove(store: Store, case: Case, modelled: bool, samples: bool) -> str:
    """Removes the model, and samples if so wished; what was removed."""
    parts = ["model"] if modelled else []
    if modelled:
        store.remove_model(*case)
    if samples:
        parts.append(counted(store.remove_samples(*case), "sample"))
    return " and ".join(parts)


def _question(models: Sequence[Case], sampled: Sequence[Case], cases: Sequence[Case]) -> str:
    names = listed(list(dict.fromkeys(named(*case) for case in cases)), ", ")
    return f"Remove {_amount(models, sampled)} ({names})?"


def _amount(models: Sequence[Case], sampled: Sequence[Case]) -> str:
    parts = [counted(len(models), "model")] if models else []
    return " and ".join([*parts, *([f"the samples of {counted(len(sampled), 'case')}"] if sampled else [])])
