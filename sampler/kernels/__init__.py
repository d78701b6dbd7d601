"""The kernels, by name.

blas1        rotg rotmg rot rotm swap copy scal rscal axpy dot dotu dotc dsdot sdsdot nrm2 asum iamax cabs1
blas2        gemv gbmv, {sy,he,sb,hb,sp,hp}mv, {tr,tb,tp}{mv,sv}, ger geru gerc, {sy,he,sp,hp}{r,r2}
blas3        gemm gemmtr symm hemm syrk herk syr2k her2k trmm trsm
cholesky     potf2 potrf2 potrf lauu2 lauum potrs posv sygs2 sygst
triangular   trti2 trtri trtrs trcon trsyl trsyl3
lu           getf2 getrf2 getrf laswp getrs gesv
qr           geqr2 geqrf geqrt2 geqrt larft larfb orgqr ormqr
reduction    sytd2 sytrd latrd gebd2 gebrd labrd gehd2 gehrd
auxiliary    lacpy laset lacgv lange
loops        subt shift getf2np zero transpose: loops of our own, compiled with the engine

A kernel's flops are the minimal count of its real algorithm in the case that computes most: general
alpha and beta are not counted, nor is a unit diagonal spared. Comparisons and copies are no flops.
"""

from ..errors import UsageError, unknown
from ..kernel import Kernel
from . import auxiliary, blas1, blas2, blas3, cholesky, loops, lu, qr, reduction, triangular

KERNELS: dict[str, Kernel] = {}
_ROUTINES: dict[str, tuple[Kernel, str]] = {}


def register(kernel: Kernel) -> Kernel:
    """Adds a kernel, so that it can be sampled and modelled.

    Raises
    ------
    UsageError
        If its name or a routine of it is taken.
    """
    if kernel.name in KERNELS:
        raise UsageError(f"kernel {kernel.name!r} exists already; choose another name")
    routines = {kernel.routine(dtype): (kernel, dtype) for dtype in kernel.types}
    if taken := routines.keys() & _ROUTINES.keys():
        owner = _ROUTINES[min(taken)][0].name
        raise UsageError(f"kernel {kernel.name!r}: the routine {min(taken)} is that of kernel {owner!r}; use that one")
    KERNELS[kernel.name] = kernel
    _ROUTINES.update(routines)
    return kernel


def find_kernel(name: str) -> Kernel:
    """The kernel of that name (without the letter of the data type)."""
    if name not in KERNELS:
        raise unknown("kernel", name, sorted(KERNELS))
    return KERNELS[name]


for _module in (blas1, blas2, blas3, cholesky, triangular, lu, qr, reduction, auxiliary, loops):
    for _value in vars(_module).values():
        if isinstance(_value, Kernel):
            register(_value)
