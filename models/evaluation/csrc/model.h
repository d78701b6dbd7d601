/* A model as tables. */
#ifndef BLASCAST_MODEL_H
#define BLASCAST_MODEL_H

#include <stdint.h>

enum { BLASCAST_MOST_SIZES = 16, BLASCAST_HIGHEST_POWER = 20, BLASCAST_STATISTICS = 5, BLASCAST_STEP = 8 };

/* Points whose size `dimension` is less than `cut` go on to child[0], others to child[1]: a node if it
 * is not negative, piece i if it is -2 - i, no piece if it is -1. */
typedef struct {
    int64_t cut;
    int32_t dimension;
    int32_t child[2];
} blascast_node;

typedef struct {
    int32_t sizes;
    int32_t monomials;
    int32_t degree;             /* the highest exponent */
    int32_t root;               /* where the search for a point's piece begins: as a child */
    const int64_t *lower;       /* sizes: all pieces are within these bounds, both included */
    const int64_t *upper;
    const blascast_node *nodes;
    const double *scales;       /* pieces x sizes: what sizes are divided by */
    const double *coefficients; /* pieces x monomials x statistics, seconds */
    const int32_t *exponents;   /* monomials x sizes */
    const double *padding;      /* sizes: of the way to the next multiple of 8, how much of it counts */
} blascast_model;

#endif
