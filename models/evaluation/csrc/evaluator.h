/* The evaluator's interface: read by cffi. Rows of sizes have `width` entries, of which a model reads its
 * own; call i is of the model cases[i], or of the first model if `cases` is NULL. */
#ifndef BLASCAST_EVALUATOR_H
#define BLASCAST_EVALUATOR_H

#include "model.h"

typedef struct {
    blascast_model model;
    int64_t pieces;
    const int64_t *bounds; /* pieces x 2 x sizes: lower and upper bounds, both included */
    const double *errors;  /* pieces x 2: of the median, relative, at multiples of 8 and elsewhere */
} bc_model;

/* Statistics, errors and pieces of calls. Those of no piece get the piece -1 and nothing else: how many there are. */
int64_t bc_evaluate(const bc_model *models, const int64_t *cases, const int64_t *sizes, int64_t width, int64_t count,
                    double *statistics, double *errors, int64_t *pieces);

/* Pieces alone. */
void bc_locate(const bc_model *models, const int64_t *cases, const int64_t *sizes, int64_t width, int64_t count,
               int64_t *pieces);

/* Moves each point to the nearest point of the nearest piece (the first, if several are): the one with the least sum
 * of |log(size / moved size)|. Sizes must be positive. */
void bc_clamp(const bc_model *models, const int64_t *cases, int64_t *sizes, int64_t width, int64_t count);

#endif
