#include "screen.h"

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
static void set_coarse(ferry_screen *screen, const void *weights, const float *scales)
{
    const bool codes = screen->exact->kind == FERRY_MATRIX_CODES;
    ferry_matrix *coarse = &screen->coarse;
    *coarse = *screen->exact;
    coarse->kind = codes ? FERRY_MATRIX_NIBBLES : FERRY_MATRIX_CODES;
    coarse->weights = weights;
    coarse->nibbles_error = nextafterf((float)screen->error, INFINITY);
    if (!codes || coarse->scales != NULL) coarse->scales = scales;
}

/* A row of zeros has exact products, whatever its scale: with a scale of 0 its bound is one, too. */
static void coarsen_codes(ferry_screen *screen, size_t p, coarse_panel to)
{
    const ferry_matrix *exact = screen->exact;
    const size_t first = p * FERRY_LANES;
    ferry_nibbles_error error;
    ferry_nibbles_from_panel(exact->codes + p * ferry_codes_size(FERRY_LANES, exact->K), exact->K, to.weights, &error);
    for (size_t l = 0; l < FERRY_LANES && first + l < (size_t)exact->N; l++) {
        const float scale = exact->scales == NULL ? 1 / exact->multiplier : error.any[l] ? exact->scales[first + l] : 0;
        to.scales[l] = scale;
        screen->norm = larger(screen->norm, 127 * sqrt((double)exact->K) * (double)scale);
        screen->error = larger(screen->error, sqrt((double)error.squares[l]));
    }
}

static void coarsen_floats(ferry_screen *screen, size_t p, coarse_panel to)
{
    const size_t K = (size_t)screen->exact->K;
    const float *panel = screen->exact->panels + p * K * FERRY_LANES;
    double norms[FERRY_LANES];
    ferry_codes_from_panel(panel, screen->exact->K, to.weights, to.scales);
    measure_panel(panel, K, norms);
    for (size_t l = 0; l < FERRY_LANES; l++) {
        screen->norm = larger(screen->norm, norms[l]);
        screen->error = larger(screen->error, sqrt((double)K) * (double)to.scales[l] / 2);
    }
}

/* Panel p of Ŵ; between some of them, it can be stopped. */
static ferry_status coarsen(ferry_screen *screen, const ferry_context *context, size_t p, coarse_panel to,
                            ferry_error *error)
{
    if (p % TOGETHER == 0) FERRY_TRY(ferry_context_check(context, error));
    if (screen->exact->kind == FERRY_MATRIX_CODES)
        coarsen_codes(screen, p, to);
    else
        coarsen_floats(screen, p, to);
    return FERRY_OK;
}

/* Memory of its own. */
static ferry_status take(ferry_screen *screen, const ferry_context *context, size_t bytes, ferry_error *error)
{
    if (!ferry_account_take(context->arena.account, bytes))
        return ferry_fail_memory(error, "a coarse output matrix", bytes);
    screen->account = context->arena.account;
    screen->bytes = bytes;
    screen->memory = ferry_aligned_alloc(64, bytes);
    return screen->memory != NULL ? FERRY_OK : ferry_fail_memory(error, "a coarse output matrix", bytes);
}

static void give(ferry_screen *screen)
{
    ferry_aligned_free(screen->memory);
    ferry_account_give(screen->account, screen->bytes);
    screen->memory = NULL;
    screen->bytes = 0;
}

/* Whether `stored` is what would be made of W; measures W on the way. */
static ferry_status compare(ferry_screen *screen, ferry_context *context, const ferry_matrix *stored, bool *same,
                            ferry_error *error)
{
    const ferry_matrix *exact = screen->exact;
    const size_t bytes = coarse_size(exact, FERRY_LANES);
    const unsigned char *weights = stored->weights;
    float panel_scales[FERRY_LANES], *scales = screen->memory;
    const ferry_arena_mark mark = ferry_arena_begin(&context->arena);
    void *panel = ferry_arena_alloc(&context->arena, bytes, 1);
    if (panel == NULL) return ferry_fail_memory(error, "a panel of a matrix", bytes);
    ferry_status status = FERRY_OK;
    *same = true;
    for (size_t p = 0, n = 0; *same && p < ferry_matrix_panels(exact); p++, n += FERRY_LANES) {
        const size_t left = (size_t)exact->N - n, rows = left < FERRY_LANES ? left : FERRY_LANES;
        const coarse_panel to = {panel, scales != NULL ? scales + n : panel_scales};
        status = coarsen(screen, context, p, to, error);
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
static ferry_status make(ferry_screen *screen, const ferry_context *context, ferry_error *error)
{
    const ferry_matrix *exact = screen->exact;
    const size_t bytes = coarse_size(exact, exact->N), panel_bytes = coarse_size(exact, FERRY_LANES);
    FERRY_TRY(take(screen, context, bytes + scales_size(exact), error));
    unsigned char *weights = screen->memory;
    float *scales = (float *)(void *)(weights + bytes);
    for (size_t p = 0; p < ferry_matrix_panels(exact); p++)
        FERRY_TRY(
            coarsen(screen, context, p, (coarse_panel){weights + p * panel_bytes, scales + p * FERRY_LANES}, error));
    set_coarse(screen, weights, scales);
    return FERRY_OK;
}

/* The file's, if it is right: then it needs no memory, but for the scales of codes. */
static ferry_status find_coarse(ferry_screen *screen, ferry_context *context, const ferry_matrix *stored,
                                ferry_error *error)
{
    bool same = false;
    if (stored->weights == NULL) return make(screen, context, error);
    if (screen->exact->kind == FERRY_MATRIX_CODES) FERRY_TRY(take(screen, context, scales_size(screen->exact), error));
    FERRY_TRY(compare(screen, context, stored, &same, error));
    if (same) {
        set_coarse(screen, stored->weights, screen->memory != NULL ? screen->memory : stored->scales);
        return FERRY_OK;
    }
    give(screen);
    return make(screen, context, error);
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
    const ferry_status status = find_coarse(screen, context, stored, error);
    if (status != FERRY_OK) ferry_screen_destroy(screen);
    return status;
}

void ferry_screen_destroy(ferry_screen *screen)
{
    give(screen);
    memset(screen, 0, sizeof *screen);
}

/* ---- the exact logits ---- */

double ferry_screen_bound(const ferry_screen *screen, const float *x, const ferry_rows_i8 *inputs, int32_t row)
{
    const double unit = 0x1p-24, K = screen->exact->K, factor = (double)inputs->factors[row];
    const double slack = 1 + 1e-4;     /* x·a is rounded before it becomes an integer, and so were the norms */
    const double underflow = 0x1p-119; /* K·127² times half of the least float, and more */
    const double delta = sqrt(K) / (2 * factor), size = norm(x, screen->exact->K) + delta;
    const double most = size * screen->norm + screen->bias;
    /* The factors would be too small or too large, or logits too large. */
    if (!(factor < 1e20 && factor > 1e-30 && most < 1e30)) return INFINITY;
    if (screen->exact->kind == FERRY_MATRIX_CODES) return 0;
    /* A chain of K products and additions errs by K + 1 roundings of Σ|x·w| at most (Higham, Accuracy and Stability of
     * Numerical Algorithms, 2002, section 3.1), the coarse product by five. */
    return slack * (size * screen->error + delta * screen->norm + 2 * (K + 8) * unit * most) + underflow;
}

/* The panel that begins with column n, and its weights into the cache near the core. */
static ferry_matrix fetch_panel(const ferry_matrix *exact, int32_t n)
{
    const int32_t left = exact->N - n;
    const ferry_matrix panel = ferry_matrix_columns(exact, n, left < FERRY_LANES ? left : FERRY_LANES);
    const size_t bytes = ferry_panel_bytes(&panel);
    for (size_t at = 0; at < bytes; at += 64) __builtin_prefetch((const char *)panel.weights + at, 0, 2);
    return panel;
}

/* The largest logit so far. */
typedef struct best {
    ferry_context *context;
    const ferry_matrix *exact;
    const ferry_screen_rules *rules;
    ferry_inputs inputs;
    int32_t column;
    float logit;
} best;

/* Computes a panel's logits exactly. */
static ferry_status choose(best *b, int32_t p, ferry_error *error)
{
    float values[FERRY_LANES];
    const ferry_matrix columns = fetch_panel(b->exact, p * FERRY_LANES);
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
static int32_t next_panel(const best *b, const float *maxima, int32_t p, int32_t panels, double bound)
{
    const float least = nextafterf((float)((double)b->logit - bound), -INFINITY);
    for (; p + FERRY_LANES <= panels; p += FERRY_LANES) {
        int32_t any = 0;
        for (int32_t l = 0; l < FERRY_LANES; l++) any |= maxima[p + l] > least;
        if (any != 0) break;
    }
    while (p < panels && !(maxima[p] > least)) p++;
    return p;
}

/* Begins with the panel that seems to have the largest, after which few others can. */
ferry_status ferry_screen_resolve(const ferry_screen *screen, ferry_context *context, const float *x, double bound,
                                  float *maxima, const ferry_screen_rules *rules, int32_t *column, float *logit,
                                  ferry_error *error)
{
    const int32_t panels = (int32_t)ferry_matrix_panels(screen->exact),
                  first = context->kernels->argmax(maxima, panels);
    const ferry_arena_mark mark = ferry_arena_begin(&context->arena);
    best b = {.context = context, .exact = screen->exact, .rules = rules, .column = -1, .logit = -INFINITY};
    FERRY_TRY(ferry_inputs_prepare(context, &(ferry_rows){.x = x, .count = 1}, screen->exact, &b.inputs, error));
    assert(first >= 0); /* there is no NaN */
    FERRY_TRY(choose(&b, first, error));
    maxima[first] = -INFINITY;
    for (int32_t p = next_panel(&b, maxima, 0, panels, bound); p < panels;
         p = next_panel(&b, maxima, p + 1, panels, bound))
        FERRY_TRY(choose(&b, p, error));
    ferry_arena_end(&context->arena, mark);
    *column = b.column;
    *logit = b.logit;
    return FERRY_OK;
}
