"""The triangular Sylvester equation A X + X B = C: X overwrites C, A (m x m) and B (n x n) are upper triangular.

C is swept from the bottom left to the top right by 18 algorithms, which leave smaller equations:

m1, m2      by panels of rows; the current one is updated before it is solved (m1), or the others after it (m2)
n1, n2      by panels of columns, likewise
d1 .. d14   along the diagonal, with an equation for the current block and two for panels beside it

They are libflame's 15, 16, 17, 18 and 1 to 14. A complete algorithm is one that leaves only equations of
the size of a block, which are solved by the unblocked trsyl:

m1n2        rows by m1, each panel by n2: 8 such, with rows outside (m1n2) or columns (n2m1)
d7m1m2      along the diagonal by 7, its two panels (in the order of `PANELS`) by m1 and m2: 14 x 2 x 2
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Literal, TypeAlias

from blascast.sampler.call import Call, Extent, View

from .ilaenv import of_trsyl
from .kernels import gemm, lange, trsyl, trsyl3
from .partition import (
    beside,
    column_blocks,
    of_entries,
    only,
    partition,
    partition_columns,
    partition_equation,
    partition_rows,
    row_blocks,
    stacked,
)
from .registry import Operand, Operation, Variant, define_operation, define_variant, variant

define_operation(
    Operation(
        "sylvester",
        formula="C := X with A X + X B = C",
        flops="m * n * (m + n)",
        operands=(
            Operand("A", "m", "m", "Schur form"),
            Operand("B", "n", "n", "shifted Schur form"),
            Operand("C", "m", "n"),
            Operand("scale", "1", "1", kind="real", workspace=True),
        ),
    )
)

# What solves an equation: A, B, C, scale, and block sizes of rows and columns.
Solver: TypeAlias = Callable[[View, View, View, View, Extent, Extent], Iterator[Call]]
Traversal: TypeAlias = Callable[[Solver], Solver]


def unblocked(A: View, B: View, C: View, scale: View, b: Extent, c: Extent) -> Iterator[Call]:
    """By trsyl."""
    yield trsyl("N", "N", 1, A, B, C, beside(scale, C))


def lazy_rows(solve: Solver) -> Solver:
    """m1: updates a panel of rows, then solves it."""

    def body(A: View, B: View, C: View, scale: View, b: Extent, c: Extent) -> Iterator[Call]:
        for (_, _, _, _, A11, A12, *_), (_, C1, C2), (right,) in partition_rows(A, C, b, B):
            yield gemm("N", "N", -1, A12, C2, 1, C1)  # C1 := C1 - A12 X2
            yield from solve(A11, right, C1, scale, b, c)  # A11 X1 + X1 B = C1

    return body


def eager_rows(solve: Solver) -> Solver:
    """m2: solves a panel of rows, then updates all above."""

    def body(A: View, B: View, C: View, scale: View, b: Extent, c: Extent) -> Iterator[Call]:
        for (_, A01, _, _, A11, *_), (C0, C1, _), (right,) in partition_rows(A, C, b, B):
            yield from solve(A11, right, C1, scale, b, c)  # A11 X1 + X1 B = C1
            yield gemm("N", "N", -1, A01, C1, 1, C0)  # C0 := C0 - A01 X1

    return body


def lazy_columns(solve: Solver) -> Solver:
    """n1: updates a panel of columns, then solves it."""

    def body(A: View, B: View, C: View, scale: View, b: Extent, c: Extent) -> Iterator[Call]:
        for (_, B01, _, _, B11, *_), (C0, C1, _), (left,) in partition_columns(B, C, c, A):
            yield gemm("N", "N", -1, C0, B01, 1, C1)  # C1 := C1 - X0 B01
            yield from solve(left, B11, C1, scale, b, c)  # A X1 + X1 B11 = C1

    return body


def eager_columns(solve: Solver) -> Solver:
    """n2: solves a panel of columns, then updates all right of it."""

    def body(A: View, B: View, C: View, scale: View, b: Extent, c: Extent) -> Iterator[Call]:
        for (_, _, _, _, B11, B12, *_), (_, C1, C2), (left,) in partition_columns(B, C, c, A):
            yield from solve(left, B11, C1, scale, b, c)  # A X1 + X1 B11 = C1
            yield gemm("N", "N", -1, C1, B12, 1, C2)  # C2 := C2 - X1 B12

    return body


ROWS: dict[str, Traversal] = {"m1": lazy_rows, "m2": eager_rows}
COLUMNS: dict[str, Traversal] = {"n1": lazy_columns, "n2": eager_columns}

# What has been computed of three quadrants of C when a step begins; the bottom left one is solved. They
# are the loop invariants that the 14 diagonal algorithms are derived from.
#
#   top left, bottom right   u untouched, g the update by the bottom left quadrant, d solved
#   top right                u untouched, a the update by the bottom right one, b by the top left one, or both
State: TypeAlias = Literal["u", "g", "d", "a", "b", "ab"]
INVARIANTS: dict[int, tuple[State, State, State]] = {
    **{1: ("u", "u", "u"), 2: ("g", "u", "u"), 3: ("d", "u", "u"), 4: ("u", "g", "u"), 5: ("u", "d", "u")},
    **{6: ("g", "g", "u"), 7: ("d", "g", "u"), 8: ("g", "d", "u"), 9: ("d", "d", "u"), 10: ("d", "g", "b")},
    **{11: ("g", "d", "a"), 12: ("d", "d", "b"), 13: ("d", "d", "a"), 14: ("d", "d", "ab")},
}

# The two panels that a step solves; those in rows are blocked in columns, those in columns in rows.
PANELS = {
    number: tuple(
        panel
        for panel, solved in (("C10", top != "d"), ("C21", bottom != "d"), ("C01", top == "d"), ("C12", bottom == "d"))
        if solved
    )
    for number, (top, bottom, _) in INVARIANTS.items()
}
_WIDE = ("C10", "C12")
Step: TypeAlias = tuple[str, str, str]  # ("A12", "C20", "C10"): C10 := C10 - A12 C20; ("A11", "B00", "C10"): solved


def steps_of(number: int) -> list[Step]:
    """What a diagonal algorithm does in one step, from its invariant: all updates that the next step finds done.

    Examples
    --------
    >>> steps_of(14)  # doctest: +NORMALIZE_WHITESPACE
    [('A11', 'B11', 'C11'), ('A01', 'C11', 'C01'), ('A00', 'B11', 'C01'), ('C01', 'B12', 'C02'),
     ('C11', 'B12', 'C12'), ('A11', 'B22', 'C12'), ('A01', 'C12', 'C02')]
    """
    top, bottom, corner = INVARIANTS[number]
    top_known, bottom_known = top == "d", bottom == "d"
    done_by_bottom, done_by_top = "a" in corner, "b" in corner
    steps: list[tuple[bool, Step]] = [
        (top == "u", ("A12", "C20", "C10")),
        (not top_known, ("A11", "B00", "C10")),
        (top == "g", ("A01", "C10", "C00")),
        (bottom == "u", ("C20", "B01", "C21")),
        (not bottom_known, ("A22", "B11", "C21")),
        (not done_by_top, ("C10", "B01", "C11")),
        (not done_by_bottom, ("A12", "C21", "C11")),
        (True, ("A11", "B11", "C11")),
        (top_known and not done_by_top, ("C00", "B01", "C01")),
        (top != "u" and not done_by_bottom, ("A02", "C21", "C01")),
        (top != "u", ("A01", "C11", "C01")),
        (top_known, ("A00", "B11", "C01")),
        (done_by_top, ("C01", "B12", "C02")),
        (bottom != "u", ("C11", "B12", "C12")),
        (bottom != "u" and not done_by_top, ("C10", "B02", "C12")),
        (bottom_known and not done_by_bottom, ("A12", "C22", "C12")),
        (bottom_known, ("A11", "B22", "C12")),
        (bottom == "g", ("C21", "B12", "C22")),
        (done_by_bottom, ("A01", "C12", "C02")),
    ]
    return [step for needed, step in steps if needed]


def diagonal(number: int, first: Solver, second: Solver) -> Solver:
    """One of the 14: its current block is solved by trsyl, its two panels by what is given."""
    solvers = {**dict(zip(PANELS[number], (first, second), strict=True)), "C11": unblocked}
    steps = steps_of(number)

    def body(A: View, B: View, C: View, scale: View, b: Extent, c: Extent) -> Iterator[Call]:
        for parts in partition_equation(A, B, C, b, c):
            named = {
                f"{letter}{i // 3}{i % 3}": block
                for letter, blocks in zip("ABC", parts, strict=True)
                for i, block in enumerate(blocks)
            }
            for left, right, target in steps:
                operands = named[left], named[right], named[target]
                if left[0] == "A" and right[0] == "B":
                    yield from solvers[target](*operands, scale, b, c)
                else:
                    yield gemm("N", "N", -1, operands[0], operands[1], 1, operands[2])

    return body


def _define_complete() -> None:
    for (m, by_rows), (n, by_columns) in product(ROWS.items(), COLUMNS.items()):
        _define(f"{m}{n}", "by rows, then columns", by_rows(by_columns(unblocked)))
        _define(f"{n}{m}", "by columns, then rows", by_columns(by_rows(unblocked)))
    for number, panels in PANELS.items():
        choices = [COLUMNS if panel in _WIDE else ROWS for panel in panels]
        for first, second in product(*choices):
            solvers = choices[0][first](unblocked), choices[1][second](unblocked)
            _define(f"d{number}{first}{second}", "along the diagonal", diagonal(number, *solvers))


def _define(name: str, title: str, body: Solver) -> None:
    define_variant(Variant("sylvester", name, title, body, block_sizes=2))


_define_complete()


@variant("sylvester", "lapack", "LAPACK's dtrsyl3", usual=of_trsyl)
def lapack(A: View, B: View, C: View, scale: View, b: Extent) -> Iterator[Call]:
    """Block by block, each update too, with the norms that guard against overflow; by trsyl if there is one block."""
    whole = 1 * (C.rows <= of_entries(b, C)) | 1 * (C.columns <= of_entries(b, C))
    yield from unblocked(only(A, whole), only(B, whole), only(C, whole), scale, b, b)
    A, B, C = only(A, 1 - whole), only(B, 1 - whole), only(C, 1 - whole)
    yield from _norms(A, scale, b)
    yield from _norms(B, scale, b)
    for (_, A01, _, _, A11, *_), (C0, C1, _), (right,) in partition_rows(A, C, b, B, direction="BR-TL, aligned"):
        columns = partition_columns(right, stacked(C0, C1), b, A01, A11)
        for (_, _, _, _, B11, B12, *_), (_, at, after), (above, diagonal) in columns:
            p0, p1 = above.rows, diagonal.rows
            C01, C11 = at.part(0, 0, p0, at.columns), at.part(p0, 0, p1, at.columns)
            C12 = after.part(p0, 0, p1, after.columns)
            yield trsyl("N", "N", 1, diagonal, B11, C11, beside(scale, C11))  # A11 X11 + X11 B11 = C11
            yield lange("I", C11, beside(scale, C11))
            for Ai, Ci, X in row_blocks(above, C01, b, C11):
                yield lange("I", Ci, beside(scale, Ci))
                yield gemm("N", "N", -1, Ai, X, 1, Ci)  # C01 := C01 - A01 X11
            for Bj, Cj, X in column_blocks(B12, C12, b, C11):
                yield lange("I", Cj, beside(scale, Cj))
                yield gemm("N", "N", -1, X, Bj, 1, Cj)  # C12 := C12 - X11 B12


@variant("sylvester", "library", "the library's trsyl3", block_sizes=0)
def library(A: View, B: View, C: View, scale: View) -> Iterator[Call]:
    """One call."""
    yield trsyl3("N", "N", 1, A, B, C, beside(scale, C))


@variant("sylvester", "unblocked", "the library's trsyl", block_sizes=0)
def by_trsyl(A: View, B: View, C: View, scale: View) -> Iterator[Call]:
    """One call."""
    return unblocked(A, B, C, scale, 0, 0)


def _norms(A: View, scale: View, b: Extent) -> Iterator[Call]:
    """The norms of all blocks on and above the diagonal."""
    for _, _, _, _, A11, A12, *_ in partition(A, b):
        row = A11.part(0, 0, A11.rows, A11.columns + A12.columns)
        for _, block in column_blocks(row, row, b):
            yield lange("I", block, beside(scale, block))
