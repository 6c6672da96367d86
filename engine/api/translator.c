#include "translator.h"

#include <stdlib.h>
#include <string.h>

#include "opening.h"
#include "options.h"
#include "engine/lines/glossary.h"
#include "engine/lines/model.h"

/* ---- creation ---- */

/* The limit on tokens if neither the user nor the model sets one. */
enum { DEFAULT_LIMIT = 512 };

static int32_t limit_of(const ferry_options *options, const ferry_stack *stack)
{
    const int32_t limit = stack->position.limit, wanted = options->max_source;
    if (wanted > 0 && (limit == 0 || wanted < limit)) return wanted;
    return limit > 0 ? limit : DEFAULT_LIMIT;
}

static ferry_status take_options(ferry_translator *translator, const ferry_options *options, ferry_error *error)
{
    const ferry_model *model = translator->model;
    ferry_search_options *search = &translator->search;
    ferry_line_rules *rules = &translator->rules;
    *search = *options->search;
    const size_t ids = search->suppressed_count;
    translator->options = *options;
    translator->options.search = search;
    translator->options.from = translator->options.to = NULL;
    ferry_glossary_share(options->glossary);
    translator->callbacks.progress = options->progress;
    translator->callbacks.partial = options->partial;
    translator->callbacks.user = options->user;
    rules->options = &translator->options;
    FERRY_TRY(ferry_languages_find(model, options->from, options->to, &rules->pair, error));
    FERRY_TRY(ferry_languages_check(model, rules->pair, search->forced_first_id, error));
    rules->sentences = ferry_languages_sentences(model, rules->pair);
    rules->source_limit = limit_of(options, &model->file.transformer.encoder);
    rules->scored_limit = limit_of(options, &model->file.transformer.decoder);
    rules->unknown_id = model->tokenizer != NULL ? ferry_tokenizer_target_unknown(model->tokenizer) : -1;
    translator->suppressed_ids = calloc(ids + 1, sizeof *translator->suppressed_ids);
    if (translator->suppressed_ids == NULL)
        return ferry_fail_memory(error, "suppressed ids", ids, sizeof *translator->suppressed_ids);
    if (ids > 0) memcpy(translator->suppressed_ids, search->suppressed_ids, ids * sizeof *translator->suppressed_ids);
    search->suppressed_ids = translator->suppressed_ids;
    const int32_t first_id = ferry_languages_first_id(model, rules->pair);
    if (first_id >= 0 && (options->to != NULL || search->forced_first_id < 0)) search->forced_first_id = first_id;
    return FERRY_OK;
}

ferry_status ferry_translator_create(const ferry_model *model, const ferry_options *options,
                                     ferry_translator **translator, ferry_error *error)
{
    FERRY_FENV;
    FERRY_NEEDS(translator);
    *translator = NULL;
    FERRY_NEEDS(model);
    ferry_decoding complete = model->file.generation.decoding;
    FERRY_TRY(ferry_options_complete(options, &complete, error));
    FERRY_TRY(ferry_options_check(&complete, &model->file, error));
    ferry_translator *created = calloc(1, sizeof *created);
    if (created == NULL) return ferry_fail_memory(error, "a translator", 1, sizeof *created);
    created->places = 1;
    created->stop = &created->own_stop;
    created->model = model;
    atomic_fetch_add(&((ferry_model *)(uintptr_t)model)->users, 1);
    ferry_mutex_create(&created->callbacks.mutex);
    ferry_mutex_create(&created->vocabulary_mutex);
    ferry_status status = take_options(created, &complete.options, error);
    if (status == FERRY_OK) {
        ferry_model_widen(model);
        status = ferry_schedule_create(&created->schedule, &model->file.transformer, &model->file.generation,
                                       model->kernels, &created->options, created->rules.source_limit, error);
    }
    if (status == FERRY_OK)
        *translator = created;
    else
        ferry_translator_destroy(created);
    return status;
}

void ferry_translator_destroy(ferry_translator *translator)
{
    if (translator == NULL) return;
    for (size_t i = 0; i < translator->stage_count; i++) ferry_translator_destroy(translator->stages[i]);
    free(translator->stages);
    ferry_schedule_destroy(&translator->schedule);
    if (translator->model != NULL) {
        ferry_mutex_destroy(&translator->callbacks.mutex);
        ferry_mutex_destroy(&translator->vocabulary_mutex);
    }
    ferry_term_vocabulary_destroy(&translator->vocabulary);
    free(translator->suppressed_ids);
    ferry_glossary_destroy((ferry_glossary *)(uintptr_t)translator->options.glossary);
    ferry_model_close((ferry_model *)(uintptr_t)translator->model);
    free(translator);
}

/* ---- calls ---- */

ferry_status ferry_translator_read_vocabulary(ferry_translator *translator, ferry_error *error)
{
    ferry_status status = FERRY_OK;
    ferry_mutex_lock(&translator->vocabulary_mutex);
    if (!translator->has_vocabulary) {
        status = ferry_term_vocabulary_create(translator->model, &translator->vocabulary, error);
        translator->has_vocabulary = status == FERRY_OK;
    }
    ferry_mutex_unlock(&translator->vocabulary_mutex);
    return status;
}

ferry_status ferry_translator_align(ferry_translator *translator, int on)
{
    if (translator == NULL || translator->stages != NULL || atomic_exchange(&translator->busy, true))
        return FERRY_ERROR_ARGUMENT;
    translator->options.alignment = on != 0;
    atomic_store(&translator->busy, false);
    return FERRY_OK;
}

uint32_t ferry_translator_job(ferry_translator *translator)
{
    if (translator == NULL || ferry_translator_begin(translator, NULL) != FERRY_OK) return 0;
    uint32_t job = (atomic_load(&translator->stop->word) / 2 + 1) & INT32_MAX;
    if (job == 0) job = 1;
    atomic_store(&translator->stop->word, 2 * job);
    ferry_translator_end(translator, FERRY_OK);
    return job;
}

void ferry_translator_cancel(ferry_translator *translator, uint32_t job)
{
    uint32_t expected = 2 * job;
    if (translator != NULL && job != 0 && job <= INT32_MAX)
        atomic_compare_exchange_strong(&translator->stop->word, &expected, expected + 1);
}

size_t ferry_translator_memory(const ferry_translator *translator, size_t *peak)
{
    size_t held = 0, max = 0;
    for (size_t i = 0; translator != NULL && i < translator->stage_count; i++) {
        size_t stage_peak;
        held += ferry_translator_memory(translator->stages[i], &stage_peak);
        max += stage_peak;
    }
    if (translator != NULL) {
        held += atomic_load(&translator->schedule.memory.held);
        max += atomic_load(&translator->schedule.memory.peak);
    }
    if (peak != NULL) *peak = max;
    return held;
}

ferry_status ferry_translator_begin(ferry_translator *translator, ferry_error *error)
{
    if (atomic_exchange(&translator->busy, true))
        return ferry_fail_argument(error, "translator", "expected none with a call in progress");
    for (size_t i = 0; i < translator->stage_count; i++) {
        if (ferry_translator_begin(translator->stages[i], error) == FERRY_OK) continue;
        while (i-- > 0) ferry_translator_end(translator->stages[i], FERRY_ERROR_ARGUMENT);
        atomic_store(&translator->busy, false);
        return FERRY_ERROR_ARGUMENT;
    }
    return FERRY_OK;
}

ferry_status ferry_translator_end(ferry_translator *translator, ferry_status status)
{
    for (size_t i = 0; i < translator->stage_count; i++) ferry_translator_end(translator->stages[i], status);
    atomic_store(&translator->busy, false);
    return status;
}

ferry_status ferry_translator_check_text(const ferry_translator *translator, ferry_error *error)
{
    for (size_t i = 0; i < translator->stage_count; i++)
        FERRY_TRY(ferry_translator_check_text(translator->stages[i], error));
    if (translator->model == NULL || translator->model->tokenizer != NULL) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "the model has no tokenizer: it translates ids only");
}
