#include "bind.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/kernels/linear.h"

/* ---- keys ---- */

/* One key, its file, and the destination of its value. */
typedef struct reader {
    const ferry_gguf *gguf;
    const ferry_schema_values *values;
    ferry_arena *arena;
    const ferry_key *key;
    const char *name; /* with its prefix */
    char *group;
} reader;

static ferry_status read_choice(const reader *r, int64_t *number, ferry_error *error)
{
    ferry_view text;
    ferry_short_text known = {""};
    FERRY_TRY(ferry_gguf_get_text(r->gguf, r->name, &text, error));
    for (*number = 0; r->key->choices[*number] != NULL; ++*number) {
        if (ferry_view_is(text, r->key->choices[*number])) return FERRY_OK;
        known = ferry_format("%s%s%s", known.text, *number > 0 ? "|" : "", r->key->choices[*number]);
    }
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: key '%s': '%s' is not supported by this build; expected %s",
                      r->gguf->file, r->name, ferry_printable_view(text).text, known.text);
}

/* Checks the number of elements before it reads them. */
static ferry_status read_array(const reader *r, ferry_error *error)
{
    const ferry_key *key = r->key;
    const char *elements_name = key->kind == FERRY_KEY_TEXTS ? "texts" : "numbers";
    const ferry_gguf_value *value = ferry_gguf_find(r->gguf, r->name);
    const bool ids = key->kind == FERRY_KEY_IDS;
    const size_t all = ids && !key->matches ? (size_t)ferry_key_max(key, r->values) + 1 : INT32_MAX;
    const size_t max = key->max_count > 0 ? key->max_count : all;
    const int64_t min = ids ? (int64_t)key->min : 0,
                  largest = ids ? (int64_t)ferry_key_max_in_file(key, r->values) : INT64_MAX;
    size_t count = 0;
    const void *elements = NULL; /* pointers have the same size for every element type */
    const ferry_string_table *texts = NULL;
    if (value != NULL && value->count > max)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected at most %zu %s, found %" PRIu64,
                          r->gguf->file, r->name, max, elements_name, value->count);
    if (key->kind == FERRY_KEY_TEXTS)
        FERRY_TRY(ferry_gguf_get_texts(r->gguf, r->name, &texts, &count, error));
    else if (key->kind == FERRY_KEY_REALS)
        FERRY_TRY(ferry_gguf_get_reals(r->gguf, r->name, r->arena, &elements, &count, error));
    else
        FERRY_TRY(ferry_gguf_get_integers(r->gguf, r->name, min, largest, ids ? sizeof(int32_t) : sizeof(uint64_t),
                                          r->arena, &elements, &count, error));
    if (texts != NULL) elements = texts;
    const size_t expected = key->matches ? ferry_key_count(key, r->group) : count;
    if (count != expected)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected %zu %s, found %zu", r->gguf->file, r->name,
                          expected, elements_name, count);
    ferry_key_set_count(key, r->group, count);
    memcpy(r->group + key->offset, &elements, sizeof elements);
    return FERRY_OK;
}

static ferry_status read_key(const reader *r, ferry_error *error)
{
    const ferry_key *key = r->key;
    const double max = ferry_key_max_in_file(key, r->values);
    void *field = r->group + key->offset;
    int64_t number = 0;
    float real = 0;
    bool truth = false;
    switch (key->kind) {
    case FERRY_KEY_SIZE:
    case FERRY_KEY_ID:
        FERRY_TRY(ferry_gguf_get_integer(r->gguf, r->name, (int64_t)key->min, (int64_t)max, &number, error));
        break;
    case FERRY_KEY_BOOL:
        FERRY_TRY(ferry_gguf_get_bool(r->gguf, r->name, &truth, error));
        number = truth;
        break;
    case FERRY_KEY_CHOICE: FERRY_TRY(read_choice(r, &number, error)); break;
    case FERRY_KEY_REAL:
        FERRY_TRY(ferry_gguf_get_f32(r->gguf, r->name, &real, error));
        if (!ferry_key_admits(key, (double)real, max))
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected %s, found %g", r->gguf->file, r->name,
                              ferry_key_range(key, max).text, (double)real);
        memcpy(field, &real, sizeof real);
        return FERRY_OK;
    case FERRY_KEY_TEXT: return ferry_gguf_get_text(r->gguf, r->name, field, error);
    case FERRY_KEY_BYTES: return ferry_gguf_get_bytes(r->gguf, r->name, field, error);
    case FERRY_KEY_IDS:
    case FERRY_KEY_TEXTS:
    case FERRY_KEY_SIZES:
    case FERRY_KEY_REALS: return read_array(r, error);
    }
    ferry_key_set_integer(key, r->group, number);
    return FERRY_OK;
}

ferry_status ferry_read_keys(const ferry_gguf *gguf, ferry_key_group group, const ferry_schema_values *values,
                             ferry_arena *arena, ferry_error *error)
{
    const ferry_key_table table = ferry_schema_keys(group);
    char *into = ferry_schema_group(values, group);
    /* Keys that are bound to the tag's vocabulary are read in a second pass: their range depends on a later key. */
    for (size_t i = 0; i < 2 * table.count; i++) {
        const ferry_key *key = &table.keys[i % table.count];
        if ((key->bound == FERRY_BOUND_TAG_ID) != (i >= table.count) || key->when == FERRY_WHEN_NEVER) continue;
        const ferry_short_text name = ferry_format("%s%s", table.prefix, key->name);
        const reader r = {gguf, values, arena, key, name.text, into};
        const bool may_miss = key->optional || (key->matches && ferry_key_count(key, into) == 0);
        /* Optional keys are always looked up: whether a key applies may depend on its own value. */
        if (!key->optional && !ferry_key_applies(key, values)) continue;
        if (!may_miss || ferry_gguf_find(gguf, name.text) != NULL) FERRY_TRY(read_key(&r, error));
    }
    return FERRY_OK;
}

/* ---- tensors, looked up by name and checked ---- */

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

/* The tensor `name` must exist, with this element type and shape; it is marked as used. Errors: FORMAT. */
static ferry_status find(ferry_binder *binder, const char *name, ferry_type type, int32_t dims, const int64_t *shape,
                         const void **data, ferry_error *error)
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

/* Trained float32 numbers, counted in binder->parameters. */
static ferry_status bind_f32(ferry_binder *binder, const char *name, int32_t dims, const int64_t *shape,
                             const float **data, ferry_error *error)
{
    const void *numbers = NULL;
    FERRY_TRY(find(binder, name, FERRY_F32, dims, shape, &numbers, error));
    *data = numbers;
    binder->parameters += ferry_tensor_count(ferry_gguf_tensor(binder->gguf, name));
    return FERRY_OK;
}

ferry_status ferry_bind_vector(ferry_binder *binder, const char *name, int32_t n, const float **data,
                               ferry_error *error)
{
    const int64_t shape[] = {n};
    return bind_f32(binder, name, 1, shape, data, error);
}

/* ---- matrices ---- */

/* Numbers [n] that were derived from a matrix, each within min … max. */
static ferry_status bind_sizes(ferry_binder *binder, const char *name, int32_t n, float min, float max,
                               const float **sizes, ferry_error *error)
{
    const int64_t shape[] = {n};
    const void *data = NULL;
    FERRY_TRY(find(binder, name, FERRY_F32, 1, shape, &data, error));
    const float *values = data;
    for (int32_t i = 0; i < n; i++) {
        if (values[i] >= min && values[i] <= max) continue;
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: tensor '%s': expected finite numbers %s, found %g at %" PRId32, binder->gguf->file, name,
                          min > 0 ? "above 0" : ferry_format("from 0 to %g", (double)max).text, (double)values[i], i);
    }
    *sizes = values;
    return FERRY_OK;
}

/* The lower plane of "<name>.weight", which is the upper one, and the bound of its error. Whether that is true is not
 * checked. */
static ferry_status bind_planes(ferry_binder *binder, const char *name, ferry_matrix *matrix, ferry_error *error)
{
    int64_t shape[3];
    const void *lower = NULL;
    const float *lost;
    /* Kernels convert the error to an integer. A nibble errs by 7.5 at most. */
    const float max = nextafterf((float)(7.5 * sqrt((double)matrix->K)), INFINITY);
    ferry_matrix_shape(matrix->kind, matrix->N, matrix->K, shape);
    FERRY_TRY(find(binder, ferry_format("%s.lower", name).text, FERRY_I8, 3, shape, &lower, error));
    FERRY_TRY(bind_sizes(binder, ferry_format("%s.error", name).text, 1, 0, max, &lost, error));
    matrix->lower = lower;
    matrix->nibbles_error = *lost;
    return FERRY_OK;
}

/* int8 numbers with one scale for each row or one multiplier, and optionally a multiplier of the inputs. */
static ferry_status bind_int8(ferry_binder *binder, const char *name, ferry_matrix *matrix, ferry_error *error)
{
    const ferry_short_text scale = ferry_format("%s.scale", name), multiplier = ferry_format("%s.multiplier", name);
    const ferry_short_text input = ferry_format("%s.input_multiplier", name);
    const bool has_scale = ferry_gguf_tensor(binder->gguf, scale.text) != NULL;
    const bool planes = matrix->kind == FERRY_MATRIX_PLANES;
    const float *value;
    if (planes) FERRY_TRY(bind_planes(binder, name, matrix, error));
    FERRY_TRY(ferry_matrix_begin(matrix, binder->kernels, binder->arena, error));
    if (has_scale == (ferry_gguf_tensor(binder->gguf, multiplier.text) != NULL))
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: expected one of the tensors '%s' and '%s', found %s",
                          binder->gguf->file, scale.text, multiplier.text, has_scale ? "both" : "none");
    if (has_scale) {
        const float min = planes ? 0 : FLT_TRUE_MIN; /* 0: a row of zeros */
        FERRY_TRY(bind_sizes(binder, scale.text, matrix->N, min, FLT_MAX, &matrix->scales, error));
    } else {
        FERRY_TRY(bind_sizes(binder, multiplier.text, 1, FLT_TRUE_MIN, FLT_MAX, &value, error));
        matrix->multiplier = *value;
    }
    if (ferry_gguf_tensor(binder->gguf, input.text) == NULL) return FERRY_OK;
    FERRY_TRY(bind_sizes(binder, input.text, 1, FLT_TRUE_MIN, FLT_MAX, &value, error));
    matrix->input_multiplier = *value;
    return FERRY_OK;
}

/* The tensor of a matrix [N, K]. */
static ferry_status check_panels(const ferry_binder *binder, const char *name, const ferry_tensor *tensor,
                                 ferry_matrix_kind kind, int32_t N, int32_t K, ferry_error *error)
{
    int64_t shape[3];
    ferry_matrix_shape(kind, N, K, shape);
    return check_shape(binder, name, tensor, 3, shape, error);
}

/* A matrix of steps has the type of int8 numbers and fewer lines; one in planes, a lower plane. */
static ferry_matrix_kind find_kind(const ferry_binder *binder, const char *name, const ferry_tensor *tensor, int32_t N,
                                   int32_t K, bool steps)
{
    int64_t shape[3];
    if (tensor->type != FERRY_I8) return FERRY_MATRIX_FLOATS;
    ferry_matrix_shape(FERRY_MATRIX_STEPS, N, K, shape);
    if (steps && K % FERRY_STEP_INPUTS == 0 && tensor->shape[1] == shape[1]) return FERRY_MATRIX_STEPS;
    const bool lower = ferry_gguf_tensor(binder->gguf, ferry_format("%s.lower", name).text) != NULL;
    return lower && K % FERRY_NIBBLE_GROUP == 0 ? FERRY_MATRIX_PLANES : FERRY_MATRIX_INT8;
}

/* "<name>.weight" [N, K] of any type, with the scales of the type, without bias. `steps`: may have steps. Errors:
 * FORMAT, UNSUPPORTED. */
static ferry_status bind_weight(ferry_binder *binder, const char *name, int32_t N, int32_t K, bool steps,
                                ferry_matrix *matrix, ferry_error *error)
{
    static const ferry_type types[] = {FERRY_F32, FERRY_F16, FERRY_I8};
    const ferry_short_text weight = ferry_format("%s.weight", name);
    const ferry_tensor *tensor;
    size_t max = 0;
    FERRY_TRY(find_any(binder, weight.text, &tensor, error));
    matrix->kind = find_kind(binder, name, tensor, N, K, steps);
    FERRY_TRY(check_panels(binder, weight.text, tensor, matrix->kind, N, K, error));
    matrix->N = N;
    matrix->K = K;
    binder->parameters += (int64_t)N * K;
    for (int i = 0; i < 3; i++) {
        if (tensor->type == types[i])
            binder->type_bytes[i] += tensor->bytes * (matrix->kind == FERRY_MATRIX_PLANES ? 2 : 1);
        if (binder->type_bytes[i] <= max) continue;
        max = binder->type_bytes[i];
        binder->type = types[i];
    }
    binder->matrices[binder->matrix_count++] = (ferry_stored_matrix){tensor, matrix};
    switch (tensor->type) {
    case FERRY_F32: matrix->panels = tensor->data; return FERRY_OK;
    case FERRY_F16: return FERRY_OK; /* ferry_model_file_open allocates its float32 numbers */
    case FERRY_I8:
        if (K > FERRY_INT8_MAX_K) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected at most %d inputs of i8, found %d",
                              binder->gguf->file, weight.text, (int)FERRY_INT8_MAX_K, (int)K);
        }
        matrix->int8 = tensor->data;
        return bind_int8(binder, name, matrix, error);
    default:
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: tensor '%s': expected f32, f16 or i8, found %s",
                          binder->gguf->file, weight.text, ferry_type_name(tensor->type));
    }
}

/* The coarse matrix of an output matrix of floats, `exact`, if the file has one, with its bound. Whether they belong to
 * `exact` is not checked. Errors: FORMAT. */
static ferry_status bind_coarse(ferry_binder *binder, const ferry_matrix *exact, ferry_coarse *coarse,
                                ferry_error *error)
{
    static const char weight[] = FERRY_OUTPUT_COARSE ".weight", bound[] = FERRY_OUTPUT_COARSE ".error";
    const ferry_tensor *tensor;
    const float *scales, *lost, *norm;
    if (ferry_gguf_tensor(binder->gguf, weight) == NULL || exact->kind != FERRY_MATRIX_FLOATS) return FERRY_OK;
    FERRY_TRY(find_any(binder, weight, &tensor, error));
    if (tensor->type != FERRY_I8) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s': expected i8, found %s", binder->gguf->file,
                          weight, ferry_type_name(tensor->type));
    }
    FERRY_TRY(check_panels(binder, weight, tensor, FERRY_MATRIX_INT8, exact->N, exact->K, error));
    FERRY_TRY(bind_sizes(binder, FERRY_OUTPUT_COARSE ".scale", exact->N, 0, FLT_MAX, &scales, error));
    if (ferry_gguf_tensor(binder->gguf, bound) == NULL)
        return FERRY_OK; /* of an early file: not used without a bound */
    FERRY_TRY(bind_sizes(binder, bound, 1, 0, FLT_MAX, &lost, error));
    FERRY_TRY(bind_sizes(binder, FERRY_OUTPUT_COARSE ".norm", 1, 0, FLT_MAX, &norm, error));
    *coarse = (ferry_coarse){.matrix = {FERRY_MATRIX_INT8, .N = exact->N, .K = exact->K, .int8 = tensor->data,
                                        .scales = scales},
                             .error = *lost,
                             .norm = *norm};
    return FERRY_OK;
}

/* The row's matrix or norm of a layer or stack, `owner`; `prefix` comes before the row's name. */
static ferry_status bind_row(ferry_binder *binder, const ferry_tensor_row *row, const char *prefix,
                             const ferry_stack *stack, void *owner, ferry_error *error)
{
    const ferry_transformer *model = binder->values->transformer;
    const int32_t N = ferry_tensor_size(row->N, model, stack);
    const ferry_short_text name = ferry_format("%s%s", prefix, row->name);
    const ferry_short_text bias_name = ferry_format("%s.bias", name.text);
    if (row->form == FERRY_TENSOR_NORM) {
        ferry_norm *norm = ferry_tensor_target(row, owner);
        FERRY_TRY(ferry_bind_vector(binder, ferry_format("%s.weight", name.text).text, N, &norm->weight, error));
        if (stack->norm == FERRY_RMS_NORM) return FERRY_OK;
        return ferry_bind_vector(binder, bias_name.text, N, &norm->bias, error);
    }
    ferry_matrix *matrix = ferry_tensor_target(row, owner);
    FERRY_TRY(bind_weight(binder, name.text, N, ferry_tensor_size(row->K, model, stack), true, matrix, error));
    if (!stack->linear_bias || row->form == FERRY_TENSOR_UNBIASED) return FERRY_OK;
    return ferry_bind_vector(binder, bias_name.text, N, &matrix->bias, error);
}

/* ---- positions ---- */

/* The names of one stack's keys and tensors. */
typedef struct position_user {
    ferry_binder *binder;
    const char *keys, *tensors; /* "ferry.encoder.", "enc" */
} position_user;

static bool position_parameter(void *user, const ferry_position_parameter *declared, ferry_view *text, double *number)
{
    const position_user *position = user;
    const ferry_gguf *gguf = position->binder->gguf;
    const ferry_short_text key = ferry_format("%sposition.%s", position->keys, declared->key);
    int64_t integer;
    float real;
    switch (declared->kind) {
    case FERRY_POSITION_CHOICE: ferry_gguf_get_text(gguf, key.text, text, NULL); break;
    case FERRY_POSITION_INTEGER:
        if (ferry_gguf_get_integer(gguf, key.text, INT64_MIN, INT64_MAX, &integer, NULL) == FERRY_OK)
            *number = (double)integer;
        break;
    case FERRY_POSITION_REAL:
        if (ferry_gguf_get_f32(gguf, key.text, &real, NULL) == FERRY_OK) *number = (double)real;
        break;
    }
    return ferry_gguf_find(gguf, key.text) != NULL;
}

static ferry_status position_tensor(void *user, const ferry_position_tensor *declared, int32_t layer, int32_t dims,
                                    const int64_t *shape, const float **data, ferry_error *error)
{
    const position_user *position = user;
    const ferry_short_text name =
        layer < 0 ? ferry_format("%s.position.%s", position->tensors, declared->name)
                  : ferry_format("%s.blk.%" PRId32 ".position.%s", position->tensors, layer, declared->name);
    return bind_f32(position->binder, name.text, dims, shape, data, error);
}

static ferry_status bind_position(ferry_binder *binder, bool decoder, ferry_stack *stack, ferry_error *error)
{
    position_user user = {binder, decoder ? "ferry.decoder." : "ferry.encoder.", decoder ? "dec" : "enc"};
    const ferry_position_source source = {&user, position_parameter, position_tensor};
    const ferry_position_stack sizes = ferry_position_stack_of(stack, binder->values->transformer->d_model);
    ferry_view type;
    ferry_error inner = {0};
    FERRY_TRY(ferry_gguf_get_text(binder->gguf, ferry_format("%sposition.type", user.keys).text, &type, error));
    const ferry_status status = ferry_position_bind(type, &sizes, &source, binder->kernels, &stack->position, &inner);
    const ferry_position_scheme *scheme = stack->position.scheme;
    const bool ssru = decoder && binder->values->transformer->ssru;
    /* An SSRU has no scores: only encodings that are added to embeddings apply. */
    if (status == FERRY_OK && ssru && (scheme->rotate != NULL || scheme->score != NULL || scheme->context != NULL))
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: ferry.decoder.position.type: '%s' needs self-attention, not an SSRU", binder->gguf->file,
                          scheme->name);
    if (status == FERRY_OK) return FERRY_OK;
    const char *group = ferry_text_begins(inner.message, "position.") ? "" : "position: "; /* the message names a key */
    return ferry_fail(error, status, "%s: %s%s%s", binder->gguf->file, user.keys, group, inner.message);
}

/* ---- stacks ---- */

static ferry_status bind_stack(ferry_binder *binder, bool decoder, ferry_stack *stack, ferry_error *error)
{
    const char *name = decoder ? "dec" : "enc";
    const size_t layers = (size_t)stack->layer_count;
    stack->causal = decoder;
    if (stack->heads > FERRY_MAX_SIZE / stack->head_width)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: ferry.%s: %d heads of width %d are more than %d wide",
                          binder->gguf->file, decoder ? "decoder" : "encoder", stack->heads, stack->head_width,
                          FERRY_MAX_SIZE);
    FERRY_TRY(bind_position(binder, decoder, stack, error));
    stack->layers = ferry_arena_alloc(binder->arena, layers, sizeof *stack->layers);
    if (stack->layers == NULL) return ferry_fail_memory(error, "the layers of a model", layers, sizeof *stack->layers);
    memset(stack->layers, 0, layers * sizeof *stack->layers);
    for (size_t i = 0; i <= layers; i++) { /* the stack itself comes after its layers */
        const ferry_short_text prefix = i < layers ? ferry_format("%s.blk.%zu.", name, i) : ferry_format("%s.", name);
        void *owner = i < layers ? (void *)&stack->layers[i] : stack;
        const ferry_tensor_row *row = i < layers ? ferry_layer_tensors : ferry_stack_tensors;
        for (; row->name != NULL; row++)
            if (ferry_tensor_applies(row, binder->values->transformer, stack))
                FERRY_TRY(bind_row(binder, row, prefix.text, stack, owner, error));
    }
    return FERRY_OK;
}

/* ---- the shortlist ---- */

static ferry_status bind_shortlist(ferry_binder *binder, ferry_error *error)
{
    const ferry_transformer *model = binder->values->transformer;
    ferry_shortlist *shortlist = &binder->values->generation->shortlist;
    const ferry_gguf *gguf = binder->gguf;
    const int32_t source_vocab = model->encoder.vocab_size, target_vocab = model->decoder.vocab_size;
    const ferry_tensor *lists = ferry_gguf_tensor(gguf, "shortlist.ids");
    const int64_t shape[] = {source_vocab + 1}, ids_shape[] = {lists != NULL ? lists->shape[0] : 0};
    const void *offsets = NULL, *ids = NULL;
    if (shortlist->shared && source_vocab != target_vocab)
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: ferry.shortlist.shared: expected one vocabulary, found sizes %" PRId32 " and %" PRId32,
                          gguf->file, source_vocab, target_vocab);
    FERRY_TRY(find(binder, "shortlist.offsets", FERRY_I32, 1, shape, &offsets, error));
    FERRY_TRY(find(binder, "shortlist.ids", FERRY_I32, 1, ids_shape, &ids, error));
    shortlist->offsets = offsets;
    shortlist->ids = ids;
    /* Lists follow each other without gaps. */
    bool ascending = shortlist->offsets[0] == 0 && (int64_t)shortlist->offsets[source_vocab] == ids_shape[0];
    for (int32_t s = 0; ascending && s < source_vocab; s++)
        ascending = shortlist->offsets[s] <= shortlist->offsets[s + 1];
    if (!ascending)
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: tensor 'shortlist.offsets': expected ascending numbers from 0 to %" PRId64, gguf->file,
                          ids_shape[0]);
    for (int32_t s = 0; s < source_vocab; s++) {
        int32_t min = 0;
        for (uint32_t i = shortlist->offsets[s]; i < shortlist->offsets[s + 1]; i++) {
            const int32_t id = shortlist->ids[i];
            if (id < min || id >= target_vocab)
                return ferry_fail(error, FERRY_ERROR_FORMAT,
                                  "%s: tensor 'shortlist.ids': list of %" PRId32
                                  ": expected ascending ids below %" PRId32 ", found %" PRId32,
                                  gguf->file, s, target_vocab, id);
            min = id + 1;
        }
    }
    return FERRY_OK;
}

/* ---- all of it ---- */

static ferry_status read_keys(const ferry_binder *binder, ferry_error *error)
{
    const ferry_stack *decoder = &binder->values->transformer->decoder;
    const ferry_generation *generation = binder->values->generation;
    for (ferry_key_group group = FERRY_KEYS_GRAPH; group <= FERRY_KEYS_DECODING; group++)
        FERRY_TRY(ferry_read_keys(binder->gguf, group, binder->values, binder->arena, error));
    const int32_t first = generation->alignment_head, max = first >= 0 ? decoder->heads - first : decoder->heads;
    if (generation->alignment_heads > max)
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: ferry.alignment_heads: expected at most %" PRId32 " from head %" PRId32
                          ", found %" PRId32,
                          binder->gguf->file, max, first, generation->alignment_heads);
    if (generation->eos_count > 0) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key 'ferry.eos_ids': expected at least one id",
                      binder->gguf->file);
}

ferry_status ferry_model_bind(ferry_binder *binder, ferry_error *error)
{
    const ferry_gguf *gguf = binder->gguf;
    const size_t tensors = gguf->tensor_count;
    ferry_transformer *model = binder->values->transformer;
    binder->used = ferry_arena_alloc(binder->arena, tensors, sizeof *binder->used);
    binder->matrices = calloc(tensors + 1, sizeof *binder->matrices);
    if (binder->used == NULL || binder->matrices == NULL)
        return ferry_fail_memory(error, "the tensors of a model file", tensors, sizeof *binder->matrices);
    memset(binder->used, 0, tensors * sizeof *binder->used);
    if (gguf->alignment % FERRY_ARENA_ALIGNMENT != 0)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: general.alignment: expected a multiple of %d, found %zu",
                          gguf->file, FERRY_ARENA_ALIGNMENT, gguf->alignment);
    FERRY_TRY(read_keys(binder, error));
    const int32_t D = model->d_model, source_vocab = model->encoder.vocab_size, V = model->decoder.vocab_size;
    const bool tied = model->tied_embeddings;
    if (tied && source_vocab != V)
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: tied embeddings need one vocabulary, found sizes %" PRId32 " and %" PRId32, gguf->file,
                          source_vocab, V);
    if (!tied)
        FERRY_TRY(bind_weight(binder, "enc.token_embd", source_vocab, D, false, &model->encoder.embedding, error));
    FERRY_TRY(
        bind_weight(binder, tied ? "token_embd" : "dec.token_embd", V, D, false, &model->decoder.embedding, error));
    FERRY_TRY(bind_stack(binder, false, &model->encoder, error));
    FERRY_TRY(bind_stack(binder, true, &model->decoder, error));
    if (!model->tied_output) FERRY_TRY(bind_weight(binder, "output", V, D, false, &model->output, error));
    FERRY_TRY(bind_coarse(binder, model->tied_output ? &model->decoder.embedding : &model->output,
                          &model->output_coarse, error));
    if (model->output_bias) FERRY_TRY(ferry_bind_vector(binder, "output.bias", V, &model->output.bias, error));
    if (binder->values->shortlist) FERRY_TRY(bind_shortlist(binder, error));
    for (size_t i = 0; i < tensors; i++)
        if (!binder->used[i])
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s' is unknown", gguf->file,
                              ferry_printable_view(gguf->tensors[i].name).text);
    return FERRY_OK;
}
