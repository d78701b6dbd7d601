"""Every kernel in every case combination, with the operands it is sampled with, on a real library."""

from collections.abc import Callable, Iterator

import kernels.lapack_results
import numpy as np
import pytest
from kernels.blas_results import RESULTS
from kernels.cases import LARGE, SIZES, WIDE, calls_of, executed
from threadpoolctl import threadpool_limits

from blascast.sampler.host.backend import WorkerBackend
from blascast.sampler.kernels import KERNELS

assert kernels.lapack_results  # enters its results
TOLERANCE = {"s": 2e-5, "c": 2e-5, "d": 1e-13, "z": 1e-13}  # relative to the largest entry
PROCEED_DIFFERENTLY_WHEN_WIDE = "getf2 getrf2 getrf geqr2 geqrf geqrt gebd2 gebrd labrd lacpy laset"
PROCEED_IN_BLOCKS = "potrf lauum sygst trtri trsyl3 getrf geqrf geqrt orgqr ormqr sytrd gebrd gehrd"
SHAPES = [
    *((name, SIZES) for name in KERNELS),
    *((name, WIDE) for name in PROCEED_DIFFERENTLY_WHEN_WIDE.split()),
    *((name, LARGE) for name in PROCEED_IN_BLOCKS.split()),
]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Expected results are small: a second thread of NumPy's BLAS only waits for a core."""
    with threadpool_limits(1):
        yield


@pytest.mark.parametrize(
    ("name", "sizes", "dtype"),
    [
        pytest.param(name, sizes, dtype, id=f"{dtype}-{name}-{sizes['m']}")
        for name, sizes in SHAPES
        for dtype in KERNELS[name].types
    ],
)
def test_every_case_computes_what_it_should(
    name: str, sizes: dict[str, int], dtype: str, backend_of: Callable[[str], WorkerBackend]
) -> None:
    calls = calls_of(KERNELS[name], dtype, sizes)
    for case, before, after in executed(backend_of(dtype), calls, dtype):
        for got, wanted in RESULTS[name](case, before, after):
            bound = TOLERANCE[dtype] * (sizes["m"] / 10) * max(1.0, float(np.max(np.abs(wanted), initial=0)))
            np.testing.assert_allclose(got, wanted, rtol=0, atol=bound, err_msg=str(case.call))
