"""Needs: what a question needs a model of."""

from dataclasses import dataclass

from blascast.sampler.precondition import WARM, Precondition

from ..piecewise import ModelKey
from ..sampling import Case
from ..sizes.domain import Domain
from .workload import Workload


@dataclass(frozen=True, slots=True, eq=False)
class Need:
    """A case, the domains it is needed on, and the calls that will be asked for.

    Parameters
    ----------
    case : Case
    domains : tuple of Domain
    workload : Workload, optional
        Its configurations are those of the whole question.
    precondition : Precondition
    """

    case: Case
    domains: tuple[Domain, ...]
    workload: Workload | None = None
    precondition: Precondition = WARM

    @property
    def key(self) -> ModelKey:
        """The key of the model that answers it."""
        largest = [max(sizes) for sizes in zip(*(domain.upper for domain in self.domains), strict=True)]
        ld = self.case.ld(tuple(largest))
        return ModelKey(self.case.kernel.name, self.case.name, ld, str(self.precondition))
