"""Build recipe of the C extensions (run at build time only).

An extension whose sources include ``csrc/_NAME_cffi.c`` is wrapped by cffi: that file is written here,
after ``csrc/NAME.h``, which declares what Python sees.
"""

import re
from pathlib import Path

from cffi import FFI
from setuptools.command.build_ext import build_ext

WRAPPER = re.compile(r"_(\w+)_cffi\.c")
INCLUDE = re.compile(r'^#include "(.+)"$', re.MULTILINE)
DIRECTIVE = re.compile(r"^#.*$", re.MULTILINE)


def emit_wrapper(module: str, wrapper: Path) -> None:
    header = wrapper.with_name(WRAPPER.fullmatch(wrapper.name)[1] + ".h")
    builder = FFI()
    builder.cdef(declarations(header))
    builder.set_source(module, f'#include "{header.name}"')
    builder.emit_c_code(str(wrapper))


def declarations(header: Path) -> str:
    """The text of a header and of those beside it that it includes, without directives: cffi knows none."""
    text = INCLUDE.sub(lambda include: declarations(header.with_name(include[1])), header.read_text())
    return DIRECTIVE.sub("", text)


class BuildExtensions(build_ext):
    """``build_ext`` that first writes the cffi wrappers."""

    def run(self) -> None:
        for extension in self.extensions:
            for source in map(Path, extension.sources):
                if WRAPPER.fullmatch(source.name):
                    emit_wrapper(extension.name, source)
        super().run()
