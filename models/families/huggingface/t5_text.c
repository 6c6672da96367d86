/* Texts of T5, mT5 and MADLAD-400: SentencePiece's own ids; languages are named in the line itself. */
#include <string.h>

#include "tokenizer/sentencepiece_c.h"
#include "huggingface.h"

enum { MAX_CODE = 16, MAX_EXTRA = 1 << 12 };

/* ---- languages: texts before a line ---- */

typedef struct prompt_list {
    ferry_view *tags; /* [count] */
    int32_t count;
    ferry_view *prompts; /* [prompt_count] */
    int32_t *sources, *targets;
    int32_t prompt_count;
} prompt_list;

static ferry_status reserve_prompts(ferry_import_plan *plan, size_t count, prompt_list *list, ferry_error *error)
{
    *list = (prompt_list){.tags = ferry_arena_alloc(&plan->arena, 2 * count, sizeof *list->tags),
                          .prompts = ferry_arena_alloc(&plan->arena, count, sizeof *list->prompts),
                          .sources = ferry_arena_alloc(&plan->arena, count, sizeof *list->sources),
                          .targets = ferry_arena_alloc(&plan->arena, count, sizeof *list->targets)};
    if (list->tags != NULL && list->prompts != NULL && list->sources != NULL && list->targets != NULL) return FERRY_OK;
    return ferry_fail_memory(error, "prompts", count * sizeof *list->prompts);
}

static int32_t find_tag(prompt_list *list, ferry_view tag)
{
    for (int32_t i = 0; i < list->count; i++) {
        if (ferry_view_equal(list->tags[i], tag)) return i;
    }
    list->tags[list->count] = tag;
    return list->count++;
}

static void add_prompt(prompt_list *list, ferry_view prompt, int32_t source, int32_t target)
{
    list->prompts[list->prompt_count] = prompt;
    list->sources[list->prompt_count] = source;
    list->targets[list->prompt_count++] = target;
}

/* Each language is source or target as the prompts have it; where they all agree, nobody needs to name it. */
static ferry_status add_languages(ferry_import_plan *plan, const prompt_list *list, ferry_error *error)
{
    ferry_model_languages *languages = &plan->text.languages;
    int32_t *roles = ferry_arena_alloc(&plan->arena, (size_t)list->count, sizeof *roles);
    if (roles == NULL) return ferry_fail_memory(error, "a list of languages", (size_t)list->count * sizeof *roles);
    FERRY_TRY(ferry_import_languages(plan, list->tags, NULL, list->count, FERRY_TAG_NONE, FERRY_TAG_NONE, error));
    bool one_source = list->sources[0] >= 0, one_target = true;
    memset(roles, 0, (size_t)list->count * sizeof *roles);
    for (int32_t i = 0; i < list->prompt_count; i++) {
        const int32_t source = list->sources[i], target = list->targets[i];
        if (source >= 0) roles[source] |= FERRY_LANGUAGE_SOURCE;
        roles[target] |= source >= 0 ? FERRY_LANGUAGE_TARGET : FERRY_LANGUAGE_SOURCE | FERRY_LANGUAGE_TARGET;
        one_source = one_source && source == list->sources[0];
        one_target = one_target && target == list->targets[0];
    }
    languages->roles = roles;
    languages->prompts = list->prompts;
    languages->prompt_sources = list->sources;
    languages->prompt_targets = list->targets;
    languages->prompt_count = list->prompt_count;
    languages->default_source = one_source ? list->sources[0] : -1;
    languages->default_target = one_target ? list->targets[0] : -1;
    return FERRY_OK;
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
        if (strncmp(name, start, sizeof start - 1) != 0 || !json_is_string(prefix)) continue;
        const char *source = name + sizeof start - 1, *to = strstr(source, middle);
        if (to == NULL || to == source || json_string_length(prefix) == 0) continue;
        const char *target = to + sizeof middle - 1;
        if (*target == 0) continue;
        const int32_t source_index = find_tag(&list, (ferry_view){source, (size_t)(to - source)});
        const int32_t target_index = find_tag(&list, (ferry_view){target, strlen(target)});
        add_prompt(&list, (ferry_view){json_string_value(prefix), json_string_length(prefix)}, source_index,
                   target_index);
    }
    return list.prompt_count > 0 ? add_languages(plan, &list, error) : FERRY_OK;
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

/* The tag of the target language stands in the line itself, whatever the source: "<2de> ". Each tag's id joins
 * `special`. */
static ferry_status read_madlad_tags(ferry_import_plan *plan, int32_t *special, int32_t *special_count,
                                     ferry_error *error)
{
    const ferry_spm *spm = plan->segmenters[0];
    size_t count = 0;
    prompt_list list;
    for (int32_t i = 0; i < ferry_spm_count(spm); i++) count += is_madlad_tag(ferry_spm_piece(spm, i));
    if (count == 0) return FERRY_OK;
    FERRY_TRY(reserve_prompts(plan, count, &list, error));
    for (int32_t i = 0; i < ferry_spm_count(spm); i++) {
        const ferry_view piece = ferry_spm_piece(spm, i);
        if (!is_madlad_tag(piece)) continue;
        char *prompt = ferry_arena_alloc(&plan->arena, piece.size + 1, 1);
        if (prompt == NULL) return ferry_fail_memory(error, "a prompt", piece.size + 1);
        memcpy(prompt, piece.data, piece.size);
        prompt[piece.size] = ' ';
        list.tags[list.count] = (ferry_view){prompt + 2, piece.size - 3};
        add_prompt(&list, (ferry_view){prompt, piece.size + 1}, -1, list.count++);
        special[(*special_count)++] = i;
    }
    plan->kind = "huggingface-madlad";
    return add_languages(plan, &list, error);
}

/* ---- texts ---- */

/* T5 appends `extra_ids` tokens to SentencePiece's; mT5's are among its pieces. */
static ferry_status add_extra_ids(const ferry_import_plan *plan, ferry_json tokenizer, bool mt5, int32_t *special,
                                  int32_t *count, ferry_error *error)
{
    const int32_t pieces = ferry_spm_count(plan->segmenters[0]), left = plan->model.encoder.vocab_size - pieces;
    int32_t extra = mt5 ? 0 : 100;
    FERRY_TRY(ferry_json_integer(tokenizer, "extra_ids", 0, MAX_EXTRA, &extra, error));
    for (int32_t i = 0; i < extra && i < left; i++) special[(*count)++] = pieces + i;
    return FERRY_OK;
}

static ferry_status check_tokenizer(ferry_json tokenizer, ferry_error *error)
{
    const char *class = "";
    FERRY_TRY(ferry_json_text(tokenizer, "tokenizer_class", &class, error));
    if (strncmp(class, "ByT5", 4) != 0) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                      "%s: ByT5 is not supported: Ferry lacks its tokenizer, in which every byte is a word",
                      tokenizer.file);
}

ferry_status ferry_import_t5_text(ferry_import_plan *plan, ferry_json config, bool mt5, ferry_error *error)
{
    ferry_model_text *text = &plan->text;
    const ferry_transformer *model = &plan->model;
    const int32_t V = model->decoder.vocab_size;
    ferry_json tokenizer;
    text->present = true;
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &tokenizer, error));
    FERRY_TRY(check_tokenizer(tokenizer, error));
    FERRY_TRY(ferry_huggingface_segmenter(plan, "spiece.model", error));
    FERRY_TRY(ferry_import_own_vocabulary(plan, 0, V, &text->source_pieces, &text->source_unk_id, error));
    text->target_pieces = text->source_pieces;
    text->source_count = text->target_count = V;
    const size_t capacity = (size_t)V + (size_t)plan->generation.eos_count + 3;
    int32_t *special = ferry_arena_alloc(&plan->arena, capacity, sizeof *special), count = 0;
    if (special == NULL) return ferry_fail_memory(error, "special ids", capacity * sizeof *special);
    for (int32_t i = 0; i < plan->generation.eos_count; i++) special[count++] = plan->generation.eos_ids[i];
    special[count++] = plan->generation.pad_id;
    special[count++] = plan->generation.start_id;
    special[count++] = text->source_unk_id;
    FERRY_TRY(add_extra_ids(plan, tokenizer, mt5, special, &count, error));
    FERRY_TRY(read_madlad_tags(plan, special, &count, error));
    if (text->languages.count == 0) FERRY_TRY(read_tasks(plan, config, error));
    FERRY_TRY(ferry_import_ids(plan, plan->generation.eos_ids, 1, &text->suffix_ids, &text->suffix_count, error));
    return ferry_import_ids(plan, special, count, &text->special_ids, &text->special_count, error);
}
