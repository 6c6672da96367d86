/* Positional encodings: those of the export layout with parameters and tensors, and tables that may be a formula. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "base/printable.h"

enum { MAX_DISTANCE = 1 << 16, MAX_UNROLLED = 1 << 14 };

typedef struct position_reader {
    ferry_import_plan *plan;
    ferry_json json;
    const char *from, *to; /* "encoder", "enc" */
    const ferry_stack *stack;
    ferry_import_position *position;
} position_reader;

/* ---- parameters ---- */

static ferry_import_parameter *add_parameter(position_reader *reader, const char *key, ferry_import_parameter_kind kind)
{
    ferry_import_parameter *parameter = &reader->position->parameters[reader->position->count++];
    *parameter = (ferry_import_parameter){.key = key, .kind = kind};
    return parameter;
}

/* `a`, also when the key is absent and need not be there, or `b`. */
static ferry_status read_choice(position_reader *reader, const char *key, bool required, const char *a, const char *b,
                                ferry_error *error)
{
    const char *text = a;
    if (required) FERRY_TRY(ferry_json_require(reader->json, key, error));
    FERRY_TRY(ferry_json_text(reader->json, key, &text, error));
    ferry_import_parameter *parameter = add_parameter(reader, key, FERRY_IMPORT_TEXT);
    parameter->text = strcmp(text, a) == 0 ? a : b;
    if (strcmp(text, parameter->text) == 0) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: position: '%s': expected '%s' or '%s'", reader->json.file, key, a,
                      b);
}

static ferry_status read_integer(position_reader *reader, const char *key, int32_t least, int32_t most, int32_t *value,
                                 ferry_error *error)
{
    FERRY_TRY(ferry_json_require(reader->json, key, error));
    FERRY_TRY(ferry_json_integer(reader->json, key, least, most, value, error));
    add_parameter(reader, key, FERRY_IMPORT_INTEGER)->integer = *value;
    return FERRY_OK;
}

/* ---- tensors ---- */

/* [N, K], or [N] for K = 0. */
static ferry_status take_stack(position_reader *reader, const char *from, const char *to, int32_t N, int32_t K,
                               ferry_error *error)
{
    const ferry_weights_entry *tensor;
    const ferry_import_form form = K > 0 ? FERRY_IMPORT_TABLE : FERRY_IMPORT_VECTOR;
    FERRY_TRY(ferry_import_take(reader->plan, reader->from, from, N, K, &tensor, error));
    return ferry_import_add(reader->plan, tensor, form, error, "%s.position.%s", reader->to, to);
}

static ferry_status take_layers(position_reader *reader, const char *from, const char *to, int32_t N, int32_t K,
                                ferry_error *error)
{
    char source[96], target[64];
    for (int32_t i = 0; i < reader->stack->layer_count; i++) {
        position_reader layer = *reader;
        snprintf(source, sizeof source, "%s.layers.%d.self_attn.", reader->from, (int)i);
        snprintf(target, sizeof target, "%s.blk.%d", reader->to, (int)i);
        layer.from = source;
        layer.to = target;
        FERRY_TRY(take_stack(&layer, from, to, N, K, error));
    }
    return FERRY_OK;
}

/* ---- encodings ---- */

static ferry_status read_none(position_reader *reader, ferry_error *error)
{
    (void)reader;
    (void)error;
    return FERRY_OK;
}

static ferry_status read_sinusoidal(position_reader *reader, ferry_error *error)
{
    const int32_t D = reader->plan->model.d_model;
    if (D % 2 != 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: sinusoidal positions need an even d_model, found %d",
                          reader->json.file, (int)D);
    }
    FERRY_TRY(read_choice(reader, "layout", true, "interleaved", "split", error));
    FERRY_TRY(read_choice(reader, "exponent_divisor", true, "half", "half_minus_one", error));
    int32_t first = 0;
    FERRY_TRY(ferry_json_integer(reader->json, "first", 0, MAX_DISTANCE, &first, error));
    add_parameter(reader, "first", FERRY_IMPORT_INTEGER)->integer = first;
    return FERRY_OK;
}

static ferry_status read_learned(position_reader *reader, ferry_error *error)
{
    int32_t rows;
    FERRY_TRY(read_integer(reader, "max_positions", 1, INT32_MAX, &rows, error));
    return take_stack(reader, ".embed_positions.weight", "weight", rows, reader->plan->model.d_model, error);
}

static ferry_status read_shaw(position_reader *reader, ferry_error *error)
{
    int32_t clip;
    const int32_t K = reader->stack->head_width;
    FERRY_TRY(read_integer(reader, "clip", 1, MAX_DISTANCE, &clip, error));
    FERRY_TRY(take_layers(reader, "rel_k", "rel_k", 2 * clip + 1, K, error));
    return take_layers(reader, "rel_v", "rel_v", 2 * clip + 1, K, error);
}

static ferry_status read_t5(position_reader *reader, ferry_error *error)
{
    int32_t buckets, distance;
    FERRY_TRY(read_integer(reader, "num_buckets", 4, MAX_DISTANCE, &buckets, error));
    /* Half of a direction's buckets hold one distance each; logarithms begin there. The encoder has two directions. */
    const int32_t exact = reader->stack == &reader->plan->model.decoder ? buckets / 2 : buckets / 4;
    FERRY_TRY(read_integer(reader, "max_distance", exact + 1, MAX_UNROLLED, &distance, error));
    return take_stack(reader, ".rel_bias.weight", "bias", buckets, reader->stack->heads, error);
}

static ferry_status read_transformer_xl(position_reader *reader, ferry_error *error)
{
    const int32_t D = reader->plan->model.d_model, H = reader->stack->heads, K = reader->stack->head_width;
    FERRY_TRY(take_layers(reader, "r_proj.weight", "r_proj", D, D, error));
    FERRY_TRY(take_layers(reader, "u", "u", H, K, error));
    return take_layers(reader, "v", "v", H, K, error);
}

static ferry_status read_deberta(position_reader *reader, ferry_error *error)
{
    int32_t clip;
    const int32_t D = reader->plan->model.d_model;
    FERRY_TRY(read_integer(reader, "clip", 1, MAX_DISTANCE, &clip, error));
    FERRY_TRY(read_choice(reader, "p2c", false, "paper", "released", error));
    FERRY_TRY(take_stack(reader, ".rel_embeddings.weight", "rel_embeddings", 2 * clip, D, error));
    FERRY_TRY(take_layers(reader, "pos_q.weight", "pos_q", D, D, error));
    FERRY_TRY(take_layers(reader, "pos_q.bias", "pos_q_bias", D, 0, error));
    return take_layers(reader, "pos_k.weight", "pos_k", D, D, error);
}

static ferry_status read_rope(position_reader *reader, ferry_error *error)
{
    float theta = 0;
    int32_t dims = reader->stack->head_width;
    FERRY_TRY(ferry_json_require(reader->json, "theta", error));
    FERRY_TRY(ferry_json_float(reader->json, "theta", &theta, error));
    if (!(theta > 1 && theta < 1e12f)) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: position: 'theta': expected a number between 1 and 1e12",
                          reader->json.file);
    }
    add_parameter(reader, "theta", FERRY_IMPORT_REAL)->real = theta;
    FERRY_TRY(read_choice(reader, "layout", true, "half", "interleaved", error));
    FERRY_TRY(ferry_json_integer(reader->json, "dims", 2, reader->stack->head_width, &dims, error));
    if (dims % 2 != 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: position: 'dims': expected an even number, found %d",
                          reader->json.file, (int)dims);
    }
    add_parameter(reader, "dims", FERRY_IMPORT_INTEGER)->integer = dims;
    return FERRY_OK;
}

static ferry_status read_alibi(position_reader *reader, ferry_error *error)
{
    FERRY_TRY(read_choice(reader, "slopes", false, "formula", "given", error));
    if (strcmp(reader->position->parameters[0].text, "formula") == 0) return FERRY_OK;
    return take_stack(reader, ".slopes", "slopes", reader->stack->heads, 0, error);
}

static const struct {
    const char *type;
    ferry_status (*read)(position_reader *reader, ferry_error *error);
} encodings[] = {
    {"none", read_none},   {"sinusoidal", read_sinusoidal},         {"learned", read_learned}, {"shaw", read_shaw},
    {"t5", read_t5},       {"transformer_xl", read_transformer_xl}, {"deberta", read_deberta}, {"rope", read_rope},
    {"alibi", read_alibi},
};

/* A parameter that is not read would change what is computed. */
static ferry_status check_keys(const position_reader *reader, ferry_error *error)
{
    const ferry_import_position *position = reader->position;
    json_t *object = (json_t *)(uintptr_t)reader->json.object; /* jansson's iterators are not const */
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        const char *key = json_object_iter_key(at);
        bool known = strcmp(key, "type") == 0;
        for (size_t i = 0; i < position->count; i++) known = known || strcmp(key, position->parameters[i].key) == 0;
        if (known) continue;
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: position: '%s': type '%s' has no such parameter",
                          reader->json.file, ferry_printable_view((ferry_view){key, strlen(key)}).text, position->type);
    }
    return FERRY_OK;
}

static ferry_status read_position(position_reader *reader, ferry_error *error)
{
    const char *type = "";
    FERRY_TRY(ferry_json_require(reader->json, "type", error));
    FERRY_TRY(ferry_json_text(reader->json, "type", &type, error));
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++) {
        if (strcmp(type, encodings[i].type) != 0) continue;
        reader->position->type = encodings[i].type;
        FERRY_TRY(encodings[i].read(reader, error));
        return check_keys(reader, error);
    }
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: position type '%s' is not supported", reader->json.file,
                      ferry_printable_view((ferry_view){type, strlen(type)}).text);
}

ferry_status ferry_import_positions(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    FERRY_TRY(ferry_json_require(config, "position", error));
    const json_t *both = ferry_json_get(config, "position");
    const json_t *encoder = json_object_get(both, "encoder"), *decoder = json_object_get(both, "decoder");
    if ((encoder == NULL) != (decoder == NULL)) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: position: expected 'encoder' and 'decoder', found one",
                          config.file);
    }
    position_reader readers[] = {{plan,
                                  {encoder != NULL ? encoder : both, config.file, false},
                                  "encoder",
                                  "enc",
                                  &plan->model.encoder,
                                  &plan->encoder_position},
                                 {plan,
                                  {decoder != NULL ? decoder : both, config.file, false},
                                  "decoder",
                                  "dec",
                                  &plan->model.decoder,
                                  &plan->decoder_position}};
    FERRY_TRY(read_position(&readers[0], error));
    return read_position(&readers[1], error);
}

/* ---- tables ---- */

typedef struct formula {
    bool interleaved;
    bool minus_one; /* divisor D/2 - 1 */
    int32_t first;
} formula;

/* Column i of position p: the sine or the cosine of p / 10000^(k / divisor). */
static double formula_value(const formula *candidate, const double *rates, int32_t D, int64_t p, int32_t i)
{
    const int32_t half = D / 2, k = candidate->interleaved ? i / 2 : i % half;
    const bool cosine = candidate->interleaved ? i % 2 == 1 : i >= half;
    const double angle = (double)(p + candidate->first) * rates[k];
    return cosine ? cos(angle) : sin(angle);
}

/* Whether rows first_row … of the table agree with the formula; `row` is scratch of D floats. */
static bool agrees(const ferry_weights_entry *table, int32_t first_row, const formula *candidate, const double *rates,
                   float *row)
{
    const ferry_tensor *tensor = &table->tensor;
    const bool is_half = tensor->type == FERRY_F16 || tensor->type == FERRY_BF16;
    const double tolerance = is_half ? 1e-3 : 1e-5;
    const int32_t D = (int32_t)tensor->shape[tensor->dims - 1];
    const int64_t *strides = table->strides + tensor->dims - 2;
    for (int64_t p = 0; p < tensor->shape[tensor->dims - 2] - first_row; p++) {
        ferry_import_widen(tensor, (p + first_row) * strides[0], strides[1], (size_t)D, row);
        for (int32_t i = 0; i < D; i++) {
            if (!(fabs((double)row[i] - formula_value(candidate, rates, D, p, i)) <= tolerance)) return false;
        }
    }
    return true;
}

/* The first of the known formulas that the table agrees with. */
static bool find_formula(const ferry_weights_entry *table, int32_t first_row, double *rates, float *row, formula *found)
{
    const int32_t half = (int32_t)table->tensor.shape[table->tensor.dims - 1] / 2;
    for (int minus_one = 0; minus_one < (half > 1 ? 2 : 1); minus_one++) {
        for (int32_t k = 0; k < half; k++) rates[k] = pow(10000, -(double)k / (double)(half - minus_one));
        for (int rest = 0; rest < 6; rest++) {
            *found = (formula){.interleaved = rest % 2 == 1, .minus_one = minus_one == 1, .first = rest / 2};
            if (agrees(table, first_row, found, rates, row)) return true;
        }
    }
    return false;
}

static ferry_status add_learned(ferry_import_plan *plan, const ferry_weights_entry *table, int32_t first_row,
                                int32_t rows, bool decoder, ferry_import_position *position, ferry_error *error)
{
    *position = (ferry_import_position){.type = "learned",
                                        .parameters = {{"max_positions", FERRY_IMPORT_INTEGER, .integer = rows}},
                                        .count = 1};
    const ferry_import_tensor tensor = ferry_import_rows(table, FERRY_IMPORT_TABLE, first_row, rows);
    return ferry_import_add_tensor(plan, &tensor, error, "%s.position.weight", decoder ? "dec" : "enc");
}

ferry_status ferry_import_position_table(ferry_import_plan *plan, const ferry_weights_entry *table, int32_t first_row,
                                         bool decoder, ferry_import_position *position, ferry_error *error)
{
    const int32_t D = plan->model.d_model, dims = table->tensor.dims;
    const int64_t P = dims >= 2 ? table->tensor.shape[dims - 2] : 0;
    const int32_t rows = P < FERRY_IMPORT_MAX_SIZE ? (int32_t)P : FERRY_IMPORT_MAX_SIZE;
    const int32_t expected = rows > first_row ? rows : first_row + 1;
    FERRY_TRY(ferry_import_check_shape(plan, table, expected, D, error));
    double *rates = malloc((size_t)D * sizeof *rates);
    float *row = malloc((size_t)D * sizeof *row);
    formula found = {0};
    bool known = false;
    if (rates != NULL && row != NULL) known = D % 2 == 0 && find_formula(table, first_row, rates, row, &found);
    const bool enough = rates != NULL && row != NULL;
    free(rates);
    free(row);
    if (!enough) return ferry_fail_memory(error, "a row of positions", (size_t)D * sizeof *rates);
    if (!known) return add_learned(plan, table, first_row, rows - first_row, decoder, position, error);
    const char *layout = found.interleaved ? "interleaved" : "split";
    const char *divisor = found.minus_one ? "half_minus_one" : "half";
    *position = (ferry_import_position){.type = "sinusoidal",
                                        .parameters = {{"layout", FERRY_IMPORT_TEXT, .text = layout},
                                                       {"exponent_divisor", FERRY_IMPORT_TEXT, .text = divisor},
                                                       {"first", FERRY_IMPORT_INTEGER, .integer = found.first}},
                                        .count = 3};
    return FERRY_OK;
}
