"""Kernels as data: the catalogue, sizes, counts, declarations and calls that are refused."""

import itertools
from typing import Any

import pytest
from kernels.cases import calls_of

from blascast.sampler.call import View, bind, flags_of_case
from blascast.sampler.errors import UsageError
from blascast.sampler.kernel import Data, Flag, Inc, Integer, Kernel, Ld, Option, Size, Work
from blascast.sampler.kernels import KERNELS, find_kernel, register
from blascast.sampler.simulated import SimulatedBackend

M, N, K = 13, 11, 7


def view(name: str, rows: int, columns: int) -> View:
    return View(name, 0, 0, rows, columns, 24)


def test_flops_counted_by_hand() -> None:
    counted = {
        "gemm": 2 * M * N * K,
        "syrk": N * (N + 1) * K,
        "trsm": M * M * N,
        "trmm": M * M * N,
        "potf2": 1 + 4 + 9,  # n = 3: sum of squares
        "potrf2": 1 + 4 + 9,
        "trti2": 1 + (1 + 1 + 1) + (1 + 2 + 4),
    }
    flags = {"side": "L", "transA": "N", "transB": "N", "trans": "N", "uplo": "L", "diag": "N"}
    for name, flops in counted.items():
        n = 3 if len(KERNELS[name].sizes) == 1 else N
        assert KERNELS[name].flop_count({**flags, "m": M, "n": n, "k": K}) == flops


def test_bytes_counted_by_hand() -> None:
    call = bind(find_kernel("gemm"), "N", "N", 1, view("A", M, K), view("B", K, N), 1, view("C", M, N))
    assert call.byte_count("d") == 8 * (M * K + K * N + 2 * M * N)
    assert call.byte_count("s") == call.byte_count("d") / 2


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (("N", "N", 1, view("A", 2, 3), view("B", 3, 4), 1), "takes .* 7 values, got 6"),
        (("X", "N", 1, view("A", 2, 3), view("B", 3, 4), 1, view("C", 2, 4)), "transA must be one of N, T, C"),
        (("N", "N", "1", view("A", 2, 3), view("B", 3, 4), 1, view("C", 2, 4)), "alpha must be a number"),
        (("N", "N", 1, 5, view("B", 3, 4), 1, view("C", 2, 4)), "A must be a view"),
        (("N", "N", 1, view("A", 2, 3), view("B", 4, 4), 1, view("C", 2, 4)), "operand B must have"),
    ],
)
def test_a_call_that_does_not_conform_is_refused(values: tuple[Any, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        bind(find_kernel("gemm"), *values)


def test_cases() -> None:
    gemm = find_kernel("gemm")
    a, b, c = view("A", 2, 3), view("B", 3, 4), view("C", 2, 4)
    assert bind(gemm, "N", "N", 1, a, b, 0, c).case == "NN 1 0"
    assert bind(gemm, "N", "N", -1.0, a, b, 0.5, c).case == "NN -1 other"
    assert str(bind(gemm, "N", "N", 1, a, b, 1, c)) == "gemm(NN 1 1; m=2, n=4, k=3; ld 24)"


BLAS = {
    "s d c z": "gemv gbmv trmv tbmv tpmv trsv tbsv tpsv gemm symm syrk syr2k trmm trsm gemmtr rotg swap scal copy axpy",
    "s d": "rotmg rot rotm dot symv sbmv spmv ger syr spr syr2 spr2",
    "c z": "dotu dotc hemv hbmv hpmv geru gerc her hpr her2 hpr2 hemm herk her2k",
    "": "sdsdot dsdot csrot zdrot csscal zdscal snrm2 dnrm2 scnrm2 dznrm2 sasum dasum scasum dzasum"
    " isamax idamax icamax izamax scabs1 dcabs1",
}
LAPACK = {
    "s d c z": "potf2 potrf2 potrf trti2 trtri lauu2 lauum getf2 getrf2 getrf laswp geqr2 geqrt geqrt2 larft larfb"
    " geqrf trsyl trsyl3 latrd gebd2 gebrd labrd gehd2 gehrd lacpy laset lange trcon gesv posv trtrs potrs getrs",
    "s d": "sygs2 sygst orgqr ormqr sytd2 sytrd",
    "c z": "lacgv hegs2 hegst ungqr unmqr hetd2 hetrd",
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=lambda kernel: kernel.name)
def test_a_case_tells_its_flags(kernel: Kernel) -> None:
    for dtype in kernel.types[0], kernel.types[-1]:
        for call in calls_of(kernel, dtype):
            assert flags_of_case(kernel, call.case) == call.flags


def test_a_case_with_options_of_several_digits() -> None:
    arguments = (Option("first", (1, -12, 12)), Flag("side", "LR"), Option("second", (3, 34)), Size("n", given=True))
    kernel = Kernel("wide", "d", arguments, flops="n", words="n")
    for first, side, second in itertools.product((1, -12, 12), "LR", (3, 34)):
        assert flags_of_case(kernel, f"{first}{side}{second}") == {"first": first, "side": side, "second": second}


@pytest.mark.parametrize("case", ["", "LL", "LLNX 1", "LLNNN 1", "1 LLNN"])
def test_what_is_no_case(case: str) -> None:
    with pytest.raises(UsageError, match=r"is no case of kernel trsm, which begins with side \(L\|R\), uplo"):
        flags_of_case(find_kernel("trsm"), case)


def test_the_catalogue_is_complete() -> None:
    wanted = {
        letter + name
        for standard in (BLAS, LAPACK)
        for letters, names in standard.items()
        for letter in letters.split() or [""]
        for name in names.split()
    }
    declared = [kernel.routine(dtype) for kernel in KERNELS.values() if not kernel.own for dtype in kernel.types]
    assert wanted == set(declared)
    assert len(declared) == len(wanted)  # none twice


def test_names_are_unique_and_known() -> None:
    with pytest.raises(UsageError, match="exists already"):
        register(find_kernel("gemm"))
    with pytest.raises(UsageError, match=r"unknown kernel 'gemmm'; known: gemm, gemmtr, hemm, \.\.\. \(99 in all\)"):
        find_kernel("gemmm")


@pytest.mark.parametrize(
    ("flops", "arguments", "message"),
    [
        ("n * q", (Size("n"), Data("A", "in", "n", "n")), "uses 'q'"),
        ("n", (Size("n"), Size("n"), Data("A", "in", "n", "n")), "occurs twice"),
        ("n", (Size("n"), Data("A", "in", "n", "n"), Ld("ldb", "B")), "ldb belongs to 'B', no operand"),
        ("n", (Size("n"), Data("A", "maybe", "n", "n")), "unknown"),
        ("n", (Size("n"), Flag("uplo", ""), Data("A", "in", "n", "n")), "needs letters"),
        ("n", (Size("n"), Option("itype", ()), Data("A", "in", "n", "n")), "needs letters"),
        ("n", (Size("n"), Data("x", "in", "n", "1"), Inc("incy", "y")), "incy belongs to 'y', no operand"),
        ("n", (Size("n"), Integer("lwork", "n"), Work("work", "lwork")), "'lwork', which is no flag, option or size"),
        ("n < 3", (Size("n"), Data("A", "in", "n", "n")), "'n < 3' is a comparison, not a value"),
    ],
)
def test_a_wrong_declaration_is_refused(flops: str, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Kernel("wrong", "d", arguments, flops, "n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n - k", "kernel wrong: it requires 'n - k', which is no comparison such as k <= n"),
        ("n == k", "kernel wrong: it requires 'n == k', which is no comparison such as k <= n"),
        ("k <= q", "kernel wrong: 'k <= q' uses 'q', which is no flag, option or size"),
    ],
)
def test_a_requirement_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Kernel("wrong", "d", (Size("n"), Size("k"), Data("A", "in", "n", "k")), "n", "n", requires=(text,))


def test_a_size_that_no_operand_tells() -> None:
    kernel = Kernel("odd", "d", (Size("m"), Size("n"), Data("A", "in", "n", "n")), "n", "n")
    with pytest.raises(UsageError, match="no operand tells the size 'm'"):
        bind(kernel, view("A", 2, 2))


def test_a_type_that_a_kernel_lacks() -> None:
    with pytest.raises(UsageError, match="exists for the data types s, d, not 'z'"):
        find_kernel("dot").routine("z")


def test_every_kernel_has_a_cost_on_the_simulated_machine(quiet: SimulatedBackend) -> None:
    for kernel in KERNELS.values():
        call = calls_of(kernel, kernel.types[-1])[0]
        assert quiet.warm_seconds(call) > 0
