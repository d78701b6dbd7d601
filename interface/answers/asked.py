"""What a question about one variant asks for."""

from blascast.algorithms import find_operation, find_variant
from blascast.predictors.configurations import (
    BlockSize,
    Configuration,
    given_block_size,
    own_block_size,
    problems_of,
)
from blascast.sampler.errors import UsageError

from ..source import Source


def asked_configuration(
    source: Source, operation: str, variant: int | str, n: int, b: BlockSize | None, m: int | None
) -> Configuration:
    """A variant at a size and a block size, which must be given unless the variant has its own.

    Raises
    ------
    UsageError
        If a name or number is not valid, or the source lacks what the variant needs.
    """
    chosen, about = find_variant(operation, variant), find_operation(operation)
    (problem,) = problems_of(about, [n], m)
    if b is None and chosen.block_sizes and chosen.usual is None:
        raise UsageError(f"{chosen} needs a block size b; choose one, or ask for the best (blascast blocksize)")
    dtype = source.setup.dtype
    if lacking := source.lacking(chosen):
        raise UsageError(f"{chosen} cannot be predicted, as {lacking}. {source.remedy}")
    source.check_sizes(about, [problem])
    if b is None or not chosen.block_sizes:
        return Configuration(chosen, problem, own_block_size(chosen, problem, dtype))
    return Configuration(chosen, problem, given_block_size(chosen, problem, b))
