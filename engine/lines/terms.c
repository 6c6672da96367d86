#include "terms.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/search/teacher_forcing.h"
#include "glossary.h"
#include "languages.h"
#include "model.h"
#include "numbers.h"
#include "tokenizer/unicode.h"

/* A target of a term is preferred to the first one if its log-probability is larger by more than this. */
static const double CHOICE_MARGIN = 1.5;

static ferry_status encode(const ferry_model *model, ferry_view text, ferry_ids *ids, ferry_error *error)
{
    return ferry_tokenizer_encode_target(model->tokenizer, text, ids, NULL, error);
}

/* ---- terms of parts ---- */

/* The offset in the repaired copy of `text` (ferry_utf8_repair) of the character at byte `end`. */
static size_t repaired_offset(ferry_view text, size_t end)
{
    size_t at = 0, offset = 0;
    while (at < end) {
        const size_t begin = at;
        uint32_t c;
        const bool valid = ferry_utf8_next(text, &at, &c);
        offset += valid ? at - begin : sizeof "\uFFFD" - 1;
    }
    return offset;
}

void ferry_line_terms_destroy(ferry_line_terms *line)
{
    free(line->terms);
    free(line->shown);
    *line = (ferry_line_terms){0};
}

/* Gives the opaque terms stand-ins that the line does not have, each another one, as long as some are left. */
static void choose_stand_ins(ferry_line_terms *line, const ferry_term_vocabulary *vocabulary, ferry_view valid)
{
    size_t s = 0;
    for (size_t i = 0; i < line->count; i++) {
        if (line->terms[i].piece.size == 0) continue;
        while (s < vocabulary->stand_in_count && ferry_view_contains(valid, vocabulary->stand_ins[s].name)) s++;
        if (s == vocabulary->stand_in_count) return;
        line->terms[i].stand_in = &vocabulary->stand_ins[s++];
        line->opaque[line->opaque_count++] = i;
    }
}

/* Whether the characters before and after byte `at` belong to one word. */
static bool is_within_word(ferry_view text, size_t at)
{
    uint32_t before, after;
    size_t begin = at, next = at;
    return at < text.size && ferry_utf8_previous(text, &begin, &before) && ferry_utf8_next(text, &next, &after) &&
           ferry_unicode_is_of_word(before) && ferry_unicode_is_of_word(after);
}

/* Writes the stand-in into *shown, between blanks where it would meet a word. */
static ferry_status write_stand_in(ferry_part_term *term, ferry_view valid, ferry_buffer *shown, ferry_error *error)
{
    uint32_t c;
    size_t before = term->original.begin, after = term->original.end;
    term->glued = ferry_utf8_previous(valid, &before, &c) && ferry_unicode_is_of_word(c);
    if (term->glued) FERRY_TRY(ferry_buffer_append(shown, ferry_text_view(" "), error));
    term->term.begin = shown->size;
    FERRY_TRY(ferry_buffer_append(shown, ferry_text_view(term->stand_in->name), error));
    term->term.end = shown->size;
    if (after < valid.size && ferry_utf8_next(valid, &after, &c) && ferry_unicode_is_of_word(c))
        return ferry_buffer_append(shown, ferry_text_view(" "), error);
    return FERRY_OK;
}

/* Writes the line with stand-ins. *alone: without them, nothing is there. */
static ferry_status show(ferry_line_terms *line, ferry_view valid, ferry_buffer *shown, bool *alone, ferry_error *error)
{
    size_t at = 0;
    *alone = true;
    for (size_t i = 0; i <= line->opaque_count; i++) {
        ferry_part_term *term = i < line->opaque_count ? &line->terms[line->opaque[i]] : NULL;
        /* A piece that is no text of the line is written by the model. */
        *alone = *alone && (term == NULL || term->carried || term->term.target_count == 0);
        const ferry_view between = {valid.data + at, (term != NULL ? term->original.begin : valid.size) - at};
        *alone = *alone && ferry_text_visibility(between) != FERRY_VISIBILITY_LETTER;
        /* Terms between the stand-ins move with their text. */
        for (size_t t = 0; t < line->count; t++)
            if (line->terms[t].stand_in == NULL && line->terms[t].original.begin >= at) {
                line->terms[t].term.begin = shown->size + line->terms[t].original.begin - at;
                line->terms[t].term.end = shown->size + line->terms[t].original.end - at;
            }
        FERRY_TRY(ferry_buffer_append(shown, between, error));
        if (term == NULL) break;
        FERRY_TRY(write_stand_in(term, valid, shown, error));
        at = term->original.end;
    }
    return ferry_buffer_end(shown, error);
}

/* If the model can write none of the targets, the first is an opaque piece. */
static ferry_status try_targets(const ferry_model *model, ferry_part_term *term, ferry_error *error)
{
    const ferry_text *targets = term->term.targets;
    const int32_t unknown = ferry_tokenizer_target_unknown(model->tokenizer);
    ferry_ids ids = {0};
    ferry_status status = FERRY_OK;
    term->piece = (ferry_view){targets[0].data, targets[0].size};
    for (size_t t = 0; t < term->term.target_count && term->piece.size > 0 && status == FERRY_OK; t++) {
        status = encode(model, (ferry_view){targets[t].data, targets[t].size}, &ids, error);
        if (ferry_ids_find(ids.ids, ids.count, unknown) < ids.count) continue;
        term->piece.size = 0;
    }
    free(ids.ids);
    return status;
}

/* Adds a term of the bytes begin … end - 1 of the line. */
static ferry_status add_span(ferry_line_terms *line, const ferry_line_source *from, ferry_part_term term,
                             ferry_view valid, size_t begin, size_t end, ferry_error *error)
{
    ferry_part_term *added = ferry_array_add(&line->terms, &line->count, &line->capacity, sizeof *added);
    if (added == NULL) return ferry_fail_memory(error, "terms", line->count + 1, sizeof *added);
    term.term.begin = begin;
    term.term.end = end;
    term.original = term.found = (ferry_range){begin, end};
    term.possible = true;
    term.carried = from->carried;
    term.piece = (ferry_view){valid.data + begin, end - begin};
    *added = term;
    return term.term.target_count > 0 && !term.carried ? try_targets(from->model, added, error) : FERRY_OK;
}

static int compare_places(const void *a, const void *b)
{
    const ferry_part_term *x = a, *y = b;
    return (x->original.begin > y->original.begin) - (x->original.begin < y->original.begin);
}

/* Adds the entries of the glossary that overlap no term of the line so far. `at`: where the line begins, behind its
 * tag. */
static ferry_status add_entries(ferry_line_terms *line, const ferry_line_source *from, ferry_view valid, size_t at,
                                ferry_error *error)
{
    const ferry_glossary *glossary = from->rules->options->glossary;
    const size_t given = line->count;
    ferry_glossary_match found;
    while (ferry_glossary_next(glossary, (ferry_terms){(const void *)line->terms, sizeof *line->terms, given}, valid,
                               &at, valid.size, &found)) {
        const ferry_part_term term = {.term = {.targets = found.targets, .target_count = found.target_count},
                                      .entry = true,
                                      .capitals = found.capitals};
        FERRY_TRY(add_span(line, from, term, valid, found.begin, found.end, error));
    }
    if (given > 0 && line->count > given) qsort(line->terms, line->count, sizeof *line->terms, compare_places);
    return FERRY_OK;
}

ferry_status ferry_line_terms_read(ferry_line_terms *line, const ferry_line_source *from, ferry_view *valid,
                                   bool *alone, ferry_error *error)
{
    const ferry_view original = {from->text.data, from->text.size};
    const bool repaired = valid->data != from->text.data;
    ferry_buffer shown = {0};
    *alone = false;
    for (size_t i = 0; i < from->terms.count; i++) {
        const ferry_part_term term = {.term = *ferry_terms_at(from->terms, i)};
        size_t begin = term.term.begin - from->offset;
        if (repaired) begin = repaired_offset(original, begin);
        FERRY_TRY(add_span(line, from, term, *valid, begin, begin + (term.term.end - term.term.begin), error));
    }
    if (from->rules->options->glossary != NULL)
        FERRY_TRY(add_entries(line, from, *valid, ferry_tokenizer_tag_size(from->model->tokenizer, *valid), error));
    if (line->count > 0) choose_stand_ins(line, from->vocabulary, *valid);
    if (line->opaque_count == 0) return FERRY_OK;
    const ferry_status status = show(line, *valid, &shown, alone, error);
    line->shown = shown.data;
    if (status == FERRY_OK) *valid = (ferry_view){shown.data, shown.size};
    return status;
}

static ferry_status add_term(ferry_part *part, const ferry_part_term *term, ferry_error *error)
{
    ferry_part_term *grown = realloc(part->terms, (part->term_count + 1) * sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(error, "terms", part->term_count + 1, sizeof *grown);
    part->terms = grown;
    part->terms[part->term_count++] = *term;
    if (term->stand_in == NULL) return FERRY_OK;
    int32_t *once = realloc(part->once, (part->once_count + 1) * sizeof *once);
    if (once == NULL) return ferry_fail_memory(error, "terms", part->once_count + 1, sizeof *once);
    part->once = once;
    part->once[part->once_count++] = term->stand_in->id;
    return FERRY_OK;
}

/* Sets part->original. */
static ferry_status write_original(ferry_part *part, ferry_error *error)
{
    ferry_buffer text = {0};
    size_t at = 0;
    for (size_t i = 0; i < part->term_count; i++) {
        const ferry_part_term *term = &part->terms[i];
        if (term->stand_in == NULL) continue;
        FERRY_TRY(ferry_buffer_append(&text, (ferry_view){part->text.data + at, term->term.begin - at}, error));
        part->original = (ferry_view){text.data, text.size};
        FERRY_TRY(ferry_buffer_append(&text, term->piece, error));
        part->original = (ferry_view){text.data, text.size};
        at = term->term.end;
    }
    const ferry_status status =
        ferry_buffer_append(&text, (ferry_view){part->text.data + at, part->text.size - at}, error);
    part->original = (ferry_view){text.data, text.size};
    return status;
}

ferry_status ferry_line_terms_share(const ferry_line_terms *line, const char *shown, ferry_parts *parts,
                                    ferry_error *error)
{
    for (size_t i = 0, p = 0; i < line->count; i++) {
        ferry_part_term term = line->terms[i];
        const size_t begin = term.term.begin, end = term.term.end;
        size_t offset = 0;
        for (; p < parts->count; p++) {
            offset = (size_t)(parts->parts[p].text.data - shown);
            if (begin < offset + parts->parts[p].text.size) break;
        }
        if (p == parts->count) break;
        const size_t size = parts->parts[p].text.size;
        term.possible = begin >= offset && end <= offset + size;
        term.term.begin = begin > offset ? begin - offset : 0;
        term.term.end = end > offset + size ? size : end > offset ? end - offset : 0;
        FERRY_TRY(add_term(&parts->parts[p], &term, error));
    }
    for (size_t p = 0; p < parts->count; p++)
        if (parts->parts[p].once_count > 0) FERRY_TRY(write_original(&parts->parts[p], error));
    return FERRY_OK;
}

/* The byte of the line for byte `at` of what is shown; within a stand-in, an end of its term. */
static size_t unshown_offset(const ferry_line_terms *line, size_t at, bool end)
{
    size_t from = 0, to = 0; /* the ends of the last stand-in before it, shown and in the line */
    for (size_t i = 0; i < line->opaque_count; i++) {
        const ferry_part_term *term = &line->terms[line->opaque[i]];
        if (at < term->term.begin || (at == term->term.begin && end)) break;
        if (at < term->term.end || (at == term->term.end && end))
            return end ? term->original.end : term->original.begin;
        from = term->term.end;
        to = term->original.end;
    }
    return to + (at - from);
}

void ferry_line_terms_unshow(const ferry_line_terms *line, ferry_range *ranges, size_t count)
{
    for (size_t i = 0; i < count && line->shown != NULL; i++)
        ranges[i] = (ferry_range){unshown_offset(line, ranges[i].begin, false),
                                  unshown_offset(line, ranges[i].end, ranges[i].end > ranges[i].begin)};
}

ferry_status ferry_terms_take_numbers(const ferry_model *model, const ferry_line_rules *rules, ferry_part *part,
                                      ferry_error *error)
{
    ferry_view *numbers;
    size_t count;
    ferry_ids ids = {0};
    ferry_status status = ferry_numbers_find(part->text, &numbers, &count, error);
    for (size_t i = 0; i < count && status == FERRY_OK; i++) {
        const size_t begin = (size_t)(numbers[i].data - part->text.data), end = begin + numbers[i].size;
        const ferry_part_term term = {
            .term = {.begin = begin, .end = end}, .piece = numbers[i], .number = true, .possible = true};
        bool overlaps = false;
        for (size_t t = 0; t < part->term_count; t++)
            overlaps = overlaps || (begin < part->terms[t].term.end && part->terms[t].term.begin < end);
        if (!overlaps) status = add_term(part, &term, error);
    }
    free(numbers);
    if (status == FERRY_OK && part->ranges.count == 0)
        status = ferry_languages_encode_part(model, rules->pair, part->tag, part->text, &ids, &part->ranges, error);
    free(ids.ids);
    return status;
}

/* ---- whether a translation has them ---- */

/* Whether the range overlaps what one of the first `count` terms was found at. */
static bool is_taken(const ferry_part *part, size_t count, ferry_range range)
{
    for (size_t i = 0; i < count; i++) {
        const ferry_part_term *term = &part->terms[i];
        if (!term->missing && range.begin < term->found.end && term->found.begin < range.end) return true;
    }
    return false;
}

/* Bytes of the target at the beginning of the text, its first letters in capitals; 0: it is not there. */
static size_t size_of_form(ferry_view target, ferry_view text, size_t capitals)
{
    size_t size = 0;
    for (size_t at = 0; at < target.size;) {
        uint32_t c = ferry_unicode_next(target, &at);
        if (capitals > 0) c = ferry_unicode_upper(c);
        if (capitals > 0) capitals--;
        if (size >= text.size || c != ferry_unicode_next(text, &size)) return 0;
    }
    return size;
}

/* Bytes of a target of the term at the beginning of the text, in a form that the term may have; 0: it is not there. */
static size_t size_at(const ferry_part_term *term, ferry_view target, ferry_view text)
{
    size_t size = 0;
    if (target.size <= text.size && memcmp(text.data, target.data, target.size) == 0) return target.size;
    if (term->entry) size = size_of_form(target, text, 1);
    return size == 0 && term->capitals ? size_of_form(target, text, SIZE_MAX) : size;
}

/* Looks for a target of term `index`. */
static bool find(const ferry_part *part, size_t index, ferry_view target, ferry_view text, ferry_range *found)
{
    for (size_t at = 0; target.size > 0 && at < text.size; at++) {
        const size_t size = size_at(&part->terms[index], target, (ferry_view){text.data + at, text.size - at});
        if (size == 0) continue;
        *found = (ferry_range){at, at + size};
        if (!is_within_word(text, at) && !is_within_word(text, found->end) && !is_taken(part, index, *found))
            return true;
    }
    return false;
}

/* Whether ids [count] have the term's stand-in once, and their text has it nowhere else, from other tokens. */
static bool has_once(ferry_part_term *term, const int32_t *ids, size_t count, ferry_view text, bool unshown)
{
    const ferry_view name = ferry_text_view(term->stand_in->name);
    size_t tokens = 0, names = 0;
    for (size_t t = 0; t < count; t++) tokens += ids[t] == term->stand_in->id;
    term->present = tokens > 0;
    for (size_t at = 0; at + name.size <= text.size; at++) names += memcmp(text.data + at, name.data, name.size) == 0;
    return tokens == 1 && names == (unshown ? 0 : 1);
}

/* Looks for a term without a stand-in: one of its targets, or the piece of an opaque one. */
static bool find_term(const ferry_part *part, size_t index, ferry_view text, ferry_range *found)
{
    const ferry_part_term *term = &part->terms[index];
    if (term->piece.size > 0) return find(part, index, term->piece, text, found);
    for (size_t t = 0; t < term->term.target_count; t++) {
        const ferry_text target = term->term.targets[t];
        if (find(part, index, (ferry_view){target.data, target.size}, text, found)) return true;
    }
    return false;
}

size_t ferry_terms_look(ferry_part *part, const int32_t *ids, size_t count, ferry_view text, bool unshown)
{
    size_t missing = 0;
    for (size_t i = 0; i < part->term_count; i++) {
        ferry_part_term *term = &part->terms[i];
        if (term->stand_in == NULL || !unshown) term->found = (ferry_range){0, 0};
        term->missing = term->stand_in != NULL ? !has_once(term, ids, count, text, unshown)
                                               : !find_term(part, i, text, &term->found);
        missing += term->missing;
    }
    return missing;
}

void ferry_terms_unshow(const ferry_part *part, const int32_t *ids, size_t count, ferry_word *words)
{
    for (size_t i = 0; i < part->term_count; i++)
        for (size_t t = 0; part->terms[i].stand_in != NULL && t < count; t++)
            if (ids[t] == part->terms[i].stand_in->id)
                words[t] = (ferry_word){part->terms[i].piece, !part->terms[i].glued};
}

void ferry_terms_locate(const ferry_part *part, const int32_t *ids, size_t count, const ferry_range *ranges)
{
    for (size_t i = 0; i < part->term_count; i++)
        for (size_t t = 0; part->terms[i].stand_in != NULL && t < count; t++)
            if (ids[t] == part->terms[i].stand_in->id) part->terms[i].found = ranges[t];
}

static int compare_begins(const void *a, const void *b)
{
    const ferry_term *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

ferry_status ferry_terms_carry(const ferry_part_term *terms, size_t count, ferry_result_line *result,
                               ferry_error *error)
{
    if (count == 0 || !terms[0].carried) return FERRY_OK;
    result->terms = calloc(count, sizeof *result->terms);
    if (result->terms == NULL) return ferry_fail_memory(error, "terms", count, sizeof *result->terms);
    for (size_t i = 0; i < count; i++) {
        if (terms[i].missing || terms[i].number) continue;
        ferry_term *term = &result->terms[result->term_count++];
        *term = terms[i].term;
        term->begin = terms[i].found.begin;
        term->end = terms[i].found.end;
    }
    qsort(result->terms, result->term_count, sizeof *result->terms, compare_begins);
    return FERRY_OK;
}

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
    if (!is_within_word(w->text, range.begin)) return true;
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

/* The term that has to be written first, and the token before which it stands; NULL: none can be. */
static ferry_part_term *choose(const written *w, size_t first, size_t *place)
{
    ferry_part_term *chosen = NULL;
    for (size_t i = 0; i < w->part->term_count; i++) {
        ferry_part_term *term = &w->part->terms[i];
        if (!term->missing || !term->possible || term->present) continue;
        const size_t at = place_of(w, term, first);
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
        const ferry_status status = encode(w->model, (ferry_view){text, at + target.size}, ids, error);
        free(text);
        return status;
    }
    FERRY_TRY(encode(w->model, target, ids, error));
    for (size_t t = first; t < place; t++) FERRY_TRY(ferry_ids_insert(ids, t - first, w->hypothesis->ids[t], error));
    return FERRY_OK;
}

static bool has_digit(ferry_view text, size_t size)
{
    uint32_t c;
    while (size < text.size)
        if (ferry_utf8_next(text, &size, &c) ? ferry_unicode_is_digit(c) : (size++, false)) return true;
    return false;
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
        if (term->missing && term->possible && term->term.target_count > 0 && has_digit(target_of(term, 0), 0))
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

/* ---- what may follow ---- */

/* Whether token `id`, behind a word of which `size` bytes are in *text, begins no other one. */
static bool goes_on(ferry_view text, size_t size)
{
    uint32_t c;
    return text.size > size && ferry_utf8_next(text, &size, &c) && ferry_unicode_is_of_word(c);
}

/* `id`: a token that ends a word. */
static ferry_status list_tokens(const ferry_model *model, int32_t id, ferry_term_vocabulary *vocabulary,
                                ferry_error *error)
{
    ferry_buffer text = {0};
    ferry_status status = ferry_tokenizer_decode(model->tokenizer, &id, 1, &text, error);
    const size_t size = text.size;
    for (int32_t next = 0; next < model->file.text.target_count && status == FERRY_OK; next++) {
        status = ferry_tokenizer_decode(model->tokenizer, (int32_t[]){id, next}, 2, &text, error);
        const ferry_view both = {text.data, text.size};
        const uint64_t bit = UINT64_C(1) << next % 64;
        if (!goes_on(both, size)) vocabulary->word_begins[next / 64] |= bit;
        if (!has_digit(both, size)) vocabulary->numberless[next / 64] |= bit;
    }
    free(text.data);
    return status;
}

/* *id: the target token of a name that is one token of the source and of the target, and that no other target token
 * contains; else -1. */
static ferry_status try_stand_in(const ferry_model *model, const char *name, size_t frame, int32_t *id, ferry_ids *ids,
                                 ferry_error *error)
{
    const ferry_tokenizer_config *text = &model->file.text;
    const ferry_view view = ferry_text_view(name);
    *id = -1;
    FERRY_TRY(ferry_tokenizer_encode(model->tokenizer, view, ids, error));
    const bool known = ferry_ids_find(ids->ids, ids->count, text->source_unk_id) == ids->count;
    if (ids->count != frame + 1 || !known) return FERRY_OK;
    FERRY_TRY(encode(model, view, ids, error));
    if (ids->count != 1 || ids->ids[0] == ferry_tokenizer_target_unknown(model->tokenizer)) return FERRY_OK;
    for (int32_t other = 0; other < text->target_count; other++)
        if (other != ids->ids[0] &&
            ferry_view_contains(ferry_string_table_at(text->target_pieces, (size_t)other), name))
            return FERRY_OK;
    *id = ids->ids[0];
    return FERRY_OK;
}

static ferry_status find_stand_ins(const ferry_model *model, ferry_term_vocabulary *vocabulary, ferry_ids *ids,
                                   ferry_error *error)
{
    static const char *const names[] = {"Boston",  "Paris",  "Hawaii",  "London",  "Berlin",  "Chicago",
                                        "Hamburg", "Madrid", "Toronto", "Detroit", "Texas",   "Florida",
                                        "Kyoto",   "Osaka",  "Seattle", "Dublin",  "Havanna", "Alaska"};
    FERRY_TRY(ferry_tokenizer_encode(model->tokenizer, ferry_text_view(""), ids, error));
    const size_t frame = ids->count;
    for (size_t i = 0; i < sizeof names / sizeof *names && vocabulary->stand_in_count < FERRY_STAND_INS; i++) {
        int32_t id;
        FERRY_TRY(try_stand_in(model, names[i], frame, &id, ids, error));
        if (id >= 0) vocabulary->stand_ins[vocabulary->stand_in_count++] = (ferry_stand_in){names[i], id};
    }
    return FERRY_OK;
}

ferry_status ferry_term_vocabulary_create(const ferry_model *model, ferry_term_vocabulary *vocabulary,
                                          ferry_error *error)
{
    const size_t words = ((size_t)model->file.text.target_count + 63) / 64;
    ferry_ids ids = {0};
    ferry_status status = encode(model, ferry_text_view("a"), &ids, error); /* a word in every vocabulary */
    if (status == FERRY_OK && ids.count > 0) {
        vocabulary->word_begins = calloc(words, sizeof *vocabulary->word_begins);
        vocabulary->numberless = calloc(words, sizeof *vocabulary->numberless);
        status = vocabulary->word_begins != NULL && vocabulary->numberless != NULL
                     ? list_tokens(model, ids.ids[ids.count - 1], vocabulary, error)
                     : ferry_fail_memory(error, "the vocabulary", words, sizeof *vocabulary->word_begins);
    }
    if (status == FERRY_OK) status = find_stand_ins(model, vocabulary, &ids, error);
    free(ids.ids);
    if (status != FERRY_OK) ferry_term_vocabulary_destroy(vocabulary);
    return status;
}

void ferry_term_vocabulary_destroy(ferry_term_vocabulary *vocabulary)
{
    free(vocabulary->word_begins);
    free(vocabulary->numberless);
    *vocabulary = (ferry_term_vocabulary){0};
}
