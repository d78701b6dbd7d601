"""Environment variables that BLAS libraries, their threads and their memory heed."""

from collections.abc import Mapping

PREFIXES = (
    *("OMP_", "GOMP_", "KMP_", "OPENBLAS_", "GOTO_", "MKL_", "BLIS_", "FLEXIBLAS", "ARMPL_", "NVPL_", "VECLIB_"),
    *("MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD"),
)


def library_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Those that are set, by name.

    Examples
    --------
    >>> library_variables({"OMP_NUM_THREADS": "4", "HOME": "/"})
    {'OMP_NUM_THREADS': '4'}
    """
    return {name: value for name, value in sorted(environment.items()) if name.startswith(PREFIXES)}
