#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "engine/file/schema.h"
#include "tokenizer/sentencepiece_c.h"

void ferry_import_plan_init(ferry_import_plan *plan, ferry_import_source *source)
{
    ferry_model_origin origin = {0}; /* the writer's */
    *plan =
        (ferry_import_plan){.source = source, .name = ferry_import_source_base(source), .prefix = "", .closing_id = -1};
    plan->account = plan->arena.account = ferry_import_source_account(source);
    ferry_schema_defaults(&(ferry_schema_values){
        .transformer = &plan->model, .generation = &plan->generation, .text = &plan->text, .origin = &origin});
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

/* ---- files ---- */

bool ferry_import_has_file(const ferry_import_plan *plan, const char *name)
{
    return ferry_import_source_has(plan->source, name);
}

ferry_status ferry_import_map(ferry_import_plan *plan, const char *name, ferry_view *bytes, ferry_error *error)
{
    return ferry_import_source_map(plan->source, name, bytes, error);
}

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
    FERRY_TRY(ferry_import_map(plan, name, &text, error));
    return parse_tree(plan, text, ferry_import_source_label(plan->source, name), false, json, error);
}

ferry_status ferry_import_yaml(ferry_import_plan *plan, ferry_view text, const char *name, ferry_json *yaml,
                               ferry_error *error)
{
    return parse_tree(plan, text, ferry_import_source_label(plan->source, name), true, yaml, error);
}

ferry_status ferry_import_optional_json(ferry_import_plan *plan, const char *name, ferry_json *json, ferry_error *error)
{
    *json = (ferry_json){.file = ferry_import_source_label(plan->source, name)};
    return ferry_import_has_file(plan, name) ? ferry_import_json(plan, name, json, error) : FERRY_OK;
}

ferry_status ferry_import_note(ferry_import_plan *plan, ferry_name note, ferry_error *error)
{
    plan->note = ferry_arena_text(&plan->arena, ferry_text_view(note.text));
    return plan->note != NULL ? FERRY_OK : ferry_fail_memory(error, "a note", sizeof note);
}

ferry_status ferry_import_license(ferry_import_plan *plan, ferry_error *error)
{
    static const char *const names[] = {"LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (ferry_import_has_file(plan, names[i])) return ferry_import_map(plan, names[i], &plan->license, error);
    return FERRY_OK;
}
