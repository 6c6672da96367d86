#include "term_writing.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/search/teacher_forcing.h"
#include "model.h"
#include "term_search.h"
#include "tokenizer/unicode.h"

/* A target of a term is preferred to the first one if its log-probability is larger by more than this. */
static const double CHOICE_MARGIN = 1.5;

/* ---- where one is written ---- */

typedef struct written {
    const ferry_model *model;
    const ferry_terms_hypothesis *hypothesis;
    const ferry_part *part;
    ferry_view text;     /* of the hypothesis */
    ferry_range *ranges; /* [length] its tokens' */
    ferry_buffer target; /* what is written, in the form that it has at its place */
} written;

/* Whether a term may stand before token t: the token begins a word, or is a mark, or the end. */
static bool may_stand_before(const written *w, size_t t)
{
    const ferry_range range = w->ranges[t];
    size_t at = range.begin;
    uint32_t c;
    if (range.begin == range.end) return t + 1 == w->hypothesis->length;
    if (!ferry_unicode_is_within_word(w->text, range.begin)) return true;
    return !ferry_utf8_next(w->text, &at, &c) || !ferry_unicode_is_of_word(c);
}

/* The share of the span among the weights of source tokens that have text. */
static float share(const written *w, ferry_range span, size_t t)
{
    const float *weights = w->hypothesis->weights + t * w->part->ids.count;
    float inside = 0, all = 0;
    for (size_t s = 0; s < w->part->ids.count; s++) {
        const ferry_range range = w->part->ranges.ranges[s];
        if (range.begin == range.end) continue;
        all += weights[s];
        if (range.begin < span.end && span.begin < range.end) inside += weights[s];
    }
    return all > 0 ? inside / all : 0;
}

/* Whether token t ends in a letter or a number. */
static bool ends_in_word(const written *w, size_t t)
{
    size_t at = w->ranges[t].end;
    uint32_t c;
    return w->ranges[t].begin < at && ferry_utf8_previous(w->text, &at, &c) && ferry_unicode_is_of_word(c);
}

/* The token, from `first` on, before which the term has to stand. */
static size_t place_of(const written *w, const ferry_part_term *term, size_t first)
{
    size_t best = w->hypothesis->length;
    float largest = -1;
    for (size_t t = first; t < w->hypothesis->length; t++) {
        if (!may_stand_before(w, t)) continue;
        const float found = share(w, (ferry_range){term->term.begin, term->term.end}, t);
        if (found > largest) best = t;
        if (found > largest) largest = found;
    }
    /* Where something follows the term, it does not stand behind the marks that end the translation. */
    if (best + 1 >= w->hypothesis->length && ferry_utf8_trim(w->part->text).size > term->term.end)
        while (best > first && !ends_in_word(w, best - 1)) best--;
    /* A blank that is a token of its own belongs to the word behind it. */
    while (best > first && w->ranges[best - 1].begin == w->ranges[best - 1].end) best--;
    return best;
}

static bool is_writable(const ferry_part_term *term)
{
    return term->missing && term->possible && !term->present;
}

/* The token, from `first` on, behind the term's stand-in. */
static size_t behind(const written *w, const ferry_part_term *term, size_t first)
{
    for (size_t t = first; t < w->hypothesis->length; t++)
        if (w->hypothesis->ids[t] == term->stand_in->id) return t + 1;
    return first;
}

/* The term that has to be written first, and the token before which it stands; NULL: none can be. */
static ferry_part_term *choose(const written *w, size_t first, size_t *place)
{
    ferry_part_term *chosen = NULL;
    for (size_t i = 0; i < w->part->term_count; i++) {
        ferry_part_term *term = &w->part->terms[i];
        if (!is_writable(term) || (term->follows && is_writable(term - 1))) continue;
        const size_t at = place_of(w, term, term->follows ? behind(w, term - 1, first) : first);
        if (chosen != NULL && at >= *place) continue;
        chosen = term;
        *place = at;
    }
    return chosen;
}

/* ---- writing ---- */

/* The byte of the text before which token `place` stands. */
static size_t byte_of(const written *w, size_t place)
{
    const bool has_text = place < w->hypothesis->length && w->ranges[place].begin < w->ranges[place].end;
    return has_text ? w->ranges[place].begin : w->text.size;
}

/* *ids: those of the hypothesis from `first` to `place`, and of the target behind them. If a mark stands before it
 * without a blank, all of that text is encoded. */
static ferry_status write_prefix(const written *w, size_t first, size_t place, ferry_ids *ids, ferry_error *error)
{
    const ferry_view target = {w->target.data, w->target.size};
    const size_t at = byte_of(w, place);
    uint32_t before = ' ', after = 0;
    size_t begin = at, next = at;
    const bool glued = at > 0 && ferry_utf8_previous(w->text, &begin, &before) && !ferry_utf8_is_space(before) &&
                       at < w->text.size && ferry_utf8_next(w->text, &next, &after) && ferry_unicode_is_of_word(after);
    ids->count = 0;
    if (glued) {
        char *text = malloc(at + target.size);
        if (text == NULL) return ferry_fail_memory(error, "a term", at + target.size, 1);
        memcpy(text, w->text.data, at);
        memcpy(text + at, target.data, target.size);
        const ferry_status status =
            ferry_tokenizer_encode_target(w->model->tokenizer, (ferry_view){text, at + target.size}, ids, NULL, error);
        free(text);
        return status;
    }
    FERRY_TRY(ferry_tokenizer_encode_target(w->model->tokenizer, target, ids, NULL, error));
    for (size_t t = first; t < place; t++) FERRY_TRY(ferry_ids_insert(ids, t - first, w->hypothesis->ids[t], error));
    return FERRY_OK;
}

static ferry_view target_of(const ferry_part_term *term, size_t index)
{
    if (term->stand_in != NULL) return ferry_text_view(term->stand_in->name);
    if (term->piece.size > 0) return term->piece;
    return (ferry_view){term->term.targets[index].data, term->term.targets[index].size};
}

/* Whether the text's first letter or digit is none, or no small letter. */
static bool begins_large(ferry_view text)
{
    for (size_t at = 0; at < text.size;) {
        const uint32_t c = ferry_unicode_next(text, &at);
        if (ferry_unicode_is_of_word(c)) return ferry_unicode_character(c) != FERRY_CHARACTER_LOWER;
    }
    return true;
}

static bool has_words(ferry_view text)
{
    for (size_t at = 0; at < text.size;)
        if (ferry_unicode_is_of_word(ferry_unicode_next(text, &at))) return true;
    return false;
}

/* Sets w->target to target `index` of the term. An entry of the glossary gets a capital where it is first in a sentence
 * that begins with one, and capitals where the source has them. */
static ferry_status write_target(written *w, const ferry_part_term *term, size_t index, size_t place,
                                 ferry_error *error)
{
    const ferry_view target = target_of(term, index);
    const bool form = term->entry && term->stand_in == NULL;
    bool capital = form && begins_large(w->part->text) && !has_words((ferry_view){w->text.data, byte_of(w, place)});
    w->target.size = 0;
    for (size_t at = 0; form && at < target.size; capital = false) {
        char bytes[4];
        uint32_t c = ferry_unicode_next(target, &at);
        if (capital || term->capitals) c = ferry_unicode_upper(c);
        FERRY_TRY(ferry_buffer_append(&w->target, (ferry_view){bytes, ferry_utf8_put(c, bytes)}, error));
    }
    return form ? FERRY_OK : ferry_buffer_append(&w->target, target, error);
}

/* Adds the prefix `ids` to the choices: with the tag, and a place for the token that ends the last word. */
static ferry_status add_choice(const ferry_ids *ids, int32_t tag, const uint64_t *word_begins, ferry_part *part,
                               ferry_error *error)
{
    ferry_ids *all = &part->choice_ids;
    const size_t begin = all->count;
    if (tag >= 0) FERRY_TRY(ferry_ids_insert(all, all->count, tag, error));
    for (size_t i = 0; i < ids->count; i++) FERRY_TRY(ferry_ids_insert(all, all->count, ids->ids[i], error));
    FERRY_TRY(ferry_ids_insert(all, all->count, 0, error));
    part->choices[part->choice_count++] =
        (ferry_teacher_target){.length = (int32_t)(all->count - begin), .last = word_begins};
    return FERRY_OK;
}

/* Adds a choice for each target of the term, at token `place`, that fits. */
static ferry_status add_choices(written *w, const ferry_line_rules *rules, const uint64_t *word_begins,
                                const ferry_part_term *term, size_t place, ferry_part *part, ferry_error *error)
{
    const size_t limit =
        (size_t)ferry_decoding_target_limit(rules->options, &w->model->file.transformer, part->ids.count);
    const size_t count = term->piece.size == 0 ? term->term.target_count : 1;
    const int32_t tag = rules->options->search->forced_first_id;
    ferry_ids ids = {0};
    ferry_status status = FERRY_OK;
    free(part->choices);
    part->choices = calloc(count, sizeof *part->choices);
    if (part->choices == NULL) return ferry_fail_memory(error, "terms", count, sizeof *part->choices);
    part->choice_ids.count = 0;
    for (size_t t = 0; t < count && status == FERRY_OK; t++) {
        status = write_target(w, term, t, place, error);
        if (status == FERRY_OK) status = write_prefix(w, tag >= 0, place, &ids, error);
        if (status == FERRY_OK && ids.count + (tag >= 0) < limit &&
            ferry_ids_find(ids.ids, ids.count, rules->unknown_id) == ids.count)
            status = add_choice(&ids, tag, word_begins, part, error);
    }
    free(ids.ids);
    return status;
}

/* Adds the choices of the leftmost missing term with a target that fits; terms without one are impossible from then
 * on. */
static ferry_status write_one(written *w, const ferry_line_rules *rules, const uint64_t *word_begins, ferry_part *part,
                              ferry_error *error)
{
    const size_t first = (rules->options->search->forced_first_id >= 0) + part->prefix.count;
    ferry_part_term *term;
    size_t place = 0, at = 0;
    while (part->choice_count == 0 && (term = choose(w, first, &place)) != NULL) {
        FERRY_TRY(add_choices(w, rules, word_begins, term, place, part, error));
        term->possible = part->choice_count > 0;
    }
    if (part->choice_count == 0) return FERRY_OK;
    free(part->choice_scores);
    part->choice_scores = calloc(part->choice_ids.count, sizeof *part->choice_scores);
    if (part->choice_scores == NULL)
        return ferry_fail_memory(error, "scores", part->choice_ids.count, sizeof *part->choice_scores);
    for (size_t i = 0; i < part->choice_count; at += (size_t)part->choices[i++].length) {
        part->choices[i].ids = part->choice_ids.ids + at;
        part->choices[i].scores = part->choice_scores + at;
    }
    return FERRY_OK;
}

bool ferry_terms_lack_digits(const ferry_part *part)
{
    for (size_t i = 0; i < part->term_count; i++) {
        const ferry_part_term *term = &part->terms[i];
        if (term->missing && term->possible && term->term.target_count > 0 &&
            ferry_unicode_has_digit(target_of(term, 0)))
            return true;
    }
    return false;
}

ferry_status ferry_terms_write(const ferry_model *model, const ferry_line_rules *rules,
                               const ferry_term_vocabulary *vocabulary, const ferry_terms_hypothesis *hypothesis,
                               bool digits, ferry_part *part, ferry_error *error)
{
    written w = {.model = model, .hypothesis = hypothesis, .part = part};
    ferry_buffer text = {0};
    part->choice_count = 0;
    if (part->term_count == 0 || part->written > part->term_count) return FERRY_OK;
    w.ranges = calloc(hypothesis->length + 1, sizeof *w.ranges);
    if (w.ranges == NULL) return ferry_fail_memory(error, "tokens", hypothesis->length, sizeof *w.ranges);
    ferry_status status = ferry_tokenizer_decode_ranges(model->tokenizer, hypothesis->ids, hypothesis->length, NULL,
                                                        &text, w.ranges, error);
    if (status == FERRY_OK) status = ferry_buffer_end(&text, error);
    w.text = (ferry_view){text.data, text.size};
    if (status == FERRY_OK && ferry_terms_look(part, hypothesis->ids, hypothesis->length, w.text, false) > 0 &&
        !(digits && ferry_terms_lack_digits(part)))
        status = write_one(&w, rules, vocabulary->word_begins, part, error);
    free(w.ranges);
    free(w.target.data);
    free(text.data);
    return status;
}

ferry_status ferry_terms_choose(const ferry_line_rules *rules, ferry_part *part, ferry_error *error)
{
    size_t best = 0;
    double first = 0, largest = 0;
    for (size_t i = 0; i < part->choice_count; i++) {
        const ferry_teacher_target *choice = &part->choices[i];
        double sum = 0;
        for (int32_t t = 0; t < choice->length; t++) sum += (double)choice->scores[t];
        if (i == 0) first = sum;
        if (i > 0 && (sum <= first + CHOICE_MARGIN || sum <= largest)) continue;
        best = i;
        largest = sum;
    }
    const ferry_teacher_target *chosen = &part->choices[best];
    if (part->written++ == 0) part->given = part->prefix.count;
    part->prefix.count = 0;
    for (int32_t t = rules->options->search->forced_first_id >= 0; t + 1 < chosen->length; t++)
        FERRY_TRY(ferry_ids_insert(&part->prefix, part->prefix.count, chosen->ids[t], error));
    part->choice_count = 0;
    part->after_term = true;
    return FERRY_OK;
}
