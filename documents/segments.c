/* Where segments begin and end within what a reader gave as one, and what they are. */
#include "base/utf8.h"
#include "characters.h"
#include "document_parts.h"
#include "net.h"
#include "tokenizer/unicode.h"

enum { FEW_CAPITALS = 4 }; /* letters: less may be an abbreviation */
enum { MOST_AROUND = 4 };  /* elements around a text */

void ferry_document_pair_spans(ferry_document *document, size_t first, size_t after)
{
    const size_t none = SIZE_MAX;
    size_t open = none;
    for (size_t i = first; i < after; i++) {
        ferry_span *span = &document->spans[i];
        if (span->kind == FERRY_SPAN_OPEN) {
            span->partner = open;
            open = i;
        } else if (span->kind == FERRY_SPAN_CLOSE && open == none) {
            span->kind = FERRY_SPAN_POINT;
        } else if (span->kind == FERRY_SPAN_CLOSE) {
            const size_t outer = document->spans[open].partner;
            document->spans[open].partner = i;
            span->partner = open;
            open = outer;
        }
    }
    while (open != none) {
        document->spans[open].kind = FERRY_SPAN_POINT;
        open = document->spans[open].partner;
    }
}

/* Finds whether there is prose for a model, a letter (or what is no UTF-8), and whether all of it is in capitals. */
static void find_letters(const ferry_document *document, ferry_segment *segment)
{
    size_t capitals = 0;
    bool others = false;
    for (size_t i = segment->first_span; i < segment->after_span; i++) {
        const ferry_span *span = &document->spans[i];
        if (span->kind != FERRY_SPAN_TEXT) continue;
        const ferry_view text = ferry_span_text(document, span);
        for (size_t at = 0; at < text.size;) {
            uint32_t c;
            const bool read = ferry_utf8_next(text, &at, &c);
            const ferry_character kind = read ? ferry_unicode_character(c) : FERRY_CHARACTER_OTHER;
            segment->has_letters = segment->has_letters || !read || kind <= FERRY_CHARACTER_LETTER;
            others = others || kind == FERRY_CHARACTER_LOWER || kind == FERRY_CHARACTER_LETTER;
            capitals += kind == FERRY_CHARACTER_UPPER;
        }
    }
    const bool ends = segment->end > segment->begin && is_one_of(document->source.data[segment->end - 1], ".!?:");
    for (size_t i = segment->first_span; i < segment->after_span && !ends; i++) /* a command */
        if (ferry_view_is(ferry_span_source(document, &document->spans[i]), "&&")) segment->has_letters = false;
    segment->in_capitals = !others && capitals >= FEW_CAPITALS;
}

/* Whether the span is marks that stand alone. */
static bool is_marks(const ferry_document *document, const ferry_span *span)
{
    const ferry_view source = ferry_span_source(document, span);
    return span->kind == FERRY_SPAN_POINT && source.size > 0 && skip_set(source, 0, FERRY_MARKS) == source.size;
}

/* What is kept directly behind the end of a sentence, at the end of a text, stays there: "Wait!{w}"; and so do marks
 * behind a blank. */
static size_t leave_last(ferry_document *document, size_t first, size_t after)
{
    ferry_span *spans = document->spans;
    size_t last = after;
    if (last > first + 1 && is_marks(document, &spans[last - 1]) && ferry_span_is_literal(&spans[last - 2])) {
        ferry_span *text = &spans[last - 2];
        size_t end = text->text_end;
        while (end > text->text_begin && is_blank(document->text.data[end - 1])) end--;
        if (end == text->text_end || end == text->text_begin) return after;
        text->end -= text->text_end - end;
        text->text_end = end;
        return last - 1;
    }
    while (last > first + 1 && spans[last - 1].kind == FERRY_SPAN_KEPT && spans[last - 1].begin == spans[last - 2].end)
        last--;
    if (last == after || !ferry_span_is_literal(&spans[last - 1])) return after;
    const ferry_view text = ferry_span_text(document, &spans[last - 1]);
    return text.size > 0 && is_one_of(text.data[text.size - 1], ".!?") ? last : after;
}

/* Bytes of a bullet, dashes, a number or semicolons, and the blank behind them; or of points of omission. */
static size_t label_size(ferry_view text)
{
    size_t at = 0, next = 0;
    uint32_t c = 0;
    while (next < text.size && ferry_utf8_next(text, &next, &c) &&
           (c == '-' || c == '*' || c == 0x2022 || ferry_unicode_character(c) == FERRY_CHARACTER_DASH))
        at = next;
    if (at == 0) at = skip_set(text, 0, ";");
    if (at == 0) at = skip(text, 0, is_digit, 3);
    while (at > 0 && byte_at(text, at) == '.' && is_digit(byte_at(text, at + 1))) at = skip(text, at + 1, is_digit, 3);
    if (at == 0) at = skip_set(text, 0, "IVXLC"); /* "II. ", but "V. Smith" */
    if (at == 1 && !is_digit(text.data[0]) && is_one_of(text.data[0], "VXLC")) return 0;
    at += at > 0 && is_word(text.data[at - 1]) && is_one_of(byte_at(text, at), ".)");
    const bool is_label = at > 0 && byte_at(text, at) == ' ' && !is_word(text.data[at - 1]);
    if (is_label) return skip_blanks(text, at);
    at = begins_exactly(text, 0, "\xE2\x80\xA6") ? 3 : skip_set(text, 0, ".");
    return at < 3 ? 0 : at;
}

static bool is_number(const ferry_document *document, const ferry_span *span)
{
    const ferry_view text = ferry_span_text(document, span);
    return span->kind == FERRY_SPAN_KEPT && text.size < 8 && skip_set(text, 0, "0123456789.") == text.size;
}

/* The span behind an element of a number at the beginning, <span>2. </span>, or `first`. */
static size_t skip_numbered(const ferry_document *document, size_t first, size_t after)
{
    size_t at = first + 1;
    if (document->spans[first].kind != FERRY_SPAN_OPEN) return first;
    for (; at < after && at < first + 6; at++) {
        const ferry_span *span = &document->spans[at];
        const ferry_view text = ferry_span_text(document, span);
        if (span->kind == FERRY_SPAN_CLOSE) return at > first + 1 && at + 1 < after ? at + 1 : first;
        if (span->kind == FERRY_SPAN_OPEN || skip_set(text, 0, "0123456789.) ") < text.size) return first;
    }
    return first;
}

/* What labels a text stays at its beginning; so do marks there that a blank is behind. Returns its first span. */
static size_t leave_first(ferry_document *document, size_t first, size_t after)
{
    ferry_span *spans = document->spans;
    first = skip_numbered(document, first, after);
    size_t span = first, end = first;
    const bool marked = is_marks(document, &spans[first]);
    span += marked;
    for (end = span;
         end < after && (spans[end].kind == FERRY_SPAN_TEXT || (end == span && is_number(document, &spans[end])));
         end++)
        continue;
    if (end == span) return first;
    const ferry_view text = {document->text.data + spans[span].text_begin,
                             spans[end - 1].text_end - spans[span].text_begin};
    const size_t blanks = skip_blanks(text, 0), at = blanks > 0 ? blanks : marked ? 0 : label_size(text);
    const size_t begin = spans[span].text_begin + at;
    if (at == 0 || at == text.size) return first;
    while (spans[span].text_end <= begin) span++;
    if (spans[span].text_begin < begin && !ferry_span_is_literal(&spans[span])) return first;
    spans[span].begin += begin - spans[span].text_begin;
    spans[span].text_begin = begin;
    return span;
}

static bool is_blank_text(const ferry_document *document, size_t span)
{
    return document->spans[span].kind == FERRY_SPAN_TEXT &&
           ferry_utf8_is_blank(ferry_span_text(document, &document->spans[span]));
}

/* Whether span `first` is a tag that begins an element of all spans up to `after`. */
static bool is_around(const ferry_document *document, size_t first, size_t after)
{
    const ferry_span *span = &document->spans[first];
    return after - first > 2 && span->kind == FERRY_SPAN_OPEN && span->partner == after - 1 &&
           document->source.data[span->begin] == '<';
}

/* Spans first … after - 1, if there are any, are a segment that ends at byte `end`: the open one, or if that has spans,
 * another one like it. */
static ferry_status add_segment(ferry_document *document, size_t first, size_t after, size_t end)
{
    const ferry_segment open = *ferry_document_open_segment(document);
    if (first >= after) return FERRY_OK;
    const size_t begin = document->spans[first].begin;
    for (size_t i = 0; i < MOST_AROUND && is_around(document, first, after); i++) {
        first++;
        end = document->spans[--after].begin;
        for (; after > first + 1 && is_blank_text(document, after - 1); after--) end = document->spans[after - 1].begin;
        while (first + 1 < after && is_blank_text(document, first)) first++;
    }
    ferry_span *text = &document->spans[after - 1];
    for (; ferry_span_is_literal(text) && text->text_end > text->text_begin + 1 && text->end == end &&
           is_blank(document->text.data[text->text_end - 1]);
         end--) {
        text->end--;
        text->text_end--;
    }
    first = leave_first(document, first, after);
    const size_t last = leave_last(document, first, after);
    if (last < after) end = document->spans[last - 1].end;
    after = last;
    if (open.after_span > 0) FERRY_TRY(ferry_document_begin_segment(document, document->spans[first].begin));
    ferry_segment *segment = ferry_document_open_segment(document);
    if (first > open.first_span || begin < document->spans[first].begin) segment->begin = document->spans[first].begin;
    segment->end = end;
    segment->first_span = segment->first_read = first;
    segment->after_span = segment->after_read = after;
    segment->width = open.width;
    segment->line_end_begin = open.line_end_begin;
    segment->line_end_end = open.line_end_end;
    ferry_document_pair_spans(document, first, after);
    find_letters(document, segment);
    return FERRY_OK;
}

static bool is_line_break(const ferry_span *span)
{
    return span->kind == FERRY_SPAN_BREAK && span->blank;
}

/* Whether all lines, two at least, begin with the same marks and a blank: "| ". */
static bool has_prefix(const ferry_document *document, size_t first)
{
    const ferry_span *spans = document->spans;
    const ferry_view prefix = ferry_span_source(document, &spans[first]);
    size_t lines = 0;
    for (size_t i = first; i < document->span_count; i++) {
        if (i > first && !is_line_break(&spans[i - 1])) continue;
        if (i + 1 >= document->span_count || spans[i].kind != FERRY_SPAN_POINT ||
            !ferry_span_is_literal(&spans[i + 1]) || !is_blank(byte_at(document->source, spans[i + 1].begin)) ||
            !ferry_view_equal(ferry_span_source(document, &spans[i]), prefix))
            return false;
        lines++;
    }
    return lines > 1 && skip_set(prefix, 0, FERRY_MARKS) == prefix.size;
}

/* Each line is a segment, without its first span and blanks. */
static ferry_status add_lines(ferry_document *document, size_t first, size_t end)
{
    const size_t count = document->span_count;
    for (size_t line = first, next; line < count; line = next + 1) {
        for (next = line; next < count && !is_line_break(&document->spans[next]); next++) continue;
        ferry_span *text = &document->spans[line + 1];
        const size_t blanks = skip_blanks(ferry_span_text(document, text), 0);
        text->begin += blanks;
        text->text_begin += blanks;
        FERRY_TRY(add_segment(document, line + 1, next, next < count ? document->spans[next].begin : end));
    }
    return FERRY_OK;
}

/* The open segment ends at byte `end`. A line that is no text ends the segment before it, and belongs to none. */
ferry_status ferry_document_add_segments(ferry_document *document, size_t first, size_t end)
{
    const size_t count = document->span_count;
    size_t text = first; /* where the next segment begins */
    ferry_document_open_segment(document)->end = end;
    ferry_document_pair_spans(document, first, count);
    if (!document->in_attribute && first < count && has_prefix(document, first)) return add_lines(document, first, end);
    for (size_t line = first, next; line < count; line = next + 1) {
        for (next = line; next < count && !is_line_break(&document->spans[next]); next++) continue;
        if (next == line || !ferry_net_is_line(document, line, next)) continue;
        if (document->in_attribute && (line > first || next < count)) continue; /* it is one text */
        if (line > text) FERRY_TRY(add_segment(document, text, line - 1, document->spans[line - 1].begin));
        text = next + 1;
    }
    return add_segment(document, text, count, end);
}
