"""Libraries: found without opening them, described by their own interfaces, combined, and called for real."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import blascast
from blascast import inventory
from blascast.cli import run
from blascast.sampler import libraries as discovery
from blascast.sampler.call import Call, View, bind
from blascast.sampler.errors import LibraryError, UsageError
from blascast.sampler.failure import KernelFailed
from blascast.sampler.host.backend import WorkerBackend
from blascast.sampler.host.inspection import inspect_library
from blascast.sampler.kernel import Data, Flag, Info, Kernel, Ld, Size
from blascast.sampler.kernels import find_kernel
from blascast.sampler.libraries import LibraryFiles, found_libraries, library_files
from blascast.sampler.program import Run, buffers_for
from blascast.sampler.resources import allowed_cpus
from blascast.sampler.setup import SetupRequest, setup_from_json
from blascast.sampler.worker import threads
from blascast.sampler.worker.symbols import OpenLibrary

# vendor, bits of integers, how complex functions give their value, threading
REQUIRED = {
    "scipy": ("OpenBLAS", 32, "registers", "pthreads"),
    "numpy": ("OpenBLAS", 64, "registers", "pthreads"),
    "mkl": ("MKL", 32, "hidden pointer", "OpenMP"),
    "blis-pthread": ("BLIS", 32, "registers", "pthreads"),
    "reference": ("reference BLAS", 32, "registers", "serial"),
}
OTHERS = {
    "openblas32": ("OpenBLAS", 32, "registers", "pthreads"),
    "openblas64": ("OpenBLAS", 64, "registers", "pthreads"),
    "openblas-pthread": ("OpenBLAS", 32, "registers", "pthreads"),
    "openblas-openmp": ("OpenBLAS", 32, "registers", "OpenMP"),
    "openblas64-pthread": ("OpenBLAS", 64, "registers", "pthreads"),
    "blis-openmp": ("BLIS", 32, "registers", "OpenMP"),
    "atlas": ("ATLAS", 32, "registers", "serial"),
}
EXPECTED = REQUIRED | OTHERS
TWO_CPUS = pytest.mark.skipif(len(allowed_cpus()) < 2, reason="two CPUs are needed")
POTRF = Kernel(
    "potrf",
    "sd",
    (Flag("uplo", "LU"), Size("n"), Data("A", "inout", "n", "n", "positive definite"), Ld("lda", "A"), Info()),
    flops="n",
    words="n",
)


def need(*names: str) -> None:
    """Skips a test of libraries that are not installed; where CI runs, the required ones must be."""
    for missing in set(names) - set(found_libraries()):
        if missing in REQUIRED and os.environ.get("CI") == "true":
            pytest.fail(f"{missing} must be installed where CI runs")
        pytest.skip(f"{missing} is not installed")


@contextmanager
def opened(library: str, count: int = 1) -> Iterator[WorkerBackend]:
    backend = WorkerBackend(SetupRequest(library, threads=count))
    try:
        yield backend
    finally:
        backend.close()


def square(name: str, n: int) -> View:
    return View(name, 0, 0, n, n, n)


def product_is_right(backend: WorkerBackend, n: int) -> None:
    call = bind(find_kernel("gemm"), "N", "T", 2, square("A", n), square("B", n), 1, square("C", n))
    backend.allocate(buffers_for([call]))
    A, B, C = (backend.read(name) for name in "ABC")
    backend.run([Run(call)])
    np.testing.assert_allclose(backend.read("C"), 2 * A @ B.T + C, atol=1e-11)


def factor_is_right(backend: WorkerBackend, n: int) -> None:
    call = bind(POTRF, "L", square("A", n))
    backend.allocate(buffers_for([call]))
    A = backend.read("A")
    backend.run([Run(call)])
    np.testing.assert_allclose(np.tril(backend.read("A")), np.linalg.cholesky(A), atol=1e-11)


# --- the libraries of this machine


@pytest.mark.parametrize("name", EXPECTED)
def test_a_library_is_described_and_computes(name: str) -> None:
    need(name)
    with opened(name) as backend:
        library = backend.setup.library
        found = (library.name, library.integer_bits, library.complex_results, library.threading)
        assert found == EXPECTED[name]
        assert re.match(r"\d+\.\d+", library.version)
        assert len(library.build) == 12
        assert backend.setup.pinned
        if library.name != "MKL":  # which tells it of Intel's processors alone
            assert (library.core != "") == (library.threading != "serial")
        product_is_right(backend, 65)
        if inspect_library(library_files(name), ["dpotrf"]).routines:
            factor_is_right(backend, 130)
        else:
            assert library.name == "BLIS"


@TWO_CPUS
@pytest.mark.parametrize("name", EXPECTED)
def test_two_threads_are_set_and_read_back_or_refused(name: str) -> None:
    need(name)
    if EXPECTED[name][-1] == "serial":
        with pytest.raises(LibraryError, match=r"2 threads were asked for, .* has 1 in force; use --threads 1"):
            WorkerBackend(SetupRequest(name, threads=2))
        return
    with opened(name, 2) as backend:
        assert backend.setup.threads == 2
        product_is_right(backend, 200)
        cpus = thread_cpus(backend)
        alone = [cpu for cpu in cpus if len(cpu) == 1]
        if name == "blis-pthread":  # its threads live for one call only
            assert not backend.setup.pinned
            assert not alone
        else:
            assert backend.setup.pinned
            assert len(alone) == len(set(alone)) == 2
            assert len(cpus) == 3  # the lifeline's thread is left alone


def thread_cpus(backend: WorkerBackend) -> list[frozenset[int]]:
    tasks = Path(f"/proc/{backend.process_id}/task").iterdir()
    return [frozenset(os.sched_getaffinity(int(task.name))) for task in tasks]


def test_threads_that_cannot_be_listed_stay_pinned_as_a_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_TASKS", tmp_path / "nowhere")  # no /proc
    library = OpenLibrary(library_files("scipy").blas)
    before = os.sched_getaffinity(0)
    assert threads.thread_ids() == set()
    assert threads.pin_threads(library, [0], set())
    assert not threads.pin_threads(library, [0, 1], set())
    assert os.sched_getaffinity(0) == before


@pytest.mark.parametrize("blas", ["blis-pthread", "scipy", "mkl"])
def test_the_reference_lapack_on_another_blas(blas: str) -> None:
    need("reference", blas)
    with opened(f"reference+{blas}") as backend:
        library = backend.setup.library
        assert library.name == EXPECTED[blas][0]
        assert library.lapack is not None
        assert str(library).startswith(f"LAPACK {library.lapack.version} on {library.name} ")
        product_is_right(backend, 65)
        factor_is_right(backend, 130)
        assert setup_from_json(json.loads(json.dumps(backend.setup.to_json()))) == backend.setup
        with opened(blas) as alone:
            assert alone.setup.fingerprint != backend.setup.fingerprint


def test_combinations_that_do_not_fit() -> None:
    need("reference", "numpy", "scipy")
    with pytest.raises(LibraryError, match=r"integers of one width, \S+ has 32 bits and \S+ 64; name another"):
        WorkerBackend(SetupRequest("reference+numpy"))
    with pytest.raises(LibraryError, match=r"calls a BLAS outside its own file, .* does not; name reference"):
        WorkerBackend(SetupRequest("scipy+reference"))


def test_complex_data_need_one_convention() -> None:
    need("reference", "mkl")
    with pytest.raises(LibraryError, match="complex functions must give their values as the LAPACK expects them"):
        WorkerBackend(SetupRequest("reference+mkl", dtype="z"))


# --- which BLAS a LAPACK really calls, by toys that leave a mark

BLAS = """
void @dcopy_(int *n, double *x, int *incx, double *y, int *incy) { for (int i = 0; i < *n; i++) y[i] = x[i]; }
void @dmark_(int *n, double *a, int *lda) { a[0] = MARK; }
void @dhelp_(int *n, double *a, int *lda) { a[1] = MARK; }
void @dsyrk_(char *u, char *t, int *n, int *k, double *alpha, double *a, int *lda, double *beta, double *c,
                    int *ldc) { c[0] = -1; }
"""
LAPACK = """
void dmark_(int *n, double *a, int *lda);
void ilaver_(int *major, int *minor, int *patch) { *major = 3; *minor = 9; *patch = 1; }
void dhelp_(int *n, double *a, int *lda) { a[1] = 7; }
void dboth_(int *n, double *a, int *lda) { dmark_(n, a, lda); dhelp_(n, a, lda); }
"""


def build(folder: Path, name: str, text: str, *options: str) -> str:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.c").write_text(text)
    library = folder / f"lib{name}.so"
    command = ["cc", "-shared", "-fPIC", "-w", f"-Wl,-soname,lib{name}.so", "-o", str(library), f"{folder}/{name}.c"]
    subprocess.run([*command, *options], check=True)
    return str(library)


def build_blas(folder: Path, mark: int, prefix: str = "") -> str:
    return build(folder, f"{prefix}toyblas", BLAS.replace("@", prefix), f"-DMARK={mark}")


@pytest.fixture
def toys(tmp_path: Path) -> dict[str, str]:
    """A BLAS, a LAPACK linked to it, and other BLAS: one of the same soname, one of another name for everything."""
    first = build_blas(tmp_path / "first", 1)
    needs = (f"-L{tmp_path / 'first'}", "-ltoyblas", f"-Wl,-rpath,{tmp_path / 'first'}", "-Wl,-z,now,-z,relro")
    return {
        "first": first,
        "lapack": build(tmp_path / "lapack", "toylapack", LAPACK, *needs),
        "second": build_blas(tmp_path / "second", 2),
        "prefixed": build_blas(tmp_path / "prefixed", 3, "scipy_"),
    }


def toy_call(name: str) -> Call:
    kernel = Kernel(name, "d", (Size("n"), Data("A", "inout", "n", "n"), Ld("lda", "A")), "n", "n")
    return bind(kernel, square("A", 8))


@pytest.mark.parametrize(("blas", "mark"), [("first", 1), ("second", 2), ("prefixed", 3)])
def test_a_lapack_calls_the_chosen_blas_and_its_own_routines(toys: dict[str, str], blas: str, mark: int) -> None:
    with opened(f"{toys['lapack']}+{toys[blas]}") as backend:
        assert str(backend.setup.library) == f"LAPACK 3.9.1 on {Path(toys[blas]).stem}"
        for routine, expected in [("both", [mark, 7]), ("help", [0, 7]), ("mark", [mark, 0])]:
            call = toy_call(routine)
            backend.allocate(buffers_for([call]))
            backend.write("A", np.zeros((8, 8)))
            backend.run([Run(call)])
            assert backend.read("A")[:2, 0].tolist() == expected


def test_the_real_lapack_calls_the_chosen_blas(toys: dict[str, str]) -> None:
    """The toy's dsyrk spoils the matrix, and only then is it not positive definite."""
    need("reference")
    call = bind(POTRF, "L", square("A", 200))
    with opened("reference") as backend:
        factor_is_right(backend, 200)
    with opened(f"reference+{toys['second']}") as backend:
        backend.allocate(buffers_for([call]))
        with pytest.raises(KernelFailed, match="returned info = 1"):
            backend.run([Run(call)])


# --- names and files


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The folder of a system such as Debian: builds in folders, and links to the preferred ones."""
    folder = tmp_path / "usr" / "lib"
    for file in (
        *("openblas-pthread/libopenblasp-r0.3.21.so", "openblas-openmp/libopenblasp-r0.3.21.so"),
        *("blis-openmp/libblis.so.4", "blis-openmp/libblas.so.3", "openblas-pthread/libblas.so.3"),
        *("blas/libblas.so.3.11.0", "lapack/liblapack.so.3.11.0", "libflexiblas.so.3.4", "libnvpl_blas_core.so.0"),
        *("libnvpl_blas_lp64_gomp.so.0", "openblas-pthread/liblapack.so.3", "libopenblas.a", "libmkl_rt.so.2"),
    ):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()
    for link, target in {
        "openblas-pthread/libopenblas.so.0": "libopenblasp-r0.3.21.so",
        "openblas-openmp/libopenblas.so.0": "libopenblasp-r0.3.21.so",
        "blas/libblas.so.3": "libblas.so.3.11.0",
        "lapack/liblapack.so.3": "liblapack.so.3.11.0",
        "libopenblas.so.0": "openblas-pthread/libopenblas.so.0",
        "libblas.so.3": "openblas-pthread/libblas.so.3",
        "liblapack.so.3": "openblas-pthread/liblapack.so.3",
        "libflexiblas.so": "libflexiblas.so.3.4",
    }.items():
        (folder / link).symlink_to(target)
    return folder


def test_discovery_lists_every_build_once(tree: Path) -> None:
    found = found_libraries([tree, tree / "nowhere", tree])
    assert {name: str(Path(files.blas).relative_to(tree)) for name, files in found.items()} == {
        "openblas-openmp": "openblas-openmp/libopenblasp-r0.3.21.so",
        "openblas-pthread": "openblas-pthread/libopenblasp-r0.3.21.so",
        "blis-openmp": "blis-openmp/libblis.so.4",
        "reference": "blas/libblas.so.3.11.0",
        "flexiblas": "libflexiblas.so.3.4",
        "nvpl_blas_lp64_gomp": "libnvpl_blas_lp64_gomp.so.0",
        "mkl": "libmkl_rt.so.2",
    }
    assert found["reference"].lapack == str(tree / "lapack/liblapack.so.3.11.0")
    assert not found["blis-openmp"].lapack


def test_plain_libblas_of_a_system(tmp_path: Path) -> None:
    for name in ("libblas.so.3.12", "liblapack.so.3.12"):
        (tmp_path / name).touch()
    blas, lapack = str(tmp_path / "libblas.so.3.12"), str(tmp_path / "liblapack.so.3.12")
    assert found_libraries([tmp_path]) == {"blas": LibraryFiles("blas", blas, lapack)}


@pytest.fixture
def only_the_tree(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine has nothing but what is in the tree."""
    everything = found_libraries
    monkeypatch.setattr(discovery, "found_libraries", lambda: everything([tree]))


@pytest.mark.usefixtures("only_the_tree")
def test_names_resolve_or_are_refused(tree: Path) -> None:
    assert library_files("blis") == library_files("blis-openmp")
    combined = library_files("reference+blis")
    assert combined.name == "reference+blis-openmp"
    assert (combined.lapack, combined.blas) == (
        library_files("reference").lapack,
        str(tree / "blis-openmp/libblis.so.4"),
    )
    assert combined.stand_in == library_files("reference").blas
    assert library_files("openblas") == library_files("openblas-pthread")
    with pytest.raises(LibraryError, match="no library 'openblas64' was found on this machine; pip install scipy-"):
        library_files("openblas64")
    with pytest.raises(LibraryError, match="no library 'atlas' was found on this machine; install the system's"):
        library_files("reference+atlas")
    for name in ("atlantis", "", "reference+", "atlantis+blis"):
        with pytest.raises(UsageError, match=r"unknown library .*; known: scipy, numpy, simulated, .*LAPACK\+BLAS"):
            library_files(name)


def test_paths(toys: dict[str, str], tmp_path: Path) -> None:
    link = tmp_path / "link.so"
    link.symlink_to(toys["first"])
    assert library_files(str(link)).blas == os.path.realpath(toys["first"])
    plus = tmp_path / "c++" / "libtoy.so"
    plus.parent.mkdir()
    plus.symlink_to(toys["first"])
    assert library_files(str(plus)).blas == os.path.realpath(toys["first"])
    with pytest.raises(LibraryError, match=r"no library at '/nowhere/libblas\.so'"):
        library_files("/nowhere/libblas.so")
    with pytest.raises(LibraryError, match="has no routine ilaver under any known prefix and suffix: not a LAPACK"):
        WorkerBackend(SetupRequest(f"{toys['first']}+{toys['second']}"))


def test_setups_of_older_stores_are_read(real: WorkerBackend) -> None:
    values = real.setup.to_json()
    for name in ("threading", "complex_results", "configuration", "lapack"):
        del values["library"][name]
    old = setup_from_json(values)
    assert old.library == replace(
        real.setup.library, complex_results="registers", threading="", configuration="", lapack=None
    )


# --- the reports


@pytest.fixture
def three(toys: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three libraries are found: SciPy's, one that ends its process, one that is none."""
    deadly = build(tmp_path, "deadly", "#include <stdlib.h>\n__attribute__((constructor)) void die() { abort(); }")
    text = tmp_path / "text.so"
    text.write_text("not a library")
    found = [library_files("scipy"), LibraryFiles("deadly", deadly), LibraryFiles("text", str(text))]
    monkeypatch.setattr(inventory, "found_libraries", lambda: {files.name: files for files in found})


@pytest.mark.usefixtures("three")
def test_a_library_that_cannot_be_opened_is_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["libraries"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert re.search(r"scipy +OpenBLAS +0\.3\.\d+ +\w+ +32 +scipy_dgemm_ +pthreads +\d+ +/\S+", out)
    assert re.search(r"deadly +–.*libdeadly\.so", out)
    assert "deadly cannot be used: opening deadly ended the worker: crashed (Aborted)." in out
    assert re.search(r"text cannot be used: cannot open \S+text\.so: .*(invalid ELF header|file too short)\.", out)
    assert run(["libraries", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["error"] is None for row in rows] == [True, False, False]
    assert rows[0]["library"]["integer_bits"] == 32
    assert {"s", "d"} <= set(rows[0]["kernels"]["gemm"])
    assert list(blascast.libraries().to_frame()["name"]) == ["scipy", "deadly", "text"]


def test_kernels_of_one_library(toys: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["libraries", toys["second"]]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^ syrk +no +yes", out, re.MULTILINE)
    assert re.search(r"^ gemm +no +no", out, re.MULTILINE)
    assert f"File: {os.path.realpath(toys['second'])}." in out
    assert "Integers: 32 bits. Threading: unknown." in out
    assert "Symbols: dgemm_. Values of complex functions: unknown." in out
    report = blascast.describe_library(toys["second"]).to_json()
    present = [(row["kernel"], row["dtype"]) for row in report["rows"] if row["present"]]
    assert present == [("copy", "d"), ("syrk", "d")]


def test_one_library_that_cannot_be_described(capsys: pytest.CaptureFixture[str]) -> None:
    for name, status, message in (
        ("simulated", 2, "a library with a file is needed, simulated has none"),
        ("atlantis", 2, "unknown library 'atlantis'"),
        ("libm.so.6", 1, "libm.so.6 has no routine dcopy under any known prefix and suffix: not a BLAS library?"),
    ):
        assert run(["libraries", name]) == status
        assert message in capsys.readouterr().err


def test_openmp_libraries_are_asked_through_their_runtime(tmp_path: Path) -> None:
    text = BLAS.replace("@", "") + "#include <omp.h>\nint threads(void) { return omp_get_max_threads(); }"
    try:
        library = build(tmp_path, "omp", text, "-DMARK=1", "-fopenmp")
    except subprocess.CalledProcessError:
        pytest.skip("the compiler has no OpenMP")
    assert inspect_library(library_files(library), []).library.threading == "OpenMP"
