#include "model_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "characters.h"
#include "document_parts.h"
#include "tokenizer/unicode.h"
#include "alignment.h"

/* A segment that is added. */
typedef struct builder {
    ferry_model_text *shown;
    const ferry_document *document;
    const ferry_segment *segment;
    ferry_model_segment made;
    bool last;      /* for the last model */
    size_t open;    /* the mark of the innermost element; its partner is that of the next one */
    bool separates; /* a word ends here, even if the next character is a letter */
    bool goes_on;   /* behind the first letter of text in capitals */
    ferry_error *error;
} builder;

static ferry_status append(builder *b, const char *data, size_t size)
{
    return ferry_buffer_append(&b->shown->text, (ferry_view){data, size}, b->error);
}

static bool ends_in_word(const builder *b)
{
    size_t at = b->shown->text.size;
    uint32_t c;
    return at > b->made.begin && ferry_utf8_previous((ferry_view){b->shown->text.data, at}, &at, &c) &&
           ferry_unicode_is_of_word(c);
}

static ferry_status add_blank(builder *b)
{
    const ferry_buffer *text = &b->shown->text;
    ferry_model_text *shown = b->shown;
    ferry_mark *last = shown->mark_count > b->made.first_mark ? &shown->marks[shown->mark_count - 1] : NULL;
    const char before = text->size > b->made.begin ? text->data[text->size - 1] : ' ';
    b->separates = false;
    if (before != ' ') return append(b, " ", 1);
    if (last != NULL && last->at == text->size) last->spaced = true;
    return FERRY_OK;
}

static ferry_status add_character(builder *b, uint32_t c)
{
    char bytes[4];
    if (b->separates && ferry_unicode_is_of_word(c) && ends_in_word(b)) {
        b->shown->marks[b->shown->mark_count - 1].joined = true;
        FERRY_TRY(append(b, " ", 1));
    }
    b->separates = false;
    if (b->made.capitals && b->goes_on) c = ferry_unicode_lower(c);
    b->goes_on = b->goes_on || ferry_unicode_is_of_word(c);
    return append(b, bytes, ferry_utf8_put(c, bytes));
}

static ferry_status add_mark(builder *b, const ferry_mark *mark)
{
    ferry_model_text *shown = b->shown;
    return ferry_array_append(&shown->marks, &shown->mark_count, &shown->mark_capacity, mark, sizeof *mark, b->error);
}

/* Adds what is kept, and is shown so. */
static ferry_status append_kept(builder *b, ferry_model_placeholder *kept, const char *text, size_t size)
{
    ferry_model_text *shown = b->shown;
    kept->term.begin = shown->text.size;
    kept->term.end = shown->text.size + size;
    b->separates = false;
    b->goes_on = true;
    FERRY_TRY(append(b, text, size));
    return ferry_array_append(&shown->kept, &shown->kept_count, &shown->kept_capacity, kept, sizeof *kept, b->error);
}

/* Whether a word follows a span without a blank. */
static bool word_follows(const builder *b, size_t index)
{
    const ferry_span *span = &b->document->spans[index + 1], *end = &b->document->spans[b->segment->after_span];
    size_t at = 0;
    uint32_t c;
    while (span < end && (span->kind == FERRY_SPAN_OPEN || span->kind == FERRY_SPAN_CLOSE)) span++;
    return span < end && span->kind == FERRY_SPAN_TEXT &&
           ferry_utf8_next(ferry_span_text(b->document, span), &at, &c) && ferry_unicode_is_of_word(c);
}

static ferry_status add_kept(builder *b, size_t index)
{
    const ferry_span *span = &b->document->spans[index];
    const ferry_view text = ferry_span_text(b->document, span);
    const bool is_itself = ferry_view_equal(text, ferry_span_source(b->document, span)); /* not `code` */
    ferry_model_placeholder kept = {.span = index, .is_placeholder = true};
    char bytes[FERRY_PLACEHOLDER_BYTES];
    /* 3, 42: what models know as words. From others, 404, 1.0.8 or 18:30, they make words of numbers. */
    const bool is_small_number = text.size < 3 && skip_set(text, 0, "0123456789") == text.size;
    if (b->last && b->segment->lacks == '\0' && is_itself && is_small_number && !ends_in_word(b) &&
        !word_follows(b, index)) {
        kept.term.target_count = 1;
        kept.is_placeholder = false;
        return append_kept(b, &kept, text.data, text.size);
    }
    ferry_utf8_put(FERRY_FIRST_PLACEHOLDER + (uint32_t)(b->shown->kept_count % FERRY_PLACEHOLDERS), bytes);
    return append_kept(b, &kept, bytes, sizeof bytes);
}

/* Whether the end of a wrapped line has no blank: between two ideographs. */
static bool joins(const builder *b, size_t index)
{
    const ferry_span *span = &b->document->spans[index];
    uint32_t before, after;
    if (!span->blank) return true;
    if (index == b->segment->first_span || index + 1 >= b->segment->after_span) return false;
    if (span[-1].kind != FERRY_SPAN_TEXT || span[1].kind != FERRY_SPAN_TEXT) return false;
    const ferry_view left = ferry_span_text(b->document, span - 1), right = ferry_span_text(b->document, span + 1);
    size_t end = left.size, next = 0;
    return ferry_utf8_previous(left, &end, &before) && ferry_utf8_next(right, &next, &after) &&
           ferry_is_ideograph(before) && ferry_is_ideograph(after);
}

/* Whether the model sees nothing of a character that may be within words. A joiner changes words of scripts without
 * case. */
static bool is_left_out(const builder *b, ferry_view character, uint32_t c)
{
    const ferry_placeholder_rules *rules = &b->document->kept;
    size_t end = b->shown->text.size;
    uint32_t before = 0;
    if (c != 0x200C && c != 0x200D) return is_within_words(c);
    if (rules->reads != NULL && rules->reads(rules->user, character) == 0) return true;
    return end > b->made.begin && ferry_utf8_previous((ferry_view){b->shown->text.data, end}, &end, &before) &&
           ferry_unicode_character(before) <= FERRY_CHARACTER_LOWER;
}

static ferry_status add_text(builder *b, ferry_view text)
{
    for (size_t at = 0; at < text.size;) {
        const size_t begin = at;
        uint32_t c;
        if (!ferry_utf8_next(text, &at, &c)) c = 0xFFFD;
        if (is_left_out(b, view_part(text, begin, at), c)) continue;
        if (is_hyphen(c)) c = '-';
        FERRY_TRY(ferry_utf8_is_space(c) || ferry_is_control(c) ? add_blank(b) : add_character(b, c));
    }
    return FERRY_OK;
}

/* Text that an earlier model left, as the glossary has an entry for it. */
static ferry_status add_entry(builder *b, size_t index)
{
    const ferry_span *span = &b->document->spans[index];
    ferry_model_text *shown = b->shown;
    ferry_model_placeholder kept = {.term = {.targets = span->targets, .target_count = span->target_count},
                                    .span = index,
                                    .is_entry = true};
    if (b->separates && ends_in_word(b)) FERRY_TRY(add_character(b, ' '));
    kept.term.begin = shown->text.size;
    FERRY_TRY(add_text(b, ferry_span_text(b->document, span)));
    kept.term.end = shown->text.size;
    return ferry_array_append(&shown->kept, &shown->kept_count, &shown->kept_capacity, &kept, sizeof kept, b->error);
}

static ferry_status add_span(builder *b, size_t index)
{
    const ferry_span *span = &b->document->spans[index];
    ferry_mark mark = {.span = index, .at = b->shown->text.size};
    switch (span->kind) {
    case FERRY_SPAN_TEXT: return span->is_term ? add_entry(b, index) : add_text(b, ferry_span_text(b->document, span));
    case FERRY_SPAN_KEPT: return add_kept(b, index);
    case FERRY_SPAN_BREAK: return joins(b, index) ? FERRY_OK : add_blank(b);
    case FERRY_SPAN_POINT:
        if (span->blank) FERRY_TRY(add_blank(b));
        mark.at = b->shown->text.size;
        mark.joined = span->blank;
        b->separates = !span->blank && span->begin < span->end;
        break;
    case FERRY_SPAN_OPEN:
        mark.kind = FERRY_MARK_OPEN;
        mark.partner = b->open; /* until its end is known */
        b->open = b->shown->mark_count;
        break;
    case FERRY_SPAN_CLOSE:
        mark.kind = FERRY_MARK_CLOSE;
        mark.partner = b->open;
        b->open = b->shown->marks[mark.partner].partner;
        b->shown->marks[mark.partner].partner = b->shown->mark_count;
        break;
    }
    return add_mark(b, &mark);
}

/* Whether a letter and its capital are those of Unicode's simple mapping: not of Turkish and Azeri, whose capital of
 * "i" is no "I". */
static bool has_simple_capitals(const ferry_document *document)
{
    const ferry_language *const languages[] = {document->context.source, document->context.target};
    for (size_t i = 0; i < 2; i++)
        if (languages[i] != NULL && (ferry_language_has_name(languages[i], ferry_text_view("tr")) ||
                                     ferry_language_has_name(languages[i], ferry_text_view("az"))))
            return false;
    return true;
}

/* Blanks at the end are no text, unless something is behind them. Returns whether a mark is within the text. */
static bool finish(builder *b)
{
    ferry_model_text *shown = b->shown;
    bool within = false;
    const size_t size = shown->text.size, last = shown->mark_count;
    const bool marked = last > b->made.first_mark && shown->marks[last - 1].at == size;
    if (size > b->made.begin && shown->text.data[size - 1] == ' ' && !marked) shown->text.size--;
    b->made.end = shown->text.size;
    b->made.after_mark = shown->mark_count;
    b->made.after_kept = shown->kept_count;
    for (size_t i = b->made.first_mark; i < b->made.after_mark; i++) {
        ferry_mark *mark = &shown->marks[i];
        if (mark->at > b->made.end) mark->at = b->made.end;
        within = within || (mark->at > b->made.begin && mark->at < b->made.end);
    }
    return within;
}

ferry_status ferry_model_text_add(ferry_model_text *shown, const ferry_document *document, ferry_segment *segment,
                                  bool last, bool *aligned)
{
    builder b = {.shown = shown, .document = document, .segment = segment, .last = last, .error = document->error};
    if (shown->segment_count > 0) FERRY_TRY(append(&b, "\n", 1));
    b.made = (ferry_model_segment){.segment = segment,
                                   .begin = shown->text.size,
                                   .first_mark = shown->mark_count,
                                   .first_kept = shown->kept_count};
    b.made.capitals = segment->in_capitals && has_simple_capitals(document);
    for (size_t i = segment->first_span; i < segment->after_span; i++) FERRY_TRY(add_span(&b, i));
    *aligned = finish(&b);
    return ferry_array_append(&shown->segments, &shown->segment_count, &shown->segment_capacity, &b.made, sizeof b.made,
                              document->error);
}

ferry_request ferry_model_text_request(ferry_model_text *shown)
{
    for (size_t i = 0; i < shown->kept_count; i++) {
        ferry_model_placeholder *kept = &shown->kept[i];
        if (kept->is_entry) continue;
        kept->target = (ferry_text){shown->text.data + kept->term.begin, kept->term.end - kept->term.begin};
        kept->term.targets = &kept->target;
    }
    return (ferry_request){.size = sizeof(ferry_request),
                           .terms = shown->kept_count > 0 ? &shown->kept->term : NULL,
                           .term_size = sizeof *shown->kept,
                           .term_count = shown->kept_count};
}

void ferry_model_text_remove(ferry_model_text *shown)
{
    const ferry_model_segment *last = &shown->segments[--shown->segment_count];
    shown->mark_count = last->first_mark;
    shown->kept_count = last->first_kept;
    shown->text.size = shown->segment_count > 0 ? shown->segments[shown->segment_count - 1].end : 0;
}

void ferry_model_text_clear(ferry_model_text *shown)
{
    shown->text.size = shown->mark_count = shown->kept_count = shown->segment_count = 0;
}

void ferry_model_text_destroy(ferry_model_text *shown)
{
    free(shown->text.data);
    free(shown->marks);
    free(shown->kept);
    free(shown->segments);
    *shown = (ferry_model_text){0};
}
