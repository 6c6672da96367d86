#include "screen.h"

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
    return a < b || isnan(b) ? b : a; /* a NaN stays: the bound is then useless */
}

/* The square of any larger float does not underflow. */
#define LOST_SQUARE 0x1p-70

/* |w| of sixteen rows of W, a panel [K][16]. */
static void measure_panel(const float *panel, size_t K, double *norms)
{
    enum { CHUNK = 64 }; /* float sums of so many err by less than the bound's slack */
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

static size_t count_panels(const ferry_matrix *matrix)
{
    return ((size_t)matrix->N + FERRY_LANES - 1) / FERRY_LANES;
}

/* Panel p of W into codes [⌈K/4⌉][16][4] and scales [16]; between some of them, it can be stopped. */
static ferry_status quantize_panel(ferry_screen *screen, const ferry_context *context, size_t p, int8_t *codes,
                                   float *scales, ferry_error *error)
{
    const size_t K = (size_t)screen->exact->K;
    const float *panel = screen->exact->panels + p * K * FERRY_LANES;
    double norms[FERRY_LANES];
    if (p % TOGETHER == 0) FERRY_TRY(ferry_context_check(context, error));
    ferry_codes_from_panel(panel, screen->exact->K, codes, scales);
    measure_panel(panel, K, norms);
    for (size_t l = 0; l < FERRY_LANES; l++) {
        screen->norm = larger(screen->norm, norms[l]);
        screen->scale = larger(screen->scale, (double)scales[l]);
    }
    return FERRY_OK;
}

/* Whether `stored` is what would be made of W; measures W on the way. */
static ferry_status compare(ferry_screen *screen, ferry_context *context, const ferry_matrix *stored, bool *same,
                            ferry_error *error)
{
    const ferry_matrix *exact = screen->exact;
    const size_t bytes = ferry_codes_size(FERRY_LANES, exact->K);
    const ferry_arena_mark mark = ferry_arena_begin(&context->arena);
    int8_t *codes = ferry_arena_alloc(&context->arena, bytes, 1);
    if (codes == NULL) return ferry_fail_memory(error, "a panel of a matrix", bytes);
    ferry_status status = FERRY_OK;
    *same = true;
    for (size_t p = 0, n = 0; *same && p < count_panels(exact); p++, n += FERRY_LANES) {
        const size_t left = (size_t)exact->N - n, rows = left < FERRY_LANES ? left : FERRY_LANES;
        float scales[FERRY_LANES];
        status = quantize_panel(screen, context, p, codes, scales, error);
        if (status != FERRY_OK) break;
        *same = memcmp(codes, stored->codes + p * bytes, bytes) == 0 &&
                memcmp(scales, stored->scales + n, rows * sizeof *scales) == 0;
    }
    ferry_arena_end(&context->arena, mark);
    return status;
}

/* In memory. */
static ferry_status make(ferry_screen *screen, const ferry_context *context, ferry_error *error)
{
    const ferry_matrix *exact = screen->exact;
    const size_t panels = count_panels(exact), panel_bytes = ferry_codes_size(FERRY_LANES, exact->K);
    const size_t bytes = panels * (panel_bytes + FERRY_LANES * sizeof(float));
    if (!ferry_account_take(context->arena.account, bytes))
        return ferry_fail_memory(error, "a coarse output matrix", bytes);
    int8_t *codes = ferry_aligned_alloc(64, bytes);
    screen->account = context->arena.account;
    screen->bytes = bytes;
    screen->coarse.codes = codes;
    if (codes == NULL) return ferry_fail_memory(error, "a coarse output matrix", bytes);
    float *scales = (float *)(void *)(codes + panels * panel_bytes);
    screen->coarse.scales = scales;
    for (size_t p = 0; p < panels; p++)
        FERRY_TRY(quantize_panel(screen, context, p, codes + p * panel_bytes, scales + p * FERRY_LANES, error));
    return FERRY_OK;
}

/* The file's, if it is right: then it needs no memory. */
static ferry_status find_coarse(ferry_screen *screen, ferry_context *context, const ferry_matrix *stored,
                                ferry_error *error)
{
    const ferry_matrix *exact = screen->exact;
    bool same = false;
    screen->coarse = (ferry_matrix){.N = exact->N, .K = exact->K, .bias = exact->bias};
    if (stored->codes != NULL) FERRY_TRY(compare(screen, context, stored, &same, error));
    if (!same) return make(screen, context, error);
    screen->coarse.codes = stored->codes;
    screen->coarse.scales = stored->scales;
    return FERRY_OK;
}

/* The squares of 16 rows' codes, a panel, added up. */
static void measure_codes_panel(const int8_t *codes, size_t groups, int64_t *squares)
{
    enum { CELLS = 4 * FERRY_LANES }; /* of a group */
    int32_t sums[CELLS] = {0};        /* at most FERRY_CODES_MAX_K/4·128², which is 2^28 */
    for (size_t g = 0; g < groups; g++)
        for (size_t c = 0; c < CELLS; c++) sums[c] += codes[g * CELLS + c] * codes[g * CELLS + c];
    memset(squares, 0, FERRY_LANES * sizeof *squares);
    for (size_t c = 0; c < CELLS; c++) squares[c / 4] += sums[c];
}

/* The largest |W_n| of int8 codes; between some panels, it can be stopped. */
static ferry_status measure_codes(ferry_screen *screen, const ferry_context *context, ferry_error *error)
{
    const ferry_matrix *exact = screen->exact;
    const size_t N = (size_t)exact->N, bytes = ferry_codes_size(FERRY_LANES, exact->K);
    int64_t squares[FERRY_LANES];
    screen->coarse = *exact;
    screen->coarse.coarse_inputs = true;
    for (size_t n = 0; n < N; n++) {
        if (n % (TOGETHER * FERRY_LANES) == 0) FERRY_TRY(ferry_context_check(context, error));
        if (n % FERRY_LANES == 0)
            measure_codes_panel(exact->codes + n / FERRY_LANES * bytes, bytes / (4 * FERRY_LANES), squares);
        const double unit = exact->scales != NULL ? fabs((double)exact->scales[n]) : 1 / (double)exact->multiplier;
        screen->norm = larger(screen->norm, sqrt((double)squares[n % FERRY_LANES]) * unit);
    }
    return FERRY_OK;
}

static double largest_bias(const ferry_matrix *matrix)
{
    double most = 0;
    for (int32_t n = 0; n < matrix->N; n++) most = larger(most, fabs((double)matrix->bias[n]));
    return most;
}

ferry_status ferry_screen_create(const ferry_matrix *exact, const ferry_matrix *stored, ferry_context *context,
                                 ferry_screen *screen, ferry_error *error)
{
    *screen = (ferry_screen){.exact = exact};
    if (exact->bias != NULL) screen->bias = largest_bias(exact);
    const ferry_status status =
        exact->codes != NULL ? measure_codes(screen, context, error) : find_coarse(screen, context, stored, error);
    if (status != FERRY_OK) ferry_screen_destroy(screen);
    return status;
}

void ferry_screen_destroy(ferry_screen *screen)
{
    if (screen->bytes > 0) ferry_aligned_free((void *)(uintptr_t)screen->coarse.codes);
    ferry_account_give(screen->account, screen->bytes);
    memset(screen, 0, sizeof *screen);
}

/* ---- the exact logits ---- */

double ferry_screen_bound(const ferry_screen *screen, const float *x, const ferry_rows_i8 *inputs, int32_t row)
{
    const double unit = 0x1p-24, K = screen->exact->K, factor = (double)inputs->factors[row];
    const double slack = 1 + 1e-4;         /* x·a is rounded before it becomes an integer, and so were the norms */
    const double underflow = 0x1p-119;     /* K·127² times half of the least float, and more */
    if (!(factor < 1e20)) return INFINITY; /* the coarse product's factors would be too small to be exact */
    double quantized, rounded;
    if (inputs->errors != NULL) {
        const double size = norm(x, screen->exact->K) + sqrt(K) / (16 * factor); /* the factor is a/8 */
        quantized = sqrt((double)inputs->errors[row]) / (8 * factor) * screen->norm;
        if (!(factor > 1e-30)) return INFINITY; /* nor may they overflow */
        /* Each product errs by five roundings; the coarse one may be larger by an eighth. */
        rounded = 12 * unit * (size * screen->norm + screen->bias);
    } else {
        const double delta = sqrt(K) / (2 * factor), size = norm(x, screen->exact->K) + delta;
        quantized = size * sqrt(K) * screen->scale / 2 + delta * screen->norm;
        /* A chain of K products and additions errs by K + 1 roundings of Σ|x·w| at most (Higham, Accuracy and Stability
         * of Numerical Algorithms, 2002, section 3.1), the coarse product by five. */
        rounded = 2 * (K + 8) * unit * (size * screen->norm + screen->bias);
    }
    return slack * (quantized + rounded) + underflow;
}

float ferry_screen_margin(double bound)
{
    /* Both may be wrong by the bound, in opposite directions. A quarter more is above all roundings: the bound itself
     * is above 12·2^-24 of any logit. */
    return (float)(2.5 * bound);
}

/* The panel that begins with column n, and its weights into the cache near the core. */
static ferry_matrix fetch_panel(const ferry_matrix *exact, int32_t n)
{
    const int32_t left = exact->N - n;
    const ferry_matrix panel = ferry_matrix_columns(exact, n, left < FERRY_LANES ? left : FERRY_LANES);
    const char *weights = panel.codes != NULL ? (const char *)panel.codes : (const char *)panel.panels;
    const size_t bytes = panel.codes != NULL ? ferry_codes_size(FERRY_LANES, panel.K)
                                             : ferry_panels_count(FERRY_LANES, panel.K) * sizeof *panel.panels;
    for (size_t at = 0; at < bytes; at += 64) __builtin_prefetch(weights + at, 0, 2);
    return panel;
}

ferry_status ferry_screen_resolve(const ferry_screen *screen, ferry_context *context, const float *x, double bound,
                                  const ferry_top *top, bool *told, int32_t *column, float *logit, ferry_error *error)
{
    const ferry_matrix *exact = screen->exact;
    const ferry_arena_mark mark = ferry_arena_begin(&context->arena);
    ferry_inputs ready;
    float panel[FERRY_LANES];
    int32_t computed = -1; /* the panel's first column */
    bool near = true;      /* the next coarse logit may belong to the largest exact one */
    *column = -1;
    *logit = -INFINITY;
    FERRY_TRY(ferry_inputs_prepare(context, &(ferry_rows){.x = x, .count = 1}, exact, &ready, error));
    for (int32_t i = 0; i < top->count && top->values[i] > -INFINITY; i++) {
        const int32_t n = top->indices[i], lane = n % FERRY_LANES;
        near = !((double)top->values[i] + bound < (double)*logit);
        if (!near) break;
        if (computed != n - lane) {
            const ferry_matrix columns = fetch_panel(exact, n - lane);
            FERRY_TRY(ferry_inputs_multiply(context, panel, &ready, &columns, error));
            computed = n - lane;
        }
        if (panel[lane] > *logit || (panel[lane] == *logit && n < *column)) {
            *logit = panel[lane];
            *column = n;
        }
    }
    ferry_arena_end(&context->arena, mark);
    /* Columns past the end of the list, if there are any, may come as near as its last. */
    const bool all = top->count < top->limit || !(top->values[top->count - 1] > -INFINITY);
    *told = bound < INFINITY && (!near || all);
    return FERRY_OK;
}
