#include "linear.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"

/* Products that threads share: for fewer weights, sharing costs more than it saves. Their pieces: smaller ones are not
 * worth taking one by one, and tiles have up to four panels. Several for each thread, so that none waits long for the
 * last. */
enum { SHARED_BYTES = 128 << 10, PIECE_BYTES = 32 << 10, PIECE_COLUMNS = 4 * FERRY_LANES, THREAD_PIECES = 2 };
/* What a piece costs at most, in multiply-adds of int8, four of which count as one of floats: milliseconds, after which
 * a product can be stopped. */
#define PIECE_COST ((int64_t)1 << 29)
/* Rows of floats that are copied: as many, with a stride of such a multiple. */
enum { SPREAD_ROWS = 4, SPREAD_STRIDE = 128 };

ferry_status ferry_context_check(const ferry_context *context, ferry_error *error)
{
    const bool stopped = context->stop != NULL && atomic_load_explicit(context->stop, memory_order_relaxed);
    return stopped ? ferry_fail(error, FERRY_ERROR_CANCELLED, "cancelled") : FERRY_OK;
}

/* ---- panels ---- */

/* A panel of any kind is a list of lines of 64 bytes, in each of which every one of the 16 rows has 4: a float, four
 * codes, or eight nibbles. */
enum { LINE_BYTES = 64, CELL_BYTES = LINE_BYTES / FERRY_LANES };

size_t ferry_panel_bytes(const ferry_matrix *matrix)
{
    static const size_t together[] = {[FERRY_MATRIX_FLOATS] = 1, [FERRY_MATRIX_CODES] = 4, [FERRY_MATRIX_NIBBLES] = 8};
    return LINE_BYTES * (((size_t)matrix->K + together[matrix->kind] - 1) / together[matrix->kind]);
}

static size_t weights_size(const ferry_matrix *matrix)
{
    return ferry_matrix_panels(matrix) * ferry_panel_bytes(matrix);
}

/* Where row n has its bytes in the first line of its panel. */
static const unsigned char *first_cell(const ferry_matrix *matrix, int32_t n)
{
    return (const unsigned char *)matrix->weights + (size_t)(n / FERRY_LANES) * ferry_panel_bytes(matrix) +
           n % FERRY_LANES * CELL_BYTES;
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
    const size_t count = (size_t)rows, codes = ferry_round_up((size_t)K, 64);
    const size_t pairs =
        ferry_overflow_most(K) * sizeof(ferry_overflow_group) + (ferry_overflow_offsets(K) + 1) * sizeof(int32_t);
    return ferry_round_up(count * (2 * sizeof(float) + sizeof(int32_t)), 64) +
           count * (codes + (kernels->pairs ? pairs : 0));
}

void ferry_rows_i8_place(ferry_rows_i8 *inputs, const ferry_kernels *kernels, void *memory)
{
    const size_t rows = (size_t)inputs->rows, K = (size_t)inputs->K;
    ferry_overflow *overflow = &inputs->overflow;
    inputs->factors = memory;
    inputs->units = inputs->factors + rows;
    inputs->sums = (int32_t *)(void *)(inputs->units + rows);
    inputs->codes = (int8_t *)memory + ferry_round_up(rows * (2 * sizeof(float) + sizeof(int32_t)), 64);
    if (!kernels->pairs) return;
    overflow->groups = (ferry_overflow_group *)(void *)(inputs->codes + rows * ferry_round_up(K, 64));
    overflow->offsets = (int32_t *)(void *)(overflow->groups + rows * ferry_overflow_most(inputs->K));
    overflow->counts = overflow->offsets + rows * ferry_overflow_offsets(inputs->K);
}

/* Each row's factor a is the matrix's own, or 127 / max|x| over the row's group. A group is quantized while it is in
 * the cache. */
static void quantize(const ferry_kernels *kernels, ferry_rows_i8 *inputs, const ferry_rows *rows,
                     const ferry_matrix *matrix)
{
    const size_t K = (size_t)inputs->K;
    for (int32_t row = 0, group = 0; row < rows->count; group++) {
        const int32_t end = rows->group_ends != NULL ? rows->group_ends[group] : row + 1;
        float factor = matrix->input_multiplier;
        assert(end <= rows->count);
        if (factor == 0.0f) {
            const float largest = kernels->largest(rows->x + (size_t)row * K, (size_t)(end - row) * K);
            factor = largest == 0.0f ? 1.0f : 127.0f / largest;
        }
        for (; row < end; row++) {
            inputs->factors[row] = factor;
            kernels->quantize(inputs, rows->x + (size_t)row * K, row);
        }
    }
}

/* The lowest limits of `count` matrices of codes; NULL: they are not all known. */
static const int32_t *lowest_limits(ferry_context *context, const ferry_matrix *const *matrices, int32_t count,
                                    int32_t rows, bool *failed)
{
    const size_t values = ferry_input_limits_count(matrices[0]->K);
    const int32_t *limits[FERRY_LINEAR_MAX];
    bool known = true;
    for (int32_t m = 0; m < count; m++) {
        limits[m] = matrices[m]->limits != NULL ? ferry_input_limits_find(matrices[m]->limits, rows) : NULL;
        known = known && limits[m] != NULL;
    }
    if (!known) return NULL;
    if (count == 1) return limits[0];
    int32_t *lowest = ferry_arena_take(&context->arena, values, sizeof *lowest, failed);
    for (size_t i = 0; lowest != NULL && i < values; i++) {
        lowest[i] = limits[0][i];
        for (int32_t m = 1; m < count; m++) lowest[i] = limits[m][i] < lowest[i] ? limits[m][i] : lowest[i];
    }
    return lowest;
}

ferry_status ferry_inputs_prepare(ferry_context *context, const ferry_rows *rows, const ferry_matrix *const *matrices,
                                  int32_t matrix_count, ferry_inputs *inputs, ferry_error *error)
{
    const ferry_matrix *matrix = matrices[0];
    ferry_rows_i8 *quantized = &inputs->quantized;
    *inputs = (ferry_inputs){.rows = rows->count};
    bool failed = false;
    if (matrix->kind == FERRY_MATRIX_FLOATS) {
        const size_t count = (size_t)rows->count, K = (size_t)matrix->K;
        inputs->x = rows->x;
        inputs->ldx = K;
        if (count < SPREAD_ROWS || K % SPREAD_STRIDE != 0) return FERRY_OK;
        /* Rows whose distance is a power of two would share few sets of the cache: they are copied. */
        inputs->ldx = K + FERRY_LANES;
        float *x = ferry_arena_take(&context->arena, count, inputs->ldx * sizeof *x, &failed);
        if (failed) return ferry_arena_fail(&context->arena, "inputs", count * inputs->ldx, sizeof *x, error);
        for (size_t row = 0; row < count; row++) memcpy(x + row * inputs->ldx, rows->x + row * K, K * sizeof *x);
        inputs->x = x;
        return FERRY_OK;
    }
    const size_t size = ferry_rows_i8_size(context->kernels, rows->count, matrix->K);
    void *memory = ferry_arena_take(&context->arena, size, 1, &failed);
    *quantized = (ferry_rows_i8){.rows = rows->count,
                                 .K = matrix->K,
                                 .nibbles = matrix->kind == FERRY_MATRIX_NIBBLES,
                                 .nibbles_error = matrix->nibbles_error};
    if (!quantized->nibbles && rows->count >= FERRY_LIMITED_ROWS_TOGETHER && context->kernels->pairs)
        quantized->overflow.limits = lowest_limits(context, matrices, matrix_count, rows->count, &failed);
    if (failed) return ferry_arena_fail(&context->arena, "quantized inputs", size, 1, error);
    ferry_rows_i8_place(quantized, context->kernels, memory);
    quantize(context->kernels, quantized, rows, matrix);
    return FERRY_OK;
}

/* Products of the same inputs with some matrices: whole, or in pieces of columns, by which threads share them, and
 * between which they can be stopped. */
typedef struct products {
    const ferry_context *context;
    float *const *y;
    const ferry_inputs *inputs;
    const ferry_matrix *const *matrices;
    int32_t count;
    int32_t columns[FERRY_LINEAR_MAX]; /* of a piece */
} products;

static int32_t count_pieces(const products *p, int32_t m)
{
    return (p->matrices[m]->N + p->columns[m] - 1) / p->columns[m];
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
    if (part.kind != FERRY_MATRIX_FLOATS)
        kernels->product_i8(y, (size_t)N, &inputs->quantized, &part);
    else
        kernels->product(y, (size_t)N, inputs->x, inputs->ldx, inputs->rows, part.panels, part.K, count, part.bias);
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
    const size_t threads = 1 + (size_t)ferry_pool_helpers(context->pool), most = threads * THREAD_PIECES;
    const size_t several = bytes / PIECE_BYTES < most ? bytes / PIECE_BYTES : most;
    const size_t shared = threads == 1 || bytes < SHARED_BYTES ? 1 : several, least = (size_t)(cost / PIECE_COST);
    const size_t wanted = shared > least ? shared : least;
    for (int32_t m = 0; m < p->count; m++) {
        const size_t share = (weights_size(p->matrices[m]) * wanted + bytes - 1) / bytes;
        p->columns[m] = (int32_t)ferry_round_up(((size_t)p->matrices[m]->N + share - 1) / share, PIECE_COLUMNS);
        pieces += (size_t)count_pieces(p, m);
    }
    ferry_pool_share(shared > 1 ? context->pool : NULL, multiply_piece, p, pieces);
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
        ferry_inputs inputs; /* of matrices that have the same */
        while (last < count && matrices[last]->kind == matrices[first]->kind &&
               matrices[last]->input_multiplier == matrices[first]->input_multiplier)
            last++;
        FERRY_TRY(ferry_inputs_prepare(context, rows, matrices + first, last - first, &inputs, error));
        products p = {context, y + first, &inputs, matrices + first, last - first, {0}};
        FERRY_TRY(multiply(context, &p, error));
    }
    ferry_arena_end(&context->arena, mark);
    return FERRY_OK;
}

/* ---- rows of a matrix ---- */

void ferry_matrix_row(const ferry_matrix *matrix, int32_t n, float *y)
{
    const unsigned char *cell = first_cell(matrix, n);
    if (matrix->kind == FERRY_MATRIX_FLOATS) {
        for (int32_t k = 0; k < matrix->K; k++, cell += LINE_BYTES) memcpy(&y[k], cell, sizeof *y);
        return;
    }
    const int8_t *codes = (const int8_t *)cell;
    float scale = matrix->scales != NULL ? matrix->scales[n] : 1.0f / matrix->multiplier;
    for (int32_t k = 0; k < matrix->K; k++) y[k] = (float)codes[(size_t)(k / 4) * LINE_BYTES + (size_t)(k % 4)] * scale;
}

ferry_matrix ferry_matrix_columns(const ferry_matrix *matrix, int32_t first, int32_t count)
{
    ferry_matrix columns = *matrix;
    assert(first % FERRY_LANES == 0 && first >= 0 && count >= 0 && count <= matrix->N - first);
    columns.N = count;
    columns.weights = first_cell(matrix, first);
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

ferry_status ferry_matrix_select(const ferry_matrix *matrix, const int32_t *ids, int32_t count, ferry_arena *arena,
                                 ferry_matrix *selected, ferry_error *error)
{
    const size_t panels = ferry_round_up((size_t)count, FERRY_LANES) / FERRY_LANES, bytes = ferry_panel_bytes(matrix);
    bool failed = false;
    unsigned char *data = ferry_arena_take(arena, panels, bytes, &failed);
    *selected = *matrix;
    selected->N = count;
    selected->scales = select_elements(matrix->scales, ids, count, arena, &failed);
    selected->bias = select_elements(matrix->bias, ids, count, arena, &failed);
    if (failed) return ferry_arena_fail(arena, "selected rows of a matrix", panels * bytes, 1, error);
    ;
    selected->weights = data;
    for (int32_t first = 0; first < count; first += FERRY_LANES, data += bytes) {
        const int32_t here = count - first < FERRY_LANES ? count - first : FERRY_LANES;
        const unsigned char *rows[FERRY_LANES]; /* of the panel, read side by side */
        if (here < FERRY_LANES) memset(data, 0, bytes);
        for (int32_t l = 0; l < here; l++) rows[l] = first_cell(matrix, ids[first + l]);
        for (size_t at = 0; at < bytes; at += LINE_BYTES)
            for (int32_t l = 0; l < here; l++) memcpy(data + at + l * CELL_BYTES, rows[l] + at, CELL_BYTES);
    }
    return FERRY_OK;
}

/* ---- codes ---- */

size_t ferry_codes_size(int32_t N, int32_t K)
{
    return ferry_round_up((size_t)N, FERRY_LANES) * ferry_round_up((size_t)K, 4);
}

size_t ferry_nibbles_size(int32_t N, int32_t K)
{
    return ferry_codes_size(N, K) / 2;
}

void ferry_codes_pack(int8_t *panel, const int8_t *rows, int32_t count, int32_t K)
{
    memset(panel, 0, ferry_codes_size(FERRY_LANES, K));
    for (int32_t r = 0; r < count; r++)
        for (int32_t k = 0; k < K; k++) panel[(k / 4) * 64 + r * 4 + k % 4] = rows[(size_t)r * (size_t)K + (size_t)k];
}

void ferry_codes_quantize(const float *x, int32_t K, int8_t *codes, float *scale)
{
    const float shift = 0x1.8p23f; /* adding it rounds to an integer, ties to even */
    float most[FERRY_LANES] = {0}; /* |x|, ignoring NaNs. In lanes, so that no comparison waits for the one before */
    for (int32_t k = 0; k < K; k++) {
        float *lane = &most[k % FERRY_LANES];
        *lane = fabsf(x[k]) > *lane ? fabsf(x[k]) : *lane;
    }
    for (int32_t l = 1; l < FERRY_LANES; l++) most[0] = most[l] > most[0] ? most[l] : most[0];
    const float divisor = most[0] / 127, by = divisor == 0.0f ? 1.0f : divisor; /* 0, or too small */
    *scale = by;
    for (int32_t k = 0; k < K; k++) {
        /* The scale of tiny numbers is coarse: their quotients may pass 127. */
        float quotient = x[k] / by;
        quotient = quotient > -127.0f ? quotient : -127.0f;
        quotient = quotient < 127.0f ? quotient : 127.0f;
        codes[k] = (int8_t)(quotient + shift - shift);
    }
}

/* ---- limits of inputs ---- */

/* Inputs of a group; pairs in a line of 16 outputs for it; inputs that have limits; and for how many of these a panel
 * is read at a time, so that what is found stays in the cache. */
enum { GROUP = 4, PAIRS = LINE_BYTES / 2, PART = 16, PARTS_READ = 16 };
enum { UNKNOWN, MEASURING, KNOWN };

size_t ferry_input_limits_count(int32_t K)
{
    return 3 * ferry_overflow_offsets(K);
}

size_t ferry_input_limits_size(int32_t K)
{
    return sizeof(ferry_input_limits) + ferry_input_limits_count(K) * sizeof(int32_t);
}

void ferry_input_limits_init(ferry_input_limits *limits, const int8_t *codes, int32_t N, int32_t K)
{
    memset(limits, 0, ferry_input_limits_size(K));
    atomic_init(&limits->state, UNKNOWN);
    atomic_init(&limits->rows, 0);
    limits->N = N;
    limits->K = K;
    limits->codes = codes;
}

/* most[pair] = the larger one of most[pair] and Σ q² of the pairs of some groups. In quarters, rounded up, these fit in
 * 16 bits. */
static void measure_part(const int8_t *codes, size_t groups, uint16_t *most)
{
    uint16_t sums[PAIRS] = {0};
    for (size_t g = 0; g < groups; g++) {
        uint16_t pairs[PAIRS];
        memcpy(pairs, codes + g * LINE_BYTES, LINE_BYTES);
        for (size_t p = 0; p < PAIRS; p++) {
            const int16_t low = (int8_t)(pairs[p] & 0xff), high = (int8_t)(pairs[p] >> 8);
            sums[p] = (uint16_t)(sums[p] + (uint16_t)(low * low + high * high) / 4 + 1);
        }
    }
    for (size_t p = 0; p < PAIRS; p++) most[p] = sums[p] > most[p] ? sums[p] : most[p];
}

/* values[part][2] = the largest quarters of Σ q² of all outputs. */
static void measure(ferry_input_limits *limits)
{
    const size_t parts = ((size_t)limits->K + PART - 1) / PART, groups = ((size_t)limits->K + GROUP - 1) / GROUP;
    const size_t panels = ((size_t)limits->N + FERRY_LANES - 1) / FERRY_LANES;
    for (size_t first = 0; first < parts; first += PARTS_READ) {
        const size_t count = parts - first < PARTS_READ ? parts - first : PARTS_READ;
        uint16_t most[PARTS_READ][PAIRS] = {{0}};
        for (size_t p = 0; p < panels; p++)
            for (size_t part = 0; part < count; part++) {
                const size_t at = (first + part) * (PART / GROUP), left = groups - at;
                measure_part(limits->codes + (p * groups + at) * LINE_BYTES, left < PART / GROUP ? left : PART / GROUP,
                             most[part]);
            }
        for (size_t i = 0; i < count * PAIRS; i++) {
            int32_t *value = &limits->values[2 * (first + i / PAIRS) + i % 2];
            const int32_t found = most[i / PAIRS][i % PAIRS];
            *value = found > *value ? found : *value;
        }
    }
}

/* The limit that Σ q², in quarters, gives. */
static int32_t limit_of(int64_t quarters)
{
    const int64_t room = INT16_MAX * INT16_MAX;
    return quarters == 0 ? INT32_MAX : (int32_t)(room / (4 * quarters));
}

static void find_limits(ferry_input_limits *limits)
{
    const size_t fours = 2 * ferry_overflow_offsets(limits->K);
    int32_t *values = limits->values, *eights = values + fours;
    measure(limits);
    for (size_t i = 0; i < fours / 2; i++) {
        const int32_t *pair = values + i / 2 * 4 + i % 2;
        eights[i] = limit_of((int64_t)pair[0] + pair[2]);
    }
    for (size_t i = 0; i < fours; i++) values[i] = limit_of(values[i]);
}

const int32_t *ferry_input_limits_find(ferry_input_limits *limits, int32_t rows)
{
    int unknown = UNKNOWN;
    if (atomic_load_explicit(&limits->state, memory_order_acquire) == KNOWN) return limits->values;
    const int before = atomic_fetch_add(&limits->rows, rows < FERRY_LIMITED_ROWS ? rows : FERRY_LIMITED_ROWS);
    if (before + rows < FERRY_LIMITED_ROWS) return NULL;
    if (!atomic_compare_exchange_strong(&limits->state, &unknown, MEASURING)) return NULL;
    find_limits(limits);
    atomic_store_explicit(&limits->state, KNOWN, memory_order_release);
    return limits->values;
}
