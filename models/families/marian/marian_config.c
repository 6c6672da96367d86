/* special:model.yml and decoder.yml. A key that is absent has Marian's default. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "marian.h"
#include "models/plan/plan_tensors.h"
#include "models/plan/position_tables.h"
#include "models/families/choices.h"
#include "models/families/families.h"

static ferry_status refuse(ferry_json yaml, const char *key, const char *value, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: '%s: %s' is not supported", yaml.file, key,
                      ferry_printable_text(value).text);
}

/* Keys as a table, none of them required. */
#define read_keys(yaml, keys, error) ferry_json_read(yaml, keys, sizeof(keys) / sizeof(keys)[0], false, error)

/* ---- special:model.yml ---- */

/* "v1.9.56 4dd30b5 …", "v1.12.43; …". No version: 0. */
static ferry_status read_version(ferry_marian *marian, ferry_error *error)
{
    const char *text = "";
    FERRY_TRY(ferry_json_text(marian->config, "version", &text, error));
    if (*text == 'v') text++;
    for (int i = 0; i < 3; i++) {
        int64_t number;
        const size_t digits = strspn(text, "0123456789");
        if (!ferry_parse_integer((ferry_view){text, digits}, &number) || number > INT32_MAX) return FERRY_OK;
        marian->version[i] = (int32_t)number;
        text += digits;
        if (*text != '.') return FERRY_OK;
        text++;
    }
    return FERRY_OK;
}

/* ---- norms ---- */

/* Operations without dropout, which does nothing here. */
typedef struct operations {
    const char *text; /* as the configuration has it */
    char letters[8];
} operations;

static ferry_status read_operations(ferry_json config, const char *key, const char *by_default, operations *ops,
                                    ferry_error *error)
{
    size_t count = 0;
    *ops = (operations){.text = by_default};
    FERRY_TRY(ferry_json_text(config, key, &ops->text, error));
    for (const char *letter = ops->text; *letter != '\0'; letter++) {
        if (*letter == 'd') continue;
        if (count + 1 == sizeof ops->letters) return refuse(config, key, ops->text, error);
        ops->letters[count++] = *letter;
    }
    return FERRY_OK;
}

static bool is_norm(const char *letters)
{
    return strcmp(letters, "n") == 0 || strcmp(letters, "r") == 0;
}

/* Residual and norm of every block: "an" after it, or "n" before it and "a" after it. */
static ferry_status read_norms(const ferry_marian *marian, ferry_stack *stack, ferry_error *error)
{
    static const char *const ends[] = {"transformer-postprocess-emb", "transformer-postprocess-top"};
    const ferry_json config = marian->config;
    operations before, after;
    FERRY_TRY(read_operations(config, "transformer-preprocess", "", &before, error));
    FERRY_TRY(read_operations(config, "transformer-postprocess", "dan", &after, error));
    stack->pre_norm = is_norm(before.letters);
    if (!stack->pre_norm && before.letters[0] != '\0')
        return refuse(config, "transformer-preprocess", before.text, error);
    const bool one_norm =
        after.letters[0] == 'a' && (stack->pre_norm ? after.letters[1] == '\0' : is_norm(after.letters + 1));
    if (!one_norm) return refuse(config, "transformer-postprocess", after.text, error);
    if (stack->pre_norm && !ferry_marian_since(marian, 1, 10, 24)) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: 'transformer-preprocess: %s' of a version before 1.10.24, where keys and values are not "
                          "normalized, is not supported",
                          config.file, ferry_printable_text(before.text).text);
    }
    const char kind = stack->pre_norm ? before.letters[0] : after.letters[1];
    stack->norm = kind == 'r' ? FERRY_RMS_NORM : FERRY_LAYER_NORM;
    /* Norms after the embeddings and after the last layer are of the same kind, or absent. */
    for (int i = 0; i < 2; i++) {
        operations ops;
        FERRY_TRY(read_operations(config, ends[i], i == 0 ? "d" : "", &ops, error));
        if (ops.letters[0] != '\0' && strcmp(ops.letters, kind == 'r' ? "r" : "n") != 0)
            return refuse(config, ends[i], ops.text, error);
    }
    return FERRY_OK;
}

/* ---- sizes ---- */

static ferry_status read_stack(const ferry_marian *marian, bool decoder, int32_t D, ferry_stack *stack,
                               ferry_error *error)
{
    const ferry_json config = marian->config;
    const int32_t max = FERRY_MAX_SIZE;
    const char *activation = "swish";
    int32_t decoder_width = 0;
    *stack = (ferry_stack){.layer_count = 1, .heads = 8, .ffn_width = 2048, .norm_eps = 1e-6f};
    const ferry_json_key keys[] = {
        {decoder ? "dec-depth" : "enc-depth", .integer = &stack->layer_count, .min = 1, .max = max},
        {"transformer-heads", .integer = &stack->heads, .min = 1, .max = max},
        {"transformer-dim-ffn", .integer = &stack->ffn_width, .min = 1, .max = max},
        {"transformer-decoder-dim-ffn", .integer = &decoder_width, .min = 0, .max = max},
    };
    FERRY_TRY(read_keys(config, keys, error));
    if (decoder && decoder_width > 0) stack->ffn_width = decoder_width;
    FERRY_TRY(ferry_import_split_heads(config.file, D, stack, error));
    FERRY_TRY(ferry_json_text(config, "transformer-ffn-activation", &activation, error));
    if (strcmp(activation, "gelu") == 0)
        stack->activation = ferry_marian_since(marian, 1, 12, 3) ? FERRY_GELU : FERRY_GELU_SIGMOID;
    else if (strcmp(activation, "swish") == 0 || strcmp(activation, "relu") == 0)
        stack->activation = *activation == 's' ? FERRY_SWISH : FERRY_RELU;
    else
        return refuse(config, "transformer-ffn-activation", activation, error);
    return read_norms(marian, stack, error);
}

ferry_status ferry_marian_config(ferry_import_plan *plan, ferry_marian *marian, ferry_error *error)
{
    static const char name[] = "special:model.yml";
    ferry_transformer *model = &plan->model;
    const ferry_weights_entry *entry = ferry_import_find(plan, "", name);
    if (entry == NULL || entry->tensor.type != FERRY_I8) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: expected Marian's configuration, the tensor '%s'",
                          ferry_source_label(plan->source, marian->weights), name);
    }
    const char *text = entry->tensor.data, *end = memchr(text, 0, entry->tensor.bytes);
    const ferry_view view = {text, end != NULL ? (size_t)(end - text) : entry->tensor.bytes};
    FERRY_TRY(ferry_import_yaml(plan, view, name, &marian->config, error));
    FERRY_TRY(read_version(marian, error));
    const ferry_json config = marian->config;
    FERRY_TRY(ferry_check_choices(config, FERRY_CHOICE_NETWORK, FERRY_CHOICES_MARIAN, error));

    const char *autoreg = "self-attention", *cell = "gru", *layer = "last";
    bool norm = false, output = false, source = false, all = false;
    const ferry_json_key keys[] = {{"transformer-decoder-autoreg", .text = &autoreg},
                                   {"dec-cell", .text = &cell},
                                   {"layer-normalization", .flag = &norm},
                                   {"dim-emb", .integer = &model->d_model, 1, FERRY_MAX_SIZE},
                                   {"tied-embeddings", .flag = &output},
                                   {"tied-embeddings-src", .flag = &source},
                                   {"tied-embeddings-all", .flag = &all},
                                   {"transformer-guided-alignment-layer", .text = &layer}};
    model->d_model = 512;
    FERRY_TRY(read_keys(config, keys, error));
    model->ssru = strcmp(autoreg, "rnn") == 0;
    if (model->ssru && strcmp(cell, "ssru") != 0) return refuse(config, "dec-cell", cell, error);
    if (model->ssru && norm) return refuse(config, "layer-normalization", "true", error);
    model->tied_embeddings = source || all;
    model->tied_output = output || all;
    model->embedding_scale = (float)sqrt((double)model->d_model);
    FERRY_TRY(read_stack(marian, false, model->d_model, &model->encoder, error));
    FERRY_TRY(read_stack(marian, true, model->d_model, &model->decoder, error));

    const json_t *sizes = ferry_json_get(config, "dim-vocabs");
    int32_t *const results[] = {&model->encoder.vocab_size, &model->decoder.vocab_size};
    if (ferry_json_text_count(sizes) != 2)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: 'dim-vocabs': expected two numbers", config.file);
    for (size_t i = 0; i < 2; i++) {
        FERRY_TRY(ferry_json_integer_value(config, "dim-vocabs", json_array_get(sizes, i), 1, FERRY_MAX_VOCABULARY,
                                           results[i], error));
    }
    int32_t aligned = model->decoder.layer_count;
    if (strcmp(layer, "last") != 0)
        FERRY_TRY(ferry_json_integer(config, "transformer-guided-alignment-layer", 1, aligned, &aligned, error));
    plan->generation.alignment_layer = aligned - 1;
    plan->generation.alignment_head = 0;
    plan->generation.start_id = -1;
    /* All sines, then all cosines, from position 0, the divisor one less than half the width. */
    ferry_import_sinusoidal(plan, false, false, true, 0);
    ferry_import_sinusoidal(plan, true, false, true, 0);
    return FERRY_OK;
}

/* ---- decoder.yml ---- */

ferry_status ferry_marian_decoding(ferry_import_plan *plan, const ferry_marian *marian, ferry_error *error)
{
    ferry_decoding *decoding = &plan->generation.decoding;
    decoding->search.policy = FERRY_POLICY_MARIAN;
    decoding->options.beam = marian->student ? 1 : 12;
    decoding->options.length_penalty = marian->student ? 1 : 0;
    decoding->options.length_factor = marian->student ? 2 : 3;
    decoding->options.length_extra = 0;
    const int32_t widest = (int32_t)ferry_schema_find(FERRY_KEYS_DECODING, "beam")->file_max;
    const ferry_json_key keys[] = {{"beam-size", .integer = &decoding->options.beam, .min = 1, .max = widest},
                                   {"normalize", .real = &decoding->options.length_penalty},
                                   {"word-penalty", .real = &decoding->search.word_penalty},
                                   {"max-length-factor", .real = &decoding->options.length_factor}};
    if (json_object_size(marian->decoder.object) == 0) return FERRY_OK;
    const ferry_json yaml = marian->decoder;
    bool skip_cost = false;
    FERRY_TRY(read_keys(yaml, keys, error));
    FERRY_TRY(ferry_check_choices(yaml, FERRY_CHOICE_DECODER, FERRY_CHOICES_MARIAN, error));
    FERRY_TRY(ferry_json_bool(yaml, "skip-cost", &skip_cost, error));
    return skip_cost && decoding->options.beam > 1 ? refuse(yaml, "skip-cost", "true (with a beam)", error) : FERRY_OK;
}
