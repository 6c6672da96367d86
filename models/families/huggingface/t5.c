/* T5 in Hugging Face's form: T5, T5 1.1 and flan, mT5, MADLAD-400, umT5. */
#include <math.h>
#include <string.h>

#include "huggingface.h"
#include "tokenizer/sentencepiece_c.h"
#include "models/text/tokenizer_json.h"
#include "models/plan/plan_tensors.h"
#include "models/plan/position_tables.h"
#include "models/text/vocabularies.h"
#include "models/families/families.h"
#include "models/text/language_tags.h"

enum { MAX_BUCKETS = 1 << 16, MAX_DISTANCE = 1 << 14 };

/* The configuration classes, which differ in their defaults. */
typedef struct t5_class {
    const char *model_type, *name_start, *kind;
    bool mt5;        /* mT5's sizes */
    bool scales;     /* where tie_word_embeddings is true, the decoder's output is multiplied by d^-1/2 */
    bool layer_bias; /* each layer has a bias, not the first for all */
} t5_class;
static const t5_class classes[] = {
    {"umt5", "UMT5", "huggingface-umt5", .mt5 = true, .scales = true, .layer_bias = true},
    {"mt5", "MT5", "huggingface-mt5", .mt5 = true},
    {"t5", "", "huggingface-t5", .scales = true},
};

typedef struct t5_choices {
    const t5_class *class;
    int32_t buckets;
    int32_t max_distance;
    bool tie; /* tie_word_embeddings, which is_tie_key says is there */
    bool is_tie_key;
    bool scale;        /* the decoder's output is multiplied by d^-1/2 */
    bool scale_is_key; /* config.json has scale_decoder_outputs, and tie is unused */
} t5_choices;

/* ---- config.json ---- */

static ferry_status read_sizes(ferry_import_plan *plan, ferry_json config, bool mt5, ferry_error *error)
{
    const int32_t max = FERRY_MAX_SIZE;
    const char *projection = mt5 ? "gated-gelu" : "relu";
    ferry_transformer *model = &plan->model;
    ferry_stack stack = {.layer_count = mt5 ? 8 : 6,
                         .heads = mt5 ? 6 : 8,
                         .head_width = 64,
                         .ffn_width = mt5 ? 1024 : 2048,
                         .norm = FERRY_RMS_NORM,
                         .pre_norm = true,
                         .norm_eps = 1e-6f,
                         .attention_scale = 1,
                         .vocab_size = mt5 ? 250112 : 32128};
    const ferry_json_key keys[] = {
        {"d_model", .integer = &model->d_model, 1, max, .other = "hidden_size"},
        {"d_kv", .integer = &stack.head_width, 1, max, .other = "head_dim"},
        {"num_heads", .integer = &stack.heads, 1, max, .other = "num_attention_heads"},
        {"d_ff", .integer = &stack.ffn_width, 1, max},
        {"num_layers", .integer = &stack.layer_count, 1, max, .other = "num_hidden_layers"},
        {"vocab_size", .integer = &stack.vocab_size, 1, FERRY_MAX_VOCABULARY},
        {"layer_norm_epsilon", .real = &stack.norm_eps},
    };
    model->d_model = 512;
    model->embedding_scale = 1;
    FERRY_TRY(ferry_json_read(config, keys, sizeof keys / sizeof keys[0], false, error));
    FERRY_TRY(ferry_json_text(config, "feed_forward_proj", &projection, error));
    stack.gated = strncmp(projection, "gated-", 6) == 0;
    const char *activation = stack.gated ? projection + 6 : projection;
    if (strcmp(projection, "gated-gelu") == 0) activation = "gelu_new";
    FERRY_TRY(ferry_json_text(config, "dense_act_fn", &activation, error));
    FERRY_TRY(ferry_json_bool(config, "is_gated_act", &stack.gated, error));
    FERRY_TRY(ferry_import_activation(config.file, activation, &stack.activation, error));
    if ((int64_t)stack.heads * stack.head_width > max) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: num_heads %d times d_kv %d is above %d", config.file,
                          (int)stack.heads, (int)stack.head_width, (int)max);
    }
    model->encoder = model->decoder = stack;
    return ferry_json_integer(config, "num_decoder_layers", 1, max, &model->decoder.layer_count, error);
}

static ferry_status read_choices(ferry_json config, t5_choices *choices, ferry_error *error)
{
    const char *type = NULL, *name = ferry_huggingface_architecture(config);
    const t5_class *class = classes;
    FERRY_TRY(ferry_json_text(config, "model_type", &type, error));
    while (type != NULL ? strcmp(type, class->model_type) != 0 : !ferry_text_begins(name, class->name_start)) class ++;
    *choices = (t5_choices){.class = class, .buckets = 32, .max_distance = 128, .tie = true};
    FERRY_TRY(ferry_json_integer(config, "relative_attention_num_buckets", 4, MAX_BUCKETS, &choices->buckets, error));
    /* Half of a direction's buckets hold one distance each; logarithms begin there. The decoder has one direction. */
    FERRY_TRY(ferry_json_integer(config, "relative_attention_max_distance", choices->buckets / 2 + 1, MAX_DISTANCE,
                                 &choices->max_distance, error));
    choices->is_tie_key = ferry_json_get(config, "tie_word_embeddings") != NULL;
    FERRY_TRY(ferry_json_bool(config, "tie_word_embeddings", &choices->tie, error));
    choices->scale = choices->tie && class->scales;
    if (class->mt5) return FERRY_OK;
    choices->scale_is_key = ferry_json_get(config, "scale_decoder_outputs") != NULL;
    return ferry_json_bool(config, "scale_decoder_outputs", &choices->scale, error);
}

/* ---- tensors ---- */

static const ferry_layer_row rows[] = {
    {"attn_q", "layer.0.SelfAttention.q", .shape = "AD"},
    {"attn_k", "layer.0.SelfAttention.k", .shape = "AD"},
    {"attn_v", "layer.0.SelfAttention.v", .shape = "AD"},
    {"attn_o", "layer.0.SelfAttention.o", .shape = "DA"},
    {"attn_norm", "layer.0.layer_norm", .shape = "D"},
    {"cross_attn_q", "layer.1.EncDecAttention.q", .shape = "AD", .needs = FERRY_ROW_DECODER},
    {"cross_attn_k", "layer.1.EncDecAttention.k", .shape = "AD", .needs = FERRY_ROW_DECODER},
    {"cross_attn_v", "layer.1.EncDecAttention.v", .shape = "AD", .needs = FERRY_ROW_DECODER},
    {"cross_attn_o", "layer.1.EncDecAttention.o", .shape = "DA", .needs = FERRY_ROW_DECODER},
    {"cross_attn_norm", "layer.1.layer_norm", .shape = "D", .needs = FERRY_ROW_DECODER},
    /* wo(act(wi u)), or gated: wo(act(wi_0 u) ⊙ wi_1 u) */
    {"ffn_gate", "layer.1.DenseReluDense.wi_0", .shape = "FD", .needs = FERRY_ROW_ENCODER | FERRY_ROW_GATED},
    {"ffn_up", "layer.1.DenseReluDense.wi_1", .shape = "FD", .needs = FERRY_ROW_ENCODER | FERRY_ROW_GATED},
    {"ffn_up", "layer.1.DenseReluDense.wi", .shape = "FD", .needs = FERRY_ROW_ENCODER | FERRY_ROW_PLAIN},
    {"ffn_down", "layer.1.DenseReluDense.wo", .shape = "DF", .needs = FERRY_ROW_ENCODER},
    {"ffn_norm", "layer.1.layer_norm", .shape = "D", .needs = FERRY_ROW_ENCODER},
    {"ffn_gate", "layer.2.DenseReluDense.wi_0", .shape = "FD", .needs = FERRY_ROW_DECODER | FERRY_ROW_GATED},
    {"ffn_up", "layer.2.DenseReluDense.wi_1", .shape = "FD", .needs = FERRY_ROW_DECODER | FERRY_ROW_GATED},
    {"ffn_up", "layer.2.DenseReluDense.wi", .shape = "FD", .needs = FERRY_ROW_DECODER | FERRY_ROW_PLAIN},
    {"ffn_down", "layer.2.DenseReluDense.wo", .shape = "DF", .needs = FERRY_ROW_DECODER},
    {"ffn_norm", "layer.2.layer_norm", .shape = "D", .needs = FERRY_ROW_DECODER},
};
static const ferry_layer_row output_norm = {
    .to = "output_norm", .from = "final_layer_norm", .shape = "D", .needs = FERRY_ROW_STACK};

static ferry_status add_stack(ferry_import_plan *plan, const t5_choices *choices, bool decoder, ferry_error *error)
{
    ferry_layer_table table = {.rows = rows,
                               .count = sizeof rows / sizeof rows[0],
                               .layer = ".block.",
                               .separator = ".",
                               .linear = {".weight", NULL},
                               .norm = {".weight", NULL}};
    const ferry_stack *stack = decoder ? &plan->model.decoder : &plan->model.encoder;
    const char *from = decoder ? "decoder" : "encoder", *to = decoder ? "dec" : "enc";
    const bool layered = choices->class->layer_bias; /* otherwise the bias of the first layer serves all */
    FERRY_TRY(ferry_import_layers(plan, &table, decoder, error));
    const double position[] = {choices->buckets, choices->max_distance, layered};
    ferry_import_set_position(plan, decoder, "t5", position, 3);
    for (int32_t i = 0; i < (layered ? stack->layer_count : 1); i++) {
        const ferry_short_text name =
            ferry_format("%s.block.%d.layer.0.SelfAttention.relative_attention_bias.weight", from, (int)i);
        const ferry_short_text owner = layered ? ferry_format("%s.blk.%d", to, (int)i) : ferry_format("%s", to);
        const ferry_weights_entry *bias;
        FERRY_TRY(ferry_import_take(plan, plan->prefix, name.text, choices->buckets, stack->heads, &bias, error));
        FERRY_TRY(ferry_import_add(plan, bias, FERRY_IMPORT_TABLE, error, "%s.position.bias", owner.text));
    }
    table.rows = &output_norm;
    table.count = 1;
    return ferry_import_layers(plan, &table, decoder, error);
}

/* Two questions: is the decoder's output scaled, and which matrix follows? Transformers 4 answered both by
 * tie_word_embeddings; transformers 5 writes that key as true always, scale_decoder_outputs beside it (T5), and
 * lm_head.weight where it differs. */
static ferry_status add_embeddings(ferry_import_plan *plan, const t5_choices *choices, ferry_error *error)
{
    static const char *const inner[] = {"shared.weight", "decoder.embed_tokens.weight", "encoder.embed_tokens.weight",
                                        NULL};
    const char *const outer[] = {choices->tie ? "lm_head.weight" : NULL, NULL};
    ferry_transformer *model = &plan->model;
    const int32_t V = model->decoder.vocab_size;
    const char *path = plan->source->path;
    const ferry_weights_entry *shared = NULL, *output = ferry_import_find(plan, plan->prefix, "lm_head.weight");
    bool any = false;
    if (output == NULL) output = ferry_import_find(plan, "", "lm_head.weight");
    if (output != NULL) FERRY_TRY(ferry_import_check_shape(output, V, model->d_model, error));
    for (int i = 0; i < 3; i++) any |= ferry_import_find(plan, plan->prefix, inner[i]) != NULL;
    FERRY_TRY(ferry_huggingface_take_tied(plan, any ? inner : outer, V, &shared, error));
    plan->model.tied_embeddings = true;
    plan->model.tied_output = output == NULL || output == shared || ferry_huggingface_same_numbers(output, shared);
    model->output_scale = choices->scale ? (float)(1 / sqrt((double)model->d_model)) : 1;
    FERRY_TRY(ferry_import_add(plan, shared, FERRY_IMPORT_MATRIX, error, "token_embd.weight"));
    if (output == NULL && !choices->tie && !choices->scale_is_key) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: tensor 'lm_head.weight' is missing (tie_word_embeddings is false)", path);
    }
    if (plan->model.tied_output) return FERRY_OK;
    /* Of a tied umT5, version 4 saves no other matrix. */
    if (!choices->tie || choices->scale_is_key || choices->class->mt5)
        return ferry_import_add(plan, output, FERRY_IMPORT_MATRIX, error, "output.weight");
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                      "%s: tensor 'lm_head.weight' differs from the embeddings, but tie_word_embeddings is %s and "
                      "there is no 'scale_decoder_outputs': versions of transformers disagree about the output",
                      path, choices->is_tie_key ? "true" : "absent, which means true,");
}

/* ---- texts: SentencePiece's own ids; languages are named in the line itself ---- */

enum { MAX_CODE = 16, MAX_EXTRA = 1 << 12 };

typedef struct prompt_list {
    ferry_import_tags languages; /* without ids */
    ferry_view *prompts;         /* [count] */
    int32_t *sources, *targets;  /* [count], of languages; -1: any */
    int32_t count;
} prompt_list;

static ferry_status reserve_prompts(ferry_import_plan *plan, size_t count, prompt_list *list, ferry_error *error)
{
    *list = (prompt_list){.prompts = ferry_arena_alloc(&plan->arena, count, sizeof *list->prompts),
                          .sources = ferry_arena_alloc(&plan->arena, count, sizeof *list->sources),
                          .targets = ferry_arena_alloc(&plan->arena, count, sizeof *list->targets)};
    if (list->prompts != NULL && list->sources != NULL && list->targets != NULL) return FERRY_OK;
    return ferry_fail_memory(error, "prompts", count, sizeof *list->prompts);
}

/* The index of `tag`, which joins the list where it is new. */
static ferry_status find_tag(ferry_import_plan *plan, prompt_list *list, ferry_view tag, int32_t *index,
                             ferry_error *error)
{
    for (*index = 0; *index < list->languages.count; (*index)++)
        if (ferry_view_equal(list->languages.tags[*index], tag)) return FERRY_OK;
    return ferry_import_add_tag(plan, &list->languages, tag, -1, error);
}

/* Each language is source or target as the prompts have it; where they all agree, it need not be named. */
static ferry_status add_languages(ferry_import_plan *plan, const prompt_list *list, ferry_error *error)
{
    ferry_model_languages *languages = &plan->languages;
    const size_t count = (size_t)list->languages.count;
    int32_t *roles = ferry_arena_alloc(&plan->arena, count, sizeof *roles);
    if (roles == NULL) return ferry_fail_memory(error, "a list of languages", count, sizeof *roles);
    FERRY_TRY(ferry_import_languages(plan, &list->languages, FERRY_TAG_NONE, FERRY_TAG_NONE, error));
    bool one_source = list->sources[0] >= 0, one_target = true;
    memset(roles, 0, count * sizeof *roles);
    for (int32_t i = 0; i < list->count; i++) {
        const int32_t source = list->sources[i], target = list->targets[i];
        if (source >= 0) roles[source] |= FERRY_LANGUAGE_SOURCE;
        roles[target] |= source >= 0 ? FERRY_LANGUAGE_TARGET : FERRY_LANGUAGE_SOURCE | FERRY_LANGUAGE_TARGET;
        one_source = one_source && source == list->sources[0];
        one_target = one_target && target == list->targets[0];
    }
    languages->roles = roles;
    languages->prompt_sources = list->sources;
    languages->prompt_targets = list->targets;
    languages->prompt_count = list->count;
    languages->default_source = one_source ? list->sources[0] : -1;
    languages->default_target = one_target ? list->targets[0] : -1;
    return ferry_string_table_join(&plan->arena, list->prompts, (size_t)list->count, &languages->prompts, error);
}

/* "translation_en_to_de": {"prefix": "translate English to German: "} */
static ferry_status read_tasks(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    static const char start[] = "translation_", middle[] = "_to_";
    json_t *tasks = (json_t *)(uintptr_t)ferry_json_get(config, "task_specific_params"), *task;
    const char *name;
    prompt_list list;
    FERRY_TRY(reserve_prompts(plan, json_object_size(tasks) + 1, &list, error));
    json_object_foreach (tasks, name, task) {
        const json_t *prefix = json_object_get(task, "prefix");
        if (!ferry_text_begins(name, start) || json_string_length(prefix) == 0) continue;
        const char *source = name + sizeof start - 1, *to = strstr(source, middle);
        if (to == NULL || to == source || to[sizeof middle - 1] == 0) continue;
        const int32_t at = list.count++;
        FERRY_TRY(find_tag(plan, &list, (ferry_view){source, (size_t)(to - source)}, &list.sources[at], error));
        FERRY_TRY(find_tag(plan, &list, ferry_text_view(to + sizeof middle - 1), &list.targets[at], error));
        list.prompts[at] = (ferry_view){json_string_value(prefix), json_string_length(prefix)};
    }
    return list.count > 0 ? add_languages(plan, &list, error) : FERRY_OK;
}

/* MADLAD's pieces "<2de>": letters, and then perhaps a script or more. */
static bool is_madlad_tag(ferry_view piece)
{
    size_t letters = 2;
    if (piece.size < 5 || piece.size > MAX_CODE || memcmp(piece.data, "<2", 2) != 0) return false;
    if (piece.data[piece.size - 1] != '>') return false;
    while (piece.data[letters] >= 'a' && piece.data[letters] <= 'z') letters++;
    return letters >= 4 && letters <= 5 && strchr("_->", piece.data[letters]) != NULL;
}

/* The tag of the target language is part of the line itself, whatever the source: "<2de> ". */
ferry_status ferry_import_madlad_tags(ferry_import_plan *plan, ferry_error *error)
{
    const ferry_tokenizer_config *text = &plan->text;
    size_t count = 0;
    prompt_list list;
    for (size_t i = 0; i < (size_t)text->source_count; i++)
        count += is_madlad_tag(ferry_string_table_at(text->source_pieces, i));
    if (count == 0) return FERRY_OK;
    FERRY_TRY(reserve_prompts(plan, count, &list, error));
    for (int32_t i = 0; i < text->source_count; i++) {
        const ferry_view piece = ferry_string_table_at(text->source_pieces, (size_t)i);
        if (!is_madlad_tag(piece)) continue;
        char *prompt = ferry_arena_alloc(&plan->arena, piece.size + 1, 1);
        if (prompt == NULL) return ferry_fail_memory(error, "a prompt", piece.size + 1, 1);
        memcpy(prompt, piece.data, piece.size);
        prompt[piece.size] = ' ';
        list.prompts[list.count] = (ferry_view){prompt, piece.size + 1};
        list.sources[list.count] = -1;
        list.targets[list.count] = list.count;
        list.count++;
        FERRY_TRY(ferry_import_add_tag(plan, &list.languages, (ferry_view){prompt + 2, piece.size - 3}, i, error));
        FERRY_TRY(ferry_import_special(plan, &i, 1, error));
    }
    return add_languages(plan, &list, error);
}

static ferry_status read_text(ferry_import_plan *plan, ferry_json config, bool mt5, ferry_error *error)
{
    const ferry_string_table *pieces;
    int32_t unknown, extra = mt5 ? 0 : 100; /* tokens that T5 appends to SentencePiece's; mT5's are among its pieces */
    ferry_json tokenizer;
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &tokenizer, error));
    if (ferry_import_uses_tokenizer_json(plan, "spiece.model")) {
        FERRY_TRY(ferry_import_tokenizer_json(plan, error));
    } else {
        FERRY_TRY(ferry_huggingface_segmenter(plan, "spiece.model", error));
        FERRY_TRY(ferry_import_own_vocabulary(plan, 0, plan->model.decoder.vocab_size, &pieces, &unknown, error));
        ferry_import_one_vocabulary(plan, pieces, unknown);
        FERRY_TRY(ferry_import_special_ids(plan, error));
        FERRY_TRY(ferry_import_special(plan, &unknown, 1, error));
        FERRY_TRY(ferry_json_integer(tokenizer, "extra_ids", 0, MAX_EXTRA, &extra, error));
        for (int32_t i = ferry_spm_count(plan->segmenters[0]); extra > 0 && i < plan->text.source_count; i++, extra--)
            FERRY_TRY(ferry_import_special(plan, &i, 1, error));
        FERRY_TRY(ferry_import_compare_tokenizer_json(plan, error));
    }
    FERRY_TRY(ferry_import_madlad_tags(plan, error));
    if (plan->languages.count == 0) return read_tasks(plan, config, error);
    plan->kind = "huggingface-madlad";
    return FERRY_OK;
}

ferry_status ferry_import_t5(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    static const char *const prefixes[] = {"transformer.", "module.", NULL};
    t5_choices choices;
    FERRY_TRY(read_choices(config, &choices, error));
    plan->kind = choices.class->kind;
    FERRY_TRY(read_sizes(plan, config, choices.class->mt5, error));
    FERRY_TRY(ferry_huggingface_decoding(plan, config, 0, 0, 1, error));
    FERRY_TRY(ferry_import_open_weights(plan, error));
    ferry_huggingface_find_prefix(plan, prefixes);
    FERRY_TRY(add_embeddings(plan, &choices, error));
    FERRY_TRY(add_stack(plan, &choices, false, error));
    FERRY_TRY(add_stack(plan, &choices, true, error));
    FERRY_TRY(ferry_import_check_unused(plan, ferry_huggingface_is_ignored, error));
    return read_text(plan, config, choices.class->mt5, error);
}
