#include "clock.h"

#include <sched.h>
#include <time.h>

#include "engine.h"

int64_t bc_now(void) { return clock_start(); }

const char *bc_clock_name(void) {
#if defined(__x86_64__)
    return "rdtscp";
#elif defined(__aarch64__)
    return "cntvct_el0";
#else
    return "clock_gettime";
#endif
}

static double monotonic_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The tightest of many readings of both clocks: one that no interrupt fell into. */
static void read_both(double *seconds, int64_t *ticks) {
    int64_t tightest = INT64_MAX;
    for (int attempt = 0; attempt < 100; attempt++) {
        const int64_t before = clock_start();
        const double now = monotonic_seconds();
        const int64_t after = clock_stop();
        if (after - before < tightest) {
            tightest = after - before;
            *seconds = now;
            *ticks = before + (after - before) / 2;
        }
    }
}

double bc_ticks_per_second(double seconds) {
    double first_seconds = 0, last_seconds = 0;
    int64_t first_ticks = 0, last_ticks = 0;
    read_both(&first_seconds, &first_ticks);
    do {
        read_both(&last_seconds, &last_ticks);
    } while (last_seconds - first_seconds < seconds);
    return (double)(last_ticks - first_ticks) / (last_seconds - first_seconds);
}

int bc_cpu(void) {
#if defined(__linux__)
    return sched_getcpu();
#else
    return -1;
#endif
}

void bc_nothing(void) {}

void *bc_nothing_address(void) { return (void *)bc_nothing; }
