#include "join.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/search/search.h"
#include "engine/search/decoding.h"
#include "line.h"

static void append(ferry_result_hypothesis *joined, const char *data, size_t size)
{
    if (size > 0) memcpy(joined->text + joined->size, data, size);
    joined->size += size;
}

/* ---- warnings ---- */

static ferry_short_text lacking(const ferry_part *part)
{
    const ferry_part_term *term = &part->terms[part->quality.term];
    const ferry_view target =
        term->piece.size > 0 ? term->piece : (ferry_view){term->term.targets[0].data, term->term.targets[0].size};
    return ferry_format("lacks the term '%s'", ferry_printable_view(target).text);
}

/* The text of a warning about a part's translation. `kind`: a flag of ferry_quality; 0: the translation replaces
 * another one. */
static ferry_short_text words_of(const ferry_part *part, int kind)
{
    const ferry_quality_signs *quality = &part->quality;
    ferry_short_text source = {""};
    switch (kind) {
    case FERRY_QUALITY_CUT: return ferry_format("ended at max_length %d", (int)quality->limit);
    case FERRY_QUALITY_LOOP:
        if (quality->loop.length == 1)
            return ferry_format("repeats itself: the same token %zu times in a row", quality->loop.times);
        return ferry_format("repeats itself: the same %zu tokens %zu times in a row", quality->loop.length,
                            quality->loop.times);
    case FERRY_QUALITY_UNKNOWN:
        if (part->ids.count == 0) return ferry_format("is the text itself: the model knows none of its characters");
        if (part->unknowns > 0)
            source = ferry_format("is of a text with unknown tokens: %zu, the first '%s'", part->unknowns,
                                  ferry_printable_view(part->first_unknown).text);
        if (quality->unknowns == 0) return source;
        return ferry_format("%s%shas unknown words: %zu; option replace_unknowns puts the source's in their place",
                            source.text, part->unknowns > 0 ? "; it " : "", quality->unknowns);
    case FERRY_QUALITY_TERM: return lacking(part);
    case FERRY_QUALITY_SHORT:
        if (quality->blank) return ferry_format("is blank");
        return ferry_format("has %d tokens, the source %zu", (int)part->result.hypotheses[0].length, part->ids.count);
    case FERRY_QUALITY_NUMBER: {
        const ferry_printable lost = ferry_printable_view(quality->numbers.source),
                              made = ferry_printable_view(quality->numbers.translation);
        if (quality->numbers.translation.size == 0) return ferry_format("lacks the number %s", lost.text);
        if (quality->numbers.source.size == 0)
            return ferry_format("has the number %s, which the source lacks", made.text);
        return ferry_format("has %s where the source has %s", made.text, lost.text);
    }
    default: return ferry_format("replaces one that %s", part->retried ? "repeated itself" : "had other numbers");
    }
}

/* Adds the quality flags of the parts, and a warning for each flag. Adds a warning if the line was split without a
 * request, or within a sentence. */
static ferry_status add_warnings(const ferry_parts *parts, const ferry_line_rules *rules, ferry_result_line *line,
                                 ferry_error *error)
{
    static const int kinds[] = {FERRY_QUALITY_CUT,
                                FERRY_QUALITY_LOOP,
                                FERRY_QUALITY_SHORT,
                                FERRY_QUALITY_UNKNOWN,
                                FERRY_QUALITY_NUMBER,
                                FERRY_QUALITY_TERM,
                                0};
    bool cut = rules->options->split == FERRY_SPLIT_NONE;
    size_t tokens = 0;
    for (size_t i = 0; i < parts->count; i++) {
        tokens += parts->parts[i].ids.count;
        cut = cut || parts->parts[i].cut;
    }
    if (parts->count > 1 && cut)
        FERRY_TRY(ferry_result_line_warn(line, error, "split into %zu parts: %zu source tokens, max_source is %d",
                                         parts->count, tokens, (int)rules->source_limit));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t count = 0, first = 0;
        for (size_t i = 0; i < parts->count; i++) {
            const ferry_part *part = &parts->parts[i];
            const bool has = kinds[k] != 0 ? (part->quality.flags & kinds[k]) != 0 : part->replaced;
            if (has && count++ == 0) first = i;
        }
        if (count == 0) continue;
        const ferry_short_text words = words_of(&parts->parts[first], kinds[k]);
        line->outcome.quality |= kinds[k];
        FERRY_TRY(parts->count == 1
                      ? ferry_result_line_warn(line, error, "the translation %s", words.text)
                      : ferry_result_line_warn(line, error, "the translation of part %zu %s (of all parts: %zu)",
                                               first + 1, words.text, count));
    }
    return FERRY_OK;
}

/* ---- parts of a line ---- */

static const ferry_result_hypothesis *hypothesis_of(const ferry_part *part, size_t k)
{
    return &part->result.hypotheses[k < part->result.count ? k : part->result.count - 1];
}

static ferry_status allocate(const ferry_parts *parts, bool aligned, size_t k, ferry_result_hypothesis *joined,
                             ferry_error *error)
{
    size_t text = 1, tokens = 1, weights = 1; /* not 0, because malloc(0) may return NULL */
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

/* Joins hypotheses k of the parts. The score leaves out tokens of the prefix that do not count
 * (ferry_search_uncounted). */
static ferry_status join_hypotheses(const ferry_parts *parts, const ferry_options *options, size_t k,
                                    ferry_result_hypothesis *joined, ferry_error *error)
{
    const bool aligned = options->alignment != 0;
    double sum = 0;
    float coverage = 0;
    size_t first = 0; /* the part's first source token */
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

/* The terms for the next model. */
static ferry_status join_terms(const ferry_parts *parts, ferry_result_line *line, ferry_error *error)
{
    size_t count = 0, offset = 0;
    for (size_t i = 0; i < parts->count; i++) count += parts->parts[i].result.term_count;
    if (count == 0) return FERRY_OK;
    line->terms = calloc(count, sizeof *line->terms);
    if (line->terms == NULL) return ferry_fail_memory(error, "terms", count, sizeof *line->terms);
    for (size_t i = 0; i < parts->count; i++) {
        const ferry_result_line *from = &parts->parts[i].result;
        offset += parts->parts[i].separator.size;
        for (size_t t = 0; t < from->term_count; t++) {
            ferry_term *term = &line->terms[line->term_count++];
            *term = from->terms[t];
            term->begin += offset;
            term->end += offset;
        }
        offset += from->hypotheses[0].size;
    }
    return FERRY_OK;
}

static ferry_status join_parts(const ferry_parts *parts, const ferry_line_rules *rules, ferry_result_line *line,
                               ferry_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < parts->count; i++) {
        const ferry_result_line *part = &parts->parts[i].result;
        if (part->outcome.error != NULL)
            return ferry_result_line_fail(line, part->outcome.status, part->outcome.error, error);
        if (part->count > count) count = part->count;
    }
    FERRY_TRY(add_warnings(parts, rules, line, error));
    if (parts->count == 1) {
        ferry_result_line *only = &parts->parts[0].result;
        line->hypotheses = only->hypotheses;
        line->count = only->count;
        line->terms = only->terms;
        line->term_count = only->term_count;
        only->hypotheses = NULL;
        only->terms = NULL;
        only->count = 0;
        return FERRY_OK;
    }
    FERRY_TRY(ferry_result_line_begin(line, count, error));
    FERRY_TRY(join_terms(parts, line, error));
    for (size_t k = 0; k < count; k++)
        FERRY_TRY(join_hypotheses(parts, rules->options, k, &line->hypotheses[k], error));
    return FERRY_OK;
}

/* Sets the source tokens of the result to the ids of the parts, with ranges in `given`. The parts point into
 * line->repaired if the line was repaired, else into `given`. given.data NULL: the line came as ids. */
static ferry_status list_tokens(const ferry_line *line, ferry_text given, ferry_result_line *result, ferry_error *error)
{
    const ferry_parts *parts = &line->parts;
    const char *text = ferry_line_shown(line, given);
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
    ferry_line_terms_unshow(&line->terms, result->source_ranges, result->source_count);
    if (line->repaired != NULL)
        ferry_ranges_unrepair((ferry_view){given.data, given.size}, result->source_ranges, result->source_count);
    return FERRY_OK;
}

ferry_status ferry_line_join(const ferry_line *line, const ferry_line_rules *rules, ferry_text text, bool tokens,
                             ferry_result_line *result, ferry_error *error)
{
    FERRY_TRY(join_parts(&line->parts, rules, result, error));
    return tokens && result->outcome.status == FERRY_OK ? list_tokens(line, text, result, error) : FERRY_OK;
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
        /* Replacing ill-formed bytes by U+FFFD can triple the size of an untranslated sentence. */
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
