/* Positional encodings: those of the export layout, read as their schemes declare parameters and tensors, and tables
 * that may be a formula. */
#include "position_tables.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "plan_tensors.h"

/* A name in which the export layout differs from the schemes' declarations. */
typedef struct difference {
    const char *name, *exported;
} difference;

static const difference defaults[] = {{"first", "0"}, {"p2c", "paper"}, {"slopes", "formula"}};
static const difference tensor_names[] = {
    {"weight", "embed_positions.weight"},
    {"bias", "rel_bias.weight"},
    {"r_proj", "r_proj.weight"},
    {"rel_embeddings", "rel_embeddings.weight"},
    {"pos_q", "pos_q.weight"},
    {"pos_q_bias", "pos_q.bias"},
    {"pos_k", "pos_k.weight"},
};

/* The table's text for `name`; `other` if it has none. */
static const char *find_difference(const difference *table, size_t count, const char *name, const char *other)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(table[i].name, name) == 0) return table[i].exported;
    return other;
}

typedef struct position_reader {
    ferry_import_plan *plan;
    ferry_json json;
    const char *from, *to; /* "encoder", "enc" */
    ferry_stack *stack;    /* of its position: scheme, stack and values only */
} position_reader;

static ferry_stack *stack_of(ferry_import_plan *plan, bool decoder)
{
    return decoder ? &plan->model.decoder : &plan->model.encoder;
}

static ferry_status read_parameter(position_reader *reader, size_t index, ferry_error *error)
{
    ferry_position *position = &reader->stack->position;
    const ferry_position_parameter *parameter = &position->scheme->parameters[index];
    const char *key = parameter->key, *file = reader->json.file, *path = reader->json.path;
    const char *text = find_difference(defaults, sizeof defaults / sizeof *defaults, key, parameter->if_missing);
    double *value = &position->values[index];
    if (text == NULL) FERRY_TRY(ferry_json_require(reader->json, key, error));
    if (parameter->kind == FERRY_POSITION_CHOICE) {
        FERRY_TRY(ferry_json_text(reader->json, key, &text, error));
        *value = ferry_position_choice(parameter, ferry_text_view(text));
        if (*value >= 0) return FERRY_OK;
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s%s': expected %s, found '%s'", file, path, key,
                          ferry_position_choices(parameter).text, ferry_printable_text(text).text);
    }
    const double min = ferry_position_evaluate(position, parameter->min);
    const double max = ferry_position_evaluate(position, parameter->max);
    *value = text != NULL ? ferry_position_evaluate(position, text) : 0;
    if (parameter->kind == FERRY_POSITION_INTEGER) {
        int32_t integer = (int32_t)*value;
        FERRY_TRY(ferry_json_integer(reader->json, key, (int32_t)min, (int32_t)max, &integer, error));
        *value = integer;
        if (!parameter->even || integer % 2 == 0) return FERRY_OK;
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s%s': expected an even number, found %d", file, path, key,
                          (int)integer);
    }
    float real = (float)*value;
    FERRY_TRY(ferry_json_float(reader->json, key, &real, error));
    *value = (double)real;
    if (*value > min && *value <= max) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s%s': expected a number between %s and %s", file, path, key,
                      parameter->min, parameter->max);
}

static ferry_status read_position(position_reader *reader, ferry_error *error)
{
    const char *type = "";
    FERRY_TRY(ferry_json_require(reader->json, "type", error));
    FERRY_TRY(ferry_json_text(reader->json, "type", &type, error));
    const ferry_position_scheme *scheme = ferry_position_find(ferry_text_view(type));
    if (scheme == NULL)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: '%stype': '%s' is not supported", reader->json.file,
                          reader->json.path, ferry_printable_text(type).text);
    const int32_t D = reader->plan->model.d_model;
    if (scheme->pairs && D % 2 != 0)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: %s positions need an even d_model, found %d",
                          reader->json.file, scheme->name, (int)D);
    ferry_position *position = &reader->stack->position;
    *position = (ferry_position){.scheme = scheme,
                                 .stack = {.d_model = D,
                                           .heads = reader->stack->heads,
                                           .head_width = reader->stack->head_width,
                                           .causal = reader->stack == &reader->plan->model.decoder}};
    const ferry_position_parameter *parameters = scheme->parameters;
    for (size_t i = 0; parameters != NULL && parameters[i].key != NULL; i++)
        if (ferry_position_has(position, i)) FERRY_TRY(read_parameter(reader, i, error));
    for (const ferry_position_tensor *tensor = scheme->tensors; tensor != NULL && tensor->name != NULL; tensor++) {
        /* One for each layer, or one for the stack. */
        const char *name =
            find_difference(tensor_names, sizeof tensor_names / sizeof *tensor_names, tensor->name, tensor->name);
        int64_t shape[2] = {0};
        const int32_t dims = ferry_position_shape(position, tensor, shape);
        const int32_t count = dims == 0 ? 0 : tensor->per_layer ? reader->stack->layer_count : 1;
        for (int32_t i = 0; i < count; i++) {
            ferry_short_text from = ferry_format("%s.", reader->from), to = ferry_format("%s.", reader->to);
            if (tensor->per_layer) {
                from = ferry_format("%s.layers.%d.self_attn.", reader->from, (int)i);
                to = ferry_format("%s.blk.%d.", reader->to, (int)i);
            }
            const ferry_weights_entry *entry;
            FERRY_TRY(
                ferry_import_take(reader->plan, from.text, name, (int32_t)shape[0], (int32_t)shape[1], &entry, error));
            FERRY_TRY(ferry_import_add(reader->plan, entry, dims == 2 ? FERRY_IMPORT_TABLE : FERRY_IMPORT_VECTOR, error,
                                       "%sposition.%s", to.text, tensor->name));
        }
    }
    /* An ignored parameter would change the results, so unknown ones are refused. */
    json_t *object = (json_t *)(uintptr_t)reader->json.object; /* jansson's iterators are not const */
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        const char *key = json_object_iter_key(at);
        bool known = strcmp(key, "type") == 0;
        for (size_t i = 0; parameters != NULL && parameters[i].key != NULL; i++)
            known = known || (strcmp(key, parameters[i].key) == 0 && ferry_position_has(position, i));
        if (known) continue;
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: '%s%s': type '%s' has no such parameter",
                          reader->json.file, reader->json.path, ferry_printable_text(key).text, scheme->name);
    }
    return FERRY_OK;
}

ferry_status ferry_import_positions(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    FERRY_TRY(ferry_json_require(config, "position", error));
    const json_t *both = ferry_json_get(config, "position");
    const json_t *encoder = json_object_get(both, "encoder"), *decoder = json_object_get(both, "decoder");
    if ((encoder == NULL) != (decoder == NULL)) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: 'position': expected 'encoder' and 'decoder', found one",
                          config.file);
    }
    for (int i = 0; i < 2; i++) {
        const json_t *own = i == 1 ? decoder : encoder;
        const char *path = own == NULL ? "position." : i == 1 ? "position.decoder." : "position.encoder.";
        position_reader reader = {.plan = plan,
                                  .json = {own != NULL ? own : both, config.file, config.texts, path},
                                  .from = i == 1 ? "decoder" : "encoder",
                                  .to = i == 1 ? "dec" : "enc",
                                  .stack = stack_of(plan, i == 1)};
        FERRY_TRY(read_position(&reader, error));
    }
    return FERRY_OK;
}

void ferry_import_set_position(ferry_import_plan *plan, bool decoder, const char *scheme, const double *values,
                               size_t count)
{
    ferry_position *position = &stack_of(plan, decoder)->position;
    *position = (ferry_position){.scheme = ferry_position_find(ferry_text_view(scheme))};
    memcpy(position->values, values, count * sizeof *values);
}

void ferry_import_sinusoidal(ferry_import_plan *plan, bool decoder, bool interleaved, bool half_minus_one,
                             int32_t first)
{
    const double values[] = {!interleaved, half_minus_one, first};
    ferry_import_set_position(plan, decoder, "sinusoidal", values, 3);
}

ferry_status ferry_import_learned(ferry_import_plan *plan, bool decoder, const ferry_weights_entry *table,
                                  int32_t first_row, int32_t rows, ferry_error *error)
{
    const ferry_import_tensor whole = ferry_import_whole(table, FERRY_IMPORT_TABLE);
    const ferry_import_tensor tensor = ferry_import_rows(&whole, first_row, rows);
    ferry_import_set_position(plan, decoder, "learned", (double[]){rows}, 1);
    return ferry_import_add_tensor(plan, &tensor, error, "%s.position.weight", decoder ? "dec" : "enc");
}

/* ---- tables ---- */

typedef struct formula {
    bool interleaved;
    bool minus_one; /* divisor D/2 - 1 */
    int32_t first;
} formula;

/* Whether rows first_row … of the table agree with the formula; `row` is scratch of D floats. */
static bool agrees(const ferry_weights_entry *table, int32_t first_row, const formula *candidate, const double *rates,
                   float *row)
{
    const ferry_tensor *tensor = &table->tensor;
    const bool is_half = tensor->type == FERRY_F16 || tensor->type == FERRY_BF16;
    const double tolerance = is_half ? 1e-3 : 1e-5; /* plus the rounding error of an angle in float32 */
    const int32_t D = (int32_t)tensor->shape[tensor->dims - 1];
    const int64_t *strides = table->strides + tensor->dims - 2;
    for (int64_t p = 0; p < tensor->shape[tensor->dims - 2] - first_row; p++) {
        ferry_import_widen(tensor, (p + first_row) * strides[0], strides[1], (size_t)D, row);
        for (int32_t i = 0; i < D; i++) {
            /* Column i of position p: the sine or the cosine of p / 10000^(k / divisor). */
            const int32_t k = candidate->interleaved ? i / 2 : i % (D / 2);
            const bool cosine = candidate->interleaved ? i % 2 == 1 : i >= D / 2;
            const double angle = (double)(p + candidate->first) * rates[k];
            const double error = (double)row[i] - (cosine ? cos(angle) : sin(angle));
            if (!(fabs(error) <= tolerance + (double)p * (double)FLT_EPSILON)) return false;
        }
    }
    return true;
}

/* The first known formula that the table agrees with. */
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

ferry_status ferry_import_position_table(ferry_import_plan *plan, bool decoder, const ferry_weights_entry *table,
                                         int32_t first_row, ferry_error *error)
{
    const int32_t D = plan->model.d_model, dims = table->tensor.dims;
    const int64_t P = dims >= 2 ? table->tensor.shape[dims - 2] : 0;
    const int32_t rows = P < FERRY_MAX_SIZE ? (int32_t)P : FERRY_MAX_SIZE;
    const int32_t expected = rows > first_row ? rows : first_row + 1;
    FERRY_TRY(ferry_import_check_shape(table, expected, D, error));
    double *rates = ferry_arena_alloc(&plan->arena, (size_t)D, sizeof *rates);
    float *row = ferry_arena_alloc(&plan->arena, (size_t)D, sizeof *row);
    if (rates == NULL || row == NULL) return ferry_fail_memory(error, "a row of positions", (size_t)D, sizeof *rates);
    formula found;
    if (D % 2 != 0 || !find_formula(table, first_row, rates, row, &found))
        return ferry_import_learned(plan, decoder, table, first_row, rows - first_row, error);
    ferry_import_sinusoidal(plan, decoder, found.interleaved, found.minus_one, found.first);
    return FERRY_OK;
}
