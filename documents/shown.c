#include "shown.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "base/utf8.h"
#include "characters.h"
#include "document_parts.h"
#include "tokenizer/unicode.h"
#include "words.h"

/* A block that is added. */
typedef struct builder {
    ferry_shown *shown;
    const ferry_document *document;
    const ferry_document_block *block;
    ferry_shown_block made;
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
    ferry_shown *shown = b->shown;
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
    ferry_shown *shown = b->shown;
    return ferry_array_append(&shown->marks, &shown->mark_count, &shown->mark_capacity, mark, sizeof *mark, b->error);
}

/* Adds what is kept, and is shown so. */
static ferry_status append_kept(builder *b, ferry_shown_kept *kept, const char *text, size_t size)
{
    ferry_shown *shown = b->shown;
    kept->term.begin = shown->text.size;
    kept->term.end = shown->text.size + size;
    b->separates = false;
    b->goes_on = true;
    FERRY_TRY(append(b, text, size));
    return ferry_array_append(&shown->kept, &shown->kept_count, &shown->kept_capacity, kept, sizeof *kept, b->error);
}

static bool is_number(ferry_view text)
{
    return is_one_of(byte_at(text, 0), "0123456789+") && skip_set(text, 0, "0123456789.,:/'+- ") == text.size;
}

/* Whether a word follows an item without a blank. */
static bool word_follows(const builder *b, size_t index)
{
    const ferry_document_item *item = &b->document->items[index + 1], *end = &b->document->items[b->block->after_item];
    size_t at = 0;
    uint32_t c;
    while (item < end && (item->kind == FERRY_DOCUMENT_OPEN || item->kind == FERRY_DOCUMENT_CLOSE)) item++;
    return item < end && item->kind == FERRY_DOCUMENT_TEXT &&
           ferry_utf8_next(ferry_item_text(b->document, item), &at, &c) && ferry_unicode_is_of_word(c);
}

static ferry_status add_kept(builder *b, size_t index)
{
    const ferry_document_item *item = &b->document->items[index];
    const ferry_view text = ferry_item_text(b->document, item);
    const bool is_itself = ferry_view_equal(text, ferry_item_source(b->document, item)); /* not `code` */
    ferry_shown_kept kept = {.item = index, .is_placeholder = true};
    char bytes[FERRY_PLACEHOLDER_BYTES];
    if (b->last && is_itself && is_number(text) && !ends_in_word(b) && !word_follows(b, index)) {
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
    const ferry_document_item *item = &b->document->items[index];
    uint32_t before, after;
    if (!item->blank) return true;
    if (index == b->block->first_item || index + 1 >= b->block->after_item) return false;
    if (item[-1].kind != FERRY_DOCUMENT_TEXT || item[1].kind != FERRY_DOCUMENT_TEXT) return false;
    const ferry_view left = ferry_item_text(b->document, item - 1), right = ferry_item_text(b->document, item + 1);
    size_t end = left.size, next = 0;
    return ferry_utf8_previous(left, &end, &before) && ferry_utf8_next(right, &next, &after) &&
           ferry_is_ideograph(before) && ferry_is_ideograph(after);
}

static ferry_status add_text(builder *b, ferry_view text)
{
    for (size_t at = 0; at < text.size;) {
        uint32_t c;
        if (!ferry_utf8_next(text, &at, &c)) c = 0xFFFD;
        FERRY_TRY(ferry_utf8_is_space(c) || ferry_is_control(c) ? add_blank(b) : add_character(b, c));
    }
    return FERRY_OK;
}

/* Text that an earlier model left, as the glossary has an entry for it. */
static ferry_status add_entry(builder *b, size_t index)
{
    const ferry_document_item *item = &b->document->items[index];
    ferry_shown *shown = b->shown;
    ferry_shown_kept kept = {.term = {.targets = item->targets, .target_count = item->target_count},
                             .item = index,
                             .is_entry = true};
    if (b->separates && ends_in_word(b)) FERRY_TRY(add_character(b, ' '));
    kept.term.begin = shown->text.size;
    FERRY_TRY(add_text(b, ferry_item_text(b->document, item)));
    kept.term.end = shown->text.size;
    return ferry_array_append(&shown->kept, &shown->kept_count, &shown->kept_capacity, &kept, sizeof kept, b->error);
}

static ferry_status add_item(builder *b, size_t index)
{
    const ferry_document_item *item = &b->document->items[index];
    ferry_mark mark = {.item = index, .at = b->shown->text.size};
    switch (item->kind) {
    case FERRY_DOCUMENT_TEXT:
        return item->is_term ? add_entry(b, index) : add_text(b, ferry_item_text(b->document, item));
    case FERRY_DOCUMENT_KEPT: return add_kept(b, index);
    case FERRY_DOCUMENT_BREAK: return joins(b, index) ? FERRY_OK : add_blank(b);
    case FERRY_DOCUMENT_POINT:
        if (item->blank) FERRY_TRY(add_blank(b));
        mark.at = b->shown->text.size;
        mark.joined = item->blank;
        b->separates = !item->blank && item->begin < item->end;
        break;
    case FERRY_DOCUMENT_OPEN:
        mark.kind = FERRY_MARK_OPEN;
        mark.partner = b->open; /* until its end is known */
        b->open = b->shown->mark_count;
        break;
    case FERRY_DOCUMENT_CLOSE:
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
    ferry_shown *shown = b->shown;
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

ferry_status ferry_shown_add(ferry_shown *shown, const ferry_document *document, ferry_document_block *block, bool last,
                             bool *aligned)
{
    builder b = {.shown = shown, .document = document, .block = block, .last = last, .error = document->error};
    if (shown->block_count > 0) FERRY_TRY(append(&b, "\n", 1));
    b.made = (ferry_shown_block){
        .block = block, .begin = shown->text.size, .first_mark = shown->mark_count, .first_kept = shown->kept_count};
    b.made.capitals = block->in_capitals && has_simple_capitals(document);
    for (size_t i = block->first_item; i < block->after_item; i++) FERRY_TRY(add_item(&b, i));
    *aligned = finish(&b);
    return ferry_array_append(&shown->blocks, &shown->block_count, &shown->block_capacity, &b.made, sizeof b.made,
                              document->error);
}

ferry_request ferry_shown_request(ferry_shown *shown)
{
    for (size_t i = 0; i < shown->kept_count; i++) {
        ferry_shown_kept *kept = &shown->kept[i];
        if (kept->is_entry) continue;
        kept->target = (ferry_text){shown->text.data + kept->term.begin, kept->term.end - kept->term.begin};
        kept->term.targets = &kept->target;
    }
    return (ferry_request){.size = sizeof(ferry_request),
                           .terms = shown->kept_count > 0 ? &shown->kept->term : NULL,
                           .term_size = sizeof *shown->kept,
                           .term_count = shown->kept_count,
                           .on_number = FERRY_ON_NUMBER_RETRY};
}

void ferry_shown_remove(ferry_shown *shown)
{
    const ferry_shown_block *last = &shown->blocks[--shown->block_count];
    shown->mark_count = last->first_mark;
    shown->kept_count = last->first_kept;
    shown->text.size = shown->block_count > 0 ? shown->blocks[shown->block_count - 1].end : 0;
}

void ferry_shown_clear(ferry_shown *shown)
{
    shown->text.size = shown->mark_count = shown->kept_count = shown->block_count = 0;
}

void ferry_shown_destroy(ferry_shown *shown)
{
    free(shown->text.data);
    free(shown->marks);
    free(shown->kept);
    free(shown->blocks);
    *shown = (ferry_shown){0};
}
