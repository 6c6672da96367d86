#include "term_search.h"

#include <stdlib.h>
#include <string.h>

#include "tokenizer/unicode.h"

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
        if (!ferry_unicode_is_within_word(text, at) && !ferry_unicode_is_within_word(text, found->end) &&
            !is_taken(part, index, *found))
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
    qsort(result->terms, result->term_count, sizeof *result->terms, ferry_terms_compare);
    return FERRY_OK;
}
