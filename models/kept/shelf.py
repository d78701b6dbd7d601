"""Shelves: the stored models of one setup."""

from dataclasses import dataclass, replace
from math import log

import numpy as np
import numpy.typing as npt

from blascast.sampler.errors import UsageError
from blascast.sampler.setup import Setup

from ..piecewise import Model, ModelKey
from .store import Store

_MOST_LISTED = 12


@dataclass(frozen=True, slots=True, eq=False)
class Shelf:
    """The stored models of one setup.

    Parameters
    ----------
    setup : Setup
    models : tuple of Model
    """

    setup: Setup
    models: tuple[Model, ...]

    @classmethod
    def named(cls, store: Store, fingerprint: str) -> "Shelf":
        """That of the setup with the fingerprint, of which some digits suffice.

        Raises
        ------
        UsageError
            If there is none, or more than one.
        StoreError
            If a model cannot be read.
        """
        entries = store.all_models(fingerprint=fingerprint.lower()) if fingerprint else []
        chosen = list({setup.fingerprint: setup for setup, _ in entries}.values())
        if not chosen:
            kept = {setup.fingerprint: setup for setup, _ in store.all_models()}
            if not kept:
                raise UsageError(f"no models are kept in {store.home}; build or import some (blascast models --help)")
            known = ", ".join(f"{name} ({setup})" for name, setup in kept.items())
            raise UsageError(f"no models of a setup {fingerprint!r} are kept; there are those of {known}")
        if len(chosen) > 1:
            names = ", ".join(setup.fingerprint for setup in chosen)
            raise UsageError(f"the setup must be one, {fingerprint!r} could be {names}; give more digits")
        return cls(chosen[0], tuple(model for _, model in entries))

    def closest(self, key: ModelKey, sizes: npt.NDArray[np.int64]) -> Model:
        """Of the models of a case the one that covers most of an (n, d) array of sizes, and is closest in `ld`.

        Raises
        ------
        UsageError
            If there is none of the case.
        """
        of_case = [model for model in self.models if replace(model.key, ld=key.ld) == key]
        if not of_case:
            names = sorted({str(model.key) for model in self.models})
            listed = ", ".join([*names[:_MOST_LISTED], *(["..."] if len(names) > _MOST_LISTED else [])])
            raise UsageError(
                f"setup {self.setup.fingerprint} has no model of {key}; it has models of {listed}; "
                "build or import one (blascast models --help)"
            )
        return max(of_case, key=lambda m: (int(m.covers(sizes).sum()), -abs(log(m.key.ld / key.ld))))
