/* Probes touch no memory, so they neither feel nor change what is cached.
 *
 * Each runs in chunks and reports the median chunk, scaled: a processor that changes its frequency
 * (as some do a few microseconds after wide vector code) halts for about a microsecond. That one halt
 * says nothing about the loops, and all the more about the vector code before and after: its time is
 * reported apart. The probe is long enough to see it come. */
#define _GNU_SOURCE /* sched_getcpu */
#include <sys/resource.h>

#include "clock.h"
#include "engine.h"

enum { CHUNKS = 11, BRANCHES = 1000, STEPS = 60, CHAINS = 4 };

static int64_t scaled_median(int64_t *ticks) {
    for (int i = 1; i < CHUNKS; i++) { /* insertion sort */
        for (int j = i; j > 0 && ticks[j - 1] > ticks[j]; j--) {
            const int64_t larger = ticks[j - 1];
            ticks[j - 1] = ticks[j];
            ticks[j] = larger;
        }
    }
    return CHUNKS * ticks[CHUNKS / 2];
}

/* Decrement and branch: loses up to half its speed when a neighbour shares the core. */
static int64_t branch_ticks(void) {
    const int64_t start = clock_start();
    for (int count = BRANCHES; count > 0; count--) {
        __asm__ volatile("" : "+r"(count));
    }
    return clock_stop() - start;
}

/* Few independent chains of multiplications and additions: bound by their latency, which a
 * neighbour does not lengthen, so they see the clock frequency alone. The values converge to 2. */
static int64_t arithmetic_ticks(void) {
    static volatile double sink;
    double chain[CHAINS] = {1, 1, 1, 1};
    const int64_t start = clock_start();
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < CHAINS; i++) {
            chain[i] = chain[i] * 0.5 + 1.0;
        }
    }
    sink = chain[0] + chain[1] + chain[2] + chain[3];
    return clock_stop() - start;
}

void bc_probe(int64_t *branch, int64_t *arithmetic, int64_t *halt) {
    const int64_t start = bc_now();
    int64_t branches[CHUNKS], arithmetics[CHUNKS];
    for (int chunk = 0; chunk < CHUNKS; chunk++) { /* in turns, so that both run at one frequency */
        branches[chunk] = branch_ticks();
        arithmetics[chunk] = arithmetic_ticks();
    }
    const int64_t total = bc_now() - start;
    *branch = scaled_median(branches);
    *arithmetic = scaled_median(arithmetics);
    const int64_t rest = total - *branch - *arithmetic; /* less than none, where most chunks were slow */
    *halt = rest > 0 ? rest : 0;
}

void bc_usage(int64_t *switches, int64_t *faults) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage); /* one of the library's threads that is disturbed delays the call as well */
    *switches = usage.ru_nivcsw;
    *faults = usage.ru_minflt + usage.ru_majflt;
}
