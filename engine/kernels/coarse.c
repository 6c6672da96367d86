#include "coarse.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/system.h"
#include "linear.h"

/* ---- an int8 panel as nibbles, a float panel as int8 ---- */

/* rounded = 16 u of a line (kernels.h), in unsigned bytes. */
static void round_line(const int8_t *int8, uint8_t *rounded)
{
    for (size_t i = 0; i < FERRY_LINE_BYTES; i++) {
        const uint8_t q = (uint8_t)(int8[i] + 128), capped = q < 247 ? q : 247;
        rounded[i] = (uint8_t)(capped + 8) & 0xf0;
    }
}

/* For each q of a line: errors += (q - q̂)², at most 15²; marks |= q. */
static void measure_line(const int8_t *int8, const uint8_t *rounded, uint16_t *errors, uint8_t *marks)
{
    for (size_t i = 0; i < FERRY_LINE_BYTES; i++) {
        const int16_t error = (int8_t)(uint8_t)(int8[i] + 128 - rounded[i]);
        errors[i] = (uint16_t)(errors[i] + error * error);
        marks[i] |= (uint8_t)int8[i];
    }
}

void ferry_nibbles_from_panel(const int8_t *int8, int32_t K, uint8_t *nibbles, ferry_nibbles_error *of)
{
    enum { SUMMED = 128 }; /* lines of nibbles: the sums of their errors fit in 16 bits */
    uint8_t first[FERRY_LINE_BYTES], second[FERRY_LINE_BYTES], marks[FERRY_LINE_BYTES] = {0};
    memset(of, 0, sizeof *of);
    for (int32_t k = 0; k < K;) {
        uint16_t errors[FERRY_LINE_BYTES] = {0};
        const int32_t end = K - k < FERRY_NIBBLE_GROUP * SUMMED ? K : k + FERRY_NIBBLE_GROUP * SUMMED;
        for (; k < end; k += FERRY_NIBBLE_GROUP, int8 += 2 * FERRY_LINE_BYTES, nibbles += FERRY_LINE_BYTES) {
            round_line(int8, first);
            round_line(int8 + FERRY_LINE_BYTES, second);
            measure_line(int8, first, errors, marks);
            measure_line(int8 + FERRY_LINE_BYTES, second, errors, marks);
            for (size_t i = 0; i < FERRY_LINE_BYTES; i++) nibbles[i] = (uint8_t)(first[i] >> 4 | second[i]);
        }
        for (size_t i = 0; i < FERRY_LINE_BYTES; i++) of->squares[i / FERRY_CELL_BYTES] += errors[i];
    }
    for (size_t i = 0; i < FERRY_LINE_BYTES; i++) of->any[i / FERRY_CELL_BYTES] |= marks[i] != 0;
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

size_t ferry_coarse_size(const ferry_matrix *exact, int32_t N)
{
    return exact->kind == FERRY_MATRIX_INT8 ? ferry_nibbles_size(N, exact->K) : ferry_int8_size(N, exact->K);
}

/* A row of zeros gets the scale 0: then its bound is exact, too. */
static void coarsen_int8(const ferry_matrix *exact, size_t p, void *weights, float *scales, ferry_coarse *coarse)
{
    const size_t first = p * FERRY_LANES;
    ferry_nibbles_error error;
    ferry_nibbles_from_panel(exact->int8 + p * ferry_int8_size(FERRY_LANES, exact->K), exact->K, weights, &error);
    for (size_t l = 0; l < FERRY_LANES && first + l < (size_t)exact->N; l++) {
        const float scale = exact->scales == NULL ? 1 / exact->multiplier : error.any[l] ? exact->scales[first + l] : 0;
        scales[l] = scale;
        cover(&coarse->norm, 127 * sqrt((double)exact->K) * (double)scale);
        cover(&coarse->error, sqrt((double)error.squares[l]));
    }
}

static void coarsen_floats(const ferry_matrix *exact, size_t p, void *weights, float *scales, ferry_coarse *coarse)
{
    const size_t K = (size_t)exact->K;
    const float *panel = exact->panels + p * K * FERRY_LANES;
    double norms[FERRY_LANES];
    ferry_int8_from_panel(panel, exact->K, weights, scales);
    measure_panel(panel, K, norms);
    for (size_t l = 0; l < FERRY_LANES; l++) {
        cover(&coarse->norm, norms[l]);
        cover(&coarse->error, sqrt((double)K) * (double)scales[l] / 2);
    }
}

void ferry_coarsen_panel(const ferry_matrix *exact, size_t p, void *weights, float *scales, ferry_coarse *coarse)
{
    if (exact->kind == FERRY_MATRIX_INT8)
        coarsen_int8(exact, p, weights, scales, coarse);
    else
        coarsen_floats(exact, p, weights, scales, coarse);
}

ferry_status ferry_coarse_verify(const ferry_matrix *exact, const ferry_coarse *stored, const char *file,
                                 ferry_error *error)
{
    const size_t bytes = ferry_coarse_size(exact, FERRY_LANES);
    const float *stored_scales = stored->matrix.scales;
    ferry_coarse made = {.error = 0};
    float scales[FERRY_LANES];
    void *panel = malloc(bytes);
    bool same = true;
    if (panel == NULL) return ferry_fail_memory(error, "a panel of a matrix", bytes, 1);
    for (size_t p = 0, n = 0; same && p < ferry_matrix_panels(exact); p++, n += FERRY_LANES) {
        const size_t left = (size_t)exact->N - n, rows = left < FERRY_LANES ? left : FERRY_LANES;
        ferry_coarsen_panel(exact, p, panel, scales, &made);
        same = memcmp(panel, (const char *)stored->matrix.weights + p * bytes, bytes) == 0 &&
               (stored_scales == NULL || memcmp(scales, stored_scales + n, rows * sizeof *scales) == 0);
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
static void set_coarse(ferry_logit_bound *bound, const void *weights, const float *scales)
{
    ferry_matrix *matrix = &bound->coarse.matrix;
    *matrix = *bound->exact;
    matrix->kind = matrix->kind == FERRY_MATRIX_INT8 ? FERRY_MATRIX_NIBBLES : FERRY_MATRIX_INT8;
    matrix->weights = weights;
    matrix->nibbles_error = bound->coarse.error;
    if (matrix->kind == FERRY_MATRIX_INT8 || matrix->scales != NULL) matrix->scales = scales;
}

/* Makes Ŵ in memory. */
static ferry_status make(ferry_logit_bound *bound, const ferry_context *context, ferry_error *error)
{
    const ferry_matrix *exact = bound->exact;
    const size_t panels = ferry_matrix_panels(exact), panel_bytes = ferry_coarse_size(exact, FERRY_LANES);
    const size_t bytes = panels * (panel_bytes + FERRY_LANES * sizeof(float));
    if (!ferry_account_take(context->arena.account, bytes))
        return ferry_arena_fail(&context->arena, "a coarse output matrix", bytes, 1, error);
    bound->account = context->arena.account;
    bound->bytes = bytes;
    bound->memory = ferry_aligned_alloc(64, bytes);
    if (bound->memory == NULL) return ferry_fail_memory(error, "a coarse output matrix", bytes, 1);
    unsigned char *weights = bound->memory;
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
    if (stored->matrix.weights == NULL) {
        status = make(bound, context, error);
    } else {
        bound->coarse = *stored;
        set_coarse(bound, stored->matrix.weights, stored->matrix.scales);
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
    if (bound->exact->kind == FERRY_MATRIX_INT8) return 0;
    /* A chain of K products and additions errs by K + 1 roundings of Σ|x·w| at most (Higham, Accuracy and Stability of
     * Numerical Algorithms, 2002, section 3.1), the coarse product by five. */
    return slack * (size * error + delta * weights + 2 * (K + 8) * roundoff * max) + underflow;
}
