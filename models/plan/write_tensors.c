
#include "write_tensors.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/tensor.h"
#include "engine/kernels/coarse.h"
#include "engine/kernels/linear.h"
#include "feedback.h"
#include "gguf_write.h"
#include "plan_tensors.h"
#include "steps.h"
#include "write.h"

enum { CHUNK = 1 << 14, RELEASE_STEP = 4 << 20 };

/* ---- what the file holds ---- */

static bool is_codes(const ferry_import_tensor *tensor)
{
    return tensor->source != NULL && tensor->source->tensor.type == FERRY_I8;
}

ferry_type ferry_import_matrix_type(const ferry_import_tensor *tensor, const ferry_import_options *options)
{
    const bool as_found = options->type == FERRY_F32 && !options->widen;
    if (tensor->packed != NULL && as_found) return tensor->source->tensor.type;
    return is_codes(tensor) && (as_found || options->type == FERRY_I8) ? FERRY_I8 : options->type;
}

/* "X.weight" → "X.scale". */
static ferry_short_text name_beside(const ferry_import_tensor *tensor, const char *part)
{
    const char *dot = strrchr(tensor->name, '.');
    return ferry_format("%.*s.%s", dot != NULL ? (int)(dot - tensor->name) : 0, tensor->name, part);
}

/* Whether one multiplier serves the whole matrix; otherwise the file gets a scale for each row. */
static bool has_multiplier(const ferry_import_tensor *tensor)
{
    return is_codes(tensor) && tensor->scales == NULL && tensor->multiplier_count == 1;
}

/* Whether greedy search bounds the logits of this matrix. */
static bool is_bounded(const ferry_import_plan *plan, const ferry_import_tensor *tensor)
{
    const ferry_transformer *model = &plan->model;
    const char *output = !model->tied_output       ? "output.weight"
                         : !model->tied_embeddings ? "dec.token_embd.weight"
                                                   : "token_embd.weight";
    if (strcmp(tensor->name, output) != 0) return false;
    for (size_t i = 0; i < plan->tensor_count; i++)
        if (strcmp(plan->tensors[i].name, "shortlist.ids") == 0) return false;
    return true;
}

bool ferry_import_has_coarse(const ferry_import_plan *plan, const ferry_import_tensor *tensor,
                             const ferry_import_options *options)
{
    return ferry_import_matrix_type(tensor, options) != FERRY_I8 && is_bounded(plan, tensor);
}

/* Whether the source is a model file that has the matrix in four bits, with steps. */
static bool has_steps(const ferry_import_tensor *tensor)
{
    return tensor->packed != NULL && tensor->packed->kind == FERRY_MATRIX_STEPS;
}

ferry_matrix_kind ferry_import_matrix_kind(const ferry_import_plan *plan, const ferry_import_tensor *tensor,
                                           const ferry_import_options *options)
{
    const int32_t K = tensor->K;
    if (tensor->form != FERRY_IMPORT_MATRIX || ferry_import_matrix_type(tensor, options) != FERRY_I8)
        return FERRY_MATRIX_FLOATS;
    if (K % FERRY_NIBBLE_GROUP == 0 && is_bounded(plan, tensor)) return FERRY_MATRIX_PLANES;
    const bool steps = options->type != FERRY_I8
                           ? has_steps(tensor)
                           : options->four_bits && K % FERRY_STEP_INPUTS == 0 && strstr(tensor->name, ".blk.") != NULL;
    return steps ? FERRY_MATRIX_STEPS : FERRY_MATRIX_INT8;
}

/* The type and, in `shape`, the dimensions that the model file gets. */
static ferry_type stored_type(const ferry_import_tensor *tensor, const ferry_import_options *options)
{
    if (tensor->form == FERRY_IMPORT_MATRIX) return ferry_import_matrix_type(tensor, options);
    return tensor->form == FERRY_IMPORT_INTEGERS ? FERRY_I32 : FERRY_F32;
}

static int32_t stored_shape(const ferry_import_tensor *tensor, ferry_matrix_kind kind, int64_t shape[3])
{
    if (tensor->form == FERRY_IMPORT_MATRIX) {
        ferry_matrix_shape(kind, tensor->N, tensor->K, shape);
        return 3;
    }
    shape[0] = tensor->N;
    shape[1] = tensor->K;
    return tensor->form == FERRY_IMPORT_TABLE ? 2 : 1;
}

ferry_status ferry_import_declare(const ferry_import_plan *plan, ferry_gguf_writer *writer,
                                  const ferry_import_options *options, ferry_error *error)
{
    const int64_t one = 1;
    for (size_t i = 0; i < plan->tensor_count; i++) {
        const ferry_import_tensor *tensor = &plan->tensors[i];
        const int64_t N = tensor->N;
        int64_t shape[3];
        const ferry_type type = stored_type(tensor, options);
        const ferry_matrix_kind kind = ferry_import_matrix_kind(plan, tensor, options);
        const bool planes = kind == FERRY_MATRIX_PLANES;
        const int32_t dims = stored_shape(tensor, kind, shape);
        if (type == FERRY_I8 && tensor->K > FERRY_INT8_MAX_K) {
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "tensor '%s': %d inputs are too many for i8: use f16",
                              tensor->name, (int)tensor->K);
        }
        ferry_gguf_declare(writer, tensor->name, type, dims, shape);
        if (planes) ferry_gguf_declare(writer, name_beside(tensor, "lower").text, type, dims, shape);
        if (type == FERRY_I8 && has_multiplier(tensor))
            ferry_gguf_declare(writer, name_beside(tensor, "multiplier").text, FERRY_F32, 1, &one);
        else if (type == FERRY_I8)
            ferry_gguf_declare(writer, name_beside(tensor, "scale").text, FERRY_F32, 1, &N);
        if (type == FERRY_I8 && tensor->input_multiplier != 0)
            ferry_gguf_declare(writer, name_beside(tensor, "input_multiplier").text, FERRY_F32, 1, &one);
        if (planes) ferry_gguf_declare(writer, name_beside(tensor, "error").text, FERRY_F32, 1, &one);
        if (!ferry_import_has_coarse(plan, tensor, options)) continue;
        ferry_matrix_shape(FERRY_MATRIX_INT8, tensor->N, tensor->K, shape);
        ferry_gguf_declare(writer, FERRY_OUTPUT_COARSE ".weight", FERRY_I8, 3, shape);
        ferry_gguf_declare(writer, FERRY_OUTPUT_COARSE ".scale", FERRY_F32, 1, &N);
        ferry_gguf_declare(writer, FERRY_OUTPUT_COARSE ".error", FERRY_F32, 1, &one);
        ferry_gguf_declare(writer, FERRY_OUTPUT_COARSE ".norm", FERRY_F32, 1, &one);
    }
    return FERRY_OK;
}

/* ---- reading ---- */

/* Buffers for one panel: in the source's order, packed, and in the file's type. */
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
    int8_t *steps;        /* [capacity / 32] */
    int8_t *code_panel;   /* [capacity] */
    uint8_t *planes;      /* [capacity] of code_panel: the upper one, then the lower one */
    bool lower;           /* the lower plane is written */
    float *scales;        /* [largest N] */
    float *feedback;      /* of a matrix of steps, [FERRY_FEEDBACK_INPUTS, …] for each so many inputs */
    float *columns;       /* [capacity / 16, FERRY_FEEDBACK_INPUTS]: another matrix, transposed */
    bool has_feedback;    /* whether it was found for the current matrix */
    ferry_arena arena;    /* all of these */
} converter;

static ferry_status refuse(const ferry_import_tensor *tensor, const char *what, ferry_error *error)
{
    return ferry_import_fail_tensor(tensor->source, FERRY_ERROR_UNSUPPORTED, error, "%s", what);
}

/* The int8 panel that begins with row n of a model file's codes. */
static const int8_t *read_codes(const converter *state, const ferry_import_tensor *tensor, int32_t n, int32_t count)
{
    const ferry_matrix panel = ferry_matrix_columns(tensor->packed, n, count);
    if (panel.kind == FERRY_MATRIX_INT8) return panel.int8;
    ferry_matrix_unpack(ferry_kernels_find("plain"), &panel, false, state->code_panel);
    return state->code_panel;
}

/* A panel of a model file, which begins with row n; `group` inputs of one output lie together. */
static void read_panel(const converter *state, const ferry_import_tensor *tensor, int32_t n, int32_t count,
                       float *values)
{
    const bool codes = is_codes(tensor);
    const int32_t K = tensor->K, group = codes ? FERRY_INT8_GROUP : 1;
    const int8_t *int8 = codes ? read_codes(state, tensor, n, count) : NULL;
    float together[FERRY_LINE_BYTES];
    for (int32_t k = 0; k < K; k += group) {
        for (int i = 0; codes && i < FERRY_LINE_BYTES; i++) together[i] = int8[k * FERRY_LANES + i];
        if (!codes)
            ferry_import_widen(&tensor->source->tensor, n * tensor->row + (int64_t)k * FERRY_LANES, 1, FERRY_LANES,
                               together);
        for (int32_t r = 0; r < count; r++)
            for (int32_t i = 0; i < group && k + i < K; i++) values[r * K + k + i] = together[r * group + i];
    }
}

/* Rows n … n + count - 1 of a vector, or at most 16 of a matrix: along the rows where a row's numbers lie together,
 * otherwise across them, so that a transposed matrix is read in pieces of 16 neighbors. */
static void read_block(const converter *state, const ferry_import_tensor *tensor, int32_t n, int32_t count,
                       float *values)
{
    if (tensor->packed != NULL) {
        read_panel(state, tensor, n, count, values);
        return;
    }
    const ferry_tensor *source = &tensor->source->tensor;
    const size_t K = (size_t)tensor->K;
    const int64_t first = tensor->offset + n * tensor->row;
    if (tensor->K == 1) {
        ferry_import_widen(source, first, tensor->row, (size_t)count, values);
        return;
    }
    if (tensor->column == 1) {
        for (int32_t r = 0; r < count; r++)
            ferry_import_widen(source, first + r * tensor->row, tensor->column, K, values + (size_t)r * K);
        return;
    }
    for (size_t k = 0; k < K; k++) {
        float across[FERRY_LANES];
        ferry_import_widen(source, first + (int64_t)k * tensor->column, tensor->row, (size_t)count, across);
        for (int32_t r = 0; r < count; r++) values[(size_t)r * K + k] = across[r];
    }
}

/* The divisor of row n of codes. */
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
    return ferry_import_fail_tensor(tensor->source, FERRY_ERROR_FORMAT, error, "impossible multiplier %g",
                                    (double)multiplier);
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
    read_block(state, tensor, n, count, state->rows);
    if (type == FERRY_I8 || type == FERRY_I16) {
        for (int32_t r = 0; r < count; r++) {
            float *row = state->rows + (size_t)r * K;
            const float multiplier = tensor->scales == NULL ? multiplier_of(tensor, n + r) : 1;
            FERRY_TRY(check_multiplier(tensor, multiplier, error));
            for (size_t k = 0; k < K; k++)
                row[k] = tensor->scales != NULL ? row[k] * tensor->scales[n + r] : row[k] / multiplier;
        }
    }
    bool finite = true;
    for (size_t i = 0; i < size; i++) finite &= fabsf(state->rows[i]) <= FLT_MAX;
    if (finite) return FERRY_OK;
    if (type == FERRY_F64) return refuse(tensor, "a value is not finite, or too large for f32", error);
    return refuse(tensor, "a value is not finite: training broke the weights, or the file is damaged", error);
}

/* state->feedback: the matrices of a matrix of steps whose numbers are to be rounded. */
static ferry_status solve_feedback(converter *state, const ferry_import_tensor *tensor, ferry_error *error)
{
    bool by_outputs;
    const ferry_import_tensor *source = ferry_feedback_source(state->plan, tensor, &by_outputs);
    float *C = state->feedback, *columns = state->columns;
    state->has_feedback = source != NULL && !has_steps(tensor);
    for (int32_t at = 0, count; at < tensor->K && state->has_feedback; at += count, C += count * count) {
        count = tensor->K - at < FERRY_FEEDBACK_INPUTS ? tensor->K - at : FERRY_FEEDBACK_INPUTS;
        memset(C, 0, (size_t)count * (size_t)count * sizeof *C);
        const int32_t first = by_outputs ? at : 0, end = by_outputs ? at + count : source->N, K = source->K;
        for (int32_t n = first; n < end; n += FERRY_LANES) {
            const int32_t rows = end - n < FERRY_LANES ? end - n : FERRY_LANES;
            FERRY_TRY(read_rows(state, source, n, rows, error));
            if (!by_outputs) ferry_feedback_add(C, count, state->rows + at, rows, K);
            for (int32_t i = 0; by_outputs && i < rows * K; i++)
                columns[i % K * count + n - at + i / K] = state->rows[i];
        }
        for (int32_t k = 0; by_outputs && k < K; k += FERRY_LANES)
            ferry_feedback_add(C, count, columns + (size_t)k * (size_t)count, K - k < FERRY_LANES ? K - k : FERRY_LANES,
                               count);
        ferry_feedback_solve(C, count);
    }
    return FERRY_OK;
}

/* Releases pages of the source that were read. A matrix that is read across its rows needs all of its pages until its
 * end. */
static void release_read(converter *state, const ferry_import_tensor *tensor, int64_t row)
{
    if (tensor->source == NULL || tensor->row < tensor->column) return;
    const ferry_tensor *source = &tensor->source->tensor;
    const size_t read = (size_t)(tensor->offset + row * tensor->row) * ferry_type_size(source->type);
    if (read <= state->released + RELEASE_STEP || read > source->bytes) return;
    ferry_source_release(state->plan->source, (const char *)source->data + state->released, read - state->released);
    state->released = read;
}

/* ---- writing ---- */

static ferry_status report_progress(const converter *state, ferry_error *error)
{
    if (state->options->progress == NULL) return FERRY_OK;
    if (state->options->progress(state->options->user, state->done, state->total) == 0) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_CANCELLED, "converting was cancelled");
}

static ferry_status append(converter *state, const void *data, size_t size, ferry_error *error)
{
    FERRY_TRY(ferry_gguf_writer_append(state->writer, data, size, error));
    state->done += size;
    return report_progress(state, error);
}

/* The panel of floats that begins with row n; of f16, its halves. */
static ferry_status pack_floats(converter *state, const ferry_import_tensor *tensor, ferry_type type, int32_t n,
                                int32_t rows, ferry_error *error)
{
    const uint16_t infinity = 0x7c00;
    const size_t count = type == FERRY_F16 ? FERRY_LANES * (size_t)tensor->K : 0;
    FERRY_TRY(read_rows(state, tensor, n, rows, error));
    ferry_panels_pack(state->panel, state->rows, rows, tensor->K);
    for (size_t i = 0; i < count; i++) {
        state->halves[i] = ferry_f32_to_f16(state->panel[i]);
        if ((state->halves[i] & 0x7fff) == infinity)
            return refuse(tensor, "a value is too large for f16: use f32", error);
    }
    return FERRY_OK;
}

/* Quantization error of a whole matrix. */
typedef struct loss {
    double largest, squares, errors;
} loss;

static void add_loss(loss *sum, double w, double difference)
{
    if (fabs(w) > sum->largest) sum->largest = fabs(w);
    sum->squares += w * w;
    sum->errors += difference * difference;
}

/* The panel of codes that begins with row n: the source's own integers, row by row with their scales, or quantized. */
static ferry_status pack_codes(converter *state, const ferry_import_tensor *tensor, int32_t n, int32_t rows, loss *sum,
                               ferry_error *error)
{
    const size_t K = (size_t)tensor->K;
    if (is_codes(tensor))
        read_block(state, tensor, n, rows, state->rows);
    else
        FERRY_TRY(read_rows(state, tensor, n, rows, error));
    for (size_t i = 0; is_codes(tensor) && i < (size_t)rows * K; i++) {
        if (state->rows[i] < -INT8_MAX) return refuse(tensor, "the integer -128 is not supported", error);
        state->codes[i] = (int8_t)state->rows[i];
    }
    for (int32_t r = 0; r < rows; r++) {
        const float *row = state->rows + (size_t)r * K;
        int8_t *codes = state->codes + (size_t)r * K;
        float *scale = &state->scales[n + r];
        if (is_codes(tensor)) {
            const float multiplier = tensor->scales == NULL ? multiplier_of(tensor, n + r) : 1;
            FERRY_TRY(check_multiplier(tensor, multiplier, error));
            *scale = tensor->scales != NULL ? tensor->scales[n + r] : 1 / multiplier;
            if (!isfinite(*scale)) return refuse(tensor, "a scale is not finite", error);
            continue;
        }
        ferry_int8_quantize(row, tensor->K, codes, scale);
        for (size_t k = 0; k < K; k++) {
            const double w = (double)row[k];
            add_loss(sum, w, w - (double)codes[k] * (double)*scale);
        }
    }
    ferry_int8_pack(state->code_panel, state->codes, rows, tensor->K);
    return FERRY_OK;
}

/* The panel of steps that begins with row n: the source's own, or approximations of its codes or numbers. */
static ferry_status pack_steps(converter *state, const ferry_import_tensor *tensor, int32_t n, int32_t rows, loss *sum,
                               ferry_error *error)
{
    const size_t K = (size_t)tensor->K, groups = K / FERRY_STEP_INPUTS;
    loss unused = {0, 0, 0};
    FERRY_TRY(pack_codes(state, tensor, n, rows, &unused, error)); /* the scales; of codes also the rows */
    if (has_steps(tensor)) {
        memcpy(state->code_panel, ferry_matrix_columns(tensor->packed, n, rows).steps,
               ferry_steps_size(FERRY_LANES, tensor->K));
        return FERRY_OK;
    }
    for (int32_t r = 0; r < rows; r++) {
        float *row = state->rows + (size_t)r * K;
        int8_t *steps = state->steps + (size_t)r * groups, *q = state->codes + (size_t)r * K;
        const float scale = state->scales[n + r];
        for (size_t k = 0; k < K && !is_codes(tensor); k++) row[k] /= scale;
        ferry_steps_quantize(row, tensor->K, state->has_feedback ? state->feedback : NULL, steps, q);
        for (size_t k = 0; k < K; k++) {
            const double w = (double)row[k] * (double)scale;
            add_loss(sum, w, w - (double)(steps[k / FERRY_STEP_INPUTS] * q[k]) * (double)scale);
        }
    }
    ferry_steps_pack((uint8_t *)state->code_panel, state->steps, state->codes, rows, tensor->K);
    return FERRY_OK;
}

/* Rows n … n + rows - 1: a panel of a matrix. */
static ferry_status write_block(converter *state, const ferry_import_tensor *tensor, ferry_type type, int32_t n,
                                int32_t rows, loss *sum, ferry_error *error)
{
    const size_t K = (size_t)tensor->K, count = FERRY_LANES * K;
    if (tensor->form == FERRY_IMPORT_INTEGERS)
        return append(state, tensor->integers + n, (size_t)rows * sizeof *tensor->integers, error);
    const ferry_matrix_kind kind = ferry_import_matrix_kind(state->plan, tensor, state->options);
    if (kind == FERRY_MATRIX_STEPS) {
        FERRY_TRY(pack_steps(state, tensor, n, rows, sum, error));
        return append(state, state->code_panel, ferry_steps_size(FERRY_LANES, tensor->K), error);
    }
    if (type == FERRY_I8) {
        FERRY_TRY(pack_codes(state, tensor, n, rows, sum, error));
        if (kind == FERRY_MATRIX_INT8)
            return append(state, state->code_panel, ferry_int8_size(FERRY_LANES, tensor->K), error);
        const size_t plane = ferry_nibbles_size(FERRY_LANES, tensor->K);
        ferry_planes_from_panel(state->code_panel, tensor->K, state->planes, state->planes + plane);
        for (int32_t r = 0; r < rows; r++) {
            bool zero = true;
            for (size_t k = 0; k < K; k++) zero &= state->codes[(size_t)r * K + k] == 0;
            if (zero) state->scales[n + r] = 0;
        }
        return append(state, state->planes + (state->lower ? plane : 0), plane, error);
    }
    if (tensor->form != FERRY_IMPORT_MATRIX) {
        FERRY_TRY(read_rows(state, tensor, n, rows, error));
        return append(state, state->rows, (size_t)rows * K * sizeof *state->rows, error);
    }
    FERRY_TRY(pack_floats(state, tensor, type, n, rows, error));
    if (type == FERRY_F32) return append(state, state->panel, count * sizeof *state->panel, error);
    return append(state, state->halves, count * sizeof *state->halves, error);
}

/* The lower plane. Its error is not that of rows of zeros: their scale is 0. */
static ferry_status write_lower(converter *state, const ferry_import_tensor *tensor, float *lost, ferry_error *error)
{
    *lost = 0;
    state->lower = true;
    state->released = 0;
    for (int64_t at = 0; at < tensor->N; at += FERRY_LANES) {
        const int32_t n = (int32_t)at, rows = tensor->N - n < FERRY_LANES ? tensor->N - n : FERRY_LANES;
        loss unused = {0, 0, 0};
        FERRY_TRY(write_block(state, tensor, FERRY_I8, n, rows, &unused, error));
        const ferry_matrix panel = {.N = rows,
                                    .K = tensor->K,
                                    .lower = state->planes + ferry_nibbles_size(FERRY_LANES, tensor->K),
                                    .scales = has_multiplier(tensor) ? NULL : state->scales + n};
        *lost = fmaxf(*lost, ferry_planes_error(&panel));
        release_read(state, tensor, at + rows);
    }
    return FERRY_OK;
}

/* Writes the coarse output matrix: int8 codes of floats. */
static ferry_status write_coarse(converter *state, const ferry_import_tensor *tensor, ferry_type type,
                                 ferry_error *error)
{
    const size_t K = (size_t)tensor->K, count = FERRY_LANES * K;
    ferry_coarse coarse = {.error = 0};
    state->released = 0;
    for (int64_t at = 0; at < tensor->N; at += FERRY_LANES) {
        const int32_t n = (int32_t)at, rows = tensor->N - n < FERRY_LANES ? tensor->N - n : FERRY_LANES;
        float scales[FERRY_LANES];
        const ferry_matrix panel = {FERRY_MATRIX_FLOATS, .N = rows, .K = tensor->K, .panels = state->panel};
        FERRY_TRY(pack_floats(state, tensor, type, n, rows, error));
        for (size_t i = 0; type == FERRY_F16 && i < count; i++) state->panel[i] = ferry_f16_to_f32(state->halves[i]);
        ferry_coarsen_panel(&panel, 0, state->codes, scales, &coarse);
        memcpy(state->scales + n, scales, (size_t)rows * sizeof *scales);
        FERRY_TRY(append(state, state->codes, ferry_int8_size(FERRY_LANES, tensor->K), error));
        release_read(state, tensor, at + rows);
    }
    FERRY_TRY(append(state, state->scales, (size_t)tensor->N * sizeof *state->scales, error));
    FERRY_TRY(append(state, &coarse.error, sizeof coarse.error, error));
    return append(state, &coarse.norm, sizeof coarse.norm, error);
}

/* A matrix or table is in memory 16 rows at a time. */
static ferry_status write_tensor(converter *state, const ferry_import_tensor *tensor, ferry_error *error)
{
    const ferry_import_options *options = state->options;
    const ferry_type type = stored_type(tensor, options);
    const int32_t step =
        tensor->form == FERRY_IMPORT_MATRIX || tensor->form == FERRY_IMPORT_TABLE ? FERRY_LANES : CHUNK;
    const ferry_matrix_kind kind = ferry_import_matrix_kind(state->plan, tensor, options);
    const bool planes = kind == FERRY_MATRIX_PLANES;
    loss sum = {0, 0, 0};
    float lost = 0;
    state->lower = false;
    state->released = 0;
    if (kind == FERRY_MATRIX_STEPS) FERRY_TRY(solve_feedback(state, tensor, error));
    for (int64_t at = 0; at < tensor->N; at += step) {
        const int32_t n = (int32_t)at, rows = tensor->N - n < step ? tensor->N - n : step;
        FERRY_TRY(write_block(state, tensor, type, n, rows, &sum, error));
        release_read(state, tensor, at + rows);
    }
    const bool rounded = !is_codes(tensor) || (kind == FERRY_MATRIX_STEPS && !has_steps(tensor));
    if (type == FERRY_I8 && rounded && options->quantized != NULL) {
        const double count = (double)tensor->N * (double)tensor->K;
        options->quantized(options->user, tensor->name, sum.largest, sqrt(sum.squares / count),
                           sqrt(sum.errors / count));
    }
    if (planes) FERRY_TRY(write_lower(state, tensor, &lost, error));
    if (type == FERRY_I8) { /* the scales that ferry_import_declare declared beside the codes */
        const bool all = has_multiplier(tensor);
        const float multiplier = all ? multiplier_of(tensor, 0) : 0, input = tensor->input_multiplier;
        FERRY_TRY(ferry_gguf_writer_append(state->writer, all ? &multiplier : state->scales,
                                           (all ? 1 : (size_t)tensor->N) * sizeof multiplier, error));
        if (input != 0) {
            FERRY_TRY(check_multiplier(tensor, input, error));
            FERRY_TRY(ferry_gguf_writer_append(state->writer, &input, sizeof input, error));
        }
        if (planes) FERRY_TRY(ferry_gguf_writer_append(state->writer, &lost, sizeof lost, error));
    }
    if (ferry_import_has_coarse(state->plan, tensor, options)) FERRY_TRY(write_coarse(state, tensor, type, error));
    if (tensor->source == NULL) return FERRY_OK;
    ferry_source_release(state->plan->source, tensor->source->tensor.data, tensor->source->tensor.bytes);
    return FERRY_OK;
}

static ferry_status allocate(converter *state, ferry_error *error)
{
    size_t capacity = CHUNK, rows = 1;
    for (size_t i = 0; i < state->plan->tensor_count; i++) {
        const ferry_import_tensor *tensor = &state->plan->tensors[i];
        const size_t panel = ferry_round_up((size_t)tensor->K, FERRY_INT8_GROUP) * FERRY_LANES;
        const ferry_type type = stored_type(tensor, state->options);
        int64_t shape[3];
        uint64_t bytes = ferry_type_size(type);
        const ferry_matrix_kind kind = ferry_import_matrix_kind(state->plan, tensor, state->options);
        for (int32_t k = stored_shape(tensor, kind, shape); k-- > 0;) bytes *= (uint64_t)shape[k];
        state->total += kind == FERRY_MATRIX_PLANES ? 2 * bytes : bytes;
        if (ferry_import_has_coarse(state->plan, tensor, state->options))
            state->total += ferry_int8_size(tensor->N, tensor->K) + ((size_t)tensor->N + 2) * sizeof(float);
        if (tensor->form == FERRY_IMPORT_INTEGERS) continue;
        if (panel > capacity) capacity = panel;
        if (tensor->form == FERRY_IMPORT_MATRIX && (size_t)tensor->N > rows) rows = (size_t)tensor->N;
    }
    const size_t feedback = state->options->four_bits ? capacity / FERRY_LANES * FERRY_FEEDBACK_INPUTS : 1;
    bool failed = false;
    state->rows = ferry_arena_take(&state->arena, capacity, sizeof *state->rows, &failed);
    state->panel = ferry_arena_take(&state->arena, capacity, sizeof *state->panel, &failed);
    state->halves = ferry_arena_take(&state->arena, capacity, sizeof *state->halves, &failed);
    state->codes = ferry_arena_take(&state->arena, capacity, 1, &failed);
    state->steps = ferry_arena_take(&state->arena, capacity / FERRY_STEP_INPUTS, 1, &failed);
    state->code_panel = ferry_arena_take(&state->arena, capacity, 1, &failed);
    state->planes = ferry_arena_take(&state->arena, capacity, 1, &failed);
    state->scales = ferry_arena_take(&state->arena, rows, sizeof *state->scales, &failed);
    state->feedback = ferry_arena_take(&state->arena, feedback, sizeof *state->feedback, &failed);
    state->columns = ferry_arena_take(&state->arena, feedback, sizeof *state->columns, &failed);
    if (!failed) return FERRY_OK;
    return ferry_fail_memory(error, "a panel of a matrix", capacity, sizeof *state->rows);
}

ferry_status ferry_import_append(const ferry_import_plan *plan, ferry_gguf_writer *writer,
                                 const ferry_import_options *options, ferry_error *error)
{
    converter state = {.plan = plan, .writer = writer, .options = options, .arena.account = plan->account};
    ferry_status status = allocate(&state, error);
    bool again = false;
    for (size_t i = 0; i < plan->tensor_count; i++)
        again |= is_codes(&plan->tensors[i]) && !has_steps(&plan->tensors[i]) &&
                 ferry_import_matrix_kind(plan, &plan->tensors[i], options) == FERRY_MATRIX_STEPS;
    if (again && options->noted != NULL)
        options->noted(options->user,
                       "its int8 matrices are rounded once more, to four bits: convert the float32 model "
                       "for better translations, if there is one");
    if (status == FERRY_OK) status = report_progress(&state, error);
    if (status == FERRY_OK) status = ferry_gguf_writer_start(writer, error);
    for (size_t i = 0; status == FERRY_OK && i < plan->tensor_count; i++)
        status = write_tensor(&state, &plan->tensors[i], error);
    ferry_arena_destroy(&state.arena);
    return status;
}
