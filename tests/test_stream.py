"""The scripting stream: its statements, what they run, and how it refuses."""

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import blascast
from blascast.cli import run
from blascast.sampler.call import View, bind
from blascast.sampler.errors import BlascastError, LibraryError, UsageError
from blascast.sampler.host.backend import WorkerBackend
from blascast.sampler.kernel import Argument, Data, Flag, Inc, Ld, Option, Scalar, Size
from blascast.sampler.kernels import KERNELS, find_kernel
from blascast.sampler.program import Buffer, Run
from blascast.sampler.script import Failure, Machine, Output, Result, play
from blascast.sampler.script import machine as machine_module
from blascast.sampler.script.invocation import invocation
from blascast.sampler.script.memory import Memory
from blascast.sampler.script.reader import read
from blascast.sampler.script.source import LONGEST
from blascast.sampler.script.statements import Allocate, Invoke, Offset
from blascast.sampler.setup import SetupRequest
from blascast.sampler.simulated import QUIET, SimulatedBackend

DOCUMENTATION = Path(__file__).parent.parent / "docs" / "sample.md"
EXAMPLES = re.findall(r"```sample\n(.*?)```", DOCUMENTATION.read_text(), re.DOTALL)
ABC = "allocate A d 100 100\nallocate B d 100 100\nallocate C d 100 100\n"
GEMM = "dgemm N N 100 100 100 1.0 A 100 B 100 0.0 C 100\n"
TOY = "".join(
    f'[kernel.{name}]\ntypes = "d"\narguments = ["size n", "inout A(n, n)", "ld lda A"]\nflops = "n"\nwords = "n"\n'
    for name in ("fill", "segv", "exit", "grumble")
)


def simulated(dtype: str) -> SimulatedBackend:
    return SimulatedBackend(dtype=dtype, disturbances=QUIET)


def outputs(text: str | bytes, keep_going: bool = False) -> list[Output]:
    stream = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    with Machine(simulated) as machine:
        return [output for batch in play(stream, machine, keep_going) for output in batch]


def results(text: str) -> list[Result]:
    return [output for output in outputs(text) if isinstance(output, Result)]


def lines_and_repetitions(text: str) -> list[tuple[int, int]]:
    return [(result.line, result.repetition) for result in results(text)]


# --- the documentation


def test_there_are_examples() -> None:
    said = "\n".join(EXAMPLES)
    statements = ("allocate", "offset", "free", "call", "hidden", "untimed", "go", "counters", "parallel", "sequence")
    for word in (*statements, "precondition", "restore", "seed", "print"):
        assert re.search(rf"^{word}\b", said, re.MULTILINE), word
        if word not in ("hidden", "untimed"):
            assert f'"do": "{word}"' in said


@pytest.mark.parametrize("library", ["simulated", "scipy"])
@pytest.mark.parametrize("text", EXAMPLES)
def test_every_example_runs(text: str, library: str) -> None:
    report = blascast.sample(text, library=library)
    assert report.failures == ()
    assert len(report.results) >= ("hidden" not in text and bool(re.search(r"^(d|z)|call", text, re.MULTILINE)))
    assert all(result.seconds >= 0 for result in report.results)


# --- statements


def test_calls_wait_for_a_go_or_the_end() -> None:
    assert lines_and_repetitions(ABC + GEMM + GEMM + "go\n" + GEMM) == [(4, 0), (5, 0), (7, 0)]


def test_results_come_repetition_by_repetition_shuffled_or_not() -> None:
    for words in ("go 3", "go 3 shuffled"):
        wanted = [(line, repetition) for repetition in range(3) for line in (4, 5)]
        assert lines_and_repetitions(ABC + GEMM + GEMM + words) == wanted


def test_shuffling_changes_the_order_of_the_program() -> None:
    class Watched(SimulatedBackend):
        def run(self, operations: Any, left_in: Any = None) -> Any:
            programs.append([type(o).__name__ for o in operations])
            return super().run(operations)

    for words in ("go 8", "go 8 shuffled"):
        programs: list[list[str]] = []
        with Machine(lambda dtype: Watched(dtype=dtype)) as machine:
            text = f"{ABC}{GEMM}untimed {GEMM}{words}"
            list(play(io.BytesIO(text.encode()), machine))
        if "shuffled" in words:
            made = [name for name in programs[0] if name != "Probe"]
            assert sorted(made) == ["Run"] * 8 + ["Time"] * 8
            assert made != ["Time", "Run"] * 8
        else:
            assert programs == [["Repeat"]]


def test_hidden_and_untimed_calls_are_made_but_not_reported() -> None:
    text = f"{ABC}hidden {GEMM}untimed {GEMM}{GEMM}"
    (result,) = results(text)
    assert result.line == 6
    (cold,) = results(ABC + GEMM)
    assert cold.seconds > 1.2 * result.seconds  # the simulated machine has a cache, which they filled


def test_times_are_those_of_the_machine() -> None:
    text = f"{ABC}precondition warm\n{GEMM}precondition cold by flush\n{GEMM}precondition A, B cold\n{GEMM}"
    warm, cold, mixed = results(text)
    call = bind(
        find_kernel("gemm"),
        "N",
        "N",
        1,
        *(View(x, 0, 0, 100, 100, 100) for x in "AB"),
        0,
        View("C", 0, 0, 100, 100, 100),
    )
    assert warm.seconds == pytest.approx(simulated("d").warm_seconds(call), rel=1e-6)
    assert cold.seconds - warm.seconds == pytest.approx(1.5 * (mixed.seconds - warm.seconds), rel=1e-6)
    assert warm.ticks == round(warm.seconds * 1e9)
    assert warm.probe is not None


def test_print_comes_in_its_place_in_every_repetition() -> None:
    found = [output for output in outputs(f"{ABC}print a # b\n{GEMM}print c\ngo 2") if not isinstance(output, Failure)]
    assert [getattr(output, "text", getattr(output, "routine", None)) for output in found[1:]] == [
        "a # b",
        "dgemm",
        "c",
    ] * 2


def test_types_may_be_mixed() -> None:
    text = "daxpy 10 1.0 [10] 1 [10] 1\nzaxpy 10 1,2 [10] 1 [10] 1\nidamax 10 [10] 1\ngo 2"
    assert [result.routine for result in results(text)] == ["daxpy", "zaxpy", "idamax"] * 2
    assert len([o for o in outputs(text) if hasattr(o, "setup")]) == 2


def test_counters_are_columns() -> None:
    first, second = results("counters page-faults migrations\ndscal 9 2.0 [9] 1\ngo\ncounters\ndscal 9 2.0 [9] 1")
    assert first.counters == {"page-faults": 0, "migrations": 0}
    assert second.counters == {}


def test_counters_that_take_turns_report_their_shares() -> None:
    assert [o.shares for o in outputs("counters page-faults multiplex\ndscal 9 2.0 [9] 1") if hasattr(o, "shares")] == [
        {"page-faults": 1.0}
    ]


def test_counters_that_cannot_be_had_are_refused_with_their_line() -> None:
    with pytest.raises(UsageError, match=r"^line 1: .* cannot count cycles .* always there"):
        outputs("counters cycles\ndscal 9 2.0 [9] 1\n")
    found = outputs("dscal 9 2.0 [9] 1\ngo\ncounters cycles\ndscal 9 2.0 [9] 1\n", keep_going=True)
    assert [o.line for o in found if isinstance(o, Failure | Result)] == [1, 3, 4]


def test_a_region_has_one_result() -> None:
    text = f"{ABC}parallel {{\n{GEMM}sequence {{\n{GEMM}{GEMM}}}\n}}\ngo 2"
    assert lines_and_repetitions(text) == [(4, 0), (4, 1)]
    (region, _), (one, _) = (
        results(f"{ABC}precondition warm\nparallel {{\n{GEMM}sequence {{\n{GEMM}{GEMM}}}\n}}\ngo 2"),
        results(f"{ABC}precondition warm\n{GEMM}go 2"),
    )
    assert region.routine == "parallel"
    assert region.seconds == pytest.approx(2 * one.seconds, rel=1e-6)


def test_json_and_text_say_the_same() -> None:
    pairs = [
        ("allocate A d 5 4 ld=6 structure=positive-definite seed=3",
         {"do": "allocate", "name": "A", "type": "d", "rows": 5, "columns": 4, "ld": 6,
          "structure": "positive definite", "seed": 3}),
        ("offset B A 1 2 3 4 step=5,-6",
         {"do": "offset", "name": "B", "of": "A", "row": 1, "column": 2, "rows": 3, "columns": 4, "step": [5, -6]}),
        ("free A B", {"do": "free", "names": ["A", "B"]}),
        ("zscal 5 1,-2 A[1,2] 3", {"do": "call", "routine": "zscal", "arguments": [5, [1, -2], "A[1,2]", 3]}),
        ("hidden f [7] _ 1.5 A+3",
         {"do": "call", "routine": "f", "arguments": [[7], None, 1.5, "A+3"], "mode": "hidden"}),
        ("go 3 shuffled", {"do": "go", "repetitions": 3, "shuffled": True}),
        ("counters page-faults multiplex", {"do": "counters", "events": ["page-faults"], "multiplex": True}),
        ("parallel {", {"do": "parallel"}),
        ("sequence {", {"do": "sequence"}),
        ("}", {"do": "end"}),
        ("precondition touched A, 64KiB", {"do": "precondition", "is": "touched A, 64KiB"}),
        ("precondition none", {"do": "precondition", "is": None}),
        ("restore all", {"do": "restore", "names": "all"}),
        ("restore A", {"do": "restore", "names": ["A"]}),
        ("restore none", {"do": "restore", "names": None}),
        ("seed 5", {"do": "seed", "seed": 5}),
        ("print a  b", {"do": "print", "text": "a  b"}),
        ("kernels my file.toml", {"do": "kernels", "path": "my file.toml"}),
    ]  # fmt: skip
    for text, value in pairs:
        assert read(text) == read(json.dumps(value)), text
    assert read("  # a comment") is read("") is None
    assert read("dscal 5 1d2 x 1 # why") == Invoke("dscal", tuple(map(read_argument, ("5", "1e2", "x", "1"))))


def read_argument(text: str) -> Any:
    statement = read(f"f {text}")
    assert isinstance(statement, Invoke)
    return statement.arguments[0]


# --- what is run is what was written


def on_real(real: WorkerBackend, memory: Memory, names: str, *lines: str, repetitions: int = 1) -> None:
    """Makes calls in the real library."""
    calls = []
    for line in lines:
        statement = read(line)
        assert isinstance(statement, Invoke)
        kernel = find_kernel(statement.routine[1:])
        calls.append(invocation(kernel, statement.routine[0], statement.arguments, memory).call(repetitions))
    real.allocate(memory.buffers(names, "d"))
    real.run([Run(call) for call in calls])


def test_operands_are_where_fortran_has_them(real: WorkerBackend) -> None:
    memory = Memory()
    for name in "xyMN":
        memory.allocate(Allocate(name, "d", 60 if name in "xy" else 6, 1 if name in "xy" else 10))
    scale = ["dscal 3 100.0 x+1 2", "dscal 4 100.0 M[1,2] 7", "dscal 8 100.0 N+4 1", "daxpy 5 0.0 x 1 y 1"]
    on_real(real, memory, "xyMN", "daxpy 1 0.0 x 1 y 1", "daxpy 1 0.0 M 1 N 1")
    before = {name: real.read(name).ravel(order="F") for name in "xyMN"}
    on_real(real, memory, "xyMN", *scale)
    places = {"x": [1, 3, 5], "M": [13, 20, 27, 34], "N": range(4, 12), "y": []}
    for name, indices in places.items():
        wanted = before[name].copy()
        wanted[list(indices)] *= 100
        np.testing.assert_allclose(real.read(name).ravel(order="F"), wanted)


@pytest.mark.parametrize(
    ("call", "rows"),
    [
        ("dlaswp 4 A 6 1 2 p 1", 6),
        ("dlaswp 4 A[2,1] 6 1 2 p 1", 4),
        ("dlaswp 4 x+3 10 1 2 p 1", 7),
        ("dlaswp 4 [36] 9 1 2 p 1", 9),
    ],
)
def test_rows_that_may_be_swapped_are_those_that_memory_has(call: str, rows: int) -> None:
    memory = Memory()
    for name, shape in {"A": (6, 10), "x": (100, 1)}.items():
        memory.allocate(Allocate(name, "d", *shape))
    memory.allocate(Allocate("p", "i", 10))
    statement = read(call)
    assert isinstance(statement, Invoke)
    assert invocation(find_kernel("laswp"), "d", statement.arguments, memory).call().sizes["m"] == rows


def test_memory_seen_with_another_leading_dimension(real: WorkerBackend) -> None:
    memory = Memory()
    for name in "ABC":
        memory.allocate(Allocate(name, "d", 100))
    on_real(real, memory, "ABC", "dgemm N T 3 4 5 2.0 A+10 7 B 4 0.0 C+1 6")
    A, B, C = (real.read(name).ravel() for name in "ABC")
    left = np.lib.stride_tricks.as_strided(A[10:], (3, 5), (8, 56))
    right = np.lib.stride_tricks.as_strided(B, (4, 5), (8, 32))
    np.testing.assert_allclose(np.lib.stride_tricks.as_strided(C[1:], (3, 4), (8, 48)), 2 * left @ right.T)


def test_a_part_moves_with_the_repetitions(real: WorkerBackend) -> None:
    memory = Memory()
    memory.allocate(Allocate("A", "d", 4, 6))
    memory.offset(Offset("B", "A", 0, 0, 2, 6))
    memory.offset(Offset("p", "B", 1, 0, 1, 1, (0, 2)))
    on_real(real, memory, "A", "dscal 1 1.0 A 1")
    before = real.read("A")
    on_real(real, memory, "A", "dscal 1 50.0 p 1", repetitions=3)
    changed = np.argwhere(real.read("A") != before)
    assert changed.tolist() == [[1, 0], [1, 2], [1, 4]]


def test_contents_stay_when_memory_is_added(real: WorkerBackend) -> None:
    first, second = Buffer("A", 3, 3, 3), Buffer("B", 2, 2, 2)
    real.allocate([first])
    real.write("A", np.full((3, 3), 7.0))
    real.allocate([second, first], keep=True)
    np.testing.assert_array_equal(real.read("A"), np.full((3, 3), 7.0))
    real.write("B", np.full((2, 2), 5.0))
    real.allocate([second], keep=True)
    np.testing.assert_array_equal(real.read("B"), np.full((2, 2), 5.0))
    real.allocate([second])
    assert not np.array_equal(real.read("B"), np.full((2, 2), 5.0))


def fortran(argument: Argument, dtype: str) -> str:
    """A valid argument; what follows from others is left out."""
    match argument:
        case Flag():
            return argument.letters_for(dtype)[-1]
        case Option(_, values):
            return str(values[-1])
        case Size():
            return "8"
        case Scalar(_, kind):
            return "0.5,0.25" if kind == "element" and dtype in "cz" else "0.5"
        case Data():
            return "[2000]"
        case Ld():
            return "40"
        case Inc():
            return "2"
    return "_"


@pytest.mark.parametrize("library", ["simulated", "scipy"])
def test_every_kernel_can_be_called(library: str) -> None:
    lines = ["restore all"]
    for kernel in KERNELS.values():
        for dtype in kernel.types:
            arguments = (fortran(argument, dtype) for argument in kernel.arguments_for(dtype))
            lines.append(" ".join([kernel.routine(dtype), *arguments]))
    report = blascast.sample([*lines, "go 2"], library=library)
    assert [failure for failure in report.failures if not isinstance(failure.error, LibraryError)] == []
    assert len(report.results) + 2 * len(report.failures) == 2 * len(lines) - 2


# --- refusals

REFUSED = [
    ("allocate", "allocate takes NAME TYPE ROWS"),
    ("allocate A q 10", "the type must be one of s, d, c, z, i, got 'q'"),
    ("allocate A d -1", "rows must be an integer from 0 to 2.48, got -1"),
    ("allocate A d x", "rows must be an integer of at most 2.48, got 'x'"),
    ("allocate A d 10 10 ld=5", r"ld must be at least max\(1, rows\) = 10, got 5"),
    ("allocate A d 10 foo=5", "allocate has the options ld=, structure=, seed=, each once; got 'foo=5'"),
    ("allocate A d 10 structure=odd", "unknown structure 'odd'; known: general, triangular, positive-definite"),
    ("allocate A d 1000000000 1000000", "GB are needed, .* are left"),
    ("allocate 5 d 10", "a name must be up to 100 letters, digits and underscores, got '5'"),
    ("allocate B d 10\nallocate B d 10", "the name B is taken; free it first"),
    ("offset P X 0 0 1 1", "unknown operand 'X'; known: "),
    ("offset P M 90 0 20 1", "P would be 20x1 at 90,0: M has 100x100"),
    ("offset P M 0 0 1 1 step=1", "step must be two integers"),
    ("offset P M 0 0", "offset takes NAME OF ROW COLUMN ROWS COLUMNS"),
    ("offset P M 0 0 1 1 step=0,60\ndscal 1 1.0 P 1\ngo 3", "advances by 60 columns leaves it within 3 repetitions"),
    ("free", r"free takes names, got \(\)"),
    ("free X", "unknown operand 'X'"),
    ("dscal 1 1.0 M 1\nfree M", "M is an operand of calls that wait"),
    ("dgmm N", "unknown routine or statement 'dgmm'; like it are .*dgemm"),
    ("qqqqqqqq", "a routine is written with its letter, as dgemm"),
    ("dgemm N N 1 1 1", "dgemm takes transA transB m n k alpha A lda B ldb beta C ldc: 13 arguments, got 5"),
    ("dgemm N N 101 1 100 1 M 101 M 100 0 M 101", "dgemm: A = M would take 101x100 .* it has 100x100"),
    ("dgemm X N 1 1 1 1 M 1 M 1 0 M 1", "dgemm: transA must be one of N, T, C, got X"),
    ("dgemm N N -1 1 1 1 M 1 M 1 0 M 1", "dgemm: m must be an integer of at least 0, got -1"),
    ("dgemm N N 9 9 9 1 M 8 M 9 0 M 9", "dgemm: the leading dimension of A must be at least 9, got 8"),
    ("dgemm N N 9 9 9 1 M 9 7 9 0 M 9", "dgemm: B must be an operand such as A, .* got 7"),
    ("dgemm N N 9 9 9 1,2 M 9 M 9 0 M 9", "dgemm: alpha must be a real number, got 1.0,2.0"),
    ("dgemm N N 9 9 9 nan M 9 M 9 0 M 9", "dgemm: alpha must be a real number, got nan"),
    ("dscal 9 1e999 M 1", "a number must be finite, got inf"),
    ("dscal 9 1.0 M -1", "dscal: incx must be an integer of at least 1, got -1"),
    ("dscal 9 1.0 [8] 1", r"dscal: \[8\] is too small, 9x1 .* take 9"),
    ("dscal 9 1.0 M[99,99] 1", r"dscal: x = M\[99,99\] would take 9x1"),
    ("dscal 9 1.0 M+9993 1", r"dscal: x = M\+9993 would take 9x1"),
    ("sscal 9 1.0 M 1", "sscal: x must be of the type s, M is of the type d"),
    ("dscal 9 1.0 M( 1", "an argument is a letter, a number"),
    ("dscal 99999999999999999999 1.0 M 1", "dscal: n must be an integer of at least 0, got 1e[+]20"),
    ("dgeqrf 9 9 M 9 [9] [1]", r"dgeqrf takes m n A lda tau .work. .lwork. .info.: 8 arguments, got 6"),
    ("dgeqrf 9 9 M 9 [9] [1] _ _", r"dgeqrf: work must be scratch memory of \[\d+\] elements or more, got \[1\]"),
    ("dgeqrf 9 9 M 9 [9] _ -1 _", r"dgeqrf: lwork is \d+ here, got -1"),
    ("dpotrf L 9 M 9 M", "dpotrf: info is reported where it is not 0, got M"),
    ("go 0", "the number of repetitions must be at least 1, got 0"),
    ("go often", "the number of repetitions must be an integer of at most 2.48, got 'often'"),
    ("dscal 1 1.0 M 1\ngo 1000001", "one go may make 1000000 calls"),
    ("counters ghosts", "unknown counter 'ghosts'"),
    ("precondition hot", "a precondition is warm"),
    ("precondition Q cold\ndscal 1 1.0 M 1", "scal has the operands x, not 'Q'"),
    ("restore", "restore takes all, none, or names of memory"),
    ("restore X", "unknown operand 'X'"),
    ("seed", "seed takes a number"),
    ("}", r"no parallel region is open; begin one with parallel \{"),
    ("sequence {", r"no parallel region is open; begin one with parallel \{"),
    ("parallel", r"parallel takes \{ at the end of its line"),
    ("parallel {\n}", "a parallel region needs at least one call"),
    ("parallel {\nsequence {\n}", "a sequence needs at least one call"),
    ("parallel {\nsequence {\nsequence {", r"a sequence cannot stand inside another"),
    ("parallel {\nparallel {", r"the parallel region of line 2 is open; end it with \} first"),
    ("parallel {\ndscal 1 1.0 M 1\ngo", r"the parallel region of line 2 is open"),
    ("parallel {\ndscal 1 1.0 M 1", r"the parallel region of line 2 is open"),
    ("parallel {\nhidden dscal 1 1.0 M 1", "a call in it cannot be hidden"),
    ("parallel {\ndscal 1 1.0 M 1\nsscal 1 1.0 [1] 1", "have one data type, got d and s"),
    ("precondition cold by fresh memory\nparallel {\ndscal 1 1.0 M 1", "a parallel region cannot be cold by fresh"),
    ("parallel {\n" + "dscal 1 1.0 M 1\n" * 9 + "}", "9 lanes need as many CPUs"),
    ("kernels /nowhere", "/nowhere"),
    ("kernels", "kernels takes the path of a file"),
    ('{"do": "kernels", "path": "a\\u0000b"}', "kernels takes the path of a file"),
    ('{"do": "kernels", "path": "\\ud800"}', "kernels takes the path of a file"),
    ("allocate A d 281474976710657", "rows must be an integer of at most 2.48, got '281474976710657'"),
    ("allocate A d 281474976710656 281474976710656", "GB are needed"),
    ("call go", "'go' is a statement"),
    ("hidden", "a call takes a routine and its arguments"),
    ('{"do": "call"}', r"call takes routine, \[arguments\], \[mode\]; got nothing"),
    ('{"do": "go", "x": 1}', "go takes .*; got 'x'"),
    ('{"do": "go", "repetitions": true}', "must be an integer from 0 to 2.48, got True"),
    ('{"do": "jump"}', "unknown statement"),
    ('{"do": "call", "routine": "dscal", "arguments": [NaN]}', "a number must be finite, got nan"),
    ('{"do": "call", "routine": "dscal", "arguments": [{}]}', "an argument is text, a number"),
    ('{"do": "call", "routine": "dscal", "mode": "loud"}', "unknown mode of a call"),
    ("{" * 5000, "not a line of JSON"),
    ('{"do":' + "[" * 30000, "not a line of JSON"),
    ("print " + "x" * LONGEST, "a line may have 65536 bytes, this one has more"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "message"), REFUSED, ids=[lines[:40] for lines, _ in REFUSED])
def test_what_is_wrong_is_refused_with_its_line(lines: str, message: str) -> None:
    with pytest.raises(BlascastError, match=rf"^line \d+: .*{message}") as caught:
        outputs(f"allocate M d 100 100\n{lines}")
    assert "\n" not in str(caught.value)
    number = int(re.findall(r"^line (\d+)", str(caught.value))[0])
    assert 2 <= number <= 1 + len(lines.splitlines())


@pytest.mark.parametrize(
    ("line", "message"),
    [(b"a\0b\n", "line 2: a line may not hold a null byte"), (b"print \xff\n", "line 2: a line must be UTF-8, byte 7")],
)
def test_lines_that_are_no_text(line: bytes, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        outputs(b"# first\n" + line)


def test_too_many_calls_may_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_module, "MOST_WAITING", 3)
    with pytest.raises(UsageError, match=r"^line 4: 3 calls wait, and no more may"):
        outputs("dscal 1 1.0 [1] 1\n" * 9)


def test_what_was_measured_before_an_error_has_come_out() -> None:
    found: list[Output] = []
    with Machine(simulated) as machine, pytest.raises(UsageError, match=r"^line 7"):
        for batch in play(io.BytesIO(f"{ABC}{GEMM}go\n{GEMM}foo\n{GEMM}".encode()), machine):
            found += batch
    assert [output.line for output in found if isinstance(output, Result)] == [4]


def test_keep_going_passes_over_what_is_wrong() -> None:
    found = outputs(f"foo\n{ABC}{GEMM}offset p A 0 0 1 1 step=0,60\ndscal 1 2.0 p 1\ngo 3\n{GEMM}", keep_going=True)
    failures = [output for output in found if isinstance(output, Failure)]
    assert [failure.line for failure in failures] == [1, 7]
    assert str(failures[0]).startswith("line 1: unknown routine")
    assert [(o.line, o.repetition) for o in found if isinstance(o, Result)] == [(5, 0), (5, 1), (5, 2), (9, 0)]


# --- random streams

WORDS = st.sampled_from(
    [
        *(
            "allocate",
            "offset",
            "free",
            "call",
            "hidden",
            "untimed",
            "go",
            "counters",
            "multiplex",
            "parallel",
            "{",
            "}",
        ),
        *("sequence", "precondition", "warm", "cold", "restore", "all", "none", "seed", "print", "kernels", "shuffled"),
        *(
            "dgemm",
            "daxpy",
            "zdotu",
            "dpotrf",
            "dgeqrf",
            "idamax",
            "N",
            "L",
            "U",
            "A",
            "B",
            "A+3",
            "A[1,2]",
            "[50]",
            "_",
        ),
        *(
            "d",
            "z",
            "i",
            "0",
            "1",
            "7",
            "-1",
            "100",
            "1.5",
            "1,2",
            "nan",
            "inf",
            "1e999",
            "ld=5",
            "step=1,0",
            "#",
            "touched",
        ),
        *(
            "99999999999",
            "9223372036854775807",
            "99999999999999999999",
            "by",
            "flush",
            "page-faults",
            "A,",
            "64KiB",
            "\0",
        ),
    ]
)
LINES = st.one_of(
    st.lists(WORDS, max_size=16).map(" ".join),
    st.sampled_from(["allocate A d 10 10", "allocate B z 9", "offset P A 1 1 2 2 step=1,1", "parallel {", "}", "go 3"]),
    st.sampled_from(
        ["dscal 4 2.0 A+1 3", "dpotrf L 4 A 10", "dscal 1 1.5 P 1", "zscal 9 1,2 B 1", "restore all", "go"]
    ),
    st.dictionaries(
        st.sampled_from(["do", "name", "type", "rows", "arguments", "routine", "names", "is", "repetitions"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | WORDS,
            lambda inner: st.lists(inner, max_size=3),
            max_leaves=5,
        ),
    ).map(json.dumps),
    st.text(max_size=40),
)
STREAMS = st.one_of(
    st.lists(LINES, max_size=12).map(lambda lines: "\n".join(lines).encode(errors="replace")), st.binary(max_size=200)
)


def check_stream(stream: bytes, machine: Callable[[], Machine]) -> None:
    """Whatever comes, it is results and errors that name their line."""
    for keep_going in (False, True):
        with machine() as each, contextlib.suppress(BlascastError):
            try:
                for batch in play(io.BytesIO(stream), each, keep_going):
                    for output in batch:
                        assert not isinstance(output, Failure) or re.match(r"line \d+: .", str(output))
            except BlascastError as error:
                assert not keep_going
                assert re.match(r"line \d+: .", str(error))
                raise


@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(STREAMS)
@example(b"dscal 5 1.0 [5] 1\n{" + b'"a":{' * 2000)
@example(b"kernels .\n")
def test_random_streams_yield_results_or_clear_errors(stream: bytes) -> None:
    check_stream(stream, lambda: Machine(simulated))


class Shared(WorkerBackend):
    """Outlives the machine that closes it."""

    def close(self) -> None:
        """Not yet."""


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(LINES, max_size=12).map(lambda lines: "\n".join(["allocate A d 10 10", *lines]).encode(errors="replace"))
)
def test_random_streams_on_the_real_library(workers: dict[str, Shared], stream: bytes) -> None:
    def opened(dtype: str) -> Shared:
        if dtype not in workers:
            workers[dtype] = Shared(SetupRequest(dtype=dtype))
        return workers[dtype]

    check_stream(stream, lambda: Machine(opened))


@pytest.fixture(scope="module")
def workers() -> Iterable[dict[str, Shared]]:
    opened: dict[str, Shared] = {}
    yield opened
    for each in opened.values():
        WorkerBackend.close(each)


# --- libraries that fail


def test_a_crash_costs_its_call_and_the_rest_goes_on(toy: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "toy.toml").write_text(TOY)
    text = "allocate A d 8 8\ndfill 8 A 8\ndsegv 8 A 8\ndfill 8 A 8\ndexit 8 A 8\ndfill 8 A 8\ngo 3\ndfill 8 A 8"
    report = blascast.sample(text, library=toy(), kernels=[str(tmp_path / "toy.toml")])
    assert [(r.line, r.repetition) for r in report.results] == [
        *((line, repetition) for repetition in range(3) for line in (2, 4, 6)),
        (8, 0),
    ]
    assert [failure.line for failure in report.failures] == [3, 5]
    assert re.match(r"line 3: dsegv.* crashed \(Segmentation fault\).* filled anew", str(report.failures[0]))
    assert "ended its process" in str(report.failures[1])


def test_an_illegal_argument_of_one_of_several_calls_costs_them_all() -> None:
    scratch = "[200] 10 [20]"
    text = f"dscal 9 1.0 [9] 1\ndorgqr 5 5 5 {scratch}\ndorgqr 5 9 5 {scratch}\ndgeqrt 8 8 9 [200] 10 [200] 9\ngo 2"
    report = blascast.sample(text)
    assert [(r.line, r.repetition) for r in report.results] == [(1, 0), (1, 1)]
    assert [failure.line for failure in report.failures] == [2, 3, 4]
    assert "refused its argument number 2 as illegal (or another of 2 calls of dorgqr)" in str(report.failures[0])


def test_an_illegal_argument_costs_its_call(toy: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "toy.toml").write_text(TOY)
    text = f"kernels {tmp_path / 'toy.toml'}\nallocate A d 8 8\ndfill 8 A 8\ndgrumble 8 A 8\ngo 2"
    report = blascast.sample(text, library=toy())
    assert [(r.line, r.repetition) for r in report.results] == [(3, 0), (3, 1)]
    assert [str(failure)[:60] for failure in report.failures] == [
        "line 4: dgrumble(; n=8; ld 8) refused its argument number 3 as illegal"[:60]
    ]


@pytest.mark.parametrize("words", ["", "shuffled"])
def test_a_status_that_is_not_0_costs_its_calls(words: str) -> None:
    text = (
        "allocate G d 9 9 structure=general\nallocate S d 9 9\nrestore all\n"
        "dpotrf L 9 G 9\ndpotrf L 9 S 9\ndpotrf U 9 G 9\n"
        f"offset P G 0 0 4 4 step=0,1\ndpotrf L 4 P 9\ngo 4 {words}"
    )
    report = blascast.sample(text)
    assert [(r.line, r.repetition) for r in report.results] == [(5, r) for r in range(4)]
    assert sorted(failure.line for failure in report.failures) == [4, 6, 8]
    assert all("returned info =" in str(failure) for failure in report.failures)


def test_a_routine_that_the_library_lacks_costs_its_call(toy: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "toy.toml").write_text(TOY)
    text = "allocate A d 8 8\ndfill 8 A 8\ndpotrf L 8 A 8\ndfill 8 A 8"
    report = blascast.sample(text, library=toy(), kernels=[str(tmp_path / "toy.toml")])
    assert [r.line for r in report.results] == [2, 4]
    assert re.match("line 3: .* no routine dpotrf", str(report.failures[0]))
    assert isinstance(report.failures[0].error, LibraryError)


# --- the command line


def test_columns(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "calls").write_text(f"{ABC}print now\n{GEMM}go 2\ncounters page-faults\n{GEMM}")
    assert run(["sample", "--library", "simulated", str(tmp_path / "calls")]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert lines[0].startswith("# simulated 1, d, 1 thread")
    assert lines[0].endswith("clock simulated, 1000000000 ticks/s")
    assert lines[1] == "now"
    assert lines[2] == "# line\trepetition\troutine\tticks\tseconds\tprobe"
    assert lines[3].startswith("5\t0\tdgemm\t")
    assert lines[5].startswith("5\t1\tdgemm\t")
    assert lines[6] == "# line\trepetition\troutine\tticks\tseconds\tprobe\tpage-faults"
    cells = lines[7].split("\t")
    assert cells[:3] == ["8", "0", "dgemm"]
    assert float(cells[4]) == pytest.approx(int(cells[3]) / 1e9, rel=1e-3)
    assert cells[6] == "0"


def test_json_output(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "calls").write_text(f"counters page-faults multiplex\n{ABC}print now\n{GEMM}")
    assert run(["sample", "--library", "simulated", "--json", str(tmp_path / "calls")]) == 0
    setup, text, result, shares = map(json.loads, capsys.readouterr().out.splitlines())
    assert setup["setup"]["dtype"] == "d"
    assert setup["ticks_per_second"] == 1e9
    assert text == {"line": 5, "text": "now"}
    assert set(result) == {"line", "repetition", "routine", "ticks", "seconds", "probe", "counters"}
    assert shares == {"counter_shares": {"page-faults": 1.0}}


def test_exit_statuses(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "calls").write_text(f"{ABC}foo\n{GEMM}")
    assert run(["sample", "--library", "simulated", str(tmp_path / "calls")]) == 2
    out, err = capsys.readouterr()
    assert (out, err.startswith("blascast: line 4: unknown routine or statement 'foo'")) == ("", True)
    assert run(["sample", "--library", "simulated", "--keep-going", str(tmp_path / "calls")]) == 1
    out, err = capsys.readouterr()
    assert "dgemm" in out
    assert err.startswith("blascast: line 4: unknown routine")
    assert run(["sample", str(tmp_path)]) == 2
    assert "cannot be read: Is a directory" in capsys.readouterr().err
    (tmp_path / "fails").write_text("allocate G d 9 9 structure=general\ndpotrf L 9 G 9")
    assert run(["sample", str(tmp_path / "fails")]) == 1
    assert capsys.readouterr().err.startswith("blascast: line 2: dpotrf")


def test_no_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert run(["sample", "--library", "simulated"]) == 2
    assert "there is no standard input; name a file" in capsys.readouterr().err


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-P", "-m", "blascast", "sample", "--library", "simulated", *arguments]


def test_results_come_as_each_go_ends_and_a_pipe_may_close_early() -> None:
    with subprocess.Popen(
        command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdin.write(f"{ABC}{GEMM}go\n".encode())
        lines = [process.stdout.readline(), process.stdout.readline(), process.stdout.readline()]
        assert lines[2].startswith(b"4\t0\tdgemm")  # while the input is still open
        process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(f"{GEMM}go 9\n{GEMM}".encode())
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait() == 1


def test_an_interrupt_is_one_line() -> None:
    with subprocess.Popen(
        command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdin.write(f"{ABC}{GEMM}go\n".encode())
        process.stdout.readline()
        time.sleep(0.2)
        os.kill(process.pid, signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr.read() == b"blascast: interrupted; what was measured until the last go is printed\n"
        assert b"dgemm" in process.stdout.read()


# --- in Python


def test_the_report() -> None:
    report = blascast.sample(
        [*ABC.splitlines(), "counters page-faults", *GEMM.splitlines(), "go 2"], library="simulated"
    )
    frame = report.to_frame()
    assert frame["routine"].tolist() == ["dgemm"] * 2
    assert frame["counters_page-faults"].tolist() == [0, 0]
    assert "dgemm" in str(report)
    assert "page-faults" in str(report)
    assert report.title.startswith("2 samples: simulated 1, d")
    assert str(blascast.sample("", library="simulated").title) == "0 samples: no calls"


def test_a_line_without_end_is_refused_before_it_ends() -> None:
    class Endless(io.RawIOBase):
        def readline(self, size: int | None = -1) -> bytes:  # type: ignore[override]
            return b"x" * (size or 0)

    with Machine(simulated) as machine, pytest.raises(UsageError, match="line 1: a line may have 65536 bytes"):
        list(play(Endless(), machine, False))  # type: ignore[arg-type]


def test_lanes_share_no_scratch_memory() -> None:
    memory = Memory()
    kernel, arguments = find_kernel("scal"), read("dscal 10 2.0 [10] 1")
    assert isinstance(arguments, Invoke)
    first, second = (invocation(kernel, "d", arguments.arguments, memory, lane) for lane in (0, 1))
    assert first.call().views["x"].buffer != second.call().views["x"].buffer


def test_a_crash_in_a_region_names_its_calls(toy: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "toy.toml").write_text(TOY)
    text = f"kernels {tmp_path}/toy.toml\nparallel {{\ndsegv 8 [64] 8\n}}\n"
    found = subprocess.run(
        [sys.executable, "-P", "-m", "blascast", "sample", "--library", toy()],
        input=text,
        capture_output=True,
        text=True,
    )
    assert found.returncode == 1
    assert re.search(r"line 2: .*segv\(; n=8; ld 8\).* crashed \(Segmentation fault\)", found.stderr)
    assert len(found.stderr) < 500
