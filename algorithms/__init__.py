"""Algorithms: which calls, on which operands.

registry       operations and their variants, by name
partition      the traversals of matrices in blocks; recursion: in halves
transposition, upper   upper triangles, from lower ones; conjugation: complex types, from real ones
ilaenv         the block sizes that LAPACK gives its own algorithms
cholesky, trinv, lauum, lu, qr, twosided, sylvester   one short function a variant
sequence       the calls of whole sweeps, as arrays
execution      a variant run for real
contractions   tensor contractions: loops around one BLAS kernel
"""

from . import cholesky, lauum, lu, qr, sylvester, trinv, twosided
from .execution import execute, operands_of, scalar_calls
from .registry import OPERATIONS, Operand, Operation, Variant, find_operation, find_variant
from .sequence import CallArray, Sequence, kernels_of, trace

__all__ = [
    "OPERATIONS",
    "CallArray",
    "Operand",
    "Operation",
    "Sequence",
    "Variant",
    "cholesky",
    "execute",
    "find_operation",
    "find_variant",
    "kernels_of",
    "lauum",
    "lu",
    "operands_of",
    "qr",
    "scalar_calls",
    "sylvester",
    "trace",
    "trinv",
    "twosided",
]
