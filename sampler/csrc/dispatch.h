/* Calls of Fortran routines by machine words.
 *
 * Fortran passes every argument by pointer and the lengths of character arguments as integers
 * behind them: all are machine words. Surplus words are ignored by the callee, because in the
 * calling conventions of x86-64 and aarch64 the caller cleans up; so a few widths serve all.
 *
 * Subroutines return nothing, functions in the integer or the floating-point registers. A complex
 * double is returned in two of the latter, and reading both never harms. */
#ifndef BLASCAST_DISPATCH_H
#define BLASCAST_DISPATCH_H

#include <complex.h>

#include "engine.h"

#define W4(n) w[n], w[n + 1], w[n + 2], w[n + 3]
#define W8(n) W4(n), W4(n + 4)
#define T4 uintptr_t, uintptr_t, uintptr_t, uintptr_t
#define T8 T4, T4

#define DISPATCH(name, value)                                                                              \
    static inline value name(void *routine, const uintptr_t *w, int word_count) {                         \
        switch ((word_count + 3) / 4) {                                                                   \
        case 0:                                                                                           \
        case 1: return ((value(*)(T4))routine)(W4(0));                                                    \
        case 2: return ((value(*)(T8))routine)(W8(0));                                                    \
        case 3: return ((value(*)(T8, T4))routine)(W8(0), W4(8));                                         \
        case 4: return ((value(*)(T8, T8))routine)(W8(0), W8(8));                                         \
        case 5: return ((value(*)(T8, T8, T4))routine)(W8(0), W8(8), W4(16));                             \
        case 6: return ((value(*)(T8, T8, T8))routine)(W8(0), W8(8), W8(16));                             \
        case 7: return ((value(*)(T8, T8, T8, T4))routine)(W8(0), W8(8), W8(16), W4(24));                 \
        case 8: return ((value(*)(T8, T8, T8, T8))routine)(W8(0), W8(8), W8(16), W8(24));                 \
        case 9: return ((value(*)(T8, T8, T8, T8, T4))routine)(W8(0), W8(8), W8(16), W8(24), W4(32));     \
        default: return ((value(*)(T8, T8, T8, T8, T8))routine)(W8(0), W8(8), W8(16), W8(24), W8(32));    \
        }                                                                                                 \
    }

DISPATCH(dispatch_integer, int64_t)
DISPATCH(dispatch_floating, double complex)

static inline int returns_floating(const bc_operation *operation) { return operation->returns >= BC_FLOAT; }

/* Puts what a function returned into its operand. */
void store_integer(const bc_operation *operation, int64_t value);
void store_floating(const bc_operation *operation, double complex value);

static inline void call(const bc_operation *operation) {
    if (returns_floating(operation)) {
        store_floating(operation, dispatch_floating(operation->routine, operation->words, operation->word_count));
    } else {
        store_integer(operation, dispatch_integer(operation->routine, operation->words, operation->word_count));
    }
}

#endif
