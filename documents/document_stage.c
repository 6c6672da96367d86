/* Models in a row: what one makes of a segment is what the next one reads. */
#include "base/array.h"
#include "document_parts.h"

typedef struct stage {
    ferry_document *document;
    const ferry_written_pieces *pieces;
    size_t term; /* the next one */
    size_t open; /* the span of the innermost element, whose partner is that of the next one; SIZE_MAX: none */
} stage;

static ferry_status add_span(stage *s, const ferry_span *span)
{
    ferry_document *document = s->document;
    return ferry_array_append(&document->spans, &document->span_count, &document->span_capacity, span, sizeof *span,
                              document->error);
}

/* Bytes begin … end - 1 of the translation: all of a term, or none (NULL). */
static ferry_status add_part(stage *s, size_t begin, size_t end, const ferry_term *term)
{
    ferry_document *document = s->document;
    ferry_span span = {.kind = FERRY_SPAN_TEXT};
    if (begin == end) return FERRY_OK;
    if (term != NULL) {
        span.is_term = true;
        span.targets = term->targets;
        span.target_count = term->target_count;
    }
    span.text_begin = document->text.size;
    FERRY_TRY(
        ferry_buffer_append(&document->text, (ferry_view){s->pieces->text.data + begin, end - begin}, document->error));
    span.text_end = document->text.size;
    return add_span(s, &span);
}

/* Bytes begin … end - 1 of the translation, with their terms. */
static ferry_status add_text(stage *s, size_t begin, size_t end)
{
    const ferry_written_pieces *pieces = s->pieces;
    for (; s->term < pieces->term_count && pieces->terms[s->term].end <= end; s->term++) {
        const ferry_term *term = &pieces->terms[s->term];
        FERRY_TRY(add_part(s, begin, term->begin, NULL));
        FERRY_TRY(add_part(s, term->begin, term->end, term));
        begin = term->end;
    }
    return add_part(s, begin, end, NULL);
}

/* A copy of a span. */
static ferry_status add_copy(stage *s, size_t index)
{
    ferry_document *document = s->document;
    ferry_span span = document->spans[index];
    const size_t place = document->span_count;
    if (span.kind == FERRY_SPAN_OPEN) {
        span.partner = s->open;
        s->open = place;
    } else if (span.kind == FERRY_SPAN_CLOSE) {
        span.partner = s->open;
        s->open = document->spans[span.partner].partner;
        document->spans[span.partner].partner = place;
    }
    return add_span(s, &span);
}

ferry_status ferry_document_take_pieces(ferry_document *document, ferry_segment *segment,
                                        const ferry_written_pieces *pieces)
{
    stage s = {.document = document, .pieces = pieces, .open = SIZE_MAX};
    const uintptr_t spans = (uintptr_t)document->spans; /* which may move */
    const size_t first = document->span_count;
    for (size_t i = 0, after; i < pieces->count; i = after) {
        const ferry_written_piece *piece = &pieces->pieces[i];
        for (after = i; after < pieces->count && pieces->pieces[after].span == NULL;) after++;
        if (after > i) {
            FERRY_TRY(add_text(&s, piece->blank_begin, pieces->pieces[after - 1].text_end));
            continue;
        }
        FERRY_TRY(add_text(&s, piece->blank_begin, piece->text_begin));
        FERRY_TRY(add_copy(&s, ((uintptr_t)piece->span - spans) / sizeof *piece->span));
        after = i + 1;
    }
    segment->first_span = first;
    segment->after_span = document->span_count;
    return FERRY_OK;
}
