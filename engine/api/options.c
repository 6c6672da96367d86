#include "options.h"

#include <stddef.h>
#include <string.h>

#include "engine/file/schema.h"
#include "engine/lines/model.h"
#include "engine/search/search.h"

/* The size of each struct in the header of 0.1.0, up to its last field. New fields come after it and must make the
 * struct larger: a field that fits into its padding needs another one after it. */
enum {
    FIRST_SIZE = offsetof(ferry_options, glossary) + sizeof(const ferry_glossary *),
    FIRST_SEARCH_SIZE = offsetof(ferry_search_options, coverage_penalty) + sizeof(float)
};

static ferry_status fill(void *options, size_t size, size_t first_size, const void *known, size_t known_size)
{
    if (options == NULL || size < first_size || size > FERRY_MAX_STRUCT) return FERRY_ERROR_ARGUMENT;
    ferry_copy_struct(options, size, known, known_size);
    memcpy(options, &size, sizeof size);
    return FERRY_OK;
}

ferry_status ferry_options_default(const ferry_model *model, ferry_options *options, size_t size)
{
    if (model == NULL) return FERRY_ERROR_ARGUMENT;
    return fill(options, size, FIRST_SIZE, &model->file.generation.decoding.options, sizeof *options);
}

ferry_status ferry_search_options_default(const ferry_model *model, ferry_search_options *options, size_t size)
{
    if (model == NULL) return FERRY_ERROR_ARGUMENT;
    return fill(options, size, FIRST_SEARCH_SIZE, &model->file.generation.decoding.search, sizeof *options);
}

ferry_status ferry_struct_complete(const char *argument, const char *name, const void *given, size_t first_size,
                                   void *known, size_t known_size, ferry_error *error)
{
    const unsigned char *bytes = given;
    size_t size;
    memcpy(&size, given, sizeof size);
    if (size < first_size || size > FERRY_MAX_STRUCT)
        return ferry_fail_argument(error, argument, "expected %s.size %zu to %zu, found %zu; it is sizeof(%s)", name,
                                   first_size, (size_t)FERRY_MAX_STRUCT, size, name);
    for (size_t i = known_size; i < size; i++)
        if (bytes[i] != 0)
            return ferry_fail_argument(error, argument,
                                       "expected 0 at byte %zu of %s, found %d: a field that version " FERRY_VERSION
                                       " of the library does not know",
                                       i, name, bytes[i]);
    memcpy(known, given, size < known_size ? size : known_size);
    memcpy(known, &known_size, sizeof known_size);
    return FERRY_OK;
}

ferry_status ferry_options_complete(const ferry_options *given, ferry_decoding *complete, ferry_error *error)
{
    if (given != NULL)
        FERRY_TRY(ferry_struct_complete("options", "ferry_options", given, FIRST_SIZE, &complete->options,
                                        sizeof complete->options, error));
    if (complete->options.search != NULL)
        FERRY_TRY(ferry_struct_complete("search", "ferry_search_options", complete->options.search, FIRST_SEARCH_SIZE,
                                        &complete->search, sizeof complete->search, error));
    complete->options.search = &complete->search;
    return FERRY_OK;
}

static ferry_status check_number(const ferry_key *key, double value, double max, ferry_error *error)
{
    if (ferry_key_admits(key, value, max)) return FERRY_OK;
    return ferry_fail_option(error, key->name, "expected %s, found %.10g", ferry_key_range(key, max).text, value);
}

static ferry_status check_ids(const ferry_key *key, const ferry_search_options *options, double max, ferry_error *error)
{
    if ((double)options->suppressed_count > max + 1)
        return ferry_fail_option(error, "suppressed_count", "expected at most %.0f ids, found %zu", max + 1,
                                 options->suppressed_count);
    if (options->suppressed_count > 0 && options->suppressed_ids == NULL)
        return ferry_fail_option(error, "suppressed_ids", "expected %zu ids, found NULL", options->suppressed_count);
    for (size_t i = 0; i < options->suppressed_count; i++)
        FERRY_TRY(check_number(key, options->suppressed_ids[i], max, error));
    return FERRY_OK;
}

/* Options of CTranslate2's beam search. */
static ferry_status check_ctranslate2(const ferry_options *options, ferry_error *error)
{
    const ferry_search_options *search = options->search;
    const char *const name = search->patience != 1 ? "patience" : "coverage_penalty";
    if (search->patience == 1 && search->coverage_penalty == 0) return FERRY_OK;
    if (search->policy != FERRY_POLICY_CTRANSLATE2)
        return ferry_fail_option(error, name, "expected policy %s, found policy %s",
                                 ferry_policy_names[FERRY_POLICY_CTRANSLATE2], ferry_policy_names[search->policy]);
    if (options->beam == 1) return ferry_fail_option(error, name, "expected a beam above 1, found beam 1");
    if (ferry_search_awaited(options) < options->nbest)
        return ferry_fail_option(error, "patience",
                                 "expected %d finished hypotheses or more (nbest), found %.10g × beam %d",
                                 (int)options->nbest, (double)search->patience, (int)options->beam);
    return FERRY_OK;
}

/* Options that exclude each other. Contradicting lengths are accepted if both come from the model file (`defaults`). */
static ferry_status check_together(const ferry_options *options, const ferry_options *defaults, ferry_error *error)
{
    const char *const name = options->sample != 0 ? "sample" : "alternatives";
    const bool draws = options->sample != 0 || options->alternatives != 0;
    const bool contradict = options->max_length != 0 && options->min_length > options->max_length;
    if (contradict && options->min_length != defaults->min_length)
        return ferry_fail_option(error, "min_length", "expected at most max_length, which is %d, found %d",
                                 (int)options->max_length, (int)options->min_length);
    if (contradict && options->max_length != defaults->max_length)
        return ferry_fail_option(error, "max_length", "expected min_length, which is %d, or more, found %d",
                                 (int)options->min_length, (int)options->max_length);
    if (options->sample != 0 && options->alternatives != 0)
        return ferry_fail_option(error, "alternatives", "expected 0 with sample, found 1");
    if (draws && options->beam > 1)
        return ferry_fail_option(error, name, "expected beam 1, found beam %d", (int)options->beam);
    if (options->sample == 0 && (options->temperature != 1 || options->top_k != 0 || options->top_p != 1))
        return ferry_fail_option(error,
                                 options->temperature != 1 ? "temperature"
                                 : options->top_k != 0     ? "top_k"
                                                           : "top_p",
                                 "expected sample 1, found sample 0");
    if (options->glossary != NULL && (draws || options->nbest > 1))
        return ferry_fail_option(error, draws ? name : "nbest", "expected %d with a glossary, found %d", !draws,
                                 draws ? 1 : (int)options->nbest);
    return check_ctranslate2(options, error);
}

ferry_status ferry_options_check(const ferry_decoding *decoding, const ferry_model_file *file, ferry_error *error)
{
    ferry_transformer transformer = file->transformer; /* a copy, as ferry_schema_values is not const */
    ferry_generation generation = {.decoding = *decoding};
    const ferry_schema_values values = {.transformer = &transformer, .generation = &generation};
    const ferry_key_table table = ferry_schema_keys(FERRY_KEYS_DECODING);
    for (const ferry_key *key = table.keys; key < table.keys + table.count; key++) {
        double max = key->kind == FERRY_KEY_BOOL ? 1 : ferry_key_max(key, &values);
        if (key->kind == FERRY_KEY_CHOICE)
            for (max = 0; key->choices[(int)max + 1] != NULL;) max++;
        FERRY_TRY(key->kind == FERRY_KEY_IDS ? check_ids(key, &decoding->search, max, error)
                                             : check_number(key, ferry_key_number(key, decoding), max, error));
    }
    return check_together(&decoding->options, &file->generation.decoding.options, error);
}
