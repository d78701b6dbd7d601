"""StudyReport: the study of the generator's configurations."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from blascast.models.parameters import NAMED_QUANTILES, PRESETS, Parameters
from blascast.models.study.configurations import STUDIED, studied_value
from blascast.models.study.outcome import Outcome
from blascast.models.study.pruning import CHEAP_PART, ERROR_FACTOR, Pruning, majority, pareto_front, prune
from blascast.sampler.batch.sample import State
from blascast.sampler.setup import Setup

from ..effort import Tally
from ..report import Column, Report, core_sentence, percent, setup_json

_DISTURBED = "At {} points all samples were disturbed, and are used as they are: the machine was too busy."
_STATISTICS = {quantile: name for name, quantile in NAMED_QUANTILES.items()}


@dataclass(frozen=True, eq=False)
class StudiedSetup:
    """What was found on one setup.

    Parameters
    ----------
    library : str
        As it was asked for.
    setup : Setup
    state : str
        Of the core that most samples are of.
    tally : Tally
        Of what had to be sampled.
    counts : tuple of int
        Coordinates along each size.
    disturbed : int
        Points of which no undisturbed sample could be had.
    noise_floor : float
        Mean relative difference between the medians of the two passes.
    outcomes : tuple of Outcome
        Of the configurations.
    others : tuple of Outcome
        Of our presets and the baselines.
    """

    library: str
    setup: Setup
    state: State
    tally: Tally
    counts: tuple[int, ...]
    disturbed: int
    noise_floor: float
    outcomes: tuple[Outcome, ...]
    others: tuple[Outcome, ...]

    @cached_property
    def front(self) -> list[int]:
        """Indices of the configurations that no other beats in both error and cost, cheapest first."""
        return pareto_front(self.outcomes)

    @property
    def presets(self) -> list[Outcome]:
        """Of the presets, the dissertation's first."""
        return [found for found in (*self.outcomes, *self.others) if found.name in PRESETS]

    @property
    def baselines(self) -> list[Outcome]:
        """Of the baselines."""
        return [found for found in self.others if found.parameters is None]

    def chosen(self) -> Iterator[tuple[str, Outcome]]:
        """What a table shows, each with a name."""
        front = [self.outcomes[index] for index in self.front]
        ends = {id(front[0]): "cheapest", id(front[-1]): "best"}
        yield from ((ends.get(id(found), "front"), found) for found in front)
        yield "worst", max(self.outcomes, key=lambda found: found.error)
        yield "dearest", max(self.outcomes, key=lambda found: found.seconds)
        yield from ((found.name, found) for found in (*self.presets, *self.baselines))


@dataclass(frozen=True, eq=False, repr=False)
class StudyReport(Report):
    """Errors and costs of all configurations.

    Parameters
    ----------
    setups : tuple of StudiedSetup, one for each library
    seconds : float
        What the study took.
    """

    setups: tuple[StudiedSetup, ...]
    seconds: float

    @cached_property
    def pruning(self) -> Pruning:
        """The configurations that are accurate and cheap on all setups."""
        return prune([setup.outcomes for setup in self.setups])

    @property
    def title(self) -> str:
        """What was studied."""
        first = self.setups[0]
        named = ", ".join(setup.library for setup in self.setups[1:])
        more = f" (and {named})" if named else ""
        count = len(first.outcomes)
        return f"{count} configurations of the generator, dtrsm LLNN, m 24..536, n 24..4152: {first.setup}{more}"

    @property
    def columns(self) -> list[Column]:
        """Of the printed table."""
        return [
            *([Column("library", text=True)] if len(self.setups) > 1 else []),
            *(Column("model", text=True), Column("over- fitting"), Column("over- sampling"), Column("grid", text=True)),
            *(Column("repe- titions"), Column("statistic", text=True), Column("measure", text=True)),
            *(Column("bound [%]"), Column("width"), Column("error [%]"), Column("p90 [%]"), Column("noise floor [%]")),
            *(Column("cost [s]"), Column("samples"), Column("pieces")),
        ]

    def cells(self) -> list[list[str]]:
        """The printed rows."""
        return [
            [*([setup.library] if len(self.setups) > 1 else []), name, *_cells(setup, found)]
            for setup in self.setups
            for name, found in setup.chosen()
        ]

    @property
    def remarks(self) -> list[str]:
        """Sentences below the table."""
        return [
            "Error: mean over all points of |predicted / measured - 1|, of medians. Models are of the first pass, "
            "measured is the second. Cost: time of the calls, two for each sample.",
            "cubic, flops: one cubic polynomial, and flops at one rate, fitted to a second of samples.",
            *(sentence for setup in self.setups for sentence in self._sentences(setup)),
            *self._pruning_sentences(),
            f"The study took {self.seconds:.0f} s.",
        ]

    def _sentences(self, setup: StudiedSetup) -> list[str]:
        """What is to be known of one setup."""
        label = f"{setup.library}: " if len(self.setups) > 1 else ""
        points = " x ".join(map(str, setup.counts))
        tally = setup.tally
        return [
            f"{label}{points} points. Noise floor (one pass against the other) {percent(setup.noise_floor, 2)} %: "
            f"smaller differences of errors are none. {core_sentence(setup.state)}",
            f"{label}Samples: {tally.accepted} accepted, {tally.requeued} measured again, {tally.given_up} given up."
            if tally.accepted + tally.given_up
            else f"{label}Nothing had to be sampled.",
            *([f"{label}{_DISTURBED.format(setup.disturbed)}"] if setup.disturbed else []),
            *(f"{label}{sentence}" for sentence in self._standings(setup)),
        ]

    def _standings(self, setup: StudiedSetup) -> Iterator[str]:
        """How the presets compare with the configurations."""
        least = min(found.error for found in setup.outcomes)
        costs = np.array([setup.outcomes[index].seconds for index in self.pruning.accurate])
        for found in setup.presets:
            place = f"; {percent(float(np.mean(costs < found.seconds)), 0)} % of the accurate ones cost less"
            yield f"{found.name}: {found.error / least:.2f} times the least error{place if len(costs) else ''}."

    def _pruning_sentences(self) -> list[str]:
        """What pruning leaves."""
        accurate, survivors = self.pruning.accurate, self.pruning.survivors
        everywhere = " on every library" if len(self.setups) > 1 else ""
        sentences = [
            f"Accurate (at most {ERROR_FACTOR} times the least error{everywhere}): {len(accurate)} of "
            f"{len(self.setups[0].outcomes)}; of these within the cheapest {100 * CHEAP_PART:.0f} %: {len(survivors)}."
        ]
        if survivors:
            listed = ", ".join(f"{name} {value} ({count})" for name, value, count in self._majority())
            sentences.append(f"Majority of these {len(survivors)}: {listed}.")
        return sentences

    def _majority(self) -> Iterator[tuple[str, str, int]]:
        """Name, most common value and its count, of every parameter that is studied."""
        configurations = [found.parameters for found in self.setups[0].outcomes]
        left = [parameters for index in self.pruning.survivors if (parameters := configurations[index]) is not None]
        for name, (value, count) in majority(left).items():
            yield name.replace("_", " "), _shown(name, value), count

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values: all configurations."""
        return {
            "kernel": "dtrsm LLNN 1",
            "setups": [
                {
                    "library": setup.library,
                    "setup": setup_json(setup.setup),
                    "state": setup.state,
                    "coordinates": list(setup.counts),
                    "disturbed": setup.disturbed,
                    "noise_floor": setup.noise_floor,
                    "samples": setup.tally.to_json(),
                }
                for setup in self.setups
            ],
            "rows": [row for setup in self.setups for row in self._json_rows(setup)],
            "accurate": len(self.pruning.accurate),
            "survivors": len(self.pruning.survivors),
            "majority": {name: {"value": value, "count": count} for name, value, count in self._majority()}
            if self.pruning.survivors
            else None,
            "seconds": self.seconds,
        }

    def _json_rows(self, setup: StudiedSetup) -> Iterator[dict[str, Any]]:
        front, accurate, survivors = set(setup.front), set(self.pruning.accurate), set(self.pruning.survivors)
        for index, found in enumerate((*setup.outcomes, *setup.others)):
            yield {
                "library": setup.library,
                "name": found.name,
                **_json_parameters(found.parameters),
                "error": found.error,
                "median_error": found.median_error,
                "p90_error": found.p90_error,
                "noise_floor": setup.noise_floor,
                "cost": found.seconds,
                "samples": found.samples,
                "pieces": found.pieces,
                "front": index in front,
                "accurate": index in accurate,
                "survivor": index in survivors,
            }


def _cells(setup: StudiedSetup, found: Outcome) -> list[str]:
    return [
        *_parameter_cells(found.parameters),
        *(percent(found.error, 2), percent(found.p90_error, 2), percent(setup.noise_floor, 2)),
        *(f"{found.seconds:.2f}", str(found.samples), str(found.pieces)),
    ]


def _parameter_cells(parameters: Parameters | None) -> list[str]:
    if parameters is None:
        return [""] * len(STUDIED)
    least, most = parameters.least_repetitions, parameters.most_repetitions
    shown = {name: _shown(name, studied_value(parameters, name)) for name in STUDIED}
    return list({**shown, "repetitions": str(least) if least == most else f"{least}..{most}"}.values())


def _shown(name: str, value: Any) -> str:
    """A value of a parameter as text."""
    match name:
        case "reference":
            return _STATISTICS.get(value, str(value))
        case "bound":
            return f"{100 * value:g}"
    return str(value)


def _json_parameters(parameters: Parameters | None) -> dict[str, Any]:
    if parameters is None:
        return dict.fromkeys(["cuts", *STUDIED, "most_repetitions"])
    studied = {name: studied_value(parameters, name) for name in STUDIED}
    return {"cuts": parameters.cuts, **studied, "most_repetitions": parameters.most_repetitions}
