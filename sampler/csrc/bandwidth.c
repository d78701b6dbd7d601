/* Memory bandwidth by STREAM's triad (McCalpin 1995), a := b + s c, on pinned threads. Each thread
 * fills its own part first, so that its pages lie on its own NUMA node. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "clock.h"
#include "engine.h"

#pragma GCC optimize("tree-vectorize")

typedef struct {
    int threads, repetitions;
    int64_t elements; /* of one array of one thread */
    int complete;     /* all threads could be started */
    int64_t start, best;
    pthread_mutex_t gate; /* open when it is known whether the team is complete */
    pthread_barrier_t barrier;
} triad_team;

typedef struct {
    triad_team *team;
    int index, cpu;
    double *memory; /* a, b and c, one behind the other */
    pthread_t thread;
} triad_member;

static void pin(int cpu) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
}

static void triad(double *restrict a, const double *restrict b, const double *restrict c, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        a[i] = b[i] + 3.0 * c[i];
    }
}

/* One triad of all threads; the first thread keeps the time. */
static void run_together(triad_team *team, int first, double *a, double *b, double *c) {
    pthread_barrier_wait(&team->barrier);
    if (first) {
        team->start = clock_start();
    }
    triad(a, b, c, team->elements);
    pthread_barrier_wait(&team->barrier);
    if (first) {
        const int64_t ticks = clock_stop() - team->start;
        team->best = ticks < team->best ? ticks : team->best;
    }
}

static void *take_part(void *argument) {
    triad_member *self = argument;
    triad_team *team = self->team;
    pthread_mutex_lock(&team->gate);
    pthread_mutex_unlock(&team->gate);
    if (!team->complete) {
        return NULL;
    }
    pin(self->cpu);
    double *a = self->memory, *b = a + team->elements, *c = b + team->elements;
    for (int64_t i = 0; i < team->elements; i++) {
        a[i] = 0.0, b[i] = 1.0, c[i] = 2.0;
    }
    for (int repetition = 0; repetition < team->repetitions; repetition++) {
        run_together(team, self->index == 0, a, b, c);
    }
    return NULL;
}

/* Starts the members, lets them work if all are there, and waits for them. */
static void run_team(triad_team *team, triad_member *members) {
    int started = 0;
    pthread_mutex_lock(&team->gate);
    while (started < team->threads &&
           pthread_create(&members[started].thread, NULL, take_part, &members[started]) == 0) {
        started++;
    }
    team->complete = started == team->threads;
    pthread_mutex_unlock(&team->gate);
    for (int i = 0; i < started; i++) {
        pthread_join(members[i].thread, NULL);
    }
}

int64_t bc_triad_ticks(const int32_t *cpus, int threads, int64_t elements, int repetitions) {
    triad_team team = {.threads = threads, .repetitions = repetitions, .elements = elements, .best = INT64_MAX};
    triad_member *members = calloc((size_t)threads, sizeof *members);
    int enough = members != NULL;
    for (int i = 0; i < threads && enough; i++) {
        members[i] = (triad_member){.team = &team, .index = i, .cpu = cpus[i]};
        members[i].memory = bc_allocate(3 * elements * (int64_t)sizeof(double));
        enough = members[i].memory != NULL;
    }
    if (enough) {
        pthread_mutex_init(&team.gate, NULL);
        pthread_barrier_init(&team.barrier, NULL, (unsigned)threads);
        run_team(&team, members);
        pthread_barrier_destroy(&team.barrier);
        pthread_mutex_destroy(&team.gate);
    }
    for (int i = 0; members != NULL && i < threads; i++) {
        bc_release(members[i].memory);
    }
    free(members);
    return enough && team.complete ? team.best : -1;
}
