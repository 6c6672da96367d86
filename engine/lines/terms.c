#include "terms.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "glossary.h"
#include "languages.h"
#include "model.h"
#include "numbers.h"
#include "tokenizer/unicode.h"

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

/* Writes the stand-in into *shown, behind a blank, as its token needs, and before one where it would meet a word. */
static ferry_status write_stand_in(ferry_part_term *term, ferry_view valid, ferry_buffer *shown, ferry_error *error)
{
    uint32_t c;
    size_t before = shown->size, after = term->original.end;
    const bool touches = ferry_utf8_previous((ferry_view){shown->data, before}, &before, &c) && !ferry_utf8_is_space(c);
    term->glued = touches && ferry_unicode_is_of_word(c);
    if (touches) FERRY_TRY(ferry_buffer_append(shown, ferry_text_view(" "), error));
    term->term.begin = shown->size;
    FERRY_TRY(ferry_buffer_append(shown, ferry_text_view(term->stand_in->name), error));
    term->term.end = shown->size;
    term->gap = after < valid.size && ferry_utf8_next(valid, &after, &c) && ferry_unicode_is_of_word(c);
    return ferry_buffer_append(shown, ferry_text_view(term->gap ? " " : ""), error);
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
        status = ferry_tokenizer_encode_target(model->tokenizer, (ferry_view){targets[t].data, targets[t].size}, &ids,
                                               NULL, error);
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
    if (given > 0 && line->count > given) qsort(line->terms, line->count, sizeof *line->terms, ferry_terms_compare);
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

/* Whether nothing but white space, if anything, is between the last but one term of the part, a stand-in, and the last
 * one. */
static bool follows(const ferry_part *part)
{
    if (part->term_count < 2 || part->terms[part->term_count - 2].stand_in == NULL) return false;
    const size_t begin = part->terms[part->term_count - 2].term.end, end = part->terms[part->term_count - 1].term.begin;
    return ferry_utf8_trim((ferry_view){part->text.data + begin, end - begin}).size == 0;
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
    grown[part->term_count - 1].follows = follows(part);
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
        from = term->term.end + term->gap;
        to = term->original.end;
    }
    return to + (at > from ? at - from : 0);
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
