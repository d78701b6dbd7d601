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

static double entry(int structure, int64_t rows, uint64_t seed, int64_t i, int64_t j) {
    if (structure == BC_SYMMETRIC_POSITIVE_DEFINITE) { /* dominant diagonal */
        return i == j ? (double)rows + 1.0 : uniform(seed, i < j ? i : j, i < j ? j : i);
    }
    if (structure == BC_TRIANGULAR) { /* both triangles are well-conditioned */
        return i == j ? 2.0 + 0.5 * uniform(seed, i, j) : uniform(seed, i, j) / (double)rows;
    }
    return uniform(seed, i, j);
}

void bc_fill(void *data, int structure, int itemsize, int64_t rows, int64_t columns, int64_t ld, uint64_t seed) {
    for (int64_t j = 0; j < columns; j++) {
        for (int64_t i = 0; i < rows; i++) {
            const int64_t at = i + j * ld;
            if (structure == BC_PIVOTS && itemsize == 8) {
                ((int64_t *)data)[at] = i + 1;
            } else if (structure == BC_PIVOTS) {
                ((int32_t *)data)[at] = (int32_t)(i + 1);
            } else if (itemsize == 8) {
                ((double *)data)[at] = entry(structure, rows, seed, i, j);
            } else {
                ((float *)data)[at] = (float)entry(structure, rows, seed, i, j);
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
