"""An archive: the stored models of one setup, as they are."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from blascast.algorithms import Operation, Variant, kernels_of
from blascast.algorithms import Sequence as CallSequence
from blascast.models.evaluation.outside import Outside, check_outside
from blascast.models.generation.need import Need
from blascast.models.generation.workload import Judge
from blascast.models.kept.shelf import Shelf
from blascast.models.kept.store import Store
from blascast.models.parameters import Parameters
from blascast.models.piecewise import Model, ModelKey
from blascast.models.sizes.places import bounding_box
from blascast.predictors.configurations import Configuration, Problem
from blascast.predictors.contexts import Context, check_context
from blascast.predictors.replay import Estimate
from blascast.predictors.verification import Verified
from blascast.sampler.batch.sample import State
from blascast.sampler.errors import UsageError

from .origin import Origin
from .source import Source

LARGEST_N = 200_000  # its matrix is larger than any node's memory, and its calls are still few enough to list


class Archive(Source):
    """Models of some machine and library, without either: from the store alone.

    Parameters
    ----------
    fingerprint : str
        Of the setup, or its first digits.
    outside : str
        What becomes of calls outside the models' domains: ``"error"``, ``"clamp"`` or ``"extrapolate"``.
    home : Path, optional
        The store's folder.
    context : str
        What state of the caches calls are estimated in: one of `CONTEXTS` but ``"algorithm"``, for which calls
        would have to be timed.

    Raises
    ------
    UsageError
        If there are no models of such a setup, or of more than one.
    StoreError
        If the store cannot be read.
    """

    def __init__(
        self, fingerprint: str, outside: Outside = "error", home: Path | None = None, context: Context = "warm"
    ) -> None:
        check_outside(outside)
        check_context(context)
        store = Store(home)
        try:
            self._shelf = Shelf.named(store, fingerprint)
        except BaseException:
            store.close()
            raise
        setup = self._shelf.setup
        super().__init__(store, setup, Parameters(), Origin(setup, as_stored=True, how=outside), context)

    def lacking(self, variant: Variant) -> str:
        """The kernels that there are no models of, in words."""
        kept = {model.key.kernel for model in self._shelf.models}
        missing = [kernel.name for kernel in kernels_of(variant, self.setup.dtype) if kernel.name not in kept]
        return f"there are no models of {', '.join(missing)}" if missing else ""

    @property
    def remedy(self) -> str:
        """What to do where there are no models."""
        return "Name another variant, or build the models on that machine (blascast models build) and import them."

    def check_sizes(self, operation: Operation, problems: Sequence[Problem]) -> None:
        """Refuses sizes beyond what is ever computed on one machine."""
        largest = max(size for problem in problems for size in problem.values())
        if largest > LARGEST_N:
            raise UsageError(f"n must be at most {LARGEST_N} where stored models answer, got {largest}")

    @property
    def peak(self) -> float | None:
        """Flops per second of a large gemm, if it was measured."""
        return self.store.facts(self.setup).get("peak_flops_per_second")

    def _models(self, needs: Sequence[Need], judge: Judge | None) -> Mapping[ModelKey, Model]:
        """The models that cover most of the needs' calls.

        Raises
        ------
        UsageError
            If there is none of a case, or calls lie outside and may not.
        """
        chosen = {need.key: self._shelf.closest(need.key, _sizes(need)) for need in needs}
        calls = outside = 0
        for need in needs:
            sizes, model = _sizes(need), chosen[need.key]
            missed = sizes[~model.covers(sizes)]
            if len(missed) and self.origin.how == "error":
                raise UsageError(
                    f"{len(missed)} of {len(sizes)} calls of {need.key} lie outside the model of setup "
                    f"{self.setup.fingerprint} ({bounding_box(model)}), such as {' x '.join(map(str, missed[0]))}; "
                    "choose other sizes, or set outside to clamp or extrapolate"
                )
            calls, outside = calls + len(sizes), outside + len(missed)
        self.origin = replace(self.origin.of(chosen.values()), calls=calls, outside=outside)
        return chosen

    def corrected(
        self,
        asked: Sequence[Sequence[Configuration]],
        sequences: Sequence[CallSequence],
        models: Mapping[ModelKey, Model],
        state: State,
    ) -> list[Estimate | None]:
        """Not possible.

        Raises
        ------
        UsageError
            Always.
        """
        raise UsageError(
            "nothing can be timed where the stored models of a setup answer; choose the context warm, "
            "or leave out models"
        )

    def verify(self, configurations: Sequence[Configuration], state: State) -> Verified:
        """Not possible.

        Raises
        ------
        UsageError
            Always.
        """
        raise UsageError(
            "nothing can be measured where the stored models of a setup answer; leave out verify, or models"
        )


def _sizes(need: Need) -> npt.NDArray[np.int64]:
    assert need.workload is not None  # a question has one
    return need.workload.sizes
