/* The finest clock of the machine, read so that no instruction drifts across it. */
#ifndef BLASCAST_CLOCK_H
#define BLASCAST_CLOCK_H

#include <stdint.h>

#if defined(__x86_64__)

#include <x86intrin.h>

static inline int64_t clock_start(void) {
    _mm_lfence();
    const int64_t ticks = (int64_t)__rdtsc();
    _mm_lfence();
    return ticks;
}

static inline int64_t clock_stop(void) {
    unsigned int processor;
    const int64_t ticks = (int64_t)__rdtscp(&processor); /* waits for all earlier instructions */
    _mm_lfence();
    return ticks;
}

#elif defined(__aarch64__)

static inline int64_t clock_start(void) {
    int64_t ticks;
    __asm__ volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(ticks)::"memory");
    return ticks;
}

static inline int64_t clock_stop(void) { return clock_start(); }

#else

#include <time.h>

static inline int64_t clock_start(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t clock_stop(void) { return clock_start(); }

#endif
#endif
