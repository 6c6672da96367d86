/* What readers call: segments and their parts. */
#include "document.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "characters.h"
#include "document_parts.h"
#include "html_tags.h"
#include "net.h"
#include "tokenizer/unicode.h"

enum { FEW_CAPITALS = 4 }; /* letters: less may be an abbreviation */

static ferry_segment *open_segment(ferry_document *document)
{
    if (document->in_attribute) return &document->attributes[document->attribute_count - 1];
    assert(document->segment_count > 0);
    return &document->segments[document->segment_count - 1];
}

/* The source from the segment's beginning up to here is covered by its spans. */
static size_t covered(ferry_document *document)
{
    const ferry_segment *segment = open_segment(document);
    return document->span_count == segment->first_span ? segment->begin : document->spans[document->span_count - 1].end;
}

ferry_status ferry_document_push_span(ferry_document *document, const ferry_span *span)
{
    return ferry_array_append(&document->spans, &document->span_count, &document->span_capacity, span, sizeof *span,
                              document->error);
}

/* A span, and before it what nothing was said about. */
static ferry_status add_span(ferry_document *document, const ferry_span *span)
{
    const size_t at = covered(document);
    assert(at <= span->begin && span->begin <= span->end && span->end <= document->source.size);
    if (at < span->begin) {
        const ferry_span gap = {.kind = FERRY_SPAN_POINT, .begin = at, .end = span->begin};
        FERRY_TRY(ferry_document_push_span(document, &gap));
    }
    return ferry_document_push_span(document, span);
}

static ferry_status begin_segment(ferry_document *document, ferry_segment **segments, size_t *count, size_t *capacity,
                                  size_t begin)
{
    assert(begin >= (*count > 0 ? (*segments)[*count - 1].end : 0) && begin <= document->source.size);
    const ferry_segment segment = {.format = document->format,
                                   .begin = begin,
                                   .first_span = document->span_count,
                                   .is_attribute = segments == &document->attributes};
    return ferry_array_append(segments, count, capacity, &segment, sizeof segment, document->error);
}

ferry_status ferry_document_begin_segment(ferry_document *document, size_t begin)
{
    return begin_segment(document, &document->segments, &document->segment_count, &document->segment_capacity, begin);
}

ferry_status ferry_document_begin_attribute(ferry_document *document, size_t begin)
{
    FERRY_TRY(begin_segment(document, &document->attributes, &document->attribute_count, &document->attribute_capacity,
                            begin));
    document->in_attribute = true;
    return FERRY_OK;
}

static ferry_status add_with_text(ferry_document *document, ferry_span_kind kind, size_t begin, size_t end,
                                  ferry_view text)
{
    if (text.data == NULL) text = (ferry_view){document->source.data + begin, end - begin};
    ferry_span span = {.kind = kind, .begin = begin, .end = end, .text_begin = document->text.size};
    FERRY_TRY(ferry_buffer_append(&document->text, text, document->error));
    span.text_end = document->text.size;
    return add_span(document, &span);
}

ferry_status ferry_document_text(ferry_document *document, size_t begin, size_t end, ferry_view decoded)
{
    return begin < end ? add_with_text(document, FERRY_SPAN_TEXT, begin, end, decoded) : FERRY_OK;
}

/* Whether it is nothing but symbols that are no ASCII: no word can stand for them. */
static bool is_symbol(ferry_view text)
{
    for (size_t at = 0; at < text.size;) {
        uint32_t c;
        if (!ferry_utf8_next(text, &at, &c) || c < 0x80 || ferry_unicode_character(c) <= FERRY_CHARACTER_NUMBER)
            return false;
    }
    return text.size > 0;
}

ferry_status ferry_document_kept(ferry_document *document, size_t begin, size_t end, ferry_view shown)
{
    if (is_symbol(shown)) return ferry_document_point(document, begin, end);
    return add_with_text(document, FERRY_SPAN_KEPT, begin, end, shown);
}

ferry_status ferry_document_open(ferry_document *document, size_t begin, size_t end)
{
    return add_span(document, &(ferry_span){.kind = FERRY_SPAN_OPEN, .begin = begin, .end = end});
}

ferry_status ferry_document_close(ferry_document *document, size_t begin, size_t end)
{
    return add_span(document, &(ferry_span){.kind = FERRY_SPAN_CLOSE, .begin = begin, .end = end});
}

ferry_status ferry_document_close_link(ferry_document *document, size_t begin, size_t end, ferry_view label)
{
    return add_with_text(document, FERRY_SPAN_CLOSE, begin, end, label);
}

ferry_status ferry_document_point(ferry_document *document, size_t begin, size_t end)
{
    return add_span(document, &(ferry_span){.kind = FERRY_SPAN_POINT, .begin = begin, .end = end});
}

ferry_status ferry_document_break(ferry_document *document, size_t begin, size_t end, bool blank)
{
    const ferry_span span = {.kind = FERRY_SPAN_BREAK, .blank = blank, .begin = begin, .end = end};
    return add_span(document, &span);
}

ferry_status ferry_document_wrap(ferry_document *document, size_t width, ferry_view line_end)
{
    ferry_segment *segment = open_segment(document);
    segment->width = width;
    segment->line_end_begin = document->line_ends.size;
    FERRY_TRY(ferry_buffer_append(&document->line_ends, line_end, document->error));
    segment->line_end_end = document->line_ends.size;
    return FERRY_OK;
}

/* ---- the end of a segment ---- */

/* Where byte `at` of the document's text is in the source: of text that was decoded, where its first byte is, or where
 * its last byte ends. */
static size_t source_of(const ferry_span *from, size_t *at, bool is_end)
{
    while (from->text_end < *at || (!is_end && from->text_end == *at)) from++;
    if (from->end - from->begin == from->text_end - from->text_begin) return from->begin + (*at - from->text_begin);
    *at = is_end ? from->text_end : from->text_begin;
    return is_end ? from->end : from->begin;
}

void ferry_span_cut(ferry_span *span, const ferry_span *from, size_t begin, size_t end)
{
    span->text_begin = begin;
    span->text_end = end;
    span->begin = source_of(from, &span->text_begin, false);
    span->end = source_of(from, &span->text_end, true);
}

/* Appends what the spans from … (all of them text) have of bytes begin … end - 1 of the document's text. */
static ferry_status push_text(ferry_document *document, const ferry_span *from, size_t begin, size_t end)
{
    for (; begin < end; from++) {
        if (from->text_end <= begin) continue;
        ferry_span part = *from;
        ferry_span_cut(&part, from, begin, from->text_end < end ? from->text_end : end);
        begin = part.text_end;
        FERRY_TRY(ferry_document_push_span(document, &part));
    }
    return FERRY_OK;
}

/* No word can stand for what tells a template what to do: {% if a %}. */
static bool is_directive(ferry_view piece)
{
    static const char *const starts[] = {"{%", "{{<", "{{%", "<#", "[b]", "[/"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (piece.size > strlen(starts[i]) && begins_exactly(piece, 0, starts[i])) return true;
    if (piece.size == 2 && *piece.data == '\\' && !is_letter(piece.data[1])) return true; /* an escape */
    return piece.size > 3 && begins_exactly(piece, 0, "<%") && piece.data[2] != '=';
}

/* Blanks that are no ' ', between words, are blanks for the model. */
static bool is_between_words(ferry_view text, const ferry_placeholder *blank)
{
    return blank->begin > 0 && blank->end < text.size && (unsigned char)text.data[blank->begin - 1] > ' ' &&
           (unsigned char)text.data[blank->end] > ' ';
}

/* A symbol before a sign takes the blank before it along: "good 😀." */
static bool takes_blank(ferry_view text, const ferry_placeholder *symbol)
{
    uint32_t c;
    size_t at = symbol->end;
    return symbol->begin > 0 && symbol->end < text.size && text.data[symbol->begin - 1] == ' ' &&
           ferry_utf8_next(text, &at, &c) && c > ' ' && ferry_unicode_character(c) > FERRY_CHARACTER_NUMBER;
}

/* Appends `count` spans of text that follow each other, with what has to be kept in them. */
static ferry_status push_run(ferry_document *document, const ferry_placeholder_rules *rules, const ferry_span *run,
                             size_t count)
{
    const size_t begin = run->text_begin, end = run[count - 1].text_end;
    const ferry_view text = {document->text.data + begin, end - begin};
    size_t at = begin;
    ferry_placeholder_search search = {.text = text, .rules = *rules};
    for (ferry_placeholder found; ferry_placeholder_next(&search, &found);) {
        found.begin -= found.kind == FERRY_PLACEHOLDER_SYMBOL && takes_blank(text, &found);
        ferry_span kept = {.kind = FERRY_SPAN_KEPT};
        kept.blank = found.kind == FERRY_PLACEHOLDER_SPACE && is_between_words(text, &found);
        ferry_span_cut(&kept, run, begin + found.begin, begin + found.end);
        if (found.kind == FERRY_PLACEHOLDER_SPACE || found.kind == FERRY_PLACEHOLDER_SYMBOL ||
            is_directive(view_part(text, found.begin, found.end)))
            kept.kind = FERRY_SPAN_POINT;
        if (kept.text_begin > at) FERRY_TRY(push_text(document, run, at, kept.text_begin));
        FERRY_TRY(ferry_document_push_span(document, &kept));
        at = kept.text_end;
        search.at = at - begin;
        while (at < end && run->text_end <= at) run++; /* so that time is linear */
    }
    return push_text(document, run, at, end);
}

/* Finds what has to be kept in the segment's text by the rules. */
static ferry_status split_text(ferry_document *document, const ferry_placeholder_rules *rules, size_t first)
{
    const size_t count = document->span_count - first;
    ferry_span *spans = malloc((count + 1) * sizeof *spans);
    if (spans == NULL) return ferry_fail_memory(document->error, "a document", count, sizeof *spans);
    if (count > 0) memcpy(spans, document->spans + first, count * sizeof *spans);
    document->span_count = first;
    ferry_status status = FERRY_OK;
    for (size_t i = 0, next; i < count && status == FERRY_OK; i = next) {
        for (next = i; next < count && spans[next].kind == FERRY_SPAN_TEXT; next++) continue;
        if (next > i)
            status = push_run(document, rules, spans + i, next - i);
        else
            status = ferry_document_push_span(document, &spans[next++]);
    }
    free(spans);
    return status;
}

static bool is_raising(const ferry_document *document, const ferry_span *span)
{
    ferry_inline_tag tag;
    return span->kind == FERRY_SPAN_OPEN && ferry_inline_tag_read(ferry_span_source(document, span), &tag) > 0 &&
           ferry_name_is_listed(tag.name, " sub sup ");
}

/* Whether spans i … i + 2 raise or lower a short text. */
static bool raises(const ferry_document *document, size_t i)
{
    const ferry_span *spans = &document->spans[i];
    if (i + 2 >= document->span_count || spans[1].kind != FERRY_SPAN_TEXT || spans[2].kind != FERRY_SPAN_CLOSE)
        return false;
    const ferry_view text = ferry_span_text(document, spans + 1);
    return is_raising(document, spans) && text.size <= 8 && memchr(text.data, ' ', text.size) == NULL;
}

/* The last span of the element that begins with span `first`, if it stands alone: it has nothing but a symbol, as a
 * link "¶" to its heading, or the number of a note, raised, also "[3]", within any elements. Otherwise `first`. */
static size_t find_alone(const ferry_document *document, size_t first)
{
    enum { MOST = 16 }; /* spans */
    bool alone = false;
    for (size_t i = first, depth = 0; i < document->span_count && i - first < MOST; i++) {
        const ferry_span *span = &document->spans[i];
        const ferry_view text = ferry_span_text(document, span);
        const bool is_number = skip_set(text, 0, "0123456789[](),* ") == text.size;
        depth += span->kind == FERRY_SPAN_OPEN;
        alone = alone || !is_number || is_raising(document, span);
        if (depth == 0 || (!is_number && !is_symbol(text) && !ferry_view_is(text, "#"))) break;
        depth -= span->kind == FERRY_SPAN_CLOSE;
        if (depth == 0) return alone ? i : first;
    }
    return first;
}

static bool is_decoded(const ferry_span *span)
{
    return span->end - span->begin != span->text_end - span->text_begin;
}

/* Bytes at the end of a span that what is raised or lowered in the next spans, `tag` on, belongs to; 0: it is a note.
 */
static size_t raised_size(const ferry_document *document, const ferry_span *span, const ferry_span *tag)
{
    if (span->end != tag->begin || span->text_end != tag[1].text_begin) return 0;
    if (span->kind == FERRY_SPAN_KEPT) return span->text_end - span->text_begin;
    if (span->kind != FERRY_SPAN_TEXT || is_decoded(span)) return 0;
    return ferry_unit_size(ferry_span_text(document, span));
}

/* Adds the short word that begins `next` to the span that is kept before it. */
static void keep_word(const ferry_document *document, ferry_span *kept, ferry_span *next)
{
    const ferry_view text = ferry_span_text(document, next);
    size_t size = 0;
    if (next->kind != FERRY_SPAN_TEXT || is_decoded(next) || next->begin != kept->end) return;
    while (size < text.size && is_word(text.data[size])) size++;
    if (size > 3 || next->text_begin != kept->text_end) return;
    kept->end = next->begin += size;
    kept->text_end = next->text_begin += size;
}

/* What is raised or lowered within a word stays with it: "m<sup>2</sup>", "H<sub>2</sub>O". Another number is that of
 * a note, and stands alone. */
static void merge_raised(ferry_document *document, size_t first)
{
    ferry_span *spans = document->spans;
    size_t count = first;
    for (size_t i = first; i < document->span_count; i++) {
        ferry_span *last = count > first ? &spans[count - 1] : NULL;
        const bool raised = raises(document, i);
        const size_t size = last != NULL && raised ? raised_size(document, last, &spans[i]) : 0;
        if (size == 0) {
            const size_t end = find_alone(document, i);
            spans[count++] = spans[i];
            if (end > i) spans[count - 1].kind = FERRY_SPAN_POINT;
            spans[count - 1].end = spans[end].end;
            i = end;
            continue;
        }
        ferry_span kept = {.kind = FERRY_SPAN_KEPT, .end = spans[i + 2].end};
        kept.begin = last->kind == FERRY_SPAN_KEPT ? last->begin : last->end - size;
        kept.text_begin = last->text_end - size;
        kept.text_end = spans[i + 1].text_end;
        last->end = kept.begin;
        last->text_end = kept.text_begin;
        i += 2;
        if (i + 1 < document->span_count) keep_word(document, &kept, &spans[i + 1]);
        if (i + 1 < document->span_count && spans[i + 1].begin == spans[i + 1].end) i++;
        if (last->begin == last->end) count--;
        spans[count++] = kept;
    }
    document->span_count = count;
}

/* The name of a tag in brackets of any kind, "{b}" "[url=x]" "<red>" "{{#if x}}", or of one that ends it, "{/b}";
 * empty: it is none. */
static ferry_view tag_name(ferry_view tag, bool *ends)
{
    size_t begin = skip_set(tag, 0, tag.size > 0 ? (char[]){tag.data[0], '\0'} : "");
    if (begin == 0 || !is_one_of(tag.data[0], "<[{") || ferry_view_ends(tag, "/>")) return (ferry_view){tag.data, 0};
    *ends = byte_at(tag, begin) == '/';
    begin += *ends || byte_at(tag, begin) == '#';
    return view_part(tag, begin, is_letter(byte_at(tag, begin)) ? skip_name(tag, begin, "-", 64) : begin);
}

/* Tags that no reader knows, of which one ends what another one begins, are an element. */
static ferry_status pair_tags(ferry_document *document, size_t first)
{
    enum { MOST_OPEN = 16 };
    size_t *open = malloc((document->span_count - first + 1) * sizeof *open), count = 0; /* SIZE_MAX: an element */
    if (open == NULL)
        return ferry_fail_memory(document->error, "the tags of a text", document->span_count, sizeof *open);
    for (size_t i = first; i < document->span_count; i++) {
        ferry_span *span = &document->spans[i];
        const bool is_tag = span->kind == FERRY_SPAN_KEPT || span->kind == FERRY_SPAN_POINT;
        bool ends = false;
        const ferry_view source = ferry_span_source(document, span);
        const ferry_view name = tag_name(is_tag ? source : (ferry_view){"", 0}, &ends);
        if (span->kind == FERRY_SPAN_OPEN) open[count++] = SIZE_MAX;
        if (span->kind == FERRY_SPAN_CLOSE)
            while (count > 0 && open[--count] != SIZE_MAX) continue;
        if (name.size == 0) continue;
        if (!ends) {
            open[count++] = i;
            continue;
        }
        span->kind = FERRY_SPAN_POINT;
        for (size_t k = count; k-- > 0 && count - k <= MOST_OPEN && open[k] != SIZE_MAX;) {
            ferry_span *begin = &document->spans[open[k]];
            const ferry_view tag = ferry_span_source(document, begin);
            if (*tag.data != *source.data || !ferry_view_equal(tag_name(tag, &ends), name)) continue;
            begin->kind = FERRY_SPAN_OPEN;
            span->kind = FERRY_SPAN_CLOSE;
            begin->text_begin = begin->text_end = span->text_begin = span->text_end = 0;
            count = k;
            break;
        }
    }
    free(open);
    return FERRY_OK;
}

/* Each CLOSE belongs to the last OPEN that has none; what has no partner stands alone. */
static void pair(ferry_document *document, size_t first, size_t after)
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
    segment->in_capitals = !others && capitals >= FEW_CAPITALS;
}

/* Whether text is literally in the source. */
static bool is_literal(const ferry_span *span)
{
    return span->kind == FERRY_SPAN_TEXT && !is_decoded(span);
}

/* What is kept directly behind the end of a sentence, at the end of a text, stays there: "Wait!{w}". */
static size_t leave_last(const ferry_document *document, size_t first, size_t after)
{
    const ferry_span *spans = document->spans;
    size_t last = after;
    while (last > first + 1 && spans[last - 1].kind == FERRY_SPAN_KEPT && spans[last - 1].begin == spans[last - 2].end)
        last--;
    if (last == after || !is_literal(&spans[last - 1])) return after;
    const ferry_view text = ferry_span_text(document, &spans[last - 1]);
    return text.size > 0 && is_one_of(text.data[text.size - 1], ".!?") ? last : after;
}

/* Spans first … after - 1, if there are any, are a segment that ends at byte `end`: the open one, or if that has spans,
 * another one like it. */
static ferry_status add_segment(ferry_document *document, size_t first, size_t after, size_t end)
{
    const ferry_segment open = *open_segment(document);
    if (first >= after) return FERRY_OK;
    const size_t last = leave_last(document, first, after);
    if (last < after) end = document->spans[last].begin;
    after = last;
    if (open.after_span > 0) FERRY_TRY(ferry_document_begin_segment(document, document->spans[first].begin));
    ferry_segment *segment = open_segment(document);
    if (first > open.first_span) segment->begin = document->spans[first].begin;
    segment->end = end;
    segment->first_span = segment->first_read = first;
    segment->after_span = segment->after_read = after;
    segment->width = open.width;
    segment->line_end_begin = open.line_end_begin;
    segment->line_end_end = open.line_end_end;
    pair(document, first, after);
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
        if (i + 1 >= document->span_count || spans[i].kind != FERRY_SPAN_POINT || !is_literal(&spans[i + 1]) ||
            !is_blank(document->source.data[spans[i + 1].begin]) ||
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
static ferry_status add_segments(ferry_document *document, size_t first, size_t end)
{
    const size_t count = document->span_count;
    size_t text = first; /* where the next segment begins */
    open_segment(document)->end = end;
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

ferry_status ferry_document_end_segment(ferry_document *document, size_t end)
{
    const size_t first = open_segment(document)->first_span;
    FERRY_TRY(add_span(document, &(ferry_span){.kind = FERRY_SPAN_POINT, .begin = end, .end = end}));
    document->span_count--; /* which only covers what was before it */
    ferry_placeholder_rules rules = document->kept;
    FERRY_TRY(split_text(document, &rules, first));
    merge_raised(document, first);
    FERRY_TRY(ferry_net_cast(document, first));
    rules.marks = true;
    FERRY_TRY(split_text(document, &rules, first));
    FERRY_TRY(pair_tags(document, first));
    FERRY_TRY(add_segments(document, first, end));
    document->in_attribute = false;
    return FERRY_OK;
}

ferry_status ferry_document_keep_signs(ferry_document *document, ferry_segment *segment, const char *signs)
{
    const size_t first = document->span_count;
    for (size_t i = segment->first_read; i < segment->after_read; i++) {
        const ferry_span span = document->spans[i]; /* which may move */
        FERRY_TRY(ferry_document_push_span(document, &span));
    }
    const ferry_placeholder_rules rules = {.signs = signs};
    const ferry_status status = split_text(document, &rules, first);
    pair(document, first, document->span_count);
    segment->first_span = first;
    segment->after_span = document->span_count;
    return status;
}

/* ---- edits ---- */

size_t ferry_document_find(const ferry_segment *segments, size_t count, size_t at)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (segments[middle].begin < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

ferry_status ferry_document_add_edit(ferry_document *document, const ferry_document_edit *edit)
{
    FERRY_TRY(ferry_array_append(&document->edits, &document->edit_count, &document->edit_capacity, edit, sizeof *edit,
                                 document->error));
    ferry_segment *const lists[] = {document->segments, document->attributes};
    const size_t counts[] = {document->segment_count, document->attribute_count};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = ferry_document_find(lists[k], counts[k], edit->copy_begin);
             i < counts[k] && lists[k][i].end <= edit->copy_end; i++)
            lists[k][i].elsewhere = true;
    return FERRY_OK;
}

/* ---- the document ---- */

static size_t reads(void *user, ferry_view text)
{
    return ferry_model_reads(user, (ferry_text){text.data, text.size});
}

ferry_status ferry_document_read(ferry_document *document, const ferry_document_format *format,
                                 const ferry_document_context *context, ferry_view source, ferry_error *error)
{
    *document = (ferry_document){.format = format, .source = source, .error = error};
    if (context != NULL) {
        document->context = *context;
        document->kept = (ferry_placeholder_rules){.reads = reads, .user = (void *)(uintptr_t)context->model};
    }
    FERRY_TRY(ferry_buffer_reserve(&document->text, 1, error)); /* pointers to nothing are allowed, too */
    FERRY_TRY(ferry_buffer_reserve(&document->written, 1, error));
    if (source.size > 2 && memcmp(source.data, "\xEF\xBB\xBF", 3) == 0) {
        document->mark = (ferry_view){source.data, 3};
        document->source = (ferry_view){source.data + 3, source.size - 3};
    }
    return format->read != NULL ? format->read(document) : FERRY_OK;
}

void ferry_document_destroy(ferry_document *document)
{
    free(document->spans);
    free(document->segments);
    free(document->attributes);
    free(document->edits);
    free(document->text.data);
    free(document->line_ends.data);
    free(document->written.data);
    ferry_document_notes_destroy(document->notes, document->note_count);
    *document = (ferry_document){.format = NULL};
}

void ferry_document_notes_destroy(ferry_document_note *notes, size_t count)
{
    for (size_t i = 0; i < count; i++) free((char *)(uintptr_t)notes[i].message);
    free(notes);
}
