#include "clock.h"
#include "engine.h"

/* Fortran passes every argument by pointer and the lengths of character arguments as integers
 * behind them: all are machine words. Surplus words are ignored by the callee, because in the
 * calling conventions of x86-64 and aarch64 the caller cleans up; so a few widths serve all. */
#define W4(n) w[n], w[n + 1], w[n + 2], w[n + 3]
#define W8(n) W4(n), W4(n + 4)
#define T4 uintptr_t, uintptr_t, uintptr_t, uintptr_t
#define T8 T4, T4

typedef void (*routine_4)(T4);
typedef void (*routine_8)(T8);
typedef void (*routine_12)(T8, T4);
typedef void (*routine_16)(T8, T8);
typedef void (*routine_20)(T8, T8, T4);
typedef void (*routine_24)(T8, T8, T8);
typedef void (*routine_32)(T8, T8, T8, T8);
typedef void (*routine_40)(T8, T8, T8, T8, T8);

/* `w` has room for BC_MAX_WORDS words. */
static inline void dispatch(void *routine, const uintptr_t *w, int word_count) {
    switch ((word_count + 3) / 4) {
    case 0:
    case 1: ((routine_4)routine)(W4(0)); break;
    case 2: ((routine_8)routine)(W8(0)); break;
    case 3: ((routine_12)routine)(W8(0), W4(8)); break;
    case 4: ((routine_16)routine)(W8(0), W8(8)); break;
    case 5: ((routine_20)routine)(W8(0), W8(8), W4(16)); break;
    case 6: ((routine_24)routine)(W8(0), W8(8), W8(16)); break;
    case 7:
    case 8: ((routine_32)routine)(W8(0), W8(8), W8(16), W8(24)); break;
    default: ((routine_40)routine)(W8(0), W8(8), W8(16), W8(24), W8(32)); break;
    }
}

int bc_call(void *routine, const uintptr_t *words, int word_count) {
    if (word_count > BC_MAX_WORDS) {
        return BC_TOO_MANY_WORDS;
    }
    dispatch(routine, words, word_count);
    return BC_OK;
}

static int64_t timed(const bc_operation *operation) {
    const int64_t start = clock_start();
    dispatch(operation->routine, operation->words, operation->word_count);
    return clock_stop() - start;
}

static int check(const bc_operation *operations, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        if (operations[i].kind < BC_CALL || operations[i].kind > BC_PROBE) {
            return BC_UNKNOWN_OPERATION;
        }
        if (operations[i].kind <= BC_TIMED_CALL && operations[i].word_count > BC_MAX_WORDS) {
            return BC_TOO_MANY_WORDS;
        }
    }
    return BC_OK;
}

static int run_one(const bc_operation *operation, bc_record *record, int64_t *last_probe) {
    const int64_t bytes = operation->column_bytes, columns = operation->columns, stride = operation->stride_bytes;
    switch (operation->kind) {
    case BC_CALL: dispatch(operation->routine, operation->words, operation->word_count); break;
    case BC_TIMED_CALL: record->ticks = timed(operation); break;
    case BC_COPY: bc_copy(operation->target, operation->source, bytes, columns, stride); break;
    case BC_TOUCH: bc_touch(operation->target, bytes, columns, stride); break;
    case BC_FLUSH: return bc_flush(operation->target, bytes, columns, stride);
    default:
        if (record->start - *last_probe >= operation->minimum_gap_ticks) {
            bc_usage(&record->switches, &record->faults, &record->cpu);
            bc_probe(&record->ticks, &record->clock, &record->halt);
            *last_probe = bc_now();
        }
    }
    return BC_OK;
}

int bc_run(const bc_operation *operations, int64_t count, bc_record *records, int64_t *current) {
    int status = check(operations, count);
    const bc_record nothing = {.ticks = -1, .clock = -1, .halt = -1, .switches = -1, .faults = -1, .cpu = -1};
    int64_t last_probe = INT64_MIN / 2;
    for (int64_t i = 0; i < count && status == BC_OK; i++) {
        *(volatile int64_t *)current = i;
        records[i] = nothing;
        records[i].start = bc_now();
        status = run_one(&operations[i], &records[i], &last_probe);
    }
    if (status == BC_OK) {
        *(volatile int64_t *)current = count;
    }
    return status;
}
