/* Translated segments as they are in the document, and the document. */
#include <stdlib.h>

#include "base/utf8.h"
#include "characters.h"
#include "document_parts.h"

/* ---- columns ---- */

bool ferry_is_ideograph(uint32_t c)
{
    return (c >= 0x2E80 && c < 0xA4D0) || (c >= 0xF900 && c < 0xFB00) || (c >= 0xFE30 && c < 0xFE50) ||
           (c >= 0xFF00 && c < 0xFF61) || (c >= 0x20000 && c < 0x40000);
}

bool ferry_is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029;
}

/* The column after `bytes`, which begin at `column`. */
static size_t advance(size_t column, ferry_view bytes)
{
    for (size_t at = 0; at < bytes.size;) {
        uint32_t c;
        if (!ferry_utf8_next(bytes, &at, &c)) c = 0xFFFD;
        column = c == '\n' || c == '\r' ? 0 : c == '\t' ? (column / 8 + 1) * 8 : column + 1 + ferry_is_ideograph(c);
    }
    return column;
}

void ferry_document_find_columns(ferry_document *document)
{
    size_t at = 0, column = 0;
    for (size_t i = 0; i < document->segment_count; i++) {
        ferry_segment *segment = &document->segments[i];
        column = advance(column, (ferry_view){document->source.data + at, segment->begin - at});
        at = segment->begin;
        segment->column = column;
    }
}

/* The columns of the segment's longest line. */
static size_t longest_line(const ferry_document *document, const ferry_segment *segment)
{
    const ferry_view text = {document->source.data, segment->end};
    size_t longest = 0, column = segment->column;
    for (size_t at = segment->begin, end; at < segment->end; at = end + 1) {
        end = find_one_of(text, at, "\n");
        const bool returns = end > at && text.data[end - 1] == '\r';
        const size_t columns = advance(column, view_part(text, at, end - returns));
        longest = columns > longest ? columns : longest;
        column = 0;
    }
    return longest;
}

/* Appends bytes begin … end - 1 of the source, with the attributes in them translated that an edit has, or the others.
 */
static ferry_status copy_source(const ferry_document *document, size_t begin, size_t end, bool elsewhere,
                                ferry_buffer *out, ferry_error *error)
{
    size_t i = ferry_document_find(document->attributes, document->attribute_count, begin), at = begin;
    for (; i < document->attribute_count && document->attributes[i].end <= end; i++) {
        const ferry_segment *attribute = &document->attributes[i];
        if (!attribute->translated || attribute->elsewhere != elsewhere) continue;
        FERRY_TRY(ferry_buffer_append(out, view_part(document->source, at, attribute->begin), error));
        FERRY_TRY(ferry_buffer_append(out, ferry_segment_written(document, attribute), error));
        at = attribute->end;
    }
    return ferry_buffer_append(out, view_part(document->source, at, end), error);
}

/* ---- a segment ---- */

typedef struct layout {
    ferry_document *document;
    const ferry_segment *segment;
    const ferry_written_pieces *pieces;
    size_t width; /* of lines; SIZE_MAX: they are not wrapped */
    size_t column;
    const ferry_span *line_end; /* of the next line; NULL: it is segment->line_end */
    size_t next_item;           /* from which on others are found */
    ferry_buffer word;
} layout;

/* Pieces first … after - 1 as they are in the document. */
static ferry_status write_word(layout *l, size_t first, size_t after, bool begins_line)
{
    const ferry_document_format *format = l->segment->format;
    ferry_error *error = l->document->error;
    l->word.size = 0;
    for (size_t i = first; i < after; i++) {
        const ferry_written_piece *piece = &l->pieces->pieces[i];
        const ferry_view text =
            view_part((ferry_view){l->pieces->text.data, l->pieces->text.size}, piece->text_begin, piece->text_end);
        if (piece->span != NULL) {
            const ferry_span *span = piece->span;
            const bool has_label = span->kind == FERRY_SPAN_CLOSE && span->text_begin < span->text_end;
            const size_t end = has_label ? span->begin + 1 : span->end;
            FERRY_TRY(copy_source(l->document, span->begin, end, l->segment->elsewhere, &l->word, error));
            if (has_label) FERRY_TRY(ferry_buffer_append(&l->word, ferry_span_text(l->document, span), error));
        } else if (l->segment->is_attribute && format->write_attribute != NULL)
            FERRY_TRY(format->write_attribute(&l->word, text, error));
        else if (format->write_text != NULL)
            FERRY_TRY(format->write_text(&l->word, text, begins_line && i == first, error));
        else
            FERRY_TRY(ferry_buffer_append(&l->word, text, error));
    }
    return FERRY_OK;
}

static ferry_view word_of(const layout *l)
{
    return (ferry_view){l->word.data, l->word.size};
}

/* Finds what ends the next line: each break of the segment in its turn, then the last one again. */
static void find_break(layout *l)
{
    const ferry_span *spans = l->document->spans;
    while (l->next_item < l->segment->after_read && spans[l->next_item].kind != FERRY_SPAN_BREAK) l->next_item++;
    if (l->next_item < l->segment->after_read) l->line_end = &spans[l->next_item++];
}

static ferry_status append(layout *l, ferry_view bytes)
{
    l->column = advance(l->column, bytes);
    return ferry_buffer_append(&l->document->written, bytes, l->document->error);
}

static ferry_status end_line(layout *l, ferry_view blanks)
{
    const ferry_span *span = l->line_end;
    const ferry_segment *segment = l->segment;
    if (span == NULL) {
        const ferry_view line_ends = {l->document->line_ends.data, l->document->line_ends.size};
        const ferry_view line_end = view_part(line_ends, segment->line_end_begin, segment->line_end_end);
        if (line_end.data[0] == '"') FERRY_TRY(append(l, blanks)); /* which are in the string */
        return append(l, line_end);
    }
    find_break(l);
    if (!span->blank) FERRY_TRY(append(l, blanks));
    return append(l, ferry_span_source(l->document, span));
}

/* Pieces first … after - 1, a word, and the blanks before it. */
static ferry_status add_word(layout *l, size_t first, size_t after)
{
    const ferry_written_piece *piece = &l->pieces->pieces[first];
    const ferry_view blanks = {l->pieces->text.data + piece->blank_begin, piece->text_begin - piece->blank_begin};
    const ferry_document_format *format = l->segment->format;
    bool breaks = false;
    FERRY_TRY(write_word(l, first, after, first == 0));
    if (first > 0 && l->width != SIZE_MAX && advance(advance(l->column, blanks), word_of(l)) > l->width) {
        FERRY_TRY(write_word(l, first, after, true));
        breaks = format->may_begin_line == NULL || format->may_begin_line(word_of(l));
        if (!breaks) FERRY_TRY(write_word(l, first, after, false));
    }
    FERRY_TRY(breaks ? end_line(l, blanks) : append(l, blanks));
    return append(l, word_of(l));
}

static ferry_status lay_out(layout *l)
{
    const ferry_written_piece *pieces = l->pieces->pieces;
    for (size_t first = 0, after; first < l->pieces->count; first = after) {
        for (after = first + 1; after < l->pieces->count && !pieces[after].may_break; after++) continue;
        FERRY_TRY(add_word(l, first, after));
    }
    return FERRY_OK;
}

/* Of the end of a line: PO has a quotation mark there. */
static size_t columns_before_newline(ferry_view bytes)
{
    return advance(0, view_part(bytes, 0, find_one_of(bytes, 0, "\r\n")));
}

ferry_status ferry_document_lay_out(ferry_document *document, ferry_segment *segment,
                                    const ferry_written_pieces *translation)
{
    layout l = {.document = document, .segment = segment, .pieces = translation, .width = SIZE_MAX};
    l.next_item = segment->first_read;
    find_break(&l);
    if (l.line_end != NULL || segment->line_end_begin < segment->line_end_end) {
        l.column = segment->column;
        const size_t longest = longest_line(document, segment);
        l.width = longest > segment->width ? longest : segment->width;
        l.width -= l.line_end != NULL ? columns_before_newline(ferry_span_source(document, l.line_end)) : 0;
    }
    segment->written_begin = document->written.size;
    const ferry_status status = lay_out(&l);
    segment->written_end = document->written.size;
    free(l.word.data);
    return status;
}

/* ---- the document ---- */

/* Whether a segment or attribute within these bytes was translated, and none failed. */
static bool is_translated(const ferry_document *document, size_t begin, size_t end)
{
    const ferry_segment *const lists[] = {document->segments, document->attributes};
    const size_t counts[] = {document->segment_count, document->attribute_count};
    bool translated = false;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = ferry_document_find(lists[k], counts[k], begin); i < counts[k] && lists[k][i].end <= end; i++) {
            if (lists[k][i].failed) return false;
            translated = translated || lists[k][i].translated;
        }
    return translated;
}

/* Appends bytes begin … end - 1 with segments translated: those that an edit has, or the others. */
static ferry_status copy_translated(const ferry_document *document, size_t begin, size_t end, bool elsewhere,
                                    ferry_buffer *out, ferry_error *error)
{
    size_t i = ferry_document_find(document->segments, document->segment_count, begin), at = begin;
    for (; i < document->segment_count && document->segments[i].end <= end; i++) {
        const ferry_segment *segment = &document->segments[i];
        if (!segment->translated || segment->elsewhere != elsewhere) continue;
        FERRY_TRY(copy_source(document, at, segment->begin, elsewhere, out, error));
        FERRY_TRY(ferry_buffer_append(out, ferry_segment_written(document, segment), error));
        at = segment->end;
    }
    return copy_source(document, at, end, elsewhere, out, error);
}

static int compare_edits(const void *a, const void *b)
{
    const ferry_document_edit *first = a, *second = b;
    if (first->begin != second->begin) return first->begin < second->begin ? -1 : 1;
    return first->end < second->end ? -1 : first->end > second->end;
}

ferry_status ferry_document_write(ferry_document *document, ferry_buffer *out, ferry_error *error)
{
    size_t at = 0;
    FERRY_TRY(ferry_buffer_append(out, document->mark, error));
    const size_t begin = out->size;
    if (document->edit_count > 1) qsort(document->edits, document->edit_count, sizeof *document->edits, compare_edits);
    for (size_t i = 0; i < document->edit_count; i++) {
        const ferry_document_edit *edit = &document->edits[i];
        if (edit->begin < at) continue; /* of these bytes, there was another one */
        if (!is_translated(document, edit->if_begin, edit->if_end)) continue;
        FERRY_TRY(copy_translated(document, at, edit->begin, false, out, error));
        FERRY_TRY(ferry_buffer_append(out, edit->before, error));
        FERRY_TRY(copy_translated(document, edit->copy_begin, edit->copy_end, true, out, error));
        at = edit->end;
    }
    FERRY_TRY(copy_translated(document, at, document->source.size, false, out, error));
    return document->format->finish != NULL ? document->format->finish(document, out, begin, error) : FERRY_OK;
}
