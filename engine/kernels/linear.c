#include "linear.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"

/* Products that threads share: fewer weights take less time than handing them over saves. A piece: many are not worth
 * taking one by one, and tiles have up to four panels. Some for each thread, so that none waits long for the last. */
enum { SHARED_BYTES = 128 << 10, PIECE_BYTES = 32 << 10, PIECE_COLUMNS = 4 * FERRY_LANES, THREAD_PIECES = 2 };

/* ---- products ---- */

/* Each row's factor a is the matrix's own, or 127 / max|x| over the row's group. A group is quantized while it is in
 * the cache. */
static void quantize(const ferry_context *context, const ferry_rows_i8 *inputs, const float *x,
                     const ferry_matrix *matrix)
{
    const size_t K = (size_t)inputs->K;
    assert(context->group_ends == NULL || context->group_ends[context->group_count - 1] == inputs->rows);
    for (int32_t row = 0, group = 0; row < inputs->rows; group++) {
        int32_t end = context->group_ends != NULL ? context->group_ends[group] : row + 1;
        float factor = matrix->input_multiplier;
        if (factor == 0.0f) {
            float largest = context->kernels->largest(x + (size_t)row * K, (size_t)(end - row) * K);
            factor = largest == 0.0f ? 1.0f : 127.0f / largest;
        }
        for (; row < end; row++) {
            inputs->factors[row] = factor;
            context->kernels->quantize(inputs, x + (size_t)row * K, row);
        }
    }
}

ferry_status ferry_inputs_prepare(ferry_context *context, const float *x, int32_t rows, const ferry_matrix *matrix,
                                  ferry_inputs *inputs, ferry_error *error)
{
    ferry_rows_i8 *quantized = &inputs->quantized;
    *inputs = (ferry_inputs){.x = x, .rows = rows};
    if (matrix->codes == NULL) return FERRY_OK;
    const size_t K = ferry_round_up((size_t)matrix->K, 64);
    quantized->rows = rows;
    quantized->K = matrix->K;
    quantized->factors = ferry_arena_alloc(&context->arena, (size_t)rows, sizeof *quantized->factors);
    quantized->sums = ferry_arena_alloc(&context->arena, (size_t)rows, sizeof *quantized->sums);
    quantized->codes = ferry_arena_alloc(&context->arena, (size_t)rows, K);
    if (quantized->factors == NULL || quantized->sums == NULL || quantized->codes == NULL)
        return ferry_fail_memory(error, "quantized inputs", (size_t)rows * K);
    quantize(context, quantized, x, matrix);
    return FERRY_OK;
}

static size_t weights_size(const ferry_matrix *matrix)
{
    return matrix->codes != NULL ? ferry_codes_size(matrix->N, matrix->K)
                                 : ferry_panels_count(matrix->N, matrix->K) * sizeof *matrix->panels;
}

/* Products of the same inputs with some matrices: whole, or in pieces of columns, by which threads share them. */
typedef struct products {
    const ferry_kernels *kernels;
    float *const *y;
    const ferry_inputs *inputs;
    const ferry_matrix *const *matrices;
    int32_t count;
    int32_t columns[FERRY_LINEAR_MAX]; /* of a piece */
} products;

/* Columns first … of what matrix m yields. */
static void multiply_columns(const products *p, int32_t m, int32_t first, int32_t count)
{
    const ferry_inputs *inputs = p->inputs;
    const ferry_matrix columns = ferry_matrix_columns(p->matrices[m], first, count);
    float *y = p->y[m] + first;
    const size_t ldy = (size_t)p->matrices[m]->N;
    if (columns.codes != NULL)
        p->kernels->product_i8(y, ldy, &inputs->quantized, columns.codes, count, columns.scales, columns.multiplier,
                               columns.bias);
    else
        p->kernels->product(y, ldy, inputs->x, (size_t)columns.K, inputs->rows, columns.panels, columns.K, count,
                            columns.bias);
}

static int32_t count_pieces(const products *p, int32_t m)
{
    return (p->matrices[m]->N + p->columns[m] - 1) / p->columns[m];
}

static void multiply_piece(void *user, size_t piece)
{
    const products *p = user;
    int32_t m = 0, left = (int32_t)piece;
    for (; left >= count_pieces(p, m); m++) left -= count_pieces(p, m);
    const int32_t first = left * p->columns[m], rest = p->matrices[m]->N - first;
    multiply_columns(p, m, first, rest < p->columns[m] ? rest : p->columns[m]);
}

/* Into how many pieces so many bytes of weights should go. */
static size_t wanted_pieces(const ferry_pool *pool, size_t bytes)
{
    const size_t threads = 1 + (size_t)ferry_pool_helpers(pool), most = threads * THREAD_PIECES;
    if (threads == 1 || bytes < SHARED_BYTES) return 1;
    return bytes / PIECE_BYTES < most ? bytes / PIECE_BYTES : most;
}

static void multiply(ferry_context *context, products *p)
{
    size_t bytes = 0, pieces = 0;
    for (int32_t m = 0; m < p->count; m++) {
        const ferry_matrix *matrix = p->matrices[m];
        *(matrix->codes != NULL ? &context->work.int8_products : &context->work.float_products) +=
            (int64_t)p->inputs->rows * matrix->K * matrix->N;
        bytes += weights_size(matrix);
    }
    context->work.weight_bytes += (int64_t)bytes;
    const size_t wanted = wanted_pieces(context->pool, bytes);
    if (wanted == 1) {
        for (int32_t m = 0; m < p->count; m++) multiply_columns(p, m, 0, p->matrices[m]->N);
        return;
    }
    for (int32_t m = 0; m < p->count; m++) {
        const size_t share = (weights_size(p->matrices[m]) * wanted + bytes - 1) / bytes;
        p->columns[m] = (int32_t)ferry_round_up(((size_t)p->matrices[m]->N + share - 1) / share, PIECE_COLUMNS);
        pieces += (size_t)count_pieces(p, m);
    }
    ferry_pool_share(context->pool, multiply_piece, p, pieces);
}

void ferry_inputs_multiply(ferry_context *context, float *y, const ferry_inputs *inputs, const ferry_matrix *matrix)
{
    products p = {.kernels = context->kernels, .y = &y, .inputs = inputs, .matrices = &matrix, .count = 1};
    multiply(context, &p);
}

ferry_status ferry_linear(ferry_context *context, float *y, const float *x, int32_t rows, const ferry_matrix *matrix,
                          ferry_error *error)
{
    return ferry_linear_many(context, &y, x, rows, &matrix, 1, error);
}

/* Whether inputs that are ready for one matrix are so for the other. */
static bool same_inputs(const ferry_matrix *a, const ferry_matrix *b)
{
    return (a->codes == NULL) == (b->codes == NULL) && a->input_multiplier == b->input_multiplier;
}

ferry_status ferry_linear_many(ferry_context *context, float *const *y, const float *x, int32_t rows,
                               const ferry_matrix *const *matrices, int32_t count, ferry_error *error)
{
    const ferry_arena_mark mark = ferry_arena_begin(&context->arena);
    ferry_status status = FERRY_OK;
    assert(count <= FERRY_LINEAR_MAX);
    for (int32_t first = 0, last = 0; first < count && status == FERRY_OK; first = last) {
        ferry_inputs inputs;
        status = ferry_inputs_prepare(context, x, rows, matrices[first], &inputs, error);
        while (last < count && same_inputs(matrices[first], matrices[last])) last++;
        products p = {context->kernels, y + first, &inputs, matrices + first, last - first, {0}};
        if (status == FERRY_OK) multiply(context, &p);
    }
    ferry_arena_end(&context->arena, mark);
    return status;
}

/* ---- rows of a matrix ---- */

/* Bytes from panel to panel. */
static size_t codes_stride(int32_t K)
{
    return ferry_codes_size(FERRY_LANES, K);
}

/* The 4 codes of row n that its panel starts with; the next 4 are a group behind. */
static const int8_t *codes_of_row(const ferry_matrix *matrix, int32_t n)
{
    return matrix->codes + (size_t)(n / FERRY_LANES) * codes_stride(matrix->K) + n % FERRY_LANES * 4;
}

void ferry_matrix_row(const ferry_matrix *matrix, int32_t n, float *y)
{
    if (matrix->codes == NULL) {
        ferry_panels_row(y, matrix->panels, matrix->K, n);
        return;
    }
    const int8_t *codes = codes_of_row(matrix, n);
    float scale = matrix->scales != NULL ? matrix->scales[n] : 1.0f / matrix->multiplier;
    for (int32_t k = 0; k < matrix->K; k++) {
        y[k] = (float)codes[(size_t)(k / 4) * FERRY_LANES * 4 + (size_t)(k % 4)] * scale;
    }
}

ferry_matrix ferry_matrix_columns(const ferry_matrix *matrix, int32_t first, int32_t count)
{
    ferry_matrix columns = *matrix;
    assert(first % FERRY_LANES == 0 && first >= 0 && count >= 0 && count <= matrix->N - first);
    columns.N = count;
    if (matrix->codes != NULL)
        columns.codes += (size_t)(first / FERRY_LANES) * codes_stride(matrix->K);
    else
        columns.panels += (size_t)first * (size_t)matrix->K;
    if (matrix->scales != NULL) columns.scales += first;
    if (matrix->bias != NULL) columns.bias += first;
    return columns;
}

/* Rows ids [count ≤ 16] as one panel of codes, or of floats: both read along the rows, side by side. */
static void select_codes(int8_t *panel, const ferry_matrix *matrix, const int32_t *ids, int32_t count)
{
    const int8_t *rows[FERRY_LANES];
    size_t size = codes_stride(matrix->K);
    if (count < FERRY_LANES) memset(panel, 0, size);
    for (int32_t l = 0; l < count; l++) rows[l] = codes_of_row(matrix, ids[l]);
    for (size_t at = 0; at < size; at += FERRY_LANES * 4) {
        for (int32_t l = 0; l < count; l++) memcpy(panel + at + l * 4, rows[l] + at, 4);
    }
}

static void select_floats(float *panel, const ferry_matrix *matrix, const int32_t *ids, int32_t count)
{
    const float *rows[FERRY_LANES];
    size_t size = (size_t)matrix->K * FERRY_LANES;
    if (count < FERRY_LANES) memset(panel, 0, size * sizeof *panel);
    for (int32_t l = 0; l < count; l++) {
        rows[l] = matrix->panels + (size_t)(ids[l] / FERRY_LANES) * size + ids[l] % FERRY_LANES;
    }
    for (size_t at = 0; at < size; at += FERRY_LANES) {
        for (int32_t l = 0; l < count; l++) panel[at + (size_t)l] = rows[l][at];
    }
}

/* [count] elements x[ids], or NULL where x is; *failed becomes true when memory is out. */
static const float *select_elements(const float *x, const int32_t *ids, int32_t count, ferry_arena *arena, bool *failed)
{
    if (x == NULL) return NULL;
    float *selected = ferry_arena_alloc(arena, (size_t)count, sizeof *selected);
    *failed |= selected == NULL;
    for (int32_t i = 0; selected != NULL && i < count; i++) selected[i] = x[ids[i]];
    return selected;
}

ferry_status ferry_matrix_select(const ferry_matrix *matrix, const int32_t *ids, int32_t count, ferry_arena *arena,
                                 ferry_matrix *selected, ferry_error *error)
{
    size_t panels = ferry_round_up((size_t)count, FERRY_LANES) / FERRY_LANES;
    size_t size = matrix->codes != NULL ? codes_stride(matrix->K)
                                        : ferry_panels_count(FERRY_LANES, matrix->K) * sizeof *matrix->panels;
    bool failed = false;
    unsigned char *data = ferry_arena_alloc(arena, panels, size);
    const float *scales = select_elements(matrix->scales, ids, count, arena, &failed);
    const float *bias = select_elements(matrix->bias, ids, count, arena, &failed);
    if (data == NULL || failed) return ferry_fail_memory(error, "selected rows of a matrix", panels * size);
    *selected = *matrix;
    selected->N = count;
    selected->scales = scales;
    selected->bias = bias;
    if (matrix->codes != NULL) {
        selected->codes = (int8_t *)data;
    } else {
        selected->panels = (float *)(void *)data;
    }
    for (size_t p = 0; p < panels; p++) {
        int32_t first = (int32_t)p * FERRY_LANES, left = count - first < FERRY_LANES ? count - first : FERRY_LANES;
        if (matrix->codes != NULL) {
            select_codes((int8_t *)(data + p * size), matrix, ids + first, left);
        } else {
            select_floats((float *)(void *)(data + p * size), matrix, ids + first, left);
        }
    }
    return FERRY_OK;
}

/* ---- codes ---- */

size_t ferry_codes_size(int32_t N, int32_t K)
{
    return ferry_round_up((size_t)N, FERRY_LANES) * ferry_round_up((size_t)K, 4);
}

void ferry_codes_pack(int8_t *panel, const int8_t *rows, int32_t count, int32_t K)
{
    memset(panel, 0, ferry_codes_size(FERRY_LANES, K));
    for (int32_t r = 0; r < count; r++) {
        for (int32_t k = 0; k < K; k++) panel[(k / 4) * 64 + r * 4 + k % 4] = rows[(size_t)r * (size_t)K + (size_t)k];
    }
}

/* max|x|, without numbers that are none. In lanes, which a compiler turns into vectors. */
static float largest_size(const float *x, int32_t K)
{
    float most[FERRY_LANES] = {0};
    int32_t k = 0;
    for (; k + FERRY_LANES <= K; k += FERRY_LANES) {
        for (int32_t l = 0; l < FERRY_LANES; l++) {
            float size = fabsf(x[k + l]);
            most[l] = size > most[l] ? size : most[l];
        }
    }
    for (int32_t l = 0; k + l < K; l++) most[l] = fmaxf(most[l], fabsf(x[k + l]));
    for (int32_t l = 1; l < FERRY_LANES; l++) most[0] = fmaxf(most[0], most[l]);
    return most[0];
}

void ferry_codes_quantize(const float *x, int32_t K, int8_t *codes, float *scale)
{
    const float shift = 0x1.8p23f; /* what is added to it is rounded to an integer, to the nearest even one */
    const float divisor = largest_size(x, K) / 127, by = divisor == 0.0f ? 1.0f : divisor; /* 0, or too small */
    *scale = by;
    for (int32_t k = 0; k < K; k++) {
        /* The scale of tiny numbers is coarse: their quotients may pass 127. */
        float quotient = x[k] / by;
        quotient = quotient > -127.0f ? quotient : -127.0f;
        quotient = quotient < 127.0f ? quotient : 127.0f;
        codes[k] = (int8_t)(quotient + shift - shift);
    }
}
