#include "translator.h"

#include <stdlib.h>
#include <string.h>

#include "engine/file/schema.h"

/* ---- options ---- */

/* The size of each struct in the header of 0.1.0, by its last field. New fields come after it, and make the struct
 * larger: one that would fit into its padding has to be followed by another. */
enum {
    FIRST_SIZE = offsetof(ferry_options, search) + sizeof(const ferry_search_options *),
    FIRST_SEARCH_SIZE = offsetof(ferry_search_options, coverage_penalty) + sizeof(float)
};
/* The largest size of any future release: a struct with a larger one was rather not filled in. */
enum { LARGEST_SIZE = 4096 };

static ferry_status fill(void *options, size_t size, size_t first_size, const void *known, size_t known_size)
{
    if (options == NULL || size < first_size || size > LARGEST_SIZE) return FERRY_ERROR_ARGUMENT;
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

/* The struct `given`, whose first field is its size, becomes the library's, which holds the defaults. `name` is the
 * struct's. */
static ferry_status complete_struct(const char *name, const void *given, size_t first_size, void *known,
                                    size_t known_size, ferry_error *error)
{
    const unsigned char *bytes = given;
    size_t size;
    memcpy(&size, given, sizeof size);
    if (size < first_size || size > LARGEST_SIZE)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT,
                          "%s.size: expected %zu to %zu, found %zu; fill options with %s_default", name, first_size,
                          (size_t)LARGEST_SIZE, size, name);
    for (size_t i = known_size; i < size; i++)
        if (bytes[i] != 0)
            return ferry_fail(error, FERRY_ERROR_ARGUMENT,
                              "%s: expected 0 at byte %zu, found %d: a field that version " FERRY_VERSION
                              " of the library does not know",
                              name, i, bytes[i]);
    memcpy(known, given, size < known_size ? size : known_size);
    memcpy(known, &known_size, sizeof known_size);
    return FERRY_OK;
}

static ferry_status check_number(const ferry_key *key, double value, double most, ferry_error *error)
{
    if (ferry_key_admits(key, value, most)) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT, "option %s: expected %s, found %.10g", key->name,
                      ferry_key_range(key, most).text, value);
}

static ferry_status check_ids(const ferry_key *key, const ferry_search_options *options, double most,
                              ferry_error *error)
{
    if ((double)options->suppressed_count > most + 1)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "option suppressed_count: expected at most %.0f ids, found %zu",
                          most + 1, options->suppressed_count);
    if (options->suppressed_count > 0 && options->suppressed_ids == NULL)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "option suppressed_ids: expected %zu ids, found NULL",
                          options->suppressed_count);
    for (size_t i = 0; i < options->suppressed_count; i++)
        FERRY_TRY(check_number(key, options->suppressed_ids[i], most, error));
    return FERRY_OK;
}

/* Options of CTranslate2's beam search. */
static ferry_status check_ctranslate2(const ferry_options *options, ferry_error *error)
{
    const ferry_search_options *search = options->search;
    const char *const name = search->patience != 1 ? "patience" : "coverage_penalty";
    if (search->patience == 1 && search->coverage_penalty == 0) return FERRY_OK;
    if (search->policy != FERRY_POLICY_CTRANSLATE2)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "option %s: expected policy %s, found policy %s", name,
                          ferry_policy_names[FERRY_POLICY_CTRANSLATE2], ferry_policy_names[search->policy]);
    if (options->beam == 1)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "option %s: expected a beam above 1, found beam 1", name);
    if (ferry_search_awaited(options) < options->nbest)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT,
                          "option patience: expected %d finished hypotheses or more (nbest), found %.10g × beam %d",
                          (int)options->nbest, (double)search->patience, (int)options->beam);
    return FERRY_OK;
}

/* Options that exclude each other. Two lengths of the model's file, `usual`, that contradict each other stay its own
 * affair. */
static ferry_status check_together(const ferry_options *options, const ferry_options *usual, ferry_error *error)
{
    const char *const name = options->sample != 0 ? "sample" : "alternatives";
    if (options->max_length != 0 && options->min_length > options->max_length &&
        (options->min_length != usual->min_length || options->max_length != usual->max_length))
        return ferry_fail(error, FERRY_ERROR_ARGUMENT,
                          "option min_length: expected at most max_length, which is %d, found %d",
                          (int)options->max_length, (int)options->min_length);
    if (options->sample != 0 && options->alternatives != 0)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "options sample and alternatives: expected one of them");
    if ((options->sample != 0 || options->alternatives != 0) && options->beam > 1)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "option %s: expected beam 1, found beam %d", name,
                          (int)options->beam);
    if (options->sample == 0 && (options->temperature != 1 || options->top_k != 0 || options->top_p != 1))
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "option %s: expected sample 1, found sample 0",
                          options->temperature != 1 ? "temperature"
                          : options->top_k != 0     ? "top_k"
                                                    : "top_p");
    return check_ctranslate2(options, error);
}

ferry_status ferry_options_check(const ferry_decoding *decoding, const ferry_model_file *file, ferry_error *error)
{
    ferry_transformer transformer = file->transformer; /* a copy, as ferry_schema_values is not const */
    ferry_generation generation = {.decoding = *decoding};
    const ferry_schema_values values = {.transformer = &transformer, .generation = &generation};
    const ferry_key_table table = ferry_schema_keys(FERRY_KEYS_DECODING);
    for (const ferry_key *key = table.keys; key < table.keys + table.count; key++) {
        double most = key->kind == FERRY_KEY_BOOL ? 1 : ferry_key_most(key, &values);
        if (key->kind == FERRY_KEY_CHOICE)
            for (most = 0; key->choices[(int)most + 1] != NULL;) most++;
        FERRY_TRY(key->kind == FERRY_KEY_IDS ? check_ids(key, &decoding->search, most, error)
                                             : check_number(key, ferry_key_number(key, decoding), most, error));
    }
    return check_together(&decoding->options, &file->generation.decoding.options, error);
}

/* ---- the translator ---- */

/* The limit on tokens where neither the user nor the model has one. */
enum { USUAL_SOURCE = 512 };

/* All options but threads. */
static ferry_status take_options(ferry_translator *translator, const ferry_options *options, ferry_error *error)
{
    const ferry_model *model = translator->model;
    ferry_search_options *search = &translator->search;
    *search = *options->search;
    const size_t ids = search->suppressed_count;
    translator->options = *options;
    translator->options.search = search;
    translator->options.from = translator->options.to = NULL;
    FERRY_TRY(ferry_languages_find(model, options->from, options->to, &translator->pair, error));
    FERRY_TRY(ferry_languages_check(model, translator->pair, search->forced_first_id, error));
    translator->sentences = ferry_languages_sentences(model, translator->pair);
    translator->unknown_id = model->tokenizer != NULL ? ferry_tokenizer_target_unknown(model->tokenizer) : -1;
    translator->suppressed_ids = calloc(ids + 1, sizeof *translator->suppressed_ids);
    if (translator->suppressed_ids == NULL)
        return ferry_fail_memory(error, "suppressed ids", ids, sizeof *translator->suppressed_ids);
    if (ids > 0) memcpy(translator->suppressed_ids, search->suppressed_ids, ids * sizeof *translator->suppressed_ids);
    search->suppressed_ids = translator->suppressed_ids;
    const int32_t first_id = ferry_languages_first_id(model, translator->pair);
    if (first_id >= 0 && (options->to != NULL || search->forced_first_id < 0)) search->forced_first_id = first_id;
    return FERRY_OK;
}

static ferry_status create_threads(ferry_translator *translator, ferry_error *error)
{
    const ferry_model *model = translator->model;
    const int32_t threads = translator->options.threads;
    translator->generators = calloc((size_t)threads, sizeof *translator->generators);
    if (translator->generators == NULL)
        return ferry_fail_memory(error, "threads", (size_t)threads, sizeof *translator->generators);
    FERRY_TRY(ferry_pool_create(threads, &translator->pool, error));
    ferry_model_widen(model);
    for (int32_t i = 0; i < threads; i++) {
        ferry_generator_init(&translator->generators[i], &model->file.transformer, model->kernels);
        ferry_state *state = &translator->generators[i].state;
        state->context.pool = translator->pool;
        state->context.stop = &translator->stop;
        state->account.memory = &translator->memory;
    }
    return FERRY_OK;
}

ferry_status ferry_translator_create(const ferry_model *model, const ferry_options *options,
                                     ferry_translator **translator, ferry_error *error)
{
    FERRY_FLOATS;
    ferry_decoding complete;
    FERRY_NEEDS(translator);
    *translator = NULL;
    FERRY_NEEDS(model);
    /* The options of a program that was compiled with the header of any version, which the `size` of each struct says,
     * as this version has them: other fields have their defaults. */
    complete = model->file.generation.decoding;
    if (options != NULL)
        FERRY_TRY(
            complete_struct("ferry_options", options, FIRST_SIZE, &complete.options, sizeof complete.options, error));
    if (complete.options.search != NULL)
        FERRY_TRY(complete_struct("ferry_search_options", complete.options.search, FIRST_SEARCH_SIZE, &complete.search,
                                  sizeof complete.search, error));
    complete.options.search = &complete.search;
    FERRY_TRY(ferry_options_check(&complete, &model->file, error));
    ferry_translator *created = calloc(1, sizeof *created);
    if (created == NULL) return ferry_fail_memory(error, "a translator", 1, sizeof *created);
    created->row_length = 1;
    created->model = model;
    atomic_fetch_add(&((ferry_model *)(uintptr_t)model)->users, 1);
    ferry_queue_create(&created->queue, complete.options.threads);
    created->memory.limit = complete.options.memory_limit;
    ferry_status status = take_options(created, &complete.options, error);
    if (status == FERRY_OK) status = create_threads(created, error);
    if (status == FERRY_OK)
        *translator = created;
    else
        ferry_translator_destroy(created);
    return status;
}

void ferry_translator_destroy(ferry_translator *translator)
{
    if (translator == NULL) return;
    if (translator->stages != NULL) {
        for (size_t i = 0; i < translator->stage_count; i++) ferry_translator_destroy(translator->stages[i]);
        free(translator->stages);
        free(translator);
        return;
    }
    ferry_logit_bound_destroy(&translator->bound);
    ferry_pool_destroy(translator->pool);
    for (int32_t i = 0; translator->generators != NULL && i < translator->options.threads; i++)
        ferry_generator_destroy(&translator->generators[i]);
    free(translator->generators);
    ferry_queue_destroy(&translator->queue);
    free(translator->suppressed_ids);
    ferry_model_close((ferry_model *)(uintptr_t)translator->model);
    free(translator);
}

ferry_status ferry_translator_align(ferry_translator *translator, int on)
{
    if (translator == NULL || translator->stages != NULL || atomic_exchange(&translator->busy, true))
        return FERRY_ERROR_ARGUMENT;
    translator->options.alignment = on != 0;
    atomic_store(&translator->busy, false);
    return FERRY_OK;
}

void ferry_translator_cancel(ferry_translator *translator)
{
    ferry_translator *stage;
    for (size_t i = 0; (stage = ferry_translator_stage(translator, i)) != NULL; i++) {
        atomic_store(&stage->cancelled, true);
        atomic_store(&stage->stop, true);
    }
}

size_t ferry_translator_memory(const ferry_translator *translator, size_t *peak)
{
    const ferry_translator *stage;
    size_t held = 0, most = 0;
    for (size_t i = 0; (stage = ferry_translator_stage(translator, i)) != NULL; i++) {
        held += atomic_load(&stage->memory.held);
        most += atomic_load(&stage->memory.peak);
    }
    if (peak != NULL) *peak = most;
    return held;
}

static int32_t limit_of(const ferry_translator *translator, const ferry_stack *stack)
{
    const int32_t limit = stack->position.limit, wanted = translator->options.max_source;
    if (wanted > 0 && (limit == 0 || wanted < limit)) return wanted;
    return limit > 0 ? limit : USUAL_SOURCE;
}

int32_t ferry_translator_source_limit(const ferry_translator *translator)
{
    return limit_of(translator, &translator->model->file.transformer.encoder);
}

int32_t ferry_translator_scored_limit(const ferry_translator *translator)
{
    return limit_of(translator, &translator->model->file.transformer.decoder);
}

int32_t ferry_translator_target_length(const ferry_translator *translator, size_t source_length)
{
    return ferry_decoding_target_limit(&translator->options, &translator->model->file.transformer,
                                       (int32_t)source_length);
}

/* ---- models in a row ---- */

ferry_translator *ferry_translator_stage(const ferry_translator *translator, size_t index)
{
    if (translator == NULL || index >= ferry_translator_stage_count(translator)) return NULL;
    return translator->stages != NULL ? translator->stages[index] : (ferry_translator *)(uintptr_t)translator;
}

ferry_status ferry_row_refuse(const ferry_translator *translator, ferry_error *error)
{
    if (translator->stages == NULL) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT, "translator: expected one of one model, found one of %zu in a row",
                      translator->stage_count);
}

static ferry_status check_stage(const char *name, const ferry_translator *stage, ferry_error *error)
{
    if (atomic_load(&stage->busy))
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "%s: expected none with a call in progress", name);
    if (stage->options.nbest > 1)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "option nbest: expected 1 in a row of models, found %d",
                          (int)stage->options.nbest);
    if (stage->options.alignment != 0)
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "option alignment: expected 0 in a row of models, found %d",
                          (int)stage->options.alignment);
    return FERRY_OK;
}

/* What one translates into, the next translates from, as far as their models say. */
static ferry_status check_row(const ferry_translator *first, const ferry_translator *second, ferry_error *error)
{
    const ferry_translator *stage, *before = ferry_translator_stage(first, ferry_translator_stage_count(first) - 1),
                                   *after = ferry_translator_stage(second, 0);
    for (size_t i = 0; (stage = ferry_translator_stage(first, i)) != NULL; i++)
        FERRY_TRY(check_stage("first", stage, error));
    for (size_t i = 0; (stage = ferry_translator_stage(second, i)) != NULL; i++)
        FERRY_TRY(check_stage("second", stage, error));
    if (before->pair.target < 0 || after->pair.source < 0) return FERRY_OK;
    const ferry_language *into = &before->model->languages[before->pair.target],
                         *from = &after->model->languages[after->pair.source];
    const bool known = into->english[0] != '\0' && from->english[0] != '\0';
    if (strcmp(into->tag, from->tag) == 0 || (known && strcmp(into->english, from->english) == 0)) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT,
                      "second: expected one from %s, into which the first translates, found one from %s", into->tag,
                      from->tag);
}

/* The stages of a translator become those of the row. */
static void take_stages(ferry_translator *row, ferry_translator *from)
{
    ferry_translator *stage;
    for (size_t i = 0; (stage = ferry_translator_stage(from, i)) != NULL; i++) row->stages[row->stage_count++] = stage;
    if (from->stages == NULL) return;
    free(from->stages);
    free(from);
}

ferry_status ferry_translator_then(ferry_translator *first, ferry_translator *second, ferry_translator **both,
                                   ferry_error *error)
{
    FERRY_NEEDS(both);
    *both = NULL;
    FERRY_NEEDS(first);
    FERRY_NEEDS(second);
    if (first == second) return ferry_fail(error, FERRY_ERROR_ARGUMENT, "second: expected another than the first");
    FERRY_TRY(check_row(first, second, error));
    const size_t count = ferry_translator_stage_count(first) + ferry_translator_stage_count(second);
    ferry_translator *row = calloc(1, sizeof *row);
    ferry_translator **stages = calloc(count, sizeof *stages);
    if (row == NULL || stages == NULL) {
        free(row);
        free(stages);
        return ferry_fail_memory(error, "a row of models", count, sizeof *stages);
    }
    row->stages = stages;
    take_stages(row, first);
    take_stages(row, second);
    for (size_t i = 0; i < count; i++) {
        stages[i]->row_index = i;
        stages[i]->row_length = count;
    }
    *both = row;
    return FERRY_OK;
}

/* ---- calls ---- */

ferry_status ferry_call_begin(ferry_translator *translator, ferry_error *error)
{
    ferry_translator *stage;
    for (size_t i = 0; (stage = ferry_translator_stage(translator, i)) != NULL; i++) {
        if (!atomic_exchange(&stage->busy, true)) continue;
        while (i-- > 0) atomic_store(&ferry_translator_stage(translator, i)->busy, false);
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "translator: expected none with a call in progress");
    }
    for (size_t i = 0; (stage = ferry_translator_stage(translator, i)) != NULL; i++)
        if (atomic_load(&stage->cancelled)) atomic_store(&stage->stop, true);
    return FERRY_OK;
}

/* A cancel that comes between two of these stores stops the next call. */
ferry_status ferry_call_end(ferry_translator *translator, ferry_status status)
{
    ferry_translator *stage;
    for (size_t i = 0; (stage = ferry_translator_stage(translator, i)) != NULL; i++) {
        atomic_store(&stage->stop, false);
        if (status != FERRY_ERROR_ARGUMENT) atomic_store(&stage->cancelled, false);
        atomic_store(&stage->busy, false);
    }
    return status;
}
