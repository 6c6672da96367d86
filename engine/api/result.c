/* Results, and the tokens of lines and hypotheses. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "job.h"

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
    free((char *)(uintptr_t)line->outcome.error);
    free((char *)(uintptr_t)line->outcome.warning);
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

ferry_status ferry_tokens_begin_weights(ferry_result_hypothesis *hypothesis, size_t source, ferry_error *error)
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

/* ---- target tokens ---- */

bool ferry_tokens_need_words(const ferry_translator *translator, const int32_t *ids, int32_t length)
{
    return translator->options.replace_unknowns != 0 &&
           ferry_ids_find(ids, (size_t)length, translator->unknown_id) < (size_t)length;
}

/* The source token with the largest of weights [part->ids.count] among those with text. It begins a word if there is
 * white space before it, or the part's beginning, and no piece of its own stands for that. */
static ferry_word word_of(const ferry_tokenizer_config *text, const ferry_part *part, const float *weights)
{
    static const char blank[] = "\xE2\x96\x81";
    const size_t size = sizeof blank - 1, count = part->ids.count;
    const ferry_range *ranges = part->ranges.ranges;
    size_t best = count;
    uint32_t before;
    for (size_t i = 0; i < count; i++)
        if (ranges[i].begin < ranges[i].end && (best == count || weights[i] > weights[best])) best = i;
    if (best == count) return (ferry_word){0};
    size_t at = ranges[best].begin;
    bool begins = at == 0 || (ferry_utf8_previous(part->text, &at, &before) && ferry_utf8_is_space(before));
    if (begins && best > 0) {
        const ferry_view piece = ferry_texts_at(text->source_pieces, (size_t)part->ids.ids[best - 1]);
        begins = piece.size < size || memcmp(piece.data + piece.size - size, blank, size) != 0;
    }
    return (ferry_word){{part->text.data + ranges[best].begin, ranges[best].end - ranges[best].begin}, begins};
}

ferry_status ferry_tokens_write_text(const ferry_translator *translator, const ferry_part *part, const float *weights,
                                     ferry_result_hypothesis *hypothesis, ferry_error *error)
{
    const ferry_model *model = translator->model;
    const size_t length = (size_t)hypothesis->length;
    const bool replaces = ferry_tokens_need_words(translator, hypothesis->ids, hypothesis->length);
    ferry_word *words = replaces ? calloc(length, sizeof *words) : NULL;
    ferry_string text = {0};
    if (replaces && words == NULL) return ferry_fail_memory(error, "unknown words", length, sizeof *words);
    for (size_t t = 0; replaces && t < length; t++)
        if (hypothesis->ids[t] == translator->unknown_id)
            words[t] = word_of(&model->file.text, part, weights + t * part->ids.count);
    ferry_status status = ferry_tokenizer_decode_ranges(model->tokenizer, hypothesis->ids, length, words, &text,
                                                        hypothesis->ranges, error);
    if (status == FERRY_OK) status = ferry_string_end(&text, error);
    hypothesis->text = text.data;
    hypothesis->size = text.size;
    free(words);
    return status;
}

/* ---- source tokens ---- */

ferry_status ferry_tokens_list(const ferry_parts *parts, const char *repaired, ferry_view line,
                               ferry_result_line *result, ferry_error *error)
{
    const char *text = repaired != NULL ? repaired : line.data;
    size_t count = 0;
    for (size_t p = 0; p < parts->count; p++) count += parts->parts[p].ids.count;
    result->source_ids = calloc(count + 1, sizeof *result->source_ids);
    result->source_ranges = calloc(count + 1, sizeof *result->source_ranges);
    if (result->source_ids == NULL || result->source_ranges == NULL)
        return ferry_fail_memory(error, "source tokens", count, sizeof *result->source_ranges);
    for (size_t p = 0; p < parts->count; p++) {
        const ferry_part *part = &parts->parts[p];
        const size_t offset = text != NULL ? (size_t)(part->text.data - text) : 0;
        for (size_t i = 0; i < part->ids.count; i++) {
            const ferry_range *range = part->ranges.count > 0 ? &part->ranges.ranges[i] : &(ferry_range){0, 0};
            result->source_ids[result->source_count] = part->ids.ids[i];
            result->source_ranges[result->source_count++] = (ferry_range){offset + range->begin, offset + range->end};
        }
    }
    if (repaired != NULL) ferry_ranges_unrepair(line, result->source_ranges, result->source_count);
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
    size_t low = 0, high = exists ? found->block_count - 1 : 0; /* where the token's block may be */
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
