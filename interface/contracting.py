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
from blascast.algorithms.contractions.notation import Tensor
from blascast.algorithms.contractions.problem import Order
from blascast.sampler.errors import UsageError
from blascast.sampler.host.local import CompiledNest, LocalLibrary
from blascast.sampler.resources import available_memory
from blascast.sampler.sampler import OnProgress
from blascast.sampler.setup import SetupRequest

from .answers.contraction import rank_problem
from .answers.contraction_report import ContractionReport

DTYPES = {np.dtype(name): dtype for name, dtype in zip(("f4", "f8", "c8", "c16"), "sdcz", strict=True)}
MOST_PLANS, MOST_TEMPORARY_BYTES = 1000, 1 << 30
MOST_WORK = 10_000  # to find out whether arrays share memory

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

    def run(self, A: npt.ArrayLike, B: npt.ArrayLike, out: Array | None = None) -> Array:
        """Contracts arrays of the shapes, strides and type that it was made for.

        Parameters
        ----------
        A, B : array_like
        out : array, optional
            Where the result goes; by default a new array.

        Returns
        -------
        array

        Raises
        ------
        UsageError
            If arrays are of another shape, layout or type.
        """
        left, right = _operands(A, B)
        if out is not None:
            _check_out(out, left, right)
        problem = self.report.problem
        for name, array in zip(TENSORS, (left, right, out), strict=True):
            if array is None:
                continue
            came = (array.dtype, array.shape, _strides(array))
            wanted = (self.dtype, problem.shape(name), _meant(problem, name))
            if came != wanted:
                raise UsageError(f"this plan is for {_layout(name, *wanted)}, got {_layout(name, *came)}; make another")
        return self.run_unchecked(left, right, out)

    def run_unchecked(self, A: Array, B: Array, out: Array | None = None) -> Array:
        """The same, of arrays that are known to be alike: any others would be read and written beyond their ends."""
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
    return found.run_unchecked(left, right, out)


def plan(contraction: str, A: npt.ArrayLike, B: npt.ArrayLike, **options: Unpack[PlanOptions]) -> Plan:
    """The algorithm that `contract` runs on such arrays, and the ranking that it heads; see there."""
    return _plan(contraction, *_operands(A, B), None, options)


def _plan(contraction: str, A: Array, B: Array, out: Array | None, options: PlanOptions) -> Plan:
    given = _checked_options(options) if options else ()
    of_out = None if out is None else (out.shape, out.strides)
    key = (contraction, A.dtype, A.shape, A.strides, B.shape, B.strides, of_out, given)
    found = _PLANS.get(key) if isinstance(contraction, str) else None
    if found is None:
        found = _new_plan(contraction, A, B, out, options)
        kept = sum(plan.compiled.temporary_bytes for plan in _PLANS.values()) + found.compiled.temporary_bytes
        if len(_PLANS) >= MOST_PLANS or kept > MOST_TEMPORARY_BYTES:
            _PLANS.clear()
        _PLANS[key] = found
    return found


def _checked_options(options: PlanOptions) -> tuple[object, ...]:
    """What a plan depends on.

    Raises
    ------
    UsageError
        If an option is unknown.
    """
    known = PlanOptions.__annotations__
    for name in options:
        if name not in known:
            raise UsageError(f"a contraction of arrays takes {', '.join(known)}, got {name!r}; leave it out")
    return tuple(sorted((name, str(value)) for name, value in options.items() if name != "on_progress"))


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
    dtype, problem = DTYPES[A.dtype], Problem(parsed, extents, strides)
    if out is None and problem.span("C") * A.itemsize > available_memory():
        raise UsageError(
            f"the result needs {problem.span('C') * A.itemsize / 1e9:.3g} GB, {available_memory() / 1e9:.3g} GB of "
            "memory are available; contract parts of the arrays"
        )
    if options.get("library") == "simulated":
        raise UsageError("the simulated machine computes no results; choose another library")
    library = _library(options.get("library", "scipy"), dtype, options.get("threads", 1))
    report = rank_problem(problem, dtype=dtype, **options)
    nest = report.best.candidate.nest
    return Plan(report, A.dtype, order, library.compile(nest.nest, nest.buffers, len(TENSORS)))


@lru_cache
def _library(name: str, dtype: str, threads: int) -> LocalLibrary:
    return LocalLibrary(SetupRequest(name, dtype, threads))


def _operands(A: npt.ArrayLike, B: npt.ArrayLike) -> tuple[Array, Array]:
    """Both as arrays of one type, with positive strides of whole elements."""
    try:
        left, right = np.asarray(A), np.asarray(B)
    except ValueError as error:
        raise UsageError(f"operands must be arrays, or nested lists of one length at each depth ({error})") from None
    try:
        if left.dtype != right.dtype or left.dtype not in DTYPES:
            dtype = _common_type(left, right)
            left, right = left.astype(dtype), right.astype(dtype)
        return _regular(left), _regular(right)
    except MemoryError:
        raise UsageError(
            "there is no memory for a copy of an operand, whose strides BLAS cannot take; contract parts of it"
        ) from None


def _common_type(left: Array, right: Array) -> np.dtype[Any]:
    try:
        dtype = np.result_type(left, right)
    except TypeError:
        dtype = np.dtype(object)
    if dtype not in DTYPES:
        raise UsageError(
            f"arrays must be of float32, float64, complex64 or complex128, these are of {left.dtype} and "
            f"{right.dtype}; convert them (astype)"
        )
    return dtype


def _regular(array: Array) -> Array:
    """The array, or a copy where BLAS cannot take its strides."""
    item = array.itemsize
    strides = [stride for stride, extent in zip(array.strides, array.shape, strict=True) if extent > 1]
    fits = array.flags.aligned and all(stride > 0 and stride % item == 0 for stride in strides)
    return array if fits else np.array(array, order="C", copy=True)  # aligned, which BLAS takes for granted


def _check_out(out: Array, A: Array, B: Array) -> None:
    """Refuses what cannot be written, or is read as well."""
    if not isinstance(out, np.ndarray) or out.dtype != A.dtype:
        raise UsageError(f"out must be an array of {A.dtype}, got {getattr(out, 'dtype', type(out).__name__)}")
    if not out.flags.writeable:
        raise UsageError("out cannot be written; give another array, or none")
    if _regular(out) is not out:
        raise UsageError(
            f"out must be aligned, with positive strides of whole elements, got {out.strides}; give another array"
        )
    if _overlaps_itself(out):
        raise UsageError(f"entries of out share memory with each other (strides {out.strides}); give another array")
    if _share_memory(out, A) or _share_memory(out, B):
        raise UsageError("out shares memory with an operand, which would change while it is read; give another array")


def _share_memory(first: Array, second: Array) -> bool:
    """Whether arrays have an element in common, or it takes too long to know."""
    try:
        return bool(np.shares_memory(first, second, max_work=MOST_WORK))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def _overlaps_itself(array: Array) -> bool:
    """Whether an axis may step into what those of smaller strides reach."""
    reach = array.itemsize
    for stride, extent in sorted(zip(array.strides, array.shape, strict=True)):
        if extent > 1 and stride < reach:
            return True
        reach += (extent - 1) * stride
    return False


def _meant(problem: Problem, name: Tensor) -> tuple[int, ...]:
    """Strides of a tensor, 1 for dimensions of one entry."""
    pairs = zip(problem.strides[name], problem.shape(name), strict=True)
    return tuple(stride if extent > 1 else 1 for stride, extent in pairs)


def _layout(name: Tensor, dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...]) -> str:
    return f"{name} of {dtype}, shape {shape}, strides {strides} (elements)"


def _strides(array: Array) -> tuple[int, ...]:
    """In elements; those of dimensions of one entry mean nothing."""
    pairs = zip(array.strides, array.shape, strict=True)
    return tuple(stride // array.itemsize if extent > 1 else 1 for stride, extent in pairs)
