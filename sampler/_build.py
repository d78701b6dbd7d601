"""Build recipe of the C engine ``blascast.sampler._engine`` (run at build time only)."""

from pathlib import Path

from cffi import FFI
from setuptools.command.build_ext import build_ext

SOURCES = Path(__file__).parent / "csrc"


def emit_c_code() -> None:
    builder = FFI()
    builder.cdef((SOURCES / "engine.cdef.h").read_text())
    builder.set_source("blascast.sampler._engine", '#include "engine.h"')
    builder.emit_c_code(str(SOURCES / "_engine_cffi.c"))


class BuildEngine(build_ext):
    """``build_ext`` that first writes the cffi wrapper of the C engine."""

    def run(self) -> None:
        emit_c_code()
        super().run()
