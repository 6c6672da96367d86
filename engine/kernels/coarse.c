#include "coarse.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/system.h"
#include "linear.h"

/* ---- an int8 panel in two planes, a float panel as int8 ---- */

void ferry_planes_from_panel(const int8_t *int8, int32_t K, uint8_t *upper, uint8_t *lower)
{
    for (int32_t k = 0; k < K; k += FERRY_NIBBLE_GROUP, int8 += FERRY_LINE_BYTES)
        for (size_t i = 0; i < FERRY_LINE_BYTES; i++, int8++) {
            const uint8_t first = (uint8_t)(int8[0] + 128), second = (uint8_t)(int8[FERRY_LINE_BYTES] + 128);
            *upper++ = (uint8_t)(first >> 4 | (second & 0xf0));
            *lower++ = (uint8_t)((first & 0x0f) | second << 4);
        }
}

/* Four steps of a panel, [4][16], into int8 [16][4] by the reciprocals of the scales. */
static void quantize_steps(const float *panel, const float *inverse, int8_t *int8)
{
    const float shift = 0x1.8p23f; /* adding it rounds to an integer, in the lowest bits */
    uint32_t words[FERRY_LANES] = {0};
    for (uint32_t step = 0; step < FERRY_INT8_GROUP; step++)
        for (size_t l = 0; l < FERRY_LANES; l++) {
            float q = panel[step * FERRY_LANES + l] * inverse[l];
            q = q > -127.0f ? q : -127.0f;
            q = q < 127.0f ? q : 127.0f;
            q += shift;
            uint32_t bits;
            memcpy(&bits, &q, sizeof bits);
            words[l] |= (bits & 0xff) << 8 * step;
        }
    memcpy(int8, words, sizeof words);
}

void ferry_int8_from_panel(const float *panel, int32_t K, int8_t *int8, float *scales)
{
    const size_t steps = (size_t)K, whole = steps / FERRY_INT8_GROUP * FERRY_INT8_GROUP;
    float max[FERRY_LANES] = {0}, inverse[FERRY_LANES], rest[FERRY_LINE_BYTES] = {0};
    for (size_t k = 0; k < steps; k++)
        for (size_t l = 0; l < FERRY_LANES; l++) {
            const float size = fabsf(panel[k * FERRY_LANES + l]);
            max[l] = size > max[l] ? size : max[l];
        }
    for (size_t l = 0; l < FERRY_LANES; l++) {
        scales[l] = max[l] > 0x1p-100f ? max[l] / 127 : 0x1p-100f;
        inverse[l] = 1 / scales[l];
    }
    for (size_t k = 0; k < whole; k += FERRY_INT8_GROUP)
        quantize_steps(panel + k * FERRY_LANES, inverse, int8 + k * FERRY_LANES);
    if (whole == steps) return;
    memcpy(rest, panel + whole * FERRY_LANES, (steps - whole) * FERRY_LANES * sizeof *rest);
    quantize_steps(rest, inverse, int8 + whole * FERRY_LANES);
}

/* ---- what the bound needs of both matrices ---- */

/* *max grows to a float ≥ size. FLT_MAX means unbounded (NaNs, too). */
static void cover(float *max, double size)
{
    const float above = size < 0x1p127 ? nextafterf((float)size, INFINITY) : FLT_MAX;
    if (above > *max) *max = above;
}

/* Squares of larger floats do not underflow. */
#define LOST_SQUARE 0x1p-70

/* |w| of sixteen rows of W, a panel [K][16]. */
static void measure_panel(const float *panel, size_t K, double *norms)
{
    enum { CHUNK = 64 }; /* the error of a float sum of 64 squares is below the margin's slack */
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

void ferry_coarsen_panel(const ferry_matrix *exact, size_t p, int8_t *int8, float *scales, ferry_coarse *coarse)
{
    const size_t K = (size_t)exact->K;
    const float *panel = exact->panels + p * K * FERRY_LANES;
    double norms[FERRY_LANES];
    ferry_int8_from_panel(panel, exact->K, int8, scales);
    measure_panel(panel, K, norms);
    for (size_t l = 0; l < FERRY_LANES; l++) {
        cover(&coarse->norm, norms[l]);
        cover(&coarse->error, sqrt((double)K) * (double)scales[l] / 2);
    }
}

float ferry_planes_error(const ferry_matrix *planes)
{
    float error = 0;
    const uint8_t *lower = planes->lower;
    for (int32_t first = 0; first < planes->N; first += FERRY_LANES) {
        int32_t sums[FERRY_LANES] = {0}; /* Σ l·(15 - l): (q - q̂)² = (l - 7.5)² = 7.5² - l·(15 - l) */
        for (int32_t k = 0; k < planes->K; k += FERRY_NIBBLE_GROUP)
            for (size_t i = 0; i < FERRY_LINE_BYTES; i++, lower++) {
                const int32_t a = *lower & 15, b = *lower >> 4;
                sums[i / FERRY_CELL_BYTES] += a * (15 - a) + b * (15 - b);
            }
        for (int32_t l = 0; l < FERRY_LANES && first + l < planes->N; l++)
            if (planes->scales == NULL || planes->scales[first + l] > 0)
                cover(&error, sqrt(56.25 * (double)planes->K - (double)sums[l]));
    }
    return error;
}

ferry_status ferry_planes_verify(const ferry_matrix *planes, const char *file, ferry_error *error)
{
    const double expected = (double)ferry_planes_error(planes), found = (double)planes->nibbles_error;
    if (found == expected) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT,
                      "%s: error of the planes of the output matrix: expected %.9g, found %.9g", file, expected, found);
}

ferry_status ferry_coarse_verify(const ferry_matrix *exact, const ferry_coarse *stored, const char *file,
                                 ferry_error *error)
{
    const size_t bytes = ferry_int8_size(FERRY_LANES, exact->K);
    ferry_coarse made = {.error = 0};
    float scales[FERRY_LANES];
    int8_t *panel = malloc(bytes);
    bool same = true;
    if (panel == NULL) return ferry_fail_memory(error, "a panel of a matrix", bytes, 1);
    for (size_t p = 0, n = 0; same && p < ferry_matrix_panels(exact); p++, n += FERRY_LANES) {
        const size_t left = (size_t)exact->N - n, rows = left < FERRY_LANES ? left : FERRY_LANES;
        ferry_coarsen_panel(exact, p, panel, scales, &made);
        same = memcmp(panel, stored->matrix.int8 + p * bytes, bytes) == 0 &&
               memcmp(scales, stored->matrix.scales + n, rows * sizeof *scales) == 0;
    }
    free(panel);
    if (same && made.error == stored->error && made.norm == stored->norm) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT,
                      "%s: tensors 'output_coarse': expected what follows from the output matrix, found other numbers",
                      file);
}

/* ---- the bound ---- */

enum { CHECK_PANELS = 64 }; /* panels between two checks for cancellation */

/* Ŵ is W with other weights and scales. */
static void set_coarse(ferry_logit_bound *bound, const int8_t *int8, const float *scales)
{
    ferry_matrix *matrix = &bound->coarse.matrix;
    *matrix = *bound->exact;
    matrix->kind = FERRY_MATRIX_INT8;
    matrix->int8 = int8;
    matrix->scales = scales;
}

/* Ŵ is the upper plane of W. */
static void set_plane(ferry_logit_bound *bound)
{
    const ferry_matrix *exact = bound->exact;
    const double size = 127 * sqrt((double)exact->K);
    bound->coarse.matrix = *exact;
    bound->coarse.matrix.kind = FERRY_MATRIX_NIBBLES;
    bound->coarse.matrix.lower = NULL;
    bound->coarse.error = exact->nibbles_error;
    if (exact->scales == NULL) cover(&bound->coarse.norm, size / (double)exact->multiplier);
    for (int32_t n = 0; exact->scales != NULL && n < exact->N; n++)
        cover(&bound->coarse.norm, size * (double)exact->scales[n]);
}

/* Makes Ŵ in memory. */
static ferry_status make(ferry_logit_bound *bound, const ferry_context *context, ferry_error *error)
{
    const ferry_matrix *exact = bound->exact;
    const size_t panels = ferry_matrix_panels(exact), panel_bytes = ferry_int8_size(FERRY_LANES, exact->K);
    const size_t bytes = panels * (panel_bytes + FERRY_LANES * sizeof(float));
    if (!ferry_account_take(context->arena.account, bytes))
        return ferry_arena_fail(&context->arena, "a coarse output matrix", bytes, 1, error);
    bound->account = context->arena.account;
    bound->bytes = bytes;
    bound->memory = ferry_aligned_alloc(64, bytes);
    if (bound->memory == NULL) return ferry_fail_memory(error, "a coarse output matrix", bytes, 1);
    int8_t *weights = bound->memory;
    float *scales = (float *)(void *)(weights + panels * panel_bytes);
    for (size_t p = 0; p < panels; p++) {
        if (p % CHECK_PANELS == 0) FERRY_TRY(ferry_context_check(context, error));
        ferry_coarsen_panel(exact, p, weights + p * panel_bytes, scales + p * FERRY_LANES, &bound->coarse);
    }
    set_coarse(bound, weights, scales);
    return FERRY_OK;
}

ferry_status ferry_logit_bound_create(const ferry_matrix *exact, const ferry_coarse *stored,
                                      const ferry_context *context, ferry_logit_bound *bound, ferry_error *error)
{
    ferry_status status = FERRY_OK;
    *bound = (ferry_logit_bound){.exact = exact};
    for (int32_t n = 0; exact->bias != NULL && n < exact->N; n++) cover(&bound->bias, fabs((double)exact->bias[n]));
    if (exact->kind == FERRY_MATRIX_PLANES) {
        set_plane(bound);
    } else if (stored->matrix.weights == NULL) {
        status = make(bound, context, error);
    } else {
        bound->coarse = *stored;
        set_coarse(bound, stored->matrix.int8, stored->matrix.scales);
    }
    if (status != FERRY_OK) ferry_logit_bound_destroy(bound);
    return status;
}

void ferry_logit_bound_destroy(ferry_logit_bound *bound)
{
    ferry_aligned_free(bound->memory);
    ferry_account_give(bound->account, bound->bytes);
    memset(bound, 0, sizeof *bound);
}

static double norm(const float *x, int32_t K)
{
    double sum = 0;
    for (int32_t k = 0; k < K; k++) sum += (double)x[k] * (double)x[k];
    return sqrt(sum);
}

double ferry_logit_bound_margin(const ferry_logit_bound *bound, const float *x, const ferry_rows_i8 *inputs,
                                int32_t row)
{
    const double roundoff = 0x1p-24, K = bound->exact->K, a = (double)inputs->inverse_scales[row];
    const double slack = 1 + 1e-4;     /* for the roundings of x·a and of the norms */
    const double underflow = 0x1p-119; /* above K·127² times half of the smallest float */
    const double delta = sqrt(K) / (2 * a), size = norm(x, bound->exact->K) + delta;
    const double error = (double)bound->coarse.error, weights = (double)bound->coarse.norm;
    const double max = size * weights + (double)bound->bias;
    /* Scales near the ends of float's range, or huge logits or weights. */
    if (!(a < 1e20 && a > 1e-30 && max < 1e30 && weights < 1e30)) return INFINITY;
    if (bound->exact->kind == FERRY_MATRIX_PLANES) return 0;
    /* A chain of K products and additions errs by K + 1 roundings of Σ|x·w| at most (Higham, Accuracy and Stability of
     * Numerical Algorithms, 2002, section 3.1), the coarse product by five. */
    return slack * (size * error + delta * weights + 2 * (K + 8) * roundoff * max) + underflow;
}
