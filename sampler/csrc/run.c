#include "clock.h"
#include "dispatch.h"
#include "nest.h"
#include "region.h"

static int64_t timed_call(const bc_operation *operation) {
    if (returns_floating(operation)) {
        const int64_t start = clock_start();
        const double complex value =
            dispatch_floating(operation->routine, operation->words, operation->word_count);
        const int64_t stop = clock_stop();
        store_floating(operation, value);
        return stop - start;
    }
    const int64_t start = clock_start();
    const int64_t value = dispatch_integer(operation->routine, operation->words, operation->word_count);
    const int64_t stop = clock_stop();
    store_integer(operation, value);
    return stop - start;
}

static int check(const bc_operation *operations, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const bc_operation *operation = &operations[i];
        if (operation->kind < BC_CALL || operation->kind > BC_STEP) {
            return BC_UNKNOWN_OPERATION;
        }
        if (operation->kind == BC_REGION && operation->amount > count - 1 - i) {
            return BC_UNKNOWN_OPERATION;
        }
        if (operation->kind == BC_NEST && !nest_is_sound(operation, count - 1 - i)) {
            return BC_UNKNOWN_OPERATION;
        }
        if (operation->word_count > BC_MAX_WORDS && operation->kind != BC_LOOP) {
            return BC_TOO_MANY_WORDS;
        }
        if (operation->kind == BC_MEMBER && operation->lane >= bc_team_size()) {
            return BC_TOO_FEW_LANES;
        }
    }
    return BC_OK;
}

static void probe(bc_record *record) {
    bc_usage(&record->switches, &record->faults);
    record->cpu = bc_cpu();
    bc_probe(&record->ticks, &record->clock, &record->halt);
}

static int run_one(const bc_operation *operation, bc_record *record, int64_t *last_probe) {
    const int64_t bytes = operation->column_bytes, columns = operation->columns, stride = operation->stride_bytes;
    switch (operation->kind) {
    case BC_CALL: call(operation); break;
    case BC_TIMED_CALL: record->ticks = timed_call(operation); break;
    case BC_COPY: bc_copy(operation->target, operation->source, bytes, columns, stride); break;
    case BC_TOUCH: bc_touch(operation->target, bytes, columns, stride); break;
    case BC_FLUSH: return bc_flush(operation->target, bytes, columns, stride);
    case BC_REGION: record->ticks = timed_region(operation); break;
    case BC_NEST: record->ticks = timed_nest(operation); break;
    case BC_MEMBER: case BC_LOOP: case BC_STEP: break; /* their region or nest ran them */
    default:
        if (record->start - *last_probe >= operation->amount) {
            probe(record);
            *last_probe = bc_now();
        }
    }
    return BC_OK;
}

/* Reads the counters about an operation: what they hold afterwards less what they held before. */
static int run_counted(const bc_operation *operation, bc_record *record, int64_t *last_probe, int64_t *counters) {
    int64_t before[BC_MAX_COUNTERS];
    bc_counters_read(before);
    const int status = run_one(operation, record, last_probe);
    bc_counters_read(counters);
    for (int i = 0; i < bc_counter_count(); i++) {
        counters[i] -= before[i];
    }
    return status;
}

static int is_timed(const bc_operation *operation) {
    return operation->kind == BC_TIMED_CALL || operation->kind == BC_REGION || operation->kind == BC_NEST;
}

int bc_run(const bc_operation *operations, int64_t count, bc_record *records, int64_t *counters, int64_t *current) {
    int status = check(operations, count);
    const bc_record nothing = {.ticks = -1, .clock = -1, .halt = -1, .switches = -1, .faults = -1, .cpu = -1};
    int64_t last_probe = INT64_MIN / 2;
    for (int64_t i = 0; i < count && status == BC_OK; i++) {
        *(volatile int64_t *)current = i;
        records[i] = nothing;
        records[i].start = bc_now();
        if (counters != NULL && is_timed(&operations[i])) {
            status = run_counted(&operations[i], &records[i], &last_probe, &counters[i * bc_counter_count()]);
        } else {
            status = run_one(&operations[i], &records[i], &last_probe);
        }
    }
    if (status == BC_OK) {
        *(volatile int64_t *)current = count;
    }
    return status;
}
