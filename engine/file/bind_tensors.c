#include "bind_tensors.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/utf8.h"

enum { CODES_GROUP = 4 }; /* consecutive inputs of an output in int8 codes (kernels/linear.h) */

static ferry_status find_any(ferry_binder *binder, const char *name, const ferry_tensor **tensor, ferry_error *error)
{
    *tensor = ferry_gguf_tensor(binder->gguf, name);
    if (*tensor == NULL)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s' is missing", binder->gguf->file, name);
    binder->used[*tensor - binder->gguf->tensors] = true;
    return FERRY_OK;
}

static ferry_status check_shape(const ferry_binder *binder, const char *name, const ferry_tensor *tensor, int32_t dims,
                                const int64_t *shape, ferry_error *error)
{
    bool equal = tensor->dims == dims;
    for (int32_t i = 0; equal && i < dims; i++) equal = tensor->shape[i] == shape[i];
    if (equal) return FERRY_OK;
    ferry_tensor expected = {.dims = dims};
    memcpy(expected.shape, shape, (size_t)dims * sizeof *shape);
    char wanted[100], found[100];
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected shape %s, found %s", binder->gguf->file,
                      name, ferry_tensor_shape_text(&expected, wanted, sizeof wanted),
                      ferry_tensor_shape_text(tensor, found, sizeof found));
}

ferry_status ferry_bind_find(ferry_binder *binder, const char *name, ferry_type type, int32_t dims,
                             const int64_t *shape, const void **data, ferry_error *error)
{
    const ferry_tensor *tensor;
    FERRY_TRY(find_any(binder, name, &tensor, error));
    FERRY_TRY(check_shape(binder, name, tensor, dims, shape, error));
    if (tensor->type != type) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected %s, found %s", binder->gguf->file, name,
                          ferry_type_name(type), ferry_type_name(tensor->type));
    }
    *data = tensor->data;
    return FERRY_OK;
}

ferry_status ferry_bind_f32(ferry_binder *binder, const char *name, int32_t dims, const int64_t *shape,
                            const float **data, ferry_error *error)
{
    const void *numbers = NULL;
    FERRY_TRY(ferry_bind_find(binder, name, FERRY_F32, dims, shape, &numbers, error));
    *data = numbers;
    binder->file->parameters += ferry_tensor_count(ferry_gguf_tensor(binder->gguf, name));
    return FERRY_OK;
}

ferry_status ferry_bind_vector(ferry_binder *binder, const char *name, int32_t n, const float **data,
                               ferry_error *error)
{
    const int64_t shape[] = {n};
    return ferry_bind_f32(binder, name, 1, shape, data, error);
}

/* ---- matrices ---- */

static void count_bytes(ferry_binder *binder, const ferry_tensor *tensor)
{
    static const ferry_type types[] = {FERRY_F32, FERRY_F16, FERRY_I8};
    size_t most = 0;
    for (int i = 0; i < 3; i++) {
        if (tensor->type == types[i]) binder->type_bytes[i] += tensor->bytes;
        if (binder->type_bytes[i] > most) {
            most = binder->type_bytes[i];
            binder->file->type = types[i];
        }
    }
}

/* Scales of codes: finite and above 0, [n]. */
static ferry_status bind_scales(ferry_binder *binder, const char *name, int32_t n, const float **scales,
                                ferry_error *error)
{
    const int64_t shape[] = {n};
    const void *data = NULL;
    FERRY_TRY(ferry_bind_find(binder, name, FERRY_F32, 1, shape, &data, error));
    const float *values = data;
    for (int32_t i = 0; i < n; i++) {
        if (isfinite(values[i]) && values[i] > 0.0f) continue;
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: tensor '%s': expected finite numbers above 0, found %g at %" PRId32, binder->gguf->file,
                          name, (double)values[i], i);
    }
    *scales = values;
    return FERRY_OK;
}

static ferry_status bind_multiplier(ferry_binder *binder, const char *name, float *multiplier, ferry_error *error)
{
    const float *value;
    FERRY_TRY(bind_scales(binder, name, 1, &value, error));
    *multiplier = *value;
    return FERRY_OK;
}

/* The scales of codes: one for each row or one multiplier, and optionally a multiplier of the inputs. */
static ferry_status bind_code_scales(ferry_binder *binder, const char *name, ferry_matrix *matrix, ferry_error *error)
{
    const ferry_name scale = ferry_name_format("%s.scale", name), multiplier = ferry_name_format("%s.multiplier", name);
    const ferry_name input = ferry_name_format("%s.input_multiplier", name);
    const bool has_scale = ferry_gguf_tensor(binder->gguf, scale.text) != NULL;
    if (has_scale == (ferry_gguf_tensor(binder->gguf, multiplier.text) != NULL)) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: expected one of the tensors '%s' and '%s', found %s",
                          binder->gguf->file, scale.text, multiplier.text, has_scale ? "both" : "none");
    }
    if (has_scale)
        FERRY_TRY(bind_scales(binder, scale.text, matrix->N, &matrix->scales, error));
    else
        FERRY_TRY(bind_multiplier(binder, multiplier.text, &matrix->multiplier, error));
    if (ferry_gguf_tensor(binder->gguf, input.text) == NULL) return FERRY_OK;
    return bind_multiplier(binder, input.text, &matrix->input_multiplier, error);
}

/* Where products of 16 bits are fast. */
static ferry_status add_limits(ferry_binder *binder, ferry_matrix *matrix, ferry_error *error)
{
    const size_t size = ferry_input_limits_size(matrix->K);
    if (!binder->kernels->pairs) return FERRY_OK;
    matrix->limits = ferry_arena_alloc(&binder->file->arena, size, 1);
    if (matrix->limits == NULL) return ferry_fail_memory(error, "limits of inputs", size);
    ferry_input_limits_init(matrix->limits, matrix->codes, matrix->N, matrix->K);
    return FERRY_OK;
}

/* Of a matrix [N, K] of floats, or of codes. */
static ferry_status check_panels(const ferry_binder *binder, const char *name, const ferry_tensor *tensor, int32_t N,
                                 int32_t K, ferry_error *error)
{
    const int64_t panels = (N + FERRY_LANES - 1) / FERRY_LANES;
    const int64_t groups = (K + CODES_GROUP - 1) / CODES_GROUP;
    const int64_t shape[] = {panels, K, FERRY_LANES}, codes_shape[] = {panels, groups, FERRY_LANES * CODES_GROUP};
    return check_shape(binder, name, tensor, 3, tensor->type == FERRY_I8 ? codes_shape : shape, error);
}

ferry_status ferry_bind_weight(ferry_binder *binder, const char *name, int32_t N, int32_t K, ferry_matrix *matrix,
                               ferry_error *error)
{
    const ferry_name weight = ferry_name_format("%s.weight", name);
    const ferry_tensor *tensor;
    FERRY_TRY(find_any(binder, weight.text, &tensor, error));
    FERRY_TRY(check_panels(binder, weight.text, tensor, N, K, error));
    matrix->N = N;
    matrix->K = K;
    binder->file->parameters += (int64_t)N * K;
    count_bytes(binder, tensor);
    binder->file->matrices[binder->file->matrix_count++] = (ferry_stored_matrix){tensor, matrix};
    switch (tensor->type) {
    case FERRY_F32: matrix->panels = tensor->data; return FERRY_OK;
    case FERRY_F16: return FERRY_OK; /* placed later */
    case FERRY_I8:
        if (K > FERRY_CODES_MAX_K) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected at most %d inputs of i8, found %d",
                              binder->gguf->file, weight.text, (int)FERRY_CODES_MAX_K, (int)K);
        }
        matrix->kind = FERRY_MATRIX_CODES;
        matrix->codes = tensor->data;
        FERRY_TRY(add_limits(binder, matrix, error));
        return bind_code_scales(binder, name, matrix, error);
    default:
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: tensor '%s': expected f32, f16 or i8, found %s",
                          binder->gguf->file, weight.text, ferry_type_name(tensor->type));
    }
}

ferry_status ferry_bind_coarse(ferry_binder *binder, const ferry_matrix *exact, ferry_matrix *coarse,
                               ferry_error *error)
{
    static const char weight[] = FERRY_OUTPUT_COARSE ".weight";
    const int64_t rows[] = {exact->N};
    const int64_t nibbles[] = {(exact->N + FERRY_LANES - 1) / FERRY_LANES, exact->K / 8, FERRY_LANES * CODES_GROUP};
    const ferry_tensor *tensor;
    const void *scales = NULL;
    const bool codes = exact->kind == FERRY_MATRIX_CODES;
    if (ferry_gguf_tensor(binder->gguf, weight) == NULL || (codes && exact->K % 8 != 0)) return FERRY_OK;
    FERRY_TRY(find_any(binder, weight, &tensor, error));
    if (tensor->type != FERRY_I8) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected i8, found %s", binder->gguf->file,
                          weight, ferry_type_name(tensor->type));
    }
    if (codes) {
        FERRY_TRY(check_shape(binder, weight, tensor, 3, nibbles, error));
        *coarse = (ferry_matrix){FERRY_MATRIX_NIBBLES, .N = exact->N, .K = exact->K, .nibbles = tensor->data};
        return FERRY_OK;
    }
    FERRY_TRY(check_panels(binder, weight, tensor, exact->N, exact->K, error));
    FERRY_TRY(ferry_bind_find(binder, FERRY_OUTPUT_COARSE ".scale", FERRY_F32, 1, rows, &scales, error));
    *coarse = (ferry_matrix){FERRY_MATRIX_CODES, .N = exact->N, .K = exact->K, .codes = tensor->data, .scales = scales};
    return FERRY_OK;
}

ferry_status ferry_bind_row(ferry_binder *binder, const ferry_tensor_row *row, const char *prefix,
                            const ferry_stack *stack, void *owner, ferry_error *error)
{
    const ferry_transformer *model = &binder->file->transformer;
    const int32_t N = ferry_tensor_size(row->N, model, stack);
    const ferry_name name = ferry_name_format("%s%s", prefix, row->name);
    const ferry_name bias_name = ferry_name_format("%s.bias", name.text);
    if (row->form == FERRY_TENSOR_NORM) {
        ferry_norm *norm = ferry_tensor_place(row, owner);
        FERRY_TRY(ferry_bind_vector(binder, ferry_name_format("%s.weight", name.text).text, N, &norm->weight, error));
        if (stack->norm == FERRY_RMS_NORM) return FERRY_OK;
        return ferry_bind_vector(binder, bias_name.text, N, &norm->bias, error);
    }
    ferry_matrix *matrix = ferry_tensor_place(row, owner);
    FERRY_TRY(ferry_bind_weight(binder, name.text, N, ferry_tensor_size(row->K, model, stack), matrix, error));
    if (!stack->linear_bias || row->form == FERRY_TENSOR_UNBIASED) return FERRY_OK;
    return ferry_bind_vector(binder, bias_name.text, N, &matrix->bias, error);
}

ferry_status ferry_bind_check_leftovers(const ferry_binder *binder, ferry_error *error)
{
    for (size_t i = 0; i < binder->gguf->tensor_count; i++) {
        if (!binder->used[i]) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s' is unknown", binder->gguf->file,
                              ferry_printable_view(binder->gguf->tensors[i].name).text);
        }
    }
    return FERRY_OK;
}
