"""blocksize: the best block size of a variant for every size of a sweep."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Unpack

import numpy as np

from blascast.algorithms import find_variant, trace
from blascast.predictors.blocksize import BestBlockSize, best_block_size
from blascast.predictors.configurations import (
    B_STEP,
    LARGEST_B,
    SMALLEST_B,
    USUAL_B,
    candidate_block_sizes,
    check_size,
)
from blascast.predictors.judging import block_sizes
from blascast.predictors.replay import Replay
from blascast.sampler.batch.sample import State
from blascast.sampler.errors import UsageError
from blascast.sampler.setup import Setup

from .effort import Spent, Tally
from .opening import AnswerOptions, open_source
from .origin import Origin
from .report import Column, Report, core_sentence, effort_sentences, milliseconds, percent, setup_json


@dataclass(frozen=True, eq=False, repr=False)
class BlocksizeReport(Report):
    """Best block sizes.

    Parameters
    ----------
    setup : Setup
    replay : Replay
        All sizes and block sizes that were compared.
    rows : tuple of BestBlockSize, one for each size
    """

    setup: Setup
    replay: Replay
    rows: tuple[BestBlockSize, ...]
    state: State
    tally: Tally
    spent: Spent
    origin: Origin

    @property
    def title(self) -> str:
        """What was asked."""
        return f"best block sizes of {self.replay.sequence.variant}: {self.setup}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        return [
            *(Column("n"), Column("best b"), Column("within 1 %"), Column("time [ms]")),
            Column(f"gain over {USUAL_B} [%]"),
        ]

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [[str(r.n), str(r.b), f"{r.low}..{r.high}", milliseconds(r.seconds), percent(r.gain)] for r in self.rows]

    @property
    def remarks(self) -> list[str]:
        """Sentences below the table."""
        errors = self.replay.error / self.replay.statistics[:, 1]
        return [
            f"Block sizes compared: multiples of {B_STEP} from {SMALLEST_B} to {LARGEST_B}. "
            f"Model error {percent(float(np.median(errors)))} % (median): gains below it are none.",
            core_sentence(self.state),
            *self.origin.sentences,
            *effort_sentences(self.tally, self.spent),
        ]

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "operation": self.replay.sequence.variant.operation,
            "variant": self.replay.sequence.variant.number,
            "setup": setup_json(self.setup),
            "rows": [asdict(row) for row in self.rows],
            "state": self.state,
            "samples": self.tally.to_json(),
            "seconds": self.spent.to_json(),
            "origin": self.origin.to_json(),
        }


def blocksize(
    operation: str,
    variant: int,
    n: int | Sequence[int],
    **options: Unpack[AnswerOptions],
) -> BlocksizeReport:
    """Finds the best block size of a variant.

    Parameters
    ----------
    operation : str
    variant : int
    n : int or sequence of int
        Matrix sizes.
    **options
        Library, data type, threads and so on: the parameters of `Session`; or a setup's stored models,
        by `models` and `outside`: those of `open_source`.

    Returns
    -------
    BlocksizeReport

    Raises
    ------
    UsageError
        If a name or number is not valid.
    BlascastError
        If the library, a routine or the store fails.
    """
    chosen = find_variant(operation, variant)
    sizes = [check_size("n", size) for size in (n if isinstance(n, list | tuple | range | np.ndarray) else [n])]
    if not sizes:
        raise UsageError("n must hold at least one size")
    with open_source(**options) as source:
        source.check_sizes(sizes)
        grid = [(size, int(b)) for size in sizes for b in _compared(size)]
        sequence = trace(chosen, *np.transpose(grid))
        (replay,), state = source.replay([sequence], block_sizes(sequence.n, source.parameters.answer_bound))
        rows = tuple(best_block_size(replay, size) for size in sizes)
        return BlocksizeReport(source.setup, replay, rows, state, source.tally, source.spent, source.origin)


def _compared(n: int) -> list[int]:
    """The candidates, and the usual block size to compare with."""
    return sorted({*candidate_block_sizes(n).tolist(), min(USUAL_B, n)})
