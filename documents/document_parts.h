/* What the files that translate and write documents share. */
#ifndef FERRY_DOCUMENTS_DOCUMENT_PARTS_H
#define FERRY_DOCUMENTS_DOCUMENT_PARTS_H

#include "document.h"

/* The first of segments [count], in ascending order, that begins at byte `at` of the source or later. */
size_t ferry_document_find(const ferry_segment *segments, size_t count, size_t at);

/* The segment that has begun last. */
ferry_segment *ferry_document_open_segment(ferry_document *document);
/* Finds what is kept in the text of spans `first` … document->span_count - 1, elements and notes. Errors: MEMORY. */
ferry_status ferry_document_find_spans(ferry_document *document, size_t first);
/* These spans are the open segment, which ends at byte `end`, or several. Errors: MEMORY. */
ferry_status ferry_document_add_segments(ferry_document *document, size_t first, size_t end);
/* Each CLOSE belongs to the last OPEN that has none; what has no partner stands alone. */
void ferry_document_pair_spans(ferry_document *document, size_t first, size_t after);
/* Whether it is nothing but symbols that are no ASCII: no word can stand for them. */
bool ferry_is_symbol(ferry_view text);
/* Whether it is text, and the source has it literally. */
static inline bool ferry_span_is_literal(const ferry_span *span)
{
    return span->kind == FERRY_SPAN_TEXT && span->end - span->begin == span->text_end - span->text_begin;
}

/* Whether both are kept, and the source and the text have nothing between them. */
static inline bool ferry_span_are_kept(const ferry_span *span, const ferry_span *next)
{
    return span->kind == FERRY_SPAN_KEPT && next->kind == FERRY_SPAN_KEPT && span->end == next->begin &&
           span->text_end == next->text_begin;
}
/* The span gets all up to the end of `next`, which is behind it. */
static inline void ferry_span_extend(ferry_span *span, const ferry_span *next)
{
    span->end = next->end;
    span->text_end = next->text_end;
}

/* Appends a span. */
ferry_status ferry_document_push_span(ferry_document *document, const ferry_span *span);
/* The span becomes bytes begin … end - 1 of document->text, which are text of the spans from `from` on; of text that
 * was decoded, all. */
void ferry_span_cut(ferry_span *span, const ferry_span *from, size_t begin, size_t end);

/* A part of a translated segment: text without blanks, or a span. */
typedef struct ferry_written_piece {
    const ferry_span *span;      /* NULL: text */
    size_t text_begin, text_end; /* of text: bytes of the translation's text */
    size_t blank_begin;          /* bytes blank_begin … text_begin - 1 of that are the blanks before it */
    bool may_break;              /* a line may end before it */
} ferry_written_piece;

/* A translated segment. */
typedef struct ferry_written_pieces {
    ferry_written_piece *pieces; /* [count] */
    size_t count, capacity;
    ferry_buffer text;
    ferry_term *terms; /* [term_count] for the next model: bytes of the text, in order */
    size_t term_count, term_capacity;
} ferry_written_pieces;

/* What is no text in any format: controls, and what ends lines. */
bool ferry_is_control(uint32_t code_point);
/* A character of a script that has no blanks between words: a line may end before and after it. */
bool ferry_is_ideograph(uint32_t code_point);

/* A translated segment takes the place of what is shown of it to the next model. */
ferry_status ferry_document_take_pieces(ferry_document *document, ferry_segment *segment,
                                        const ferry_written_pieces *pieces);

/* For formats without empty elements (document_fill.c). */
void ferry_document_fill(const ferry_document *document, ferry_written_pieces *pieces);

/* Finds the column in which each segment begins. */
void ferry_document_find_columns(ferry_document *document);

/* Appends the segment as it is in the document to document->written. */
ferry_status ferry_document_lay_out(ferry_document *document, ferry_segment *segment,
                                    const ferry_written_pieces *translation);

#endif
