#include "linear.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/pool.h"

/* Threads share products with at least SHARED_BYTES of weights, in pieces of at least PIECE_BYTES whose columns are a
 * multiple of the widest tile (4 panels). Each thread gets THREAD_PIECES, to even out finishing times. */
enum { SHARED_BYTES = 128 << 10, PIECE_BYTES = 32 << 10, PIECE_COLUMNS = 4 * FERRY_LANES, THREAD_PIECES = 2 };
/* Maximum cost of a piece in int8 multiply-adds; one of floats counts as four. Milliseconds: a product can be stopped
 * between two pieces. */
#define PIECE_COST ((int64_t)1 << 29)
/* Planes and steps are unpacked in pieces of about UNPACKED_BYTES of int8, which stay in the second-level cache. */
enum { UNPACKED_BYTES = 64 << 10 };
/* The input rows are copied if there are at least SPREAD_ROWS and their stride is a multiple of SPREAD_STRIDE (cache
 * set conflicts). */
enum { SPREAD_ROWS = 4, SPREAD_STRIDE = 128 };

ferry_status ferry_context_check(const ferry_context *context, ferry_error *error)
{
    for (int32_t i = 0; i < context->stop_count; i++)
        if (!ferry_stopped(context->stops[i])) return FERRY_OK;
    return context->stop_count > 0 ? ferry_fail(error, FERRY_ERROR_CANCELLED, "cancelled") : FERRY_OK;
}

/* ---- panels ---- */

/* Consecutive inputs in a cell. */
static const int32_t cell_inputs[] = {[FERRY_MATRIX_FLOATS] = 1,
                                      [FERRY_MATRIX_INT8] = FERRY_INT8_GROUP,
                                      [FERRY_MATRIX_NIBBLES] = FERRY_NIBBLE_GROUP,
                                      [FERRY_MATRIX_PLANES] = FERRY_NIBBLE_GROUP,
                                      [FERRY_MATRIX_JOINED] = FERRY_INT8_GROUP,
                                      [FERRY_MATRIX_STEPS] = FERRY_NIBBLE_GROUP};

void ferry_matrix_shape(ferry_matrix_kind kind, int32_t N, int32_t K, int64_t shape[3])
{
    shape[0] = ((int64_t)N + FERRY_LANES - 1) / FERRY_LANES;
    shape[1] = ((int64_t)K + cell_inputs[kind] - 1) / cell_inputs[kind];
    if (kind == FERRY_MATRIX_STEPS) shape[1] += (int64_t)ferry_step_lines((size_t)K);
    shape[2] = kind == FERRY_MATRIX_FLOATS ? FERRY_LANES : FERRY_LINE_BYTES;
}

size_t ferry_panel_bytes(const ferry_matrix *matrix)
{
    int64_t shape[3];
    ferry_matrix_shape(matrix->kind, matrix->N, matrix->K, shape);
    return FERRY_LINE_BYTES * (size_t)shape[1];
}

static size_t weights_size(const ferry_matrix *matrix)
{
    return ferry_matrix_panels(matrix) * ferry_panel_bytes(matrix) * (matrix->kind == FERRY_MATRIX_PLANES ? 2 : 1);
}

/* Bytes from the weights, or from a plane, to the cell of row n in the first line of its panel. */
static size_t first_cell(const ferry_matrix *matrix, int32_t n)
{
    return (size_t)(n / FERRY_LANES) * ferry_panel_bytes(matrix) + (size_t)(n % FERRY_LANES * FERRY_CELL_BYTES);
}

size_t ferry_panels_count(int32_t N, int32_t K)
{
    return ferry_round_up((size_t)N, FERRY_LANES) * (size_t)K;
}

void ferry_panels_pack(float *panels, const float *weight, int32_t N, int32_t K)
{
    for (int32_t first = 0; first < N; first += FERRY_LANES) {
        for (int32_t k = 0; k < K; k++)
            for (int32_t l = 0; l < FERRY_LANES; l++)
                *panels++ = first + l < N ? weight[(size_t)(first + l) * (size_t)K + (size_t)k] : 0.0f;
    }
}

/* ---- products ---- */

size_t ferry_rows_i8_size(const ferry_kernels *kernels, int32_t rows, int32_t K)
{
    const size_t count = (size_t)rows, extra = kernels->extra != NULL ? kernels->extra->inputs_size(rows, K) : 0;
    return ferry_round_up(count * (2 * sizeof(float) + sizeof(int32_t)), 64) + count * ferry_round_up((size_t)K, 64) +
           extra + ferry_round_up(count * ((size_t)K / FERRY_STEP_INPUTS) * sizeof(int32_t), 64);
}

ferry_rows_i8 ferry_rows_i8_begin(const ferry_kernels *kernels, int32_t rows, const ferry_matrix *const *matrices,
                                  int32_t count, void *memory)
{
    const ferry_matrix *matrix = matrices[0];
    ferry_rows_i8 inputs = {.rows = rows,
                            .K = matrix->K,
                            .nibbles = matrix->kind == FERRY_MATRIX_NIBBLES,
                            .nibbles_error = matrix->nibbles_error,
                            .steps = matrix->kind == FERRY_MATRIX_STEPS && rows <= kernels->steps_rows};
    inputs.inverse_scales = memory;
    inputs.scales = inputs.inverse_scales + rows;
    inputs.sums = (int32_t *)(void *)(inputs.scales + rows);
    inputs.int8 = (int8_t *)memory + ferry_round_up((size_t)rows * (2 * sizeof(float) + sizeof(int32_t)), 64);
    inputs.extra = inputs.int8 + (size_t)rows * ferry_round_up((size_t)inputs.K, 64);
    const size_t extra = kernels->extra != NULL ? kernels->extra->inputs_size(rows, inputs.K) : 0;
    inputs.starts = (int32_t *)(void *)((char *)inputs.extra + extra);
    if (kernels->extra != NULL) kernels->extra->inputs_begin(&inputs, matrices, count);
    return inputs;
}

/* a is the matrix's input_multiplier, or 127 / max|x| over a group of rows. A group is quantized while it is in the
 * cache. */
static void quantize(const ferry_kernels *kernels, ferry_rows_i8 *inputs, const ferry_rows *rows,
                     const ferry_matrix *matrix)
{
    const size_t K = (size_t)inputs->K;
    for (int32_t row = 0, group = 0; row < rows->count; group++) {
        const int32_t end = rows->group_ends != NULL ? rows->group_ends[group] : row + 1;
        float a = matrix->input_multiplier;
        assert(end <= rows->count);
        if (a == 0.0f) {
            const float largest = kernels->largest(rows->x + (size_t)row * K, (size_t)(end - row) * K);
            a = largest == 0.0f ? 1.0f : 127.0f / largest;
        }
        for (; row < end; row++) {
            inputs->inverse_scales[row] = a;
            kernels->quantize(inputs, rows->x + (size_t)row * K, row);
        }
    }
}

ferry_status ferry_inputs_prepare(ferry_context *context, const ferry_rows *rows, const ferry_matrix *const *matrices,
                                  int32_t matrix_count, ferry_inputs *inputs, ferry_error *error)
{
    const ferry_matrix *matrix = matrices[0];
    *inputs = (ferry_inputs){.rows = rows->count};
    bool failed = false;
    if (matrix->kind == FERRY_MATRIX_FLOATS) {
        const size_t count = (size_t)rows->count, K = (size_t)matrix->K;
        inputs->x = rows->x;
        inputs->ldx = K;
        if (count < SPREAD_ROWS || K % SPREAD_STRIDE != 0) return FERRY_OK;
        inputs->ldx = K + FERRY_LANES;
        float *x = ferry_arena_take(&context->arena, count, inputs->ldx * sizeof *x, &failed);
        if (failed) return ferry_arena_fail(&context->arena, "inputs", count * inputs->ldx, sizeof *x, error);
        for (size_t row = 0; row < count; row++) memcpy(x + row * inputs->ldx, rows->x + row * K, K * sizeof *x);
        inputs->x = x;
        return FERRY_OK;
    }
    const size_t size = ferry_rows_i8_size(context->kernels, rows->count, matrix->K);
    void *memory = ferry_arena_take(&context->arena, size, 1, &failed);
    if (failed) return ferry_arena_fail(&context->arena, "quantized inputs", size, 1, error);
    inputs->quantized = ferry_rows_i8_begin(context->kernels, rows->count, matrices, matrix_count, memory);
    quantize(context->kernels, &inputs->quantized, rows, matrix);
    return FERRY_OK;
}

/* Products of the same inputs with several matrices, divided into pieces of columns. Threads share pieces. Products can
 * be stopped between two pieces. */
typedef struct products {
    const ferry_context *context;
    float *const *y;
    const ferry_inputs *inputs;
    const ferry_matrix *const *matrices;
    int32_t count;
    int32_t columns[FERRY_LINEAR_MAX]; /* columns of a piece */
    int8_t *unpacked;                  /* where matrices are unpacked */
    size_t unpacked_step;              /* bytes from piece to piece; 0: one thread computes all */
} products;

static int32_t count_pieces(const products *p, int32_t m)
{
    return (p->matrices[m]->N + p->columns[m] - 1) / p->columns[m];
}

/* Whether products are of int8 panels that are unpacked before. */
static bool is_unpacked(const products *p, const ferry_matrix *matrix)
{
    return (matrix->kind == FERRY_MATRIX_PLANES && p->inputs->rows > p->context->kernels->planes_rows) ||
           (matrix->kind == FERRY_MATRIX_STEPS && !p->inputs->quantized.steps);
}

/* Columns that are unpacked together: an even number of panels. */
static int32_t unpacked_columns(int32_t K)
{
    const size_t pairs = UNPACKED_BYTES / (2 * ferry_int8_size(FERRY_LANES, K));
    return 2 * FERRY_LANES * (int32_t)(pairs > 1 ? pairs : 1);
}

/* Unpacks panels and multiplies them. Each half prefetches as many bytes of the next panels as it has: one of their
 * planes; of steps the first half alone, nearly all. */
static void multiply_unpacked(const products *p, float *y, size_t ldy, const ferry_matrix *matrix, int8_t *unpacked)
{
    const ferry_kernels *kernels = p->context->kernels;
    const bool joined = matrix->kind == FERRY_MATRIX_PLANES && kernels->joined;
    const int32_t step = unpacked_columns(matrix->K);
    for (int32_t first = 0; first < matrix->N; first += step) {
        const int32_t count = matrix->N - first < step ? matrix->N - first : step;
        ferry_matrix part = ferry_matrix_columns(matrix, first, count);
        const size_t bytes = ferry_matrix_panels(&part) * ferry_panel_bytes(&part);
        const uint8_t *next[] = {part.nibbles + bytes, part.lower != NULL ? part.lower + bytes : NULL};
        ferry_matrix_unpack(kernels, &part, joined, unpacked);
        part.kind = joined ? FERRY_MATRIX_JOINED : FERRY_MATRIX_INT8;
        part.int8 = unpacked;
        part.lower = NULL;
        for (int32_t at = 0; at < count; at += step / 2) {
            ferry_matrix half = ferry_matrix_columns(&part, at, count - at < step / 2 ? count - at : step / 2);
            half.ahead = matrix->N - first >= 2 * step ? (const int8_t *)next[at > 0] : NULL;
            kernels->product_i8(y + first + at, ldy, &p->inputs->quantized, &half);
        }
    }
}

static void multiply_piece(void *user, size_t piece)
{
    const products *p = user;
    const ferry_kernels *kernels = p->context->kernels;
    const ferry_inputs *inputs = p->inputs;
    int32_t m = 0, left = (int32_t)piece;
    if (ferry_context_check(p->context, NULL) != FERRY_OK) return;
    for (; left >= count_pieces(p, m); m++) left -= count_pieces(p, m);
    const int32_t N = p->matrices[m]->N, first = left * p->columns[m];
    const int32_t count = N - first < p->columns[m] ? N - first : p->columns[m];
    const ferry_matrix part = ferry_matrix_columns(p->matrices[m], first, count);
    float *y = p->y[m] + first;
    if (is_unpacked(p, &part))
        multiply_unpacked(p, y, (size_t)N, &part, p->unpacked + piece * p->unpacked_step);
    else if (part.kind != FERRY_MATRIX_FLOATS)
        kernels->product_i8(y, (size_t)N, &inputs->quantized, &part);
    else
        kernels->product(y, (size_t)N, inputs->x, inputs->ldx, inputs->rows, part.panels, part.K, count, part.bias);
}

/* Pieces have places of their own, as threads compute them together. */
static ferry_status prepare_unpacking(ferry_context *context, products *p, size_t places, ferry_error *error)
{
    const int32_t K = p->matrices[0]->K;
    const size_t bytes = ferry_int8_size(unpacked_columns(K), K);
    bool needed = false, failed = false;
    for (int32_t m = 0; m < p->count; m++) needed |= is_unpacked(p, p->matrices[m]);
    if (!needed) return FERRY_OK;
    p->unpacked = ferry_arena_take(&context->arena, places, bytes, &failed);
    p->unpacked_step = places > 1 ? bytes : 0;
    return failed ? ferry_arena_fail(&context->arena, "unpacked panels", places, bytes, error) : FERRY_OK;
}

static ferry_status multiply(ferry_context *context, products *p, ferry_error *error)
{
    size_t bytes = 0, pieces = 0;
    int64_t cost = 0;
    for (int32_t m = 0; m < p->count; m++) {
        const ferry_matrix *matrix = p->matrices[m];
        const int64_t work = (int64_t)p->inputs->rows * matrix->K * matrix->N;
        *(matrix->kind == FERRY_MATRIX_FLOATS ? &context->work.float_products : &context->work.int8_products) += work;
        cost += matrix->kind == FERRY_MATRIX_FLOATS ? 4 * work : work;
        bytes += weights_size(matrix);
    }
    context->work.weight_bytes += (int64_t)bytes;
    const size_t threads = 1 + (size_t)ferry_pool_helpers(context->pool), max = threads * THREAD_PIECES;
    const size_t several = bytes / PIECE_BYTES < max ? bytes / PIECE_BYTES : max;
    const size_t shared = threads == 1 || bytes < SHARED_BYTES ? 1 : several, min = (size_t)(cost / PIECE_COST);
    const size_t wanted = shared > min ? shared : min;
    for (int32_t m = 0; m < p->count; m++) {
        const size_t share = (weights_size(p->matrices[m]) * wanted + bytes - 1) / bytes;
        p->columns[m] = (int32_t)ferry_round_up(((size_t)p->matrices[m]->N + share - 1) / share, PIECE_COLUMNS);
        pieces += (size_t)count_pieces(p, m);
    }
    const ferry_arena_mark mark = ferry_arena_begin(&context->arena);
    FERRY_TRY(prepare_unpacking(context, p, shared > 1 ? pieces : 1, error));
    ferry_pool_share(shared > 1 ? context->pool : NULL, multiply_piece, p, pieces);
    ferry_arena_end(&context->arena, mark);
    return ferry_context_check(context, error);
}

ferry_status ferry_inputs_multiply(ferry_context *context, float *y, const ferry_inputs *inputs,
                                   const ferry_matrix *matrix, ferry_error *error)
{
    products p = {.context = context, .y = &y, .inputs = inputs, .matrices = &matrix, .count = 1};
    return multiply(context, &p, error);
}

ferry_status ferry_linear(ferry_context *context, float *y, const ferry_rows *rows, const ferry_matrix *matrix,
                          ferry_error *error)
{
    return ferry_linear_many(context, &y, rows, &matrix, 1, error);
}

ferry_status ferry_linear_many(ferry_context *context, float *const *y, const ferry_rows *rows,
                               const ferry_matrix *const *matrices, int32_t count, ferry_error *error)
{
    const ferry_arena_mark mark = ferry_arena_begin(&context->arena);
    assert(count <= FERRY_LINEAR_MAX);
    for (int32_t first = 0, last = 0; first < count; first = last) {
        ferry_inputs inputs; /* shared by matrices first … last - 1 */
        while (last < count && matrices[last]->kind == matrices[first]->kind &&
               matrices[last]->input_multiplier == matrices[first]->input_multiplier)
            last++;
        FERRY_TRY(ferry_inputs_prepare(context, rows, matrices + first, last - first, &inputs, error));
        products p = {
            .context = context, .y = y + first, .inputs = &inputs, .matrices = matrices + first, .count = last - first};
        FERRY_TRY(multiply(context, &p, error));
    }
    ferry_arena_end(&context->arena, mark);
    return FERRY_OK;
}

ferry_status ferry_matrix_begin(ferry_matrix *matrix, const ferry_kernels *kernels, ferry_arena *arena,
                                ferry_error *error)
{
    if (kernels->extra == NULL || matrix->kind == FERRY_MATRIX_STEPS) return FERRY_OK;
    const size_t size = kernels->extra->matrix_size(matrix->K);
    matrix->extra = ferry_arena_alloc(arena, size, 1);
    if (matrix->extra == NULL) return ferry_fail_memory(error, "additional data of a matrix", size, 1);
    kernels->extra->matrix_begin(matrix);
    return FERRY_OK;
}

/* ---- rows of a matrix ---- */

void ferry_matrix_unpack(const ferry_kernels *kernels, const ferry_matrix *matrix, bool joined, int8_t *int8)
{
    const size_t panels = ferry_matrix_panels(matrix), bytes = ferry_panel_bytes(matrix);
    if (matrix->kind == FERRY_MATRIX_PLANES) {
        kernels->join_planes(int8, matrix->nibbles, matrix->lower, panels * bytes / FERRY_LINE_BYTES, joined);
        return;
    }
    for (size_t i = 0; i < panels; i++)
        kernels->unpack_steps(int8 + i * ferry_int8_size(FERRY_LANES, matrix->K), matrix->steps + i * bytes, matrix->K);
}

void ferry_matrix_row(const ferry_matrix *matrix, int32_t n, float *y)
{
    const unsigned char *cell = (const unsigned char *)matrix->weights + first_cell(matrix, n);
    if (matrix->kind == FERRY_MATRIX_FLOATS) {
        for (int32_t k = 0; k < matrix->K; k++, cell += FERRY_LINE_BYTES) memcpy(&y[k], cell, sizeof *y);
        return;
    }
    const int8_t *int8 = (const int8_t *)cell;
    float scale = matrix->scales != NULL ? matrix->scales[n] : 1.0f / matrix->multiplier;
    if (matrix->kind == FERRY_MATRIX_PLANES) {
        const uint8_t *lower = matrix->lower + first_cell(matrix, n);
        for (int32_t k = 0; k < matrix->K; k++) y[k] = (float)ferry_planes_code(cell, lower, k) * scale;
        return;
    }
    for (int32_t k = 0; k < matrix->K; k++)
        y[k] = (float)int8[(size_t)(k / FERRY_INT8_GROUP) * FERRY_LINE_BYTES + (size_t)(k % FERRY_INT8_GROUP)] * scale;
}

ferry_matrix ferry_matrix_columns(const ferry_matrix *matrix, int32_t first, int32_t count)
{
    ferry_matrix columns = *matrix;
    assert(first % FERRY_LANES == 0 && first >= 0 && count >= 0 && count <= matrix->N - first);
    columns.N = count;
    columns.weights = (const unsigned char *)matrix->weights + first_cell(matrix, first);
    if (matrix->lower != NULL) columns.lower += first_cell(matrix, first);
    if (matrix->scales != NULL) columns.scales += first;
    if (matrix->bias != NULL) columns.bias += first;
    return columns;
}

/* [count] elements x[ids], or NULL if x is NULL. */
static const float *select_elements(const float *x, const int32_t *ids, int32_t count, ferry_arena *arena, bool *failed)
{
    if (x == NULL) return NULL;
    float *selected = ferry_arena_take(arena, (size_t)count, sizeof *selected, failed);
    for (int32_t i = 0; selected != NULL && i < count; i++) selected[i] = x[ids[i]];
    return selected;
}

/* Rows ids [count] of the weights, or of a plane, into panels. */
static void select_rows(const ferry_matrix *matrix, const void *weights, const int32_t *ids, int32_t count,
                        unsigned char *data)
{
    const size_t bytes = ferry_panel_bytes(matrix);
    for (int32_t first = 0; first < count; first += FERRY_LANES, data += bytes) {
        const int32_t here = count - first < FERRY_LANES ? count - first : FERRY_LANES;
        const unsigned char *rows[FERRY_LANES]; /* the sources of the panel's rows, read side by side */
        if (here < FERRY_LANES) memset(data, 0, bytes);
        for (int32_t l = 0; l < here; l++)
            rows[l] = (const unsigned char *)weights + first_cell(matrix, ids[first + l]);
        for (size_t at = 0; at < bytes; at += FERRY_LINE_BYTES)
            for (int32_t l = 0; l < here; l++) memcpy(data + at + l * FERRY_CELL_BYTES, rows[l] + at, FERRY_CELL_BYTES);
    }
}

ferry_status ferry_matrix_select(const ferry_matrix *matrix, const int32_t *ids, int32_t count, ferry_arena *arena,
                                 ferry_matrix *selected, ferry_error *error)
{
    bool failed = false;
    *selected = *matrix;
    selected->N = count;
    const size_t bytes = weights_size(selected);
    unsigned char *data = ferry_arena_take(arena, bytes, 1, &failed);
    selected->scales = select_elements(matrix->scales, ids, count, arena, &failed);
    selected->bias = select_elements(matrix->bias, ids, count, arena, &failed);
    if (failed) return ferry_arena_fail(arena, "selected rows of a matrix", bytes, 1, error);
    selected->weights = data;
    select_rows(matrix, matrix->weights, ids, count, data);
    if (matrix->kind != FERRY_MATRIX_PLANES) return FERRY_OK;
    selected->lower = data + bytes / 2;
    select_rows(matrix, matrix->lower, ids, count, data + bytes / 2);
    return FERRY_OK;
}

/* ---- int8 ---- */

size_t ferry_int8_size(int32_t N, int32_t K)
{
    return ferry_round_up((size_t)N, FERRY_LANES) * ferry_round_up((size_t)K, FERRY_INT8_GROUP);
}

size_t ferry_nibbles_size(int32_t N, int32_t K)
{
    return ferry_int8_size(N, K) / 2;
}

void ferry_int8_pack(int8_t *panel, const int8_t *rows, int32_t count, int32_t K)
{
    memset(panel, 0, ferry_int8_size(FERRY_LANES, K));
    for (int32_t r = 0; r < count; r++)
        for (int32_t k = 0; k < K; k++)
            panel[(k / FERRY_INT8_GROUP * FERRY_LANES + r) * FERRY_INT8_GROUP + k % FERRY_INT8_GROUP] =
                rows[(size_t)r * (size_t)K + (size_t)k];
}

size_t ferry_steps_size(int32_t N, int32_t K)
{
    const size_t panels = ferry_round_up((size_t)N, FERRY_LANES) / FERRY_LANES;
    return ferry_nibbles_size(N, K) + panels * ferry_step_lines((size_t)K) * FERRY_LINE_BYTES;
}

void ferry_steps_pack(uint8_t *panel, const int8_t *steps, const int8_t *q, int32_t count, int32_t K)
{
    const int32_t groups = K / FERRY_STEP_INPUTS;
    uint8_t *nibbles = panel + ferry_step_lines((size_t)K) * FERRY_LINE_BYTES;
    memset(panel, 0, ferry_steps_size(FERRY_LANES, K));
    for (int32_t r = 0; r < count; r++) {
        for (int32_t g = 0; g < groups; g++) panel[g * FERRY_LANES + r] = (uint8_t)steps[r * groups + g];
        for (int32_t k = 0; k < K; k++) {
            const int32_t at = k / FERRY_NIBBLE_GROUP * FERRY_LINE_BYTES + r * FERRY_CELL_BYTES + k % FERRY_CELL_BYTES;
            const int u = q[(size_t)r * (size_t)K + (size_t)k] + 8;
            nibbles[at] |= (uint8_t)(k % FERRY_NIBBLE_GROUP < FERRY_CELL_BYTES ? u : u << 4);
        }
    }
}

bool ferry_steps_fit(const ferry_matrix *matrix)
{
    const uint8_t *lines = matrix->steps;
    int32_t largest = 0;
    for (size_t p = 0; p < ferry_matrix_panels(matrix); p++) {
        const int8_t *steps = (const int8_t *)lines;
        lines += ferry_step_lines((size_t)matrix->K) * FERRY_LINE_BYTES;
        for (int32_t k = 0; k < matrix->K; k += FERRY_NIBBLE_GROUP, lines += FERRY_LINE_BYTES)
            for (int32_t i = 0; i < FERRY_LINE_BYTES; i++) {
                const int32_t step = steps[k / FERRY_STEP_INPUTS * FERRY_LANES + i / FERRY_CELL_BYTES];
                const int32_t low = abs(step * (lines[i] % 16 - 8)), high = abs(step * (lines[i] / 16 - 8));
                largest = low > largest ? low : largest;
                largest = high > largest ? high : largest;
            }
    }
    return largest <= INT8_MAX;
}

void ferry_int8_quantize(const float *x, int32_t K, int8_t *int8, float *scale)
{
    const float shift = 0x1.8p23f; /* adding it rounds to an integer, ties to even */
    float max[FERRY_LANES] = {0};  /* |x| without NaNs; 16 lanes, so that comparisons are independent */
    for (int32_t k = 0; k < K; k++) {
        float *lane = &max[k % FERRY_LANES];
        *lane = fabsf(x[k]) > *lane ? fabsf(x[k]) : *lane;
    }
    for (int32_t l = 1; l < FERRY_LANES; l++) max[0] = max[l] > max[0] ? max[l] : max[0];
    const float divisor = max[0] / 127, by = divisor == 0.0f ? 1.0f : divisor; /* all 0, or the quotient underflows */
    *scale = by;
    for (int32_t k = 0; k < K; k++) {
        /* The scale of tiny numbers is coarse: their quotients may exceed 127. */
        float quotient = x[k] / by;
        quotient = quotient > -127.0f ? quotient : -127.0f;
        quotient = quotient < 127.0f ? quotient : 127.0f;
        int8[k] = (int8_t)(quotient + shift - shift);
    }
}
