"""Contexts: what state of the caches calls are estimated in.

warm         each was just made: what models of warm calls say
cold         all operands in memory: what models of cold calls say
cache        between the two, by what the cache model says of the calls before (section 18.3 of the dissertation)
algorithm    as warm models say, corrected by steps of the algorithm that were timed

windows      steps of algorithms, timed in the state that the steps before leave
observing    which windows tell most about a question, and their times
correction   how much longer calls take there than models say, by kernel and sizes
cached       estimates between warm and cold
aware        single calls, timed after those since their operands' last use: a reference, too slow for more
"""

from typing import Literal, TypeAlias, get_args

from blascast.sampler.errors import UsageError

Context: TypeAlias = Literal["warm", "cold", "cache", "algorithm"]
CONTEXTS: tuple[Context, ...] = get_args(Context)
DEFAULT: Context = "algorithm"  # by benchmarks/contexts.py


def check_context(context: object) -> None:
    """Refuses what is no context.

    Raises
    ------
    UsageError
        If it is none.
    """
    if context not in CONTEXTS:
        raise UsageError(f"the context must be one of {', '.join(CONTEXTS)}, got {context!r}")
