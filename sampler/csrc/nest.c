/* Nested loops around calls, so that a tensor contraction of a million small calls runs at the library's speed.
 *
 * A loop advances the operands of the calls inside it by strides of its own: these are moves, of an
 * argument of a call (a word) or of the place of a function's result. It undoes them when it ends. */
#include "nest.h"

#include <stddef.h>

#include "clock.h"
#include "dispatch.h"

enum { MOVE_WORDS = 3, RESULT = -1 };

/* How many of the loops that add to one result are beyond their first iteration: none when it is new. */
typedef struct {
    const bc_operation *nest;
    int64_t visited;
} state;

static uintptr_t *moved(const state *s, const uintptr_t *move) {
    const bc_operation *step = s->nest + move[0];
    const int64_t word = (int64_t)move[1];
    return word == RESULT ? (uintptr_t *)&step->result : (uintptr_t *)&step->words[word];
}

static void advance(const state *s, const bc_operation *loop, int64_t iterations) {
    for (int32_t i = 0; i < loop->word_count; i += MOVE_WORDS) {
        *moved(s, &loop->words[i]) += (uintptr_t)((int64_t)loop->words[i + 2] * iterations);
    }
}

static void add(char *target, const char *value, int numbers) {
    switch (numbers) {
    case BC_FLOAT: *(float *)target += *(const float *)value; break;
    case BC_DOUBLE: *(double *)target += *(const double *)value; break;
    case BC_FLOAT_COMPLEX:
        ((float *)target)[0] += ((const float *)value)[0];
        ((float *)target)[1] += ((const float *)value)[1];
        break;
    case BC_DOUBLE_COMPLEX:
        ((double *)target)[0] += ((const double *)value)[0];
        ((double *)target)[1] += ((const double *)value)[1];
        break;
    default: break;
    }
}

/* A function's value is its result, or is added to it. */
static void step_of_function(const bc_operation *step, int is_new) {
    bc_operation once = *step;
    double value[2] = {0, 0};
    once.result = is_new ? step->result : (void *)value;
    if (step->hidden) {
        uintptr_t words[BC_MAX_WORDS];
        for (int32_t i = 0; i < 4 * ((step->word_count + 3) / 4); i++) {
            words[i] = step->words[i];
        }
        words[0] = (uintptr_t)once.result;
        dispatch_integer(step->routine, words, step->word_count);
    } else {
        call(&once);
    }
    if (!is_new) {
        add(step->result, (const char *)value, step->returns);
    }
}

static inline void run_step(const bc_operation *step, const state *s) {
    if (step->beta >= 0) { /* behind the words of the call: where 0 and 1 are */
        const uintptr_t *factors = &step->words[4 * ((step->word_count + 3) / 4)];
        ((uintptr_t *)step->words)[step->beta] = factors[s->visited > 0];
    }
    if (step->returns) {
        step_of_function(step, s->visited == 0);
    } else {
        dispatch_integer(step->routine, step->words, step->word_count);
    }
}

static void run_rows(const bc_operation *row, int64_t count, state *s);

static void run_loop(const bc_operation *loop, state *s) {
    const bc_operation *body = loop + 1;
    const int is_tight = loop->amount == 1 && body->kind == BC_STEP;
    for (int64_t i = 0; i < loop->columns; i++) {
        if (is_tight) {
            run_step(body, s);
        } else {
            run_rows(body, loop->amount, s);
        }
        s->visited += loop->adds && i == 0;
        advance(s, loop, 1);
    }
    s->visited -= loop->adds && loop->columns > 0;
    advance(s, loop, -loop->columns);
}

static void run_rows(const bc_operation *row, int64_t count, state *s) {
    for (int64_t i = 0; i < count; i++) {
        if (row[i].kind == BC_LOOP) {
            run_loop(&row[i], s);
            i += row[i].amount;
        } else {
            run_step(&row[i], s);
        }
    }
}

int nest_is_sound(const bc_operation *nest, int64_t rows_left) {
    if (nest->amount < 0 || nest->amount > rows_left) {
        return 0;
    }
    for (int64_t i = 1; i <= nest->amount; i++) {
        const bc_operation *row = &nest[i];
        if (row->kind == BC_STEP) {
            if (row->word_count > BC_MAX_WORDS || row->beta >= row->word_count) {
                return 0;
            }
        } else if (row->kind == BC_LOOP) {
            if (row->amount < 0 || i + row->amount > nest->amount || row->word_count % MOVE_WORDS) {
                return 0;
            }
            for (int32_t m = 0; m < row->word_count; m += MOVE_WORDS) {
                const uintptr_t step = row->words[m];
                if ((int64_t)step < 1 || (int64_t)step > nest->amount || nest[step].kind != BC_STEP) {
                    return 0;
                }
            }
        } else {
            return 0;
        }
    }
    return 1;
}

int64_t timed_nest(const bc_operation *nest) {
    state s = {.nest = nest, .visited = 0};
    const int64_t start = clock_start();
    run_rows(nest + 1, nest->amount, &s);
    return clock_stop() - start;
}
