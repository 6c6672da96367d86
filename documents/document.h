/* Documents: bytes that stay, and segments of text that are translated.
 *
 *     read → translate → write
 *
 * The reader of a format describes a document from its first byte to its last. What it says nothing about stays as it
 * is. A segment is what the model reads as one text: a paragraph, a heading, a cell. Of the bytes of a segment it says
 * what they are, in ascending order:
 *
 *     Tea **and** `milk` for\n> two      text "Tea ", open "**", text "and", close "**", text " ", kept "`milk`",
 *                                        text " for", break "\n> ", text "two"
 *
 * The model sees the text of a segment; for what is kept, a placeholder stands in it. Elements, and what is kept, are
 * put where their words went. Every element has to be there once, and well nested. Blocks of which this is not true, or
 * whose translation has quality flags, stay byte for byte. In the others the translation takes the text's place: with
 * what the format must escape, and with lines as long as the segment's.
 *
 * The document has its caller's `error`, where functions leave the message. What readers call fails with MEMORY alone.
 */
#ifndef FERRY_DOCUMENTS_DOCUMENT_H
#define FERRY_DOCUMENTS_DOCUMENT_H

#include "base/string_table.h"
#include "engine/ferry.h"
#include "ferry_documents.h"
#include "placeholders.h"
#include "document_languages.h"

typedef struct ferry_document ferry_document;

/* ---- formats ---- */

typedef struct ferry_document_format {
    const char *name;       /* "markdown" */
    const char *endings[5]; /* of names of files, in lower case, NULL at the end: {".md", ".markdown"} */
    /* Describes document->source. Errors: UNSUPPORTED. NULL: nothing to do. */
    ferry_status (*read)(ferry_document *document);
    /* Writes translated text that contains no blanks, with what the format must escape; at the beginning of a line, or
     * behind other text or an element. NULL: as it is. */
    ferry_status (*write_text)(ferry_buffer *out, ferry_view text, bool begins_line, ferry_error *error);
    /* The same for an attribute, which is not checked. NULL: it is text within text. */
    ferry_status (*write_attribute)(ferry_buffer *out, ferry_view text, ferry_error *error);
    /* Whether a line that the framework breaks may begin with this text, as written. NULL: any may. */
    bool (*may_begin_line)(ferry_view text);
    /* Whether what stands alone, as in the source, keeps its order among the others of which this is true, at whatever
     * words they come to stand: times, which ascend. NULL: nothing does. */
    bool (*keeps_order)(ferry_view point);
    bool fills; /* elements cannot be empty: one without words takes a neighbor */
    /* Whether a segment, `before`, and its translation as written, `after`, have the same structure for programs that
     * read the format; if not, the segment stays. NULL: they always do. Errors: MEMORY. */
    ferry_status (*check)(ferry_view before, ferry_view after, bool *same, ferry_error *error);
    /* Changes the document as it was written: `begin` is its first byte of *out. NULL: nothing. */
    ferry_status (*finish)(const ferry_document *document, ferry_buffer *out, size_t begin, ferry_error *error);
} ferry_document_format;

/* ---- what readers call ---- */

ferry_status ferry_document_begin_segment(ferry_document *document, size_t begin);
/* Bytes begin … end - 1 are text; `decoded`, not empty, is what the model reads for them; {NULL, 0}: the bytes
 * themselves. The framework finds placeholders and addresses in it (placeholders.h, net.h), which are kept. */
ferry_status ferry_document_text(ferry_document *document, size_t begin, size_t end, ferry_view decoded);
/* Begins an inline element: "**", "[", "<i>"; ends the last one that is open: "**", "](url)", "</i>". Those without a
 * partner stand alone. */
ferry_status ferry_document_open(ferry_document *document, size_t begin, size_t end);
ferry_status ferry_document_close(ferry_document *document, size_t begin, size_t end);
/* The same, for a link whose text names its target: a translation has its first byte and `label` instead. */
ferry_status ferry_document_close_link(ferry_document *document, size_t begin, size_t end, ferry_view label);
/* Stands alone, without text for the model: an image, a tag. So do bytes of a segment that nothing is said about. */
ferry_status ferry_document_point(ferry_document *document, size_t begin, size_t end);
/* Is not translated, but the model sees `shown` (or its beginning) at its place in the sentence; {NULL, 0}: the bytes
 * themselves. */
ferry_status ferry_document_kept(ferry_document *document, size_t begin, size_t end, ferry_view shown);
/* Ends a wrapped line, with what begins the next one: "\n> ". `blank`: it stands for a blank ("\n" within a paragraph),
 * or not, as the blank is text before it (PO's "\"\n\""). */
ferry_status ferry_document_break(ferry_document *document, size_t begin, size_t end, bool blank);
/* Lines of the open segment may be `width` columns long, if none of its own is longer; where it has no breaks,
 * `line_end` ends lines: in place of a blank, or behind it if it begins with a quotation mark. */
ferry_status ferry_document_wrap(ferry_document *document, size_t width, ferry_view line_end);
ferry_status ferry_document_end_segment(ferry_document *document, size_t end);
/* Begins a text within bytes that are otherwise no text, such as the value of an attribute; these may be within a
 * segment that begins later. It has text, and ends as a segment does, before anything else begins. */
ferry_status ferry_document_begin_attribute(ferry_document *document, size_t begin);

/* Where something else than the segment itself is replaced (PO: msgstr, by the translation of msgid). If a segment
 * within bytes if_begin … if_end - 1 was translated, and none of them failed, then in place of bytes begin … end - 1
 * come the bytes `before`, and then bytes copy_begin … copy_end - 1 with their segments translated. Those segments
 * themselves stay, if copy_begin < copy_end. Of those that replace the same bytes, one does. To be called after the
 * segments' ends, in any order. */
typedef struct ferry_document_edit {
    size_t begin, end;
    ferry_view before; /* lasts as long as the document */
    size_t copy_begin, copy_end;
    size_t if_begin, if_end;
} ferry_document_edit;
ferry_status ferry_document_add_edit(ferry_document *document, const ferry_document_edit *edit);

/* ---- the document ---- */

typedef enum ferry_span_kind {
    FERRY_SPAN_TEXT,
    FERRY_SPAN_OPEN,
    FERRY_SPAN_CLOSE,
    FERRY_SPAN_POINT,
    FERRY_SPAN_KEPT,
    FERRY_SPAN_BREAK
} ferry_span_kind;

/* A part of a segment. */
typedef struct ferry_span {
    ferry_span_kind kind;
    bool blank;                  /* of BREAK, POINT: the model reads a blank */
    size_t begin, end;           /* its bytes in the source */
    size_t text_begin, text_end; /* bytes of document->text: of TEXT, KEPT what the model reads, of CLOSE a label */
    size_t partner;              /* OPEN, CLOSE: the other span */
    bool is_term;                /* of TEXT: an entry of a glossary that an earlier model left as it is, with its … */
    const ferry_text *targets;   /* [target_count] which belong to the glossary */
    size_t target_count;
} ferry_span;

typedef struct ferry_segment {
    const ferry_document_format
        *format; /* that of the document when it began: HTML within Markdown is written as HTML */
    size_t begin, end;
    size_t first_span, after_span;       /* spans first_span … after_span - 1, which cover all its bytes, or are what
                                          * a model made of them (document_stage.c) */
    size_t first_read, after_read;       /* those that cover its bytes */
    size_t column;                       /* in which it begins */
    size_t width;                        /* see ferry_document_wrap; 0: that of the longest line */
    size_t line_end_begin, line_end_end; /* bytes of document->line_ends */
    size_t written_begin, written_end;   /* bytes of document->written: the translation, as it is in the document */
    bool has_letters;                    /* there is something to translate */
    bool in_capitals;                    /* it has no other letters, and enough of them */
    bool elsewhere;                      /* an edit has its translation */
    bool is_attribute;
    bool changed; /* by one of the models */
    char lacks;   /* what a translation lacked, a sign or '0', its numbers: it is opaque since; '\0': nothing */
    bool translated, failed;
} ferry_segment;

/* What is known beside the document. */
typedef struct ferry_document_context {
    const ferry_model *model;              /* what it has no piece for is kept */
    const ferry_language *source, *target; /* NULL: not known */
} ferry_document_context;

struct ferry_document {
    const ferry_document_format *format;
    ferry_view source; /* the caller's */
    ferry_error *error;
    ferry_span *spans;                    /* [span_count] */
    ferry_segment *segments, *attributes; /* [segment_count], [attribute_count], ascending */
    ferry_document_edit *edits;           /* [edit_count] */
    size_t span_count, span_capacity, segment_count, segment_capacity, attribute_count, attribute_capacity;
    size_t edit_count, edit_capacity;
    bool in_attribute;
    ferry_placeholder_rules kept; /* what else is kept in text: `formulas` is for readers to set */
    ferry_document_context context;
    ferry_buffer text;
    ferry_view mark; /* the byte-order mark before `source`: no text of any format, it stays; empty: there is none */
    ferry_buffer line_ends;
    ferry_buffer written;
    ferry_document_note *notes; /* [note_count], their lines not found yet */
    size_t note_count, note_capacity;
};

static inline ferry_view ferry_span_text(const ferry_document *document, const ferry_span *span)
{
    return (ferry_view){document->text.data + span->text_begin, span->text_end - span->text_begin};
}

static inline ferry_view ferry_span_source(const ferry_document *document, const ferry_span *span)
{
    return (ferry_view){document->source.data + span->begin, span->end - span->begin};
}

static inline ferry_view ferry_segment_source(const ferry_document *document, const ferry_segment *segment)
{
    return (ferry_view){document->source.data + segment->begin, segment->end - segment->begin};
}

static inline ferry_view ferry_segment_written(const ferry_document *document, const ferry_segment *segment)
{
    return (ferry_view){document->written.data + segment->written_begin, segment->written_end - segment->written_begin};
}

/* Reads `source`, which must last as long as the document, in a context (NULL: any). *document is to be destroyed after
 * a failure, too. */
ferry_status ferry_document_read(ferry_document *document, const ferry_document_format *format,
                                 const ferry_document_context *context, ferry_view source, ferry_error *error);

/* Splits the segment once more, for other spans: those of `signs` in its text are kept. Errors: MEMORY. */
ferry_status ferry_document_keep_signs(ferry_document *document, ferry_segment *segment, const char *signs);

/* Translates the segments, and notes which stay, and what the library warns of. `options` are the call's: who is told
 * of progress. Errors: MEMORY, and those of the translator. */
ferry_status ferry_segments_translate(ferry_document *document, ferry_translator *translator,
                                      const ferry_document_options *options);

/* Appends the document, with its segments translated as far as they are. */
ferry_status ferry_document_write(ferry_document *document, ferry_buffer *out, ferry_error *error);
void ferry_document_destroy(ferry_document *document);
void ferry_document_notes_destroy(ferry_document_note *notes, size_t count);

#endif
