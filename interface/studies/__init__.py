"""Studies of the model generator.

report    the study of its configurations as a report
pieces    what one, two and three pieces achieve in one size
figures   both as figures
"""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from blascast.models.generation.feasibility import check_operands
from blascast.models.generation.need import Need
from blascast.models.parameters import PEISE2017, PRESETS
from blascast.models.study.baselines import baselines
from blascast.models.study.collection import Collection
from blascast.models.study.configurations import configurations
from blascast.models.study.exhaustive import ExhaustiveSet
from blascast.models.study.halving_tree import HalvingTree
from blascast.models.study.outcome import Outcome
from blascast.models.study.plan import affordable_axes
from blascast.models.study.replay import replay
from blascast.models.study.setting import CASE, DOMAIN, LD
from blascast.sampler.errors import UsageError
from blascast.sampler.resources import available_memory
from blascast.sampler.sampler import OnProgress, Progress

from ..session import Session
from .report import StudiedSetup, StudyReport

MINUTES = 30.0
SIMULATED = "simulated"


def study(
    library: str | Sequence[str] = "scipy",
    *,
    minutes: float | None = None,
    home: Path | None = None,
    on_progress: OnProgress | None = None,
) -> StudyReport:
    """Studies what accuracy costs: 2880 configurations of the generator, and our presets (dissertation, section 9.2).

    dtrsm (side L, uplo L, transA N, diag N, alpha 1) is measured on one thread at a grid of points with m
    from 24 to 536 and n from 24 to 4152, 15 times, and 5 times more in a second pass. All generators are
    replayed on the samples of the first pass; their models are judged on the medians of the second.

    Parameters
    ----------
    library : str or sequence of str
        More than one are pruned together.
    minutes : float, optional
        What sampling may take for each library, about: as many of the sizes that are multiples of 8 are
        measured as fit into it. By default 30; on the simulated machine, whose time passes quickly, all.
    home : Path, optional
        The store's folder.
    on_progress : callable, optional
        Called with a `Progress` meanwhile.

    Returns
    -------
    StudyReport

    Raises
    ------
    UsageError
        If there are no minutes, too few of them, or a library is given twice.
    BlascastError
        If a library, the routine or the store fails.
    """
    names = [library] if isinstance(library, str) else list(library)
    if not names or len(set(names)) < len(names):
        raise UsageError(f"a study needs at least one library, each once, got {', '.join(names) or 'none'}")
    if minutes is not None and not minutes > 0:
        raise UsageError(f"minutes must be positive, got {minutes:g}")
    began = time.perf_counter()
    with ExitStack() as stack:
        sessions = [stack.enter_context(Session(library=name, home=home, on_progress=on_progress)) for name in names]
        setups = tuple(
            _studied(session, name, _seconds(name, minutes)) for session, name in zip(sessions, names, strict=True)
        )
    return StudyReport(setups, time.perf_counter() - began)


def _seconds(library: str, minutes: float | None) -> float:
    """What sampling may take."""
    if minutes is None:
        return math.inf if library == SIMULATED else 60 * MINUTES
    return 60 * minutes


def _studied(session: Session, library: str, seconds: float) -> StudiedSetup:
    """Measures what is missing, and replays."""
    check_operands(Need(CASE, (DOMAIN,)), session.setup.item_bytes, available_memory(), LD)
    collection = Collection(session.sampler, session.store, session.on_progress)
    exhaustive = collection.exhaustive_set(affordable_axes(collection, seconds))
    for batch in collection.batches:
        session.tally = session.tally.plus(batch)
    ours = [replay(name, parameters, exhaustive) for name, parameters in PRESETS.items() if parameters != PEISE2017]
    return StudiedSetup(
        library,
        session.sampler.setup,
        collection.state or "mixed",
        session.tally,
        tuple(len(axis) for axis in exhaustive.axes),
        len(collection.disturbed),
        exhaustive.noise_floor,
        tuple(_replayed(exhaustive, library, session.on_progress)),
        (*ours, *baselines(exhaustive)),
    )


def _replayed(exhaustive: ExhaustiveSet, library: str, on_progress: OnProgress) -> Iterator[Outcome]:
    """The outcomes of the configurations."""
    studied, began = configurations(), time.monotonic()
    for done, found in enumerate(HalvingTree(exhaustive).outcomes(studied), 1):
        yield replace(found, name="peise2017") if found.parameters == PEISE2017 else found
        left = (time.monotonic() - began) / done * (len(studied) - done)
        on_progress(Progress(f"replaying, {library}", done, len(studied), left, "configurations"))
