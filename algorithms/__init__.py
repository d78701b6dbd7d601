"""Algorithms: which calls, on which operands.

registry     operations and their variants, by name
partition    the traversal of a matrix in blocks
cholesky, trinv   one short function a variant
sequence     the calls of whole sweeps, as arrays
execution    a variant run for real
"""

from . import cholesky, trinv
from .execution import execute, scalar_calls
from .registry import OPERATIONS, Operation, Variant, find_operation, find_variant
from .sequence import CallArray, Sequence, trace

__all__ = [
    "OPERATIONS",
    "CallArray",
    "Operation",
    "Sequence",
    "Variant",
    "cholesky",
    "execute",
    "find_operation",
    "find_variant",
    "scalar_calls",
    "trace",
    "trinv",
]
