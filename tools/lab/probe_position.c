#include "probe_position.h"

#include <math.h>
#include <stdlib.h>

#include "base/status.h"
#include "linear_algebra.h"
#include "ridge.h"

enum { FOLDS = 4 };

/* Rows of ridge.h by fold. */
typedef struct rows {
    double *z;            /* [ends[FOLDS - 1], D + 2] */
    int32_t ends[FOLDS];  /* of each fold */
    double *grams[FOLDS]; /* [D + 2, D + 2] */
} rows;

/* One stack's states, and what is made of them. */
typedef struct regressions {
    const float *states;
    const int32_t *offsets;
    int32_t sentences, D, trained_length;
    rows seen;  /* sentences within the positions of training */
    rows later; /* what stands after these positions in longer ones */
    double *train, *solution, *scratch, *predicted;
} regressions;

/* Errors of predictions, summed. */
typedef struct errors {
    double squared, absolute;
    bool failed; /* no regression could be fitted */
} errors;

/* ---- rows ---- */

/* First row of sentence `s` that belongs to the set; none: its end. */
static int32_t first_row(const regressions *b, int32_t s, bool later)
{
    const int32_t first = b->offsets[s], end = b->offsets[s + 1], known = first + b->trained_length + 1;
    if (later) return known < end ? known : end;
    return end <= known ? first : end;
}

static void put_row(const regressions *b, int32_t row, int32_t position, double *z)
{
    const size_t D = (size_t)b->D;
    for (size_t d = 0; d < D; d++) z[d] = (double)b->states[(size_t)row * D + d];
    z[D] = 1;
    z[D + 1] = position;
}

/* Deals the set's sentences into folds. */
static void fill(const regressions *b, bool later, rows *set)
{
    const size_t n = (size_t)b->D + 2;
    int32_t count = 0;
    for (int fold = 0; fold < FOLDS; fold++) {
        const int32_t before = count;
        int32_t turn = 0;
        for (int32_t s = 0; s < b->sentences; s++) {
            const int32_t first = first_row(b, s, later);
            if (first == b->offsets[s + 1] || turn++ % FOLDS != fold) continue;
            for (int32_t row = first; row < b->offsets[s + 1]; row++)
                put_row(b, row, row - b->offsets[s], set->z + n * (size_t)count++);
        }
        set->ends[fold] = count;
        ferry_gram(set->z + n * (size_t)before, count - before, b->D + 2, set->grams[fold]);
    }
}

/* ---- regressions ---- */

/* A solution of all folds but `without` (-1: of all). */
static bool fit(regressions *b, const rows *set, int without)
{
    const size_t n = (size_t)b->D + 2;
    const int test = (without + 1) % FOLDS;
    for (size_t i = 0; i < n * n; i++) {
        b->train[i] = 0;
        for (int fold = 0; fold < FOLDS; fold++)
            if (fold != without && fold != test) b->train[i] += set->grams[fold][i];
    }
    return ferry_ridge_fit(b->train, set->grams[test], b->D, b->scratch, b->solution);
}

/* Adds the solution's errors in rows first … end - 1. */
static void predict(regressions *b, const rows *set, int32_t first, int32_t end, errors *e)
{
    const size_t n = (size_t)b->D + 2;
    const double *z = set->z + n * (size_t)first;
    ferry_multiply_vector(z, end - first, b->D + 2, b->solution, b->predicted);
    for (int32_t i = 0; i < end - first; i++) {
        const double error = b->predicted[i] - z[(size_t)i * n + n - 1];
        e->squared += error * error;
        e->absolute += fabs(error);
    }
}

/* Each fold by a regression on the others. */
static errors predict_by_folds(regressions *b, const rows *set)
{
    errors e = {0};
    for (int fold = 0; fold < FOLDS; fold++) {
        e.failed = e.failed || !fit(b, set, fold);
        if (!e.failed) predict(b, set, fold > 0 ? set->ends[fold - 1] : 0, set->ends[fold], &e);
    }
    return e;
}

static errors predict_later(regressions *b)
{
    errors e = {.failed = !fit(b, &b->seen, -1)};
    if (!e.failed) predict(b, &b->later, 0, b->later.ends[FOLDS - 1], &e);
    return e;
}

/* The sums of all folds, in b->train. */
static const double *add_folds(regressions *b, const rows *set)
{
    const size_t n = (size_t)b->D + 2;
    for (size_t i = 0; i < n * n; i++) {
        b->train[i] = 0;
        for (int fold = 0; fold < FOLDS; fold++) b->train[i] += set->grams[fold][i];
    }
    return b->train;
}

/* Against the mean position of `fitted`. */
static double r_squared(regressions *b, const rows *set, const rows *fitted, const errors *e)
{
    const size_t width = (size_t)b->D, count = (width + 2) * width + width, sum = count + 1; /* in a gram */
    const double mean = add_folds(b, fitted)[sum] / b->train[count];
    const double *sums = add_folds(b, set), offset = sums[sum] / sums[count] - mean;
    const double variation = ferry_ridge_variation(sums, b->D) + sums[count] * offset * offset;
    return e->failed || !(variation > 0) ? NAN : 1 - e->squared / variation;
}

static double mean_error(const rows *set, const errors *e)
{
    return e->failed || set->ends[FOLDS - 1] == 0 ? NAN : e->absolute / set->ends[FOLDS - 1];
}

/* ---- memory ---- */

static bool take_memory(ferry_arena *arena, regressions *b)
{
    const size_t n = (size_t)b->D + 2, count = (size_t)b->offsets[b->sentences];
    bool failed = false;
    b->seen.z = ferry_arena_take(arena, count * n, sizeof *b->seen.z, &failed); /* of both sets */
    for (int fold = 0; fold < FOLDS; fold++) {
        b->seen.grams[fold] = ferry_arena_take(arena, n * n, sizeof *b->seen.grams[fold], &failed);
        b->later.grams[fold] = ferry_arena_take(arena, n * n, sizeof *b->later.grams[fold], &failed);
    }
    b->train = ferry_arena_take(arena, n * n, sizeof *b->train, &failed);
    b->solution = ferry_arena_take(arena, n, sizeof *b->solution, &failed);
    b->scratch = ferry_arena_take(arena, ferry_ridge_scratch(b->D), sizeof *b->scratch, &failed);
    b->predicted = ferry_arena_take(arena, count, sizeof *b->predicted, &failed);
    return !failed;
}

ferry_status ferry_probe_position_measure(const float *states, const int32_t *offsets, int32_t sentences, int32_t D,
                                          int32_t trained_length, ferry_probe_position *position, ferry_error *error)
{
    ferry_arena arena = {0};
    regressions b = {
        .states = states, .offsets = offsets, .sentences = sentences, .D = D, .trained_length = trained_length};
    FERRY_TRY(ferry_linear_algebra_load(error));
    const bool taken = take_memory(&arena, &b);
    if (taken) {
        fill(&b, false, &b.seen);
        b.later.z = b.seen.z + (size_t)b.seen.ends[FOLDS - 1] * ((size_t)D + 2);
        fill(&b, true, &b.later);
        const errors seen = predict_by_folds(&b, &b.seen), beyond = predict_later(&b);
        const errors refit = predict_by_folds(&b, &b.later);
        *position = (ferry_probe_position){
            .seen = r_squared(&b, &b.seen, &b.seen, &seen),
            .beyond = r_squared(&b, &b.later, &b.seen, &beyond),
            .beyond_refit = r_squared(&b, &b.later, &b.later, &refit),
            .seen_error = mean_error(&b.seen, &seen),
            .beyond_error = mean_error(&b.later, &beyond),
        };
    }
    ferry_arena_destroy(&arena);
    return taken ? FERRY_OK
                 : ferry_fail_memory(error, "a regression", (size_t)offsets[sentences] * (size_t)D * sizeof(double));
}

ferry_status ferry_probe_positions(const ferry_probe_sentences *sentences, const ferry_probe_batch *all,
                                   ferry_inspect_stack stack, ferry_probe_position *positions, ferry_error *error)
{
    const int32_t D = sentences->sizes.d_model, *offsets = all->offsets[stack];
    float *states;
    ferry_status status = ferry_probe_states(sentences, all, stack, &states, error);
    for (int32_t layer = 0; status == FERRY_OK && layer <= sentences->layers[stack]; layer++)
        status = ferry_probe_position_measure(states + (size_t)layer * (size_t)offsets[all->count] * (size_t)D, offsets,
                                              all->count, D, sentences->trained_length, &positions[layer], error);
    free(states);
    return status;
}
