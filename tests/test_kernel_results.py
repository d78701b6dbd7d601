"""Every kernel in every case combination, with the operands it is sampled with, on a real library."""

from collections.abc import Callable

import numpy as np
import pytest
from kernels.blas_results import RESULTS
from kernels.cases import SIZES, WIDE, calls_of, executed

from blascast.sampler.host import WorkerBackend
from blascast.sampler.kernels import KERNELS

TOLERANCE = {"s": 2e-5, "c": 2e-5, "d": 1e-13, "z": 1e-13}  # relative to the largest entry
SHAPES = [(name, "tall") for name in RESULTS]


@pytest.mark.parametrize("dtype", list("sdcz"))
@pytest.mark.parametrize(("name", "shape"), SHAPES)
def test_every_case_computes_what_it_should(
    name: str, shape: str, dtype: str, backend_of: Callable[[str], WorkerBackend]
) -> None:
    kernel = KERNELS[name]
    if dtype not in kernel.types:
        pytest.skip(f"{name} does not exist for {dtype}")
    calls = calls_of(kernel, dtype, SIZES if shape == "tall" else WIDE)
    for case, before, after in executed(backend_of(dtype), calls, dtype):
        for got, wanted in RESULTS[name](case, before, after):
            bound = TOLERANCE[dtype] * len(SIZES) * max(1.0, float(np.max(np.abs(wanted), initial=0)))
            np.testing.assert_allclose(got, wanted, rtol=0, atol=bound, err_msg=str(case.call))
