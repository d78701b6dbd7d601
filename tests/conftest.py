"""Fixtures: a store of its own for every test, the real engine, the simulated machine."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from blascast.sampler.host.backend import WorkerBackend
from blascast.sampler.setup import SetupRequest
from blascast.sampler.simulated import QUIET, SimulatedBackend

settings.register_profile("untimed", deadline=None)  # the machine may be shared
settings.load_profile("untimed")

TOY = r"""
#include <stdlib.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <signal.h>
#include <unistd.h>
#include <sys/mman.h>
#ifndef INTEGER
#define INTEGER int32_t
#endif
#define NAME_(routine, suffix) routine##suffix
#define NAME__(routine, suffix) NAME_(routine, suffix)
#define NAME(routine) NAME__(routine, SUFFIX)
void NAME(dcopy)(INTEGER *n, double *x, INTEGER *incx, double *y, INTEGER *incy) {
    for (INTEGER i = 0; i < *n; i++) y[i * *incy] = x[i * *incx];
}
void NAME(dsegv)(INTEGER *n, double *a, INTEGER *lda) { *(volatile int *)8 = 1; }
void NAME(dabort)(INTEGER *n, double *a, INTEGER *lda) { abort(); }
void NAME(dexit)(INTEGER *n, double *a, INTEGER *lda) {
    fprintf(stderr, " ** On entry to DEXIT parameter number 1 had an illegal value\n");
    exit(0);
}
void NAME(dgrumble)(INTEGER *n, double *a, INTEGER *lda) {
    fprintf(stderr, " ** On entry to DGRUMBLE parameter number 3 had an illegal value\n");
}
void NAME(dhang)(INTEGER *n, double *a, INTEGER *lda) { for (;;) { volatile int x = 0; (void)x; } }
void NAME(dkilled)(INTEGER *n, double *a, INTEGER *lda) { raise(SIGKILL); }
void NAME(dfill)(INTEGER *n, double *a, INTEGER *lda) {
    for (INTEGER j = 0; j < *n; j++) for (INTEGER i = 0; i < *n; i++) a[i + j * *lda] = 7.0;
}
/* Returns only while two threads are in it. */
void NAME(dmeet)(INTEGER *n, double *a, INTEGER *lda) {
    static volatile int inside;
    __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&inside, __ATOMIC_SEQ_CST) < 2);
    sleep(1);
    __atomic_store_n(&inside, 0, __ATOMIC_SEQ_CST);
}
/* Crashes when it is called for the third time in a process. */
void NAME(dthird)(INTEGER *n, double *a, INTEGER *lda) { static int calls; if (++calls == 3) abort(); }
/* Notes every call in a file, a byte each, and takes 2 ms. */
void NAME(dtick)(INTEGER *n, double *a, INTEGER *lda) {
    FILE *file = fopen(getenv("TOY_CALLS"), "a");
    usleep(2000);
    fputc('.', file);
    fclose(file);
}
/* Touches 64 new pages. */
void NAME(dfault)(INTEGER *n, double *a, INTEGER *lda) {
    char *pages = mmap(NULL, 64 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 64; i++) pages[i * 4096] = 1;
    munmap(pages, 64 * 4096);
}
/* Links the cache lines of an operand to a ring in an order that no prefetcher foresees, and walks along it. */
void NAME(dring)(INTEGER *n, double *a, INTEGER *lda) {
    long lines = (long)*n * *lda / 8, at = 0;
    for (long i = 0; i < lines; i++) {
        long next = (5 * at + 3) % lines;  /* a full period for a power of two */
        *(double **)(a + 8 * at) = a + 8 * next;
        at = next;
    }
}
void NAME(dchase)(INTEGER *n, double *a, INTEGER *lda) {
    double *at = a;
    for (long i = (long)*n * *lda / 8; i > 0; i--) at = *(double **)at;
    *(double *volatile *)(a + 1) = at;
}
/* 24 arguments: 3 flags, 18 sizes, an operand, its leading dimension, info; then 3 hidden lengths */
void NAME(dmany)(char *f1, char *f2, char *f3,
    INTEGER *a1, INTEGER *a2, INTEGER *a3, INTEGER *a4, INTEGER *a5, INTEGER *a6, INTEGER *a7, INTEGER *a8, INTEGER *a9,
    INTEGER *b1, INTEGER *b2, INTEGER *b3, INTEGER *b4, INTEGER *b5, INTEGER *b6, INTEGER *b7, INTEGER *b8, INTEGER *b9,
    double *x, INTEGER *ldx, INTEGER *info, size_t l1, size_t l2, size_t l3) {
    x[0] = *a1 + 2 * *a2 + 3 * *a3 + 4 * *a9 + 5 * *b1 + 6 * *b9 + *ldx + 100 * (l1 + l2 + l3)
        + (*f1 == 'A') + 10 * (*f3 == 'C');
    *info = 0;
}
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a store of its own."""
    monkeypatch.setenv("BLASCAST_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="session")
def real() -> Iterator[WorkerBackend]:
    """The OpenBLAS of SciPy's wheel, double precision, one thread."""
    backend = WorkerBackend(SetupRequest())
    yield backend
    backend.close()


@pytest.fixture(scope="session")
def backend_of(real: WorkerBackend) -> Iterator[Callable[[str], WorkerBackend]]:
    """The OpenBLAS of SciPy's wheel for a data type, one thread; opened once each."""
    opened = {"d": real}

    def open_once(dtype: str) -> WorkerBackend:
        if dtype not in opened:
            opened[dtype] = WorkerBackend(SetupRequest(dtype=dtype))
        return opened[dtype]

    yield open_once
    for dtype in opened.keys() - {"d"}:
        opened[dtype].close()


@pytest.fixture
def quiet() -> SimulatedBackend:
    """The simulated machine without disturbances."""
    return SimulatedBackend(disturbances=QUIET)


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Builds a small library whose routines misbehave; its path."""

    def build(suffix: str = "_", integer: str = "int32_t") -> str:
        folder = tmp_path_factory.mktemp("toy")
        (folder / "toy.c").write_text(TOY)
        library = folder / "libtoy.so"
        options = ["-shared", "-fPIC", "-w", f"-DSUFFIX={suffix}", f"-DINTEGER={integer}"]
        subprocess.run(["cc", *options, "-o", str(library), str(folder / "toy.c")], check=True)
        return str(library)

    return build
