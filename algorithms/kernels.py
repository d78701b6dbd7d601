"""The kernels as functions of flags, scalars and views in BLAS order, for algorithm bodies."""

from functools import partial

from blascast.sampler.call import bind
from blascast.sampler.kernels import find_kernel

gemm = partial(bind, find_kernel("gemm"))
potf2 = partial(bind, find_kernel("potf2"))
syrk = partial(bind, find_kernel("syrk"))
trmm = partial(bind, find_kernel("trmm"))
trsm = partial(bind, find_kernel("trsm"))
trti2 = partial(bind, find_kernel("trti2"))
