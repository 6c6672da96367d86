#include "result.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

ferry_status ferry_result_create(size_t count, ferry_result **result, ferry_error *error)
{
    size_t bytes;
    *result = NULL;
    if (!ferry_mul_size(count, sizeof(ferry_result_line), &bytes) ||
        !ferry_add_size(bytes, sizeof(ferry_result), &bytes))
        return ferry_fail_memory(error, "results", SIZE_MAX);
    *result = calloc(1, bytes);
    if (*result == NULL) return ferry_fail_memory(error, "results", bytes);
    (*result)->count = count;
    return FERRY_OK;
}

ferry_status ferry_result_line_begin(ferry_result_line *line, size_t count, ferry_error *error)
{
    line->hypotheses = calloc(count, sizeof *line->hypotheses);
    if (line->hypotheses == NULL) return ferry_fail_memory(error, "hypotheses", count * sizeof *line->hypotheses);
    line->count = count;
    return FERRY_OK;
}

ferry_status ferry_result_line_fail(ferry_result_line *line, ferry_status why, const char *message, ferry_error *error)
{
    const size_t bytes = strlen(message) + 1;
    char *copy = malloc(bytes);
    line->outcome.status = why;
    line->outcome.error = copy;
    if (copy == NULL) return ferry_fail_memory(error, "a message", bytes);
    memcpy(copy, message, bytes);
    return FERRY_OK;
}

ferry_status ferry_result_line_warn(ferry_result_line *line, ferry_error *error, const char *format, ...)
{
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const size_t before = line->outcome.warning != NULL ? strlen(line->outcome.warning) : 0;
    const size_t bytes = before + sizeof "; " + strlen(message);
    char *grown = realloc((char *)(uintptr_t)line->outcome.warning, bytes);
    if (grown == NULL) return ferry_fail_memory(error, "a warning", bytes);
    line->outcome.warning = grown;
    snprintf(grown + before, bytes - before, "%s%s", before > 0 ? "; " : "", message);
    return FERRY_OK;
}

void ferry_result_line_move(ferry_result_line *line, ferry_result_line *from)
{
    line->hypotheses = from->hypotheses;
    line->count = from->count;
    from->hypotheses = NULL;
    from->count = 0;
}

void ferry_result_line_clear(ferry_result_line *line)
{
    for (size_t h = 0; h < line->count; h++) {
        ferry_result_hypothesis *hypothesis = &line->hypotheses[h];
        free(hypothesis->text);
        free(hypothesis->ids);
        free(hypothesis->token_scores);
        free(hypothesis->ranges);
        free(hypothesis->weights);
        free(hypothesis->blocks);
    }
    free(line->hypotheses);
    free(line->source_ids);
    free(line->source_ranges);
    free((char *)(uintptr_t)line->outcome.error);
    free((char *)(uintptr_t)line->outcome.warning);
}

ferry_status ferry_result_hypothesis_copy(ferry_result_hypothesis *hypothesis, const ferry_hypothesis *from,
                                          bool ranges, ferry_error *error)
{
    const size_t length = (size_t)from->length;
    hypothesis->score = from->score;
    hypothesis->coverage = from->coverage;
    if (length == 0) return FERRY_OK;
    hypothesis->ids = malloc(length * sizeof *hypothesis->ids);
    hypothesis->token_scores = malloc(length * sizeof *hypothesis->token_scores);
    if (ranges) hypothesis->ranges = calloc(length, sizeof *hypothesis->ranges);
    if (hypothesis->ids == NULL || hypothesis->token_scores == NULL || (ranges && hypothesis->ranges == NULL))
        return ferry_fail_memory(error, "ids and their scores",
                                 length * (sizeof(int32_t) + sizeof(float) + sizeof(ferry_range)));
    memcpy(hypothesis->ids, from->ids, length * sizeof *hypothesis->ids);
    memcpy(hypothesis->token_scores, from->token_scores, length * sizeof *hypothesis->token_scores);
    hypothesis->length = from->length;
    return FERRY_OK;
}

void ferry_result_destroy(ferry_result *result)
{
    if (result == NULL) return;
    for (size_t i = 0; i < result->count; i++) ferry_result_line_clear(&result->lines[i]);
    ferry_result_destroy(result->sentences);
    free(result->ranges);
    free(result);
}

const ferry_result_hypothesis *ferry_result_find(const ferry_result *result, size_t line, size_t hypothesis)
{
    return hypothesis < ferry_result_hypothesis_count(result, line) ? &result->lines[line].hypotheses[hypothesis]
                                                                    : NULL;
}

size_t ferry_result_count(const ferry_result *result)
{
    return result != NULL ? result->count : 0;
}

const ferry_outcome *ferry_result_outcome(const ferry_result *result, size_t line)
{
    static const ferry_outcome none = {.status = FERRY_ERROR_ARGUMENT, .error = "the result has no such line"};
    return line < ferry_result_count(result) ? &result->lines[line].outcome : &none;
}

size_t ferry_result_hypothesis_count(const ferry_result *result, size_t line)
{
    return line < ferry_result_count(result) ? result->lines[line].count : 0;
}

ferry_text ferry_result_text(const ferry_result *result, size_t line, size_t hypothesis)
{
    const ferry_result_hypothesis *found = ferry_result_find(result, line, hypothesis);
    ferry_text text = {"", 0};
    if (found != NULL && found->text != NULL) text = (ferry_text){found->text, found->size};
    return text;
}

float ferry_result_score(const ferry_result *result, size_t line, size_t hypothesis)
{
    const ferry_result_hypothesis *found = ferry_result_find(result, line, hypothesis);
    return found != NULL ? found->score : 0.0f;
}

size_t ferry_result_token_count(const ferry_result *result, size_t line, size_t hypothesis)
{
    const ferry_result_hypothesis *found = ferry_result_find(result, line, hypothesis);
    return found != NULL ? (size_t)found->length : 0;
}
