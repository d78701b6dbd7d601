"""Operations on upper triangles: those on lower ones, transposed."""

from dataclasses import replace

from .registry import Operation, define_operation, define_variant, find_operation
from .transposition import transposed


def define_upper(lower: str, formula: str, but: tuple[str, ...] = ()) -> Operation:
    """The operation on the upper triangle, with all variants of that on the lower one except those named."""
    original = find_operation(lower)
    operation = define_operation(replace(original, name=f"{lower}-upper", formula=formula, variants={}))
    for variant in original.variants.values():
        if variant.name not in but:
            define_variant(replace(variant, operation=operation.name, body=transposed(variant.body)))
    return operation
