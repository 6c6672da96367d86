/* A stack's positional encoding, which the variables of its first layer determine. */
#include <math.h>
#include <string.h>

#include "ctranslate2.h"
#include "models/plan/plan_tensors.h"
#include "models/plan/position_tables.h"
#include "models/families/families.h"

enum { MAX_DISTANCE = 1 << 14, MAX_BUCKETS = 1 << 16 };
/* Choices of the schemes' parameters. */
enum { FORMULA = 0, HALVES = 0, INTERLEAVED = 1 };
enum { LINEAR = 0, LLAMA3 = 2 }; /* of `rotary_scaling_type` */

typedef struct position_reader {
    const ferry_ctranslate2 *model;
    const ferry_stack *stack;
    bool decoder;
    const char *from, *to; /* "encoder", "enc" */
} position_reader;

static ferry_short_text layer_scope(const position_reader *reader, int32_t layer)
{
    return ferry_format("%s/layer_%d/self_attention", reader->from, (int)layer);
}

static bool in_first_layer(const position_reader *reader, const char *name)
{
    return ferry_ct2_look(reader->model, layer_scope(reader, 0).text, name) != NULL;
}

/* A number of the self-attention. All layers must have the same. */
static ferry_status read_common(const position_reader *reader, const char *name, double *value, ferry_error *error)
{
    const double missing = *value;
    *value = ferry_ct2_number(reader->model, layer_scope(reader, 0).text, name, missing);
    for (int32_t i = 1; i < reader->stack->layer_count; i++) {
        const ferry_short_text scope = layer_scope(reader, i);
        const double other = ferry_ct2_number(reader->model, scope.text, name, missing);
        if (other == *value) continue;
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: '%s/%s' is %g, but %g in layer 0: not supported",
                          reader->model->file, scope.text, name, other, *value);
    }
    return FERRY_OK;
}

/* ---- encodings ---- */

static ferry_status read_shaw(position_reader *reader, ferry_error *error)
{
    static const char *const names[][2] = {{"relative_position_keys", "rel_k"}, {"relative_position_values", "rel_v"}};
    ferry_import_plan *plan = reader->model->plan;
    int32_t rows;
    FERRY_TRY(ferry_ct2_size(reader->model, layer_scope(reader, 0).text, names[0][0], 2, 0, &rows, error));
    if (rows < 3 || rows % 2 == 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: relative positions: expected an odd number of rows, found %d",
                          reader->model->file, (int)rows);
    }
    const int32_t clip = (rows - 1) / 2;
    ferry_import_set_position(plan, reader->decoder, "shaw", (double[]){clip}, 1);
    for (int32_t i = 0; i < 2 * reader->stack->layer_count; i++) {
        const ferry_short_text scope = layer_scope(reader, i / 2);
        const ferry_weights_entry *table;
        FERRY_TRY(ferry_import_take(plan, "", ferry_ct2_join(scope.text, names[i % 2][0]).text, rows,
                                    reader->stack->head_width, &table, error));
        FERRY_TRY(ferry_import_add(plan, table, FERRY_IMPORT_TABLE, error, "%s.blk.%d.position.%s", reader->to,
                                   (int)(i / 2), names[i % 2][1]));
    }
    return FERRY_OK;
}

static ferry_status read_t5(position_reader *reader, ferry_error *error)
{
    ferry_import_plan *plan = reader->model->plan;
    const ferry_short_text scope = layer_scope(reader, 0);
    const ferry_weights_entry *table;
    int32_t buckets;
    double distance = 0;
    FERRY_TRY(ferry_ct2_size(reader->model, scope.text, "relative_attention_bias", 2, 0, &buckets, error));
    FERRY_TRY(ferry_import_take(plan, "", ferry_ct2_join(scope.text, "relative_attention_bias").text, buckets,
                                reader->stack->heads, &table, error));
    FERRY_TRY(read_common(reader, "relative_attention_max_distance", &distance, error));
    const int32_t exact = reader->decoder ? buckets / 2 : buckets / 4;
    if (buckets < 4 || buckets > MAX_BUCKETS || !(distance > exact && distance <= (double)MAX_DISTANCE)) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s': %d buckets for distances up to %g", reader->model->file,
                          scope.text, (int)buckets, distance);
    }
    for (int32_t i = 1; i < reader->stack->layer_count; i++) { /* one table for all layers, or equal ones */
        const ferry_short_text layer = layer_scope(reader, i);
        const ferry_weights_entry *other =
            ferry_import_find(plan, "", ferry_ct2_join(layer.text, "relative_attention_bias").text);
        if (other == NULL || (other->tensor.bytes == table->tensor.bytes && other->tensor.type == table->tensor.type &&
                              memcmp(other->tensor.data, table->tensor.data, table->tensor.bytes) == 0))
            continue;
        return ferry_ct2_fail(reader->model, layer.text, "position biases that differ between layers are not supported",
                              error);
    }
    ferry_import_set_position(plan, reader->decoder, "t5", (double[]){buckets, distance}, 2);
    return ferry_import_add(plan, table, FERRY_IMPORT_TABLE, error, "%s.position.bias", reader->to);
}

static ferry_status read_rope(position_reader *reader, ferry_error *error)
{
    double dims = 0, interleave = 1, base = 10000, scaling = -1, factor = 1, slow = 1, fast = 4, length = 0, unused;
    const struct {
        const char *name;
        double *value;
    } numbers[] = {{"rotary_dim", &dims},
                   {"rotary_interleave", &interleave},
                   {"rotary_base", &base},
                   {"rotary_scaling_type", &scaling},
                   {"rotary_scaling_factor", &factor},
                   {"rotary_low_freq_factor", &slow},
                   {"rotary_high_freq_factor", &fast},
                   {"original_max_position_embeddings", &length},
                   {"max_position_embeddings", &unused}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        FERRY_TRY(read_common(reader, numbers[i].name, numbers[i].value, error));
    if (scaling != -1 && scaling != LINEAR && scaling != LLAMA3) {
        return ferry_ct2_fail(
            reader->model, layer_scope(reader, 0).text,
            "rotations scaled as `su` (or by another rule than `linear` and `llama3`) are not supported", error);
    }
    if (dims == 0) dims = reader->stack->head_width;
    if (!(dims >= 2 && dims <= reader->stack->head_width) || (int32_t)dims % 2 != 0 || !(base > 1 && base < 1e12)) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: rotations of %g columns with base %g", reader->model->file,
                          dims, base);
    }
    const bool scaled = scaling != -1;
    if (scaled && (!(factor > 0 && factor <= 1e6) ||
                   (scaling == LLAMA3 && !(slow > 0 && fast > slow && fast <= 1e6 && length >= 1 && length <= 1e9)))) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: rotations scaled by %g, from %g to %g turns in %g positions",
                          reader->model->file, factor, slow, fast, length);
    }
    const int layout = interleave != 0 ? INTERLEAVED : HALVES, kind = scaling == LINEAR ? 1 : 2;
    const double values[] = {(double)(float)base, layout, dims, kind, factor, length, fast, slow};
    ferry_import_set_position(reader->model->plan, reader->decoder, "rope", values, scaled ? 8 : 3);
    return FERRY_OK;
}

ferry_status ferry_ct2_positions(const ferry_ctranslate2 *model, bool decoder, ferry_error *error)
{
    ferry_import_plan *plan = model->plan;
    position_reader reader = {.model = model,
                              .stack = decoder ? &plan->model.decoder : &plan->model.encoder,
                              .decoder = decoder,
                              .from = decoder ? "decoder" : "encoder",
                              .to = decoder ? "dec" : "enc"};
    const bool alibi = ferry_ct2_number(model, reader.from, "alibi", 0) != 0;
    (void)ferry_ct2_number(model, reader.from, "alibi_use_positive_positions", 0);
    (void)ferry_ct2_number(model, reader.from, "scale_alibi", 0);
    if (in_first_layer(&reader, "relative_position_keys") || in_first_layer(&reader, "relative_position_values"))
        return read_shaw(&reader, error);
    if (in_first_layer(&reader, "relative_attention_bias")) return read_t5(&reader, error);
    if (in_first_layer(&reader, "rotary_dim")) return read_rope(&reader, error);
    if (alibi && !decoder) return ferry_ct2_fail(model, "encoder", "ALiBi in an encoder is not supported", error);
    if (alibi && ferry_ct2_number(model, "decoder", "scale_alibi", 0) != 0)
        return ferry_ct2_fail(model, "decoder", "scaled ALiBi slopes are not supported", error);
    if (alibi) {
        /* Positions that grow to the right or fall to the left differ by a constant in each row: the same
         * probabilities. */
        ferry_import_set_position(plan, decoder, "alibi", (double[]){FORMULA}, 1);
        return FERRY_OK;
    }
    const ferry_weights_entry *table =
        ferry_import_find(plan, "", ferry_ct2_join(reader.from, "position_encodings/encodings").text);
    if (table != NULL) return ferry_import_position_table(plan, decoder, table, 0, error);
    ferry_import_sinusoidal(plan, decoder, false, true, 1);
    return FERRY_OK;
}
