#include <limits.h>
#include <string.h>

#include "huggingface.h"
#include "models/text/vocabularies.h"
#include "models/families/choices.h"
#include "models/families/families.h"
#include "models/text/language_tags.h"

/* The maximum that a model file may have of an integer search option. */
static int32_t max_of(const char *option)
{
    return (int32_t)ferry_schema_find(FERRY_KEYS_DECODING, option)->file_max;
}

static ferry_status check_id(const ferry_import_plan *plan, ferry_json json, const char *key, const json_t *value,
                             int32_t *id, ferry_error *error)
{
    const json_int_t number = json_integer_value(value), last = plan->model.decoder.vocab_size - 1;
    *id = (int32_t)number;
    if (json_is_integer(value) && number >= 0 && number <= last) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s': expected ids from 0 to %d", json.file, key, (int)last);
}

/* An id or a list of ids → *ids in the plan's memory; both stay as they are when the key is absent. */
static ferry_status read_ids(ferry_import_plan *plan, ferry_json json, const char *key, const int32_t **ids,
                             int32_t *count, ferry_error *error)
{
    const json_t *value = ferry_json_get(json, key);
    if (value == NULL) return FERRY_OK;
    const size_t size = json_is_array(value) ? json_array_size(value) : 1;
    if (size > FERRY_MAX_VOCABULARY)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: '%s': too many ids", json.file, key);
    int32_t *list = ferry_arena_alloc(&plan->arena, size, sizeof *list);
    if (list == NULL) return ferry_fail_memory(error, "a list of ids", size, sizeof *list);
    for (size_t i = 0; i < size; i++) {
        const json_t *element = json_is_array(value) ? json_array_get(value, i) : value;
        FERRY_TRY(check_id(plan, json, key, element, &list[i], error));
    }
    *ids = list;
    *count = (int32_t)size;
    return FERRY_OK;
}

static ferry_status read_special_ids(ferry_import_plan *plan, ferry_json config, ferry_json generation,
                                     ferry_error *error)
{
    ferry_generation *ids = &plan->generation;
    const int32_t last = plan->model.decoder.vocab_size - 1;
    const ferry_json sources[] = {config, generation}; /* the later one wins */
    FERRY_TRY(ferry_json_integer(config, "pad_token_id", 0, last, &ids->pad_id, error));
    for (int i = 0; i < 2; i++) {
        const bool named = ferry_json_get(sources[i], "decoder_start_token_id") != NULL;
        const char *start = named ? "decoder_start_token_id" : "bos_token_id";
        FERRY_TRY(ferry_json_integer(sources[i], start, 0, last, &ids->start_id, error));
        FERRY_TRY(read_ids(plan, sources[i], "eos_token_id", &ids->eos_ids, &ids->eos_count, error));
    }
    if (ids->start_id <= last && ids->pad_id <= last && ids->eos_count > 0 && ids->eos_ids[0] <= last) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT,
                      "%s: decoder_start_token_id, eos_token_id or pad_token_id is missing or beyond the vocabulary of "
                      "%d",
                      config.file, (int)last + 1);
}

static ferry_status read_forced(ferry_import_plan *plan, ferry_json json, const char *key, int32_t *id,
                                ferry_error *error)
{
    const int32_t *ids = NULL;
    int32_t count = 0;
    FERRY_TRY(read_ids(plan, json, key, &ids, &count, error));
    if (count > 1)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: '%s' with several ids is not supported", json.file, key);
    if (count == 1) *id = ids[0];
    return FERRY_OK;
}

/* bad_words_ids: lists; a list of one id suppresses it, [eos] is dropped. suppress_tokens: ids. And pad, always: it is
 * not a word, and the families that the library does not protect this way never choose it. */
static ferry_status read_suppressed(ferry_import_plan *plan, ferry_json json, ferry_error *error)
{
    const ferry_generation *all = &plan->generation;
    const json_t *lists = ferry_json_get(json, "bad_words_ids");
    const int32_t *more = NULL;
    int32_t more_count = 0, id;
    FERRY_TRY(read_ids(plan, json, "suppress_tokens", &more, &more_count, error));
    if (lists != NULL && !json_is_array(lists))
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: 'bad_words_ids': expected a list of lists", json.file);
    FERRY_TRY(ferry_import_suppress(plan, &all->pad_id, 1, error));
    for (size_t i = 0; i < json_array_size(lists); i++) {
        const json_t *list = json_array_get(lists, i);
        if (json_array_size(list) != 1) {
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                              "%s: 'bad_words_ids': number %zu is no list of one id; longer ones are not supported",
                              json.file, i);
        }
        FERRY_TRY(check_id(plan, json, "bad_words_ids", json_array_get(list, 0), &id, error));
        if (id != all->eos_ids[0]) FERRY_TRY(ferry_import_suppress(plan, &id, 1, error));
    }
    return ferry_import_suppress(plan, more, more_count, error);
}

/* A limit above a model file's maximum, say 10³⁰, means no limit: it becomes the maximum. */
static ferry_status read_limit(ferry_json json, const char *key, int32_t min, int32_t largest, int32_t *limit,
                               ferry_error *error)
{
    const json_t *value = ferry_json_get(json, key);
    if (!json_is_number(value) || json_number_value(value) <= (double)largest)
        return ferry_json_integer(json, key, min, largest, limit, error);
    *limit = largest;
    return FERRY_OK;
}

/* The library counts the start token and Ferry does not, except in limits of new tokens, which win over the others,
 * also where they are 0. Without any limit (the library's default is 20 tokens) the model file says 0: a limit that
 * follows the source. */
static ferry_status read_rules(ferry_json json, ferry_decoding *decoding, ferry_error *error)
{
    bool renormalize = false;
    int32_t max_length = 0, max_new_tokens = 0, min_length = 0, min_new_tokens = -1;
    const ferry_json_key keys[] = {
        {"num_beams", .integer = &decoding->options.beam, 1, max_of("beam")},
        {"length_penalty", .real = &decoding->options.length_penalty},
        {"min_length", .integer = &min_length, 0, max_of("min_length")},
        {"min_new_tokens", .integer = &min_new_tokens, 0, max_of("min_length")},
        {"repetition_penalty", .real = &decoding->options.repetition_penalty},
        {"no_repeat_ngram_size", .integer = &decoding->options.no_repeat_ngram, 0, max_of("no_repeat_ngram")},
        {"renormalize_logits", .flag = &renormalize},
    };
    FERRY_TRY(ferry_json_read(json, keys, sizeof keys / sizeof keys[0], false, error));
    FERRY_TRY(read_limit(json, "max_length", 2, max_of("max_length") + 1, &max_length, error));
    FERRY_TRY(read_limit(json, "max_new_tokens", 1, max_of("max_length"), &max_new_tokens, error));
    decoding->search.renormalize = renormalize;
    if (max_length > 0) decoding->options.max_length = max_length - 1;
    if (max_new_tokens > 0) decoding->options.max_length = max_new_tokens;
    if (min_length > 0) decoding->options.min_length = min_length - 1;
    if (min_new_tokens >= 0) decoding->options.min_length = min_new_tokens;
    const json_t *stopping = ferry_json_get(json, "early_stopping");
    const bool never = json_is_string(stopping) && strcmp(json_string_value(stopping), "never") == 0;
    if (stopping == NULL || json_is_false(stopping)) return FERRY_OK;
    decoding->search.early_stopping = never ? FERRY_EARLY_STOPPING_NEVER : FERRY_EARLY_STOPPING_TRUE;
    if (never || json_is_true(stopping)) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: 'early_stopping': expected true, false or \"never\"", json.file);
}

ferry_status ferry_huggingface_decoding(ferry_import_plan *plan, ferry_json config, int32_t pad_id, int32_t start_id,
                                        int32_t eos_id, ferry_error *error)
{
    ferry_decoding *decoding = &plan->generation.decoding;
    ferry_json generation;
    plan->generation.pad_id = pad_id;
    plan->generation.start_id = start_id;
    FERRY_TRY(ferry_import_ids(plan, &eos_id, 1, &plan->generation.eos_ids, &plan->generation.eos_count, error));
    FERRY_TRY(ferry_import_optional_json(plan, "generation_config.json", &generation, error));
    const ferry_json json = generation.object != NULL ? generation : config;
    bool from_config = generation.object == NULL, forces_bos = false;
    FERRY_TRY(ferry_check_choices(json, FERRY_CHOICE_GENERATION, UINT_MAX, error));
    FERRY_TRY(read_special_ids(plan, config, generation, error));
    FERRY_TRY(read_rules(json, decoding, error));
    /* `force_bos_token_to_be_generated`, of the time before this file, counts where the keys came from config.json. */
    FERRY_TRY(ferry_json_bool(json, "_from_model_config", &from_config, error));
    FERRY_TRY(ferry_json_bool(json, "force_bos_token_to_be_generated", &forces_bos, error));
    FERRY_TRY(read_forced(plan, json, "forced_bos_token_id", &decoding->search.forced_first_id, error));
    if (from_config && forces_bos)
        FERRY_TRY(read_forced(plan, json, "bos_token_id", &decoding->search.forced_first_id, error));
    FERRY_TRY(read_forced(plan, json, "forced_eos_token_id", &decoding->search.forced_last_id, error));
    return read_suppressed(plan, json, error);
}
