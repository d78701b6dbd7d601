"""What is asked about: variants at sizes and block sizes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from blascast.algorithms import Operation, Variant, trace
from blascast.algorithms import Sequence as CallSequence
from blascast.sampler.errors import UsageError

SMALLEST_B = 16
LARGEST_B = 256
B_STEP = 8
USUAL_B = 64  # what ILAENV of reference LAPACK says for most routines

IntArray: TypeAlias = npt.NDArray[np.int64]
Problem: TypeAlias = Mapping[str, int]  # sizes by name
BlockSize: TypeAlias = int | tuple[int, int]  # or that of rows and that of columns


@dataclass(frozen=True, slots=True)
class Configuration:
    """A variant at sizes and a block size.

    Parameters
    ----------
    variant : Variant
    sizes : mapping
        By name.
    b : int, pair of int or None
        Block size; None for a variant that takes none.
    """

    variant: Variant
    sizes: Problem
    b: BlockSize | None

    def __str__(self) -> str:
        return f"{self.variant}, {described(self.sizes)}" + ("" if self.b is None else f", b = {shown(self.b)}")

    def to_json(self) -> dict[str, Any]:
        """Operation, variant, sizes and block size."""
        b = list(self.b) if isinstance(self.b, tuple) else self.b
        return {"operation": self.variant.operation, "variant": self.variant.name, **self.sizes, "b": b}


def described(sizes: Problem) -> str:
    """Such as ``n = 100`` or ``m = 100, n = 50``."""
    return ", ".join(f"{name} = {value}" for name, value in sizes.items())


def shown(b: BlockSize | None) -> str:
    """A block size as text: ``64``, ``64x32``, or a dash for none."""
    if b is None:
        return "–"
    return f"{b[0]}x{b[1]}" if isinstance(b, tuple) else str(b)


def problems_of(operation: Operation, n: Iterable[object], m: object | None = None) -> list[Problem]:
    """The sizes of a sweep over n, each once; m, where the operation has it, is one for all or as n.

    Raises
    ------
    UsageError
        If a size is no positive integer, there is none, or m is given and the operation is about squares.
    """
    checked = list(dict.fromkeys(check_size("n", size) for size in n))
    if not checked:
        raise UsageError("n must hold at least one size")
    if "m" not in operation.sizes:
        if m is not None:
            raise UsageError(f"{operation.name} is about square matrices, m = {m} cannot be chosen; leave it out")
        return [{"n": size} for size in checked]
    height = None if m is None else check_size("m", m)
    return [{"m": size if height is None else height, "n": size} for size in checked]


def several(value: object) -> list[Any]:
    """A value, or those of a sequence (no text), as a list."""
    return list(value) if isinstance(value, list | tuple | range | np.ndarray) else [value]


def block_sizes(variant: Variant, problem: Problem, dtype: str, b: BlockSize | None = None) -> list[BlockSize | None]:
    """The block sizes at which a variant is compared with others: LAPACK's own, the given one, or candidates.

    Raises
    ------
    UsageError
        If the given one is not valid.
    """
    if variant.block_sizes == 0 or variant.usual is not None:
        return [own_block_size(variant, problem, dtype)]
    if b is None:
        return list(candidate_block_sizes(_limit(variant, problem)).tolist())
    return [given_block_size(variant, problem, b)]


def own_block_size(variant: Variant, problem: Problem, dtype: str) -> BlockSize | None:
    """The block size that a variant has where none is chosen: that of LAPACK for its own algorithms, else none."""
    usual = None if variant.usual is None else variant.usual(problem, dtype)
    return usual if usual is None or isinstance(usual, tuple) else int(usual)


def given_block_size(variant: Variant, problem: Problem, b: BlockSize) -> BlockSize:
    """A block size as positive integers, at most the matrix size.

    Raises
    ------
    UsageError
        If it is none, or a pair where a variant takes one.
    """
    limit = _limit(variant, problem)
    name = next(name for name, size in problem.items() if size == limit)
    if not isinstance(b, tuple):
        return check_block_size(b, limit, name)
    if variant.block_sizes != 2 or len(b) != 2:
        raise UsageError(f"{variant} takes {variant.block_sizes} block size(s), got {'x'.join(map(str, b))}")
    return check_block_size(b[0], limit, name), check_block_size(b[1], limit, name)


def _limit(variant: Variant, problem: Problem) -> int:
    """The largest block size that makes sense."""
    return max(problem.values()) if variant.block_sizes == 2 else min(problem.values())


def traced(configurations: Sequence[Configuration], dtype: str) -> CallSequence:
    """The call sequences of configurations of one variant."""
    sizes = {name: [c.sizes[name] for c in configurations] for name in configurations[0].sizes}
    pairs = np.array([c.b if isinstance(c.b, tuple) else (c.b or 1, c.b or 1) for c in configurations])
    return trace(configurations[0].variant, sizes, (pairs[:, 0], pairs[:, 1]), dtype)


def candidate_block_sizes(n: int) -> IntArray:
    """The block sizes among which the best is sought: multiples of 8 from 16 to 256 below n; n itself, up to 256.

    Examples
    --------
    >>> candidate_block_sizes(45).tolist(), candidate_block_sizes(5).tolist()
    ([16, 24, 32, 40, 45], [5])
    """
    below = np.arange(SMALLEST_B, min(n, LARGEST_B + 1), B_STEP)
    return np.append(below, n) if n <= LARGEST_B else below


def round_up(size: int) -> int:
    """The next multiple of a quarter of the power of two below, at least of 8: a size that questions share.

    Examples
    --------
    >>> [round_up(size) for size in (5, 30, 100, 1000, 1400)]
    [8, 32, 112, 1024, 1536]
    """
    step = max(B_STEP, 2 ** (size.bit_length() - 3))
    return int(step * -(-size // step))


def check_size(name: str, value: object) -> int:
    """A size as a positive integer.

    Raises
    ------
    UsageError
        If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise UsageError(f"{name} must be a positive integer, got {value!r}")
    if value < 1:
        raise UsageError(f"{name} must be a positive integer, got {value}")
    return int(value)


def check_block_size(b: object, n: int, name: str = "n") -> int:
    """A block size as a positive integer, at most the matrix size (of that name).

    Raises
    ------
    UsageError
        If it is none.
    """
    size = check_size("the block size", b)
    if size > n:
        raise UsageError(f"the block size must be at most {name} = {n}, got {size}")
    return size


def memory_needed(operation: Operation, problem: Problem, item_bytes: int) -> float:
    """Bytes of an operation's operands, and of copies to restore them from."""
    extents = {**problem, "b": min(*problem.values(), LARGEST_B)}
    entries = sum(float(np.prod(operand.shape(extents), dtype=float)) for operand in operation.operands)
    return 2 * item_bytes * entries


def check_memory(operation: Operation, problem: Problem, item_bytes: int, available_bytes: float) -> None:
    """Refuses sizes whose operands, and copies to restore them from, would not fit.

    Raises
    ------
    UsageError
        If they would not.
    """
    needed = memory_needed(operation, problem, item_bytes)
    if needed > available_bytes:
        raise UsageError(
            f"{described(problem)} needs {needed / 1e9:.3g} GB for its operands, {available_bytes / 1e9:.3g} GB of "
            "memory are available; choose smaller sizes"
        )
