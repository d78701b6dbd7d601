"""Associations: from how long ago a region was accessed to the share of it that a cache still has."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sharp:
    """What was accessed within the size of the cache is in it, all else is not."""

    def share(self, distance: FloatArray) -> FloatArray:
        """The share that is cached, of regions with such access distances, relative to the cache's size."""
        return np.where(distance <= 1.0, 1.0, 0.0)


@dataclass(frozen=True, slots=True)
class Smooth:
    """A transition: half is cached at `capacity`, and the larger `sharpness` the more sudden is the change.

    Parameters
    ----------
    capacity : float
        Of the cache's size.
    sharpness : float
        1 / (1 + (distance / capacity)^sharpness) is the share that is cached.
    """

    capacity: float = 1.0
    sharpness: float = 4.0

    def share(self, distance: FloatArray) -> FloatArray:
        """The share that is cached, of regions with such access distances, relative to the cache's size."""
        return np.asarray(1.0 / (1.0 + (distance / self.capacity) ** self.sharpness))


Association: TypeAlias = Sharp | Smooth
FITTED = Smooth(0.72, 4.1)  # to six operations on one machine, by benchmarks/contexts.py steps
