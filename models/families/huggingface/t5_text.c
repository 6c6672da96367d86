/* Texts of T5, mT5 and MADLAD-400: SentencePiece's own ids; languages are named in the line itself. */
#include <string.h>

#include "tokenizer/sentencepiece_c.h"
#include "huggingface.h"
#include "tokenizer_json.h"

enum { MAX_CODE = 16, MAX_EXTRA = 1 << 12 };

/* ---- languages: texts before a line ---- */

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
    return ferry_fail_memory(error, "prompts", count * sizeof *list->prompts);
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
    ferry_model_languages *languages = &plan->text.languages;
    const size_t count = (size_t)list->languages.count;
    int32_t *roles = ferry_arena_alloc(&plan->arena, count, sizeof *roles);
    if (roles == NULL) return ferry_fail_memory(error, "a list of languages", count * sizeof *roles);
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
    return ferry_texts_join(&plan->arena, list->prompts, (size_t)list->count, &languages->prompts, error);
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
    const ferry_model_text *text = &plan->text;
    size_t count = 0;
    prompt_list list;
    for (size_t i = 0; i < (size_t)text->source_count; i++)
        count += is_madlad_tag(ferry_texts_at(text->source_pieces, i));
    if (count == 0) return FERRY_OK;
    FERRY_TRY(reserve_prompts(plan, count, &list, error));
    for (int32_t i = 0; i < text->source_count; i++) {
        const ferry_view piece = ferry_texts_at(text->source_pieces, (size_t)i);
        if (!is_madlad_tag(piece)) continue;
        char *prompt = ferry_arena_alloc(&plan->arena, piece.size + 1, 1);
        if (prompt == NULL) return ferry_fail_memory(error, "a prompt", piece.size + 1);
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

/* ---- texts ---- */

/* T5 appends `extra_ids` tokens to SentencePiece's; mT5's are among its pieces. */
static ferry_status add_extra_ids(ferry_import_plan *plan, ferry_json tokenizer, bool mt5, ferry_error *error)
{
    ferry_model_text *text = &plan->text;
    int32_t extra = mt5 ? 0 : 100;
    FERRY_TRY(ferry_json_integer(tokenizer, "extra_ids", 0, MAX_EXTRA, &extra, error));
    for (int32_t i = ferry_spm_count(plan->segmenters[0]); extra > 0 && i < text->source_count; i++, extra--)
        FERRY_TRY(ferry_import_special(plan, &i, 1, error));
    return FERRY_OK;
}

static ferry_status read_segmenter(ferry_import_plan *plan, ferry_json tokenizer, bool mt5, ferry_error *error)
{
    const ferry_texts *pieces;
    int32_t unknown;
    if (ferry_import_uses_tokenizer_json(plan, "spiece.model")) return ferry_import_tokenizer_json(plan, error);
    FERRY_TRY(ferry_huggingface_segmenter(plan, "spiece.model", error));
    FERRY_TRY(ferry_import_own_vocabulary(plan, 0, plan->model.decoder.vocab_size, &pieces, &unknown, error));
    ferry_import_one_vocabulary(plan, pieces, unknown);
    FERRY_TRY(ferry_import_special_ids(plan, error));
    FERRY_TRY(ferry_import_special(plan, &unknown, 1, error));
    FERRY_TRY(add_extra_ids(plan, tokenizer, mt5, error));
    return ferry_import_compare_tokenizer_json(plan, error);
}

ferry_status ferry_import_t5_text(ferry_import_plan *plan, ferry_json config, bool mt5, ferry_error *error)
{
    ferry_model_text *text = &plan->text;
    const char *class = "";
    ferry_json tokenizer;
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &tokenizer, error));
    FERRY_TRY(ferry_json_text(tokenizer, "tokenizer_class", &class, error));
    if (ferry_text_begins(class, "ByT5")) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: ByT5 is not supported: Ferry lacks its tokenizer, in which every byte is a word",
                          tokenizer.file);
    }
    FERRY_TRY(read_segmenter(plan, tokenizer, mt5, error));
    FERRY_TRY(ferry_import_madlad_tags(plan, error));
    if (text->languages.count == 0) return read_tasks(plan, config, error);
    plan->kind = "huggingface-madlad";
    return FERRY_OK;
}
