"""Estimates beyond what was sampled."""

from typing import Literal, get_args

from blascast.sampler.errors import UsageError

# What becomes of calls that no piece contains: refused, estimated at the nearest point of the nearest
# piece, or from there on.
Outside = Literal["error", "clamp", "extrapolate"]
_KNOWN = get_args(Outside)


def check_outside(outside: object) -> None:
    """Refuses what is no `Outside`.

    Raises
    ------
    UsageError
        If it is none.
    """
    if outside not in _KNOWN:
        raise UsageError(f"outside must be one of {', '.join(_KNOWN)}, got {outside!r}")
