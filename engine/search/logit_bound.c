#include "output_columns.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/system.h"

/* ---- the coarse matrix ---- */

enum { TOGETHER = 64 }; /* panels, after which it is seen whether to stop */

static double norm(const float *x, int32_t K)
{
    double sum = 0;
    for (int32_t k = 0; k < K; k++) sum += (double)x[k] * (double)x[k];
    return sqrt(sum);
}

static double larger(double a, double b)
{
    return a < b || isnan(b) ? b : a; /* a NaN stays: the margin is then useless */
}

/* The square of any larger float does not underflow. */
#define LOST_SQUARE 0x1p-70

/* |w| of sixteen rows of W, a panel [K][16]. */
static void measure_panel(const float *panel, size_t K, double *norms)
{
    enum { CHUNK = 64 }; /* float sums of so many err by less than the margin's slack */
    memset(norms, 0, FERRY_LANES * sizeof *norms);
    for (size_t k = 0; k < K; k += CHUNK) {
        float sums[FERRY_LANES] = {0};
        for (size_t at = k; at < K && at < k + CHUNK; at++)
            for (size_t l = 0; l < FERRY_LANES; l++) {
                const float w = panel[at * FERRY_LANES + l];
                sums[l] += w * w;
            }
        for (size_t l = 0; l < FERRY_LANES; l++) norms[l] += (double)sums[l];
    }
    for (size_t l = 0; l < FERRY_LANES; l++) norms[l] = sqrt(norms[l]) + sqrt((double)K) * LOST_SQUARE;
}

/* A panel of Ŵ: [⌈K/4⌉][16][4] codes and 16 scales, or nibbles. */
typedef struct coarse_panel {
    void *weights;
    float *scales;
} coarse_panel;

static size_t coarse_size(const ferry_matrix *exact, int32_t N)
{
    return exact->kind == FERRY_MATRIX_CODES ? ferry_nibbles_size(N, exact->K) : ferry_codes_size(N, exact->K);
}

/* Ŵ: W with other weights and scales. */
static void set_coarse(ferry_logit_bound *bound, const void *weights, const float *scales)
{
    const bool codes = bound->exact->kind == FERRY_MATRIX_CODES;
    ferry_matrix *coarse = &bound->coarse;
    *coarse = *bound->exact;
    coarse->kind = codes ? FERRY_MATRIX_NIBBLES : FERRY_MATRIX_CODES;
    coarse->weights = weights;
    coarse->nibbles_error = nextafterf((float)bound->error, INFINITY);
    if (!codes || coarse->scales != NULL) coarse->scales = scales;
}

/* A row of zeros has exact products, whatever its scale: with a scale of 0 its margin is one, too. */
static void coarsen_codes(ferry_logit_bound *bound, size_t p, coarse_panel to)
{
    const ferry_matrix *exact = bound->exact;
    const size_t first = p * FERRY_LANES;
    ferry_nibbles_error error;
    ferry_nibbles_from_panel(exact->codes + p * ferry_codes_size(FERRY_LANES, exact->K), exact->K, to.weights, &error);
    for (size_t l = 0; l < FERRY_LANES && first + l < (size_t)exact->N; l++) {
        const float scale = exact->scales == NULL ? 1 / exact->multiplier : error.any[l] ? exact->scales[first + l] : 0;
        to.scales[l] = scale;
        bound->norm = larger(bound->norm, 127 * sqrt((double)exact->K) * (double)scale);
        bound->error = larger(bound->error, sqrt((double)error.squares[l]));
    }
}

static void coarsen_floats(ferry_logit_bound *bound, size_t p, coarse_panel to)
{
    const size_t K = (size_t)bound->exact->K;
    const float *panel = bound->exact->panels + p * K * FERRY_LANES;
    double norms[FERRY_LANES];
    ferry_codes_from_panel(panel, bound->exact->K, to.weights, to.scales);
    measure_panel(panel, K, norms);
    for (size_t l = 0; l < FERRY_LANES; l++) {
        bound->norm = larger(bound->norm, norms[l]);
        bound->error = larger(bound->error, sqrt((double)K) * (double)to.scales[l] / 2);
    }
}

/* Panel p of Ŵ; between some of them, it can be stopped. */
static ferry_status coarsen(ferry_logit_bound *bound, const ferry_context *context, size_t p, coarse_panel to,
                            ferry_error *error)
{
    if (p % TOGETHER == 0) FERRY_TRY(ferry_context_check(context, error));
    if (bound->exact->kind == FERRY_MATRIX_CODES)
        coarsen_codes(bound, p, to);
    else
        coarsen_floats(bound, p, to);
    return FERRY_OK;
}

/* Memory of its own. */
static ferry_status take(ferry_logit_bound *bound, const ferry_context *context, size_t bytes, ferry_error *error)
{
    if (!ferry_account_take(context->arena.account, bytes))
        return ferry_fail_memory(error, "a coarse output matrix", bytes);
    bound->account = context->arena.account;
    bound->bytes = bytes;
    bound->memory = ferry_aligned_alloc(64, bytes);
    return bound->memory != NULL ? FERRY_OK : ferry_fail_memory(error, "a coarse output matrix", bytes);
}

static void give(ferry_logit_bound *bound)
{
    ferry_aligned_free(bound->memory);
    ferry_account_give(bound->account, bound->bytes);
    bound->memory = NULL;
    bound->bytes = 0;
}

/* Whether `stored` is what would be made of W; measures W on the way. */
static ferry_status compare(ferry_logit_bound *bound, ferry_context *context, const ferry_matrix *stored, bool *same,
                            ferry_error *error)
{
    const ferry_matrix *exact = bound->exact;
    const size_t bytes = coarse_size(exact, FERRY_LANES);
    const unsigned char *weights = stored->weights;
    float panel_scales[FERRY_LANES], *scales = bound->memory;
    const ferry_arena_mark mark = ferry_arena_begin(&context->arena);
    void *panel = ferry_arena_alloc(&context->arena, bytes, 1);
    if (panel == NULL) return ferry_fail_memory(error, "a panel of a matrix", bytes);
    ferry_status status = FERRY_OK;
    *same = true;
    for (size_t p = 0, n = 0; *same && p < ferry_matrix_panels(exact); p++, n += FERRY_LANES) {
        const size_t left = (size_t)exact->N - n, rows = left < FERRY_LANES ? left : FERRY_LANES;
        const coarse_panel to = {panel, scales != NULL ? scales + n : panel_scales};
        status = coarsen(bound, context, p, to, error);
        if (status != FERRY_OK) break;
        *same = memcmp(panel, weights + p * bytes, bytes) == 0 &&
                (exact->kind == FERRY_MATRIX_CODES ||
                 memcmp(panel_scales, stored->scales + n, rows * sizeof *panel_scales) == 0);
    }
    ferry_arena_end(&context->arena, mark);
    return status;
}

static size_t scales_size(const ferry_matrix *exact)
{
    return ferry_matrix_panels(exact) * FERRY_LANES * sizeof(float);
}

/* In memory. */
static ferry_status make(ferry_logit_bound *bound, const ferry_context *context, ferry_error *error)
{
    const ferry_matrix *exact = bound->exact;
    const size_t bytes = coarse_size(exact, exact->N), panel_bytes = coarse_size(exact, FERRY_LANES);
    FERRY_TRY(take(bound, context, bytes + scales_size(exact), error));
    unsigned char *weights = bound->memory;
    float *scales = (float *)(void *)(weights + bytes);
    for (size_t p = 0; p < ferry_matrix_panels(exact); p++)
        FERRY_TRY(
            coarsen(bound, context, p, (coarse_panel){weights + p * panel_bytes, scales + p * FERRY_LANES}, error));
    set_coarse(bound, weights, scales);
    return FERRY_OK;
}

/* The file's, if it is right: then it needs no memory, but for the scales of codes. */
static ferry_status find_coarse(ferry_logit_bound *bound, ferry_context *context, const ferry_matrix *stored,
                                ferry_error *error)
{
    bool same = false;
    if (stored->weights == NULL) return make(bound, context, error);
    if (bound->exact->kind == FERRY_MATRIX_CODES) FERRY_TRY(take(bound, context, scales_size(bound->exact), error));
    FERRY_TRY(compare(bound, context, stored, &same, error));
    if (same) {
        set_coarse(bound, stored->weights, bound->memory != NULL ? bound->memory : stored->scales);
        return FERRY_OK;
    }
    give(bound);
    return make(bound, context, error);
}

ferry_status ferry_logit_bound_create(const ferry_matrix *exact, const ferry_matrix *stored, ferry_context *context,
                                      ferry_logit_bound *bound, ferry_error *error)
{
    *bound = (ferry_logit_bound){.exact = exact};
    for (int32_t n = 0; exact->bias != NULL && n < exact->N; n++)
        bound->bias = larger(bound->bias, fabs((double)exact->bias[n]));
    const ferry_status status = find_coarse(bound, context, stored, error);
    if (status != FERRY_OK) ferry_logit_bound_destroy(bound);
    return status;
}

void ferry_logit_bound_destroy(ferry_logit_bound *bound)
{
    give(bound);
    memset(bound, 0, sizeof *bound);
}

/* ---- the exact logits ---- */

double ferry_logit_bound_margin(const ferry_logit_bound *bound, const float *x, const ferry_rows_i8 *inputs,
                                int32_t row)
{
    const double unit = 0x1p-24, K = bound->exact->K, factor = (double)inputs->factors[row];
    const double slack = 1 + 1e-4;     /* x·a is rounded before it becomes an integer, and so were the norms */
    const double underflow = 0x1p-119; /* K·127² times half of the least float, and more */
    const double delta = sqrt(K) / (2 * factor), size = norm(x, bound->exact->K) + delta;
    const double most = size * bound->norm + bound->bias;
    /* The factors would be too small or too large, or logits too large. */
    if (!(factor < 1e20 && factor > 1e-30 && most < 1e30)) return INFINITY;
    if (bound->exact->kind == FERRY_MATRIX_CODES) return 0;
    /* A chain of K products and additions errs by K + 1 roundings of Σ|x·w| at most (Higham, Accuracy and Stability of
     * Numerical Algorithms, 2002, section 3.1), the coarse product by five. */
    return slack * (size * bound->error + delta * bound->norm + 2 * (K + 8) * unit * most) + underflow;
}

/* The largest logit so far. */
typedef struct best {
    ferry_context *context;
    const ferry_matrix *exact;
    const ferry_logit_bound_rules *rules;
    ferry_inputs inputs;
    int32_t column;
    float logit;
} best;

/* Computes a panel's logits exactly. */
static ferry_status choose(best *b, int32_t p, ferry_error *error)
{
    float values[FERRY_LANES];
    const int32_t left = b->exact->N - p * FERRY_LANES;
    const ferry_matrix columns =
        ferry_matrix_columns(b->exact, p * FERRY_LANES, left < FERRY_LANES ? left : FERRY_LANES);
    const size_t bytes = ferry_panel_bytes(&columns);
    for (size_t at = 0; at < bytes; at += 64)
        __builtin_prefetch((const char *)columns.weights + at, 0, 2); /* near the core */
    const ferry_logits panel = {.values = values, .ld = FERRY_LANES, .count = columns.N, .first = p * FERRY_LANES};
    FERRY_TRY(ferry_inputs_multiply(b->context, values, &b->inputs, &columns, error));
    b->rules->mask(b->rules->user, &panel);
    for (int32_t l = 0; l < panel.count; l++) {
        const int32_t n = panel.first + l;
        if (!(values[l] > b->logit || (values[l] == b->logit && n < b->column))) continue;
        b->logit = values[l];
        b->column = n;
    }
    return FERRY_OK;
}

/* The first panel from p on whose exact logits can reach the best one; `panels` if there is none. */
static int32_t next_panel(const best *b, const float *maxima, int32_t p, int32_t panels, double margin)
{
    const float least = nextafterf((float)((double)b->logit - margin), -INFINITY);
    for (; p + FERRY_LANES <= panels; p += FERRY_LANES) {
        int32_t any = 0;
        for (int32_t l = 0; l < FERRY_LANES; l++) any |= maxima[p + l] > least;
        if (any != 0) break;
    }
    while (p < panels && !(maxima[p] > least)) p++;
    return p;
}

/* Begins with the panel that seems to have the largest, after which few others can. */
ferry_status ferry_logit_bound_resolve(const ferry_logit_bound *bound, ferry_context *context, const float *x,
                                       double margin, float *maxima, const ferry_logit_bound_rules *rules,
                                       int32_t *column, float *logit, ferry_error *error)
{
    const int32_t panels = (int32_t)ferry_matrix_panels(bound->exact), first = context->kernels->argmax(maxima, panels);
    const ferry_arena_mark mark = ferry_arena_begin(&context->arena);
    best b = {.context = context, .exact = bound->exact, .rules = rules, .column = -1, .logit = -INFINITY};
    FERRY_TRY(ferry_inputs_prepare(context, &(ferry_rows){.x = x, .count = 1}, bound->exact, &b.inputs, error));
    assert(first >= 0); /* there is no NaN */
    FERRY_TRY(choose(&b, first, error));
    maxima[first] = -INFINITY;
    for (int32_t p = next_panel(&b, maxima, 0, panels, margin); p < panels;
         p = next_panel(&b, maxima, p + 1, panels, margin))
        FERRY_TRY(choose(&b, p, error));
    ferry_arena_end(&context->arena, mark);
    *column = b.column;
    *logit = b.logit;
    return FERRY_OK;
}
