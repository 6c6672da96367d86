/* Creates and destroys a plan, reads configuration files, and merges the weights of one or several files. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "tokenizer/sentencepiece_c.h"

void ferry_import_plan_init(ferry_import_plan *plan, ferry_source *source)
{
    ferry_model_origin origin = {0}; /* the writer's */
    *plan = (ferry_import_plan){.source = source, .name = source->base, .prefix = "", .closing_id = -1};
    plan->account = plan->arena.account = &source->budget.account;
    ferry_schema_defaults(&(ferry_schema_values){.transformer = &plan->model,
                                                 .generation = &plan->generation,
                                                 .text = &plan->text,
                                                 .languages = &plan->languages,
                                                 .origin = &origin});
}

void ferry_import_plan_destroy(ferry_import_plan *plan)
{
    for (size_t i = 0; i < plan->segmenter_count; i++) ferry_spm_destroy(plan->segmenters[i]);
    for (size_t i = 0; i < plan->tree_count; i++) json_decref(plan->trees[i]);
    for (size_t i = 0; i < plan->shard_count; i++) ferry_weights_close(&plan->shards[i]);
    ferry_weights_close(&plan->weights);
    if (plan->file != NULL) ferry_model_file_close(plan->file);
    free(plan->file);
    free(plan->shards);
    free(plan->used);
    free(plan->tensors);
    ferry_arena_destroy(&plan->arena);
    memset(plan, 0, sizeof *plan);
}

ferry_tokenizer_kind ferry_import_tokenizer_kind(const ferry_tokenizer_config *text)
{
    if (!text->present) return FERRY_TOKENIZER_NONE;
    if (text->kind >= FERRY_TOKENIZER_BPE) return text->kind;
    if (text->scores != NULL) return FERRY_TOKENIZER_UNIGRAM;
    return text->source_model.size > 0 ? FERRY_TOKENIZER_SENTENCEPIECE : FERRY_TOKENIZER_PIECES;
}

/* ---- files ---- */

ferry_status ferry_import_keep_json(ferry_import_plan *plan, const char *file, json_t *tree, ferry_error *error)
{
    if (plan->tree_count < FERRY_IMPORT_MAX_TREES) {
        plan->trees[plan->tree_count++] = tree;
        return FERRY_OK;
    }
    json_decref(tree);
    return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: more than %d JSON files", file, FERRY_IMPORT_MAX_TREES);
}

static ferry_status parse_tree(ferry_import_plan *plan, ferry_view text, const char *file, bool yaml, ferry_json *json,
                               ferry_error *error)
{
    json_t *tree;
    FERRY_TRY(yaml ? ferry_yaml_parse(text, file, plan->account, &tree, error)
                   : ferry_json_parse(text, file, JSON_OBJECT, plan->account, &tree, error));
    FERRY_TRY(ferry_import_keep_json(plan, file, tree, error));
    *json = (ferry_json){.object = tree, .file = file, .texts = yaml};
    return FERRY_OK;
}

ferry_status ferry_import_json(ferry_import_plan *plan, const char *name, ferry_json *json, ferry_error *error)
{
    ferry_view text;
    FERRY_TRY(ferry_source_map(plan->source, name, &text, error));
    return parse_tree(plan, text, ferry_source_label(plan->source, name), false, json, error);
}

ferry_status ferry_import_yaml(ferry_import_plan *plan, ferry_view text, const char *name, ferry_json *yaml,
                               ferry_error *error)
{
    return parse_tree(plan, text, ferry_source_label(plan->source, name), true, yaml, error);
}

ferry_status ferry_import_optional_json(ferry_import_plan *plan, const char *name, ferry_json *json, ferry_error *error)
{
    *json = (ferry_json){.file = ferry_source_label(plan->source, name)};
    return ferry_source_has(plan->source, name) ? ferry_import_json(plan, name, json, error) : FERRY_OK;
}

ferry_status ferry_import_note(ferry_import_plan *plan, ferry_short_text note, ferry_error *error)
{
    plan->note = ferry_arena_text(&plan->arena, ferry_text_view(note.text));
    return plan->note != NULL ? FERRY_OK : ferry_fail_memory(error, "a note", 1, sizeof note);
}

/* ---- weights ---- */

ferry_status ferry_import_weights_ready(ferry_import_plan *plan, ferry_error *error)
{
    free(plan->used);
    plan->used = calloc(plan->weights.count + 1, sizeof *plan->used);
    if (plan->used == NULL)
        return ferry_fail_memory(error, "a list of tensors", plan->weights.count, sizeof *plan->used);
    return FERRY_OK;
}

/* The bytes of `name`, read into *weights. */
static ferry_status read_file(ferry_import_plan *plan, const char *name, ferry_weights_reader *read,
                              ferry_weights *weights, ferry_error *error)
{
    ferry_view bytes;
    FERRY_TRY(ferry_source_map(plan->source, name, &bytes, error));
    return ferry_weights_read(read, bytes, ferry_source_label(plan->source, name), plan->account, weights, error);
}

ferry_status ferry_import_read_weights(ferry_import_plan *plan, const char *name, ferry_weights_reader *read,
                                       ferry_error *error)
{
    ferry_weights_close(&plan->weights);
    FERRY_TRY(read_file(plan, name, read, &plan->weights, error));
    return ferry_import_weights_ready(plan, error);
}

/* Embeddings and the output matrix: an index may list all of their names, though the files have one. */
static bool may_be_tied(const char *name)
{
    static const char *const endings[] = {"shared.weight", "embed_tokens.weight", "lm_head.weight",
                                          "output_projection.weight"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (ferry_text_ends(name, endings[i])) return true;
    return false;
}

/* Reads each file that "….index.json" lists, and merges their tensors in one list. Names and data stay the shards'.
 * Every tensor of the index must be in one of the files; tensors that the index lacks are read, too. */
static ferry_status read_shards(ferry_import_plan *plan, const char *index_name, ferry_weights_reader *read,
                                ferry_error *error)
{
    const char *tensor;
    json_t *value;
    ferry_json index;
    size_t count = 0;
    FERRY_TRY(ferry_import_json(plan, index_name, &index, error));
    json_t *map = (json_t *)(uintptr_t)ferry_json_get(index, "weight_map");
    if (!json_is_object(map)) return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: 'weight_map' is missing", index.file);
    const char **names = ferry_arena_alloc(&plan->arena, FERRY_IMPORT_MAX_SHARDS, sizeof *names);
    plan->shards = calloc(FERRY_IMPORT_MAX_SHARDS, sizeof *plan->shards);
    if (names == NULL || plan->shards == NULL)
        return ferry_fail_memory(error, "a list of files", FERRY_IMPORT_MAX_SHARDS, sizeof *plan->shards);
    json_object_foreach (map, tensor, value) {
        const char *name = json_string_value(value) != NULL ? json_string_value(value) : "";
        if (name[0] == '\0' || strchr(name, '/') != NULL)
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s' is not the name of a file beside it", index.file,
                              ferry_printable_text(name).text);
        size_t known = 0;
        while (known < plan->shard_count && strcmp(names[known], name) != 0) known++;
        if (known < plan->shard_count) continue;
        if (plan->shard_count == FERRY_IMPORT_MAX_SHARDS)
            return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: more than %d files", index.file, FERRY_IMPORT_MAX_SHARDS);
        FERRY_TRY(read_file(plan, name, read, &plan->shards[plan->shard_count], error));
        names[plan->shard_count++] = name;
    }
    ferry_weights *all = &plan->weights;
    all->arena.account = plan->account;
    for (size_t i = 0; i < plan->shard_count; i++) count += plan->shards[i].count;
    FERRY_TRY(ferry_weights_reserve(all, count, error));
    for (size_t i = 0; i < plan->shard_count; i++)
        for (size_t j = 0; j < plan->shards[i].count; j++) all->entries[all->count++] = plan->shards[i].entries[j];
    FERRY_TRY(ferry_weights_sort(all, error));
    FERRY_TRY(ferry_import_weights_ready(plan, error));
    json_object_foreach (map, tensor, value) {
        if (ferry_weights_find(all, tensor) != NULL || may_be_tied(tensor)) continue;
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s' is in none of the files; expected it in '%s'",
                          index.file, ferry_printable_text(tensor).text, json_string_value(value));
    }
    return FERRY_OK;
}

static const char *const weight_names[] = {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                                           "pytorch_model.bin.index.json"};

bool ferry_import_has_weights(const ferry_import_plan *plan, const char **name)
{
    for (size_t i = 0; i < sizeof weight_names / sizeof weight_names[0]; i++)
        if (ferry_source_has(plan->source, *name = weight_names[i])) return true;
    return false;
}

ferry_status ferry_import_open_weights(ferry_import_plan *plan, ferry_error *error)
{
    const char *name = plan->source->selected;
    if (name != NULL || ferry_import_has_weights(plan, &name)) {
        const bool safe = ferry_text_ends(name, ".safetensors") || ferry_text_ends(name, ".safetensors.index.json");
        ferry_weights_reader *read = safe ? ferry_safetensors_read : ferry_torch_read;
        return ferry_text_ends(name, ".index.json") ? read_shards(plan, name, read, error)
                                                    : ferry_import_read_weights(plan, name, read, error);
    }
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: expected %s, %s, %s or %s", plan->source->path,
                      weight_names[0], weight_names[1], weight_names[2], weight_names[3]);
}
