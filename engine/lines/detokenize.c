#include "detokenize.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "model.h"
#include "engine/search/decoding.h"
#include "engine/search/search.h"
#include "term_search.h"
#include "term_writing.h"

/* ---- text ---- */

/* The word of the source token that has the largest of weights [part->ids.count] among the tokens with text. It
 * begins a word if it follows white space, or is first in the part, and the previous piece does not end in "▁". */
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
        const ferry_view piece = ferry_string_table_at(text->source_pieces, (size_t)part->ids.ids[best - 1]);
        begins = piece.size < size || memcmp(piece.data + piece.size - size, blank, size) != 0;
    }
    return (ferry_word){{part->text.data + ranges[best].begin, ranges[best].end - ranges[best].begin}, begins};
}

/* Writes the text of a hypothesis of the part, and the ranges of its tokens if hypothesis->ranges is not NULL. With
 * options.replace_unknowns, `weights` [length, source ids] choose the words that replace unknown ones. */
static ferry_status write_text(const ferry_model *model, const ferry_line_rules *rules, const ferry_part *part,
                               const float *weights, ferry_result_hypothesis *hypothesis, ferry_error *error)
{
    const size_t length = (size_t)hypothesis->length;
    const bool replaces =
        rules->options->replace_unknowns != 0 && ferry_ids_find(hypothesis->ids, length, rules->unknown_id) < length;
    const bool unshows = part->once_count > 0;
    ferry_word *words = replaces || unshows ? calloc(length + 1, sizeof *words) : NULL;
    ferry_range *ranges = hypothesis->ranges;
    ferry_buffer text = {0};
    if (unshows && ranges == NULL) ranges = calloc(length + 1, sizeof *ranges);
    if ((replaces || unshows) && (words == NULL || (unshows && ranges == NULL))) {
        free(words);
        if (ranges != hypothesis->ranges) free(ranges);
        return ferry_fail_memory(error, "unknown words", length, sizeof *words);
    }
    for (size_t t = 0; replaces && t < length; t++)
        if (hypothesis->ids[t] == rules->unknown_id)
            words[t] = word_of(&model->file.text, part, weights + t * part->ids.count);
    if (unshows) ferry_terms_unshow(part, hypothesis->ids, length, words);
    ferry_status status =
        ferry_tokenizer_decode_ranges(model->tokenizer, hypothesis->ids, length, words, &text, ranges, error);
    if (status == FERRY_OK) status = ferry_buffer_end(&text, error);
    if (status == FERRY_OK && unshows) ferry_terms_locate(part, hypothesis->ids, length, ranges);
    hypothesis->text = text.data;
    hypothesis->size = text.size;
    if (ranges != hypothesis->ranges) free(ranges);
    free(words);
    return status;
}

ferry_status ferry_part_decode(const ferry_model *model, const ferry_part *part, const int32_t *ids, size_t count,
                               ferry_buffer *text, ferry_error *error)
{
    ferry_word *words = part->once_count > 0 ? calloc(count + 1, sizeof *words) : NULL;
    if (part->once_count > 0 && words == NULL) return ferry_fail_memory(error, "words", count, sizeof *words);
    if (words != NULL) ferry_terms_unshow(part, ids, count, words);
    const ferry_status status = ferry_tokenizer_decode_ranges(model->tokenizer, ids, count, words, text, NULL, error);
    free(words);
    return status;
}

/* Whether the best hypothesis lacks a term of the part. (Out of memory, it does.) */
static bool lacks_terms(const ferry_model *model, ferry_part *part, const ferry_search *search)
{
    const ferry_hypothesis best = ferry_search_hypothesis(search, 0);
    ferry_buffer text = {0};
    const bool known = ferry_tokenizer_decode(model->tokenizer, best.ids, (size_t)best.length, &text, NULL) == FERRY_OK;
    const bool lacks =
        !known || ferry_terms_look(part, best.ids, (size_t)best.length, (ferry_view){text.data, text.size}, false) > 0;
    free(text.data);
    return lacks;
}

bool ferry_part_wants_weights(const ferry_model *model, const ferry_line_rules *rules, ferry_part *part,
                              const ferry_search *search)
{
    bool wants = rules->options->alignment != 0 || (part->term_count > 0 && lacks_terms(model, part, search));
    for (int32_t h = 0; rules->options->replace_unknowns != 0 && h < ferry_search_count(search); h++) {
        const ferry_hypothesis found = ferry_search_hypothesis(search, h);
        wants = wants || ferry_ids_find(found.ids, (size_t)found.length, rules->unknown_id) < (size_t)found.length;
    }
    return wants;
}

/* ---- results ---- */

/* Copies hypothesis `index` of the search to the part's result. `cut`: it stopped at the length limit, without eos. */
static ferry_status take_hypothesis(const ferry_model *model, const ferry_options *options,
                                    const ferry_part_ending *ending, int32_t index, ferry_part *part,
                                    ferry_error *error)
{
    const ferry_generation *generation = &model->file.generation;
    const int32_t limit = ferry_decoding_target_limit(options, &model->file.transformer, part->ids.count);
    const ferry_hypothesis from = ferry_search_hypothesis(ending->search, index);
    const size_t length = (size_t)from.length;
    const bool aligned = options->alignment != 0;
    ferry_result_hypothesis *to = &part->result.hypotheses[index];
    if (length > 0) {
        to->ids = malloc(length * sizeof *to->ids);
        to->token_scores = malloc(length * sizeof *to->token_scores);
        if (aligned) to->ranges = calloc(length, sizeof *to->ranges);
        if (to->ids == NULL || to->token_scores == NULL || (aligned && to->ranges == NULL))
            return ferry_fail_memory(error, "ids and their scores",
                                     length * (sizeof(int32_t) + sizeof(float) + sizeof(ferry_range)), 1);
        memcpy(to->ids, from.ids, length * sizeof *to->ids);
        memcpy(to->token_scores, from.token_scores, length * sizeof *to->token_scores);
    }
    to->length = from.length;
    to->coverage = from.coverage;
    if (options->scores != 0) to->score = from.score;
    bool cut = from.length >= limit;
    for (int32_t i = 0; options->search->forced_last_id < 0 && i < generation->eos_count; i++)
        cut = cut && generation->eos_ids[i] != from.ids[limit - 1];
    if (cut) part->quality = (ferry_quality_signs){.flags = FERRY_QUALITY_CUT, .limit = limit};
    if (ending->weights == NULL || !aligned) return FERRY_OK;
    const size_t bytes = (size_t)to->length * part->ids.count * sizeof *to->weights;
    FERRY_TRY(ferry_result_begin_weights(to, part->ids.count, error));
    if (bytes > 0) memcpy(to->weights, ending->weights[index], bytes);
    return FERRY_OK;
}

/* Sets the part's result to the search's hypotheses. */
static ferry_status take_result(const ferry_model *model, const ferry_line_rules *rules,
                                const ferry_part_ending *ending, ferry_part *part, ferry_error *error)
{
    const ferry_options *options = rules->options;
    const int32_t count = ferry_search_count(ending->search);
    part->quality = (ferry_quality_signs){.flags = 0};
    FERRY_TRY(ferry_result_line_begin(&part->result, (size_t)count, error));
    for (int32_t i = 0; i < count; i++) FERRY_TRY(take_hypothesis(model, options, ending, i, part, error));
    for (int32_t i = 0; ending->text && i < count; i++)
        FERRY_TRY(write_text(model, rules, part, ending->weights != NULL ? ending->weights[i] : NULL,
                             &part->result.hypotheses[i], error));
    ferry_quality_compare(&part->quality, &part->ids, &part->result.hypotheses[0], ending->text,
                          options->replace_unknowns == 0 ? rules->unknown_id : -1);
    if (part->unknowns > 0) part->quality.flags |= FERRY_QUALITY_UNKNOWN;
    if (!ending->text) return FERRY_OK;
    const ferry_result_hypothesis *first = &part->result.hypotheses[0];
    const ferry_view best = {first->text, first->size},
                     source = part->original.data != NULL ? part->original : part->text;
    ferry_number_sign *numbers = &part->quality.numbers;
    ferry_terms_look(part, first->ids, (size_t)first->length, best, true);
    for (size_t i = part->term_count; i-- > 0;)
        if (part->terms[i].missing && !part->terms[i].number) {
            part->quality.flags |= FERRY_QUALITY_TERM;
            part->quality.term = i;
        }
    FERRY_TRY(ferry_terms_carry(part->terms, part->term_count, &part->result, error));
    FERRY_TRY(ferry_numbers_compare(source, best, numbers, error));
    if (numbers->source.size + numbers->translation.size > 0) part->quality.flags |= FERRY_QUALITY_NUMBER;
    return FERRY_OK;
}

/* Replaces the part's result by a second translation, unless this loops or has a sign that the first one lacks. */
static ferry_status take_better(const ferry_model *model, const ferry_line_rules *rules,
                                const ferry_part_ending *ending, ferry_part *part, ferry_error *error)
{
    ferry_result_line other = part->result;
    const ferry_quality_signs quality = part->quality;
    memset(&part->result, 0, sizeof part->result);
    const ferry_status status = take_result(model, rules, ending, part, error);
    const int mended = part->numbered ? FERRY_QUALITY_NUMBER : FERRY_QUALITY_LOOP;
    part->replaced = (part->quality.flags & ~(quality.flags & ~mended)) == 0;
    if (status == FERRY_OK && !part->replaced) {
        const ferry_result_line worse = part->result;
        part->result = other;
        part->quality = quality;
        other = worse;
    }
    ferry_result_line_clear(&other);
    return status;
}

ferry_status ferry_part_end(const ferry_model *model, const ferry_line_rules *rules, const ferry_part_ending *ending,
                            ferry_part *part, bool *again, ferry_error *error)
{
    const ferry_options *options = rules->options;
    const ferry_error *why = ending->why;
    const bool strict = options->no_repeat_ngram > 0 && options->no_repeat_ngram <= FERRY_AGAIN_NGRAM;
    *again = false;
    if (why != NULL) {
        if (why->status != FERRY_ERROR_LIMIT && why->status != FERRY_ERROR_FORMAT)
            return ferry_fail(error, why->status, "%s", why->message);
        return part->retried || part->numbered
                   ? FERRY_OK
                   : ferry_result_line_fail(&part->result, why->status, why->message, error);
    }
    *again = part->choice_count > 0;
    if (*again) return ferry_terms_choose(rules, part, error);
    FERRY_TRY((part->retried || part->numbered ? take_better : take_result)(model, rules, ending, part, error));
    const int flags = part->quality.flags;
    const bool loops = options->on_loop == FERRY_ON_LOOP_RETRY && !strict && (flags & FERRY_QUALITY_LOOP) != 0;
    const bool other =
        (flags & FERRY_QUALITY_NUMBER) != 0 || ((flags & FERRY_QUALITY_TERM) != 0 && ferry_terms_lack_digits(part));
    *again = !part->numbered && ((loops && !part->retried) || (ending->numbers && other));
    if (!*again) return FERRY_OK;
    if (part->written > 0) part->prefix.count = part->given;
    part->written = 0;
    part->after_term = false;
    if (loops && !part->retried) {
        part->retried = true;
        return FERRY_OK;
    }
    part->numbered = true;
    return ferry_terms_take_numbers(model, rules, part, error);
}
