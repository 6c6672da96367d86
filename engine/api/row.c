#include "row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument_checks.h"
#include "job.h"

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

/* ---- making a row ---- */

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
static ferry_status check_languages(const ferry_translator *before, const ferry_translator *after, ferry_error *error)
{
    if (before->pair.target < 0 || after->pair.source < 0) return FERRY_OK;
    const ferry_language *into = &before->model->languages.list[before->pair.target],
                         *from = &after->model->languages.list[after->pair.source];
    const bool known = into->english[0] != '\0' && from->english[0] != '\0';
    if (strcmp(into->tag, from->tag) == 0 || (known && strcmp(into->english, from->english) == 0)) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT,
                      "second: expected one from %s, into which the first translates, found one from %s", into->tag,
                      from->tag);
}

static ferry_status check_row(const ferry_translator *first, const ferry_translator *second, ferry_error *error)
{
    const ferry_translator *stage;
    for (size_t i = 0; (stage = ferry_translator_stage(first, i)) != NULL; i++)
        FERRY_TRY(check_stage("first", stage, error));
    for (size_t i = 0; (stage = ferry_translator_stage(second, i)) != NULL; i++)
        FERRY_TRY(check_stage("second", stage, error));
    return check_languages(ferry_translator_stage(first, ferry_translator_stage_count(first) - 1),
                           ferry_translator_stage(second, 0), error);
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
        return ferry_fail_memory(error, "a row of models", count * sizeof *stages);
    }
    row->stages = stages;
    take_stages(row, first);
    take_stages(row, second);
    for (size_t i = 0; i < count; i++) {
        stages[i]->place = i;
        stages[i]->places = count;
    }
    *both = row;
    return FERRY_OK;
}

/* ---- from stage to stage ---- */

ferry_text *ferry_row_lines(const ferry_result *result, ferry_error *error)
{
    ferry_text *lines = calloc(result->count + 1, sizeof *lines);
    if (lines == NULL) ferry_fail_memory(error, "lines", result->count * sizeof *lines);
    for (size_t i = 0; lines != NULL && i < result->count; i++) lines[i] = ferry_result_text(result, i, 0);
    return lines;
}

/* The warning of the stage before comes first. */
static ferry_status merge_warnings(ferry_outcome *outcome, const char *before, ferry_error *error)
{
    const char *own = outcome->warning != NULL ? outcome->warning : "";
    const size_t bytes = strlen(before) + sizeof "; " + strlen(own);
    char *both = malloc(bytes);
    if (both == NULL) return ferry_fail_memory(error, "a message", bytes);
    snprintf(both, bytes, "%s%s%s", before, own[0] != '\0' ? "; " : "", own);
    free((char *)(uintptr_t)outcome->warning);
    outcome->warning = both;
    return FERRY_OK;
}

static ferry_status fail_line(ferry_result_line *line, ferry_status why, const char *message, ferry_error *error)
{
    ferry_result_line_clear(line);
    memset(line, 0, sizeof *line);
    return ferry_result_line_fail(line, why, message, error);
}

ferry_status ferry_row_merge(ferry_result *result, const ferry_result *before, ferry_error *error)
{
    for (size_t i = 0; i < result->count; i++) {
        const ferry_outcome *outcome = &before->lines[i].outcome;
        ferry_result_line *line = &result->lines[i];
        if (outcome->status != FERRY_OK) FERRY_TRY(fail_line(line, outcome->status, outcome->error, error));
        if (line->outcome.status == FERRY_OK) line->outcome.quality |= outcome->quality;
        if (outcome->warning != NULL) FERRY_TRY(merge_warnings(&line->outcome, outcome->warning, error));
    }
    return FERRY_OK;
}

ferry_status ferry_row_cancel(ferry_result *result, ferry_error *error)
{
    for (size_t i = 0; i < result->count; i++)
        if (result->lines[i].outcome.status == FERRY_OK)
            FERRY_TRY(fail_line(&result->lines[i], FERRY_ERROR_CANCELLED, "cancelled", error));
    return ferry_fail(error, FERRY_ERROR_CANCELLED, "cancelled: 0 of %zu lines are finished", result->count);
}

/* Gives the translations of `before`, which is released, to the next stage. */
static ferry_status translate_again(ferry_translator *stage, ferry_result *before, ferry_result **result,
                                    ferry_error *error)
{
    ferry_text *lines = ferry_row_lines(before, error);
    ferry_status status = lines != NULL ? FERRY_OK : FERRY_ERROR_MEMORY;
    *result = NULL;
    if (status == FERRY_OK) status = ferry_job_translate(stage, lines, NULL, before->count, result, error);
    if (*result != NULL && ferry_row_merge(*result, before, error) != FERRY_OK) {
        ferry_result_destroy(*result);
        *result = NULL;
        status = FERRY_ERROR_MEMORY;
    }
    ferry_result_destroy(before);
    free(lines);
    return status;
}

ferry_status ferry_row_translate(ferry_translator *translator, const ferry_text *texts, size_t count,
                                 ferry_result **result, ferry_error *error)
{
    ferry_translator *stage = ferry_translator_stage(translator, 0);
    ferry_status status = ferry_job_translate(stage, texts, NULL, count, result, error);
    for (size_t i = 1; i < ferry_translator_stage_count(translator); i++) {
        if (status == FERRY_ERROR_CANCELLED) return ferry_row_cancel(*result, error);
        if (status != FERRY_OK) return status;
        status = translate_again(ferry_translator_stage(translator, i), *result, result, error);
    }
    return status;
}
