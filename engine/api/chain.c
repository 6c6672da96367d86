#include "chain.h"

#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "translator.h"
#include "engine/lines/model.h"

size_t ferry_chain_length(const ferry_translator *translator)
{
    return translator->stages != NULL ? translator->stage_count : 1;
}

ferry_translator *ferry_translator_stage(const ferry_translator *translator, size_t index)
{
    if (translator == NULL || index >= ferry_chain_length(translator)) return NULL;
    return translator->stages != NULL ? translator->stages[index] : (ferry_translator *)(uintptr_t)translator;
}

ferry_status ferry_chain_refuse(const ferry_translator *translator, ferry_error *error)
{
    if (translator->stages == NULL) return FERRY_OK;
    return ferry_fail_argument(error, "translator", "expected one of one model, found one of %zu in a row",
                               translator->stage_count);
}

/* ---- making a chain ---- */

/* `terms`: of an earlier stage's glossary can come to it. */
static ferry_status check_stage(const char *name, const ferry_translator *stage, bool terms, ferry_error *error)
{
    if (atomic_load(&stage->busy)) return ferry_fail_argument(error, name, "expected none with a call in progress");
    if (stage->options.nbest > 1)
        return ferry_fail_option(error, "nbest", "expected 1 in a row of models, found %d", (int)stage->options.nbest);
    if (stage->options.alignment != 0)
        return ferry_fail_option(error, "alignment", "expected 0 in a row of models, found %d",
                                 (int)stage->options.alignment);
    if (!terms || (stage->options.sample == 0 && stage->options.alternatives == 0)) return FERRY_OK;
    return ferry_fail_option(error, stage->options.sample != 0 ? "sample" : "alternatives",
                             "expected 0 behind a translator with a glossary, found 1");
}

/* Checks the stages, and that the second translator translates from the language into which the first one
 * translates, if their models name both. */
static ferry_status check_chain(const ferry_translator *first, const ferry_translator *second, ferry_error *error)
{
    const ferry_translator *stage, *before = ferry_translator_stage(first, ferry_chain_length(first) - 1),
                                   *after = ferry_translator_stage(second, 0);
    bool terms = false;
    for (size_t i = 0; (stage = ferry_translator_stage(first, i)) != NULL; i++) {
        FERRY_TRY(check_stage("first", stage, false, error));
        terms = terms || stage->options.glossary != NULL;
    }
    for (size_t i = 0; (stage = ferry_translator_stage(second, i)) != NULL; i++)
        FERRY_TRY(check_stage("second", stage, terms, error));
    if (before->rules.pair.target < 0 || after->rules.pair.source < 0) return FERRY_OK;
    const ferry_language *into = &before->model->languages[before->rules.pair.target],
                         *from = &after->model->languages[after->rules.pair.source];
    const bool known = into->english[0] != '\0' && from->english[0] != '\0';
    if (strcmp(into->tag, from->tag) == 0 || (known && strcmp(into->english, from->english) == 0)) return FERRY_OK;
    return ferry_fail_argument(error, "second",
                               "expected one from %s, into which the first translates, found one from %s", into->tag,
                               from->tag);
}

/* Moves the stages of a translator to the chain. */
static void take_stages(ferry_translator *chain, ferry_translator *from)
{
    ferry_translator *stage;
    for (size_t i = 0; (stage = ferry_translator_stage(from, i)) != NULL; i++)
        chain->stages[chain->stage_count++] = stage;
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
    if (first == second) return ferry_fail_argument(error, "second", "expected another than the first");
    FERRY_TRY(check_chain(first, second, error));
    const size_t count = ferry_chain_length(first) + ferry_chain_length(second);
    ferry_translator *chain = calloc(1, sizeof *chain);
    ferry_translator **stages = calloc(count, sizeof *stages);
    if (chain == NULL || stages == NULL) {
        free(chain);
        free(stages);
        return ferry_fail_memory(error, "a row of models", count, sizeof *stages);
    }
    /* A new number: no cancel of an earlier job of either reaches the row. */
    const uint32_t a = atomic_load(&first->stop->word), b = atomic_load(&second->stop->word);
    atomic_store(&chain->own_stop.word, 2 * ((a > b ? a : b) / 2 + 1));
    chain->stages = stages;
    chain->stop = &chain->own_stop;
    take_stages(chain, first);
    take_stages(chain, second);
    for (size_t i = 0; i < count; i++) {
        stages[i]->stop = &chain->own_stop;
        stages[i]->place = i;
        stages[i]->places = count;
    }
    *both = chain;
    return FERRY_OK;
}

/* ---- from one stage to the next ---- */

ferry_text *ferry_chain_lines(const ferry_result *result, ferry_terms *terms, ferry_error *error)
{
    const size_t count = result->count;
    size_t all = 0;
    for (size_t i = 0; i < count; i++) all += result->lines[i].term_count;
    ferry_text *lines = malloc((count + 1) * sizeof *lines + all * sizeof(ferry_term));
    if (lines == NULL) {
        ferry_fail_memory(error, "lines", count + all, sizeof *lines);
        return NULL;
    }
    ferry_term *next = (ferry_term *)(void *)(lines + count + 1);
    *terms = (ferry_terms){next, sizeof *next, all};
    for (size_t i = 0; i < count; i++) {
        lines[i] = ferry_result_text(result, i, 0);
        for (size_t t = 0; t < result->lines[i].term_count; t++, next++) {
            *next = result->lines[i].terms[t];
            next->line = i;
        }
    }
    return lines;
}

static ferry_status fail_line(ferry_result_line *line, ferry_status why, const char *message, ferry_error *error)
{
    ferry_result_line_clear(line);
    memset(line, 0, sizeof *line);
    return ferry_result_line_fail(line, why, message, error);
}

ferry_status ferry_chain_merge(ferry_result *result, ferry_result *before, ferry_error *error)
{
    ferry_status status = FERRY_OK;
    for (size_t i = 0; before != NULL && result != NULL && status == FERRY_OK && i < result->count; i++) {
        const ferry_outcome *outcome = &before->lines[i].outcome;
        ferry_result_line *line = &result->lines[i];
        if (outcome->status != FERRY_OK) status = fail_line(line, outcome->status, outcome->error, error);
        if (line->outcome.status == FERRY_OK) line->outcome.quality |= outcome->quality;
        if (outcome->warning == NULL || status != FERRY_OK) continue;
        /* The warning of the previous stage comes first. */
        const char *own = line->outcome.warning;
        line->outcome.warning = NULL;
        status = ferry_result_line_add_warning(line, outcome->warning, error);
        if (status == FERRY_OK && own != NULL) status = ferry_result_line_add_warning(line, own, error);
        free((char *)(uintptr_t)own);
    }
    ferry_result_destroy(before);
    return status;
}

ferry_status ferry_chain_cancel(ferry_result *result, ferry_error *error)
{
    for (size_t i = 0; i < result->count; i++)
        if (result->lines[i].outcome.status == FERRY_OK)
            FERRY_TRY(fail_line(&result->lines[i], FERRY_ERROR_CANCELLED, "cancelled", error));
    return ferry_fail(error, FERRY_ERROR_CANCELLED, "cancelled: 0 of %zu lines are finished", result->count);
}

ferry_status ferry_chain_translate(const ferry_translator *chain, const ferry_call *call, ferry_result **result,
                                   ferry_error *error)
{
    ferry_status status = FERRY_OK;
    for (size_t i = 0; i < chain->stage_count && status == FERRY_OK; i++) {
        ferry_result *before = *result; /* NULL in the first stage */
        ferry_call of_stage = {.count = call->count, .progress = call->progress, .user = call->user};
        if (before == NULL) of_stage = *call;
        ferry_text *between = before != NULL ? ferry_chain_lines(before, &of_stage.terms, error) : NULL;
        if (before != NULL) of_stage.texts = between;
        of_stage.translator = chain->stages[i];
        *result = NULL;
        status = before != NULL && between == NULL ? FERRY_ERROR_MEMORY : ferry_call_run(&of_stage, result, error);
        free(between);
        if (ferry_chain_merge(*result, before, error) != FERRY_OK) status = FERRY_ERROR_MEMORY;
        if (status == FERRY_ERROR_CANCELLED && i + 1 < chain->stage_count) status = ferry_chain_cancel(*result, error);
    }
    if (status == FERRY_OK || status == FERRY_ERROR_CANCELLED) return status;
    ferry_result_destroy(*result);
    *result = NULL;
    return status;
}
