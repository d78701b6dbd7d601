/* Evaluates kernel models: piecewise polynomials of the statistics of a run time.
 *
 * blascast runs this text, and exports it with models: both compute the same, in the same order. A
 * compiler that fuses multiplications with additions rounds less often; -ffp-contract=off forbids it. */
#ifndef BLASCAST_EVALUATE_H
#define BLASCAST_EVALUATE_H

#include <math.h>

#include "model.h"

enum { BLASCAST_MIN, BLASCAST_MEDIAN, BLASCAST_MEAN, BLASCAST_MAX, BLASCAST_STD };

static inline double blascast_smaller(double a, double b) { return a < b ? a : b; }
static inline double blascast_larger(double a, double b) { return a > b ? a : b; }

/* The first piece that contains a point, -1 if none does. */
static inline int32_t blascast_piece(const blascast_model *model, const int64_t *sizes) {
    int32_t at = model->root;
    for (int32_t i = 0; i < model->sizes; i++) {
        if (sizes[i] < model->lower[i] || sizes[i] > model->upper[i]) {
            return -1;
        }
    }
    while (at >= 0) {
        const blascast_node *node = &model->nodes[at];
        at = node->child[sizes[node->dimension] >= node->cut];
    }
    return -2 - at;
}

/* A size counts as itself and part of what pads it to a multiple of 8. */
static inline double blascast_padded(int64_t size, double padding) {
    const int64_t missing = (BLASCAST_STEP - size % BLASCAST_STEP) % BLASCAST_STEP;
    return (double)size + padding * (double)missing;
}

/* Powers 0 to `degree` of each size, scaled as a piece's polynomials have it. */
static inline void blascast_powers(const blascast_model *model, int32_t piece, const int64_t *sizes,
                                   double powers[][BLASCAST_HIGHEST_POWER + 1]) {
    const double *scales = model->scales + (int64_t)piece * model->sizes;
    for (int32_t i = 0; i < model->sizes; i++) {
        const double scaled = blascast_padded(sizes[i], model->padding[i]) / scales[i];
        double power = 1.0;
        for (int32_t k = 0; k <= model->degree; k++) {
            powers[i][k] = power;
            power *= scaled;
        }
    }
}

static inline double blascast_monomial(const int32_t *exponents, int32_t sizes,
                                       double powers[][BLASCAST_HIGHEST_POWER + 1]) {
    double product = powers[0][exponents[0]];
    for (int32_t i = 1; i < sizes; i++) {
        product *= powers[i][exponents[i]];
    }
    return product;
}

static inline const double *blascast_coefficients(const blascast_model *model, int32_t piece) {
    return model->coefficients + (int64_t)piece * model->monomials * BLASCAST_STATISTICS;
}

/* A polynomial may dip below zero between its points; times do not. */
static inline double blascast_positive(double seconds) {
    const double least = 1e-3 * (seconds < 0.0 ? -seconds : seconds) + 1e-12;
    return blascast_larger(seconds, least);
}

/* Independent polynomials may cross by a hair; the statistics do not. */
static inline void blascast_order(const double *sums, double *statistics) {
    const double median = blascast_positive(sums[BLASCAST_MEDIAN]);
    const double min = blascast_smaller(blascast_larger(sums[BLASCAST_MIN], 1e-3 * median), median);
    const double max = blascast_larger(sums[BLASCAST_MAX], median);
    statistics[BLASCAST_MIN] = min;
    statistics[BLASCAST_MEDIAN] = median;
    statistics[BLASCAST_MEAN] = blascast_smaller(blascast_larger(sums[BLASCAST_MEAN], min), max);
    statistics[BLASCAST_MAX] = max;
    statistics[BLASCAST_STD] = blascast_larger(sums[BLASCAST_STD], 0.0);
}

/* Minimum, median, mean, maximum and standard deviation in seconds, and the piece that tells them; -1, and none of
 * them, where no piece does. */
static inline int32_t blascast_statistics(const blascast_model *model, const int64_t *sizes, double *statistics) {
    const int32_t piece = blascast_piece(model, sizes);
    if (piece >= 0) {
        const double *coefficients = blascast_coefficients(model, piece);
        double powers[BLASCAST_MOST_SIZES][BLASCAST_HIGHEST_POWER + 1];
        double sums[BLASCAST_STATISTICS] = {0.0, 0.0, 0.0, 0.0, 0.0};
        blascast_powers(model, piece, sizes, powers);
        for (int32_t j = 0; j < model->monomials; j++) {
            const double monomial = blascast_monomial(model->exponents + j * model->sizes, model->sizes, powers);
            for (int s = 0; s < BLASCAST_STATISTICS; s++) {
                sums[s] += monomial * coefficients[j * BLASCAST_STATISTICS + s];
            }
        }
        blascast_order(sums, statistics);
    }
    return piece;
}

/* The median alone, in seconds; not a number where no piece tells it. */
static inline double blascast_median(const blascast_model *model, const int64_t *sizes) {
    const int32_t piece = blascast_piece(model, sizes);
    double median = NAN;
    if (piece >= 0) {
        const double *coefficients = blascast_coefficients(model, piece);
        double powers[BLASCAST_MOST_SIZES][BLASCAST_HIGHEST_POWER + 1];
        double sum = 0.0;
        blascast_powers(model, piece, sizes, powers);
        for (int32_t j = 0; j < model->monomials; j++) {
            const double monomial = blascast_monomial(model->exponents + j * model->sizes, model->sizes, powers);
            sum += monomial * coefficients[j * BLASCAST_STATISTICS + BLASCAST_MEDIAN];
        }
        median = blascast_positive(sum);
    }
    return median;
}

#endif
