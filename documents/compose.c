#include "compose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "characters.h"
#include "placing.h"
#include "tokenizer/unicode.h"
#include "alignment.h"

static const size_t none = SIZE_MAX;

typedef struct composer {
    ferry_composition *c;
    const ferry_model_segment *segment;
    ferry_error *error;
    size_t blanks;                 /* where blanks began that belong to the next piece; none: there are none */
    bool in_word;                  /* the next character belongs to the last piece */
    bool joins;                    /* a blank that comes next is none of the source's */
    bool parts;                    /* a word that comes next has a blank before it */
    uint32_t before;               /* the last character */
    size_t mark, place;            /* what comes next: a mark, a byte of the text */
    size_t first_kept, after_kept; /* what is kept in the sentence, or in the segment */
    ferry_view target;             /* the translation of the sentence */
    const ferry_term *term;        /* the next one of it that the next model gets; NULL: there is none */
    size_t line, next_term;        /* the sentence, and the index of the term after `term` */
    size_t term_begin;             /* in the pieces' text */
} composer;

/* ---- pieces ---- */

/* A piece that begins with byte `at` of the text, behind its blanks; its end is to follow. */
static ferry_status push_piece(composer *m, const ferry_span *span, size_t at, bool may_break)
{
    ferry_written_pieces *pieces = &m->c->pieces;
    const bool blank = m->blanks != none;
    const ferry_written_piece piece = {.span = span,
                                       .text_begin = at,
                                       .text_end = at,
                                       .blank_begin = blank ? m->blanks : at,
                                       .may_break = blank || may_break};
    m->blanks = none;
    return ferry_array_append(&pieces->pieces, &pieces->count, &pieces->capacity, &piece, sizeof piece, m->error);
}

/* What a model writes is a stranger's text: of line ends and controls, blanks remain. */
static ferry_status push_character(composer *m, uint32_t c)
{
    ferry_written_pieces *pieces = &m->c->pieces;
    const size_t at = pieces->text.size;
    char bytes[4];
    const bool blank = ferry_utf8_is_space(c) || ferry_is_control(c);
    if (m->parts && ferry_unicode_is_of_word(c)) {
        m->parts = false;
        FERRY_TRY(push_character(m, ' '));
    }
    m->parts = false;
    const bool dropped = blank && (m->blanks != none || m->joins);
    m->joins = false;
    if (dropped) return FERRY_OK;
    if (blank) c = ' ';
    if (m->segment->capitals) c = ferry_unicode_upper(c);
    FERRY_TRY(ferry_buffer_append(&pieces->text, (ferry_view){bytes, ferry_utf8_put(c, bytes)}, m->error));
    const bool splits = ferry_is_ideograph(m->before) && ferry_is_ideograph(c);
    if (blank)
        m->blanks = at;
    else if (!m->in_word || splits)
        FERRY_TRY(push_piece(m, NULL, at, splits));
    if (!blank) pieces->pieces[pieces->count - 1].text_end = pieces->text.size;
    m->in_word = !blank;
    m->before = c;
    return FERRY_OK;
}

/* What stands between other text: it goes on at a new piece. */
static ferry_status push_span(composer *m, const ferry_span *span)
{
    m->in_word = false;
    m->before = 0;
    return push_piece(m, span, m->c->pieces.text.size, false);
}

/* An element's end, or what stands alone. */
static ferry_status push_mark(composer *m, const ferry_mark *mark)
{
    ferry_written_pieces *pieces = &m->c->pieces;
    const ferry_span *span = &m->c->document->spans[mark->span];
    const ferry_span *before = pieces->count > 0 ? pieces->pieces[pieces->count - 1].span : NULL;
    const bool is_point = mark->kind == FERRY_MARK_POINT, opens = mark->kind == FERRY_MARK_OPEN;
    const bool begins_element = pieces->count == 0 || (before != NULL && before->kind == FERRY_SPAN_OPEN);
    if (m->blanks != none && ((is_point && span->blank) || (opens && mark->joined && before != NULL))) {
        pieces->text.size = m->blanks;
        m->blanks = none;
    }
    if (is_point && mark->spaced && !begins_element) FERRY_TRY(push_character(m, ' '));
    FERRY_TRY(push_span(m, span));
    m->joins = m->joins || (!opens && mark->joined);
    return mark->spaced ? push_character(m, ' ') : FERRY_OK;
}

/* What is kept. Where a blank was in the source, there is one; it touches no letter. */
static ferry_status push_kept(composer *m, const ferry_model_placeholder *kept)
{
    const ferry_view shown = {m->c->shown->text.data, m->segment->end};
    size_t before = kept->term.begin, after = kept->term.end;
    uint32_t c = 0;
    const bool begins_segment = before == m->segment->begin || !ferry_utf8_previous(shown, &before, &c);
    if (!begins_segment && c == ' ' && m->blanks == none && ferry_unicode_is_of_word(m->before))
        FERRY_TRY(push_character(m, ' '));
    FERRY_TRY(push_span(m, &m->c->document->spans[kept->span]));
    const bool ends_segment = after == m->segment->end || !ferry_utf8_next(shown, &after, &c);
    m->parts = !ends_segment && c == ' ';
    m->joins = !ends_segment && ferry_unicode_is_of_word(c);
    return FERRY_OK;
}

/* What a placeholder stands for, in the sentence or in the segment; NULL: nothing. */
static ferry_model_placeholder *find_kept(const composer *m, uint32_t c)
{
    if (!ferry_is_placeholder(c)) return NULL;
    const size_t count = FERRY_PLACEHOLDERS, first = m->first_kept % count;
    const size_t index = m->first_kept + (c - FERRY_FIRST_PLACEHOLDER + count - first) % count;
    return index < m->after_kept ? &m->c->shown->kept[index] : NULL;
}

/* Goes to the next term for the next model; what is kept has a place of its own. */
static void find_term(composer *m)
{
    const ferry_result *lines = ferry_result_sentences(m->c->result);
    uint32_t c;
    size_t at;
    do {
        m->term = ferry_result_term(lines, m->line, m->next_term++);
        at = m->term != NULL ? m->term->begin : m->target.size;
    } while (at < m->target.size && ferry_utf8_next(m->target, &at, &c) && ferry_is_placeholder(c));
}

/* Notes where the term begins and ends: before byte `at` of the translation. */
static ferry_status note_term(composer *m, size_t at)
{
    ferry_written_pieces *pieces = &m->c->pieces;
    if (m->term != NULL && at == m->term->begin) m->term_begin = pieces->text.size;
    if (m->term == NULL || at != m->term->end) return FERRY_OK;
    ferry_term term = *m->term;
    term.begin = m->term_begin;
    term.end = pieces->text.size;
    while (term.begin < term.end && pieces->text.data[term.begin] == ' ') term.begin++;
    find_term(m);
    return ferry_array_append(&pieces->terms, &pieces->term_count, &pieces->term_capacity, &term, sizeof term,
                              m->error);
}

/* Bytes begin … end - 1 of a text. */
static ferry_status push_text(composer *m, const char *text, size_t begin, size_t end)
{
    if (text == m->target.data) FERRY_TRY(note_term(m, begin));
    for (size_t at = begin; at < end;) {
        uint32_t c;
        if (!ferry_utf8_next((ferry_view){text, end}, &at, &c)) c = 0xFFFD;
        const ferry_model_placeholder *kept = find_kept(m, c);
        FERRY_TRY(kept != NULL ? push_kept(m, kept) : push_character(m, c));
        if (text == m->target.data) FERRY_TRY(note_term(m, at));
    }
    return FERRY_OK;
}

/* ---- sentences ---- */

static ferry_view text_of(const composer *m, size_t begin, size_t end)
{
    return (ferry_view){m->c->shown->text.data + begin, end - begin};
}

/* Finds the marks that go with the sentence, those from m->mark on being free: those within it, and at its ends those
 * of elements that begin or end within it. All others stay where they are, between the sentences. *outside: from which
 * on they are behind it. */
static void find_marks(const composer *m, ferry_place_sentence *s, size_t *outside)
{
    const ferry_mark *marks = s->marks;
    const size_t count = m->segment->after_mark, end = s->begin + s->source.size;
    const size_t next = end + ferry_utf8_leading_space(text_of(m, end, m->segment->end));
    size_t mark = m->mark;
    for (; mark < count && marks[mark].at <= s->begin; mark++) {
        if (marks[mark].kind != FERRY_MARK_OPEN) continue;
        const size_t close = marks[marks[mark].partner].at;
        if (close > s->begin && close < end) break;
    }
    s->first_mark = mark;
    while (mark < count && marks[mark].at < end) mark++;
    *outside = s->after_mark = mark;
    for (; mark < count && marks[mark].at <= next; mark++)
        if (marks[mark].kind == FERRY_MARK_CLOSE && marks[mark].partner >= s->first_mark &&
            marks[mark].partner < *outside)
            s->after_mark = mark + 1;
}

/* Finds what is kept in the sentence, from what is kept in the last one on. */
static void find_kept_within(composer *m, const ferry_place_sentence *s)
{
    const ferry_model_placeholder *kept = m->c->shown->kept;
    size_t at = m->after_kept;
    while (at < m->segment->after_kept && kept[at].term.begin < s->begin) at++;
    m->first_kept = at;
    while (at < m->segment->after_kept && kept[at].term.begin < s->begin + s->source.size) at++;
    m->after_kept = at;
}

/* Whether the translation has all that is kept in the sentence, once each, and nothing that is not. */
static bool has_kept(const composer *m, ferry_view target)
{
    size_t count = 0;
    for (size_t at = 0; at < target.size;) {
        uint32_t c;
        if (!ferry_utf8_next(target, &at, &c) || !ferry_is_placeholder(c)) continue;
        ferry_model_placeholder *kept = find_kept(m, c);
        if (kept == NULL || kept->found || !kept->is_placeholder) return false;
        kept->found = true;
        count++;
    }
    for (size_t i = m->first_kept; i < m->after_kept; i++) count += !m->c->shown->kept[i].is_placeholder;
    return count == m->after_kept - m->first_kept;
}

/* Text and marks up to byte `end` of the text and mark `after`, as they are. */
static ferry_status pass(composer *m, size_t end, size_t after)
{
    const ferry_mark *marks = m->c->shown->marks;
    for (; m->mark < after; m->mark++) {
        const ferry_mark *mark = &marks[m->mark];
        if (mark->at > m->place) {
            FERRY_TRY(push_text(m, m->c->shown->text.data, m->place, mark->at));
            m->place = mark->at;
        }
        FERRY_TRY(push_mark(m, mark));
    }
    if (end > m->place) FERRY_TRY(push_text(m, m->c->shown->text.data, m->place, end));
    if (end > m->place) m->place = end;
    return FERRY_OK;
}

/* ---- marks in sentences ---- */

/* The translation, with its marks. */
static ferry_status push_placed(composer *m, const ferry_place_sentence *s, const ferry_placed *placed)
{
    size_t at = 0;
    for (size_t i = 0; i < s->after_mark - s->first_mark; i++) {
        FERRY_TRY(push_text(m, s->target.data, at, placed[i].at));
        FERRY_TRY(push_mark(m, &s->marks[placed[i].mark]));
        at = placed[i].at;
    }
    return push_text(m, s->target.data, at, s->target.size);
}

static ferry_status push_aligned(composer *m, const ferry_place_sentence *s)
{
    const size_t count = s->after_mark - s->first_mark;
    ferry_placed *placed = calloc(count + 1, sizeof *placed);
    if (placed == NULL) return ferry_fail_memory(m->error, "the elements of a sentence", count, sizeof *placed);
    ferry_status status = ferry_place(s, placed, m->error);
    if (status == FERRY_OK) status = push_placed(m, s, placed);
    free(placed);
    return status;
}

/* ---- the end of a text ---- */

static bool is_end(uint32_t c)
{
    return c == '.' || c == '!' || c == '?' || c == ':' || c == ';' || c == 0x061F || c == 0x0964 || c == 0x2026 ||
           c == 0x3002 || c == 0xFF01 || c == 0xFF0E || c == 0xFF1A || c == 0xFF1B || c == 0xFF1F;
}

/* The byte where the characters that end the text begin; *kind: the character before them. */
static size_t find_end(ferry_view text, ferry_character *kind)
{
    size_t at = text.size, end = at;
    uint32_t c = 0;
    while (ferry_utf8_previous(text, &at, &c) && is_end(c)) end = at;
    *kind = end == 0                  ? FERRY_CHARACTER_OTHER
            : ferry_is_placeholder(c) ? FERRY_CHARACTER_LETTER
                                      : ferry_unicode_character(c);
    return end;
}

/* Changes the end of a translation to that of its source: "…" and ":" are those of the source; where that ends with a
 * letter or a number, what ends a sentence goes; where it ends a sentence, the translation does, too. */
static ferry_status end_as(ferry_view source, ferry_buffer *target, ferry_error *error)
{
    ferry_character before, other;
    source = ferry_utf8_trim(source);
    const ferry_view made = {target->data != NULL ? target->data : "", target->size};
    const size_t trimmed = ferry_utf8_trim(made).size + ferry_utf8_leading_space(made);
    const size_t from = find_end(source, &before), to = find_end((ferry_view){made.data, trimmed}, &other);
    const ferry_view end = {source.data + from, source.size - from};
    if (to == 0 || from == 0) return FERRY_OK;
    const ferry_view made_end = {made.data + to, trimmed - to};
    if (end.size == 0) {
        if (before <= FERRY_CHARACTER_NUMBER && !ferry_view_contains(made_end, ":") &&
            !ferry_view_contains(made_end, ";"))
            target->size = to;
        return FERRY_OK;
    }
    const bool special = ferry_view_contains(end, "…") || ferry_view_contains(end, "...") ||
                         ferry_view_contains(end, ":") || ferry_view_contains(end, "：") ||
                         (ferry_view_is(end, ".") && ferry_view_is(made_end, "!"));
    if (!special && to < trimmed) return FERRY_OK;
    target->size = to;
    return ferry_buffer_append(target, end, error);
}

/* ---- signs ---- */

/* What a translation has as often as its text: characters, directives of printf ('%'), and names in braces. Of the
 * first ones, which are prose's, it may have more. */
enum { OF_PROSE = 4 };
static const char code_signs[FERRY_CODE_SIGNS + 1] = "():\"{}[]|\\@^=%{";
static const char *const sign_names[FERRY_CODE_SIGNS] = {"(", ")",  ":", "\"", "{", "}",          "[",     "]",
                                                         "|", "\\", "@", "^",  "=", "directives", "{name}"};

/* %d %1$s %-5.2f %(name)s, whatever the finder of placeholders takes for one; not "50 %-ige", "%50'si". */
static bool is_directive(ferry_view text, size_t at)
{
    if (at > 0 && is_digit(text.data[at - 1 - (at > 1 && text.data[at - 1] == ' ')])) return false;
    size_t end = at + 1, name = skip_name(text, at + 2, "", FERRY_MOST_NAME);
    if (byte_at(text, end) == '(' && byte_at(text, name) == ')') end = name + 1;
    end = skip_set(text, skip_set(text, end, "0123456789-+#.*$"), "hlLqjzt");
    return is_one_of(byte_at(text, end), "diouxXeEfFgGcspn") && !is_word(byte_at(text, end + 1));
}

/* Whether a quotation mark of another kind than '"' is at byte `at`: „ “ ” « » */
static bool is_quote(ferry_view text, size_t at)
{
    static const char *const quotes[] = {"\u201C", "\u201D", "\u201E", "\u00AB", "\u00BB"};
    for (size_t i = 0; i < sizeof quotes / sizeof *quotes; i++)
        if (begins_exactly(text, at, quotes[i])) return true;
    return false;
}

/* Translations may have quotation marks of their language for '"'. */
static void count_signs(ferry_view text, bool translated, size_t *counts)
{
    for (size_t at = 0; at < text.size; at++) {
        const char c = translated && is_quote(text, at) ? '"' : text.data[at];
        const size_t name = c == '{' ? skip_name(text, at + 1, ".:!", FERRY_MOST_NAME) : at;
        if (is_one_of(c, code_signs) && (c != '%' || is_directive(text, at)) &&
            (c != ':' || byte_at(text, at + 1) == ' '))
            counts[strchr(code_signs, c) - code_signs]++;
        counts[FERRY_CODE_SIGNS - 1] += name > at + 1 && byte_at(text, name) == '}';
    }
}

/* Whether both have the same signs; *c is to say which are others. In a second try those of prose may be. */
static bool has_signs(ferry_composition *c, bool again, ferry_view source, ferry_view target)
{
    size_t wanted[FERRY_CODE_SIGNS] = {0}, found[FERRY_CODE_SIGNS] = {0};
    bool same = true;
    count_signs(source, false, wanted);
    count_signs(target, true, found);
    for (size_t i = FERRY_CODE_SIGNS; i-- > 0;) {
        if (wanted[i] == found[i] || (i < OF_PROSE && (again || wanted[i] < found[i]))) continue;
        same = false;
        snprintf(c->message, sizeof c->message, "the translation has other signs: expected %zu of %s, found %zu",
                 wanted[i], sign_names[i], found[i]);
        if (wanted[i] > found[i] && strchr(c->lacks, code_signs[i]) == NULL) c->lacks[strlen(c->lacks)] = code_signs[i];
    }
    if (strpbrk(c->lacks, "()") != NULL) snprintf(c->lacks + strcspn(c->lacks, "()"), 3, "()"); /* both, as the last */
    return same;
}

/* ---- a segment ---- */

/* Whether the translation of a text without a digit has a number above 12, up to which words can become numbers. */
static bool invents_number(ferry_view source, ferry_view target)
{
    if (ferry_unicode_has_digit(source)) return false;
    for (size_t at = 0, end; at<target.size; at = end> at ? end : at + 1) {
        end = skip(target, at, is_digit, target.size);
        if (end - at > 2 || (end - at == 2 && (target.data[at] != '1' || target.data[at + 1] > '2'))) return true;
    }
    return false;
}

static size_t count_numbers(ferry_view text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++) count += is_digit(text.data[i]) && !is_digit(byte_at(text, i + 1));
    return count;
}

/* Whether the numbers of the translation are others, or more. If the model saw some, it is to see none. */
static bool has_other_numbers(const composer *m, const ferry_outcome *outcome, ferry_view source, ferry_view target)
{
    bool shows = false;
    for (size_t i = m->first_kept; i < m->after_kept; i++) shows = shows || !m->c->shown->kept[i].is_placeholder;
    const bool has_more = shows && count_numbers(target) > count_numbers(source);
    if ((outcome->quality & FERRY_QUALITY_NUMBER) == 0 && !has_more && !invents_number(source, target)) return false;
    if (shows) m->c->lacks[0] = FERRY_LACKS_NUMBER;
    return true;
}

static const char *why_not(const composer *m, const ferry_outcome *outcome, ferry_view source, ferry_view target)
{
    if (outcome->status != FERRY_OK) return outcome->error;
    if ((outcome->quality & FERRY_QUALITY_LOOP) != 0) return "the translation repeats itself";
    if ((outcome->quality & FERRY_QUALITY_CUT) != 0) return "the translation ended at max_length";
    if (ferry_utf8_is_blank(target)) return "the translation is blank";
    if ((outcome->quality & FERRY_QUALITY_TERM) != 0 || !has_kept(m, target))
        return "the translation lacks what has to be kept, or has it twice";
    if (has_other_numbers(m, outcome, source, target)) return "the translation has other numbers";
    return has_signs(m->c, m->segment->segment->lacks != '\0', source, target) ? NULL : m->c->message;
}

/* The translation of a sentence; the last one ends as the text does. */
static ferry_status push_sentence(composer *m, size_t index, bool last)
{
    const ferry_sentence *range = ferry_result_sentence(m->c->result, index);
    const ferry_result *lines = ferry_result_sentences(m->c->result);
    const ferry_text text = ferry_result_text(lines, index, 0);
    const ferry_outcome *outcome = ferry_result_outcome(lines, index);
    ferry_place_sentence s = {.result = lines,
                              .line = index,
                              .source = text_of(m, range->source_begin, range->source_end),
                              .begin = range->source_begin,
                              .marks = m->c->shown->marks};
    ferry_buffer target = {0};
    size_t outside;
    find_marks(m, &s, &outside);
    find_kept_within(m, &s);
    s.kept = m->c->shown->kept;
    s.first_kept = m->first_kept;
    s.after_kept = m->after_kept;
    if (outcome->status == FERRY_OK && ferry_result_token_count(lines, index, 0) == 0)
        return pass(m, range->source_end, outside); /* the model sees nothing of it */
    FERRY_TRY(pass(m, s.begin, s.first_mark));
    ferry_status status = ferry_buffer_append(&target, (ferry_view){text.data, text.size}, m->error);
    if (status == FERRY_OK && last) status = end_as(s.source, &target, m->error);
    s.target = (ferry_view){target.data != NULL ? target.data : "", target.size};
    m->target = s.target;
    m->line = index;
    m->next_term = 0;
    find_term(m);
    const char *reason = why_not(m, outcome, s.source, s.target);
    m->c->changed = m->c->changed || !ferry_view_equal(s.target, s.source);
    if (m->c->reason == NULL) m->c->reason = reason;
    if (reason == NULL && status == FERRY_OK)
        status = s.first_mark < s.after_mark ? push_aligned(m, &s) : push_text(m, s.target.data, 0, s.target.size);
    m->mark = s.after_mark;
    m->place = range->source_end;
    m->target = (ferry_view){NULL, 0};
    free(target.data);
    return status;
}

ferry_status ferry_compose(ferry_composition *c, const ferry_model_segment *segment, size_t first, size_t after)
{
    composer m = {.c = c, .segment = segment, .error = c->document->error, .blanks = none};
    m.mark = segment->first_mark;
    m.place = segment->begin;
    m.first_kept = m.after_kept = segment->first_kept;
    c->pieces.count = c->pieces.text.size = c->pieces.term_count = 0;
    c->reason = NULL;
    memset(c->lacks, 0, sizeof c->lacks);
    c->changed = false;
    for (size_t i = first; i < after; i++) FERRY_TRY(push_sentence(&m, i, i + 1 == after));
    return c->reason == NULL ? pass(&m, segment->end, segment->after_mark) : FERRY_OK;
}
