#include "tokens.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

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
        return ferry_fail_memory(error, "weights of tokens", bytes);
    hypothesis->blocks[0] = (ferry_result_block){.end = length, .count = source, .weights = hypothesis->weights};
    hypothesis->block_count = 1;
    return FERRY_OK;
}

ferry_status ferry_tokens_take_weights(ferry_result_line *line, size_t source, const float *const *weights,
                                       ferry_error *error)
{
    for (size_t i = 0; i < line->count; i++) {
        ferry_result_hypothesis *hypothesis = &line->hypotheses[i];
        const size_t floats = (size_t)hypothesis->length * source;
        FERRY_TRY(ferry_tokens_begin_weights(hypothesis, source, error));
        if (floats > 0) memcpy(hypothesis->weights, weights[i], floats * sizeof *hypothesis->weights);
    }
    return FERRY_OK;
}

void ferry_tokens_drop_weights(ferry_result_line *line)
{
    for (size_t i = 0; i < line->count; i++) {
        ferry_result_hypothesis *hypothesis = &line->hypotheses[i];
        free(hypothesis->weights);
        free(hypothesis->blocks);
        hypothesis->weights = NULL;
        hypothesis->blocks = NULL;
        hypothesis->block_count = 0;
    }
}

/* ---- target tokens ---- */

/* That is to be replaced. */
static bool has_unknown(const ferry_translator *translator, const int32_t *ids, int32_t length)
{
    for (int32_t t = 0; translator->options.replace_unknowns != 0 && t < length; t++)
        if (ids[t] == translator->unknown_id) return true;
    return false;
}

bool ferry_tokens_need_words(const ferry_translator *translator, const ferry_search *search)
{
    for (int32_t i = 0; i < ferry_search_count(search); i++) {
        const ferry_hypothesis hypothesis = ferry_search_hypothesis(search, i);
        if (has_unknown(translator, hypothesis.ids, hypothesis.length)) return true;
    }
    return false;
}

/* Whether source token `index` begins a word: there is white space before it, or the part's beginning, and no piece of
 * its own stands for that. */
static bool begins_word(const ferry_model_text *text, const ferry_part *part, size_t index)
{
    static const char blank[] = "\xE2\x96\x81";
    const size_t size = sizeof blank - 1;
    size_t at = part->ranges.ranges[index].begin;
    uint32_t before;
    const bool spaced = at == 0 || (ferry_utf8_previous(part->text, &at, &before) && ferry_utf8_is_space(before));
    if (!spaced || index == 0) return spaced;
    const ferry_view piece = ferry_texts_at(text->source_pieces, (size_t)part->ids.ids[index - 1]);
    return piece.size < size || memcmp(piece.data + piece.size - size, blank, size) != 0;
}

/* The source token with the largest of weights [part->ids.count] among those with text. */
static ferry_word word_of(const ferry_model_text *text, const ferry_part *part, const float *weights)
{
    const ferry_range *ranges = part->ranges.ranges;
    size_t best = part->ids.count;
    for (size_t i = 0; i < part->ids.count; i++)
        if (ranges[i].begin < ranges[i].end && (best == part->ids.count || weights[i] > weights[best])) best = i;
    if (best == part->ids.count) return (ferry_word){0};
    return (ferry_word){{part->text.data + ranges[best].begin, ranges[best].end - ranges[best].begin},
                        begins_word(text, part, best)};
}

ferry_status ferry_tokens_write_text(const ferry_translator *translator, const ferry_part *part,
                                     ferry_result_hypothesis *hypothesis, ferry_error *error)
{
    const ferry_model *model = translator->model;
    const size_t length = (size_t)hypothesis->length, source = part->ids.count;
    const bool replaces = has_unknown(translator, hypothesis->ids, hypothesis->length);
    ferry_word *words = replaces ? calloc(length, sizeof *words) : NULL;
    ferry_string text = {0};
    if (replaces && words == NULL) return ferry_fail_memory(error, "unknown words", length * sizeof *words);
    for (size_t t = 0; replaces && t < length; t++)
        if (hypothesis->ids[t] == translator->unknown_id)
            words[t] = word_of(&model->file.text, part, hypothesis->weights + t * source);
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
        return ferry_fail_memory(error, "source tokens", count * sizeof *result->source_ranges);
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

/* The block of a token, which exists. */
static const ferry_result_block *find_block(const ferry_result_hypothesis *hypothesis, size_t token, size_t *row)
{
    size_t low = 0, high = hypothesis->block_count - 1;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (hypothesis->blocks[middle].end <= token)
            low = middle + 1;
        else
            high = middle;
    }
    *row = token - (low > 0 ? hypothesis->blocks[low - 1].end : 0);
    return &hypothesis->blocks[low];
}

const float *ferry_result_weights(const ferry_result *result, size_t line, size_t hypothesis, size_t token,
                                  size_t *first, size_t *count)
{
    const ferry_result_hypothesis *found = ferry_result_find(result, line, hypothesis);
    size_t row = 0;
    const bool exists = found != NULL && found->weights != NULL && token < (size_t)found->length;
    const ferry_result_block *block = exists ? find_block(found, token, &row) : NULL;
    if (first != NULL) *first = exists ? block->first : 0;
    if (count != NULL) *count = exists ? block->count : 0;
    return exists ? block->weights + row * block->count : NULL;
}
