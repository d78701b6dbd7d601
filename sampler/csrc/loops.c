/* What LAPACK and libflame, and tensor contractions, do in loops of their own, with Fortran's interface: for each type of numbers, and
 * for integers of 32 and 64 bits. */
#include <complex.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

/* A := A - W^H, A of m x n, in the order of dlarfb's loop. */
#define SUBT(name, number, integer, conjugate)                                                             \
    static void name(const integer *m, const integer *n, number *a, const integer *lda, const number *w,  \
                     const integer *ldw) {                                                                 \
        for (integer i = 0; i < *m; i++) {                                                                 \
            for (integer j = 0; j < *n; j++) {                                                             \
                a[i + (ptrdiff_t)j * *lda] -= conjugate(w[j + (ptrdiff_t)i * *ldw]);                                             \
            }                                                                                              \
        }                                                                                                  \
    }

/* A := L and U with L U = A, A of n x n, without pivoting: right-looking. */
#define GETF2NP(name, number, integer)                                                                     \
    static void name(const integer *n, number *a, const integer *lda) {                                   \
        for (integer k = 0; k < *n; k++) {                                                                 \
            const number *pivots = a + (ptrdiff_t)k * *lda;                                                           \
            const number inverse = 1 / pivots[k];                                                          \
            for (integer i = k + 1; i < *n; i++) {                                                         \
                a[i + (ptrdiff_t)k * *lda] *= inverse;                                                                \
            }                                                                                              \
            for (integer j = k + 1; j < *n; j++) {                                                         \
                number *column = a + (ptrdiff_t)j * *lda;                                                             \
                const number factor = column[k];                                                           \
                for (integer i = k + 1; i < *n; i++) {                                                     \
                    column[i] -= pivots[i] * factor;                                                       \
                }                                                                                          \
            }                                                                                              \
        }                                                                                                  \
    }

/* A := 0, A of m x n. */
#define ZERO(name, number, integer)                                                                        \
    static void name(const integer *m, const integer *n, number *a, const integer *lda) {                 \
        for (integer j = 0; j < *n; j++) {                                                                 \
            memset(a + (ptrdiff_t)j * *lda, 0, (size_t)*m * sizeof(number));                                          \
        }                                                                                                  \
    }

/* B := A^T, A of m x n: tile by tile, so that both stay in the cache. */
enum { TILE = 16 };
#define TRANSPOSE(name, number, integer)                                                                   \
    static void name(const integer *m, const integer *n, const number *a, const integer *lda, number *b,  \
                     const integer *ldb) {                                                                 \
        for (integer i0 = 0; i0 < *m; i0 += TILE) {                                                        \
            const integer i1 = i0 + TILE < *m ? i0 + TILE : *m;                                            \
            for (integer j0 = 0; j0 < *n; j0 += TILE) {                                                    \
                const integer j1 = j0 + TILE < *n ? j0 + TILE : *n;                                        \
                for (integer i = i0; i < i1; i++) {                                                        \
                    for (integer j = j0; j < j1; j++) {                                                    \
                        b[j + (ptrdiff_t)i * *ldb] = a[i + (ptrdiff_t)j * *lda];                                                 \
                    }                                                                                      \
                }                                                                                          \
            }                                                                                              \
        }                                                                                                  \
    }

/* ipiv := ipiv + k. */
#define SHIFT(name, integer)                                                                               \
    static void name(const integer *n, const integer *k, integer *ipiv) {                                 \
        for (integer i = 0; i < *n; i++) {                                                                 \
            ipiv[i] += *k;                                                                                 \
        }                                                                                                  \
    }

#define REAL(x) (x)
#define ALL(integer, bits)                                                                                 \
    SUBT(ssubt_##bits, float, integer, REAL)                                                               \
    SUBT(dsubt_##bits, double, integer, REAL)                                                              \
    SUBT(csubt_##bits, float complex, integer, conjf)                                                      \
    SUBT(zsubt_##bits, double complex, integer, conj)                                                      \
    GETF2NP(sgetf2np_##bits, float, integer)                                                               \
    GETF2NP(dgetf2np_##bits, double, integer)                                                              \
    GETF2NP(cgetf2np_##bits, float complex, integer)                                                       \
    GETF2NP(zgetf2np_##bits, double complex, integer)                                                      \
    ZERO(szero_##bits, float, integer)                                                                     \
    ZERO(dzero_##bits, double, integer)                                                                    \
    ZERO(czero_##bits, float complex, integer)                                                             \
    ZERO(zzero_##bits, double complex, integer)                                                            \
    TRANSPOSE(stranspose_##bits, float, integer)                                                           \
    TRANSPOSE(dtranspose_##bits, double, integer)                                                          \
    TRANSPOSE(ctranspose_##bits, float complex, integer)                                                   \
    TRANSPOSE(ztranspose_##bits, double complex, integer)                                                  \
    SHIFT(shift_##bits, integer)

ALL(int32_t, 32)
ALL(int64_t, 64)

#define ENTRY(name) {"blascast_" #name, {(void *)name##_32, (void *)name##_64}}
#define SHIFT_ENTRY(type) {"blascast_" #type "shift", {(void *)shift_32, (void *)shift_64}}

static const struct {
    const char *name;
    void *routines[2];
} LOOPS[] = {
    ENTRY(ssubt),    ENTRY(dsubt),    ENTRY(csubt),    ENTRY(zsubt),
    ENTRY(sgetf2np), ENTRY(dgetf2np), ENTRY(cgetf2np), ENTRY(zgetf2np),
    ENTRY(szero),      ENTRY(dzero),      ENTRY(czero),      ENTRY(zzero),
    ENTRY(stranspose), ENTRY(dtranspose), ENTRY(ctranspose), ENTRY(ztranspose),
    SHIFT_ENTRY(s),  SHIFT_ENTRY(d),  SHIFT_ENTRY(c),  SHIFT_ENTRY(z),
};

void *bc_loop(const char *name, int integer_bits) {
    for (size_t i = 0; i < sizeof LOOPS / sizeof LOOPS[0]; i++) {
        if (strcmp(LOOPS[i].name, name) == 0) {
            return LOOPS[i].routines[integer_bits == 64];
        }
    }
    return NULL;
}
