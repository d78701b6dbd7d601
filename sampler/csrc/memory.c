#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum { CACHE_LINE = 64, PAGE = 4096 };

void *bc_allocate(int64_t bytes) {
    void *memory = NULL;
    return posix_memalign(&memory, PAGE, (size_t)(bytes > 0 ? bytes : 1)) == 0 ? memory : NULL;
}

void bc_release(void *memory) { free(memory); }

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014) of a seed and two indices, mapped to [-1, 1). */
static double uniform(uint64_t seed, int64_t i, int64_t j) {
    uint64_t z = seed + 0x9e3779b97f4a7c15u * ((uint64_t)i * 0x100000001b3u + (uint64_t)j + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-52 - 1.0;
}

/* Of the real part if `part` is 0, else of the imaginary part. */
static double entry(int structure, int64_t rows, uint64_t seed, int64_t i, int64_t j, int part) {
    const uint64_t own = seed + (part ? 0x5851f42d4c957f2du : 0);
    const double any = uniform(own, i, j);
    const double real = part ? 0.0 : 1.0;
    switch (structure) {
    case BC_POSITIVE_DEFINITE: /* dominant diagonal; Hermitian */
        if (i == j) {
            return real * 2.0 * ((double)rows + 1.0);
        }
        return (part && i > j ? -1.0 : 1.0) * uniform(own, i < j ? i : j, i < j ? j : i);
    case BC_TRIANGULAR: /* both triangles are well-conditioned; the diagonal is real, as that of a Cholesky factor */
        return i == j ? real * (2.0 + 0.5 * any) : any / (double)rows;
    case BC_REFLECTORS: return any / (double)rows;
    case BC_SCHUR:
    case BC_SHIFTED_SCHUR:
        if (i == j) {
            return real * (structure == BC_SCHUR ? 2.0 : 7.0) + 0.5 * any;
        }
        return i < j ? any / (double)rows : 0.0;
    case BC_PACKED_TRIANGULAR: /* about 1 everywhere: the inverse has two diagonals */
        return real + 1e-3 * any / (double)rows;
    case BC_MODIFIED_ROTATION: return i == 0 ? 0.0 : any; /* the flag 0: a unit diagonal */
    default: return any;
    }
}

/* Pivots: row i is swapped with an earlier one, so any number of them fits any matrix. */
static int64_t pivot(uint64_t seed, int64_t i) {
    return 1 + (int64_t)((double)(i + 1) * 0.5 * (uniform(seed, i, 0) + 1.0));
}

void bc_fill(void *data, int structure, int numbers, int64_t rows, int64_t columns, int64_t ld, uint64_t seed) {
    for (int64_t j = 0; j < columns; j++) {
        for (int64_t i = 0; i < rows; i++) {
            const int64_t at = i + j * ld;
            switch (numbers) {
            case BC_INT32: ((int32_t *)data)[at] = (int32_t)pivot(seed, i); break;
            case BC_INT64: ((int64_t *)data)[at] = pivot(seed, i); break;
            case BC_FLOAT: ((float *)data)[at] = (float)entry(structure, rows, seed, i, j, 0); break;
            case BC_DOUBLE: ((double *)data)[at] = entry(structure, rows, seed, i, j, 0); break;
            case BC_FLOAT_COMPLEX:
                ((float *)data)[2 * at] = (float)entry(structure, rows, seed, i, j, 0);
                ((float *)data)[2 * at + 1] = (float)entry(structure, rows, seed, i, j, 1);
                break;
            default:
                ((double *)data)[2 * at] = entry(structure, rows, seed, i, j, 0);
                ((double *)data)[2 * at + 1] = entry(structure, rows, seed, i, j, 1);
            }
        }
    }
}

void bc_copy(char *target, const char *source, int64_t column_bytes, int64_t columns, int64_t stride_bytes) {
    for (int64_t j = 0; j < columns; j++) {
        memcpy(target + j * stride_bytes, source + j * stride_bytes, (size_t)column_bytes);
    }
}

void bc_touch(const char *target, int64_t column_bytes, int64_t columns, int64_t stride_bytes) {
    static volatile char sink;
    char sum = 0;
    for (int64_t j = 0; j < columns; j++) {
        for (int64_t i = 0; i < column_bytes; i += CACHE_LINE) {
            sum ^= *(const volatile char *)(target + j * stride_bytes + i);
        }
    }
    sink = sum;
}

#if defined(__x86_64__)
#include <x86intrin.h>
static void flush_line(const char *address) { _mm_clflush(address); }
static void flush_end(void) { _mm_mfence(); }
#elif defined(__aarch64__)
static void flush_line(const char *address) { __asm__ volatile("dc civac, %0" ::"r"(address) : "memory"); }
static void flush_end(void) { __asm__ volatile("dsb sy" ::: "memory"); }
#endif

int bc_flush(const char *target, int64_t column_bytes, int64_t columns, int64_t stride_bytes) {
#if defined(__x86_64__) || defined(__aarch64__)
    for (int64_t j = 0; j < columns; j++) {
        const char *column = target + j * stride_bytes;
        const char *line = (const char *)((uintptr_t)column & ~(uintptr_t)(CACHE_LINE - 1));
        for (; line < column + column_bytes; line += CACHE_LINE) {
            flush_line(line);
        }
    }
    flush_end();
    return BC_OK;
#else
    (void)target, (void)column_bytes, (void)columns, (void)stride_bytes;
    return BC_NO_FLUSH;
#endif
}
