"""predict: the run time of one variant at one size and block size, and where it goes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from blascast.algorithms import find_operation
from blascast.predictors.configurations import BlockSize
from blascast.predictors.ranking import Candidate, candidates_of
from blascast.predictors.replay import Replay

from ..opening import AnswerOptions, open_source
from ..report import Column, Report, efficiency, milliseconds, percent
from .asked import asked_configuration
from .evidence import Evidence

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class KernelShare:
    """What the calls of one kernel case contribute.

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
    candidate : Candidate
        The configuration and its predicted times.
    flops : float
        Minimal count of the operation.
    shares : tuple of KernelShare
        Empty if not asked for.
    evidence : Evidence
    """

    candidate: Candidate
    flops: float
    shares: tuple[KernelShare, ...]
    evidence: Evidence

    @property
    def title(self) -> str:
        """What was asked."""
        return f"{self.candidate.configuration}: {self.evidence.setup}"

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
        cells = [[n, milliseconds(t), f"{r / 1e9:.2f}", percent(efficiency(r, self.evidence.peak))] for n, t, r in rows]
        return [
            *cells,
            [
                "deviation",
                milliseconds(times.std),
                f"{rates.std / 1e9:.2f}",
                percent(efficiency(rates.std, self.evidence.peak)),
            ],
        ]

    @property
    def remarks(self) -> list[str]:
        """Sentences below the table."""
        times, error = self.candidate.times, self.candidate.error
        rate = self.flops / times.median
        of_peak = "" if self.evidence.peak is None else f", {percent(rate / self.evidence.peak)} % of the measured peak"
        return [
            f"Median {milliseconds(times.median)} ms ± {percent(error / times.median)} % (model error), "
            f"{rate / 1e9:.2f} GFLOP/s{of_peak}.",
            *self.evidence.sentences,
        ]

    def to_frame(self) -> "pd.DataFrame":
        """The kernels, one a row; without a breakdown the prediction itself as one row."""
        import pandas as pd

        if self.shares:
            return super().to_frame()
        values = {name: value for name, value in self.to_json().items() if name not in ("rows", "evidence")}
        return pd.json_normalize(values, sep="_")

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        median = self.candidate.times.median
        return {
            **self.candidate.configuration.to_json(),
            "time": self.candidate.times.to_json(),
            "error": self.candidate.error,
            "gflops": self.flops / median / 1e9,
            "efficiency": efficiency(self.flops / median, self.evidence.peak),
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
            "evidence": [self.evidence.to_json()],
        }


def predict(
    operation: str,
    variant: int | str,
    n: int,
    b: BlockSize | None = None,
    *,
    m: int | None = None,
    breakdown: bool = False,
    **options: Unpack[AnswerOptions],
) -> PredictReport:
    """Predicts the run time of a variant.

    Parameters
    ----------
    operation : str
    variant : int or str
    n : int
        Matrix size.
    b : int or pair of int, optional
        Block size; must be given unless the variant has its own.
    m : int, optional
        Rows of an operation on rectangular matrices; by default as n.
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
    with open_source(**options) as source:
        configuration = asked_configuration(source, operation, variant, n, b, m)
        (replay,), state = source.replay([[configuration]])
        return PredictReport(
            candidates_of([configuration], replay)[0],
            float(find_operation(operation).flop_count(configuration.sizes, source.setup.dtype)),
            _shares(replay) if breakdown else (),
            Evidence.of_replay(source, state),
        )


def _shares(replay: Replay) -> tuple[KernelShare, ...]:
    """The kernel cases that the variant calls, the costliest first."""
    sums: dict[str, list[float]] = {}
    for share in replay.shares:
        if share.calls[0]:
            own = sums.setdefault(share.label, [0.0, 0.0, 0.0])
            own[:] = np.add(own, [share.calls[0], share.seconds[0], share.flops[0]]).tolist()
    total = sum(seconds for _, seconds, _ in sums.values())
    shares = [
        KernelShare(label, int(calls), seconds, seconds / total, flops / seconds)
        for label, (calls, seconds, flops) in sums.items()
    ]
    return tuple(sorted(shares, key=lambda share: share.seconds, reverse=True))
