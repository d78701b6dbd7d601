"""The kernels, by name.

blas3    gemm, syrk, trmm, trsm
lapack   potf2, potrf2, trti2
"""

from ..errors import UsageError, unknown
from ..kernel import Kernel
from . import blas3, lapack

KERNELS: dict[str, Kernel] = {}


def register(kernel: Kernel) -> Kernel:
    """Adds a kernel, so that it can be sampled and modelled.

    Raises
    ------
    UsageError
        If the name is taken.
    """
    if kernel.name in KERNELS:
        raise UsageError(f"kernel {kernel.name!r} exists already; choose another name")
    KERNELS[kernel.name] = kernel
    return kernel


def find_kernel(name: str) -> Kernel:
    """The kernel of that name (without the letter of the data type)."""
    if name not in KERNELS:
        raise unknown("kernel", name, sorted(KERNELS))
    return KERNELS[name]


for _module in (blas3, lapack):
    for _value in vars(_module).values():
        if isinstance(_value, Kernel):
            register(_value)
