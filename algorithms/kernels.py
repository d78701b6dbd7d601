"""The kernels as functions of flags, scalars and views in BLAS order, for algorithm bodies."""

from functools import partial

from blascast.sampler.call import bind
from blascast.sampler.kernels import find_kernel

axpy = partial(bind, find_kernel("axpy"))
copy = partial(bind, find_kernel("copy"))
gemm = partial(bind, find_kernel("gemm"))
geqr2 = partial(bind, find_kernel("geqr2"))
geqrf = partial(bind, find_kernel("geqrf"))
getf2 = partial(bind, find_kernel("getf2"))
getf2np = partial(bind, find_kernel("getf2np"))
getrf = partial(bind, find_kernel("getrf"))
getrf2 = partial(bind, find_kernel("getrf2"))
lacgv = partial(bind, find_kernel("lacgv"))
lange = partial(bind, find_kernel("lange"))
larfb = partial(bind, find_kernel("larfb"))
larft = partial(bind, find_kernel("larft"))
laswp = partial(bind, find_kernel("laswp"))
lauu2 = partial(bind, find_kernel("lauu2"))
lauum = partial(bind, find_kernel("lauum"))
potf2 = partial(bind, find_kernel("potf2"))
potrf = partial(bind, find_kernel("potrf"))
potrf2 = partial(bind, find_kernel("potrf2"))
shift = partial(bind, find_kernel("shift"))
subt = partial(bind, find_kernel("subt"))
sygs2 = partial(bind, find_kernel("sygs2"))
sygst = partial(bind, find_kernel("sygst"))
symm = partial(bind, find_kernel("symm"))
syr2k = partial(bind, find_kernel("syr2k"))
syrk = partial(bind, find_kernel("syrk"))
trmm = partial(bind, find_kernel("trmm"))
trsm = partial(bind, find_kernel("trsm"))
trsyl = partial(bind, find_kernel("trsyl"))
trsyl3 = partial(bind, find_kernel("trsyl3"))
trti2 = partial(bind, find_kernel("trti2"))
trtri = partial(bind, find_kernel("trtri"))
