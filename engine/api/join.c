/* Results of parts become those of lines, those of sentences become a text's, and what one stage of models in a row
 * made becomes the lines of the next. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "job.h"

static void append(ferry_result_hypothesis *joined, const char *data, size_t size)
{
    if (size > 0) memcpy(joined->text + joined->size, data, size);
    joined->size += size;
}

/* ---- parts of a line ---- */

static const ferry_result_hypothesis *hypothesis_of(const ferry_part *part, size_t k)
{
    return &part->result.hypotheses[k < part->result.count ? k : part->result.count - 1];
}

static ferry_status allocate(const ferry_parts *parts, bool aligned, size_t k, ferry_result_hypothesis *joined,
                             ferry_error *error)
{
    size_t text = 1, tokens = 1, weights = 1; /* as malloc(0) may return NULL */
    for (size_t i = 0; i < parts->count; i++) {
        const ferry_result_hypothesis *from = hypothesis_of(&parts->parts[i], k);
        text += parts->parts[i].separator.size + from->size;
        tokens += (size_t)from->length;
        weights += (size_t)from->length * parts->parts[i].ids.count;
    }
    if (tokens > INT32_MAX) return ferry_fail_memory(error, "the tokens of a line", tokens, sizeof *joined->ids);
    joined->text = malloc(text);
    joined->ids = malloc(tokens * sizeof *joined->ids);
    joined->token_scores = malloc(tokens * sizeof *joined->token_scores);
    if (joined->text == NULL || joined->ids == NULL || joined->token_scores == NULL)
        return ferry_fail_memory(error, "a line in parts", text + tokens * (sizeof(int32_t) + sizeof(float)), 1);
    if (!aligned) return FERRY_OK;
    joined->ranges = malloc(tokens * sizeof *joined->ranges);
    joined->weights = malloc(weights * sizeof *joined->weights);
    joined->blocks = malloc(parts->count * sizeof *joined->blocks);
    if (joined->ranges != NULL && joined->weights != NULL && joined->blocks != NULL) return FERRY_OK;
    return ferry_fail_memory(error, "tokens of a line in parts", weights, sizeof *joined->weights);
}

/* Hypothesis k of the line. The score leaves out the tokens of the line's prefix that do not count. */
static ferry_status join_hypotheses(const ferry_parts *parts, const ferry_options *options, size_t k,
                                    ferry_result_hypothesis *joined, ferry_error *error)
{
    const bool aligned = options->alignment != 0;
    double sum = 0;
    float coverage = 0;
    size_t first = 0; /* of the part's source tokens */
    int32_t uncounted = 0;
    FERRY_TRY(allocate(parts, aligned, k, joined, error));
    float *weights = joined->weights;
    for (size_t i = 0; i < parts->count; i++) {
        const ferry_part *part = &parts->parts[i];
        const ferry_result_hypothesis *from = hypothesis_of(part, k);
        const size_t length = (size_t)from->length, source = part->ids.count, begin = (size_t)joined->length;
        append(joined, part->separator.data, part->separator.size);
        for (size_t t = 0; aligned && t < length; t++)
            joined->ranges[begin + t] =
                (ferry_range){joined->size + from->ranges[t].begin, joined->size + from->ranges[t].end};
        if (aligned && length > 0) {
            memcpy(weights, from->weights, length * source * sizeof *weights);
            joined->blocks[joined->block_count++] =
                (ferry_result_block){.end = begin + length, .first = first, .count = source, .weights = weights};
            weights += length * source;
        }
        append(joined, from->text, from->size);
        first += source;
        coverage += from->coverage;
        uncounted += ferry_search_uncounted(options, (int32_t)part->prefix.count);
        for (int32_t t = 0; t < from->length; t++) {
            sum += (double)from->token_scores[t];
            joined->ids[joined->length] = from->ids[t];
            joined->token_scores[joined->length++] = from->token_scores[t];
        }
    }
    joined->text[joined->size] = '\0';
    if (options->scores != 0)
        joined->score = ferry_decoding_score(options, (float)sum, joined->length - uncounted) + coverage;
    return FERRY_OK;
}

ferry_status ferry_parts_join(const ferry_parts *parts, const ferry_translator *translator, ferry_result_line *line,
                              ferry_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < parts->count; i++) {
        const ferry_result_line *part = &parts->parts[i].result;
        if (part->outcome.error != NULL)
            return ferry_result_line_fail(line, part->outcome.status, part->outcome.error, error);
        if (part->count > count) count = part->count;
    }
    FERRY_TRY(ferry_parts_warn(parts, translator, line, error));
    if (parts->count == 1) {
        ferry_result_line *only = &parts->parts[0].result;
        line->hypotheses = only->hypotheses;
        line->count = only->count;
        only->hypotheses = NULL;
        only->count = 0;
        return FERRY_OK;
    }
    FERRY_TRY(ferry_result_line_begin(line, count, error));
    for (size_t k = 0; k < count; k++)
        FERRY_TRY(join_hypotheses(parts, &translator->options, k, &line->hypotheses[k], error));
    return FERRY_OK;
}

/* ---- sentences of a text ---- */

static ferry_status join_sentences(ferry_text text, const ferry_text_lines *list, ferry_result *result,
                                   ferry_error *error)
{
    const ferry_result *sentences = result->sentences;
    ferry_result_line *line = &result->lines[0];
    size_t size = text.size + 1, at = 0, failed = 0, warned = 0;
    bool fits = true;
    FERRY_TRY(ferry_result_line_begin(line, 1, error));
    ferry_result_hypothesis *whole = line->hypotheses;
    result->ranges = calloc(list->count + 1, sizeof *result->ranges);
    if (result->ranges == NULL) return ferry_fail_memory(error, "ranges", list->count, sizeof *result->ranges);
    for (size_t i = 0; i < list->count; i++) {
        const ferry_outcome *outcome = &sentences->lines[i].outcome;
        const bool translated = outcome->status == FERRY_OK;
        /* What could not be translated may triple when it is repaired. */
        const size_t more = translated ? ferry_result_text(sentences, i, 0).size : 2 * list->texts[i].size;
        fits = fits && ferry_add_size(size, more, &size);
        failed += !translated;
        warned += outcome->warning != NULL;
        line->outcome.quality |= outcome->quality;
        if (!translated && line->outcome.error == NULL)
            FERRY_TRY(ferry_result_line_fail(line, outcome->status, outcome->error, error));
    }
    whole->text = fits ? malloc(size) : NULL;
    if (whole->text == NULL) return ferry_fail_memory(error, "a translated text", size, 1);
    for (size_t i = 0; i < list->count; i++) {
        const ferry_view source = {list->texts[i].data, list->texts[i].size};
        const ferry_text target = ferry_result_text(sentences, i, 0);
        ferry_sentence *range = &result->ranges[i];
        range->source_begin = (size_t)(source.data - text.data);
        range->source_end = range->source_begin + source.size;
        append(whole, text.data + at, range->source_begin - at);
        range->target_begin = whole->size;
        if (sentences->lines[i].outcome.status == FERRY_OK)
            append(whole, target.data, target.size);
        else
            whole->size += ferry_utf8_repair(source, whole->text + whole->size);
        range->target_end = whole->size;
        at = range->source_end;
    }
    append(whole, text.data + at, text.size - at);
    whole->text[whole->size] = '\0';
    if (failed > 0)
        FERRY_TRY(ferry_result_line_warn(line, error, "sentences that are not translated: %zu of %zu", failed,
                                         sentences->count));
    return warned > 0 ? ferry_result_line_warn(line, error, "sentences with warnings: %zu", warned) : FERRY_OK;
}

ferry_status ferry_text_join(ferry_text text, const ferry_text_lines *lines, ferry_status status,
                             ferry_result *sentences, ferry_result **result, ferry_error *error)
{
    ferry_result *created;
    size_t done = 0;
    if (ferry_result_create(1, &created, error) != FERRY_OK) {
        ferry_result_destroy(sentences);
        return FERRY_ERROR_MEMORY;
    }
    created->sentences = sentences;
    if (join_sentences(text, lines, created, error) != FERRY_OK) {
        ferry_result_destroy(created);
        return FERRY_ERROR_MEMORY;
    }
    *result = created;
    if (status != FERRY_ERROR_CANCELLED) return FERRY_OK;
    for (size_t i = 0; i < sentences->count; i++) done += sentences->lines[i].outcome.status != FERRY_ERROR_CANCELLED;
    return ferry_fail(error, FERRY_ERROR_CANCELLED, "cancelled: %zu of %zu sentences are finished", done,
                      sentences->count);
}

/* ---- models in a row ---- */

ferry_text *ferry_row_lines(const ferry_result *result, ferry_error *error)
{
    ferry_text *lines = calloc(result->count + 1, sizeof *lines);
    if (lines == NULL) ferry_fail_memory(error, "lines", result->count, sizeof *lines);
    for (size_t i = 0; lines != NULL && i < result->count; i++) lines[i] = ferry_result_text(result, i, 0);
    return lines;
}

static ferry_status fail_line(ferry_result_line *line, ferry_status why, const char *message, ferry_error *error)
{
    ferry_result_line_clear(line);
    memset(line, 0, sizeof *line);
    return ferry_result_line_fail(line, why, message, error);
}

ferry_status ferry_row_merge(ferry_result *result, ferry_result *before, ferry_error *error)
{
    ferry_status status = FERRY_OK;
    for (size_t i = 0; before != NULL && result != NULL && status == FERRY_OK && i < result->count; i++) {
        const ferry_outcome *outcome = &before->lines[i].outcome;
        ferry_result_line *line = &result->lines[i];
        if (outcome->status != FERRY_OK) status = fail_line(line, outcome->status, outcome->error, error);
        if (line->outcome.status == FERRY_OK) line->outcome.quality |= outcome->quality;
        if (outcome->warning == NULL || status != FERRY_OK) continue;
        /* The warning of the stage before comes first. */
        const char *own = line->outcome.warning;
        line->outcome.warning = NULL;
        status = ferry_result_line_add_warning(line, outcome->warning, error);
        if (status == FERRY_OK && own != NULL) status = ferry_result_line_add_warning(line, own, error);
        free((char *)(uintptr_t)own);
    }
    ferry_result_destroy(before);
    return status;
}

ferry_status ferry_row_cancel(ferry_result *result, ferry_error *error)
{
    for (size_t i = 0; i < result->count; i++)
        if (result->lines[i].outcome.status == FERRY_OK)
            FERRY_TRY(fail_line(&result->lines[i], FERRY_ERROR_CANCELLED, "cancelled", error));
    return ferry_fail(error, FERRY_ERROR_CANCELLED, "cancelled: 0 of %zu lines are finished", result->count);
}
