"""What is studied: dtrsm, B := A^-1 B with A lower triangular, as in section 9.2 of the dissertation."""

from dataclasses import replace

import numpy as np

from blascast.sampler.kernels import find_kernel

from ..piecewise import ModelKey
from ..sampling import Case
from ..sizes.domain import STEP, Domain

CASE = Case(find_kernel("trsm"), {"side": "L", "uplo": "L", "transA": "N", "diag": "N"}, {"alpha": 1})
DOMAIN = Domain((24, 24), (536, 4152))
LD = 5000  # the dissertation's; that of no other model, so that the samples of a study are its own
KEY = ModelKey(CASE.kernel.name, CASE.name, LD)
VALIDATION_KEY = replace(KEY, precondition="warm, for validation")  # never fitted to
ALL_AXES = tuple(np.arange(low, high + 1, STEP) for low, high in zip(DOMAIN.lower, DOMAIN.upper, strict=True))

REPETITIONS = 15
VALIDATIONS = 5
