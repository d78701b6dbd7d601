"""contract, plan: the fastest algorithm of a contraction, chosen once and run on arrays."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from blascast.algorithms.contractions import (
    TENSORS,
    Problem,
    contiguous_strides,
    extents_of_shapes,
    parse_contraction,
    source_of,
)
from blascast.algorithms.contractions.problem import Order
from blascast.sampler.errors import UsageError
from blascast.sampler.host.local import CompiledNest, LocalLibrary
from blascast.sampler.sampler import OnProgress
from blascast.sampler.setup import SetupRequest

from .answers.contraction import rank_problem
from .answers.contraction_report import ContractionReport

DTYPES = {np.dtype(name): dtype for name, dtype in zip(("f4", "f8", "c8", "c16"), "sdcz", strict=True)}
MOST_PLANS = 1000

Array = npt.NDArray[Any]


class PlanOptions(TypedDict, total=False):
    """What may be chosen: parameters of `Session` (the data type is that of the arrays), and of `rank_contraction`."""

    measure: bool
    library: str
    threads: int
    home: Path | None
    on_progress: OnProgress | None


_PLANS: dict[tuple[object, ...], "Plan"] = {}


@dataclass(frozen=True, eq=False)
class Plan:
    """An algorithm that was chosen for arrays of given shapes and strides.

    Parameters
    ----------
    report : ContractionReport
        The ranking that it heads.
    dtype : dtype
    order : str
        Of the result, where none is given.
    compiled : CompiledNest
    """

    report: ContractionReport
    dtype: np.dtype[Any]
    order: Order
    compiled: CompiledNest

    @property
    def algorithm(self) -> str:
        """Its name."""
        return self.report.best.candidate.nest.name

    @property
    def source(self) -> str:
        """It as loops, and as a C function."""
        return source_of(self.report.best.candidate)

    def run(self, A: Array, B: Array, out: Array | None = None) -> Array:
        """Contracts arrays of the shapes, strides and type that it was made for."""
        if out is None:
            out = np.empty(self.report.problem.shape("C"), dtype=self.dtype, order=self.order)
        self.compiled.run(A.ctypes.data, B.ctypes.data, out.ctypes.data)
        return out


def contract(
    contraction: str, A: npt.ArrayLike, B: npt.ArrayLike, out: Array | None = None, **options: Unpack[PlanOptions]
) -> Array:
    """Contracts two arrays by the algorithm that is predicted to be the fastest.

    The choice is remembered by shapes, strides and type. The first call of a kind takes a second or so,
    for micro-benchmarks of single calls; what was timed is kept, also for other processes.

    Parameters
    ----------
    contraction : str
        Such as ``"ai,ibc->abc"`` or ``"abc=ai,ibc"``.
    A, B : array_like
        Of single or double precision, real or complex; of two types, the wider one is taken.
    out : array, optional
        Where the result goes; by default a new array.
    **options
        Library, threads and so on: the parameters of `Session`, but the data type. With `measure`, the most
        promising algorithms are run on arrays like these to choose, which takes less for small ones.

    Returns
    -------
    array

    Raises
    ------
    UsageError
        If the text is no contraction, or arrays do not fit it.
    BlascastError
        If the library, a routine or the store fails.

    Examples
    --------
    >>> import blascast, numpy as np
    >>> A, B = np.ones((2, 3)), np.ones((3, 4, 5))
    >>> blascast.contract("ai,ibc->abc", A, B).shape  # doctest: +SKIP
    (2, 4, 5)
    """
    left, right = _operands(A, B)
    if out is not None:
        _check_out(out, left, right)
    found = _plan(contraction, left, right, out, options)
    if out is not None and out.shape != found.report.problem.shape("C"):
        raise UsageError(f"out must have the shape {found.report.problem.shape('C')}, got {out.shape}")
    return found.run(left, right, out)


def plan(contraction: str, A: npt.ArrayLike, B: npt.ArrayLike, **options: Unpack[PlanOptions]) -> Plan:
    """The algorithm that `contract` runs on such arrays, and the ranking that it heads; see there."""
    return _plan(contraction, *_operands(A, B), None, options)


def _plan(contraction: str, A: Array, B: Array, out: Array | None, options: PlanOptions) -> Plan:
    given = tuple(options.items()) if options else ()
    key = (contraction, A.dtype, A.shape, A.strides, B.shape, B.strides, None if out is None else out.strides, given)
    found = _PLANS.get(key)
    if found is None:
        if len(_PLANS) >= MOST_PLANS:
            _PLANS.clear()
        found = _PLANS[key] = _new_plan(contraction, A, B, out, options)
    return found


def _new_plan(contraction: str, A: Array, B: Array, out: Array | None, options: PlanOptions) -> Plan:
    parsed = parse_contraction(contraction)
    extents = extents_of_shapes(parsed, {"A": A.shape, "B": B.shape})
    for index, extent in extents.items():
        if extent == 0:
            raise UsageError(f"the index {index!r} has the size 0: nothing is contracted; make a result of zeros")
    extents = {index: extents[index] for index in parsed.indices}
    order: Order = "F" if A.flags.f_contiguous and B.flags.f_contiguous and not A.flags.c_contiguous else "C"
    shape = tuple(extents[index] for index in parsed.C)
    if out is not None and out.shape != shape:
        raise UsageError(f"out must have the shape {shape}, got {out.shape}")
    of_result = contiguous_strides(shape, order) if out is None else _strides(out)
    strides = dict(zip(TENSORS, (_strides(A), _strides(B), of_result), strict=True))
    dtype = DTYPES[A.dtype]
    report = rank_problem(Problem(parsed, extents, strides), dtype=dtype, **options)
    library = _library(options.get("library", "scipy"), dtype, options.get("threads", 1))
    nest = report.best.candidate.nest
    return Plan(report, A.dtype, order, library.compile(nest.nest, nest.buffers, len(TENSORS)))


@lru_cache
def _library(name: str, dtype: str, threads: int) -> LocalLibrary:
    return LocalLibrary(SetupRequest(name, dtype, threads))


def _operands(A: npt.ArrayLike, B: npt.ArrayLike) -> tuple[Array, Array]:
    """Both as arrays of one type, with positive strides of whole elements."""
    left, right = np.asarray(A), np.asarray(B)
    if left.dtype != right.dtype or left.dtype not in DTYPES:
        dtype = np.result_type(left, right)
        if dtype not in DTYPES:
            raise UsageError(
                f"arrays must be of float32, float64, complex64 or complex128, these are of {left.dtype} and "
                f"{right.dtype}; convert them (astype)"
            )
        left, right = left.astype(dtype), right.astype(dtype)
    return _regular(left), _regular(right)


def _regular(array: Array) -> Array:
    """The array, or a copy where BLAS cannot take its strides."""
    item = array.itemsize
    strides = [stride for stride, extent in zip(array.strides, array.shape, strict=True) if extent > 1]
    fits = array.flags.aligned and all(stride > 0 and stride % item == 0 for stride in strides)
    return array if fits and array.dtype.isnative else np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))


def _check_out(out: Array, A: Array, B: Array) -> None:
    """Refuses what cannot be written, or is read as well."""
    if not isinstance(out, np.ndarray) or out.dtype != A.dtype:
        raise UsageError(f"out must be an array of {A.dtype}, got {getattr(out, 'dtype', type(out).__name__)}")
    if not out.flags.writeable:
        raise UsageError("out cannot be written; give another array, or none")
    if _regular(out) is not out:
        raise UsageError(f"out must have positive strides of whole elements, got {out.strides}; give another array")
    if _overlaps_itself(out):
        raise UsageError(f"entries of out share memory with each other (strides {out.strides}); give another array")
    if np.may_share_memory(out, A) or np.may_share_memory(out, B):
        raise UsageError("out shares memory with an operand, which would change while it is read; give another array")


def _overlaps_itself(array: Array) -> bool:
    """Whether an axis may step into what those of smaller strides reach."""
    reach = array.itemsize
    for stride, extent in sorted(zip(array.strides, array.shape, strict=True)):
        if extent > 1 and stride < reach:
            return True
        reach += (extent - 1) * stride
    return False


def _strides(array: Array) -> tuple[int, ...]:
    """In elements; those of dimensions of one entry mean nothing."""
    pairs = zip(array.strides, array.shape, strict=True)
    return tuple(stride // array.itemsize if extent > 1 else 1 for stride, extent in pairs)
