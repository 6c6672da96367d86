#include "tensors.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/half.h"
#include "base/printable.h"

enum { CHUNK = 1 << 14, RELEASE_STEP = 4 << 20, MAX_I8_INPUTS = 1 << 16 };

/* ---- what the file holds ---- */

static bool is_codes(const ferry_import_tensor *tensor)
{
    return tensor->source != NULL && tensor->source->tensor.type == FERRY_I8;
}

ferry_type ferry_import_matrix_type(const ferry_import_tensor *tensor, const ferry_import_options *options)
{
    const bool stays = options->type == FERRY_I8 || (options->type == FERRY_F32 && !options->widen);
    return is_codes(tensor) && stays ? FERRY_I8 : options->type;
}

/* "X.weight" → "X.scale". */
static ferry_name name_beside(const ferry_import_tensor *tensor, const char *part)
{
    const char *dot = strrchr(tensor->name, '.');
    return ferry_name_format("%.*s.%s", dot != NULL ? (int)(dot - tensor->name) : 0, tensor->name, part);
}

/* Whether one multiplier serves the whole matrix; otherwise the file gets a scale for each row. */
static bool has_multiplier(const ferry_import_tensor *tensor)
{
    return is_codes(tensor) && tensor->multiplier_count == 1;
}

static bool has_input_multiplier(const ferry_import_tensor *tensor)
{
    return is_codes(tensor) && tensor->input_multiplier != 0;
}

static ferry_status declare_codes(const ferry_import_tensor *tensor, ferry_gguf_writer *writer, ferry_error *error)
{
    const int64_t one = 1, N = tensor->N, K = tensor->K;
    const int64_t shape[] = {(N + FERRY_LANES - 1) / FERRY_LANES, (K + 3) / 4, 4 * FERRY_LANES};
    if (K > MAX_I8_INPUTS) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "tensor '%s': %" PRId64 " inputs are too many for i8: use %s",
                          tensor->name, K, "f16");
    }
    ferry_gguf_declare(writer, tensor->name, FERRY_I8, 3, shape);
    if (has_multiplier(tensor)) {
        ferry_gguf_declare(writer, name_beside(tensor, "multiplier").text, FERRY_F32, 1, &one);
    } else {
        ferry_gguf_declare(writer, name_beside(tensor, "scale").text, FERRY_F32, 1, &N);
    }
    if (has_input_multiplier(tensor)) {
        ferry_gguf_declare(writer, name_beside(tensor, "input_multiplier").text, FERRY_F32, 1, &one);
    }
    return FERRY_OK;
}

ferry_status ferry_import_declare(const ferry_import_plan *plan, ferry_gguf_writer *writer,
                                  const ferry_import_options *options, ferry_error *error)
{
    for (size_t i = 0; i < plan->tensor_count; i++) {
        const ferry_import_tensor *tensor = &plan->tensors[i];
        const int64_t table[] = {tensor->N, tensor->K};
        const int64_t panels[] = {(table[0] + FERRY_LANES - 1) / FERRY_LANES, table[1], FERRY_LANES};
        const ferry_type type = ferry_import_matrix_type(tensor, options);
        switch (tensor->form) {
        case FERRY_IMPORT_VECTOR: ferry_gguf_declare(writer, tensor->name, FERRY_F32, 1, table); break;
        case FERRY_IMPORT_TABLE: ferry_gguf_declare(writer, tensor->name, FERRY_F32, 2, table); break;
        case FERRY_IMPORT_INTEGERS: ferry_gguf_declare(writer, tensor->name, FERRY_I32, 1, table); break;
        case FERRY_IMPORT_MATRIX:
            if (type == FERRY_I8) {
                FERRY_TRY(declare_codes(tensor, writer, error));
            } else {
                ferry_gguf_declare(writer, tensor->name, type, 3, panels);
            }
            break;
        }
    }
    return FERRY_OK;
}

/* Bytes that ferry_import_append writes for a tensor, without what belongs to codes. */
static uint64_t tensor_bytes(const ferry_import_tensor *tensor, const ferry_import_options *options)
{
    const uint64_t N = (uint64_t)tensor->N, K = (uint64_t)tensor->K;
    const ferry_type type = ferry_import_matrix_type(tensor, options);
    if (tensor->form != FERRY_IMPORT_MATRIX) return N * K * sizeof(float);
    if (type == FERRY_I8) return ferry_codes_size(tensor->N, tensor->K);
    return ferry_round_up(N, FERRY_LANES) * K * ferry_type_size(type);
}

/* ---- reading ---- */

/* What a tensor is written through: one panel in its source's order, packed, and as the file holds it. */
typedef struct converter {
    const ferry_import_plan *plan;
    ferry_gguf_writer *writer;
    const ferry_import_options *options;
    uint64_t done, total; /* bytes */
    size_t released;      /* of the current source, from its beginning */
    float *rows;          /* [capacity] */
    float *panel;         /* [capacity] */
    uint16_t *halves;     /* [capacity] */
    int8_t *codes;        /* [capacity] */
    int8_t *code_panel;   /* [capacity] */
    float *scales;        /* [largest N] */
    ferry_arena arena;    /* all of these */
} converter;

static ferry_status fail_tensor(const ferry_import_tensor *tensor, const char *what, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: tensor '%s': %s", tensor->source->file,
                      ferry_printable_view(tensor->source->tensor.name).text, what);
}

/* Rows n … n + count - 1 of a vector, or at most 16 of a matrix: along the rows where a row's numbers lie together,
 * otherwise across them, so that a transposed matrix is read in pieces of 16 neighbors. */
static void read_block(const ferry_import_tensor *tensor, int32_t n, int32_t count, float *values)
{
    const ferry_tensor *source = &tensor->source->tensor;
    const size_t K = (size_t)tensor->K;
    const int64_t first = tensor->offset + n * tensor->row;
    if (tensor->K == 1) {
        ferry_import_widen(source, first, tensor->row, (size_t)count, values);
        return;
    }
    if (tensor->column == 1) {
        for (int32_t r = 0; r < count; r++) {
            ferry_import_widen(source, first + r * tensor->row, tensor->column, K, values + (size_t)r * K);
        }
        return;
    }
    for (size_t k = 0; k < K; k++) {
        float across[FERRY_LANES];
        ferry_import_widen(source, first + (int64_t)k * tensor->column, tensor->row, (size_t)count, across);
        for (int32_t r = 0; r < count; r++) values[(size_t)r * K + k] = across[r];
    }
}

static float multiplier_of(const ferry_import_tensor *tensor, int32_t n)
{
    float multiplier;
    const size_t at = tensor->multiplier_count == 1 ? 0 : (size_t)n;
    memcpy(&multiplier, (const char *)tensor->multipliers + at * sizeof multiplier, sizeof multiplier);
    return multiplier;
}

static ferry_status check_multiplier(const ferry_import_tensor *tensor, float multiplier, ferry_error *error)
{
    if (multiplier > 0 && isfinite(multiplier)) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': impossible multiplier %g", tensor->source->file,
                      ferry_printable_view(tensor->source->tensor.name).text, (double)multiplier);
}

/* Rows n … n + count - 1 as numbers. */
static ferry_status read_rows(const converter *state, const ferry_import_tensor *tensor, int32_t n, int32_t count,
                              ferry_error *error)
{
    const size_t K = (size_t)tensor->K, size = (size_t)count * K;
    if (tensor->source == NULL) {
        memset(state->rows, 0, size * sizeof *state->rows);
        return FERRY_OK;
    }
    const ferry_type type = tensor->source->tensor.type;
    read_block(tensor, n, count, state->rows);
    if (type == FERRY_I8 || type == FERRY_I16) {
        for (int32_t r = 0; r < count; r++) {
            const float multiplier = multiplier_of(tensor, n + r);
            FERRY_TRY(check_multiplier(tensor, multiplier, error));
            for (size_t k = 0; k < K; k++) state->rows[(size_t)r * K + k] /= multiplier;
        }
    }
    for (size_t i = 0; type == FERRY_F64 && i < size; i++) {
        if (isinf(state->rows[i])) return fail_tensor(tensor, "a value is too large for f32", error);
    }
    return FERRY_OK;
}

/* Pages of the source that were read need not stay in memory. A matrix that is read across its rows needs all of them
 * until its end. */
static void release_read(converter *state, const ferry_import_tensor *tensor, int64_t row)
{
    if (tensor->source == NULL || tensor->row < tensor->column) return;
    const ferry_tensor *source = &tensor->source->tensor;
    const size_t read = (size_t)(tensor->offset + row * tensor->row) * ferry_type_size(source->type);
    if (read <= state->released + RELEASE_STEP || read > source->bytes) return;
    ferry_import_source_release(state->plan->source, (const char *)source->data + state->released,
                                read - state->released);
    state->released = read;
}

/* ---- writing ---- */

static ferry_status append(converter *state, const void *data, size_t size, ferry_error *error)
{
    FERRY_TRY(ferry_gguf_writer_append(state->writer, data, size, error));
    state->done += size;
    if (state->options->progress == NULL) return FERRY_OK;
    if (state->options->progress(state->options->user, state->done, state->total) == 0) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_CANCELLED, "converting was cancelled");
}

static ferry_status append_halves(converter *state, const ferry_import_tensor *tensor, size_t count, ferry_error *error)
{
    const uint16_t infinity = 0x7c00;
    for (size_t i = 0; i < count; i++) {
        state->halves[i] = ferry_f32_to_f16(state->panel[i]);
        if ((state->halves[i] & 0x7fff) == infinity && !isinf(state->panel[i])) {
            return fail_tensor(tensor, "a value is too large for f16: use f32", error);
        }
    }
    return append(state, state->halves, count * sizeof *state->halves, error);
}

static ferry_status write_panels(converter *state, const ferry_import_tensor *tensor, int32_t n, int32_t rows,
                                 ferry_type type, ferry_error *error)
{
    const size_t count = (size_t)FERRY_LANES * (size_t)tensor->K;
    FERRY_TRY(read_rows(state, tensor, n, rows, error));
    ferry_panels_pack(state->panel, state->rows, rows, tensor->K);
    if (type == FERRY_F16) return append_halves(state, tensor, count, error);
    return append(state, state->panel, count * sizeof *state->panel, error);
}

/* What quantizing did, over a whole matrix. */
typedef struct loss {
    double largest, squares, errors;
} loss;

static ferry_status quantize_panel(converter *state, const ferry_import_tensor *tensor, int32_t n, int32_t rows,
                                   loss *sum, ferry_error *error)
{
    const size_t K = (size_t)tensor->K;
    FERRY_TRY(read_rows(state, tensor, n, rows, error));
    for (int32_t r = 0; r < rows; r++) {
        const float *row = state->rows + (size_t)r * K;
        int8_t *codes = state->codes + (size_t)r * K;
        for (size_t k = 0; k < K; k++) {
            if (!isfinite(row[k])) return fail_tensor(tensor, "a value is not finite: i8 cannot hold it", error);
        }
        ferry_codes_quantize(row, tensor->K, codes, &state->scales[n + r]);
        for (size_t k = 0; k < K; k++) {
            const double w = (double)row[k], difference = w - (double)codes[k] * (double)state->scales[n + r];
            if (fabs(w) > sum->largest) sum->largest = fabs(w);
            sum->squares += w * w;
            sum->errors += difference * difference;
        }
    }
    return FERRY_OK;
}

/* The source's own integers. */
static ferry_status copy_panel(converter *state, const ferry_import_tensor *tensor, int32_t n, int32_t rows,
                               ferry_error *error)
{
    const size_t K = (size_t)tensor->K;
    read_block(tensor, n, rows, state->rows);
    for (size_t i = 0; i < (size_t)rows * K; i++) {
        if (state->rows[i] < -INT8_MAX) return fail_tensor(tensor, "the integer -128 is not supported", error);
        state->codes[i] = (int8_t)state->rows[i];
    }
    for (int32_t r = 0; r < rows; r++) {
        const float multiplier = multiplier_of(tensor, n + r);
        FERRY_TRY(check_multiplier(tensor, multiplier, error));
        state->scales[n + r] = 1 / multiplier;
    }
    return FERRY_OK;
}

/* After the codes: what ferry_import_declare put beside them. */
static ferry_status write_scales(converter *state, const ferry_import_tensor *tensor, ferry_error *error)
{
    const float multiplier = has_multiplier(tensor) ? multiplier_of(tensor, 0) : 0;
    if (has_multiplier(tensor)) {
        FERRY_TRY(ferry_gguf_writer_append(state->writer, &multiplier, sizeof multiplier, error));
    } else {
        FERRY_TRY(
            ferry_gguf_writer_append(state->writer, state->scales, (size_t)tensor->N * sizeof *state->scales, error));
    }
    if (!has_input_multiplier(tensor)) return FERRY_OK;
    FERRY_TRY(check_multiplier(tensor, tensor->input_multiplier, error));
    return ferry_gguf_writer_append(state->writer, &tensor->input_multiplier, sizeof tensor->input_multiplier, error);
}

static ferry_status write_codes(converter *state, const ferry_import_tensor *tensor, int32_t n, int32_t rows, loss *sum,
                                ferry_error *error)
{
    if (is_codes(tensor)) {
        FERRY_TRY(copy_panel(state, tensor, n, rows, error));
    } else {
        FERRY_TRY(quantize_panel(state, tensor, n, rows, sum, error));
    }
    ferry_codes_pack(state->code_panel, state->codes, rows, tensor->K);
    return append(state, state->code_panel, ferry_codes_size(FERRY_LANES, tensor->K), error);
}

/* Panel by panel: 16 rows at a time are in memory. */
static ferry_status write_matrix(converter *state, const ferry_import_tensor *tensor, ferry_error *error)
{
    const ferry_import_options *options = state->options;
    const ferry_type type = ferry_import_matrix_type(tensor, options);
    loss sum = {0, 0, 0};
    for (int64_t at = 0; at < tensor->N; at += FERRY_LANES) {
        const int32_t n = (int32_t)at, rows = tensor->N - n < FERRY_LANES ? tensor->N - n : FERRY_LANES;
        FERRY_TRY(type == FERRY_I8 ? write_codes(state, tensor, n, rows, &sum, error)
                                   : write_panels(state, tensor, n, rows, type, error));
        release_read(state, tensor, at + rows);
    }
    if (type != FERRY_I8) return FERRY_OK;
    if (!is_codes(tensor) && options->quantized != NULL) {
        const double count = (double)tensor->N * (double)tensor->K;
        options->quantized(options->user, tensor->name, sum.largest, sqrt(sum.squares / count),
                           sqrt(sum.errors / count));
    }
    return write_scales(state, tensor, error);
}

static ferry_status write_rows(converter *state, const ferry_import_tensor *tensor, ferry_error *error)
{
    const int32_t step = tensor->K == 1 ? CHUNK : FERRY_LANES;
    for (int64_t at = 0; at < tensor->N; at += step) {
        const int32_t n = (int32_t)at, rows = tensor->N - n < step ? tensor->N - n : step;
        FERRY_TRY(read_rows(state, tensor, n, rows, error));
        FERRY_TRY(append(state, state->rows, (size_t)rows * (size_t)tensor->K * sizeof *state->rows, error));
        release_read(state, tensor, at + rows);
    }
    return FERRY_OK;
}

static ferry_status write_integers(converter *state, const ferry_import_tensor *tensor, ferry_error *error)
{
    for (size_t at = 0; at < (size_t)tensor->N; at += CHUNK) {
        const size_t left = (size_t)tensor->N - at, count = left < CHUNK ? left : CHUNK;
        FERRY_TRY(append(state, tensor->integers + at, count * sizeof *tensor->integers, error));
    }
    return FERRY_OK;
}

static ferry_status write_tensor(converter *state, const ferry_import_tensor *tensor, ferry_error *error)
{
    state->released = 0;
    switch (tensor->form) {
    case FERRY_IMPORT_VECTOR:
    case FERRY_IMPORT_TABLE: FERRY_TRY(write_rows(state, tensor, error)); break;
    case FERRY_IMPORT_MATRIX: FERRY_TRY(write_matrix(state, tensor, error)); break;
    case FERRY_IMPORT_INTEGERS: return write_integers(state, tensor, error);
    }
    if (tensor->source == NULL) return FERRY_OK;
    ferry_import_source_release(state->plan->source, tensor->source->tensor.data, tensor->source->tensor.bytes);
    return FERRY_OK;
}

static ferry_status allocate(converter *state, ferry_error *error)
{
    size_t capacity = CHUNK, rows = 1;
    for (size_t i = 0; i < state->plan->tensor_count; i++) {
        const ferry_import_tensor *tensor = &state->plan->tensors[i];
        const size_t panel = ferry_round_up((size_t)tensor->K, 4) * FERRY_LANES;
        state->total += tensor_bytes(tensor, state->options);
        if (tensor->form == FERRY_IMPORT_INTEGERS) continue;
        if (panel > capacity) capacity = panel;
        if (tensor->form == FERRY_IMPORT_MATRIX && (size_t)tensor->N > rows) rows = (size_t)tensor->N;
    }
    state->rows = ferry_arena_alloc(&state->arena, capacity, sizeof *state->rows);
    state->panel = ferry_arena_alloc(&state->arena, capacity, sizeof *state->panel);
    state->halves = ferry_arena_alloc(&state->arena, capacity, sizeof *state->halves);
    state->codes = ferry_arena_alloc(&state->arena, capacity, 1);
    state->code_panel = ferry_arena_alloc(&state->arena, capacity, 1);
    state->scales = ferry_arena_alloc(&state->arena, rows, sizeof *state->scales);
    const bool complete = state->rows != NULL && state->panel != NULL && state->halves != NULL &&
                          state->codes != NULL && state->code_panel != NULL && state->scales != NULL;
    if (complete) return FERRY_OK;
    return ferry_fail_memory(error, "a panel of a matrix", capacity * sizeof *state->rows);
}

ferry_status ferry_import_append(const ferry_import_plan *plan, ferry_gguf_writer *writer,
                                 const ferry_import_options *options, ferry_error *error)
{
    converter state = {.plan = plan, .writer = writer, .options = options};
    ferry_status status = allocate(&state, error);
    for (size_t i = 0; status == FERRY_OK && i < plan->tensor_count; i++) {
        status = write_tensor(&state, &plan->tensors[i], error);
    }
    ferry_arena_destroy(&state.arena);
    return status;
}
