"""Kernels that a user declares: the documented example for real, and files that are malformed."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blascast.sampler import kernels
from blascast.sampler.call import View, bind
from blascast.sampler.declaration import LARGEST_BYTES, read_kernels
from blascast.sampler.errors import UsageError
from blascast.sampler.host.backend import WorkerBackend
from blascast.sampler.kernel import Data, Flag, Inc, Info, Integer, Kernel, Ld, Option, Scalar, Size, Work
from blascast.sampler.program import Run, buffers_for

GUIDE = (Path(__file__).parent.parent / "docs" / "kernels.md").read_text()
PYTHON = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
(TOML,) = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)


@pytest.fixture(autouse=True)
def catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is forgotten."""
    for registry in ("KERNELS", "_ROUTINES"):
        monkeypatch.setattr(kernels, registry, dict(getattr(kernels, registry)))


def declared(tmp_path: Path, text: str) -> tuple[Kernel, ...]:
    file = tmp_path / "kernels.toml"
    file.write_text(text, encoding="utf-8")
    return read_kernels(file)


def view(name: str, rows: int, columns: int) -> View:
    return View(name, 0, 0, rows, columns, rows + 2)


def test_the_guide_samples_a_routine_declared_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels.toml").write_text(TOML)
    exec(PYTHON[0], {})
    assert re.fullmatch(r"geadd\(other 1; m=300, n=200; ld 300\): [0-9.]+ microseconds\n", capsys.readouterr().out)


def test_the_guide_declares_what_the_routines_are(tmp_path: Path, real: WorkerBackend) -> None:
    geadd, gelqf = declared(tmp_path, TOML)
    call = bind(geadd, 2.0, view("A", 5, 4), -0.5, view("C", 5, 4))
    factored = bind(gelqf, view("B", 6, 5), view("tau", 5, 1))
    real.allocate(buffers_for([call, factored]))
    a, b, c = (real.read(name) for name in "ABC")
    real.run([Run(call), Run(factored)])
    np.testing.assert_allclose(real.read("C"), 2 * a - 0.5 * c, rtol=0, atol=1e-15)
    lower = np.tril(real.read("B"))
    np.testing.assert_allclose(lower @ lower.T, b @ b.T, rtol=0, atol=1e-13)  # Q is orthogonal


def test_the_guide_declares_a_routine_in_python(real: WorkerBackend) -> None:
    names: dict[str, Kernel] = {}
    exec(PYTHON[1], names)
    call = bind(names["GETC2"], view("A", 4, 4), view("p", 4, 1), view("q", 4, 1))
    real.allocate(buffers_for([call]))
    before = real.read("A")
    real.run([Run(call)])
    factors = real.read("A")
    rows, columns = before.copy(), None
    for i, (p, q) in enumerate(zip(real.read("p").ravel() - 1, real.read("q").ravel() - 1, strict=True)):
        rows[[i, p]] = rows[[p, i]]
        columns = rows[:, [i, q]].copy()
        rows[:, i], rows[:, q] = columns[:, 1], columns[:, 0]
    np.testing.assert_allclose((np.tril(factors, -1) + np.eye(4)) @ np.triu(factors), rows, rtol=0, atol=1e-14)


def test_every_role_can_be_declared(tmp_path: Path) -> None:
    text = """
    [kernel.every]
    types = "dz"
    arguments = [
        "flag trans NT NC", "option itype 1 -2", "size m", "size kl given", "scalar alpha", "scalar beta real",
        "in A(max(m, kl), m if trans == 'N' else kl) positive definite", "ld lda A", "inout x( m )", "inc incx x",
        "out d(m) real", "in ipiv(m) pivots", "out scale real", "integer lwork(64 * m)", "work iwork(m) for d", "info"
    ]
    flops = "m"
    words = "m"
    returns = "value real"
    names = {z = "dzevery"}
    requires = ["kl <= m"]
    """
    (kernel,) = declared(tmp_path, text)
    assert kernel.arguments == (
        *(Flag("trans", "NT", "NC"), Option("itype", (1, -2)), Size("m"), Size("kl", given=True)),
        *(Scalar("alpha"), Scalar("beta", "real")),
        *(Data("A", "in", "max(m, kl)", "m if trans == 'N' else kl", "positive definite"), Ld("lda", "A")),
        *(Data("x", "inout", "m", "1"), Inc("incx", "x"), Data("d", "out", "m", "1", kind="real")),
        *(Data("ipiv", "in", "m", "1", "pivots", "integer"), Data("scale", "out", "1", "1", kind="real")),
        *(Integer("lwork", "64 * m"), Work("iwork", "m", "d"), Info()),
    )
    assert kernel.returns == Data("value", "out", "1", "1", kind="real")
    assert (kernel.routine("d"), kernel.routine("z")) == ("devery", "dzevery")
    assert kernel.requires == ("kl <= m",)


HEAD = '[kernel.geadd]\ntypes = "d"\nflops = "n"\nwords = "n"\n'


def with_argument(text: str) -> str:
    return f'{HEAD}arguments = ["size n", {text}]'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"kernels.toml: no kernel is declared; begin each with a line such as \[kernel.geadd\]"),
        ("kernel = 3", "no kernel is declared"),
        ("[kernel", r"kernels.toml is not TOML: Expected ']' .*"),
        ("x = " + "[" * 5000, "kernels.toml is not TOML"),
        ("[kernels.geadd]", r"has tables \[kernel.NAME\] only, got 'kernels'"),
        ("[kernel.'ge add']", "kernel 'ge add': a name is that of the routine without its type, in small letters"),
        ("[kernel]\ngeadd = 1", "kernel 'geadd': a declaration is a table with types, arguments, flops, words, got 1"),
        (HEAD, "kernel 'geadd': arguments is missing; a declaration needs types, arguments, flops, words"),
        (f"{HEAD}arguments = []\nimplied = 'm'", r"implied is a list of sizes that are no arguments, .*, got 'm'"),
        (f"{HEAD}arguments = ['size n']\nimplied = ['n']", "an argument name occurs twice among n, n"),
        (f"{HEAD}arguments = []\nflop = 1", "kernel 'geadd': unknown key 'flop'; known: types, arguments, flops"),
        (f"{HEAD}arguments = 'size n'", r"arguments is a list such as \[\"size n\", .*\], got 'size n'"),
        ("[kernel.a]\ntypes = 1\nflops = '0'\nwords = '0'\narguments = []", "types is a text in quotes, got 1"),
        ("[kernel.a]\ntypes = 'q'\nflops = '0'\nwords = '0'\narguments = []", "types must be letters of sdcz, got 'q'"),
        (f"{HEAD}arguments = ['size n']\nnames = {{d = 1}}", "names tells routines by data type, such as .*, got"),
        (
            f"{HEAD}arguments = ['size n']\nrequires = 'n <= 3'",
            r"requires is a list .* \[\"k <= n\"\], got 'n <= 3'",
        ),
        (f"{HEAD}arguments = ['size n']\nrequires = ['n']", "it requires 'n', which is no comparison such as k <= n"),
        (
            f"{HEAD}arguments = ['size n']\nreturns = 'a b'",
            r"returns has a kind .*, got 'a b'; write it like \"value real\"",
        ),
        (f"{HEAD}arguments = ['size n']\nreturns = 'a(n)'", "returns is one number, got 'a\\(n\\)'"),
        (with_argument('"sise m"'), "argument 2 begins with one of flag, option, size, .*, got 'sise m'"),
        (with_argument("1"), "argument 2 begins with one of .*, got 1"),
        (with_argument('"size"'), "argument 2 needs a name, got 'size'; write it like \"size n\""),
        (with_argument('"size 2n"'), "argument 2 has a name that begins with a digit, got 'size 2n'"),
        (with_argument('"size m large"'), "argument 2 may be given, and nothing else"),
        (with_argument('"size m(n)"'), "argument 2 has 0 expressions in parentheses"),
        (with_argument('"scalar alpha complex"'), "argument 2 may be real, and nothing else"),
        (with_argument('"flag uplo"'), 'argument 2 has 1 or 2 words at the end, .* like "flag trans NTC"'),
        (with_argument('"flag uplo L,U"'), "argument 2 has letters only"),
        (with_argument('"option itype one"'), "argument 2 has integers for values"),
        (with_argument('"in A n n"'), "argument 2 has a kind .* and a structure .*, got 'in A n n'"),
        (with_argument('"in A(n, n, n)"'), "argument 2 has 0 or 1 or 2 expressions"),
        (with_argument('"in A(n, n"'), "argument 2 is a role, a name, expressions in parentheses, and words"),
        (with_argument('"in A(n, k)"'), "kernel 'geadd': 'k' uses 'k', which is no flag, option or size"),
        (with_argument('"in A(n, )"'), "kernel 'geadd': not an expression: ''"),
        (with_argument('"in A(n, n)", "ld lda B"'), "kernel 'geadd': lda belongs to 'B', no operand"),
        (with_argument('"ld lda"'), "argument 2 has 1 words at the end"),
        (with_argument('"work work"'), "argument 2 has 1 expressions in parentheses"),
        (with_argument('"work work(n) real"'), "argument 2 has 0 or 2 words at the end"),
        (with_argument('"work work(n) for q"'), "argument 2 may be for some data types only"),
        (with_argument('"size n"'), "kernel 'geadd': an argument name occurs twice among n, n"),
    ],
)
def test_a_malformed_file_is_explained(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as failure:
        declared(tmp_path, text)
    assert str(failure.value).count("\n") == 0
    assert "kernels.toml" in str(failure.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*none.toml: No such file or directory; name a TOML file"):
        read_kernels(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"binary.toml is not TOML: 'utf-8' codec can't decode"):
        read_kernels(tmp_path / "binary.toml")


WORDS = ["flag", "option", "size", "in", "inout", "ld", "info", "work", "A", "n", "(", ")", ",", "n * n", "NTC", "real"]
ARGUMENTS = st.lists(
    st.sampled_from([*WORDS, "1", "-", "if", "n if A == 'N' else n", "pivots", "for", "d"]), max_size=6
)
TABLES = st.fixed_dictionaries(
    {},
    optional={
        "types": st.sampled_from(["d", "sdcz", "", "x"]) | st.integers(),
        "arguments": st.lists(ARGUMENTS.map(" ".join) | st.text() | st.integers(), max_size=4) | st.text(),
        "flops": st.sampled_from(["n", "0", "n ** 2", "n **", "m"]) | st.text(),
        "words": st.sampled_from(["n", "0"]) | st.text(),
        "returns": ARGUMENTS.map(" ".join) | st.integers(),
        "names": st.dictionaries(st.sampled_from(["d", "q"]), st.text(max_size=3)),
        "requires": st.lists(st.sampled_from(["n <= 3", "n", "k < n", "n < n < n"]) | st.text(), max_size=2)
        | st.integers(),
        "extra": st.none(),
    },
)


def as_toml(value: object) -> str:
    """A value as TOML (strings escape like JSON's, but for lone surrogates, which neither can hold)."""
    match value:
        case str():
            return '"' + "".join(f"\\U{ord(c):08x}" for c in value if not 0xD800 <= ord(c) < 0xE000) + '"'
        case list():
            return "[" + ", ".join(map(as_toml, value)) + "]"
        case dict():
            return "{" + ", ".join(f"{as_toml(key)} = {as_toml(item)}" for key, item in value.items()) + "}"
    return str(value or 0)


def read_or_refused(file: Path, contents: bytes) -> None:
    file.write_bytes(contents)
    try:
        for kernel in read_kernels(file):
            assert isinstance(kernel, Kernel)
    except UsageError as error:
        assert "\n" not in str(error)


FUZZ = settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@FUZZ
@given(name=st.sampled_from(["geadd", "x"]) | st.text(max_size=4), table=TABLES)
def test_any_table_is_read_or_refused_in_one_line(tmp_path: Path, name: str, table: dict[str, object]) -> None:
    read_or_refused(tmp_path / "fuzz.toml", f"kernel = {as_toml({name: table})}".encode())


@FUZZ
@given(contents=st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")))
def test_any_file_is_read_or_refused_in_one_line(tmp_path: Path, contents: bytes) -> None:
    read_or_refused(tmp_path / "fuzz.toml", contents)


@FUZZ
@given(place=st.integers(0, len(TOML) - 1), new=st.text(max_size=3), dropped=st.integers(0, 3))
def test_any_slip_is_read_or_refused_in_one_line(tmp_path: Path, place: int, new: str, dropped: int) -> None:
    slipped = TOML[:place] + new + TOML[place + dropped :]
    read_or_refused(tmp_path / "fuzz.toml", slipped.encode("utf-8", "replace"))


def test_what_is_no_small_file_is_not_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * (LARGEST_BYTES + 1))
    for path in (pipe, large, Path("/dev/zero"), tmp_path):
        with pytest.raises(UsageError, match="must be a file of at most 1048576 bytes"):
            read_kernels(path)
