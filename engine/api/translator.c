#include "translator.h"

#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "options.h"

/* The limit on tokens where neither the user nor the model has one. */
enum { USUAL_SOURCE = 512 };

/* All options but threads. */
static ferry_status take_options(ferry_translator *translator, const ferry_options *options, ferry_error *error)
{
    const ferry_languages *languages = &translator->model->languages;
    ferry_search_options *search = &translator->search;
    *search = *options->search;
    const size_t ids = search->suppressed_count;
    translator->options = *options;
    translator->options.search = search;
    translator->options.from = translator->options.to = NULL;
    FERRY_TRY(ferry_languages_find(languages, options->from, options->to, &translator->pair, error));
    FERRY_TRY(ferry_languages_check(languages, translator->pair, search->forced_first_id, error));
    translator->sentences = ferry_languages_sentences(languages, translator->pair);
    const ferry_tokenizer *tokenizer = translator->model->tokenizer;
    translator->unknown_id = tokenizer != NULL ? ferry_tokenizer_target_unknown(tokenizer) : -1;
    translator->suppressed_ids = calloc(ids + 1, sizeof *translator->suppressed_ids);
    if (translator->suppressed_ids == NULL)
        return ferry_fail_memory(error, "suppressed ids", ids * sizeof *translator->suppressed_ids);
    if (ids > 0) memcpy(translator->suppressed_ids, search->suppressed_ids, ids * sizeof *translator->suppressed_ids);
    search->suppressed_ids = translator->suppressed_ids;
    const int32_t first_id = ferry_languages_first_id(languages, translator->pair);
    if (first_id >= 0 && (options->to != NULL || search->forced_first_id < 0)) search->forced_first_id = first_id;
    return FERRY_OK;
}

static ferry_status create_threads(ferry_translator *translator, ferry_error *error)
{
    const ferry_model *model = translator->model;
    const int32_t threads = translator->options.threads;
    translator->generators = calloc((size_t)threads, sizeof *translator->generators);
    if (translator->generators == NULL)
        return ferry_fail_memory(error, "threads", (size_t)threads * sizeof *translator->generators);
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
    FERRY_TRY(ferry_options_complete(&model->file, options, &complete, error));
    FERRY_TRY(ferry_options_check(&complete, &model->file, error));
    ferry_translator *created = calloc(1, sizeof *created);
    if (created == NULL) return ferry_fail_memory(error, "a translator", sizeof *created);
    created->places = 1;
    created->model = ferry_model_keep(model);
    ferry_queue_create(&created->queue, complete.options.threads);
    created->memory.limit = complete.options.memory_limit;
    ferry_status status = take_options(created, &complete.options, error);
    if (status == FERRY_OK) status = create_threads(created, error);
    if (status != FERRY_OK) {
        ferry_translator_destroy(created);
        return status;
    }
    *translator = created;
    return FERRY_OK;
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
    ferry_screen_destroy(&translator->screen);
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
    const int32_t limit = translator->model->file.transformer.decoder.position.limit;
    const int32_t length = ferry_decoding_limit(&translator->options, (int32_t)source_length);
    return limit > 0 && length > limit ? limit : length;
}
