/* Parallel regions: a team of threads, each pinned to a CPU, that sleeps between regions (a thread
 * that spun would disturb what is timed meanwhile) and starts each region at a common signal. */
#include "region.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "clock.h"
#include "dispatch.h"

enum { SPINS_BEFORE_YIELD = 1000 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int size; /* threads, the caller included */
    int64_t called; /* regions so far; guarded by lock, as are the next two */
    const bc_operation *region;
    int lanes;
    _Atomic int64_t started; /* the region that was last given its start */
    _Atomic int ready;
    _Atomic int finished;
} team = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .size = 1};

static void relax(int spin) {
    if (spin % SPINS_BEFORE_YIELD == 0) {
        sched_yield(); /* for when there are fewer CPUs than lanes */
    }
}

static void run_lane(const bc_operation *region, int lane) {
    for (const bc_operation *member = region + 1; member <= region + region->amount; member++) {
        if (member->lane == lane) {
            call(member);
        }
    }
}

static void *work(void *argument) {
    const int lane = (int)(intptr_t)argument;
    int64_t seen = 0;
    for (;;) {
        pthread_mutex_lock(&team.lock);
        while (team.called == seen) {
            pthread_cond_wait(&team.wake, &team.lock);
        }
        seen = team.called;
        const bc_operation *region = team.region;
        const int takes_part = lane < team.lanes;
        pthread_mutex_unlock(&team.lock);
        if (!takes_part) {
            continue;
        }
        atomic_fetch_add(&team.ready, 1);
        for (int spin = 1; atomic_load(&team.started) != seen; spin++) {
            relax(spin);
        }
        run_lane(region, lane);
        atomic_fetch_add(&team.finished, 1);
    }
    return NULL;
}

static int pin(pthread_t thread, int32_t cpu) {
#if defined(__linux__)
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return pthread_setaffinity_np(thread, sizeof set, &set);
#else
    (void)thread, (void)cpu;
    return 0;
#endif
}

int bc_team(const int32_t *cpus, int lanes) {
    int status = 0;
    for (; status == 0 && team.size < lanes && team.size < BC_MAX_LANES; team.size += status == 0) {
        pthread_t thread;
        status = pthread_create(&thread, NULL, work, (void *)(intptr_t)team.size);
        if (status == 0) {
            status = pin(thread, cpus[team.size]);
            pthread_detach(thread);
        }
    }
    return status;
}

int bc_team_size(void) { return team.size; }

static int lanes_of(const bc_operation *region) {
    int lanes = 1;
    for (const bc_operation *member = region + 1; member <= region + region->amount; member++) {
        lanes = member->lane >= lanes ? member->lane + 1 : lanes;
    }
    return lanes;
}

int64_t timed_region(const bc_operation *region) {
    const int lanes = lanes_of(region);
    pthread_mutex_lock(&team.lock);
    team.region = region;
    team.lanes = lanes;
    atomic_store(&team.ready, 0);
    atomic_store(&team.finished, 0);
    const int64_t number = ++team.called;
    pthread_cond_broadcast(&team.wake);
    pthread_mutex_unlock(&team.lock);
    for (int spin = 1; atomic_load(&team.ready) < lanes - 1; spin++) {
        relax(spin);
    }
    const int64_t start = clock_start();
    atomic_store(&team.started, number);
    run_lane(region, 0);
    for (int spin = 1; atomic_load(&team.finished) < lanes - 1; spin++) {
        relax(spin);
    }
    return clock_stop() - start;
}
