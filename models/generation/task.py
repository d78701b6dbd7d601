"""Tasks: a need, the model that is there for it, and the generator of what is missing."""

from itertools import product

import numpy as np

from blascast.sampler.batch.sample import State

from ..fitting.basis import Exponents, monomials, raised_singly
from ..parameters import Parameters
from ..piecewise import Model
from ..sizes.domain import Domain, uncovered
from ..sizes.lattice import EVEN, Lattice
from ..summary import FloatArray
from .generator import Generator, Observation, Point, pieces_of
from .halving import Halving
from .need import Need
from .refinement import DOMINANT, Refinement
from .workload import Contributions, by_model, by_parts

EXHAUSTED = ("noise", "no gain", "minimum width")


class Task:
    """What is done about a need.

    Parameters
    ----------
    need : Need
    parameters : Parameters
    threads : int

    Attributes
    ----------
    model : Model or None
        What is there.
    generator : Generator or None
        Of what is missing, or not good enough.
    """

    def __init__(self, need: Need, parameters: Parameters, threads: int) -> None:
        kernel = need.case.kernel
        self.need = need
        self.model: Model | None = None
        self.generator: Generator | None = None
        self._parameters = parameters
        self._minimum_width = parameters.minimum_width_for(kernel.sizes, threads)
        highest = parameters.overfitting_for(kernel.sizes)
        bases = [monomials(kernel, need.case.flags, i) for i in range(highest + 1)]
        fitted = parameters.cuts == "fitted"
        self._bases: list[Exponents] = [raised_singly(basis, bases[0]) for basis in bases] if fitted else bases

    @property
    def generator_(self) -> Generator:
        """The generator, where there is one."""
        assert self.generator is not None
        return self.generator

    @property
    def running(self) -> bool:
        """Whether it generates and has not stopped."""
        return self.generator is not None and self.generator.stopped is None

    @property
    def wants(self) -> bool:
        """Whether it wants something sampled, or at least a look at what is known."""
        return self.running and bool(self.generator_.wanted or not self.generator_.parts)

    @property
    def unfinished(self) -> bool:
        """Whether its model was left as it is for reasons of time, or as it was good enough for a question."""
        if self.model is None or self.model.stopped == "budget":
            return self.model is not None
        answered = self.model.stopped in ("bound", "decision") and self._parameters.cuts == "fitted"
        return answered and self.model.worst_error > self._parameters.bound

    @property
    def width(self) -> int:
        """Number of pieces of the model and parts of the generator."""
        return len(self.can_gain())

    @property
    def obstacle(self) -> str:
        """What keeps it from getting better."""
        if self.generator is not None:
            return self.generator.stopped or self.generator.obstacle
        return self.model.stopped if self.model is not None else "noise"

    def made_alike(self, model: Model) -> bool:
        """Whether a model was made as this task would make it."""
        return (model.parameters, model.exponents) == (self._parameters, self._bases[-1])

    def missing(self) -> list[Domain]:
        """What the model does not cover."""
        missing: list[Domain] = []
        for domain in self.need.domains:
            missing += uncovered(domain, [*(self.model.domains if self.model else ()), *missing])
        return [domain for domain in missing if self._has_points(domain)]

    def _has_points(self, domain: Domain) -> bool:
        """Whether any sizes in a domain are as the kernel requires; what is left of one may have none."""
        corners = np.array(list(product(*zip(domain.lower, domain.upper, strict=True))), dtype=np.int64)
        return bool(self.need.case.valid(corners).any())

    def begin(self, domains: list[Domain], known: dict[Point, Observation], lattice: Lattice | None = None) -> None:
        """Begins to generate pieces for domains, in which some points are known.

        Those at other sizes than are sampled for pieces are left out: their times may ripple.
        """
        if known:
            points = np.array(list(known))
            sampled = np.any([EVEN.contains(domain, points) for domain in domains], axis=0)
            known = {point: known[point] for point in map(tuple, points[sampled].tolist())}
        width, lattice = self._minimum_width, lattice or Lattice(valid=self.need.case.valid)
        if self._parameters.cuts == "halves":
            self.generator = Halving(domains, self._bases[-1], self._parameters, width, lattice)
        else:
            self.generator = Refinement(domains, self._bases, self._parameters, width, known, lattice)

    def contributions(self) -> Contributions:
        """What the model's pieces and the generator's parts contribute to the workload."""
        workload = self.need.workload
        assert workload is not None
        found, left = [Contributions(*(np.zeros((workload.configurations, 0)) for _ in range(2)))], workload
        if self.model is not None:
            found.append(by_model(workload, self.model))
            left = workload.chosen(~self.model.covers(workload.sizes))
        if self.generator is not None:
            found.append(by_parts(left, self.generator.parts))
        seconds, errors = (np.concatenate([getattr(c, name) for c in found], axis=1) for name in ("seconds", "errors"))
        return Contributions(seconds, errors)

    def can_gain(self) -> list[bool]:
        """Which pieces and parts further samples may improve."""
        pieces = [self.model.stopped not in EXHAUSTED] * len(self.model.pieces) if self.model is not None else []
        return pieces + (self.generator.can_gain() if self.generator is not None else [])

    def advance(self, importance: FloatArray) -> bool:
        """Lets the generator decide what is wanted next; whether the model's own pieces are to be made anew."""
        pieces = len(self.model.pieces) if self.model is not None else 0
        if (importance[:pieces] > DOMINANT).any():
            self.model = None
            return True
        if self.running:
            self.generator_.advance(importance[pieces:])
        return False

    def completed(self, state: State, stopped: str | None, taken: float) -> Model:
        """The model with the generated pieces added."""
        generator, earlier = self.generator_, self.model
        observations = self._own_observations()
        return Model(
            self.need.key,
            self._bases[-1],
            (earlier.pieces if earlier else ()) + pieces_of(generator, self._bases[-1]),
            state,
            generator.stopped or stopped or generator.obstacle,
            sum(observation.seconds for observation in observations) + (earlier.seconds if earlier else 0.0),
            self._parameters,
            sum(observation.samples for observation in observations) + (earlier.samples if earlier else 0),
            taken,
            origin=earlier.origin if earlier else "",
        )

    def _own_observations(self) -> list[Observation]:
        """Those that the generated pieces rest on, and the model's own do not."""
        generator = self.generator_
        points = np.array(list(generator.observed))
        own = np.any([part.domain.contains(points) for part in generator.parts], axis=0)
        if self.model is not None:
            own &= ~self.model.covers(points)
        return [observation for observation, here in zip(generator.observed.values(), own, strict=True) if here]
