/* What readers call: segments and their parts. */
#include "document.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "document_parts.h"

ferry_segment *ferry_document_open_segment(ferry_document *document)
{
    if (document->in_attribute) return &document->attributes[document->attribute_count - 1];
    assert(document->segment_count > 0);
    return &document->segments[document->segment_count - 1];
}

/* The source from the segment's beginning up to here is covered by its spans. */
static size_t covered(ferry_document *document)
{
    const ferry_segment *segment = ferry_document_open_segment(document);
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

ferry_status ferry_document_kept(ferry_document *document, size_t begin, size_t end, ferry_view shown)
{
    if (ferry_is_symbol(shown)) return ferry_document_point(document, begin, end);
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
    ferry_segment *segment = ferry_document_open_segment(document);
    segment->width = width;
    segment->line_end_begin = document->line_ends.size;
    FERRY_TRY(ferry_buffer_append(&document->line_ends, line_end, document->error));
    segment->line_end_end = document->line_ends.size;
    return FERRY_OK;
}
ferry_status ferry_document_end_segment(ferry_document *document, size_t end)
{
    const size_t first = ferry_document_open_segment(document)->first_span;
    FERRY_TRY(add_span(document, &(ferry_span){.kind = FERRY_SPAN_POINT, .begin = end, .end = end}));
    document->span_count--; /* which only covers what was before it */
    FERRY_TRY(ferry_document_find_spans(document, first));
    FERRY_TRY(ferry_document_add_segments(document, first, end));
    document->in_attribute = false;
    return FERRY_OK;
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
