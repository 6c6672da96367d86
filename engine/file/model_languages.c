#include "model_languages.h"

#include "bind.h"

static ferry_status check_length(const ferry_gguf *gguf, const char *key, size_t expected, int32_t found,
                                 ferry_error *error)
{
    if ((size_t)found == expected) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected %zu numbers, found %d", gguf->file, key,
                      expected, (int)found);
}

/* `expected` numbers, each in least … most. */
static ferry_status read_numbers(ferry_model_file *file, const char *key, int32_t least, int32_t most, size_t expected,
                                 const int32_t **numbers, ferry_error *error)
{
    int32_t found;
    FERRY_TRY(ferry_gguf_get_i32s(&file->gguf, key, least, most, &file->arena, numbers, &found, error));
    return check_length(&file->gguf, key, expected, found, error);
}

static ferry_status read_places(const ferry_gguf *gguf, ferry_model_languages *languages, ferry_error *error)
{
    static const char *const places[] = {[FERRY_TAG_NONE] = "none",
                                         [FERRY_TAG_PREFIX] = "prefix",
                                         [FERRY_TAG_SUFFIX] = "suffix",
                                         [FERRY_TAG_FIRST] = "first",
                                         NULL};
    int32_t source, target;
    FERRY_TRY(ferry_model_get_choice(gguf, "ferry.languages.source_tag", places, &source, error));
    FERRY_TRY(ferry_model_get_choice(gguf, "ferry.languages.target_tag", places, &target, error));
    if (source == FERRY_TAG_FIRST) {
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: key 'ferry.languages.source_tag': only a target's tag can be the first target token",
                          gguf->file);
    }
    languages->source_tag = (ferry_tag_place)source;
    languages->target_tag = (ferry_tag_place)target;
    return FERRY_OK;
}

static ferry_status read_default(const ferry_model_file *file, const char *key, int32_t role, int32_t *index,
                                 ferry_error *error)
{
    const ferry_model_languages *languages = &file->text.languages;
    FERRY_TRY(ferry_gguf_get_i32(&file->gguf, key, -1, languages->count - 1, index, error));
    if (*index < 0 || (languages->roles[*index] & role) != 0) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': language %d does not have this role", file->gguf.file,
                      key, (int)*index);
}

static ferry_status read_prompts(ferry_model_file *file, ferry_error *error)
{
    ferry_model_languages *languages = &file->text.languages;
    const int32_t last = languages->count - 1;
    size_t count;
    if (ferry_gguf_find(&file->gguf, "ferry.languages.prompts") == NULL) return FERRY_OK;
    FERRY_TRY(ferry_gguf_get_texts(&file->gguf, "ferry.languages.prompts", &languages->prompts, &count, error));
    FERRY_TRY(read_numbers(file, "ferry.languages.prompt_sources", -1, last, count, &languages->prompt_sources, error));
    FERRY_TRY(read_numbers(file, "ferry.languages.prompt_targets", -1, last, count, &languages->prompt_targets, error));
    languages->prompt_count = (int32_t)count; /* read_numbers counted as many in 32 bits */
    return FERRY_OK;
}

ferry_status ferry_model_read_languages(ferry_model_file *file, ferry_error *error)
{
    const ferry_gguf *gguf = &file->gguf;
    ferry_model_languages *languages = &file->text.languages;
    const int32_t last_source = file->text.source_count - 1, last_target = file->text.target_count - 1;
    size_t count;
    if (ferry_gguf_find(gguf, "ferry.languages.names") == NULL) return FERRY_OK;
    FERRY_TRY(ferry_gguf_get_texts(gguf, "ferry.languages.names", &languages->names, &count, error));
    FERRY_TRY(read_places(gguf, languages, error));
    const int32_t last_tag = languages->target_tag == FERRY_TAG_FIRST ? last_target : last_source;
    FERRY_TRY(read_numbers(file, "ferry.languages.roles", FERRY_LANGUAGE_SOURCE,
                           FERRY_LANGUAGE_SOURCE | FERRY_LANGUAGE_TARGET, count, &languages->roles, error));
    FERRY_TRY(read_numbers(file, "ferry.languages.source_ids", -1, last_source, count, &languages->source_ids, error));
    FERRY_TRY(read_numbers(file, "ferry.languages.target_ids", -1, last_tag, count, &languages->target_ids, error));
    languages->count = (int32_t)count;
    FERRY_TRY(read_prompts(file, error));
    FERRY_TRY(
        read_default(file, "ferry.languages.default_source", FERRY_LANGUAGE_SOURCE, &languages->default_source, error));
    return read_default(file, "ferry.languages.default_target", FERRY_LANGUAGE_TARGET, &languages->default_target,
                        error);
}
