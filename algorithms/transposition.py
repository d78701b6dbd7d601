"""Algorithms for upper triangles, from those for lower ones: the same on transposed operands."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from blascast.sampler.call import Call, Extent, View, bind
from blascast.sampler.errors import UsageError

Body = Callable[..., Iterator[Call]]


def transposed(body: Body) -> Body:
    """The body of the algorithm that computes on the transposes of its operands what `body` does on them."""

    def upper(*operands: View | Extent) -> Iterator[Call]:
        return map(_transposed_call, body(*operands))

    return upper


def _transposed_call(call: Call) -> Call:
    values = [_transposed_view(value) if isinstance(value, View) else value for value in call.values]
    return bind(call.kernel, *_RULES[_kind(call)](values))


def _transposed_view(view: View) -> View:
    return replace(view, row=view.column, column=view.row, rows=view.columns, columns=view.rows)


def _kind(call: Call) -> str:
    name = call.kernel.name
    if name not in _RULES:
        raise UsageError(f"kernel {name} has no transposed form; write the algorithm for the upper triangle itself")
    return name


def _sided(values: list[Any]) -> list[Any]:
    """side, uplo: B := op(A) B becomes B^T := B^T op(A)^T, and with A^T stored op stays what it is."""
    side, uplo, *rest = values
    return ["R" if side == "L" else "L", _flipped(uplo), *rest]


def _updated(values: list[Any]) -> list[Any]:
    """uplo, trans: C := C + A A^T is C := C + (A^T)^T A^T."""
    uplo, trans, *rest = values
    return [_flipped(uplo), "N" if trans != "N" else "T", *rest]


def _multiplied(values: list[Any]) -> list[Any]:
    """transA, transB: C := op(A) op(B) becomes C^T := op(B)^T op(A)^T."""
    trans_a, trans_b, alpha, a, b, beta, c = values
    return [trans_b, trans_a, alpha, b, a, beta, c]


def _triangular(values: list[Any]) -> list[Any]:
    uplo, *rest = values
    return [_flipped(uplo), *rest]


def _reduced(values: list[Any]) -> list[Any]:
    itype, uplo, *rest = values
    return [itype, _flipped(uplo), *rest]


def _flipped(uplo: str) -> str:
    return "U" if uplo == "L" else "L"


_RULES: dict[str, Callable[[list[Any]], list[Any]]] = {
    "gemm": _multiplied,
    **dict.fromkeys(("trsm", "trmm", "symm"), _sided),
    **dict.fromkeys(("syrk", "syr2k"), _updated),
    **dict.fromkeys(("potf2", "potrf2", "potrf", "lauu2", "lauum", "trti2", "trtri"), _triangular),
    **dict.fromkeys(("sygs2", "sygst"), _reduced),
    "axpy": list,
}
