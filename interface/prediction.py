"""predict: the run time of one variant at one size and block size, and where it goes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from blascast.algorithms import Variant, find_operation, find_variant, trace
from blascast.predictors.configurations import check_block_size, check_size
from blascast.predictors.ranking import Candidate, candidate
from blascast.predictors.replay import Replay
from blascast.sampler.batch.sample import State
from blascast.sampler.setup import Setup

from .effort import Spent, Tally
from .opening import AnswerOptions, open_source
from .origin import Origin
from .report import Column, Report, core_sentence, efficiency, effort_sentences, milliseconds, percent, setup_json

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class KernelShare:
    """What the calls of one statement contribute.

    Parameters
    ----------
    kernel : str
        Name and case.
    calls : int
    seconds : float
    share : float
        Of the run time.
    flops_per_second : float
    """

    kernel: str
    calls: int
    seconds: float
    share: float
    flops_per_second: float


@dataclass(frozen=True, eq=False, repr=False)
class PredictReport(Report):
    """A prediction.

    Parameters
    ----------
    setup : Setup
    candidate : Candidate
        The variant, n, b and predicted times.
    flops : float
        Minimal count of the operation.
    peak : float or None
        Flops per second, if known.
    shares : tuple of KernelShare
        Empty if not asked for.
    """

    setup: Setup
    candidate: Candidate
    flops: float
    peak: float | None
    shares: tuple[KernelShare, ...]
    state: State
    tally: Tally
    spent: Spent
    origin: Origin

    @property
    def title(self) -> str:
        """What was asked."""
        return f"{self.candidate.variant}, n = {self.candidate.n}, b = {self.candidate.b}: {self.setup}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        if self.shares:
            return [
                *(Column("kernel", text=True), Column("calls"), Column("time [ms]")),
                *(Column("share [%]"), Column("GFLOP/s")),
            ]
        return [Column("statistic", text=True), Column("time [ms]"), Column("GFLOP/s"), Column("efficiency [%]")]

    def cells(self) -> list[list[str]]:
        """The printed rows: kernels, or statistics."""
        if self.shares:
            return [
                [
                    *(share.kernel, str(share.calls), milliseconds(share.seconds)),
                    *(percent(share.share), f"{share.flops_per_second / 1e9:.2f}"),
                ]
                for share in self.shares
            ]
        times, rates = self.candidate.times, self.candidate.times.performance(self.flops)
        rows = [("median", times.median, rates.median), ("mean", times.mean, rates.mean)]
        rows += [("fastest", times.min, rates.max), ("slowest", times.max, rates.min)]
        cells = [[n, milliseconds(t), f"{r / 1e9:.2f}", percent(efficiency(r, self.peak))] for n, t, r in rows]
        return [
            *cells,
            ["deviation", milliseconds(times.std), f"{rates.std / 1e9:.2f}", percent(efficiency(rates.std, self.peak))],
        ]

    @property
    def remarks(self) -> list[str]:
        """Sentences below the table."""
        times, error = self.candidate.times, self.candidate.error
        rate = self.flops / times.median
        of_peak = "" if self.peak is None else f", {percent(rate / self.peak)} % of the measured peak"
        return [
            f"Median {milliseconds(times.median)} ms ± {percent(error / times.median)} % (model error), "
            f"{rate / 1e9:.2f} GFLOP/s{of_peak}.",
            core_sentence(self.state),
            *self.origin.sentences,
            *effort_sentences(self.tally, self.spent),
        ]

    def to_frame(self) -> "pd.DataFrame":
        """The kernels, one a row; without a breakdown the prediction itself as one row."""
        import pandas as pd

        if self.shares:
            return super().to_frame()
        values = {name: value for name, value in self.to_json().items() if name not in ("rows", "setup")}
        return pd.json_normalize(values, sep="_")

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        median = self.candidate.times.median
        return {
            "operation": self.candidate.variant.operation,
            "variant": self.candidate.variant.number,
            "n": self.candidate.n,
            "b": self.candidate.b,
            "setup": setup_json(self.setup),
            "time": self.candidate.times.to_json(),
            "error": self.candidate.error,
            "gflops": self.flops / median / 1e9,
            "efficiency": efficiency(self.flops / median, self.peak),
            "rows": [
                {
                    "kernel": share.kernel,
                    "calls": share.calls,
                    "time": share.seconds,
                    "share": share.share,
                    "gflops": share.flops_per_second / 1e9,
                }
                for share in self.shares
            ],
            "state": self.state,
            "samples": self.tally.to_json(),
            "seconds": self.spent.to_json(),
            "origin": self.origin.to_json(),
        }


def predict(
    operation: str,
    variant: int,
    n: int,
    b: int,
    *,
    breakdown: bool = False,
    **options: Unpack[AnswerOptions],
) -> PredictReport:
    """Predicts the run time of a variant.

    Parameters
    ----------
    operation : str
    variant : int
    n, b : int
        Matrix size and block size.
    breakdown : bool
        Whether the report lists what each kernel contributes.
    **options
        Library, data type, threads and so on: the parameters of `Session`; or a setup's stored models,
        by `models` and `outside`: those of `open_source`.

    Returns
    -------
    PredictReport

    Raises
    ------
    UsageError
        If a name or number is not valid.
    BlascastError
        If the library, a routine or the store fails.
    """
    chosen: Variant = find_variant(operation, variant)
    n = check_size("n", n)
    b = check_block_size(b, n)
    with open_source(**options) as source:
        source.check_sizes([n])
        (replay,), state = source.replay([trace(chosen, n, b)])
        flops = float(find_operation(operation).flop_count(n))
        shares = _shares(replay) if breakdown else ()
        return PredictReport(
            source.setup,
            candidate(replay, 0),
            flops,
            source.peak,
            shares,
            state,
            source.tally,
            source.spent,
            source.origin,
        )


def _shares(replay: Replay) -> tuple[KernelShare, ...]:
    """The statements of the variant that make calls, the costliest first."""
    total = sum(float(share.seconds[0]) for share in replay.shares)
    shares = [
        KernelShare(
            share.label,
            int(share.calls[0]),
            float(share.seconds[0]),
            float(share.seconds[0]) / total,
            float(share.flops[0] / share.seconds[0]),
        )
        for share in replay.shares
        if share.calls[0]
    ]
    return tuple(sorted(shares, key=lambda share: share.seconds, reverse=True))
