#include "evaluator.h"

#include "evaluate.h"

static const bc_model *model_of(const bc_model *models, const int64_t *cases, int64_t call) {
    return &models[cases ? cases[call] : 0];
}

static int off_steps(const blascast_model *model, const int64_t *sizes) {
    for (int32_t i = 0; i < model->sizes; i++) {
        if (sizes[i] % BLASCAST_STEP != 0) {
            return 1;
        }
    }
    return 0;
}

int64_t bc_evaluate(const bc_model *models, const int64_t *cases, const int64_t *sizes, int64_t width, int64_t count,
                    double *statistics, double *errors, int64_t *pieces) {
    int64_t outside = 0;
    for (int64_t call = 0; call < count; call++) {
        const bc_model *asked = model_of(models, cases, call);
        const int32_t piece = blascast_statistics(&asked->model, sizes, statistics);
        pieces[call] = piece;
        if (piece < 0) {
            outside++;
        } else {
            errors[call] = asked->errors[2 * piece + off_steps(&asked->model, sizes)];
        }
        sizes += width;
        statistics += BLASCAST_STATISTICS;
    }
    return outside;
}

void bc_locate(const bc_model *models, const int64_t *cases, const int64_t *sizes, int64_t width, int64_t count,
               int64_t *pieces) {
    for (int64_t call = 0; call < count; call++) {
        pieces[call] = blascast_piece(&model_of(models, cases, call)->model, sizes);
        sizes += width;
    }
}

static int64_t clamped(int64_t size, int64_t lower, int64_t upper) {
    return size < lower ? lower : size > upper ? upper : size;
}

/* The exponential of the sum of |log(size / clamped size)|, which is as good to compare. */
static double distance(const int64_t *sizes, const int64_t *lower, const int64_t *upper, int32_t count) {
    double product = 1.0;
    for (int32_t i = 0; i < count; i++) {
        const double size = (double)sizes[i], nearest = (double)clamped(sizes[i], lower[i], upper[i]);
        product *= size > nearest ? size / nearest : nearest / size;
    }
    return product;
}

void bc_clamp(const bc_model *models, const int64_t *cases, int64_t *sizes, int64_t width, int64_t count) {
    for (int64_t call = 0; call < count; call++) {
        const bc_model *asked = model_of(models, cases, call);
        const int32_t own = asked->model.sizes;
        const int64_t *nearest = asked->bounds;
        double least = INFINITY;
        for (int64_t piece = 0; piece < asked->pieces; piece++) {
            const int64_t *bounds = asked->bounds + 2 * own * piece;
            const double away = distance(sizes, bounds, bounds + own, own);
            if (away < least) {
                least = away;
                nearest = bounds;
            }
        }
        for (int32_t i = 0; i < own; i++) {
            sizes[i] = clamped(sizes[i], nearest[i], nearest[own + i]);
        }
        sizes += width;
    }
}
