"""C source that overrides ILAENV, through which LAPACK asks for its block sizes."""

from collections.abc import Mapping, Sequence

from blascast.sampler.kernel import COMPLEX
from blascast.sampler.setup import Setup

_TEXT = """\
/* Block sizes for LAPACK, chosen by blascast for
 * {setup}.
 *
 *     cc -O2 -shared -fPIC -o libblocksizes.so FILE.c -ldl
 *     LD_PRELOAD=./libblocksizes.so PROGRAM
 *
 * takes the place of the ILAENV of a shared LAPACK that keeps to its interface (reference LAPACK as distributions
 * build it does, OpenBLAS has potrf, getrf, lauum and trtri of its own). What is not in the tables is asked of the
 * ILAENV that is overridden. Where blascast_blocksizes is set to 0, all is. The tables are for square matrices, lower
 * triangles and ITYPE 1; they are used for all others, too (by the smaller of two sizes).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef {integer} blascast_integer;
typedef struct {{
    blascast_integer up_to; /* the size */
    blascast_integer b;     /* 0: that of the ILAENV that is overridden */
}} blascast_step;
typedef blascast_integer blascast_ilaenv(const blascast_integer *, const char *, const char *,
                                         const blascast_integer *, const blascast_integer *,
                                         const blascast_integer *, const blascast_integer *, size_t, size_t);

int blascast_blocksizes = 1;

{tables}

static const struct {{
    const char *name;
    const blascast_step *steps;
    size_t count;
    blascast_integer from; /* the least size */
    int crossover; /* whether the block size is that, too */
}} TABLES[] = {{
{entries}
}};

static int is_routine(const char *name, size_t length, const char *wanted) {{
    size_t i;
    if (length < 6) {{
        return 0;
    }}
    for (i = 0; i < 6; i++) {{
        if ((name[i] & ~0x20) != wanted[i]) {{
            return 0;
        }}
    }}
    return 1;
}}

/* The function that this one takes the place of, also where LAPACK was loaded for the use of one caller alone. */
static blascast_ilaenv *overridden_by(void *caller) {{
    void *found = dlsym(RTLD_NEXT, "{symbol}");
    Dl_info where;
    if (found == NULL && dladdr(caller, &where)) {{
        void *library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        found = library == NULL ? NULL : dlsym(library, "{symbol}");
    }}
    return (blascast_ilaenv *)found;
}}

static blascast_integer block_size(const blascast_step *steps, size_t count, blascast_integer size) {{
    size_t i = 0;
    while (i + 1 < count && steps[i].up_to < size) {{
        i++;
    }}
    return steps[i].b;
}}

blascast_integer {symbol}(const blascast_integer *ispec, const char *name, const char *options,
                 const blascast_integer *n1, const blascast_integer *n2, const blascast_integer *n3,
                 const blascast_integer *n4, size_t name_length, size_t options_length) {{
    static blascast_ilaenv *overridden;
    size_t i;
    if (blascast_blocksizes && (*ispec == 1 || *ispec == 3)) {{
        const blascast_integer size = *n2 > 0 && *n2 < *n1 ? *n2 : *n1;
        for (i = 0; i < sizeof TABLES / sizeof TABLES[0]; i++) {{
            if (is_routine(name, name_length, TABLES[i].name) && (*ispec == 1 || TABLES[i].crossover) &&
                size >= TABLES[i].from && size <= TABLES[i].steps[TABLES[i].count - 1].up_to) {{
                const blascast_integer b = block_size(TABLES[i].steps, TABLES[i].count, size);
                if (b > 0) {{
                    return b;
                }}
            }}
        }}
    }}
    if (overridden == NULL) {{
        overridden = overridden_by(__builtin_return_address(0));
    }}
    return overridden == NULL ? 1
                              : overridden(ispec, name, options, n1, n2, n3, n4, name_length, options_length);
}}
"""


def override(tables: Mapping[str, Sequence[tuple[int, int, int]]], setup: Setup) -> str:
    """The source, for block sizes at some sizes, by routine.

    Parameters
    ----------
    tables : mapping
        By a routine's name without the letter of its type: for ranges of sizes, ascending, the first, the last, and
        the block size, 0 for LAPACK's own. Sizes between two ranges belong to the upper one; all others
        are left to LAPACK.
    setup : Setup
        What they are for; other data types are left to LAPACK, too.
    """
    named = {_routine(name, setup.dtype).upper(): steps for name, steps in tables.items()}
    wide = setup.library.integer_bits == 64
    arrays = [
        f"static const blascast_step {name.upper()}[] = {{{', '.join(f'{{{up_to}, {b}}}' for _, up_to, b in steps)}}};"
        for name, steps in named.items()
    ]
    entries = [
        f'    {{"{name}", {name}, sizeof {name} / sizeof {name}[0], {steps[0][0]}, {int(name.endswith("GEQRF"))}}},'
        for name, steps in named.items()
    ]
    return _TEXT.format(
        setup=str(setup).replace("*/", "* /"),
        integer="int64_t" if wide else "int32_t",
        symbol="ilaenv_64_" if wide else "ilaenv_",
        tables="\n".join(arrays),
        entries="\n".join(entries),
    )


def _routine(name: str, dtype: str) -> str:
    """A routine with the letter of its type; Hermitian matrices take the place of symmetric ones."""
    return dtype + (name.replace("sygst", "hegst") if dtype in COMPLEX else name)
