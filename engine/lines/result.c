#include "result.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "tokenizer/tokenizer.h"

/* ---- lines ---- */

ferry_status ferry_result_create(size_t count, ferry_result **result, ferry_error *error)
{
    size_t bytes;
    *result = NULL;
    if (!ferry_mul_size(count, sizeof(ferry_result_line), &bytes) ||
        !ferry_add_size(bytes, sizeof(ferry_result), &bytes))
        return ferry_fail_memory(error, "results", SIZE_MAX, 1);
    *result = calloc(1, bytes);
    if (*result == NULL) return ferry_fail_memory(error, "results", bytes, 1);
    (*result)->count = count;
    return FERRY_OK;
}

ferry_status ferry_result_line_begin(ferry_result_line *line, size_t count, ferry_error *error)
{
    line->hypotheses = calloc(count, sizeof *line->hypotheses);
    if (line->hypotheses == NULL) return ferry_fail_memory(error, "hypotheses", count, sizeof *line->hypotheses);
    line->count = count;
    return FERRY_OK;
}

ferry_status ferry_result_line_copy(ferry_result_line *line, ferry_view text, ferry_error *error)
{
    FERRY_TRY(ferry_result_line_begin(line, 1, error));
    ferry_result_hypothesis *hypothesis = &line->hypotheses[0];
    hypothesis->text = calloc(text.size + 1, 1);
    if (hypothesis->text == NULL) return ferry_fail_memory(error, "a line", text.size, 1);
    if (text.size > 0) memcpy(hypothesis->text, text.data, text.size);
    hypothesis->size = text.size;
    return FERRY_OK;
}

ferry_status ferry_result_line_fail(ferry_result_line *line, ferry_status why, const char *message, ferry_error *error)
{
    const size_t bytes = strlen(message) + 1;
    char *copy = malloc(bytes);
    line->outcome.status = why;
    line->outcome.error = copy;
    if (copy == NULL) return ferry_fail_memory(error, "a message", bytes, 1);
    memcpy(copy, message, bytes);
    return FERRY_OK;
}

ferry_status ferry_result_line_add_warning(ferry_result_line *line, const char *message, ferry_error *error)
{
    const size_t before = line->outcome.warning != NULL ? strlen(line->outcome.warning) : 0;
    const size_t bytes = before + sizeof "; " + strlen(message);
    char *grown = realloc((char *)(uintptr_t)line->outcome.warning, bytes);
    if (grown == NULL) return ferry_fail_memory(error, "a warning", bytes, 1);
    line->outcome.warning = grown;
    snprintf(grown + before, bytes - before, "%s%s", before > 0 ? "; " : "", message);
    return FERRY_OK;
}

ferry_status ferry_result_line_warn(ferry_result_line *line, ferry_error *error, const char *format, ...)
{
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return ferry_result_line_add_warning(line, message, error);
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
    free(line->terms);
    free((char *)(uintptr_t)line->outcome.error);
    free((char *)(uintptr_t)line->outcome.warning);
}

size_t ferry_result_line_bytes(const ferry_result_line *line)
{
    size_t bytes = line->source_count * (sizeof *line->source_ids + sizeof *line->source_ranges) +
                   line->term_count * sizeof *line->terms;
    for (size_t h = 0; h < line->count; h++) {
        const ferry_result_hypothesis *from = &line->hypotheses[h];
        const size_t range = from->ranges != NULL ? sizeof *from->ranges : 0;
        bytes +=
            sizeof *from + from->size + (size_t)from->length * (sizeof *from->ids + sizeof *from->token_scores + range);
        for (size_t b = 0, begin = 0; b < from->block_count; begin = from->blocks[b++].end)
            bytes += (from->blocks[b].end - begin) * from->blocks[b].count * sizeof(float);
    }
    return bytes;
}

void ferry_result_destroy(ferry_result *result)
{
    if (result == NULL) return;
    for (size_t i = 0; i < result->count; i++) ferry_result_line_clear(&result->lines[i]);
    ferry_result_destroy(result->sentences);
    free(result->ranges);
    free(result);
}

/* ---- weights ---- */

ferry_status ferry_result_begin_weights(ferry_result_hypothesis *hypothesis, size_t source, ferry_error *error)
{
    const size_t length = (size_t)hypothesis->length;
    size_t bytes;
    if (length == 0) return FERRY_OK;
    const bool fits = ferry_mul_size(length, source, &bytes) && ferry_mul_size(bytes, sizeof(float), &bytes);
    hypothesis->weights = fits ? malloc(bytes) : NULL;
    hypothesis->blocks = malloc(sizeof *hypothesis->blocks);
    if (hypothesis->weights == NULL || hypothesis->blocks == NULL)
        return ferry_fail_memory(error, "weights of tokens", bytes, 1);
    hypothesis->blocks[0] = (ferry_result_block){.end = length, .count = source, .weights = hypothesis->weights};
    hypothesis->block_count = 1;
    return FERRY_OK;
}

/* ---- what the caller sees ---- */

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

size_t ferry_result_source_token_count(const ferry_result *result, size_t line)
{
    return line < ferry_result_count(result) ? result->lines[line].source_count : 0;
}

const ferry_term *ferry_result_term(const ferry_result *result, size_t line, size_t index)
{
    if (line >= ferry_result_count(result) || index >= result->lines[line].term_count) return NULL;
    return &result->lines[line].terms[index];
}

ferry_status ferry_result_source_token(const ferry_result *result, size_t line, size_t index, ferry_token *token,
                                       size_t size)
{
    if (token == NULL || index >= ferry_result_source_token_count(result, line)) return FERRY_ERROR_ARGUMENT;
    const ferry_result_line *found = &result->lines[line];
    const ferry_range *range = &found->source_ranges[index];
    const ferry_token known = {.id = found->source_ids[index], .begin = range->begin, .end = range->end};
    ferry_copy_struct(token, size, &known, sizeof known);
    return FERRY_OK;
}

ferry_status ferry_result_token(const ferry_result *result, size_t line, size_t hypothesis, size_t index,
                                ferry_token *token, size_t size)
{
    const ferry_result_hypothesis *found = ferry_result_find(result, line, hypothesis);
    if (token == NULL || found == NULL || found->ranges == NULL || index >= (size_t)found->length)
        return FERRY_ERROR_ARGUMENT;
    const ferry_range *range = &found->ranges[index];
    const ferry_token known = {found->ids[index], found->token_scores[index], range->begin, range->end};
    ferry_copy_struct(token, size, &known, sizeof known);
    return FERRY_OK;
}

const float *ferry_result_weights(const ferry_result *result, size_t line, size_t hypothesis, size_t token,
                                  size_t *first, size_t *count)
{
    const ferry_result_hypothesis *found = ferry_result_find(result, line, hypothesis);
    const bool exists = found != NULL && found->weights != NULL && token < (size_t)found->length;
    size_t low = 0, high = exists ? found->block_count - 1 : 0; /* where the token's block can be */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (found->blocks[middle].end <= token)
            low = middle + 1;
        else
            high = middle;
    }
    const ferry_result_block *block = exists ? &found->blocks[low] : NULL;
    if (first != NULL) *first = exists ? block->first : 0;
    if (count != NULL) *count = exists ? block->count : 0;
    return exists ? block->weights + (token - (low > 0 ? block[-1].end : 0)) * block->count : NULL;
}

size_t ferry_result_sentence_count(const ferry_result *result)
{
    return result != NULL ? ferry_result_count(result->sentences) : 0;
}

const ferry_result *ferry_result_sentences(const ferry_result *result)
{
    return result != NULL ? result->sentences : NULL;
}

const ferry_sentence *ferry_result_sentence(const ferry_result *result, size_t index)
{
    return index < ferry_result_sentence_count(result) ? &result->ranges[index] : NULL;
}
