#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/system.h"
#include "linear.h"

/* ---- a panel of codes as nibbles, of floats as codes ---- */

/* Lines of a panel of codes, in each of which each of the 16 rows has a cell. */
enum { CELL_BYTES = 4, LINE_BYTES = CELL_BYTES * FERRY_LANES };

/* 16 u of a line, in unsigned bytes. */
static void round_line(const int8_t *codes, uint8_t *rounded)
{
    for (size_t i = 0; i < LINE_BYTES; i++) {
        const uint8_t q = (uint8_t)(codes[i] + 128), most = q < 247 ? q : 247;
        rounded[i] = (uint8_t)(most + 8) & 0xf0;
    }
}

/* For each code of a line: errors += (q - q̂)², at most 15²; marks |= q. */
static void measure_line(const int8_t *codes, const uint8_t *rounded, uint16_t *errors, uint8_t *marks)
{
    for (size_t i = 0; i < LINE_BYTES; i++) {
        const int16_t error = (int8_t)(uint8_t)(codes[i] + 128 - rounded[i]);
        errors[i] = (uint16_t)(errors[i] + error * error);
        marks[i] |= (uint8_t)codes[i];
    }
}

void ferry_nibbles_from_panel(const int8_t *codes, int32_t K, uint8_t *nibbles, ferry_nibbles_error *of)
{
    enum { SUMMED = 128 }; /* lines, whose sums of errors fit in 16 bits */
    uint8_t first[LINE_BYTES], second[LINE_BYTES], marks[LINE_BYTES] = {0};
    memset(of, 0, sizeof *of);
    for (int32_t k = 0; k < K;) {
        uint16_t errors[LINE_BYTES] = {0};
        const int32_t end = K - k < 8 * SUMMED ? K : k + 8 * SUMMED;
        for (; k < end; k += 8, codes += 2 * LINE_BYTES, nibbles += LINE_BYTES) {
            round_line(codes, first);
            round_line(codes + LINE_BYTES, second);
            measure_line(codes, first, errors, marks);
            measure_line(codes + LINE_BYTES, second, errors, marks);
            for (size_t i = 0; i < LINE_BYTES; i++) nibbles[i] = (uint8_t)(first[i] >> 4 | second[i]);
        }
        for (size_t i = 0; i < LINE_BYTES; i++) of->squares[i / CELL_BYTES] += errors[i];
    }
    for (size_t i = 0; i < LINE_BYTES; i++) of->any[i / CELL_BYTES] |= marks[i] != 0;
}

/* Four steps of a panel, [4][16], into codes [16][4] by the reciprocals of their scales. */
static void quantize_steps(const float *panel, const float *inverse, int8_t *codes)
{
    const float shift = 0x1.8p23f; /* adding it rounds to an integer, in the lowest bits */
    uint32_t words[FERRY_LANES] = {0};
    for (uint32_t step = 0; step < 4; step++)
        for (size_t l = 0; l < FERRY_LANES; l++) {
            float q = panel[step * FERRY_LANES + l] * inverse[l];
            q = q > -127.0f ? q : -127.0f;
            q = q < 127.0f ? q : 127.0f;
            q += shift;
            uint32_t bits;
            memcpy(&bits, &q, sizeof bits);
            words[l] |= (bits & 0xff) << 8 * step;
        }
    memcpy(codes, words, sizeof words);
}

void ferry_codes_from_panel(const float *panel, int32_t K, int8_t *codes, float *scales)
{
    const size_t steps = (size_t)K, whole = steps / 4 * 4;
    float most[FERRY_LANES] = {0}, inverse[FERRY_LANES], rest[4 * FERRY_LANES] = {0};
    for (size_t k = 0; k < steps; k++)
        for (size_t l = 0; l < FERRY_LANES; l++) {
            const float size = fabsf(panel[k * FERRY_LANES + l]);
            most[l] = size > most[l] ? size : most[l];
        }
    for (size_t l = 0; l < FERRY_LANES; l++) {
        scales[l] = most[l] > 0x1p-100f ? most[l] / 127 : 0x1p-100f;
        inverse[l] = 1 / scales[l];
    }
    for (size_t k = 0; k < whole; k += 4) quantize_steps(panel + k * FERRY_LANES, inverse, codes + k * FERRY_LANES);
    if (whole == steps) return;
    memcpy(rest, panel + whole * FERRY_LANES, (steps - whole) * FERRY_LANES * sizeof *rest);
    quantize_steps(rest, inverse, codes + whole * FERRY_LANES);
}

/* ---- what the bound needs of both matrices ---- */

/* *most grows to a float that is not below `size`; FLT_MAX says that nothing is known, as of NaNs. */
static void cover(float *most, double size)
{
    const float above = size < 0x1p127 ? nextafterf((float)size, INFINITY) : FLT_MAX;
    if (above > *most) *most = above;
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

size_t ferry_coarse_size(const ferry_matrix *exact, int32_t N)
{
    return exact->kind == FERRY_MATRIX_CODES ? ferry_nibbles_size(N, exact->K) : ferry_codes_size(N, exact->K);
}

/* A row of zeros has exact products, whatever its scale: with a scale of 0 its margin is one, too. */
static void coarsen_codes(const ferry_matrix *exact, size_t p, void *weights, float *scales, ferry_coarse *coarse)
{
    const size_t first = p * FERRY_LANES;
    ferry_nibbles_error error;
    ferry_nibbles_from_panel(exact->codes + p * ferry_codes_size(FERRY_LANES, exact->K), exact->K, weights, &error);
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
    ferry_codes_from_panel(panel, exact->K, weights, scales);
    measure_panel(panel, K, norms);
    for (size_t l = 0; l < FERRY_LANES; l++) {
        cover(&coarse->norm, norms[l]);
        cover(&coarse->error, sqrt((double)K) * (double)scales[l] / 2);
    }
}

void ferry_coarsen_panel(const ferry_matrix *exact, size_t p, void *weights, float *scales, ferry_coarse *coarse)
{
    if (exact->kind == FERRY_MATRIX_CODES)
        coarsen_codes(exact, p, weights, scales, coarse);
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

enum { TOGETHER = 64 }; /* panels, after which it is seen whether to stop */

/* Ŵ: W with other weights and scales. */
static void set_coarse(ferry_logit_bound *bound, const void *weights, const float *scales)
{
    ferry_matrix *matrix = &bound->coarse.matrix;
    *matrix = *bound->exact;
    matrix->kind = matrix->kind == FERRY_MATRIX_CODES ? FERRY_MATRIX_NIBBLES : FERRY_MATRIX_CODES;
    matrix->weights = weights;
    matrix->nibbles_error = bound->coarse.error;
    if (matrix->kind == FERRY_MATRIX_CODES || matrix->scales != NULL) matrix->scales = scales;
}

/* In memory. */
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
        if (p % TOGETHER == 0) FERRY_TRY(ferry_context_check(context, error));
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
    const double unit = 0x1p-24, K = bound->exact->K, factor = (double)inputs->factors[row];
    const double slack = 1 + 1e-4;     /* x·a is rounded before it becomes an integer, and so were the norms */
    const double underflow = 0x1p-119; /* K·127² times half of the least float, and more */
    const double delta = sqrt(K) / (2 * factor), size = norm(x, bound->exact->K) + delta;
    const double error = (double)bound->coarse.error, weights = (double)bound->coarse.norm;
    const double most = size * weights + (double)bound->bias;
    /* The factors would be too small or too large, or logits or weights too large. */
    if (!(factor < 1e20 && factor > 1e-30 && most < 1e30 && weights < 1e30)) return INFINITY;
    if (bound->exact->kind == FERRY_MATRIX_CODES) return 0;
    /* A chain of K products and additions errs by K + 1 roundings of Σ|x·w| at most (Higham, Accuracy and Stability of
     * Numerical Algorithms, 2002, section 3.1), the coarse product by five. */
    return slack * (size * error + delta * weights + 2 * (K + 8) * unit * most) + underflow;
}
