"""Why models should be built anew."""

import re

from blascast.sampler.batch.sample import CLOCK_TOLERANCE
from blascast.sampler.setup import Library, Setup

from .checking import Check

OLDEST_SECONDS = 90 * 86400.0
LEAST_COVERAGE = 0.5
_FEWEST_POINTS = 5


def reasons(check: Check, clock: float | None, now: float) -> list[str]:
    """Why a model does not describe this machine any more.

    Parameters
    ----------
    check : Check
    clock : float or None
        Time of the probes' arithmetic loop when the model was sampled, seconds.
    now : float
        Seconds since 1970.
    """
    found = []
    if len(check.points) >= _FEWEST_POINTS and check.coverage < LEAST_COVERAGE:
        found.append(
            f"{100 * (1 - check.coverage):.0f} % of the points lie beyond 2 standard errors of the model and the noise"
        )
    if clock is not None and check.clock is not None and abs(check.clock / clock - 1) > CLOCK_TOLERANCE:
        found.append(f"the clock runs at {100 * clock / check.clock:.0f} % of what it was then")
    if check.model.taken and now - check.model.taken > OLDEST_SECONDS:
        found.append(f"it was sampled {(now - check.model.taken) / 86400:.0f} days ago")
    return found


def is_successor(new: Setup, old: Setup) -> bool:
    """Whether a setup is what another has become: the same library, data type and threads, and yet another setup."""
    alike = (new.dtype, new.threads) == (old.dtype, old.threads) and _names(new.library) == _names(old.library)
    return alike and new != old


def _names(library: Library) -> tuple[str, ...]:
    """Its name and its files', without what is of a version: ``libscipy_openblas``."""
    return library.name, *(re.split(r"-|\.", file)[0] for file in library.file_names)


def what_changed(new: Setup, old: Setup) -> str:
    """How a setup differs from the one that it has become, and what to do about models of the old one."""
    if new.machine != old.machine:
        return f"of another machine ({old.machine.cpu}); they answer with --models {old.fingerprint}"
    if str(new.library) != str(old.library):
        return f"made with {old.library}, now it is {new.library}: build them anew"
    if new.library != old.library:
        return f"made with another build of {old.library}: build them anew"
    return f"made with threads that were {'' if old.pinned else 'not '}pinned: build them anew"
