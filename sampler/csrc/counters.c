/* Counters of the calling thread: events of the processor by Linux's perf_event_open, and what the
 * operating system counts for every process. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "engine.h"

#if defined(__linux__)
#include <linux/perf_event.h>
#include <sys/syscall.h>
#endif

static struct {
    int count;
    int32_t types[BC_MAX_COUNTERS];
    int descriptors[BC_MAX_COUNTERS];
} counters;

static void close_all(void) {
    for (int i = 0; i < counters.count; i++) {
        if (counters.types[i] >= 0) {
            close(counters.descriptors[i]);
        }
    }
    counters.count = 0;
}

/* Opens an event for this thread, in the group of `leader` unless that is -1. */
static int open_event(int32_t type, int64_t config, int leader, int pinned) {
#if defined(__linux__)
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = (uint32_t)type;
    attributes.config = (uint64_t)config;
    attributes.pinned = pinned && leader == -1; /* all the time, or the counter reads nothing */
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
#else
    (void)type, (void)config, (void)leader, (void)pinned;
    errno = ENOSYS;
    return -1;
#endif
}

/* Value, time enabled, time running; whether the counter could be read. */
static int read_event(int descriptor, int64_t readings[3]) {
    return read(descriptor, readings, 3 * sizeof *readings) == 3 * (ssize_t)sizeof *readings;
}

int bc_counters_open(const int32_t *types, const int64_t *configs, int count, int multiplex, int *failed) {
    int leader = -1;
    close_all();
    for (int i = 0; i < count && i < BC_MAX_COUNTERS; i++) {
        *failed = i;
        if (types[i] >= 0) {
            int64_t readings[3];
            const int descriptor = open_event(types[i], configs[i], multiplex ? -1 : leader, !multiplex);
            if (descriptor < 0) {
                return errno;
            }
            counters.descriptors[i] = descriptor;
            leader = leader == -1 ? descriptor : leader;
            counters.types[i] = types[i];
            counters.count = i + 1;
            if (!read_event(descriptor, readings)) {
                return ENOSPC; /* the processor has not enough counters to count all at once */
            }
        } else {
            counters.types[i] = types[i];
            counters.count = i + 1;
        }
    }
    return 0;
}

int bc_counter_count(void) { return counters.count; }

static int64_t task_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* An event that had to take turns is scaled to the whole time. */
static int64_t read_scaled(int descriptor) {
    int64_t readings[3];
    if (!read_event(descriptor, readings) || readings[2] == 0) {
        return 0;
    }
    return (int64_t)((double)readings[0] * ((double)readings[1] / (double)readings[2]));
}

static int64_t migrations(void) {
    static int64_t seen, last = -1;
    const int64_t now = bc_cpu();
    seen += last != -1 && now != last;
    last = now;
    return seen;
}

void bc_counters_read(int64_t *values) {
    struct rusage usage;
#ifdef RUSAGE_THREAD
    getrusage(RUSAGE_THREAD, &usage);
#else
    getrusage(RUSAGE_SELF, &usage);
#endif
    for (int i = 0; i < counters.count; i++) {
        switch (counters.types[i]) {
        case BC_PAGE_FAULTS: values[i] = usage.ru_minflt + usage.ru_majflt; break;
        case BC_CONTEXT_SWITCHES: values[i] = usage.ru_nvcsw + usage.ru_nivcsw; break;
        case BC_MIGRATIONS: values[i] = migrations(); break;
        case BC_TASK_CLOCK: values[i] = task_clock(); break;
        default: values[i] = read_scaled(counters.descriptors[i]);
        }
    }
}

double bc_counters_share(int counter) {
    int64_t readings[3];
    if (counters.types[counter] < 0) {
        return 1.0;
    }
    if (!read_event(counters.descriptors[counter], readings) || readings[1] == 0) {
        return 0.0;
    }
    return (double)readings[2] / (double)readings[1];
}
