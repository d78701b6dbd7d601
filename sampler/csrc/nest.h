/* Nested loops around calls, interpreted: see engine.cdef.h, BC_NEST. */
#ifndef BLASCAST_NEST_H
#define BLASCAST_NEST_H

#include "engine.h"

/* Whether the rows of a nest are loops and steps, each inside the loop that it belongs to. */
int nest_is_sound(const bc_operation *nest, int64_t rows_left);

/* Runs a nest; its duration in ticks. Afterwards its words are as before. */
int64_t timed_nest(const bc_operation *nest);

#endif
