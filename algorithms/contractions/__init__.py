"""Contractions of two tensors by loops around one BLAS kernel (dissertation, chapter 6).

notation     contractions as text, classes of indices
problem      a contraction with sizes and strides
enumeration  all kernels, choices of indices and orders of loops
layout       parts of tensors as vectors and matrices, loops that copy and clear them
nests        an algorithm as a nest that the engine runs
fusion, transposed   candidates of our own: runs of indices as one, one product on transposed copies
candidates   all of them
source       an algorithm as loops and as C
"""

from .candidates import KERNELS, Candidate, candidates
from .enumeration import LoopAlgorithm, counts, loop_algorithms
from .fusion import fused
from .nests import ContractionNest, nest_of
from .notation import TENSORS, Contraction, check_extents, extents_of_shapes, parse_contraction
from .problem import Problem, contiguous_strides
from .source import loops_of, source_of

__all__ = [
    "KERNELS",
    "TENSORS",
    "Candidate",
    "Contraction",
    "ContractionNest",
    "LoopAlgorithm",
    "Problem",
    "candidates",
    "check_extents",
    "contiguous_strides",
    "counts",
    "extents_of_shapes",
    "fused",
    "loop_algorithms",
    "loops_of",
    "nest_of",
    "parse_contraction",
    "source_of",
]
